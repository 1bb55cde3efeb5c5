"""Fixtures of the tests of parsers."""

from pathlib import Path

import pytest

from tests.parser.folders import parser_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a model, alone in the temporary one."""
    parser_of().save(tmp_path / "model")
    return tmp_path / "model"
