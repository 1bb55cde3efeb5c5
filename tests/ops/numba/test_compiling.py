"""Kernels on disk are used again, and compiled again when anything that they call has changed."""

import os
import subprocess
import sys
from pathlib import Path

from treecrf.ops.numba import compiling

OPS = Path(compiling.__file__).parents[1]

HELPER = """
from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numbers import NUMBER
@compiled
def number():
    return NUMBER
"""
CALLER = """
from treecrf.ops.numba.compiling import kernel
from treecrf.ops.helper import number
@kernel
def ask():
    return number()
"""
PROGRAM = """
from treecrf.ops.caller import ask
print(ask(), "from disk" if sum(ask.stats.cache_hits.values()) else "compiled")
"""


def test_a_kernel_is_compiled_again_when_its_sources_change(tmp_path: Path) -> None:
    """The number is in a module that the kernel's own does not even import."""
    ops = tmp_path / "treecrf" / "ops"
    (ops / "numba").mkdir(parents=True)
    for module, source in (("../__init__", ""), ("helper", HELPER), ("caller", CALLER)):
        (ops / f"{module}.py").write_text(source)
    for name in ("compiling.py", "disk.py"):
        (ops / "numba" / name).write_bytes((OPS / "numba" / name).read_bytes())
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path),
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",  # which would go by the second of a change
    }
    outputs = []
    for number in (1, 1, 2):
        (ops / "numbers.py").write_text(f"NUMBER = {number}\n")
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout.strip())
    assert outputs == ["1 compiled", "1 from disk", "2 compiled"]


def test_the_sources_of_a_kernel_are_what_its_module_imports() -> None:
    found = compiling.sources(OPS / "nonprojective" / "sampling.py")
    assert {str(path.relative_to(OPS)) for path in found} == {
        "constants.py",
        "nonprojective/matrix_tree.py",
        "nonprojective/sampling.py",
        "nonprojective/widefloat.py",
        "numba/compiling.py",
        "numba/disk.py",
    }
