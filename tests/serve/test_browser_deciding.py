"""Annotation in Chromium when things happen at once: quick keys, two tabs, lost answers."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.serve.annotating import HOLD, LINES, RELEASE, Place, command
from tests.serve.browsing import Service, hold_answers, let_answers_come, open_page, start

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]


@pytest.mark.parametrize(("leaving", "state"), [("a", "done"), ("s", "skipped")])
def test_what_is_pressed_after_leaving_decides_nothing(
    place: Place, leaving: str, state: str
) -> None:
    page = place.page
    place.press("f")
    place.wait_until_saved(1)
    page.evaluate(HOLD)
    place.press(leaving)
    page.wait_for_function("window.held.length === 1")
    place.press("f", "u", "2", "Delete", "r")
    page.evaluate(RELEASE)
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place.number + 1} ·")
    assert place.state == state
    assert len(place.heads) == (place.asked if state == "done" else 1)


def test_two_tabs_do_not_overwrite_each_other(
    browser: Browser, place: Place, annotation: Service, desk: Path
) -> None:
    with open_page(browser) as page:
        other = Place(page, annotation, desk)
        assert other.number == place.number
        place.press("a")
        expect(place.page.locator("#progress-text")).to_contain_text(
            f"Sentence {place.number + 1} ·"
        )
        decided = place.heads
        other.press("2")
        alert = page.locator(".sentence").get_by_role("alert")
        expect(alert).to_contain_text("changed elsewhere meanwhile")
        expect(page.locator(".arc.fixed")).to_have_count(len(decided))
        assert (place.state, place.heads) == ("done", decided)
        page.locator(".word:focus").wait_for()
        other.press("Delete")  # now one has seen it
        other.wait_until_saved(len(decided) - 1)
        expect(alert).to_be_hidden()
        assert len(place.heads) == len(decided) - 1


@pytest.mark.parametrize("are_cut", [False, True], ids=["same words", "other words"])
def test_news_leave_the_word_that_one_is_at(
    place: Place, annotation: Service, are_cut: bool
) -> None:
    """Where another tab has split a word, its number is that of another one."""
    page = place.page
    number = page.locator(".word:not(.asked):not(.root)").last.get_attribute("data-id")
    tokens = annotation.get(f"api/annotate/{place.number}")["written"]
    form = tokens[1]["form"]
    parts = [{"form": part, "words": []} for part in (form[0], form[1:])]
    changed = {"tokens": [tokens[0], *parts, *tokens[2:]]} if are_cut else {"heads": {1: 2}}
    annotation.decide(place.number, **changed)
    hold_answers(page)
    place.fix(1, 3)
    there = page.locator(f".word[data-id='{number}']")
    there.click()
    let_answers_come(page)
    alert = page.locator(".sentence").get_by_role("alert")
    expect(page.locator(".word:not(.root)")).to_have_count(len(tokens) + are_cut)
    expect(page.locator(".arc.fixed")).to_have_count(0 if are_cut else 1)
    expect(alert).to_contain_text("changed elsewhere meanwhile")
    expect(page.locator(".word.chosen")).to_have_count(0 if are_cut else 1)
    expect(page.locator(".word:focus").and_(there)).to_have_count(0 if are_cut else 1)
    assert place.heads == ({} if are_cut else {1: 2})


def test_an_answer_that_is_lost_is_no_conflict(place: Place) -> None:
    page = place.page
    page.evaluate(HOLD)
    page.evaluate("() => { window.way = 'lose'; }")
    place.press("f")
    alert = page.locator(".sentence").get_by_role("alert")
    expect(alert).to_contain_text("does not answer")
    assert len(place.heads) == 1
    page.evaluate("() => { window.way = 'pass'; }")
    place.press("f")
    place.wait_until_saved(1)
    page.evaluate("() => { window.way = 'lose'; }")
    place.press("Delete")
    expect(alert).to_contain_text("does not answer")
    assert place.heads == {}
    page.evaluate("() => { window.way = 'pass'; }")
    place.press("a")  # without having tried that again
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place.number + 1} ·")
    assert (place.state, len(place.heads)) == ("done", place.asked)


def test_a_head_corrected_just_before_keeps_its_relation(place: Place) -> None:
    page = place.page
    dependent = int(page.locator(".word:focus").get_attribute("data-id") or 0)
    page.evaluate(HOLD)
    place.press("2", "l")
    page.keyboard.type("vocative")
    page.keyboard.press("Enter")
    page.evaluate(RELEASE)
    expect(page.locator(".arc.fixed .label")).to_have_text("vocative")
    place.wait_until_saved(1)
    corrected = place.heads[dependent]
    page.locator(".word:focus").wait_for()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    place.wait_until_saved(0)
    place.press("2")
    place.wait_until_saved(1)
    assert place.heads == {dependent: corrected}


def test_a_head_corrected_just_before_is_what_is_confirmed(place: Place) -> None:
    page = place.page
    dependent = int(page.locator(".word:focus").get_attribute("data-id") or 0)
    page.evaluate(HOLD)
    place.press("2", "f")
    page.evaluate(RELEASE)
    place.wait_until_saved(1)
    assert place.written is not None
    assert place.written.deprels[dependent - 1] != "_"
    corrected = place.heads[dependent]
    page.keyboard.press("u")
    page.keyboard.press("u")
    place.wait_until_saved(0)
    place.press("2")
    place.wait_until_saved(1)
    assert place.heads == {dependent: corrected}


def test_of_two_quick_decisions_the_first_stays_when_the_second_is_refused(place: Place) -> None:
    page = place.page
    page.evaluate(HOLD)
    place.fix(3, 4)
    place.fix(4, 3)
    page.evaluate(RELEASE)
    alert = page.locator(".sentence").get_by_role("alert")
    expect(alert).to_contain_text("circle")
    place.wait_until_saved(1)
    assert place.heads == {3: 4}
    place.fix(1, 2)
    place.wait_until_saved(2)
    assert place.heads == {1: 2, 3: 4}
    page.keyboard.press("Control+z")
    place.wait_until_saved(1)
    assert place.heads == {3: 4}


def test_decisions_are_sent_at_once(place: Place) -> None:
    """A page that is closed takes with it what it was going to send."""
    page = place.page
    asked: list[Any] = []
    page.on("request", lambda request: asked.append(request.post_data_json))
    page.evaluate(
        "() => { const real = window.fetch; window.kept = [];"
        " window.fetch = (path, options) => { window.kept.push(options.keepalive);"
        " return real(path, options); }; }"
    )
    place.press("f", "ArrowRight", "f", "ArrowRight", "f")
    assert page.evaluate("window.kept") == [True] * 3
    place.wait_until_saved(3)
    assert [len(each["heads"]) for each in asked] == [1, 2, 3]
    assert len(place.heads) == 3


def test_who_closes_the_page_too_early_is_asked(browser: Browser, annotation: Service) -> None:
    page = browser.new_page()
    page.goto(annotation.address)
    page.locator(".word.asked:focus").wait_for()
    number = annotation.get("api/annotate")["progress"]["next"]
    page.evaluate(HOLD)
    page.keyboard.press("f")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    with page.expect_event("dialog"):
        page.evaluate("() => { setTimeout(() => location.reload()); }")
    page.evaluate(RELEASE)
    expect(page.locator(".arc.fixed")).to_have_count(1)
    page.reload()
    expect(page.locator(".arc.fixed")).to_have_count(1)
    assert asked == ["beforeunload"]
    page.close()
    annotation.decide(number, state="skipped")


def test_a_service_that_is_started_again_gets_nothing_wrong(
    browser: Browser, model: Path, tmp_path: Path
) -> None:
    """What was begun comes first then: the page has other sentences at its places."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("".join(line + "\n" for line in LINES), encoding="utf-8")
    out = tmp_path / "out.conllu"
    with open_page(browser) as page:
        with start(*command(model, corpus)) as service:
            page.goto(service.address)
            page.locator(".word.asked:focus").wait_for()
            page.keyboard.press("n")
            expect(page.locator("#progress-text")).to_contain_text("Sentence 2 ·")
            page.keyboard.press("f")
            expect(page.locator(".arc.fixed")).to_have_count(1)
        before = out.read_bytes()
        with start(*command(model, corpus), port=service.port):
            page.keyboard.press("a")
            alert = page.locator(".sentence").get_by_role("alert")
            expect(alert).to_contain_text("reload the page")
            assert out.read_bytes() == before
            page.reload()
            expect(page.locator(".sentence h2")).to_have_text(LINES[1])
            expect(page.locator(".arc.fixed")).to_have_count(1)
