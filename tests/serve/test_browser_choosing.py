"""Both pages in Chromium when an answer comes between two clicks: what was chosen stays chosen."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.serve.annotating import Place
from tests.serve.browsing import (
    Service,
    fixed_heads,
    heads_shown,
    hold_answers,
    let_answers_come,
    parse,
    word,
)

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]


@pytest.fixture(params=["serve", "annotate"])
def ready(request: pytest.FixtureRequest) -> Page:
    """Either page, with a sentence in which nothing is decided."""
    if request.param == "annotate":
        page: Page = request.getfixturevalue("place").page
    else:
        page = request.getfixturevalue("page")
        parse(page)
    return page


def click(page: Page, *numbers: int) -> None:
    for number in numbers:
        word(page, number).click()


def press_and_release(page: Page, number: int) -> list[Callable[[], object]]:
    """The two halves of a click on a word."""
    return [
        lambda: word(page, number).hover(),
        page.mouse.down,
        page.mouse.up,
    ]


def form(page: Page, number: int) -> str:
    return word(page, number).locator(".form").text_content() or ""


def second_head(page: Page) -> int:
    """The second of the heads in the list below the tree."""
    number = page.locator(".details .chip:not(.plain)").nth(1).locator(".number")
    return int(number.text_content() or 0) if number.count() else 0


def chosen(page: Page) -> Any:
    return page.locator(".word.chosen")


@pytest.mark.parametrize("moment", range(7))
def test_an_answer_may_come_at_any_moment_of_two_clicks(ready: Page, moment: int) -> None:
    hold_answers(ready)
    click(ready, 1, 2)
    steps = [*press_and_release(ready, 3), *press_and_release(ready, 2)]
    for number, step in enumerate(steps):
        if number == moment:
            let_answers_come(ready)
            ready.wait_for_function("() => document.querySelector('.status').textContent")
        step()
    if moment == len(steps):
        let_answers_come(ready, 2)
    expect(ready.locator(".arc.fixed")).to_have_count(2)
    expect(chosen(ready)).to_have_count(0)
    click(ready, 5, 6)
    expect(ready.locator(".arc.fixed")).to_have_count(3)
    assert fixed_heads(ready) == {1: 2, 3: 2, 5: 6}
    expect(ready.get_by_role("alert").filter(visible=True)).to_have_count(0)


@pytest.mark.parametrize("moment", range(1, 4))
def test_an_answer_may_come_at_any_moment_of_two_keys(ready: Page, moment: int) -> None:
    word(ready, 1).focus()
    hold_answers(ready)
    ready.keyboard.press("f")
    keys = ["ArrowRight", "ArrowRight", "Enter", "ArrowRight", "Enter"]
    for number, key in enumerate(keys):
        if number == moment + 1:
            let_answers_come(ready)
            expect(ready.locator(".arc.fixed")).to_have_count(1)
        ready.keyboard.press(key)
    expect(ready.locator(".arc.fixed")).to_have_count(2)
    assert fixed_heads(ready)[3] == 4


def test_a_refusal_between_two_clicks_leaves_the_choice(ready: Page) -> None:
    click(ready, 1, 3)
    expect(ready.locator(".arc.fixed")).to_have_count(1)
    hold_answers(ready)
    click(ready, 3, 1)
    click(ready, 5)
    let_answers_come(ready)
    expect(ready.get_by_role("alert").filter(has_text="circle")).to_be_visible()
    expect(chosen(ready)).to_have_attribute("data-id", "5")
    expect(ready.locator(".details").first).to_contain_text(f"Click the head of {form(ready, 5)}")
    click(ready, 6)
    expect(ready.locator(".arc.fixed")).to_have_count(2)
    assert fixed_heads(ready) == {1: 3, 5: 6}


def test_undo_and_other_trees_leave_the_choice(ready: Page) -> None:
    click(ready, 1, 2)
    expect(ready.locator(".arc.fixed")).to_have_count(1)
    click(ready, 5)
    ready.keyboard.press("Control+z")
    expect(ready.locator(".arc.fixed")).to_have_count(0)
    expect(chosen(ready)).to_have_attribute("data-id", "5")
    ready.keyboard.press("]")
    expect(ready.locator(".rank")).to_have_text("1 of 5 best")
    expect(chosen(ready)).to_have_attribute("data-id", "5")
    click(ready, 6)
    expect(ready.locator(".arc.fixed")).to_have_count(1)
    assert fixed_heads(ready) == {5: 6}


@pytest.mark.parametrize("key", ["f", "r", "2", "chip"])
def test_a_word_that_is_decided_about_is_not_chosen_any_more(ready: Page, key: str) -> None:
    click(ready, 6)
    expect(chosen(ready)).to_have_count(1)
    hold_answers(ready)
    if key == "chip":
        ready.locator(".details .chip").first.click()
    else:
        ready.keyboard.press(key)
    expect(chosen(ready)).to_have_count(0)
    let_answers_come(ready)
    expect(ready.locator(".arc.fixed")).to_have_count(1)
    click(ready, 5)  # a first click again
    expect(chosen(ready)).to_have_attribute("data-id", "5")
    assert set(fixed_heads(ready)) == {6}


def test_a_number_takes_a_head_of_the_list_of_its_word(ready: Page) -> None:
    """The list of the word that an answer is about does not replace the one that is read."""
    hold_answers(ready)
    word(ready, 1).focus()
    ready.keyboard.press("f")
    for _ in range(5):
        ready.keyboard.press("ArrowRight")
    let_answers_come(ready)
    expect(ready.locator(".arc.fixed")).to_have_count(1)
    expect(ready.locator(".details .question").first).to_have_text(f"Heads of {form(ready, 6)}:")
    wanted = second_head(ready)
    ready.keyboard.press("2")
    expect(ready.locator(".arc.fixed")).to_have_count(2)
    assert fixed_heads(ready)[6] == wanted


def test_a_number_takes_nothing_of_the_list_of_another_word(ready: Page) -> None:
    word(ready, 6).focus()
    word(ready, 3).hover()
    question = ready.locator(".details .question").first
    expect(question).to_have_text(f"Heads of {form(ready, 3)}:")
    ready.keyboard.press("2")
    expect(question).to_have_text(f"Heads of {form(ready, 6)}:")
    wanted = second_head(ready)
    ready.keyboard.press("2")
    expect(ready.locator(".arc.fixed")).to_have_count(1)
    assert fixed_heads(ready) == {6: wanted}


@pytest.mark.parametrize("typed", ["", "vocative"])
def test_an_answer_may_come_while_a_relation_is_chosen(ready: Page, typed: str) -> None:
    word(ready, 1).focus()
    hold_answers(ready)
    ready.keyboard.press("f")
    ready.keyboard.press("ArrowRight")
    ready.keyboard.press("ArrowRight")
    ready.keyboard.press("l")
    dialog = ready.get_by_role("dialog", name=f"Relation of {form(ready, 3)}")
    expect(dialog).to_be_visible()
    let_answers_come(ready)
    expect(ready.locator(".arc.fixed")).to_have_count(1)
    ready.keyboard.type(typed)
    ready.keyboard.press("Enter" if typed else "Escape")
    expect(dialog).to_have_count(0)
    expect(word(ready, 3)).to_be_focused()
    expect(ready.locator(".arc.fixed")).to_have_count(2 if typed else 1)
    assert set(fixed_heads(ready)) == ({1, 3} if typed else {1})


def test_an_answer_does_not_scroll_to_another_word(page: Page) -> None:
    parse(page, " ".join(["the old dog saw the cat and"] * 12))
    hold_answers(page)
    click(page, 1, 3)
    click(page, 5)
    word(page, 70).hover()  # which scrolls
    before = word(page, 70).bounding_box()
    let_answers_come(page)
    expect(page.locator(".arc.fixed")).to_have_count(1)
    after = word(page, 70).bounding_box()
    assert before is not None
    assert after is not None
    middles = [box["x"] + box["width"] / 2 for box in (before, after)]
    assert abs(middles[0] - middles[1]) < 3
    click(page, 70)
    expect(page.locator(".arc.fixed")).to_have_count(2)
    assert fixed_heads(page) == {1: 3, 5: 70}


def test_an_answer_leaves_the_head_that_is_stepped_to_in_the_table(ready: Page) -> None:
    before = heads_shown(ready)
    hold_answers(ready)
    ready.locator("[data-cell=fixed-1]").check()
    choice = ready.locator("[data-cell=head-10]")
    choice.focus()
    ready.keyboard.press("ArrowDown" if before[9] < 5 else "ArrowUp")
    wanted = int(choice.input_value())
    let_answers_come(ready)
    expect(ready.locator(".arc.fixed")).to_have_count(1)
    expect(choice).to_be_focused()
    assert int(choice.input_value()) == wanted
    ready.keyboard.press("Enter")
    expect(ready.locator(".arc.fixed")).to_have_count(2)
    assert fixed_heads(ready)[10] == wanted


def test_a_choice_ends_with_its_sentence(place: Place) -> None:
    page = place.page
    hold_answers(page)
    place.fix(1, 2)
    click(page, 3)
    page.locator("#forward").click()
    click(page, 5)  # on a sentence that is being left
    let_answers_come(page)
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place.number + 1} ·")
    expect(chosen(page)).to_have_count(0)
    click(page, 4)
    expect(chosen(page)).to_have_attribute("data-id", "4")
    assert place.heads == {1: 2}


def test_no_word_is_chosen_while_the_page_goes_on(place: Place) -> None:
    page = place.page
    hold_answers(page)
    page.locator("#forward").click()
    page.wait_for_function("() => window.waiting === 1")
    click(page, 5)
    expect(word(page, 5)).to_be_focused()
    expect(chosen(page)).to_have_count(0)
    let_answers_come(page)
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place.number + 1} ·")


def test_news_of_the_same_sentence_leave_the_choice(
    place: Place,
    annotation: Service,
) -> None:
    page = place.page
    annotation.decide(place.number, heads={1: 2})  # in another tab
    hold_answers(page)
    place.fix(5, 6)
    click(page, 3)
    let_answers_come(page)
    alert = page.locator(".sentence").get_by_role("alert")
    expect(alert).to_contain_text("changed elsewhere meanwhile")
    expect(page.locator(".arc.fixed")).to_have_count(1)
    expect(chosen(page)).to_have_attribute("data-id", "3")
    click(page, 2)
    place.wait_until_saved(2)
    assert place.heads == {1: 2, 3: 2}


def test_what_nobody_has_seen_is_not_accepted(
    place: Place,
    annotation: Service,
) -> None:
    """An answer that changes marked words comes after the key."""
    page = place.page
    asked = [
        int(id)
        for id in page.locator(".word.asked").evaluate_all(
            "words => words.map((word) => word.dataset.id)"
        )
    ]
    sentence = page.locator(".sentence h2").text_content() or ""
    dependent, head, changed = arc_that_changes(annotation, sentence, asked)
    hold_answers(page)
    place.fix(dependent, head)
    page.keyboard.press("a")
    let_answers_come(page)
    alert = page.locator(".sentence").get_by_role("alert")
    expect(alert).to_contain_text(f"«{sentence.split()[changed - 1]}»")
    expect(alert).to_contain_text("Not accepted yet")
    assert (place.state, place.heads) == ("open", {dependent: head})
    page.keyboard.press("a")  # now one has seen it
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place.number + 1} ·")
    assert (place.state, set(place.heads)) == ("done", {dependent, *asked})


def arc_that_changes(service: Service, sentence: str, asked: list[int]) -> tuple[int, int, int]:
    """A dependent, a head, and a marked word that has another head with that arc."""
    free = [token["head"] for token in service.parse(sentence)["tokens"]]
    words = range(1, len(free) + 1)
    for dependent in words:
        for head in words:
            if head in (dependent, free[dependent - 1]):
                continue
            tokens = service.parse(sentence, constraints=[{dependent: head}])["tokens"]
            for other in asked:
                if other != dependent and tokens[other - 1]["head"] != free[other - 1]:
                    return dependent, head, other
    raise AssertionError("no arc changes a marked word")
