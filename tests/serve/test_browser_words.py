"""Words on the page: multiword tokens, lemmas and features, and words that are split or joined."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import treecrf
from tests.serve.browsing import (
    NARROW,
    Service,
    hold_answers,
    let_answers_come,
    lines_of,
    open_page,
    start,
    word,
)
from treecrf.treebank import read_conllu

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]

TEXT = "Anna didn't see the garden."

FIND = """async ([words, text, sentence]) => {
  const { findWords, readWords, shownWords } = await import("./words.js");
  const shown = shownWords(words);
  if (readWords(shown).join("|") !== words.join("|")) return shown;
  try { return findWords(words, text, sentence); } catch (error) { return error.message; }
}"""
# "du" is two words, and the sentence begins after other text; one character is two code units.
FRENCH = "🙂 Non. La peau  du chat ."
TOKENS = [
    {"form": form, "start": start, "end": end}
    for form, start, end in (
        ("La", 7, 9),
        ("peau", 10, 14),
        ("de", 16, 18),
        ("le", 16, 18),
        ("chat", 19, 23),
        (".", 24, 25),
    )
]
MULTIWORDS = [{"first": 3, "last": 4, "form": "du"}]


@pytest.fixture(scope="module")
def cutting(full_model: Path) -> Iterator[Service]:
    """A service with a model that cuts text."""
    with start("serve", "--model", f"en={full_model}") as service:
        yield service


@pytest.fixture
def text_page(browser: Browser, cutting: Service) -> Iterator[Page]:
    with open_page(browser) as page:
        page.goto(cutting.address)
        page.fill("#text", TEXT)
        page.keyboard.press("Control+Enter")
        expect(page.locator(".sentence")).to_have_count(1)
        yield page


def forms(page: Page) -> list[str]:
    return page.locator(".word:not(.root) .form").all_text_contents()


def edit(page: Page, words: str) -> None:
    word(page, 1).focus()
    page.keyboard.press("w")
    field = page.get_by_role("textbox", name="Words of Sentence 1")
    expect(field).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def downloaded(page: Page, name: str, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download {name}").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_a_multiword_token_is_bracketed(text_page: Page, cutting: Service) -> None:
    page = text_page
    (sentence,) = cutting.post("api/parse", {"text": TEXT})["sentences"]
    assert sentence["multiwords"] == [{"first": 2, "last": 3, "form": "didn't"}]
    bracket = page.locator(".multiword")
    for _ in ("across", "down"):
        expect(bracket.locator(".written")).to_have_text("didn't")
        line = bracket.locator(".bracket").bounding_box()
        parts = [word(page, number).locator(".form").bounding_box() for number in (2, 3)]
        assert line is not None
        down = page.locator(".treecrf-tree.down").count() == 1
        axis, size = ("y", "height") if down else ("x", "width")
        for part in parts:
            assert part is not None
            assert line[axis] - 4 <= part[axis]
            assert part[axis] + part[size] <= line[axis] + line[size] + 4
        word(page, 1).focus()
        page.keyboard.press("v")
    assert "of didn't" in (word(page, 3).get_attribute("aria-label") or "")
    assert "of didn't" not in (word(page, 4).get_attribute("aria-label") or "")
    word(page, 3).click()
    word(page, 5).click()
    expect(page.locator(".arc.fixed")).to_have_count(1)
    expect(bracket.locator(".written")).to_have_text("didn't")


def test_what_is_known_of_a_word_is_shown(text_page: Page, cutting: Service) -> None:
    page = text_page
    (sentence,) = cutting.post("api/parse", {"text": TEXT})["sentences"]
    token = sentence["tokens"][4]
    word(page, 5).hover()
    analysis = page.locator(".details .analysis")
    feats = [f"{name}={value}" for name, value in token["feats"].items()]
    assert feats
    expect(analysis.locator(".feature")).to_have_text(feats)
    for part in (f"lemma {token['lemma']}", token["upos"], token["xpos"]):
        expect(analysis).to_contain_text(part)
    for name in (token["upos"], *feats):
        meaning = treecrf.explain(name)
        expect(analysis.get_by_text(name, exact=True)).to_have_attribute("title", str(meaning))
    table = page.locator(".as-table")
    table.locator("summary").click()
    cells = table.locator("tbody tr").nth(4)
    titles = table.locator("thead th").all_text_contents()
    assert titles[-2:] == ["Lemma", "Features"]
    expect(cells.locator("td").nth(-2)).to_have_text(token["lemma"])
    expect(cells.locator(".features")).to_have_text(" ".join(feats) + " ")


def test_a_relation_is_explained_where_it_is_pointed_at(text_page: Page) -> None:
    page = text_page
    label = page.locator(".label[data-dependent='1']")
    name = label.text_content() or ""
    meaning = treecrf.explain(name)
    assert meaning is not None
    label.hover()
    expect(page.locator(".details .gloss")).to_have_text(f"{name}: {meaning}")
    title = page.locator(".arc:has(.label[data-dependent='1']) title").text_content() or ""
    assert title.endswith(f"\n{meaning}")
    page.mouse.move(1, 1)
    word(page, 4).focus()  # and with the keyboard
    page.keyboard.press("ArrowRight")
    name = page.locator(".label[data-dependent='5']").text_content() or ""
    expect(page.locator(".details .gloss")).to_have_text(f"{name}: {treecrf.explain(name)}")


def test_words_are_split_and_joined(text_page: Page, cutting: Service, tmp_path: Path) -> None:
    page = text_page
    assert forms(page) == ["Anna", "did", "n't", "see", "the", "garden", "."]
    word(page, 6).click()
    word(page, 4).click()
    expect(page.locator(".arc.fixed")).to_have_count(1)
    edit(page, "An na did n't see thegarden .")
    expect(page.locator(".sentence .status")).to_have_text("Parsed again with 7 words.")
    assert forms(page) == ["An", "na", "did", "n't", "see", "the garden", "."]
    expect(page.locator(".multiword .written")).to_have_text("didn't")
    expect(page.locator(".arc.fixed")).to_have_count(0)  # of a word that is no more
    wanted = cutting.post("api/parse", {"tokens": [forms(page)]})["sentences"][0]
    (sentence,) = read_conllu(downloaded(page, "CoNLL-U", tmp_path))
    assert sentence.heads == [token["head"] for token in wanted["tokens"]]
    assert sentence.text == TEXT
    assert [(each.first, each.last, each.form) for each in sentence.multiwords] == [
        (3, 4, "didn't")
    ]
    lines = lines_of(tmp_path / "sentence-1.conllu")
    assert [line[0] for line in lines if "SpaceAfter=No" in line[9]] == ["1", "6", "7"]


def test_what_is_fixed_stays_with_words_that_stay(text_page: Page, cutting: Service) -> None:
    page = text_page
    word(page, 7).click()
    word(page, 4).click()
    expect(page.locator(".arc.fixed")).to_have_count(1)
    edit(page, "An na didn't see the garden .")
    expect(page.locator(".sentence .status")).to_have_text("Parsed again with 7 words.")
    assert forms(page) == ["An", "na", "didn't", "see", "the", "garden", "."]
    expect(page.locator(".multiword")).to_have_count(0)
    fixed = page.locator(".arc.fixed .label")
    expect(fixed).to_have_attribute("data-dependent", "7")
    given = {"tokens": [forms(page)], "constraints": [{"7": 4}]}
    heads = [token["head"] for token in cutting.post("api/parse", given)["sentences"][0]["tokens"]]
    page.locator(".as-table summary").click()
    choices = page.locator(".as-table select")
    expect(choices).to_have_count(len(heads))
    shown = choices.evaluate_all("all => all.map((each) => each.value)")
    assert [int(value) for value in shown] == heads
    assert heads[6] == 4


def test_nothing_is_decided_about_words_that_are_going(text_page: Page) -> None:
    page = text_page
    hold_answers(page)
    edit(page, "An na didn't see the garden .")
    page.wait_for_function("() => window.waiting === 1")
    word(page, 7).click()
    expect(page.locator(".word.chosen")).to_have_count(0)
    word(page, 4).click()
    let_answers_come(page)
    expect(page.locator(".sentence .status")).to_have_text("Parsed again with 7 words.")
    expect(page.locator(".arc.fixed")).to_have_count(0)
    word(page, 7).click()  # a first click
    expect(page.locator(".word.chosen")).to_have_attribute("data-id", "7")


def test_other_words_are_refused_and_the_old_ones_stay(text_page: Page) -> None:
    page = text_page
    before = forms(page)
    edit(page, "Anna did n't saw the garden .")
    problem = page.locator(".words-field").get_by_role("alert")
    expect(problem).to_contain_text("«saw» is not how the text goes on («see the garden.»)")
    assert forms(page) == before
    page.keyboard.press("Control+a")
    page.keyboard.type("Anna did n't see")
    page.keyboard.press("Enter")
    expect(problem).to_contain_text("The words end before «the garden.»")
    page.keyboard.press("Escape")
    expect(page.locator(".words-field")).to_be_hidden()
    expect(word(page, 1)).to_be_focused()
    assert forms(page) == before


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            ["La", "peau", "de", "le", "chat", "."],
            [(7, 9), (10, 14), (16, 18), (16, 18), (19, 23), (24, 25)],
        ),
        (["La", "pe", "au", "du", "chat."], [(7, 9), (10, 12), (12, 14), (16, 18), (19, 25)]),
        (["La", "peau du", "chat", "."], [(7, 9), (10, 18), (19, 23), (24, 25)]),
        (
            ["La", "peau", "d", "u", "chat", "."],
            [(7, 9), (10, 14), (16, 17), (17, 18), (19, 23), (24, 25)],
        ),
        (["La", "peau", "de", "la", "chat", "."], None),
        (["La", "peau", "de", "le", "chat", ".", "."], None),
        ([], None),
    ],
)
def test_words_are_found_in_their_text(page: Page, words: list[str], found: Any) -> None:
    sentence = {"tokens": TOKENS, "multiwords": MULTIWORDS}
    answer = page.evaluate(FIND, [words, FRENCH, sentence])
    if found is None:
        assert isinstance(answer, str)
        assert "«" in answer
        return
    assert [(place["start"], place["end"]) for place in answer["places"]] == found
    assert answer["multiwords"] == (MULTIWORDS if "le" in words else [])
    text = [" ".join(FRENCH[start:end].split()) for start, end in found]
    assert answer["forms"] == (words if "le" in words else text)


def test_words_are_edited_on_a_phone(browser: Browser, cutting: Service) -> None:
    with open_page(browser, viewport=NARROW, has_touch=True, is_mobile=True) as page:
        page.goto(cutting.address)
        page.fill("#text", TEXT)
        page.get_by_role("button", name="Parse", exact=True).tap()
        page.get_by_role("button", name="Split or join words").tap()
        page.get_by_role("textbox", name="Words of").fill("Anna didn't see the garden .")
        page.get_by_role("button", name="Parse again").tap()
        expect(page.locator(".sentence .status")).to_have_text("Parsed again with 6 words.")
        assert page.evaluate("document.documentElement.scrollWidth") == 375
