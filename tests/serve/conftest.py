"""The model that tests of commands use serves here as well."""

from tests.cli.conftest import model, shared, treebank

__all__ = ["model", "shared", "treebank"]
