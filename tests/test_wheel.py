"""The wheel, built from what is in the repository: its licences, its model, and how it installs."""

import os
import shutil
import subprocess
import sys
import venv
from email.parser import Parser
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

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


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, what it declares to need, and nothing else.

    Packages are links to those that are installed here, so that nothing is downloaded.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (metadata,) = site.glob("treecrf-*.dist-info")
    for package in needed_by(Distribution.at(metadata), {}):
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            (site / top).symlink_to(Path(str(package.locate_file(top))))
    return folder / "bin"


def needed_by(package: Distribution, found: dict[str, Distribution]) -> list[Distribution]:
    """The packages that a package needs without its extras, and what these need."""
    for requirement in map(Requirement, package.requires or ()):
        needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if needed and requirement.name not in found:
            found[requirement.name] = distribution(requirement.name)
            needed_by(found[requirement.name], found)
    return list(found.values())


def run(environment: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of an environment in its own folder, without settings for another Python."""
    kept = {name: os.environ[name] for name in os.environ if not name.startswith("PYTHON")}
    command = [str(environment / program), *arguments]
    return subprocess.run(command, cwd=environment, env=kept, capture_output=True, text=True)


def test_it_parses_in_an_empty_environment(environment: Path) -> None:
    there = "import importlib.util as u; print(*(bool(u.find_spec(n)) for n in ('torch', 'spacy')))"
    assert run(environment, "python", "-c", there).stdout == "True False\n"
    drawn = run(environment, "treecrf", "parse", "--text", "Dogs bark.", "--format", "tree")
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert "Dogs  NOUN   nsubj" in drawn.stdout
    listed = run(environment, "treecrf", "models")
    assert listed.stdout.startswith("en  treecrf ")
    served = run(environment, "treecrf", "serve")
    assert served.returncode == 2
    assert "treecrf[serve]" in served.stderr
