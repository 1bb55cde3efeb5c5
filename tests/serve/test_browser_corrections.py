"""Tags, words, comments and flags on the page of annotation, also when answers are late."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.serve.annotating import HOLD, RELEASE, Place
from tests.serve.browsing import open_page, start
from treecrf.treebank import read_conllu

pytestmark = [pytest.mark.browser, pytest.mark.service, pytest.mark.slow]


def forms_shown(page: Page) -> list[str]:
    return page.locator(".word:not(.root) .form").all_text_contents()


def tag_of(page: Page, word: int) -> Any:
    return page.locator(f".word[data-id='{word}'] .tag")


def remark_lines(place: Place) -> list[str]:
    written = place.written
    lines = () if written is None else written.comments
    return [line for line in lines if line.startswith(("# annotate_comment", "# annotate_flag"))]


def expect_inside(node: Any, width: int) -> None:
    box = node.bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= width


def test_a_tag_is_corrected_with_the_keyboard(place: Place) -> None:
    page = place.page
    page.locator(".word[data-id='2']").focus()
    before = tag_of(page, 2).text_content()
    page.keyboard.press("p")
    dialog = page.get_by_role("dialog", name="Tag of")
    expect(dialog.get_by_role("option", name="NOUN").first).to_contain_text("noun")
    page.keyboard.type("interjection")  # by what it means
    page.keyboard.press("Enter")
    expect(tag_of(page, 2)).to_have_text("INTJ")
    expect(page.locator(".word[data-id='2']")).to_be_focused()
    assert place.written is not None
    assert place.written.column("upos")[1] == "INTJ"
    assert place.heads == {}
    page.keyboard.press("u")
    expect(tag_of(page, 2)).to_have_text(before or "")
    page.keyboard.press("Control+y")
    expect(tag_of(page, 2)).to_have_text("INTJ")
    page.locator(".details .of-tag").click()
    page.get_by_role("option", name="as it was").click()
    expect(tag_of(page, 2)).to_have_text(before or "")
    assert place.written.column("upos")[1] == "_"


def test_a_tag_and_a_head_decided_at_once_are_both_saved(place: Place) -> None:
    page = place.page
    page.locator(".word[data-id='3']").focus()
    page.evaluate(HOLD)
    page.keyboard.press("p")
    page.keyboard.type("SYM")
    page.keyboard.press("Enter")
    place.press("r", "ArrowRight", "g")
    page.evaluate(RELEASE)
    place.wait_until_saved(1)
    expect(tag_of(page, 3)).to_have_text("SYM")
    expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "true")
    assert place.heads == {3: 0}
    assert place.written is not None
    assert place.written.column("upos")[2] == "SYM"
    assert remark_lines(place) == ["# annotate_flag = yes"]


def test_a_word_is_split_and_what_is_decided_elsewhere_stays(place: Place) -> None:
    page = place.page
    forms = forms_shown(page)
    last = len(forms)
    page.evaluate(HOLD)
    place.fix(1, 2)
    place.fix(last, 2)
    place.fix(2, 3)  # this one goes with its word
    page.locator(".word[data-id='3']").focus()
    page.keyboard.press("w")
    pieces = page.get_by_label("Put a space where it is to be split:")
    expect(pieces).to_have_value(forms[2])
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    place.press("f", "2", "r", "p", "g")  # about words that nobody has seen yet
    page.evaluate(RELEASE)
    cut = [*forms[:2], forms[2][0], forms[2][1:], *forms[3:]]
    expect(page.locator(".word:not(.root)")).to_have_count(last + 1)
    assert forms_shown(page) == cut
    expect(page.locator(".word[data-id='3']")).to_be_focused()
    assert place.written is not None
    assert place.written.forms == cut
    assert place.heads == {1: 2, last + 1: 2}
    assert remark_lines(place) == []
    expect(page.locator(".arc.fixed")).to_have_count(2)


def test_words_are_joined_and_put_back(place: Place) -> None:
    page = place.page
    forms = forms_shown(page)
    place.fix(1, 2)
    place.wait_until_saved(1)
    page.locator(".word[data-id='5']").click()
    page.get_by_role("button", name="Split").click()
    page.get_by_role("button", name=f"Join with «{forms[5]}»").click()
    joined = f"{forms[4]} {forms[5]}"
    expect(page.locator(".word[data-id='5'] .form")).to_have_text(joined)
    assert place.written is not None
    assert place.written.forms == [*forms[:4], joined, *forms[6:]]
    assert place.heads == {1: 2}
    expect(page.locator(".word.chosen")).to_have_count(0)
    page.keyboard.press("w")
    page.get_by_role("button", name=f"Join with «{forms[3]}»").click()
    expect(page.locator(".word:not(.root)")).to_have_count(len(forms) - 2)
    page.keyboard.press("w")
    page.get_by_role("button", name="All as in the corpus").click()
    expect(page.locator(".word:not(.root)")).to_have_count(len(forms))
    assert place.written.forms == forms
    assert place.heads == {1: 2}
    assert not any("annotate_words" in line for line in place.written.comments)


def test_a_token_of_several_words(place: Place) -> None:
    page = place.page
    forms = forms_shown(page)
    page.locator(".word[data-id='2']").focus()
    page.keyboard.press("w")
    dialog = page.get_by_role("dialog", name="Tokens at")
    pieces = dialog.get_by_role("textbox")
    pieces.fill("some thing else")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text(f"do not spell «{forms[1]}»")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".word:not(.root)")).to_have_count(len(forms) + 2)
    assert place.written is not None
    (multiword,) = place.written.multiwords
    assert (multiword.first, multiword.last, multiword.form) == (2, 4, forms[1])
    assert place.written.forms[1:4] == ["some", "thing", "else"]
    page.locator(".word[data-id='3']").focus()
    page.keyboard.press("w")
    expect(pieces).to_have_value("some thing else")
    pieces.fill(forms[1])
    dialog.get_by_role("checkbox").uncheck()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".word:not(.root)")).to_have_count(len(forms))
    assert place.written.multiwords == []


def test_a_comment_and_a_flag_with_the_keyboard(place: Place) -> None:
    page = place.page
    comment = page.get_by_label("Comment", exact=True)
    page.keyboard.press("c")
    expect(comment).to_be_focused()
    page.keyboard.type("a  case of apposition?")  # with letters that are keys elsewhere
    page.keyboard.press("Enter")
    expect(page.locator(".word.asked:focus")).to_have_count(1)
    expect(page.locator(".status")).to_contain_text("The comment is saved.")
    page.keyboard.press("g")
    expect(page.locator(".status")).to_contain_text("The sentence is flagged.")
    said = ["# annotate_comment = a case of apposition?", "# annotate_flag = yes"]
    assert remark_lines(place) == said
    page.reload()
    expect(comment).to_have_value("a case of apposition?")
    expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".word.asked:focus")).to_have_count(1)
    page.keyboard.press("c")
    page.keyboard.press("End")
    page.keyboard.type(" no")
    page.keyboard.press("Escape")  # as it was
    expect(comment).to_have_value("a case of apposition?")
    page.keyboard.press("g")
    expect(page.locator(".status")).to_contain_text("not flagged any more")
    page.keyboard.press("u")
    expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "true")
    assert remark_lines(place) == said
    page.keyboard.press("c")
    comment.fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".status")).to_contain_text("The comment is removed.")
    assert remark_lines(place) == said[1:]
    page.keyboard.press("u")
    expect(comment).to_have_value("a case of apposition?")
    assert remark_lines(place) == said


def test_what_is_typed_goes_with_the_sentence(place: Place) -> None:
    """Accept is clicked with the cursor in the comment, and answers are late."""
    page = place.page
    page.evaluate(HOLD)
    comment = page.get_by_label("Comment", exact=True)
    comment.click()
    page.keyboard.type("look again")
    page.get_by_role("button", name="Accept").click()
    page.wait_for_function("window.held.length === 1")
    comment.press_sequentially("?")  # too late
    place.press("g")
    page.evaluate(RELEASE)
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place.number + 1} ·")
    expect(comment).to_have_value("")
    assert place.state == "done"
    assert remark_lines(place) == ["# annotate_comment = look again"]


def test_a_comment_that_is_not_saved_is_not_lost(place: Place) -> None:
    page = place.page
    page.route(f"**/api/annotate/{place.number}", lambda route: route.abort())
    page.keyboard.press("c")
    page.keyboard.type("my remark")
    page.keyboard.press("Enter")
    alert = page.locator(".sentence").get_by_role("alert")
    expect(alert).to_contain_text("does not answer")
    comment = page.get_by_label("Comment", exact=True)
    expect(comment).to_have_value("my remark")
    page.keyboard.press("n")
    expect(alert).to_contain_text("does not answer")
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place.number} ·")
    page.unroute(f"**/api/annotate/{place.number}")
    page.keyboard.press("n")
    expect(page.locator("#progress-text")).to_contain_text(f"Sentence {place.number + 1} ·")
    assert remark_lines(place) == ["# annotate_comment = my remark"]


def test_who_closes_the_page_with_a_comment_half_typed_is_asked(
    browser: Browser, place: Place
) -> None:
    page = browser.new_page()
    page.goto(place.page.url)
    page.locator(".word.asked:focus").wait_for()
    page.keyboard.press("c")
    page.keyboard.type("half a")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    with page.expect_event("dialog"):
        page.evaluate("() => { setTimeout(() => location.reload()); }")
    expect(page.get_by_label("Comment", exact=True)).to_have_value("half a")
    assert asked == ["beforeunload"]
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_everything_is_in_reach_on_a_screen(
    browser: Browser, model: Path, tmp_path: Path, width: int, scheme: Any
) -> None:
    """Tag, words, comment and flag with a finger or a mouse; nothing is wider than the screen."""
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text("Anna saw the old garden behind the house of the other people .\n" * 2)
    is_phone = width < 400
    options = {"viewport": {"width": width, "height": 720}, "has_touch": True}
    command = ("annotate", corpus, "--model", model, "--out", out, "--share", "0.3")
    with (
        start(*command) as service,
        open_page(browser, color_scheme=scheme, is_mobile=is_phone, **options) as page,
    ):
        page.goto(service.address)
        page.locator(".word:focus").wait_for()

        def press(node: Any) -> None:
            node.scroll_into_view_if_needed()
            node.tap() if is_phone else node.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width

        press(page.locator(".details .of-tag"))
        expect_inside(page.get_by_role("dialog"), width)
        press(page.get_by_role("option", name="SYM"))
        expect(page.locator(".tag", has_text="SYM")).to_have_count(1)
        press(page.get_by_role("button", name="Split"))
        expect_inside(page.get_by_role("dialog"), width)
        before = page.locator(".word").count()
        press(page.get_by_role("button", name="Join with").first)
        expect(page.locator(".word")).to_have_count(before - 1)
        press(page.get_by_role("button", name="Flag"))
        expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "true")
        page.get_by_label("Comment", exact=True).fill("so")
        press(page.get_by_role("button", name="Accept"))
        expect(page.locator("#progress-text")).to_contain_text("Sentence 2 ·")
    (written,) = read_conllu(out)
    assert {"# annotate_comment = so", "# annotate_flag = yes"} <= set(written.comments)
