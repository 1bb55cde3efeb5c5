"""Processes that read and write beside the device give what one process gives."""

import io
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import treecrf
from tests.parser.models import SMALL, random_parser, sentence_of
from treecrf.parser import workers as module
from treecrf.parser.errors import ParserError
from treecrf.parser.trees import with_written_probs
from treecrf.parser.workers import parse_with_workers
from treecrf.treebank import Sentence, TreebankError, files, read_conllu, write_conllu

CONFIG = replace(SMALL, loss="crf")


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "in.conllu"
    sentences = [sentence_of(1 + number % 9, seed=number) for number in range(300)]
    for number, sentence in enumerate(sentences):
        sentence.comments.append(f"# sent_id = {number}")
    write_conllu(sentences, path)
    return path


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE_BYTES", 1)
    monkeypatch.setattr(files, "_CHUNK", 1000)


@pytest.mark.parametrize("count", [1, 3])
def test_the_same_trees_in_the_same_order(treebank: Path, count: int) -> None:
    parser = random_parser(CONFIG)
    pieces = list(parse_with_workers(parser, treebank, workers=count))
    assert len(pieces) > 5
    text = "".join(pieces)
    parsed = list(read_conllu(io.StringIO(text)))
    expected = list(parser.parse_stream(read_conllu(treebank), probs=False))
    assert [sentence.sent_id for sentence in parsed] == [str(n) for n in range(300)]
    assert [s.heads for s in parsed] == [s.heads for s in expected]
    assert [s.deprels for s in parsed] == [s.deprels for s in expected]


def test_pieces_end_where_sentences_end(treebank: Path) -> None:
    data = treebank.read_bytes()
    chunks = [data[start : start + 1000] for start in range(0, len(data), 1000)]
    pieces = list(module._pieces(iter(chunks), "in", "conllu"))
    assert len(pieces) > 5
    assert b"".join(piece.data for piece in pieces) == data
    lines = 0
    for piece in pieces:
        assert piece.lines_before == lines
        assert piece.data.endswith(b"\n\n")
        lines += piece.data.count(b"\n")


def test_words_a_line_probabilities_and_heads_to_keep(tmp_path: Path) -> None:
    parser = random_parser(CONFIG)
    plain = tmp_path / "in.txt"
    plain.write_text("a b c\ndog b\n")
    parsed = list(
        read_conllu(io.StringIO("".join(parse_with_workers(parser, plain, workers=2, probs=True))))
    )
    assert [sentence.forms for sentence in parsed] == [["a", "b", "c"], ["dog", "b"]]
    assert all(token.misc.startswith("HeadProb=") for token in parsed[0].tokens)
    assert parsed[0].comments[-1].startswith("# log_prob = ")

    held = tmp_path / "held.conllu"
    write_conllu([Sentence(["a", "b", "c"], [3, -1, -1])], held)
    kept = list(
        read_conllu(
            io.StringIO("".join(parse_with_workers(parser, held, workers=1, keep_heads=True)))
        )
    )
    assert kept[0].heads[0] == 3


def test_an_empty_file_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    assert list(parse_with_workers(random_parser(CONFIG), tmp_path / "empty", workers=2)) == []


def test_errors_name_the_line_of_the_file(treebank: Path) -> None:
    lines = treebank.read_text().count("\n")
    with open(treebank, "a") as file:
        file.write("1\tbad\n\n")
    with pytest.raises(TreebankError, match=f"in.conllu:{lines + 1}: "):
        list(parse_with_workers(random_parser(CONFIG), treebank, workers=2))


def test_heads_that_no_tree_has_name_the_sentence(tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    write_conllu([Sentence(["a", "b"], [-1, -1]), Sentence(["a", "b"], [0, 0])], path)
    with pytest.raises(ParserError, match=r"in.conllu:4: no tree has the heads"):
        list(parse_with_workers(random_parser(CONFIG), path, workers=1, keep_heads=True))


def test_a_worker_that_dies_is_an_error(treebank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Remembered(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Remembered)
    pieces = parse_with_workers(random_parser(CONFIG), treebank, workers=1)
    next(pieces)
    for process in started:
        process.kill()
    with pytest.raises(ParserError, match="has ended"):
        list(pieces)


def test_a_worker_loads_no_torch() -> None:
    code = "import sys, treecrf.parser.worker; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_raw_text_is_cut_as_in_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE_CHARACTERS", 2000)
    text = "".join(
        f"I saw {name} with a telescope. They're here!\n\nDid you? No.\n" for name in NAMES * 120
    )
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    parser = treecrf.load(device="cpu")
    parsed = list(parse_with_workers(parser, path, workers=2, probs=True))
    assert len(parsed) >= 3
    expected = "".join(with_written_probs(s).to_conllu() for s in parser.parse(text))
    assert without_digits("".join(parsed)) == without_digits(expected)


NAMES = ("Sarah", "Peter", "the man", "a dog")


def without_digits(conllu: str) -> str:
    """Without the last digits of probabilities, which depend on the batch."""
    return re.sub(r"(HeadProb=|log_prob = )[-0-9.]+", r"\1", conllu)
