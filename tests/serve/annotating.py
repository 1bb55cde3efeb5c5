"""A corpus that is annotated in Chromium, a sentence a test; answers come when a test lets them."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.serve.browsing import Service
from treecrf.treebank import Sentence, read_conllu

LINES = [
    "I saw Sarah with a telescope in the old garden .",
    "The old dog saw the cat and the small bird .",
    "They saw her duck on the bank of the river .",
]
# Requests that save something wait until they are released; `lose` does them and loses the answer.
HOLD = """() => {
  const real = window.fetch;
  window.held = [];
  window.way = "hold";
  window.fetch = async (path, options) => {
    if (options?.method !== "POST" || window.way === "pass") return real(path, options);
    if (window.way === "hold") await new Promise((resolve) => window.held.push(resolve));
    const answer = await real(path, options);
    if (window.way === "lose") throw new TypeError("lost");
    return answer;
  };
}"""
RELEASE = "() => { window.way = 'pass'; for (const each of window.held) each(); }"


def command(model: Path, corpus: Path) -> list[object]:
    out = corpus.with_name("out.conllu")
    options = ["--order", "corpus", "--share", "0.4"]
    return ["annotate", corpus, "--model", model, "--out", out, *options]


class Place:
    """A sentence that nobody has touched, on a page."""

    def __init__(self, page: Page, service: Service, folder: Path) -> None:
        self.page, self.out = page, folder / "out.conllu"
        page.goto(service.address)
        expect(page.locator(".word.asked:focus")).to_have_count(1)
        self.number = service.get("api/annotate")["progress"]["next"]
        self.asked = page.locator(".word.asked").count()

    @property
    def written(self) -> Sentence | None:
        """What the file has of the sentence."""
        for sentence in read_conllu(self.out) if self.out.exists() else ():
            if sentence.comments[-1].startswith(f"# annotate = {self.number} "):
                return sentence
        return None

    @property
    def heads(self) -> dict[int, int]:
        written = self.written
        if written is None:
            return {}
        return {word: head for word, head in enumerate(written.heads, 1) if head >= 0}

    @property
    def state(self) -> str | None:
        written = self.written
        return None if written is None else written.comments[-1].split()[-1]

    def press(self, *keys: str) -> None:
        """Keys faster than anything can be answered, at what has the focus."""
        self.page.evaluate(
            "keys => { for (const key of keys) document.activeElement.dispatchEvent("
            "new KeyboardEvent('keydown', { key, bubbles: true })); }",
            list(keys),
        )

    def fix(self, dependent: int, head: int) -> None:
        for word in (dependent, head):
            self.page.locator(f".word[data-id='{word}']").click()

    def wait_until_saved(self, count: int) -> None:
        expect(self.page.locator(".arc.fixed")).to_have_count(count)
        expect(self.page.locator(".sentence[aria-busy]")).to_have_count(0)
