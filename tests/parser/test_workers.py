"""Processes that read and write beside the device give what one process gives."""

import io
import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import treecrf
from tests.parser.models import SMALL, random_parser, sentence_of
from treecrf.parser.columns.reading import whole_blocks
from treecrf.parser.errors import ParserError
from treecrf.parser.files import workers as module
from treecrf.parser.files.sources import FileOptions
from treecrf.treebank import Sentence, TreebankError, read_conllu, write_conllu
from treecrf.treebank.files.text import SentenceIds
from treecrf.treebank.probs import with_written_probs

CONFIG = replace(SMALL, loss="crf")

parse_with_workers = partial(module.parse_with_workers, piece_bytes=4000)


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "in.conllu"
    sentences = [sentence_of(1 + number % 9, seed=number) for number in range(300)]
    for number, sentence in enumerate(sentences):
        sentence.comments.append(f"# sent_id = {number}")
    write_conllu(sentences, path)
    return path


@pytest.mark.parametrize("count", [1, 3])
def test_the_same_trees_in_the_same_order(treebank: Path, count: int) -> None:
    parser = random_parser(CONFIG)
    pieces = list(parse_with_workers(parser, treebank, FileOptions(), workers=count))
    assert len(pieces) > 5
    parsed = list(read_conllu(io.BytesIO(b"".join(pieces))))
    expected = list(parser.parse_stream(read_conllu(treebank), probs=False))
    assert [sentence.sent_id for sentence in parsed] == [str(n) for n in range(300)]
    assert [s.heads for s in parsed] == [s.heads for s in expected]
    assert [s.deprels for s in parsed] == [s.deprels for s in expected]


def test_pieces_end_where_sentences_end(treebank: Path) -> None:
    data = treebank.read_bytes()
    chunks = [data[start : start + 1000] for start in range(0, len(data), 1000)]
    pieces = list(whole_blocks(iter(chunks), "in", size=1))
    assert len(pieces) > 5
    assert b"".join(piece for _, piece in pieces) == data
    expected = 1
    for line, piece in pieces:
        assert line == expected
        assert piece.endswith(b"\n\n")
        expected += piece.count(b"\n")


def test_words_a_line_probabilities_and_heads_to_keep(tmp_path: Path) -> None:
    parser = random_parser(CONFIG)
    plain = tmp_path / "in.txt"
    plain.write_text("a b c\ndog b\n")
    pieces = parse_with_workers(parser, plain, FileOptions(write_probs=True), workers=2)
    parsed = list(read_conllu(io.BytesIO(b"".join(pieces))))
    assert [sentence.forms for sentence in parsed] == [["a", "b", "c"], ["dog", "b"]]
    assert all(token.misc.startswith("HeadProb=") for token in parsed[0].tokens)
    assert parsed[0].comments[-1].startswith("# log_prob = ")

    held = tmp_path / "held.conllu"
    write_conllu([Sentence(["a", "b", "c"], [3, -1, -1])], held)
    pieces = parse_with_workers(parser, held, FileOptions(keep_heads=True), workers=1)
    kept = list(read_conllu(io.BytesIO(b"".join(pieces))))
    assert kept[0].heads[0] == 3


def test_an_empty_file_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    assert (
        list(
            parse_with_workers(random_parser(CONFIG), tmp_path / "empty", FileOptions(), workers=2)
        )
        == []
    )


@pytest.mark.parametrize("count", [0, -1])
def test_there_is_at_least_one(treebank: Path, count: int) -> None:
    with pytest.raises(ParserError, match=f"workers is {count}; .* 1 or more"):
        next(parse_with_workers(random_parser(CONFIG), treebank, FileOptions(), workers=count))


def test_errors_name_the_line_of_the_file(treebank: Path) -> None:
    lines = treebank.read_text().count("\n")
    with open(treebank, "a") as file:
        file.write("1\tbad\n\n")
    with pytest.raises(TreebankError, match=f"in.conllu:{lines + 1}: "):
        list(parse_with_workers(random_parser(CONFIG), treebank, FileOptions(), workers=2))


def test_heads_that_no_tree_has_name_the_sentence(tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    write_conllu([Sentence(["a", "b"], [-1, -1]), Sentence(["a", "b"], [0, 0])], path)
    options = FileOptions(keep_heads=True)
    with pytest.raises(ParserError, match=r"in.conllu:4: no tree has the heads"):
        list(parse_with_workers(random_parser(CONFIG), path, options, workers=1))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that have been started."""
    processes: list[subprocess.Popen[bytes]] = []

    class Remembered(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Remembered)
    return processes


def test_a_worker_that_dies_is_an_error(
    treebank: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    pieces = parse_with_workers(random_parser(CONFIG), treebank, FileOptions(), workers=1)
    next(pieces)
    for process in started:
        process.kill()
    with pytest.raises(ParserError, match="has ended"):
        list(pieces)


def test_an_early_stop_leaves_nothing_behind(
    treebank: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    threads = threading.active_count()
    pieces = parse_with_workers(random_parser(CONFIG), treebank, FileOptions(), workers=2)
    next(pieces)
    pieces.close()
    assert len(started) == 2
    assert [process.poll() for process in started] == [0, 0]
    assert threading.active_count() == threads


def test_a_worker_that_cannot_be_started_leaves_nothing_behind(
    treebank: Path, started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = subprocess.Popen

    def start_one(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        if started:
            raise OSError("no more processes")
        return start(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", start_one)
    with pytest.raises(OSError, match="no more processes"):
        list(parse_with_workers(random_parser(CONFIG), treebank, FileOptions(), workers=2))
    assert all(process.poll() is not None for process in started)


def test_what_is_no_answer_is_an_error(treebank: Path) -> None:
    program = "import os; os.write(1, b'Intel MKL WARNING\n')"
    parser, options = random_parser(CONFIG), FileOptions()
    with pytest.raises(ParserError, match="has ended"):
        list(parse_with_workers(parser, treebank, options, workers=1, program=program))


def test_what_a_worker_prints_is_no_answer(
    treebank: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shouting = "import os, treecrf.parser.files.worker as w; r = w._Worker.read; "
    shouting += "w._Worker.read = lambda *a: (os.write(1, b'shout\\n'), r(*a))[1]; w.serve()"
    parser, options = random_parser(CONFIG), FileOptions()
    pieces = list(parse_with_workers(parser, treebank, options, workers=1, program=shouting))
    assert len(pieces) > 5
    assert "shout" in capfd.readouterr().err


def test_a_worker_imports_nothing_from_where_the_data_is(
    treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (treebank.parent / "dataclasses.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(treebank.parent)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    assert list(parse_with_workers(random_parser(CONFIG), treebank, FileOptions(), workers=1))


def test_a_worker_loads_no_torch() -> None:
    code = "import sys, treecrf.parser.files.worker; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_raw_text_is_cut_as_in_one_process(tmp_path: Path) -> None:
    text = "".join(
        f"I saw {name} with a telescope. They're here!\n\nDid you? No.\n" for name in NAMES * 120
    )
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    parser = treecrf.load(device="cpu")
    options = FileOptions(write_probs=True)
    parsed = list(parse_with_workers(parser, path, options, workers=2, piece_characters=2000))
    assert len(parsed) >= 3
    sentences = map(SentenceIds().give, parser.parse(text))
    expected = "".join(with_written_probs(s).to_conllu() for s in sentences)
    assert without_digits(b"".join(parsed).decode()) == without_digits(expected)


NAMES = ("Sarah", "Peter", "the man", "a dog")


def without_digits(conllu: str) -> str:
    """Without the last digits of probabilities, which depend on the batch."""
    return re.sub(r"(HeadProb=|log_prob = )[-0-9.]+", r"\1", conllu)


def test_what_workers_cannot_do_is_refused(tmp_path: Path) -> None:
    parser, file = random_parser(CONFIG), tmp_path / "file"
    file.write_text("a b\n")
    with pytest.raises(ParserError, match="workers give one tree a sentence"):
        next(parse_with_workers(parser, file, FileOptions(topk=2), workers=1))
    with pytest.raises(ParserError, match="workers take no documents"):
        next(parse_with_workers(parser, file, FileOptions(input="jsonl"), workers=1))


def test_without_kernels_workers_are_refused(treebank: Path) -> None:
    code = (
        "from tests.parser.test_workers import CONFIG, FileOptions, module, random_parser\n"
        "parser, options = random_parser(CONFIG), FileOptions()\n"
        f"next(module.parse_with_workers(parser, {str(treebank)!r}, options, workers=1))"
    )
    root = Path(__file__).parents[2]
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join([*sys.path, str(root)]),
    }
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert "ParserError: workers need Numba, and " in ended.stderr.splitlines()[-1]
