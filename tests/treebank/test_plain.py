"""Pretokenised text: read as it comes, told from CoNLL-U, and named where it cannot be read."""

import gzip
import io
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import pytest
from hypothesis import given

from tests.treebank.strategies import files
from treecrf.treebank import Sentence, TreebankError, read_conllu, read_sentences, read_tokens
from treecrf.treebank.files.streams import File, open_source
from treecrf.treebank.files.text import look_at, text_pieces

Reader = Callable[[File], Iterator[Sentence]]

DATA = Path(__file__).parent / "data"
LATIN1 = "; for Latin-1: iconv -f latin1 -t utf-8 FILE > NEW"
ROW = "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"


def read_text(source: File) -> Iterator[str]:
    with open_source(source) as (file, name):
        yield from text_pieces(file, name)


def forms(text: str | bytes) -> list[list[str]]:
    data = text.encode() if isinstance(text, str) else text
    return [sentence.forms for sentence in read_tokens(io.BytesIO(data))]


@pytest.mark.parametrize(
    "start", [b"\x89PNG\r\n\x1a\n\0\0\0", b"PK\3\4\xe9\n", b"ab\0\xe9", b"\xff\xd8\xff"]
)
@pytest.mark.parametrize("read", [read_text, read_tokens, read_conllu])
def test_a_picture_is_no_text_in_another_encoding(read: Reader, start: bytes) -> None:
    with pytest.raises(TreebankError, match="this is no text file") as caught:
        list(read(io.BytesIO(start + bytes(range(256)))))
    assert "Latin-1" not in str(caught.value)


def test_a_line_is_a_sentence() -> None:
    text = "I saw her .\n\n \t \n  New\u00a0York \t at\u2028last\r\n# 1"
    first, second, third = read_tokens(io.StringIO(text, newline=""))
    assert first.to_conllu() == (
        "# text = I saw her .\n"
        "1\tI\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\tsaw\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "3\ther\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "4\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )
    assert (first.source, first.line, first.heads) == ("<file>", 1, [-1] * 4)
    assert (second.forms, second.text) == (["New", "York", "at", "last"], "New York at last")
    assert (second.line, third.line) == (4, 5)
    assert third.forms == ["#", "1"]
    for sentence in (first, second, third):
        (again,) = read_conllu(io.StringIO(sentence.to_conllu()))
        assert again == sentence


def test_reads_paths_streams_and_packed_files(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain.txt", tmp_path / "packed"
    plain.write_bytes("\ufeffa b\r\nc é\r\n".encode())
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for reader in (read_tokens, read_sentences):
        for path in (plain, packed, str(packed)):
            sentences = list(reader(path))
            assert [sentence.forms for sentence in sentences] == [["a", "b"], ["c", "é"]]
            assert [sentence.where for sentence in sentences] == [f"{path}:1", f"{path}:2"]
        with plain.open(encoding="utf-8") as file:
            assert [len(sentence) for sentence in reader(file)] == [2, 2]


def test_an_empty_file_has_no_sentences() -> None:
    assert forms("") == forms("\n\r\n  \n") == []
    assert list(read_sentences(io.BytesIO())) == []


@pytest.mark.parametrize("reader", [read_tokens, read_sentences])
def test_a_pipe_gives_its_sentences_as_they_come(reader: Reader) -> None:
    read, write = os.pipe()
    with open(read, "rb") as file, open(write, "wb", buffering=0) as writer:
        sentences = reader(file)
        for number in range(1, 4):
            writer.write(b"# not a comment\n" if number == 2 else b"a line\n")
            assert next(sentences).line == number


def test_broken_utf8_is_named_with_its_line() -> None:
    sentences = read_tokens(io.BytesIO(b"a\n\nb\n\xe9\n"))
    assert [next(sentences).line for _ in range(2)] == [1, 3]
    with pytest.raises(TreebankError) as error:
        next(sentences)
    assert str(error.value) == "<file>:4: not UTF-8: unexpected end of data (byte 0xe9)" + LATIN1


def packed_badly(damage: str) -> bytes:
    packed = gzip.compress(os.urandom(100_000).hex().encode())
    # After the header comes a kind of block that there is none of.
    return packed[:5000] if damage == "truncated" else packed[:10] + b"\xff" + packed[11:]


@pytest.mark.parametrize("damage", ["truncated", "corrupt"])
@pytest.mark.parametrize("reader", [read_tokens, read_sentences])
def test_broken_gzip_is_named(reader: Reader, damage: str) -> None:
    with pytest.raises(TreebankError, match=r"^<file>:1: broken gzip data: "):
        list(reader(io.BytesIO(packed_badly(damage))))


@pytest.mark.parametrize("damage", ["truncated", "corrupt"])
def test_broken_gzip_of_raw_text_is_named(damage: str) -> None:
    with pytest.raises(TreebankError, match=r"^<file>: broken gzip data: "):
        list(read_text(io.BytesIO(packed_badly(damage))))
    with (
        pytest.raises(TreebankError, match=r"^<file>:1: broken gzip data: "),
        open_source(io.BytesIO(packed_badly(damage))) as (file, name),
    ):
        look_at(cast(IO[bytes], file), name)


class Endless(io.RawIOBase):
    """Two lines and a third that never ends."""

    def __init__(self) -> None:
        self.start = b"a\nb\n"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        data = self.start or b"x" * len(buffer)
        self.start = b""
        buffer[: len(data)] = data
        return len(data)


@pytest.mark.parametrize(
    ("reader", "before"), [(read_tokens, 2), (read_sentences, 2), (read_conllu, 0)]
)
def test_a_line_without_end_is_an_error(reader: Reader, before: int) -> None:
    sentences = reader(io.BufferedReader(Endless()))
    for _ in range(before):
        next(sentences)
    with pytest.raises(TreebankError, match=r"^<file>:3: a line of more than 16 MiB"):
        next(sentences)


def test_a_long_line_is_read() -> None:
    words = ["word"] * 500_000
    assert forms(" ".join(words) + "\nnext") == [words, ["next"]]
    with pytest.raises(TreebankError, match=r"^<file>:2: a line of more than 16 MiB"):
        list(read_tokens(io.StringIO("first\n" + "word " * 3_600_000 + "\nnext")))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(lines: int) -> int:
        path = tmp_path / f"{lines}.txt"
        path.write_text("some words that are in a line\n" * lines)
        tracemalloc.start()
        assert sum(len(sentence) for sentence in read_tokens(path)) == 7 * lines
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    small, large = peak(40_000), peak(160_000)  # 1.2 and 4.8 MB
    assert large < 1.5 * small


COMMENTS = "# a comment\n" * 6000  # more than is looked at

TREEBANKS = {
    "a row": ROW,
    "comments": "# sent_id = 1\n# text = Hi\n" + ROW,
    "empty lines": "\n\r\n" + ROW,
    "a byte order mark": "\ufeff# c\n" + ROW,
    "an empty node": "0.1\te\t_\t_\t_\t_\t_\t_\t0:x\t_\n" + ROW,
    "a multiword token": "1-1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n" + ROW,
}
MALFORMED = {
    "no empty line": (ROW[:-1], 1),
    "no line break": (ROW[:-2], 1),
    "too few columns": ("1\tHi\n\n", 1),
    "no id": (ROW.replace("1\t", "one\t", 1), 1),
    "comments alone, with a tab": ("# a\tb\n\n", 1),
    "a tab among comments": ("# a\tb\n" + COMMENTS + "plain text\n", 6002),
}
PLAIN = {
    "words": ("a b\n", 1),
    "no line break": ("a b", 1),
    "tabs between words": ("a\tb\n", 1),
    "hash signs": ("# 1 song\n#tag this\na b\n", 3),
    "hash signs alone": ("# 1 song\n#tag this", 2),
    "a number first": ("1 a b\n", 1),
    "a row later": ("a b\n" + ROW, 2),
    "spaces for tabs": (ROW.replace("\t", " "), 1),
    "many comments": (COMMENTS, 6000),
    "many comments and a row": (COMMENTS + ROW, 6001),
    "a long line": ("a" * 70_000 + "\n" + ROW, 2),
}


@pytest.mark.parametrize("text", TREEBANKS.values(), ids=TREEBANKS)
def test_conllu_is_read_as_such(text: str) -> None:
    sentences = list(read_sentences(io.BytesIO(text.encode())))
    assert sentences == list(read_conllu(io.BytesIO(text.encode())))
    assert sentences[0].heads == [0]


@pytest.mark.parametrize("name", ["golden.conllu", "golden.conllx", "golden.conll09"])
def test_golden_files_are_no_plain_text(name: str) -> None:
    assert list(read_sentences(DATA / name)) == list(read_conllu(DATA / name))


@pytest.mark.parametrize(("text", "line"), MALFORMED.values(), ids=MALFORMED)
def test_what_is_meant_to_be_conllu_is_no_plain_text(text: str, line: int) -> None:
    with pytest.raises(TreebankError) as error:
        list(read_sentences(io.BytesIO(text.encode())))
    assert error.value.line == line


def test_a_treebank_that_lost_its_tabs_is_no_plain_text(tmp_path: Path) -> None:
    file = tmp_path / "pasted.conllu"
    file.write_text("# sent_id = 1\n1 Hi hi INTJ _ _ 0 root _ _\n\n")
    with pytest.raises(TreebankError, match=r"pasted\.conllu:2: 10 columns expected"):
        list(read_sentences(file))
    with file.open("rb") as opened, pytest.raises(TreebankError, match="--input text"):
        look_at(opened, str(file))


def test_comments_alone_in_a_file_that_is_called_a_treebank(tmp_path: Path) -> None:
    for name, sentences in (("notes.txt", 1), ("part.conllu", None)):
        (tmp_path / name).write_text("# a comment\n")
        if sentences is not None:
            assert len(list(read_sentences(tmp_path / name))) == sentences
        else:
            with pytest.raises(TreebankError, match="ends inside a sentence"):
                list(read_sentences(tmp_path / name))


@pytest.mark.parametrize(("text", "sentences"), PLAIN.values(), ids=PLAIN)
def test_plain_text_is_read_as_such(text: str, sentences: int) -> None:
    found = list(read_sentences(io.BytesIO(text.encode())))
    assert found == list(read_tokens(io.BytesIO(text.encode())))
    assert len(found) == sentences


def test_a_second_root_may_be_refused() -> None:
    text = ROW[:-1] + ROW.replace("1", "2", 1)
    assert next(read_sentences(io.StringIO(text))).heads == [0, 0]
    with pytest.raises(TreebankError, match="words 1 and 2 are both roots"):
        next(read_sentences(io.StringIO(text), multiroot=False))


@given(files())
def test_every_well_formed_file_is_conllu(text: str) -> None:
    class Dribble(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return super().read1(7)

    expected = list(read_conllu(io.BytesIO(text.encode())))
    assert list(read_sentences(Dribble(text.encode()))) == expected


def test_nothing_of_raw_text_is_changed(tmp_path: Path) -> None:
    text = "\ufeffHello\r\n\u2028wörld\n"
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    assert "".join(read_text(path)) == "".join(read_text(io.StringIO(text, newline=""))) == text


def test_other_encodings_are_named_and_how_to_convert_them(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    for read in (read_text, read_tokens, read_sentences, read_conllu):
        path.write_bytes("Hello".encode("utf-16"))
        with pytest.raises(TreebankError, match=r"UTF-16, .* iconv -f utf-16 -t utf-8 FILE > NEW"):
            list(read(path))
        path.write_bytes("1\té".encode("latin-1"))
        with pytest.raises(TreebankError, match=r"not UTF-8: .* iconv -f latin1 -t utf-8 FILE"):
            list(read(path))
