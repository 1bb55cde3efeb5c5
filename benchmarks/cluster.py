"""A corpus on one machine with Ray: one worker, two, and two of which one is killed midway.

Each run has to give what the local engine gives. Speeds are from when the first worker takes its
first file: starting Ray and loading the model take the same time however large a corpus is. Without
`--model`, one is trained for a moment: what its trees are makes no difference.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from benchmarks.report import add_json, machine, print_table, write_json
from treecrf.demo import generate_treebank
from treecrf.parser import load
from treecrf.parser.files.sources import FileOptions, parse_file
from treecrf.treebank import write_conllu

# One thread in each process: sums in another order have other last digits.
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--model", type=Path, help="a model folder")
    parser.add_argument("--units", type=int, default=256, help="of a layer, where one is trained")
    add_json(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = options.model or train(folder, options.units)
        corpus = folder / "corpus"
        corpus.mkdir()
        each = options.sentences // options.files
        for number in range(options.files):
            sentences = generate_treebank(each, seed=number)
            write_conllu(sentences, corpus / f"part{number:03}.conllu.gz")
        expected = parse_here(model, corpus, folder / "local")
        rows, seconds = [], {}
        for what, workers, kill in (
            ("one worker", 1, False),
            ("two workers", 2, False),
            ("two workers, one killed", 2, True),
        ):
            output = folder / what.replace(" ", "-")
            seconds[what] = parse_on_ray(model, corpus, output, workers=workers, kill=kill)
            check(output, expected)
            gain = seconds["one worker"] / seconds[what]
            speed = options.files * each / seconds[what]
            rows.append([what, f"{seconds[what]:.1f}", f"{speed:,.0f}", f"{gain:.2f}x"])
        print_table(["", "seconds", "sentences/s", "of one worker"], rows)
        total = f"{options.files * each:,} sentences in {options.files} files"
        print(f"{total}, each time the text of the local engine; {os.cpu_count()} cores")
        if options.json:
            write_json(options.json, {"seconds": seconds, "machine": machine()})


def train(folder: Path, units: int) -> Path:
    """Train a model between the presets `tiny` and `default` in size."""
    data = folder / "data.conllu"
    write_conllu(generate_treebank(60, seed=1), data)
    command = [sys.executable, "-m", "treecrf", "train", "--train", str(data), "--dev", str(data)]
    settings = ["--config", "tiny", "--set", "epochs=1", "--set", f"lstm_size={units}"]
    model = folder / "model"
    subprocess.run([*command, *settings, "--device", "cpu", "--out", str(model)], check=True)
    return model


def parse_here(model: Path, corpus: Path, output: Path) -> Path:
    """Parse each file with the local engine, in a process with one thread."""
    code = (
        "import sys; from pathlib import Path; from benchmarks.cluster import parse_files; "
        "parse_files(*map(Path, sys.argv[1:]))"
    )
    arguments = [str(model), str(corpus), str(output)]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, env=ENVIRONMENT)
    return output


def parse_files(model: Path, corpus: Path, output: Path) -> None:
    """Parse file after file."""
    output.mkdir()
    parser = load(model, device="cpu")
    for path in sorted(corpus.iterdir()):
        trees = parse_file(parser, str(path), FileOptions())
        write_conllu(trees, output / path.name)


def parse_on_ray(model: Path, corpus: Path, output: Path, *, workers: int, kill: bool) -> float:
    """Parse with `workers` workers; return the seconds since the first of them began."""
    command = [sys.executable, "-m", "treecrf", "parse", f"{corpus}/*", "--engine", "ray"]
    command += ["--model", str(model), "--output", str(output), "--concurrency", str(workers)]
    command += ["--gpus-per-worker", "0"]
    mark = uuid.uuid4().hex
    run = subprocess.Popen(command, env=ENVIRONMENT | {"TREECRF_BENCHMARK": mark})
    files = len(list(corpus.iterdir()))
    started = 0.0
    killed = not kill
    while (code := run.poll()) is None:
        written = len(list(output.glob("[!.]*"))) if output.exists() else 0
        if not started and (written or list(output.glob(".part*.tmp"))):
            started = time.time()
        if not killed and written >= files // 2 and (found := busy_workers(mark)):
            os.kill(found[0], signal.SIGKILL)
            killed = True
        time.sleep(0.02)
    if code or not killed:
        sys.exit(f"treecrf parse ended with exit code {code}")
    return max(path.stat().st_mtime for path in output.glob("[!.]*")) - started


def busy_workers(mark: str) -> list[int]:
    """The workers of a run that parse, which have its mark in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            title, settings = ((process / name).read_bytes() for name in ("cmdline", "environ"))
        except OSError:  # it has ended, or is somebody else's
            continue
        if title.startswith(b"ray::MapWorker") and f"TREECRF_BENCHMARK={mark}".encode() in settings:
            found.append(int(process.name))
    return found


def check(output: Path, expected: Path) -> None:
    """Exit with an error unless every file is there and has the same bytes."""
    names = sorted(path.name for path in expected.iterdir())
    if sorted(path.name for path in output.glob("[!.]*")) != names:
        sys.exit(f"{output}: other files than the local engine's, so nothing is reported")
    for name in names:
        if (output / name).read_bytes() != (expected / name).read_bytes():
            sys.exit(f"{output / name}: other trees than the local engine's: nothing is reported")


if __name__ == "__main__":
    main()
