"""Files: read as they are, written back byte for byte, in bounded memory, whole or not at all."""

import gzip
import io
import os
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given

from tests.treebank.strategies import files
from treecrf.treebank import Sentence, Token, TreebankError, read_conllu, write_conllu

GOLDEN = Path(__file__).parent / "data" / "golden.conllu"

WORD = "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"


def written(sentences: list[Sentence]) -> bytes:
    buffer = io.BytesIO()
    write_conllu(sentences, buffer)
    return buffer.getvalue()


def read_text(text: str) -> list[Sentence]:
    return list(read_conllu(io.BytesIO(text.encode())))


def test_reads_what_the_golden_file_says() -> None:
    first, second, third, fourth = read_conllu(GOLDEN)
    assert first.sent_id == "golden-1"
    assert first.text == "Don't hear a hearing today, please — schedule it."
    assert first.comments[0] == "# newdoc id = golden"
    assert first.heads == [3, 3, 0, 5, 3, 3, 8, 3, 10, 3, 10, 3]
    assert first.deprels[5] == "obl:tmod"
    assert first.tokens[0] == Token(
        1, "Do", "do", "AUX", "VBP", "Mood=Imp|VerbForm=Fin", 3, "aux", "3:aux", "_"
    )
    assert [(item.first, item.last, item.form) for item in first.multiwords] == [(1, 2, "Don't")]
    (node,) = first.empty_nodes
    assert (node.after, node.number, node.form, node.misc) == (8, 1, "do", "CopyOf=3")
    assert (second.line, second.source) == (19, str(GOLDEN))
    assert third.forms == ["vamos", "nos", "a", "el", "mar"]
    assert third.heads == [0, -1, 5, -1, 1]
    assert [(item.first, item.last) for item in third.multiwords] == [(1, 2), (3, 4)]
    assert third.empty_nodes[0].after == 0
    assert (fourth.forms, fourth.sent_id) == (["New York"], None)


def test_gives_back_the_same_bytes_untouched_and_made_into_tokens() -> None:
    assert written(list(read_conllu(GOLDEN))) == GOLDEN.read_bytes()
    expanded = list(read_conllu(GOLDEN))
    assert all(sentence.tokens for sentence in expanded)
    assert written(expanded) == GOLDEN.read_bytes()


def test_what_is_set_is_written() -> None:
    sentence = read_text("# keep = me\n" + WORD)[0]
    sentence.heads = [-1]
    sentence.deprels = ["_"]
    sentence.tokens[0].misc = "Checked=Yes"
    sentence.comments.append("# more")
    assert sentence.to_conllu() == (
        "# keep = me\n# more\n1\tHi\thi\tINTJ\tUH\t_\t_\t_\t_\tChecked=Yes\n\n"
    )
    assert read_text(sentence.to_conllu()) == [sentence]


def test_minus_one_is_an_unannotated_head_too() -> None:
    text = WORD.replace("\t0\t", "\t-1\t")
    assert read_text(text)[0].heads == [-1]
    assert read_text(text)[0].to_conllu() == text


def test_a_long_sentence_has_ids_past_a_thousand() -> None:
    length = 3000
    sentence = Sentence(["w"] * length, [0, *range(1, length)])
    assert read_text(sentence.to_conllu())[0].heads == sentence.heads


@pytest.mark.parametrize("space", ["\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\u00a0", " ", "\r"])
def test_only_line_feeds_end_lines(space: str) -> None:
    text = WORD.replace("Hi", f"H{space}i")
    assert read_text(text)[0].forms == [f"H{space}i"]
    sentences = read_text(text)
    assert written(sentences) == text.encode()
    assert sentences[0].tokens[0].form == f"H{space}i"
    assert written(sentences) == text.encode()


def test_takes_windows_line_ends_a_byte_order_mark_and_empty_lines() -> None:
    messy = "\ufeff" + "\n\n" + ("# x\n" + WORD).replace("\n", "\r\n") + "\r\n\n" + WORD
    plain = read_text("# x\n" + WORD + WORD)
    assert read_text(messy) == plain
    assert [sentence.line for sentence in read_text(messy)] == [3, 8]


def test_an_empty_file_has_no_sentences() -> None:
    assert read_text("") == []
    assert read_text("\n\n\n") == []


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_pieces_may_end_anywhere(chunk: int) -> None:
    class Dribble(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return super().read1(chunk)

    assert list(read_conllu(Dribble(GOLDEN.read_bytes()))) == list(read_conllu(GOLDEN))


def test_reads_paths_streams_and_packed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = list(read_conllu(GOLDEN))
    packed = tmp_path / "packed"  # known by its bytes, not by its name
    packed.write_bytes(gzip.compress(GOLDEN.read_bytes()))
    assert list(read_conllu(str(packed))) == expected
    assert list(read_conllu(io.BytesIO(packed.read_bytes()))) == expected
    with GOLDEN.open(encoding="utf-8", newline="") as file:
        assert list(read_conllu(file)) == expected
    with GOLDEN.open("rb") as file:
        assert list(read_conllu(file)) == expected
    for path in (GOLDEN, packed):
        with path.open("rb") as file:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
            assert [item.heads for item in read_conllu("-")] == [item.heads for item in expected]


def test_a_pipe_gives_its_sentences_as_they_come() -> None:
    read, write = os.pipe()
    with open(read, "rb") as reader, open(write, "wb", buffering=0) as writer:
        sentences = read_conllu(reader)
        for _ in range(3):
            writer.write(WORD.encode())
            assert next(sentences).forms == ["Hi"]


@pytest.mark.parametrize(
    "data",
    [gzip.compress(WORD.encode(), mtime=0), b"\x1f" + WORD.encode()],
    ids=["packed", "plain"],
)
def test_a_pipe_may_give_its_first_byte_alone(data: bytes) -> None:
    read, write = os.pipe()
    with open(read, "rb") as reader:
        os.write(write, data[:1])
        assert reader.peek(2) == data[:1]
        os.write(write, data[1:])
        os.close(write)
        if data[1:2] == b"\x8b":
            assert [sentence.forms for sentence in read_conllu(reader)] == [["Hi"]]
        else:  # nothing is lost where it is not gzip
            with pytest.raises(TreebankError, match=r"id '\\x1f1' where 1 would be next"):
                list(read_conllu(reader))


def test_closed_standard_streams_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(TreebankError, match="standard input is closed"):
        list(read_conllu("-"))
    with pytest.raises(TreebankError, match="standard output is closed"):
        write_conllu([], "-")


def test_writes_packed_files_the_same_each_time(tmp_path: Path) -> None:
    paths = [tmp_path / "a.conllu.gz", tmp_path / "b.conllu.gz"]
    for path in paths:
        write_conllu(read_conllu(GOLDEN), path)
    assert gzip.decompress(paths[0].read_bytes()) == GOLDEN.read_bytes()
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_writes_to_open_files_of_either_kind() -> None:
    text = io.StringIO()
    write_conllu(read_conllu(GOLDEN), text)
    assert text.getvalue().encode() == GOLDEN.read_bytes()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "trees.conllu"
    path.write_text("old")

    def sentences() -> object:
        yield Sentence(["fine"], [0])
        yield Sentence(["not\tfine"], [0])

    with pytest.raises(TreebankError, match="a column holds a tab or a line break"):
        write_conllu(sentences(), path)  # type: ignore[arg-type]
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["trees.conllu"]


def test_a_file_may_be_written_over_itself_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "trees.conllu"
    path.write_bytes(GOLDEN.read_bytes())
    path.chmod(0o640)
    link = tmp_path / "link.conllu"
    link.symlink_to(path)
    write_conllu(read_conllu(link), link)
    assert path.read_bytes() == GOLDEN.read_bytes()
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_gets_the_usual_mode(tmp_path: Path) -> None:
    write_conllu([Sentence(["a"], [0])], tmp_path / "new.conllu")
    (tmp_path / "other").touch()
    assert (tmp_path / "new.conllu").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none" / "new.conllu"
    with pytest.raises(FileNotFoundError) as error:
        write_conllu([Sentence(["a"], [0])], path)
    assert error.value.filename == str(path)


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as reader:
        write_conllu(read_conllu(GOLDEN), path)
        assert reader.communicate()[0] == GOLDEN.read_bytes()
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("target", ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"])
def test_a_log_that_is_standard_output_is_added_to(target: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("old\n")
    code = (
        "import sys, treecrf.treebank as t; t.write_conllu(t.read_conllu(sys.argv[1]), sys.argv[2])"
    )
    command = [sys.executable, "-c", code, str(GOLDEN), target]
    with log.open("ab") as file:
        subprocess.run(command, stdout=file, stderr=file, check=True)
    assert log.read_bytes() == b"old\n" + GOLDEN.read_bytes()
    piped = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    assert piped.stdout == GOLDEN.read_bytes()


def test_a_descriptor_is_written_to_as_it_is() -> None:
    read, write = os.pipe()
    with open(read, "rb") as reader:
        write_conllu(read_conllu(GOLDEN), f"/dev/fd/{write}")
        os.close(write)
        assert reader.read() == GOLDEN.read_bytes()
    with pytest.raises(OSError, match="/dev/fd/999999"):
        write_conllu([], "/dev/fd/999999")


def test_a_name_that_is_empty_is_no_file() -> None:
    for use in (lambda: list(read_conllu("")), lambda: write_conllu([], "")):
        with pytest.raises(FileNotFoundError) as error:
            use()
        assert error.value.filename == ""


def test_what_utf8_cannot_hold_is_an_error() -> None:
    with pytest.raises(TreebankError, match="UTF-8 has no such character: '\\\\ud800'"):
        written([Sentence(["\ud800"], [0])])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(copies: int) -> int:
        path = tmp_path / f"{copies}.conllu"
        path.write_bytes(GOLDEN.read_bytes() * copies)
        tracemalloc.start()
        words = sum(len(sentence.heads) for sentence in read_conllu(path))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert words == 26 * copies
        return most

    small, large = peak(1000), peak(8000)  # 1.5 and 12 MB
    assert large < 1.5 * small


def test_reading_loads_neither_torch_nor_numpy() -> None:
    code = (
        "import sys, treecrf, treecrf.treebank as t\n"
        f"assert sum(1 for _ in t.read_conllu({str(GOLDEN)!r})) == 4\n"
        "assert treecrf.Sentence is t.Sentence and treecrf.Token is t.Token\n"
        "print(sorted({'torch', 'numpy', 'numba', 'rich', 'typer'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr == ""
    assert result.stdout == "[]\n"


@given(files())
def test_every_well_formed_file_comes_back(text: str) -> None:
    sentences = read_text(text)
    assert "".join(sentence.to_conllu() for sentence in sentences) == text
    for sentence in sentences:
        assert len(sentence.tokens) == len(sentence.forms) == len(sentence.heads)
        assert sentence.column("form") == sentence.forms
    assert "".join(sentence.to_conllu() for sentence in sentences) == text
    assert written(read_text(text)) == text.encode()
