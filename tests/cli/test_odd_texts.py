"""Raw text that is hardly text: each gives a sensible result, in bounded memory."""

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treecrf as package
from tests.cli.running import ENVIRONMENT, problem, treecrf
from treecrf.cli.app import app
from treecrf.segment import rebuild_text
from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.trees import is_tree

MEGABYTES = float(os.environ.get("TEXT_MEGABYTES", "0.3"))
SENTENCE = "The dog saw the garden and Anna slept. "

# What a command adds to memory at most, however long the text is; it takes in sentences ahead.
_MOST_GROWTH = 64 << 10  # KiB


def parse(full_model: Path, text: str, tmp_path: Path) -> list[Sentence]:
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    result = treecrf("parse", path, "--model", full_model, "--input", "text", "--device", "cpu")
    return list(read_conllu(io.StringIO(result.stdout)))


@pytest.mark.parametrize("text", ["", " ", "\n", " \t\r\n\u00a0\u2028\n\n "])
def test_nothing_gives_nothing(text: str, full_model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(text.encode())
    options = "--input", "text", "--model", str(full_model)
    run = CliRunner().invoke(app, ["parse", str(tmp_path / "text.txt"), *options])
    assert (run.exit_code, run.stdout) == (0, "")


@pytest.mark.parametrize(
    "text",
    [
        "The\x00dog \x07saw\x1b[31m the\x7f garden\x85.",
        "هذا كلب. \u200fThe dog saw שלום עולם\u200e.",
        "The dog saw 🐕‍🦺🇫🇷 e\u0301\u0301\u0301 at https://example.org/a?b=c#d .",
        "The \ufeffdog\ufffd slept.",
    ],
    ids=["control characters", "right to left", "emoji", "marks of encodings"],
)
def test_odd_characters_are_all_in_the_trees(text: str, full_model: Path, tmp_path: Path) -> None:
    sentences = parse(full_model, text, tmp_path)
    assert rebuild_text(sentences) == text
    assert all(is_tree([0, *sentence.heads]) for sentence in sentences)


def test_a_byte_order_mark_is_no_word_wherever_the_text_is_from(
    full_model: Path, tmp_path: Path
) -> None:
    text = "\ufeffThe dog slept."
    expected = package.load(full_model, device="cpu").parse(text)
    assert expected[0].forms[0] == "The"
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    for source in ((path,), ("--text", text), (path, "--workers", 1)):
        result = treecrf("parse", *source, "--model", full_model, "--device", "cpu")
        found = list(read_conllu(io.StringIO(result.stdout)))
        assert [s.forms for s in found] == [s.forms for s in expected]
        assert [t.misc for s in found for t in s.tokens] == [
            t.misc for s in expected for t in s.tokens
        ]


def test_a_word_of_3000_characters(full_model: Path, tmp_path: Path) -> None:
    text = f"The dog saw {'telescope' * 333}{'xyz'} ."
    sentences = parse(full_model, text, tmp_path)
    assert rebuild_text(sentences) == text
    assert all(is_tree([0, *sentence.heads]) for sentence in sentences)


@pytest.mark.parametrize("kind", ["text", "auto"])
def test_a_damaged_file_of_text_is_named(kind: str, full_model: Path, tmp_path: Path) -> None:
    file = tmp_path / "text.gz"
    file.write_bytes(gzip.compress(b"a dog\n" + os.urandom(10_000).hex().encode())[:5_000])
    line = problem("parse", file, "-m", full_model, "--input", kind)
    assert line.startswith(f"{file}: broken gzip data: ")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak")
def test_memory_is_bounded_on_one_line(full_model: Path, tmp_path: Path) -> None:
    short, long = (
        _peak(full_model, tmp_path, size=int(size * 1e6)) for size in (MEGABYTES / 20, MEGABYTES)
    )
    assert long - short < _MOST_GROWTH


def _peak(full_model: Path, tmp_path: Path, *, size: int) -> int:
    """The memory in KiB that a command takes for a line of so many characters."""
    path, output = tmp_path / "line.txt", tmp_path / "line.conllu"
    path.write_text(SENTENCE * (size // len(SENTENCE)))
    # Not `ru_maxrss`, which begins at what the process had that started this one.
    code = (
        "import re\n"
        "from treecrf.cli.app import app\n"
        "app(standalone_mode=False)\n"
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', open('/proc/self/status').read())[1])\n"
    )
    arguments = ["parse", path, "--model", full_model, "--input", "text", "-o", output]
    result = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments), "--device", "cpu"],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
    )
    assert result.returncode == 0, result.stderr
    assert output.stat().st_size > size
    return int(result.stdout)
