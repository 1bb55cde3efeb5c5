"""What tests in a browser need: a service in a process of its own, and pages that complain."""

import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.cli.running import COMMAND, ENVIRONMENT

__all__ = [
    "NARROW",
    "SENTENCE",
    "WIDE",
    "Service",
    "browser_here",
    "expect_heads",
    "fixed_heads",
    "heads_shown",
    "hold_answers",
    "labels_shown",
    "let_answers_come",
    "lines_of",
    "open_page",
    "parse",
    "start",
    "word",
]

PATIENCE = 180_000  # milliseconds: on a busy machine everything takes long
expect.set_options(timeout=PATIENCE)

WIDE: Any = {"width": 1280, "height": 800}
NARROW: Any = {"width": 375, "height": 720}

SENTENCE = "I saw Sarah with a telescope in the old garden ."


class Service:
    """A process of `treecrf serve` or `treecrf annotate`, and where it listens."""

    def __init__(self, *arguments: object, port: int = 0) -> None:
        command = [*COMMAND, *map(str, arguments), "--port", str(port)]
        self.process = subprocess.Popen(
            command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        self.address = ""
        for line in self.process.stderr:
            if line.startswith("serving at "):
                self.address = line.split()[-1].rstrip("/") + "/"
                break
        assert self.address, f"{command} did not start"

    @property
    def port(self) -> int:
        return int(self.address.rstrip("/").rpartition(":")[2])

    def get(self, path: str) -> Any:
        """What the service answers."""
        with urllib.request.urlopen(self.address + path) as answer:
            return json.load(answer)

    def read(self, path: str) -> str:
        """The text of a file that the service has."""
        with urllib.request.urlopen(self.address + path) as answer:
            text: str = answer.read().decode()
            return text

    def post(self, path: str, value: object) -> Any:
        """What the service answers to JSON."""
        request = urllib.request.Request(
            self.address + path, json.dumps(value).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def parse(self, sentence: str, **options: object) -> Any:
        """A sentence as `/api/parse` gives it."""
        answer = self.post("api/parse", {"tokens": [sentence.split()], **options})
        return answer["sentences"][0]

    def decide(self, place: int, *, annotator: str = "", **changed: object) -> Any:
        """Save what the file has of a sentence that is annotated, with something changed."""
        path = f"api/annotate/{place}" + (f"?annotator={annotator}" if annotator else "")
        item = self.get(path)
        names = ("key", "known", "heads", "labels", "state", "tags", "tokens", "comment", "flag")
        decision = {name: item[name] for name in names} | {"version": str(uuid.uuid4())} | changed
        return self.post(path, decision)

    def kill(self) -> None:
        """End it as nothing can prevent."""
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def start(*arguments: object, port: int = 0) -> Iterator[Service]:
    """A service that ends with the test."""
    service = Service(*arguments, port=port)
    try:
        yield service
    finally:
        service.kill()


@contextlib.contextmanager
def browser_here() -> Iterator[Browser]:
    """Debian's Chromium. A module at a time: as long as it runs, this thread has an event loop."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing = "no chromium here; install it with: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        # Its sandbox cannot be had in a container, and the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def open_page(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page in a context of its own, which must have nothing to complain of in the end."""
    context = browser.new_context(accept_downloads=True, **options)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if _is_bad(line) else None)
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    try:
        yield page
        assert complaints == []
    finally:
        context.close()


def _is_bad(line: Any) -> bool:
    # An answer such as 422 is what some tests are about.
    return line.type in ("error", "warning") and "Failed to load resource" not in line.text


def heads_shown(page: Page, sentence: str = ".sentence") -> list[int]:
    """The heads of the tree that a page shows, from its table."""
    table = page.locator(f"{sentence} >> nth=0 >> details.as-table")
    if not table.evaluate("details => details.open"):
        table.locator("summary").click()
    table.locator("select").first.wait_for()
    return [int(value) for value in _values(page, "select")]


def expect_heads(page: Page, heads: list[int]) -> None:
    """Wait until a page shows a tree with these heads: its answer may take a while."""
    deadline = time.monotonic() + PATIENCE / 1000
    while (shown := heads_shown(page)) != heads:
        assert time.monotonic() < deadline, f"{shown} and not {heads}"
        page.wait_for_timeout(50)


def labels_shown(page: Page) -> list[str]:
    """The relations that a page shows in its table, which is open."""
    return page.locator(".as-table button.cell").all_text_contents()


def _values(page: Page, kind: str) -> list[str]:
    cells = page.locator(f".as-table {kind}")
    values: list[str] = cells.evaluate_all("cells => cells.map((cell) => cell.value)")
    return values


def lines_of(path: Path) -> list[list[str]]:
    """The cells of the word lines of a CoNLL-U file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def parse(page: Page, text: str = SENTENCE) -> None:
    page.fill("#text", text)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".sentence")).to_have_count(len(text.splitlines()))


def word(page: Page, number: int) -> Any:
    return page.locator(f".sentence >> nth=0 >> .word[data-id='{number}']")


def fixed_heads(page: Page) -> dict[int, int]:
    """The heads that are fixed in the first sentence, by word, once no answer is awaited."""
    expect(page.locator(".sentence[aria-busy]")).to_have_count(0)
    heads = heads_shown(page)
    boxes = page.locator(".sentence >> nth=0 >> .as-table input[type=checkbox]")
    checked = boxes.evaluate_all("boxes => boxes.map((box) => box.checked)")
    pairs = zip(heads, checked, strict=True)
    return {word: head for word, (head, is_fixed) in enumerate(pairs, 1) if is_fixed}


def hold_answers(page: Page) -> None:
    """From now on what is sent is done, and its answer is on its way until it is let come."""
    page.evaluate(
        """() => {
          const real = (window.realFetch ??= window.fetch);
          const come = new Promise((resolve) => { window.letCome = resolve; });
          window.waiting = 0;
          window.fetch = async (path, options) => {
            const answer = await real(path, options);
            window.waiting += 1;
            await come;
            return answer;
          };
        }"""
    )


def let_answers_come(page: Page, count: int = 1) -> None:
    """Let the answers come that are held, of which there must be so many, and all later ones."""
    page.wait_for_function("count => window.waiting === count", arg=count)
    page.evaluate("() => { window.fetch = window.realFetch; window.letCome(); }")
