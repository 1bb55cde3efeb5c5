"""Output of benchmarks: the machine and commit, a table, JSON; without torch."""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treecrf.cores import usable_cores
from treecrf.storage import replace_file


def machine() -> dict[str, str]:
    """Machine and software of a measurement."""
    return {
        "commit": _commit(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "usable cores": str(usable_cores()),
    }


def print_facts(facts: dict[str, str]) -> None:
    """Print machine and software on one line."""
    print(", ".join(f"{name} {value}" for name, value in facts.items()))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table, padded so that it reads well in a terminal."""
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    for row in (columns, ["-" * width for width in widths], *rows):
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option whose path is for `write_json`."""
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write the whole file or nothing."""
    replace_file(path, (json.dumps(content, indent=1) + "\n").encode())
    print(f"written: {path}", file=sys.stderr)


def treebank_files(folder: Path, pattern: str) -> list[Path]:
    """Files of a folder of treebanks; exits with a message if there are none."""
    files = sorted(folder.glob(pattern))
    if not files:
        sys.exit(f"no {pattern} in {folder}; make ... TREEBANKS=FOLDER says where treebanks are")
    return files


def _commit() -> str:
    # A copy of the tree without its history is told the commit by hand.
    if named := os.environ.get("TREECRF_COMMIT"):
        return named
    try:
        return subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _processor() -> str:
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
