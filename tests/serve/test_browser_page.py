"""The page in Chromium whatever comes: hostile words, long ones, a phone, the dark."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.serve.browsing import (
    SENTENCE,
    Service,
    heads_shown,
    open_page,
    parse,
    word,
)

pytestmark = [pytest.mark.browser, pytest.mark.service]

HOSTILE = "<script>hacked=1</script> \"onload=hacked=1 <img/src=x/onerror=hacked=1> ' &lt; </text>"


def test_no_input_runs_as_script(page: Page, service: Service, tmp_path: Path) -> None:
    """Hostile words come from the text, hostile relations from a model: here from the answers."""

    def hostile(route: Any) -> None:
        answer = route.fetch()
        body = answer.json()
        for part in body.get("models", []):
            part["labels"].append(HOSTILE)
        for sentence in body.get("sentences", []):
            for token in sentence["tokens"]:
                token["deprel"] = token["upos"] = token["lemma"] = token["xpos"] = HOSTILE
                token["feats"] = {HOSTILE: HOSTILE}
            sentence["multiwords"] = [{"first": 1, "last": 2, "form": HOSTILE}]
        route.fulfill(response=answer, json=body)

    page.route("**/api/*", hostile)
    page.reload()
    parse(page, HOSTILE)
    count = len(HOSTILE.split())
    expect(page.locator(".arc .label").first).to_have_text(HOSTILE)
    assert page.locator(".word:not(.root) .form").all_text_contents() == HOSTILE.split()
    for number in range(1, count + 1):
        word(page, number).hover()
    word(page, 1).click()
    word(page, 2).click()
    expect(page.locator(".arc.fixed")).to_have_count(1)
    heads_shown(page)
    page.locator(".label[data-dependent='1']").first.click()
    page.get_by_role("option", name=HOSTILE).last.click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download SVG").click()
    waiting.value.save_as(tmp_path / "tree.svg")
    names = {
        node.tag.rpartition("}")[2] for node in ElementTree.parse(tmp_path / "tree.svg").iter()
    }
    assert names == {"svg", "title", "style", "g", "path", "rect", "text"}
    page.goto((tmp_path / "tree.svg").as_uri())
    assert page.evaluate("typeof hacked") == "undefined"
    page.goto(f"{service.address}#text={quote(HOSTILE)}&model={quote(HOSTILE)}&changed=x")
    expect(page.locator("#problem")).to_contain_text("damaged")
    expect(page.locator(".multiword .written")).to_have_text(HOSTILE)
    assert page.locator("img[src='x']").count() == 0
    assert page.evaluate("typeof hacked") == "undefined"


def test_script_in_the_page_is_barred(browser: Browser, service: Service) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(service.address)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "script-src" not in policy
    page.evaluate(
        "() => { const script = document.createElement('script');"
        " script.textContent = 'hacked = 1';"
        " document.body.append(script); document.body.setAttribute('onclick', 'hacked = 2'); }"
    )
    page.mouse.click(2, 2)
    assert page.evaluate("typeof hacked") == "undefined"
    context.close()


def test_nothing_comes_from_elsewhere(page: Page, service: Service) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    parse(page)
    assert len(asked) > 5
    assert [url for url in asked if not url.startswith(service.address)] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser: Browser, service: Service, scheme: Any) -> None:
    def lightness(page: Page) -> int:
        colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    with open_page(browser, color_scheme=scheme) as page:
        page.goto(service.address)
        assert (lightness(page) < 200) == (scheme == "dark")
        switch = page.get_by_role("button", name="Colours")
        switch.click()
        assert lightness(page) > 600
        switch.click()
        assert lightness(page) < 200
        page.reload()
        assert lightness(page) < 200


def test_a_phone(browser: Browser, service: Service) -> None:
    options = {"viewport": {"width": 375, "height": 720}, "has_touch": True, "is_mobile": True}
    with open_page(browser, **options) as page:
        page.goto(service.address)
        parse(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        word(page, 6).tap()
        expect(page.locator(".details")).to_contain_text("Click the head of telescope")
        page.locator(".details .chip").nth(1).tap()
        expect(page.locator(".arc.fixed")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") == 375


def test_a_long_sentence_scrolls_to_where_one_goes(page: Page) -> None:
    parse(page, " ".join(["the old dog saw the cat and"] * 12))
    word(page, 1).focus()
    page.keyboard.press(
        "v"
    )  # it is too long to be drawn from left to right without being asked for
    page.keyboard.press("End")
    scroller = page.locator(".sentence .scroller").first
    assert scroller.evaluate("node => node.scrollLeft") > 1000
    expect(word(page, 84)).to_be_in_viewport()


def test_words_that_are_written_from_the_right(page: Page) -> None:
    parse(page, "راى الولد البيت")
    boxes = [word(page, number).bounding_box() for number in (1, 2, 3)]
    places = [box["x"] for box in boxes if box]
    assert len(places) == 3
    assert places == sorted(places, reverse=True)


def test_problems_are_told(page: Page) -> None:
    page.get_by_role("button", name="Parse").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing to parse")
    page.route("**/api/parse", lambda route: route.abort())
    page.fill("#text", SENTENCE)
    page.get_by_role("button", name="Parse").click()
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
