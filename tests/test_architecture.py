"""The page on the architecture names modules and functions that exist; no folder is flat."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(treecrf(?:\.\w+)+)`", PAGE)))
MOST_MODULES = 14


def find(name: str) -> object:
    """The module, or the class, function or method in it."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_names_exists(name: str) -> None:
    find(name)


def test_the_page_names_each_walk() -> None:
    assert len(NAMES) > 30
    for layer in ("cli", "serve", "parser", "segment", "nn", "struct", "ops", "treebank"):
        assert any(name.startswith(f"treecrf.{layer}.") for name in NAMES), layer


def test_no_folder_is_flat() -> None:
    """A folder has about a dozen modules at most, and says in its `__init__` what it is for."""
    for folder in (ROOT / "src" / "treecrf").rglob("*/"):
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(modules) <= MOST_MODULES, folder
        if modules:
            first = (folder / "__init__.py").read_text(encoding="utf-8").lstrip()
            assert first.startswith('"""'), folder
