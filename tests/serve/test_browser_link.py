"""Links that show the same text with the same changes, examples, and pictures as PNG files."""

import json
import struct
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.serve.browsing import (
    SENTENCE,
    Service,
    expect_heads,
    fixed_heads,
    heads_shown,
    labels_shown,
    open_page,
    parse,
    word,
)

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]


def link_of(page: Page) -> str:
    """The address that the page has after its button was pressed."""
    page.locator("#copy").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("what you changed")
    return page.url


def test_a_link_shows_the_same_again(browser: Browser, page: Page, service: Service) -> None:
    parse(page, f"{SENTENCE}\nAnna sleeps .")
    word(page, 6).click()
    word(page, 3).click()
    expect(page.locator(".arc.fixed")).to_have_count(1)
    page.locator(".label[data-dependent='4']").first.click()
    page.keyboard.type("vocative")
    page.keyboard.press("Enter")
    expect(page.locator(".arc.fixed")).to_have_count(2)
    heads, fixed, labels = heads_shown(page), fixed_heads(page), labels_shown(page)
    link = link_of(page)
    asked: list[str] = []
    with open_page(browser) as other:
        other.on("request", lambda request: asked.append(request.url.partition("#")[0]))
        other.goto(link)
        expect(other.locator(".sentence")).to_have_count(2)
        expect(other.locator(".arc.fixed")).to_have_count(2)
        expect(other.locator("#text")).to_have_value(f"{SENTENCE}\nAnna sleeps .")
        expect_heads(other, heads)
        assert fixed_heads(other) == fixed
        assert labels_shown(other)[: len(labels)] == labels
        assert fixed[6] == 3
        assert labels[3] == "vocative"
        assert other.url == link
        other.get_by_role("button", name="Free all").first.click()
        expect(other.locator(".arc.fixed")).to_have_count(0)
        parse(other, "Anna sleeps .")
        assert other.url == service.address  # the link is of something else
    assert asked
    assert not [url for url in asked if "telescope" in url]  # the text is sent as a body alone


def test_a_link_has_the_words_as_they_were_cut(browser: Browser, page: Page) -> None:
    parse(page, "Anna saw gardens .")
    word(page, 1).focus()
    page.keyboard.press("w")
    page.get_by_role("textbox", name="Words of").fill("An na saw gardens.")
    page.keyboard.press("Enter")
    expect(page.locator(".sentence .status")).to_have_text("Parsed again with 4 words.")
    with open_page(browser) as other:
        other.goto(link_of(page))
        forms = other.locator(".word:not(.root) .form")
        expect(forms).to_have_text(["An", "na", "saw", "gardens ."])


def test_a_link_to_another_text_is_followed_on_the_same_page(page: Page, service: Service) -> None:
    parse(page, "Anna sleeps .")
    page.goto(f"{service.address}#text={quote('The dog saw Anna .')}")
    expect(page.locator(".sentence h2")).to_have_text("The dog saw Anna .")
    expect(page.locator("#text")).to_have_value("The dog saw Anna .")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ('[{"sentence": 1, "heads', "This link is damaged"),
        (json.dumps([{"sentence": 1, "words": 3, "heads": {}, "labels": {}}]), "damaged"),
        (
            json.dumps([{"sentence": 9, "words": ["a"], "heads": {}, "labels": {}}]),
            "The link is about sentence 9",
        ),
        (
            json.dumps([{"sentence": 1, "words": ["Bo"], "heads": {}, "labels": {}}]),
            "«Bo» is not how the text goes on",
        ),
        (
            json.dumps(
                [{"sentence": 1, "words": ["Anna", "sleeps", "."], "heads": {"7": 1}, "labels": {}}]
            ),
            "7",
        ),
    ],
)
def test_a_link_that_is_wrong_says_so(
    page: Page, service: Service, changed: str, problem: str
) -> None:
    page.goto(f"{service.address}#text={quote('Anna sleeps .')}&changed={quote(changed)}")
    expect(page.locator(".sentence h2")).to_have_text("Anna sleeps .")
    expect(page.locator("#problem")).to_contain_text(problem)


def test_a_link_names_a_model_that_may_be_elsewhere(page: Page, service: Service) -> None:
    page.goto(f"{service.address}#text=Anna&model=zz")
    expect(page.locator("#problem")).to_contain_text("«zz», which is not served here: this is «en»")
    expect(page.locator(".sentence h2")).to_have_text("Anna")


def test_a_text_that_is_too_long_has_no_link(page: Page) -> None:
    page.route(
        "**/api/parse",
        lambda route: route.fulfill(
            response=(answer := route.fetch(post_data='{"text": "Anna sleeps ."}')),
            json=answer.json(),
        ),
    )
    page.fill("#text", "Anna sleeps . " * 6000)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".sentence")).to_have_count(1)
    page.locator("#copy").click()
    expect(page.locator("#problem")).to_contain_text("too long for a link")
    assert "#" not in page.url


def test_examples_are_tried_with_the_keyboard(page: Page) -> None:
    examples = page.get_by_role("group", name="Examples").get_by_role("button")
    expect(examples.first).to_be_visible()
    count = examples.count()
    assert count >= 5
    examples.first.focus()
    for number in range(count):
        sentence = examples.nth(number).get_attribute("title") or ""
        expect(examples.nth(number)).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".sentence h2")).to_have_text(sentence)
        expect(page.locator("#text")).to_have_value(sentence)
        page.keyboard.press("Tab")


def test_examples_are_in_the_language_of_the_model(page: Page) -> None:
    texts = """async (models) => {
      const { examplesFor } = await import("./parse/examples.js");
      return models.map((model) => examplesFor(model).map(([name, text]) => text));
    }"""
    models = [{"language": name, "segmenter": True} for name in ("en", "de", "", "zz")]
    english, german, unknown, missing = page.evaluate(texts, models)
    assert "I saw Sarah with a telescope." in english
    assert "Anna sah den Mann mit dem Fernglas." in german
    assert unknown == english
    assert missing == []
    (spaced,) = page.evaluate(texts, [{"language": "en", "segmenter": False}])
    assert "I saw Sarah with a telescope ." in spaced


def test_a_picture_has_pixels(page: Page, tmp_path: Path) -> None:
    parse(page)
    sizes = {}
    for layout in ("across", "down"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download PNG").click()
        assert waiting.value.suggested_filename == "sentence-1.png"
        path = tmp_path / f"{layout}.png"
        waiting.value.save_as(path)
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        sizes[layout] = struct.unpack(">II", data[16:24])
        assert colours(page, data) == {"white", "coloured", "dark"}
        word(page, 1).focus()
        page.keyboard.press("v")
    assert sizes["across"][0] > sizes["down"][0]
    assert sizes["across"][1] < sizes["down"][1]


def test_a_picture_that_the_browser_finds_too_large(page: Page) -> None:
    parse(page)
    page.evaluate("() => { HTMLCanvasElement.prototype.toBlob = (done) => done(null); }")
    page.get_by_role("button", name="Download PNG").click()
    expect(page.get_by_text("download SVG instead")).to_be_visible()


def colours(page: Page, data: bytes) -> set[str]:
    """The kinds of opaque pixels that a picture has: paper, arcs and words."""
    kinds: list[str] = page.evaluate(
        """async (bytes) => {
          const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
          const canvas = new OffscreenCanvas(picture.width, picture.height);
          const pen = canvas.getContext("2d");
          pen.drawImage(picture, 0, 0);
          const { data } = pen.getImageData(0, 0, picture.width, picture.height);
          const kinds = new Set();
          for (let at = 0; at < data.length; at += 4) {
            const [red, green, blue, alpha] = data.slice(at, at + 4);
            const spread = Math.max(red, green, blue) - Math.min(red, green, blue);
            if (alpha < 255) kinds.add("transparent");
            else if (red + green + blue === 765) kinds.add("white");
            else if (spread > 100) kinds.add("coloured");
            else if (red + green + blue < 150) kinds.add("dark");
          }
          return [...kinds];
        }""",
        list(data),
    )
    return set(kinds)


def test_everything_is_there_at_every_width_light_and_dark(window: Page) -> None:
    page = window
    page.get_by_role("button", name="Try coordination").click()
    expect(page.locator(".sentence")).to_have_count(1)
    word(page, 2).hover()
    expect(page.locator(".details .gloss")).to_be_visible()
    expect(page.locator(".details .analysis")).to_be_visible()
    page.get_by_role("button", name="Split or join words").click()
    expect(page.get_by_role("textbox", name="Words of")).to_be_in_viewport()
    page.get_by_role("button", name="Cancel").click()
    page.locator(".as-table summary").click()
    for name in ("#copy", "#examples", ".downloads", ".as-table table"):
        expect(page.locator(name)).to_be_visible()
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Whatever says something is told from what is behind it.
    for name in (".details .gloss", ".details .analysis", ".examples", ".as-table .features"):
        assert contrast(page, name) >= 4.5, name


def contrast(page: Page, name: str) -> float:
    """The contrast of a text with its card, as WCAG counts it."""
    ratio: float = page.evaluate(
        """(name) => {
          const light = (colour) => {
            const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
            const [red, green, blue] = parts.map((part) =>
              part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          };
          const node = document.querySelector(name);
          const card = node.closest(".sentence, .card");
          const [own, behind] = [node, card].map((each) => getComputedStyle(each));
          const both = [own.color, behind.backgroundColor].map(light);
          return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
        }""",
        name,
    )
    return ratio
