"""Files beside the code that name what other files say too: Dockerfile and CITATION.cff."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
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
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert " AND ".join(citation["license"]) == project["license"]
    assert [one["name"] for one in citation["authors"]] == [
        one["name"] for one in project["authors"]
    ]
