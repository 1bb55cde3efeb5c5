"""Files of documents: read in groups of bounded size, each document as it would be alone."""

import io

import pytest

from tests.parser.models import random_parser, with_loss
from treecrf.parser.files.sources import FileOptions, grouped, read_input
from treecrf.treebank.files.documents import Document


@pytest.mark.parametrize(
    ("text", "sizes"), [("", [10, 10, 5]), ("a" * 9, [10, 10, 5]), ("a" * 60, [2] * 12 + [1])]
)
def test_groups_are_bounded(text: str, sizes: list[int]) -> None:
    groups = grouped([Document(text)] * 25, characters=100, count=10)
    assert [len(group) for group in groups] == sizes


def test_a_byte_order_mark_is_no_word() -> None:
    source = io.StringIO('{"text": "\\ufeffa dog\\r\\n\\nb"}\n')
    found = read_input(random_parser(with_loss("crf")), source, FileOptions(input="jsonl"))
    assert [sentence.forms for sentence in found] == [["a", "dog"], ["b"]]
