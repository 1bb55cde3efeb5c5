"""Several annotators in Chromium: who one is, where they differ, and files to take away."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.serve.annotating import HOLD, LINES, RELEASE, command
from tests.serve.browsing import Service, open_page, start
from treecrf.treebank import read_conllu

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]

SCREENS = [(1280, "light"), (375, "dark")]


@pytest.fixture
def team(model: Path, tmp_path: Path) -> Iterator[Service]:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("".join(line + "\n" for line in LINES), encoding="utf-8")
    with start(*command(model, corpus), "--annotators", "anna,ben") as service:
        yield service


def wait_for(page: Page, place: int) -> None:
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place} ·")
    expect(page.locator(".word:focus")).to_have_count(1)


def heads_of(path: Path) -> list[dict[int, int]]:
    return [
        {word: head for word, head in enumerate(sentence.heads, 1) if head >= 0}
        for sentence in read_conllu(path)
    ]


def test_everybody_decides_for_themselves_with_the_keyboard_alone(
    browser: Browser, team: Service, tmp_path: Path
) -> None:
    anna, ben = (tmp_path / f"out.{name}.conllu" for name in ("anna", "ben"))
    with open_page(browser) as page, open_page(browser) as other:
        for each, presses in ((page, 1), (other, 2)):
            each.goto(team.address)
            people = each.get_by_role("region", name="Who are you?").get_by_role("link")
            expect(people).to_have_count(2)
            people.first.focus()
            for _ in range(presses - 1):
                each.keyboard.press("Tab")
            each.keyboard.press("Enter")
            wait_for(each, 1)
        expect(page).to_have_url(re.compile(r"\?annotator=anna$"))
        expect(other.get_by_role("link", name="You are ben")).to_be_visible()
        # Both work on the same sentence at once, with late answers.
        for each in (page, other):
            each.evaluate(HOLD)
        page.keyboard.press("r")
        other.keyboard.press("ArrowRight")
        other.keyboard.press("r")
        for each in (other, page):
            each.evaluate(RELEASE)
            expect(each.locator(".arc.fixed")).to_have_count(1)
        (first,) = heads_of(anna)
        (second,) = heads_of(ben)
        assert [*first.values(), *second.values()] == [0, 0]
        assert first != second
        page.keyboard.press("a")
        wait_for(page, 2)
        expect(page.locator("#progress-text")).to_contain_text("1 of 3 sentences done")
        expect(other.locator("#progress-text")).to_contain_text("0 of 3 sentences done")
        other.keyboard.press("s")
        wait_for(other, 2)
        page.get_by_role("link", name="You are anna").press("Enter")
        expect(page.get_by_text("1 of 3 sentences done")).to_have_count(1)
    assert heads_of(ben) == [second]


def test_a_name_that_is_not_there(browser: Browser, team: Service) -> None:
    with open_page(browser) as page:
        page.goto(f"{team.address}?annotator=eve")
        expect(page.get_by_role("alert")).to_contain_text("there are: anna, ben")
        page.get_by_role("link", name="ben").click()
        wait_for(page, 1)
        expect(page.get_by_role("link", name="You are ben")).to_be_visible()


def differ(team: Service) -> None:
    """Have both decide: the first sentence differs in a word, the second in its words."""
    heads, labels = {1: 2, 2: 0, 3: 2}, {1: "nsubj", 2: "root", 3: "obj"}
    team.decide(1, annotator="anna", heads=heads, labels=labels, state="done")
    others = {"heads": heads | {3: 1}, "labels": labels | {3: "nmod"}, "tags": {1: "X"}}
    team.decide(1, annotator="ben", **others, comment="really?", flag=True, state="done")
    forms = LINES[1].split()
    tokens = [{"form": " ".join(forms[:2])}, *({"form": form} for form in forms[2:])]
    team.decide(2, annotator="anna", heads={4: 0}, state="done")
    team.decide(2, annotator="ben", heads={3: 0}, tokens=tokens, state="done")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_the_page_of_agreement(
    browser: Browser, team: Service, tmp_path: Path, width: int, scheme: Any
) -> None:
    differ(team)
    size = {"width": width, "height": 720}
    with open_page(browser, viewport=size, color_scheme=scheme) as page:
        page.goto(f"{team.address}?annotator=anna")
        wait_for(page, 3)
        page.get_by_role("link", name="Agreement").press("Enter")
        figures = page.get_by_role("region", name="Agreement", exact=True)
        # Words 1 to 3 of the first sentence, and "saw" of the second.
        expect(figures.locator("tbody :is(th, td)")).to_have_text(
            ["anna and ben", "2", "4", "75.0%", "66.7%", f"{(2 / 3 - 2 / 9) / (1 - 2 / 9):.3f}"]
        )
        first, second = page.locator(".difference").all()
        expect(first).to_contain_text(LINES[0])
        forms = LINES[0].split()
        expect(first.locator("tbody th")).to_have_text([forms[0], forms[2]])
        expect(first.locator("mark")).to_have_text(
            ["no tag", "X", f"{forms[1]} (2)", "obj", f"{forms[0]} (1)", "nmod"]
        )
        expect(second.locator(".cut").last.locator(".token").first).to_have_text("The old")
        remark = page.get_by_role("region", name="Comments and flags").get_by_role("listitem")
        expect(remark).to_contain_text("ben: really?")
        expect(remark.get_by_role("img", name="flagged")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        is_dark = sum(map(int, re.findall(r"\d+", colour)[:3])) < 200
        assert is_dark == (scheme == "dark")
        first.get_by_role("link", name="open as ben").press("Enter")
        wait_for(page, 1)
        expect(page.get_by_role("link", name="You are ben")).to_be_visible()
        expect(page.locator(".arc.fixed")).to_have_count(3)
        page.keyboard.press("n")
        wait_for(page, 2)
        page.reload()  # on to what is left, not back to where the link led
        wait_for(page, 3)


def test_files_to_take_away(browser: Browser, team: Service, tmp_path: Path) -> None:
    differ(team)
    with open_page(browser) as page:
        page.goto(f"{team.address}agreement")
        files = {}
        for name in ("Decisions of anna", "Decisions of ben", "Decisions of all", "What is agreed"):
            with page.expect_download() as waiting:
                page.get_by_role("link", name=name).click()
            target = tmp_path / waiting.value.suggested_filename
            waiting.value.save_as(target)
            files[target.name] = heads_of(target)
        page.get_by_role("link", name="Sentences").click()
        expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
    assert files == {
        "annotated.anna.conllu": [{1: 2, 2: 0, 3: 2}, {4: 0}],
        "annotated.ben.conllu": [{1: 2, 2: 0, 3: 1}, {3: 0}],
        "annotated.all.conllu": [{1: 2, 2: 0, 3: 2}, {4: 0}, {1: 2, 2: 0, 3: 1}, {3: 0}],
        "annotated.agreed.conllu": [{1: 2, 2: 0}],
    }


def test_remarks_and_the_file_of_one_who_works_alone(
    browser: Browser, model: Path, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(LINES[0] + "\n" + LINES[1] + "\n", encoding="utf-8")
    with start(*command(model, corpus)) as service, open_page(browser) as page:
        service.decide(2, heads={1: 2}, comment="<b>odd</b>")
        page.goto(service.address)
        wait_for(page, 1)
        page.get_by_role("link", name="Remarks").click()
        expect(page.get_by_role("region")).to_have_count(2)  # no agreement of one
        remark = page.get_by_role("region", name="Comments and flags").get_by_role("listitem")
        expect(remark).to_contain_text("<b>odd</b>")
        with page.expect_download() as waiting:
            page.get_by_role("link", name="All decisions").click()
        assert Path(waiting.value.path()).read_bytes() == (tmp_path / "out.conllu").read_bytes()
        remark.get_by_role("link").click()
        wait_for(page, 2)
