"""The pictures of the pages in the documents: `make screenshots`."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.serve.browsing import browser_here, open_page, start
from treecrf.treebank import read_conllu, write_conllu

_SENTENCE = "They met the man with a tattoo in London ."
_FITTING = range(9, 13)  # words of a sentence that a picture has room for


def take_serve(browser: Browser, model: Path, target: Path) -> None:
    """A tree, and where else the head of a word might be."""
    size = {"width": 1000, "height": 760}
    with (
        start("serve", "--model", f"english={model}") as service,
        open_page(browser, viewport=size, device_scale_factor=2) as page,
    ):
        page.goto(service.address)
        page.fill("#text", _SENTENCE)
        for _ in range(2):  # the first time kernels are loaded
            page.keyboard.press("Control+Enter")
            expect(page.locator("#status")).to_contain_text(" ms")
            page.wait_for_timeout(1000)
        page.locator(".word[data-id='9']").hover()
        expect(page.locator(".other").first).to_be_visible()
        page.wait_for_timeout(500)
        page.screenshot(path=target)


def take_annotate(browser: Browser, model: Path, corpus: Path, target: Path) -> None:
    """A sentence whose marked words are half done, in the dark."""
    size = {"width": 1000, "height": 760}
    with tempfile.TemporaryDirectory() as folder:
        short = [each for each in read_conllu(corpus) if len(each) in _FITTING]
        write_conllu(short, Path(folder) / "corpus.conllu")
        command = ["annotate", Path(folder) / "corpus.conllu", "--model", model]
        with (
            start(*command, "--out", Path(folder) / "annotated.conllu") as service,
            open_page(browser, viewport=size, device_scale_factor=2, color_scheme="dark") as page,
        ):
            page.goto(service.address)
            for done in range(3):
                expect(page.locator("#progress-text")).to_contain_text(f"Sentence {done + 1}")
                page.keyboard.press("a")
            expect(page.locator("#progress-text")).to_contain_text("Sentence 4")
            page.keyboard.press("2")
            expect(page.locator(".arc.fixed")).to_have_count(1)
            page.keyboard.press("m")
            page.wait_for_timeout(2000)
            page.screenshot(path=target)


def main() -> None:
    model, corpus, folder = map(Path, sys.argv[1:])
    with browser_here() as browser:
        take_serve(browser, model, folder / "serve.png")
        take_annotate(browser, model, corpus, folder / "annotate.png")


if __name__ == "__main__":
    main()
