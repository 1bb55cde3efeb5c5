"""The page draws trees where the pictures of `treecrf parse --format svg` have them."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.enumeration import all_trees
from tests.serve.browsing import open_page
from treecrf.demo import generate_treebank
from treecrf.serve.app import STATIC
from treecrf.treebank.drawing.layout import lay_out
from treecrf.treebank.trees import is_projective

pytestmark = [pytest.mark.browser, pytest.mark.service]

LAY_OUT = """async ([source, cases]) => {
  const { layOut } = await import("data:text/javascript," + encodeURIComponent(source));
  return cases.map(({ heads, ...sizes }) => layOut(heads, sizes));
}"""


@pytest.fixture
def blank(browser: Browser) -> Iterator[Page]:
    with open_page(browser) as page:
        yield page


def cases() -> Iterator[dict[str, Any]]:
    """Every small tree, and some larger ones, whose words and labels are narrow and wide."""
    random = Random(1)
    small = [
        list(tree[1:])
        for words in range(5)
        for tree in all_trees(words, projective=False, multiroot=True)
    ]
    large = [sentence.heads for sentence in generate_treebank(50, seed=1, crossing=0.5)]
    assert not all(is_projective([0, *heads]) for heads in large)
    for heads in small + large:
        yield {
            "heads": heads,
            "widths": [random.randrange(100) for _ in heads],
            "labels": [random.randrange(80) for _ in heads],
            "mirrored": random.random() < 0.5,
        }


def test_the_page_and_the_pictures_have_one_layout(blank: Page) -> None:
    given = list(cases())
    source = (STATIC / "layout.js").read_text()
    for case, found in zip(given, blank.evaluate(LAY_OUT, [source, given]), strict=True):
        for arc in found["arcs"]:
            arc["label"] = math.floor(arc["label"])  # a picture has whole pixels
        assert found == asdict(lay_out(**case)), case
