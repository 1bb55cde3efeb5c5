"""The small models of the other tests: one reads words, one cuts raw text too."""

from tests.cli.conftest import model, shared, treebank  # noqa: F401
from tests.serve.conftest import folder, parser, wordy  # noqa: F401
