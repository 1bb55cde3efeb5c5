"""Every benchmark of a GPU, one after the other in one command, with its tables and figures.

`python -m benchmarks.gpu FOLDER --out OUT` runs the steps below with a folder of treebanks that
has en_ewt-2.3 and en_ewt-2.16. A step that fails, or takes longer than `--minutes`, is named at
the end, and the others run. `--only latency text` chooses steps.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.report import treebank_files

_ENGLISH = Path(__file__).parent.parent / "src" / "treecrf" / "models" / "en"
_THIRD = "crf3o.toml"  # settings, in the folder of figures


def steps(treebanks: Path, out: Path, device: str) -> dict[str, list[str]]:
    """The commands, without the Python that runs them, by the name of the step."""
    (dev,) = treebank_files(treebanks / "en_ewt-2.16", "dev.conllu")
    at = ["--device", device]
    corpus = ["benchmarks.parser", str(treebanks), *at, "--peers", "none"]
    english = ["--model", str(_ENGLISH), "--file", str(dev), "--text", "--connections", "256"]
    text = ["--workers", "8", "--copies", "6", "--characters", "1500000"]
    return {
        "tests": ["pytest", "-q", "-m", "not slow", "tests/ops", "tests/struct", "tests/nn"],
        "latency": ["benchmarks.latency", *at],
        "text": ["benchmarks.text", str(dev), *at, *text],
        "columns": ["benchmarks.columns", str(dev), *at],
        "serve": ["benchmarks.serve", *at, *english, "--seconds", "30"],
        "parser": [*corpus, "--workers", "8", "--copies", "8", "--epochs", "4", "--seconds", "20"],
        "third": [*corpus, "--config", str(out / _THIRD), "--epochs", "3", "--workers", "0"],
        "ops": ["benchmarks.ops", *at],
        "profile": ["benchmarks.profile_parser", str(treebanks), *at, "--operations"],
    }


def main() -> None:
    arguments = _arguments()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    (out / _THIRD).write_text('loss = "crf3o"\n')
    commands = steps(arguments.treebanks, out, arguments.device)
    chosen = arguments.only or list(commands)
    if missing := [name for name in chosen if name not in commands]:
        sys.exit(f"--only {missing[0]}: no such step; there are {', '.join(commands)}")
    failed = []
    for name in chosen:
        command = commands[name]
        print(f"\n{name}: python -m {' '.join(command)}", flush=True)
        if command[0] != "pytest":
            command = [*command, "--json", str(out / f"{name}.json")]
        started = time.perf_counter()
        with (out / f"{name}.log").open("w") as log:  # progress and errors; the tables are shown
            try:
                code = subprocess.run(
                    [sys.executable, "-m", *command], stderr=log, timeout=60 * arguments.minutes
                ).returncode
            except subprocess.TimeoutExpired:
                code = -1
        print(f"{name}: exit {code}, {time.perf_counter() - started:.0f} s", flush=True)
        if code:
            failed.append(name)
            print("".join((out / f"{name}.log").read_text().splitlines(keepends=True)[-20:]))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.gpu", description=__doc__)
    parser.add_argument("treebanks", type=Path, help="the folder of treebanks")
    parser.add_argument("--out", type=Path, default=Path("build/gpu"), help="figures and logs")
    parser.add_argument("--only", nargs="+", metavar="STEP", help="these steps alone")
    parser.add_argument("--minutes", type=float, default=8, help="the most for each step")
    parser.add_argument("--device", default="cuda")
    return parser.parse_args()


if __name__ == "__main__":
    main()
