"""`treecrf parse --engine ray`: two workers give what the local engine gives, if one dies too."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, ENVIRONMENT, misuse, problem, treecrf
from treecrf.cli.parsing.files import report_problems
from treecrf.demo import generate_treebank
from treecrf.parser import ParserError
from treecrf.treebank import write_conllu

PATIENCE = 300  # seconds: on a busy machine everything takes long


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Sentences in some files of each kind."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(4):
        sentences = list(generate_treebank(60 + 20 * number, seed=number))
        write_conllu(sentences, folder / f"trees{number}.conllu.gz")
        lines = [" ".join(sentence.forms) for sentence in sentences]
        (folder / f"words{number}.txt").write_text("".join(f"{line}\n" for line in lines))
        records = [{"id": n, "text": f"{line}\n{line}"} for n, line in enumerate(lines[:20])]
        (folder / f"records{number}.jsonl").write_text("\n".join(map(json.dumps, records)))
    return folder


def start(model: Path, corpus: Path, output: Path, *options: str) -> subprocess.Popen[str]:
    command = [*COMMAND, "parse", "--model", str(model), "--engine", "ray"]
    return subprocess.Popen(
        [*command, "--input", f"{corpus}/*", "--output", str(output), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT | {"TREECRF_TEST": output.name},
    )


def finish(run: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        output, complaints = run.communicate(timeout=PATIENCE)
    finally:
        run.kill()
    return run.returncode, output, complaints


def workers(mark: str) -> Iterator[int]:
    """The workers of a run that parse, which have its mark in their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if not (folder / "cmdline").read_bytes().startswith(b"ray::MapWorker"):
                continue  # or an actor of Ray's own
            if f"TREECRF_TEST={mark}\0".encode() in (folder / "environ").read_bytes():
                yield int(folder.name)
        except OSError:  # it has ended
            continue


def assert_local(model: Path, corpus: Path, output: Path, *options: str) -> None:
    """Each file is what the local engine makes of it, and nothing else is there."""
    sources = {path.name.split(".")[0]: path for path in corpus.iterdir()}
    results = {path.name.split(".")[0]: path for path in output.glob("[!.]*")}
    assert sorted(results) == sorted(sources)
    assert [path.name for path in output.glob(".*")] == [".treecrf.json"]
    for name, path in results.items():
        expected = output.parent / f"expected-{path.name}"
        command = [*COMMAND, "parse", "--model", str(model), str(sources[name]), *options]
        if name[-1] == "0":  # as a user would call it, the others faster
            subprocess.run([*command, "-o", str(expected)], check=True, env=ENVIRONMENT)
        else:
            treecrf(*command[len(COMMAND) :], "-o", expected)
        assert path.read_bytes() == expected.read_bytes(), name


@pytest.mark.cluster
@pytest.mark.slow
def test_files_in_and_the_same_files_out(model: Path, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    result = finish(start(model, corpus, output, "--concurrency", "2", "--probs"))
    assert result == (0, "parsed 12 files, 880 sentences\n", "")
    assert_local(model, corpus, output, "--probs")
    text = (output / "records0.conllu").read_text()
    assert text.count("# newdoc id = ") == 20
    # Of what is there nothing is parsed again, but for what was taken away or has changed.
    times = {path.name: path.stat().st_mtime_ns for path in output.iterdir()}
    (output / "words1.conllu").unlink()
    result = finish(start(model, corpus, output, "--concurrency", "1", "--probs"))
    done = "parsed 1 file, 80 sentences; 11 files had been parsed before\n"
    assert result == (0, done, "")
    after = {path.name: path.stat().st_mtime_ns for path in output.iterdir()}
    assert {name for name in after if after[name] != times[name]} == {"words1.conllu"}
    line = problem("parse", f"{corpus}/*", "-m", model, "--engine", "ray", "-o", output)
    assert "was parsed by another model or with other options" in line


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc")
def test_a_worker_that_dies_loses_nothing(model: Path, tmp_path: Path) -> None:
    corpus, output = tmp_path / "corpus", tmp_path / f"out-{uuid.uuid4()}"
    corpus.mkdir()
    block = list(generate_treebank(500, seed=1))
    for number in range(6):
        write_conllu(block[number:] * 4, corpus / f"part{number}.conllu")
    run = start(model, corpus, output, "--concurrency", "2")
    try:
        deadline = time.monotonic() + PATIENCE
        while not list(output.glob(".part*.tmp")) or not (found := list(workers(output.name))):
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(found[0], signal.SIGKILL)
    finally:
        result = finish(run)
    sentences = sum(4 * (500 - number) for number in range(6))
    assert result[0] == 0, result
    assert result[1].endswith(f"parsed 6 files, {sentences:,} sentences\n")  # Ray tells of it
    assert_local(model, corpus, output)


@pytest.mark.slow
@pytest.mark.cluster
def test_what_is_wrong_with_a_file_is_told_when_the_others_are_done(
    model: Path, tmp_path: Path
) -> None:
    corpus, output = tmp_path / "corpus", tmp_path / "out"
    corpus.mkdir()
    for number in range(2):
        write_conllu(generate_treebank(5, seed=number), corpus / f"good{number}.conllu")
    for name in ("bad", "worse"):
        (corpus / f"{name}.conllu").write_text("1\tbad\n\n")
    code, printed, complaints = finish(start(model, corpus, output, "--concurrency", "1"))
    assert (code, printed) == (2, "")
    *told, last = complaints.splitlines()
    for line, name in zip(sorted(told), ("bad", "worse"), strict=True):
        assert line.startswith(f"{corpus}/{name}.conllu:1: 10 columns expected")
    assert last == "2 of 4 files could not be parsed, the others are done"
    assert sorted(path.name for path in output.glob("[!.]*")) == ["good0.conllu", "good1.conllu"]


@pytest.mark.parametrize(
    ("wrong", "total", "last"),
    [
        (20, 30, "20 of 30 files could not be parsed, the others are done"),
        (1_021, 1_021, "1,021 of 1,021 files could not be parsed"),
    ],
)
def test_of_many_files_that_are_wrong_some_are_named(
    wrong: int, total: int, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ParserError, match=f"^{last}$"):
        report_problems([f"file{number}: wrong" for number in range(wrong)], total)
    told = capsys.readouterr().err.splitlines()
    more = ["... and 1,001 more"] if wrong > 20 else []
    assert told == [*(f"file{number}: wrong" for number in range(20)), *more]


def test_options_that_do_not_go_together(model: Path, tmp_path: Path) -> None:
    ray = ("parse", "-m", model, "--engine", "ray")
    assert misuse(*ray, "-o", tmp_path).startswith("give FILEs or a pattern of them")
    assert misuse(*ray, "a.txt").startswith("--engine ray goes from files to a folder")
    assert misuse(*ray, "-", "-o", tmp_path).startswith("--engine ray goes from files")
    told = misuse(*ray, "a.txt", "-o", tmp_path, "--format", "svg")
    assert told == "--engine ray writes conllu or json, and no svg"
    for option in (("--device", "cpu"), ("--onnx", "graph.onnx"), ("--workers", 2)):
        assert "takes no --text, --workers, --device, --precision, --runtime or --onnx" in misuse(
            *ray, "a.txt", *option
        )
    here = ("parse", "-m", model)
    several = "several FILEs go into a folder, --output DIR; one may go to --output FILE"
    assert misuse(*here, __file__, "out.conllu") == several
    words = "no file is called I or saw; a text goes after --text, in quotes"
    assert misuse(*here, "I", "saw", "Sarah") == words
    for folder in (tmp_path, "new/"):
        told = misuse(*here, "--text", "a", "-o", folder)
        assert told == f"--output {folder} is a folder: name a file"
    assert "a pattern of files goes with --engine ray" in misuse(*here, "--input", "corpus/*.txt")
    assert misuse(*here, "a.txt", "--concurrency", 2).endswith("go with --engine ray")
    assert problem(*ray, f"{tmp_path}/*.txt", "-o", tmp_path / "out").endswith(
        "no such file, so nothing was begun; quote a pattern, as in 'corpus/*.txt'"
    )


@pytest.mark.cluster
@pytest.mark.slow
def test_gpus_that_a_worker_cannot_have(model: Path, tmp_path: Path) -> None:
    words, output = tmp_path / "words.txt", tmp_path / "out"
    words.write_text("a dog\n")
    ray = ("parse", words, "-m", model, "--engine", "ray", "-o", output, "--gpus-per-worker")
    assert problem(*ray, "1.5").startswith("--gpus-per-worker 1.5: workers share a GPU (0.5) or")
    assert not output.exists()
    # More than any machine has, and in a process of its own, since Ray stays in one.
    command = [*COMMAND, *map(str, ray), "1000"]
    result = subprocess.run(
        command, capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("--gpus-per-worker 1000, and no machine of the Ray cluster has")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "problem_says", "told"),
    [
        ((), "no room\nat all", "Ray cannot be started on this machine: no room"),
        ((), "", "Ray cannot be started on this machine: RuntimeError"),
        (
            ("--address", "here:1"),
            "no answer",
            "no Ray cluster at 'here:1': no answer; without --address one is started on this "
            "machine",
        ),
    ],
)
def test_ray_that_does_not_start(
    options: tuple[str, ...],
    problem_says: str,
    told: str,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(**_: object) -> None:
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
        raise RuntimeError(problem_says)

    monkeypatch.setattr("ray.init", fail)
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    (tmp_path / "words.txt").write_text("a dog\n")
    ray = ("parse", f"{tmp_path}/*.txt", "-m", model, "--engine", "ray", "-o", tmp_path / "out")
    assert problem(*ray, *options) == told
    assert "RAY_USAGE_STATS_ENABLED" not in os.environ


OWN_RAY = """
import logging, os, sys
from pathlib import Path
import ray
from ray.data import DataContext
from treecrf.integrations.ray import Corpus, Pool
from treecrf.parser import ParserError
from treecrf.parser.files.sources import FileOptions

def settings():
    shown = DataContext.get_current()
    logged = logging.getLogger("ray.data").level
    return shown.enable_progress_bars, shown.print_on_execution_start, logged, dict(os.environ)

model, words, output = sys.argv[1:]
corpus = Corpus(Path(model), [words], output=Path(output), options=FileOptions())
ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
before = settings()
try:
    list(corpus.parse(Pool(address="auto")))
except ParserError as error:
    print(error)
print([shard.sentences for shard in corpus.parse(Pool(gpus_per_worker=0))])
print(ray.is_initialized(), settings() == before)
ray.shutdown()
"""


@pytest.mark.cluster
@pytest.mark.slow
def test_a_ray_that_runs_already_is_left_as_it_is(model: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a dog\n")
    result = subprocess.run(
        [sys.executable, "-c", OWN_RAY, str(model), str(words), str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT | {"RAY_USAGE_STATS_ENABLED": "0"},
        timeout=PATIENCE,
    )
    refused, parsed, after = result.stdout.splitlines()
    assert refused.startswith("Ray is connected to a cluster already: leave out the address 'auto'")
    assert (parsed, after) == ("[1]", "True True")


def test_without_ray_the_extra_is_named(model: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "from treecrf.cli.app import main; sys.argv[0] = 'treecrf'; main()"
    )
    options = ["parse", "a.txt", "-m", str(model), "--engine", "ray", "-o", str(tmp_path)]
    result = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr == "--engine ray needs ray: pip install 'treecrf[ray]'\n"


def test_documents_are_parsed_here_as_well(model: Path, corpus: Path, tmp_path: Path) -> None:
    text = treecrf("parse", corpus / "records0.jsonl", "-m", model).stdout
    assert text.count("# newdoc id = ") == 20
    lines = (corpus / "words0.txt").read_text().splitlines()[:20]
    assert text.count("# text = ") == 40
    assert [line for line in text.splitlines() if line.startswith("# text = ")][::2] == [
        f"# text = {line}" for line in lines
    ]
