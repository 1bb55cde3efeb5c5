"""Trees fit the window: smaller or from top to bottom, at any width, light and dark."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.serve.browsing import (
    NARROW,
    WIDE,
    Service,
    expect_heads,
    open_page,
    parse,
    start,
    word,
)

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]

SHORT = "Anna saw the old garden ."
MEDIUM = "the old dog saw the cat and the small bird in the garden behind the big house ."
LONG = " ".join(["the old dog saw the cat in the garden and"] * 4)

# Of each word: its box, and the rows or columns that the ends of its arc are in.
GEOMETRY = """() => {
  const boxOf = (node) => { const { left, right, top, bottom } = node.getBoundingClientRect();
    return { left, right, top, bottom }; };
  const words = [...document.querySelectorAll(".word .box")].map(boxOf);
  const lines = [...document.querySelectorAll(".arc .line")].map((line) => {
    const matrix = line.getScreenCTM();
    return [0, line.getTotalLength()].map((at) => {
      const { x, y } = line.getPointAtLength(at).matrixTransform(matrix);
      return { x, y };
    });
  });
  const texts = [...document.querySelectorAll(".treecrf-tree text")].map((text) => ({
    size: parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a,
    ...boxOf(text),
  }));
  return { words, lines, texts };
}"""


@pytest.fixture
def phone(browser: Browser, service: Service) -> Iterator[Page]:
    with open_page(browser, viewport=NARROW, has_touch=True, is_mobile=True) as page:
        page.goto(service.address)
        yield page


def is_down(page: Page) -> bool:
    return page.locator(".treecrf-tree.down").count() == 1


@pytest.mark.parametrize("text", [SHORT, MEDIUM, LONG], ids=["short", "medium", "long"])
def test_a_tree_fits_and_can_be_read(window: Page, service: Service, text: str) -> None:
    assert [len(each.split()) for each in (SHORT, MEDIUM, LONG)] == [6, 18, 40]
    parse(window, text)
    width = window.evaluate("document.documentElement.clientWidth")
    assert is_down(window) == (text == LONG or (text == MEDIUM and width < 500))
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    scroller = window.locator(".sentence .scroller").first
    assert scroller.evaluate("node => node.scrollWidth <= node.clientWidth")
    found = window.evaluate(GEOMETRY)
    for each in found["texts"]:
        assert each["size"] >= 7.5
        assert 0 <= each["left"] < each["right"] <= width
    heads = [token["head"] for token in service.parse(text)["tokens"]]
    expect_heads(window, heads)
    check_arcs(found, heads, along="y" if is_down(window) else "x")


def check_arcs(found: Any, heads: list[int], *, along: str) -> None:
    """Words do not overlap, and each arc goes from its head to its dependent."""
    start, end = ("top", "bottom") if along == "y" else ("left", "right")
    boxes = found["words"]
    assert len(boxes) == len(heads) + 1
    for one, other in pairwise(boxes):
        assert one[end] <= other[start] + 1
    for box, head, line in zip(boxes[1:], heads, found["lines"], strict=True):
        places = [point[along] for point in line]
        assert box[start] <= places[1] <= box[end]
        if head:
            assert boxes[head][start] - 8 <= places[0] <= boxes[head][end] + 8


def test_a_tree_follows_the_window(page: Page) -> None:
    page.set_viewport_size(WIDE)
    parse(page, MEDIUM)
    expect(page.locator(".treecrf-tree:not(.down)")).to_be_visible()
    page.set_viewport_size(NARROW)
    expect(page.locator(".treecrf-tree.down")).to_be_visible()
    expect(page.get_by_role("listbox")).to_have_attribute("aria-orientation", "vertical")
    page.set_viewport_size(WIDE)
    expect(page.locator(".treecrf-tree:not(.down)")).to_be_visible()


def test_whoever_wants_the_other_layout_gets_it(page: Page) -> None:
    parse(page, SHORT)
    page.get_by_role("button", name="Draw the tree from top to bottom").click()
    assert is_down(page)
    word(page, 2).click()
    word(page, 3).click()
    expect(page.locator(".arc.fixed")).to_have_count(1)
    assert is_down(page)  # it stays so
    page.get_by_role("button", name="Draw the tree from left to right").click()
    assert not is_down(page)
    parse(page, LONG)
    expect(page.locator(".treecrf-tree.down")).to_be_visible()
    page.get_by_role("button", name="Draw the tree from left to right").click()
    assert not is_down(page)
    scroller = page.locator(".sentence .scroller").first
    assert scroller.evaluate("node => node.scrollWidth > node.clientWidth")


def test_from_top_to_bottom_with_the_keyboard(page: Page, service: Service) -> None:
    page.set_viewport_size(NARROW)
    parse(page, LONG)
    while not page.evaluate("document.activeElement.matches('.word')"):
        page.keyboard.press("Tab")
    focused = "Number(document.activeElement.dataset.id)"
    assert page.evaluate(focused) == 1
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == 0
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".arc.fixed")).to_have_count(1)
    heads = [t["head"] for t in service.parse(LONG, constraints=[{3: 4}])["tokens"]]
    assert page.evaluate(focused) == 3
    page.keyboard.press("End")
    assert page.evaluate(focused) == 40
    expect(word(page, 40)).to_be_in_viewport(ratio=1)
    expect(page.locator(".details")).to_contain_text("Heads of and")
    last, details = word(page, 40).bounding_box(), page.locator(".details").bounding_box()
    assert last is not None
    assert details is not None
    assert last["y"] + last["height"] <= details["y"] + 1
    page.keyboard.press("v")
    assert not is_down(page)
    assert page.evaluate(focused) == 40
    expect(word(page, 40)).to_be_focused()
    expect_heads(page, heads)


def test_the_heads_of_a_word_stay_in_view_on_a_phone(phone: Page) -> None:
    parse(phone, LONG)
    for number in (2, 14, 26):
        word(phone, number).tap()
        expect(phone.locator(".details")).to_contain_text("Click the head of ")
        expect(phone.locator(".details .chip").first).to_be_in_viewport()
        expect(word(phone, number)).to_be_in_viewport()
        phone.keyboard.press("Escape")
    assert phone.evaluate("document.documentElement.scrollWidth") == 375


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_word_that_is_asked_about_is_in_view(
    browser: Browser, model: Path, tmp_path: Path, size: Any
) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(LONG + "\n", encoding="utf-8")
    command = ("annotate", corpus, "--model", model, "--out", out, "--share", "0.5")
    with start(*command) as service, open_page(browser, viewport=size) as page:
        page.goto(service.address)
        expect(page.locator(".treecrf-tree.down")).to_be_visible()
        count = page.locator(".word.asked").count()
        assert count > 5
        for _ in range(count):
            focused = page.locator(".word.asked:focus")
            expect(focused).to_be_in_viewport(ratio=1)
            box = focused.bounding_box()
            assert box is not None
            covering = [".actions"] if size == WIDE else [".actions", ".details"]
            for name in covering:
                cover = page.locator(name).bounding_box()
                assert cover is not None
                assert box["y"] + box["height"] <= cover["y"] + 1
            page.keyboard.press("m")
