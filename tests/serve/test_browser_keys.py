"""The page in Chromium for who has no mouse: the table, the buttons, letters that are capitals."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.serve.browsing import SENTENCE, heads_shown, open_page, parse, start, word

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]


def requests_of(page: Page) -> list[Any]:
    """What the page sends from now on."""
    sent: list[Any] = []
    page.on("request", lambda request: sent.append(request.post_data_json))
    return sent


def test_arrows_in_the_table_step_and_enter_takes(page: Page) -> None:
    parse(page)
    before = heads_shown(page)
    sent = requests_of(page)
    choice = page.get_by_label("Head of garden", exact=True)
    choice.focus()
    steps = "ArrowDown" if before[9] < 5 else "ArrowUp"
    for _ in range(3):
        page.keyboard.press(steps)
    wanted = int(choice.input_value())
    assert wanted != before[9]
    page.keyboard.press("Escape")
    assert int(choice.input_value()) == before[9]
    for _ in range(3):
        page.keyboard.press(steps)
    assert sent == []
    page.keyboard.press("Enter")
    expect(page.locator(".arc.fixed")).to_have_count(1)
    assert heads_shown(page)[9] == wanted
    expect(choice).to_be_focused()
    assert [each["constraints"] for each in sent] == [[{"10": wanted}]]


def test_a_head_in_the_table_is_taken_when_its_field_is_left(page: Page) -> None:
    parse(page)
    before = heads_shown(page)
    sent = requests_of(page)
    choice = page.get_by_label("Head of garden", exact=True)
    choice.focus()
    page.keyboard.press("ArrowDown" if before[9] < 5 else "ArrowUp")
    wanted = int(choice.input_value())
    page.keyboard.press("Tab")
    expect(page.locator(".arc.fixed")).to_have_count(1)
    assert heads_shown(page)[9] == wanted
    expect(page.locator("[data-cell='relation-10']")).to_be_focused()
    assert len(sent) == 1


@pytest.mark.parametrize("key", ["f", "F"])
def test_letters_may_be_capitals(page: Page, key: str) -> None:
    parse(page)
    word(page, 6).focus()
    page.keyboard.press(key)
    expect(page.locator(".arc.fixed")).to_have_count(1)
    page.keyboard.press("l" if key == "f" else "L")
    expect(page.get_by_role("dialog", name="Relation of")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("r" if key == "f" else "R")
    expect(word(page, 6)).to_have_attribute("aria-label", "telescope, NOUN, the root, root, fixed")


def test_a_button_that_has_nothing_left_to_do_keeps_the_focus(page: Page) -> None:
    parse(page)
    word(page, 6).focus()
    page.keyboard.press("f")
    expect(page.locator(".arc.fixed")).to_have_count(1)
    undo = page.get_by_role("button", name="Undo")
    undo.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".arc.fixed")).to_have_count(0)
    expect(undo).to_be_disabled()
    expect(undo).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".sentence .status")).to_have_text("There is nothing to undo.")
    page.keyboard.press("Control+y")
    expect(page.locator(".arc.fixed")).to_have_count(1)


def test_the_heads_below_the_tree_keep_the_focus(page: Page) -> None:
    parse(page)
    word(page, 6).focus()
    chip = page.locator(".details .chip").first
    chip.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".arc.fixed")).to_have_count(1)
    expect(chip).to_be_focused()
    page.locator(".details .chip").last.focus()  # to free it
    page.keyboard.press("Enter")
    expect(page.locator(".arc.fixed")).to_have_count(0)
    expect(page.locator(".details .chip:focus")).to_have_count(1)  # the button itself is gone
    page.keyboard.press("Control+z")
    expect(page.locator(".arc.fixed")).to_have_count(1)


def test_nothing_to_parse_ends_what_is_being_parsed(page: Page) -> None:
    page.evaluate(
        "() => { const real = window.fetch; window.fetch = async (...all) => {"
        " await new Promise((resolve) => { window.release = resolve; }); return real(...all); }; }"
    )
    page.fill("#text", SENTENCE)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#form")).to_have_attribute("aria-busy", "true")
    page.fill("#text", "")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("nothing to parse")
    with page.expect_response("**/api/parse"):
        page.evaluate("() => window.release()")
    expect(page.locator("#form[aria-busy]")).to_have_count(0)
    expect(page.locator(".sentence")).to_have_count(0)


def test_from_the_end_there_is_a_way_back(browser: Browser, model: Path, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(f"{SENTENCE}\nThe dog saw the cat .\n", encoding="utf-8")
    command = ("annotate", corpus, "--model", model, "--out", out, "--order", "corpus")
    with start(*command, "--share", "0.2") as service, open_page(browser) as page:
        page.goto(service.address)
        progress = page.locator("#progress-text")
        for place in (1, 2):
            expect(progress).to_contain_text(f"Sentence {place} ·")
            page.keyboard.press("a")
        finished = page.get_by_text("That was all.")
        expect(finished).to_be_visible()
        for button in ("Accept", "Skip", "Next"):
            expect(page.locator(".actions").get_by_text(button)).to_be_disabled()
        page.keyboard.press("b")
        expect(progress).to_contain_text("Sentence 2 ·")
        expect(finished).to_be_hidden()
        expect(page.locator(".word:focus")).to_have_count(1)
        page.keyboard.press("Delete")
        expect(progress).to_contain_text("4 heads confirmed")
        page.keyboard.press("a")
        expect(finished).to_be_visible()
        page.reload()
        expect(finished).to_be_visible()
        page.get_by_role("button", name="Back").click()
        expect(progress).to_contain_text("Sentence 2 ·")
        page.keyboard.press("B")
        expect(progress).to_contain_text("Sentence 1 ·")


def test_nothing_to_ask_about(browser: Browser, model: Path, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(f"{SENTENCE}\n", encoding="utf-8")
    command = ("annotate", corpus, "--model", model, "--out", out, "--threshold", "0.0001")
    with start(*command) as service, open_page(browser) as page:
        page.goto(service.address)
        expect(page.get_by_text("There is nothing to ask about.")).to_be_visible()
        expect(page.get_by_text("goes back to the sentences")).to_have_count(0)
        expect(page.locator(".actions")).to_be_hidden()
