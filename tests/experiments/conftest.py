"""One treebank and one folder of results for all experiments, so that they share trainings."""

from pathlib import Path

import pytest

from tests.experiments.toys import make_treebank


@pytest.fixture(scope="session")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_treebank(tmp_path_factory.mktemp("treebanks") / "made")


@pytest.fixture(scope="session")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")
