"""Files of documents: read in groups of bounded size, each document as it would be alone."""

import pytest

from treecrf.parser import files as module
from treecrf.treebank.documents import Document


@pytest.mark.parametrize(
    ("text", "sizes"), [("", [10, 10, 5]), ("a" * 9, [10, 10, 5]), ("a" * 60, [2] * 12 + [1])]
)
def test_groups_are_bounded(text: str, sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHARACTERS", 100)
    monkeypatch.setattr(module, "_DOCUMENTS", 10)
    assert [len(group) for group in module._groups([Document(text)] * 25)] == sizes
