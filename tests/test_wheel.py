"""The wheel, built from what is in the repository: its licences and the model they are for."""

import os
import shutil
import subprocess
import sys
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
MODEL = "src/treecrf/models/en"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built in a copy: setuptools leaves folders behind where it builds."""
    copy, made = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("made")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", copy / "src", ignore=unwanted)
    program = "from setuptools.build_meta import build_wheel; import sys; build_wheel(sys.argv[1])"
    # Warnings of setuptools are about the Python that runs the tests as often as about us.
    result = subprocess.run(
        [sys.executable, "-c", program, str(made)],
        cwd=copy,
        env={name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    (path,) = made.glob("treecrf-*.whl")
    return path


def test_code_and_weights_come_with_their_licences(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        fields = Parser().parsestr(archive.read(metadata).decode())
        assert fields["License-Expression"] == "MIT AND CC-BY-SA-4.0"
        files = ["LICENSE", f"{MODEL}/LICENSE", f"{MODEL}/LICENSE-MIT"]
        assert sorted(fields.get_all("License-File") or ()) == files
        for file in files:
            kept = archive.read(metadata.replace("METADATA", f"licenses/{file}"))
            assert kept == (ROOT / file).read_bytes()


def test_the_model_is_in_it(wheel: Path) -> None:
    ours = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / MODEL).rglob("*")
        if path.is_file()
    }
    with ZipFile(wheel) as archive:
        assert ours <= set(archive.namelist())
