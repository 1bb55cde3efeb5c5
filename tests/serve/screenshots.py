"""The pictures of the pages in the documents: `make screenshots`."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.serve.browsing import browser_here, open_page, start
from treecrf.treebank import read_conllu, write_conllu

_WINDOW: Any = {"width": 1000, "height": 860}
_SENTENCE = "They didn't meet the man with a tattoo in London."
_FITTING = range(9, 13)  # words of a sentence that a picture has room for


def take_serve(browser: Browser, folder: Path) -> None:
    """A tree with the other heads of a word; a long one, from top to bottom, on a phone."""
    with start("serve") as service:
        high = {"width": 1000, "height": 900}
        with open_page(browser, viewport=high, device_scale_factor=2) as page:
            page.goto(service.address)
            page.fill("#text", _SENTENCE)
            for _ in range(2):  # the first time kernels are loaded
                page.keyboard.press("Control+Enter")
                expect(page.locator("#status")).to_contain_text(" ms")
                page.wait_for_timeout(1000)
            page.locator(".word[data-id='11']").hover()
            expect(page.locator(".other").first).to_be_visible()
            page.wait_for_timeout(500)
            page.screenshot(path=folder / "serve.png")
        phone = {"viewport": {"width": 375, "height": 720}, "has_touch": True, "is_mobile": True}
        with open_page(browser, **phone, device_scale_factor=2, color_scheme="dark") as page:
            page.goto(service.address)
            page.get_by_role("button", name="Try a long sentence").tap()
            page.locator(".word[data-id='14']").tap()
            page.keyboard.press("Escape")
            page.locator(".sentence .toolbar").evaluate("bar => bar.scrollIntoView()")
            page.wait_for_timeout(500)
            page.screenshot(path=folder / "serve-phone.png")


def take_annotate(browser: Browser, model: Path, corpus: Path, target: Path) -> None:
    """A sentence whose marked words are half done, in the dark."""
    with tempfile.TemporaryDirectory() as folder:
        short = [each for each in read_conllu(corpus) if len(each) in _FITTING]
        write_conllu(short, Path(folder) / "corpus.conllu")
        command = ["annotate", Path(folder) / "corpus.conllu", "--model", model]
        with (
            start(*command, "--out", Path(folder) / "annotated.conllu") as service,
            open_page(
                browser, viewport=_WINDOW, device_scale_factor=2, color_scheme="dark"
            ) as page,
        ):
            page.goto(service.address)
            for done in range(3):
                expect(page.locator("#progress-text")).to_contain_text(f"Sentence {done + 1}")
                page.keyboard.press("a")
            expect(page.locator("#progress-text")).to_contain_text("Sentence 4")
            others = page.locator(".details .chip:not(.is-head, .plain)")
            while others.count() == 0:  # a question about a relation only
                done += 1
                page.keyboard.press("n")
                expect(page.locator("#progress-text")).to_contain_text(f"Sentence {done + 2}")
            page.keyboard.press("2")
            expect(page.locator(".arc.fixed")).to_have_count(1)
            page.keyboard.press("m")
            page.wait_for_timeout(2000)
            page.screenshot(path=target)


_DIFFERENCES: dict[int, dict[str, dict[int, object]]] = {
    1: {"heads": {6: 3}, "labels": {6: "nmod"}},
    2: {"heads": {}, "labels": {}, "tags": {1: "ADJ"}},
}


def take_agreement(browser: Browser, target: Path) -> None:
    """Where two people differ."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        corpus.write_text("I saw Sarah with a telescope. Visiting relatives can be boring.\n")
        command = ["annotate", corpus, "--out", Path(folder) / "annotated.conllu"]
        options = ["--annotators", "anna,ben", "--order", "corpus", "--share", "1"]
        with (
            start(*command, *options) as service,
            open_page(browser, viewport=_WINDOW, device_scale_factor=2) as page,
        ):
            for place, other in _DIFFERENCES.items():
                tokens = service.get(f"api/annotate/{place}?annotator=anna")["sentence"]["tokens"]
                heads = {token["id"]: token["head"] for token in tokens}
                labels = {token["id"]: token["deprel"] for token in tokens}
                said = {"heads": heads, "labels": labels}
                service.decide(place, annotator="anna", state="done", **said)
                said = {"heads": heads | other["heads"], "labels": labels | other["labels"]}
                remark = {"comment": "Who has the telescope?", "flag": True} if place == 1 else {}
                more = {"tags": other.get("tags", {}), **remark}
                service.decide(place, annotator="ben", state="done", **said, **more)
            page.goto(f"{service.address}agreement?annotator=anna")
            page.locator(".difference").first.wait_for()
            page.screenshot(path=target)


def main() -> None:
    model, corpus, folder = map(Path, sys.argv[1:])
    with browser_here() as browser:
        take_serve(browser, folder)
        take_annotate(browser, model, corpus, folder / "annotate.png")
        take_agreement(browser, folder / "agreement.png")


if __name__ == "__main__":
    main()
