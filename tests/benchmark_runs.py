"""Run a benchmark as `make` does."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(
    *arguments: object, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *map(str, arguments)]
    settings = os.environ | (environment or {})
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=settings)
