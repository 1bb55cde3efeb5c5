"""Options that several tests of commands give."""

from pathlib import Path

import pytest


@pytest.fixture
def data(treebank: Path) -> tuple[object, ...]:
    """The options that name data: little of it, for training that need not be good."""
    return "--train", treebank / "dev.conllu", "--dev", treebank / "dev.conllu"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "model"
