"""Files beside the code that name what other files say too, and the versions that we may use."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The last release with a known hole; comments in pyproject.toml say which holes matter most.
UNSAFE = {
    "filelock": "3.20.2",  # CVE-2025-68146, CVE-2026-22701
    "h11": "0.15.0",  # CVE-2025-43859
    "onnx": "1.20.1",  # CVE-2026-27489, CVE-2026-34445, CVE-2026-34446
    "playwright": "1.55.0",  # CVE-2025-59288
    "pyarrow": "23.0.0",  # CVE-2026-25087
    "pytest": "9.0.2",  # CVE-2025-71176
    "python-multipart": "0.0.29",  # CVE-2026-42561, CVE-2026-53539
    "ray": "2.53.0",  # CVE-2025-62593, CVE-2026-27482
    "starlette": "1.3.0",  # CVE-2025-62727, CVE-2026-48710, CVE-2026-54283
    "torch": "2.9.1",  # CVE-2025-32434, CVE-2026-24747
    "transformers": "5.4.0",  # CVE-2026-4372, CVE-2026-5241
}
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_the_image_has_the_tested_versions() -> None:
    assert re.search(r"^torch==\S+$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    installs = DOCKERFILE.count("pip install")
    assert installs == DOCKERFILE.count("pip install --no-cache-dir -c constraints.txt") == 2


def test_the_image_copies_what_docker_does_not_ignore() -> None:
    copied = re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    kept = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert sorted(names) == sorted(kept)
    assert all((ROOT / name).exists() for name in names)


def test_the_citation_has_the_licences_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert " AND ".join(citation["license"]) == PROJECT["license"]
    assert [one["name"] for one in citation["authors"]] == [
        one["name"] for one in PROJECT["authors"]
    ]


@pytest.mark.parametrize("name", UNSAFE)
def test_no_release_with_a_known_hole_is_admitted(name: str) -> None:
    extras = PROJECT["optional-dependencies"].values()
    needed = map(
        Requirement, [*PROJECT["dependencies"], *(text for extra in extras for text in extra)]
    )
    [found] = [one for one in needed if one.name == name]
    tested = re.search(rf"^{name}==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert tested
    assert found.specifier.contains(tested[1])
    assert not found.specifier.contains(UNSAFE[name])
