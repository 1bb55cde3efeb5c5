"""Malformed files: each gets `FILE:LINE: what is wrong` and nothing else."""

import gzip
import io
import re
import time
from pathlib import Path

import pytest

from treecrf.treebank import TreebankError, read_conllu
from treecrf.treebank.files.conllu import check_conllu


def line(number: str, head: str = "0", *, form: str = "w") -> str:
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n"


GOOD = "# sent_id = 1\n" + line("1") + "\n"  # lines 1 to 3
LONG = "1\t" + "x" * 50 + "\n"
LATIN1 = "; for Latin-1: iconv -f latin1 -t utf-8 FILE > NEW"

MALFORMED = {
    "missing columns": (
        GOOD + line("1") + "2\tw\t_\n\n",
        "5: 10 columns expected, with tabs between them, and 3 found in '2\\tw\\t_'",
    ),
    "too many columns": (
        line("1").replace("\n", "\t_\n\n"),
        "1: 10 columns expected, with tabs between them, and 11 found in "
        "'1\\tw\\t_\\t_\\t_\\t_\\t0\\tdep\\t_\\t_\\t_'",
    ),
    "nine columns, then eleven": (
        "1\tw\t_\t_\t_\t_\t0\tdep\t_\n" + "2\t2\t_\t_\t_\t_\t1\tdep\t_\t_\t_\n\n",
        "1: 10 columns expected, with tabs between them, and 9 found in "
        "'1\\tw\\t_\\t_\\t_\\t_\\t0\\tdep\\t_'",
    ),
    "spaces for tabs": (
        "1 w _ _ _ _ 0 dep _ _\n\n",
        "1: 10 columns expected, with tabs between them, and 1 found in '1 w _ _ _ _ 0 dep _ _'",
    ),
    "a long line is cut": (
        LONG + "\n",
        "1: 10 columns expected, with tabs between them, and 2 found in "
        "'1\\txxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'",
    ),
    "an empty column": (
        line("1", form="") + "\n",
        "1: column FORM is empty; _ stands for nothing",
    ),
    "an empty last column": (
        line("1")[:-2] + "\n\n",
        "1: column MISC is empty; _ stands for nothing",
    ),
    "a word left out": (
        GOOD + line("1") + line("3", "1") + "\n",
        "5: id '3' where 2 would be next",
    ),
    "an id twice": (line("1") + line("1") + "\n", "2: id '1' where 2 would be next"),
    "ids from zero": (line("0") + "\n", "1: id '0' where 1 would be next"),
    "an id with a zero": (line("01") + "\n", "1: id '01' where 1 would be next"),
    "an id that is a word": (line("x") + "\n", "1: id 'x' where 1 would be next"),
    "a multiword token backwards": (
        line("2-1", "_") + line("1") + "\n",
        "1: multiword token 2-1 ends before it starts",
    ),
    "a multiword token in the wrong place": (
        line("1") + line("1-2", "_") + line("2", "1") + "\n",
        "2: multiword token 1-2 is not right before word 1",
    ),
    "multiword tokens that overlap": (
        line("1-2", "_") + line("1") + line("2-3", "_") + line("2", "1") + line("3", "1") + "\n",
        "3: multiword token 2-3 overlaps the one before it",
    ),
    "a multiword token past the end": (
        line("1-3", "_") + line("1") + line("2", "1") + "\n",
        "3: the sentence ends at word 2 and its last multiword token at word 3",
    ),
    "an empty node in the wrong place": (
        line("1") + line("2.1", "_") + "\n",
        "2: empty node 2.1 where 1.1 would be next",
    ),
    "an empty node left out": (
        line("1") + line("1.2", "_") + "\n",
        "2: empty node 1.2 where 1.1 would be next",
    ),
    "an empty node after the multiword token": (
        line("1-2", "_") + line("0.1", "_") + line("1") + line("2", "1") + "\n",
        "2: empty node 0.1 between a multiword token and its words",
    ),
    "a head out of range": (
        GOOD + line("1") + line("2", "3") + "\n",
        "5: head 3 is outside the sentence, which has 2 words",
    ),
    "a head far out of range": (
        line("1", "1" * 400) + "\n",
        f"1: head '{'1' * 40}...' is not a number, or _ for no head",
    ),
    "a negative head": (
        line("1", "-2") + "\n",
        "1: head '-2' is not a number, or _ for no head",
    ),
    "a head that is a word": (
        line("1", "one") + "\n",
        "1: head 'one' is not a number, or _ for no head",
    ),
    "a head in other digits": (
        line("1", "\u0660") + "\n",
        "1: head '\u0660' is not a number, or _ for no head",
    ),
    "a cycle": (
        GOOD + line("1") + line("2", "4") + line("3", "2") + line("4", "3") + "\n",
        "5: the heads make a cycle: 2 -> 4 -> 3 -> 2",
    ),
    "a word that is its own head": (line("1", "1") + "\n", "1: the heads make a cycle: 1 -> 1"),
    "a cycle in a partial tree": (
        line("1", "_") + line("2", "3") + line("3", "2") + "\n",
        "2: the heads make a cycle: 2 -> 3 -> 2",
    ),
    "a long cycle": (
        "".join(line(str(number), str(number % 20 + 1)) for number in range(1, 21)) + "\n",
        "1: the heads make a cycle: 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> 10 -> ... -> 1",
    ),
    "two roots": (
        GOOD + line("1") + line("2", "1") + line("3") + "\n",
        "6: words 1 and 3 are both roots; one may be",
    ),
    "a comment inside": (
        line("1") + "# late\n\n",
        "2: a comment inside a sentence; its place is before the words",
    ),
    "comments alone": (GOOD + "# newdoc\n\n" + GOOD, "4: comments without a sentence"),
    "multiword tokens alone": (
        line("1.1", "_") + "\n",
        "1: empty node 1.1 where 0.1 would be next",
    ),
    "no words": (line("0.1", "_") + "\n", "1: a sentence without words"),
    "an end inside a sentence": (
        GOOD + line("1") + line("2", "1"),
        "5: the file ends inside a sentence: there is no empty line after its last word",
    ),
    "an end inside a line": (
        GOOD + line("1") + "2\tw",
        "5: the file ends inside a sentence: there is no empty line after its last word",
    ),
    "plain text": (
        "\nThe dog sleeps .\nAnna saw it .\n",
        "2: 10 columns expected, with tabs between them, and 1 found in 'The dog sleeps .'"
        "; this looks like plain text; `treecrf parse` makes CoNLL-U of it",
    ),
    "an end inside comments": (
        GOOD + "# sent_id = 2\n",
        "4: the file ends inside a sentence: there is no empty line after its last word",
    ),
}


@pytest.mark.parametrize(("text", "message"), MALFORMED.values(), ids=MALFORMED)
def test_says_what_is_wrong_and_where(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.conllu"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(TreebankError) as error:
        list(read_conllu(path, multiroot=False))
    assert str(error.value) == f"{path}:{message}"


def broken(data: bytes) -> str:
    file = io.BytesIO(data)
    with pytest.raises(TreebankError) as error:
        list(read_conllu(file))
    return str(error.value)


def test_broken_utf8_is_named_with_its_line() -> None:
    data = (GOOD + line("1") + line("2", "1", form="é") + "\n").encode()
    assert broken(data.replace("é".encode(), b"\xe9")) == (
        "<file>:5: not UTF-8: invalid continuation byte (byte 0xe9)" + LATIN1
    )
    assert broken(data[: data.index("é".encode()) + 1]) == (
        "<file>:5: not UTF-8: unexpected end of data (byte 0xc3)" + LATIN1
    )


def test_sentences_before_broken_utf8_are_read() -> None:
    sentences = read_conllu(io.BytesIO(GOOD.encode() * 3 + b"\xff\n\n"))
    assert [next(sentences).line for _ in range(3)] == [1, 4, 7]
    with pytest.raises(TreebankError, match=r"<file>:10: not UTF-8: invalid start byte"):
        next(sentences)


def test_broken_utf8_in_a_text_file_is_the_same_error(tmp_path: Path) -> None:
    path = tmp_path / "latin1"
    path.write_bytes(b"\xe9\n\n")
    with (
        path.open(encoding="utf-8") as file,
        pytest.raises(TreebankError, match=r"latin1:1: not UTF-8"),
    ):
        list(read_conllu(file))


def test_broken_gzip_is_named() -> None:
    packed = gzip.compress(GOOD.encode() * 1000)
    cut = broken(packed[: len(packed) // 2])
    assert re.match("<file>:[0-9]+: broken gzip data: ", cut)
    assert broken(packed[:2] + b"\xff" * 20).startswith("<file>:1: broken gzip data: ")
    assert broken(packed[:20] + b"\xff" * 20).startswith("<file>:1: broken gzip data: ")


def test_several_roots_are_allowed_unless_one_is_required() -> None:
    text = (line("1") + line("2") + "\n").encode()
    assert next(read_conllu(io.BytesIO(text))).heads == [0, 0]


def test_checking_goes_on_after_what_is_wrong() -> None:
    text = GOOD + line("2") + "\n" + GOOD + line("1", "7") + "\n" + GOOD + line("1")
    items = list(check_conllu(io.BytesIO(text.encode())))
    problems = [str(item) for item in items if isinstance(item, TreebankError)]
    assert len(items) - len(problems) == 3
    assert problems == [
        "<file>:4: id '2' where 1 would be next",
        "<file>:9: head 7 is outside the sentence, which has 1 words",
        "<file>:14: the file ends inside a sentence: there is no empty line after its last word",
    ]


def test_checking_goes_on_after_broken_utf8() -> None:
    data = (GOOD + line("1", form="é") + "\n" + GOOD + line("1", "7") + "\n").encode("latin-1")
    items = list(check_conllu(io.BytesIO(data)))
    assert [str(item) for item in items if isinstance(item, TreebankError)] == [
        "<file>:4: not UTF-8: invalid continuation byte (byte 0xe9)" + LATIN1,
        "<file>:9: head 7 is outside the sentence, which has 1 words",
    ]
    assert len(items) == 4


def test_a_file_without_empty_lines_takes_linear_time() -> None:
    class Pipe(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return super().read1(4096)

    file = Pipe(line("1").encode() * 1_000_000)
    started = time.process_time()
    with pytest.raises(TreebankError, match="<file>:1000000: the file ends inside a sentence"):
        list(read_conllu(file))
    assert time.process_time() - started < 5
