"""Annotation in Chromium: accept, correct, skip; a process that is killed loses nothing."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.running import treecrf
from tests.serve.browsing import SENTENCE, Service, lines_of, open_page, start
from treecrf.treebank import read_conllu

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]


@pytest.fixture
def arguments(model: Path, treebank: Path, tmp_path: Path) -> list[object]:
    corpus = treebank / "dev.conllu"
    return ["annotate", corpus, "--model", model, "--out", tmp_path / "out.conllu"]


def progress(page: Page) -> str:
    return page.locator("#progress-text").text_content() or ""


def wait_for(page: Page, place: int) -> None:
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place} ·")


def text_of(page: Page) -> str:
    return page.locator(".sentence h2").text_content() or ""


def test_three_sentences_outlive_the_server(
    browser: Browser, arguments: list[object], model: Path, treebank: Path, tmp_path: Path
) -> None:
    """One is accepted, one corrected, one skipped, and one is left in the middle."""
    out = tmp_path / "out.conllu"
    texts = []
    with start(*arguments) as service, open_page(browser) as page:
        page.goto(service.address)
        wait_for(page, 1)
        texts.append(text_of(page))
        asked = page.locator(".word.asked").count()
        assert asked > 0
        page.get_by_role("button", name="Accept").click()
        wait_for(page, 2)
        assert sum(line[6] != "_" for line in lines_of(out)) == asked
        assert sum(line[7] != "_" for line in lines_of(out)) == asked

        texts.append(text_of(page))
        word = page.locator(".word.asked").first
        dependent = int(word.get_attribute("data-id") or 0)
        word.click()
        page.locator(".details .chip:not(.is-head):not(.plain)").first.click()
        expect(page.locator(".arc.fixed")).to_have_count(1)
        second = list(read_conllu(out))[1]
        assert [number for number, head in enumerate(second.heads, 1) if head >= 0] == [dependent]
        assert set(second.deprels) == {"_"}  # nobody has confirmed a relation yet
        corrected = second.heads[dependent - 1]
        page.get_by_role("button", name="Accept").click()
        wait_for(page, 3)

        texts.append(text_of(page))
        page.get_by_role("button", name="Skip").click()
        wait_for(page, 4)

        texts.append(text_of(page))
        page.locator(".word.asked").first.click()
        page.locator(".details .chip:not(.is-head):not(.plain)").first.click()
        expect(page.locator(".arc.fixed")).to_have_count(1)
        service.kill()

    sentences = list(read_conllu(out))
    assert [sentence.text for sentence in sentences] == texts
    assert sentences[1].heads[dependent - 1] == corrected
    assert sentences[1].deprels[dependent - 1] != "_"
    assert set(sentences[2].heads) == {-1}
    assert sum(head >= 0 for head in sentences[3].heads) == 1
    assert set(sentences[3].deprels) == {"_"}
    states = [sentence.comments[-1].split()[-1] for sentence in sentences]
    assert states == ["done", "done", "skipped", "open"]
    before = out.read_bytes()

    with start(*arguments) as service, open_page(browser) as page:
        page.goto(service.address)
        wait_for(page, 4)  # it goes on where it was
        assert "2 of " in progress(page)
        assert "1 skipped" in progress(page)
        assert text_of(page) == texts[3]
        expect(page.locator(".arc.fixed")).to_have_count(1)
        for place in (3, 2, 1):
            page.keyboard.press("b")
            wait_for(page, place)
            assert text_of(page) == texts[place - 1]
        expect(page.locator(".arc.fixed")).to_have_count(asked)
        assert out.read_bytes() == before

    dev = treebank / "dev.conllu"
    gently = ("--set", "epochs=1", "--set", "learning_rate=1e-6")
    options = ("--dev", dev, "--init", model, *gently, "--out", tmp_path / "next")
    trained = treecrf("train", "--train", out, *options)
    assert "3 partial" in trained.stdout


def test_with_the_keyboard_alone_to_the_end(
    browser: Browser, model: Path, treebank: Path, tmp_path: Path
) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    sentences = [sentence.forms for sentence in read_conllu(treebank / "dev.conllu")][:3]
    corpus.write_text("".join(" ".join(forms) + "\n" for forms in sentences), encoding="utf-8")
    options = ("--order", "corpus", "--share", "0.2")
    with (
        start("annotate", corpus, "--model", model, "--out", out, *options) as service,
        open_page(browser) as page,
    ):
        page.goto(service.address)
        wait_for(page, 1)
        focused = page.locator(".word.asked:focus")
        expect(focused).to_have_count(1)
        page.keyboard.press("f")
        expect(page.locator(".arc.fixed")).to_have_count(1)
        assert sum(line[6] != "_" and line[7] != "_" for line in lines_of(out)) == 1
        page.keyboard.press("Control+z")
        expect(page.locator(".arc.fixed")).to_have_count(0)
        expect(page.locator("#progress-text")).to_contain_text("0 heads confirmed")
        assert all(line[6] == line[7] == "_" for line in lines_of(out))
        page.keyboard.press("m")
        page.keyboard.press("l")
        page.keyboard.type("vocative")
        page.keyboard.press("Enter")
        expect(page.locator(".arc.fixed .label")).to_have_text("vocative")
        page.keyboard.press("a")
        wait_for(page, 2)
        page.keyboard.press("s")
        wait_for(page, 3)
        page.keyboard.press("b")
        wait_for(page, 2)
        page.keyboard.press("n")
        wait_for(page, 3)
        page.keyboard.press("a")
        expect(page.get_by_text("That was all.")).to_be_visible()
        assert "2 of 3 sentences done" in progress(page)
    assert "vocative" in {line[7] for line in lines_of(out)}
    written = list(read_conllu(out))
    assert [sentence.forms for sentence in written] == sentences
    shares = [sum(head >= 0 for head in sentence.heads) for sentence in written]
    assert shares == [-(-len(sentences[0]) // 5), 0, -(-len(sentences[2]) // 5)]


def test_what_is_not_saved_is_not_shown(
    browser: Browser, arguments: list[object], tmp_path: Path
) -> None:
    with start(*arguments) as service, open_page(browser) as page:
        page.goto(service.address)
        wait_for(page, 1)
        service.kill()
        page.keyboard.press("f")
        alert = page.locator(".sentence").get_by_role("alert")
        expect(alert).to_contain_text("does not answer")
        expect(page.locator(".arc.fixed")).to_have_count(0)
        page.keyboard.press("a")
        expect(page.locator("#progress-text")).to_contain_text("Sentence 1 ·")
    assert not (tmp_path / "out.conllu").exists()


def test_who_goes_on_stays_where_a_decision_is_not_saved(
    browser: Browser, arguments: list[object]
) -> None:
    with start(*arguments) as service, open_page(browser) as page:
        page.goto(service.address)
        wait_for(page, 1)
        expect(page.locator(".word:focus")).to_have_count(1)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.route("**/api/annotate/1", lambda route: route.abort())
        page.evaluate(
            "() => { for (const key of ['f', 'n']) document.activeElement.dispatchEvent("
            "new KeyboardEvent('keydown', { key, bubbles: true })); }"
        )
        alert = page.locator(".sentence").get_by_role("alert")
        expect(alert).to_contain_text("does not answer")
        assert progress(page).startswith("Sentence 1 ·")
        assert asked == [f"{service.address}api/annotate/1"]
        page.keyboard.press("n")  # now one knows
        wait_for(page, 2)


HOSTILE = (
    "<img/src=x/onerror=hacked=1><script>hacked=1</script>'\"onload=hacked=1\x1b[31m\x1b]0;a\x07"
)


def test_hostile_words_of_a_corpus_do_nothing(
    browser: Browser, model: Path, tmp_path: Path
) -> None:
    """In forms, tags, relations and comments of the corpus, and in relations of the model."""
    corpus, out = tmp_path / "corpus.conllu", tmp_path / "out.conllu"
    comments = [f"# text = {HOSTILE}", f"# sent_id = {HOSTILE}", f"# {HOSTILE}"]
    words = [HOSTILE, "</text></svg>", "&lt;b&gt;", "."]
    rows = [
        f"{number}\t{form}\t{HOSTILE}\t{HOSTILE}\t_\t_\t0\t{HOSTILE}\t_\tA={HOSTILE}"
        for number, form in enumerate(words, 1)
    ]
    corpus.write_text("\n".join([*comments, *rows]) + "\n\n", encoding="utf-8")

    label = HOSTILE.partition("\x1b")[0]  # controls are refused in what is saved

    def with_label(route: Any) -> None:
        answer = route.fetch()
        body = answer.json()
        body["models"][0]["labels"].append(label)
        route.fulfill(response=answer, json=body)

    command = ("annotate", corpus, "--model", model, "--out", out)
    with start(*command, "--share", "1") as service, open_page(browser) as page:
        page.route("**/api/models", with_label)
        page.goto(service.address)
        wait_for(page, 1)
        assert text_of(page) == HOSTILE
        assert page.locator(".word:not(.root) .form").all_text_contents() == words
        page.keyboard.press("l")
        page.get_by_role("dialog").get_by_role("option").last.click()
        expect(page.locator(".arc.fixed .label")).to_have_text(label)
        page.keyboard.press("t")
        expect(page.locator(".as-table tbody th").first).to_have_text(HOSTILE)
        page.locator(".word[data-id='1']").hover()
        expect(page.locator(".details")).to_contain_text(HOSTILE)
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("img[src='x'], .sentence script").count() == 0
    (written,) = read_conllu(out)
    assert (written.forms, written.deprels[0]) == (words, label)
    assert written.comments[:-1] == comments


def test_a_head_that_is_not_the_most_probable_is_explained(
    browser: Browser, service: Service, model: Path, tmp_path: Path
) -> None:
    sentence, number, best = word_with_a_better_head(service)
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(" ".join(sentence) + "\n", encoding="utf-8")
    command = ("annotate", corpus, "--model", model, "--out", tmp_path / "out.conllu")
    with start(*command, "--share", "1") as annotation, open_page(browser) as page:
        page.goto(annotation.address)
        wait_for(page, 1)
        page.locator(f".word[data-id='{number}']").focus()
        why = page.locator(".details .why")
        form = "ROOT" if best["head"] == 0 else sentence[best["head"] - 1]
        share = f"{best['prob']:.0%}"
        expect(why).to_contain_text(f"For this word alone, {form} is more probable ({share}).")
        expect(why).to_contain_text("one root and no circles")
        page.keyboard.press("f")
        expect(page.locator(".arc.fixed")).to_have_count(1)
        expect(why).to_have_count(0)  # now a person says so
        tokens = annotation.get("api/annotate/1")["sentence"]["tokens"]
        sure = next(t for t in tokens if t["heads"][0]["head"] == t["head"] and not t["fixed"])
        page.locator(f".word[data-id='{sure['id']}']").focus()
        expect(page.locator(".details .question")).to_have_text(f"Heads of {sure['form']}:")
        expect(why).to_have_count(0)


def word_with_a_better_head(service: Service) -> tuple[list[str], int, Any]:
    """A sentence, one of its words, and a head that alone is much more probable than its own."""
    words = [*SENTENCE.split(), "and", "she", "her", "the", "dog", "slept"]
    sentences = [random.Random(seed).sample(words, 10) for seed in range(100)]
    answer = service.post("api/parse", {"tokens": sentences})
    found = [
        (best["prob"] - token["prob"], sentence, token["id"], best)
        for sentence, tree in zip(sentences, answer["sentences"], strict=True)
        for token in tree["tokens"]
        for best in token["heads"][:1]
    ]
    gap, sentence, number, best = max(found, key=lambda each: each[0])
    assert gap > 0.02
    return sentence, number, best


def test_a_phone_in_the_dark(browser: Browser, arguments: list[object]) -> None:
    options = {"viewport": {"width": 375, "height": 720}, "has_touch": True, "is_mobile": True}
    with (
        start(*arguments) as service,
        open_page(browser, color_scheme="dark", **options) as page,
    ):
        page.goto(service.address)
        wait_for(page, 1)
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert sum(map(int, re.findall(r"\d+", colour)[:3])) < 200
        page.get_by_role("button", name="Accept").tap()
        wait_for(page, 2)
