"""Relations on the pages: how probable each is, what else it might be, and questions about it."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.serve.browsing import (
    SENTENCE,
    Service,
    fixed_heads,
    labels_shown,
    lines_of,
    open_page,
    parse,
    start,
    word,
)
from treecrf.treebank.probs import SURE, certainty

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]


def unsure_word(tree: Any) -> Any:
    """The word whose relation is least sure."""
    found = min(tree["tokens"], key=lambda token: token["deprel_prob"])
    assert found["deprel_prob"] < SURE
    return found


def test_a_label_has_a_colour_of_its_own(page: Page, service: Service) -> None:
    parse(page)
    tokens = service.parse(SENTENCE)["tokens"]
    for token in tokens:
        label = page.locator(f".label[data-dependent='{token['id']}']")
        classes = (label.get_attribute("class") or "").split()
        assert classes == ["label", certainty(token["deprel_prob"])]
    doubtful = [f"{t['deprel_prob']:.0%}" for t in tokens if t["deprel_prob"] < SURE]
    assert doubtful
    assert sorted(page.locator(".arc .beside").all_text_contents()) == sorted(doubtful)
    # Two steps of the scale are two colours.
    colours = {
        page.locator(f".label.{step} text").first.evaluate("text => getComputedStyle(text).fill")
        for step in {certainty(token["deprel_prob"]) for token in tokens}
    }
    assert len(colours) == len({certainty(token["deprel_prob"]) for token in tokens}) > 1


def test_another_relation_is_seen_and_chosen(page: Page, service: Service) -> None:
    parse(page)
    token = unsure_word(service.parse(SENTENCE))
    likely = [each for each in token["deprels"] if each["prob"] >= 0.01]
    word(page, token["id"]).hover()
    chips = page.locator(".details .chip.relation")
    expect(chips.locator(".chip-form")).to_have_text([each["deprel"] for each in likely])
    expect(chips.first.locator(".share")).to_have_text(f"{likely[0]['prob']:.0%}")
    other = likely[1]["deprel"]
    chips.nth(1).click()
    label = page.locator(f".arc.fixed .label[data-dependent='{token['id']}']")
    expect(label).to_have_text(other)
    expect(label).to_have_class("label sure")  # whoever fixes it is sure
    assert fixed_heads(page) == {token["id"]: token["head"]}
    assert labels_shown(page)[token["id"] - 1] == other
    page.keyboard.press("Escape")
    page.get_by_label("Undo").click()
    expect(page.locator(".arc.fixed")).to_have_count(0)
    assert labels_shown(page)[token["id"] - 1] == token["deprel"]


def test_the_list_of_all_relations_says_how_probable_the_likely_ones_are(
    page: Page, service: Service
) -> None:
    parse(page)
    token = unsure_word(service.parse(SENTENCE))
    page.locator(f".label[data-dependent='{token['id']}']").click()
    items = page.locator("dialog.labels li:has(.share)")
    shown = {each["deprel"]: each["prob"] for each in token["deprels"]}
    expect(items).to_have_count(len(shown))
    own = page.locator("dialog.labels li.current .share")
    expect(own).to_have_text(f"{token['deprel_prob']:.0%}")
    page.keyboard.press("Escape")


def test_files_and_the_table_have_the_probabilities(
    page: Page, service: Service, tmp_path: Path
) -> None:
    parse(page)
    tokens = service.parse(SENTENCE)["tokens"]
    page.locator(".as-table summary").click()
    token = unsure_word({"tokens": tokens})
    cells = page.locator(".as-table tbody tr").nth(token["id"] - 1).locator("td.number")
    expect(cells.last).to_have_text(f"{token['deprel_prob']:.0%}")
    files = {}
    for name in ("CoNLL-U", "JSON", "SVG"):
        with page.expect_download() as waiting:
            page.get_by_label(f"Download {name}").click()
        files[name] = tmp_path / name
        waiting.value.save_as(files[name])
    for line, each in zip(lines_of(files["CoNLL-U"]), tokens, strict=True):
        assert f"|DeprelProb={each['deprel_prob']:.4f}" in line[9]
    written = json.loads(files["JSON"].read_text())["tokens"]
    assert [each["deprels"] for each in written] == [each["deprels"] for each in tokens]
    assert f'class="label {certainty(token["deprel_prob"])}"' in files["SVG"].read_text()


@pytest.mark.parametrize("about", ["relations", "both"])
def test_relations_are_asked_about(
    browser: Browser, model: Path, tmp_path: Path, about: str
) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(SENTENCE + "\n", encoding="utf-8")
    command = ("annotate", corpus, "--model", model, "--out", out, "--ask", about)
    with start(*command, "--threshold", "0.9") as service, open_page(browser) as page:
        page.goto(service.address)
        expect(page.locator(".word.asked:focus")).to_have_count(1)
        item = service.get("api/annotate/1")
        tokens = item["sentence"]["tokens"]
        asked = [t["id"] for t in tokens if t["deprel_prob"] < 0.9]
        assert item["asked_relations"] == asked != []
        expect(page.locator(".label.asked")).to_have_count(len(asked))
        expect(page.locator(".word .badge")).to_have_count(len(item["asked_heads"]))
        assert bool(item["asked_heads"]) == (about == "both")
        what = "relation" if about == "relations" else "head or relation"
        expect(page.locator("#explanation")).to_contain_text(f"words whose {what} the parser")
        page.keyboard.press("a")
        expect(page.locator("#finished")).to_be_visible()
    lines = lines_of(out)
    confirmed = [number for number, line in enumerate(lines, 1) if line[7] != "_"]
    assert confirmed == item["asked"]
