"""Fixtures of the tests of parsers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parser.folders import parser_of

_ROOM = 2 << 30  # bytes that loading may take, which is far from what the damage asks for


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a model, alone in the temporary one."""
    parser_of().save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Whatever takes far more memory than a model of a few weights fails."""
    import resource  # on Unix alone

    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _ROOM, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
