"""Pictures of trees: well-formed whatever is in the file, and all of the tree is in them."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from treecrf.demo import generate_treebank
from treecrf.treebank import Sentence, Token, read_conllu, sentences_to_svg, to_svg
from treecrf.treebank.probs import certainty

ROOT = Path(__file__).parent.parent.parent
TELESCOPE = ROOT / "examples" / "telescope.conllu"
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "style", "rect", "g", "path", "text"}
ATTRIBUTES = {"class", "role", "viewBox", "width", "height", "x", "y", "rx", "fill", "d"}

HOSTILE = (
    "<script>alert(1)</script>",
    "</text></svg><script>",
    '" onload="alert(1)',
    "' & &amp; ]]> <!-- --> <![CDATA[",
    "\x00\x08\x0b\x1b[31m\x7f\ufffe\ud800",
    "{ } url(#x)",
    "שלום\u202e!",
    "e\u0301\u200d👩🏽\u200d🚀",
    "_",
    " ",
)
texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), min_size=1, max_size=6))


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """Anything that a program may put together, trees or not."""
    words = draw(st.integers(0, 8))
    tokens = [
        Token(
            number,
            draw(texts),
            upos=draw(texts),
            head=draw(st.integers(-1, words)),
            deprel=draw(texts),
            misc=draw(st.sampled_from(["_", "HeadProb=0.5", "HeadProb=<", ""])),
        )
        for number in range(1, words + 1)
    ]
    comments = [
        f"# {key} = {draw(texts)}" for key in draw(st.sets(st.sampled_from(["sent_id", "text"])))
    ]
    sentence = Sentence.from_tokens(tokens, comments=comments)
    if draw(st.booleans()):
        sentence.probs = draw(st.lists(st.floats(0, 1), min_size=words, max_size=words))
    return sentence


def parsed(svg: str) -> ElementTree.Element:
    """The picture, which has nothing in it but what pictures of ours have."""
    picture = ElementTree.fromstring(svg)
    for element in picture.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES
    return picture


def texts_of(picture: ElementTree.Element, kind: str) -> list[str]:
    return [
        element.text or ""
        for element in picture.iter(f"{SVG}text")
        if element.get("class", "").split()[0] == kind
    ]


def as_xml_has_it(text: str) -> str:
    allowed = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
    return re.sub("\r\n?", "\n", allowed)


def paths(picture: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [path for path in picture.iter(f"{SVG}path") if path.get("class") == kind]


@given(sentences())
def test_every_sentence_makes_a_picture(sentence: Sentence) -> None:
    svg = to_svg(sentence)
    svg.encode("utf-8")
    assert "<script" not in svg
    picture = parsed(svg)
    assert texts_of(picture, "form") == [as_xml_has_it(form) for form in sentence.forms]
    arcs = [token for token in sentence.tokens if token.head >= 0]
    assert len(paths(picture, "line")) == len(paths(picture, "tip")) == len(arcs)
    assert texts_of(picture, "label") == [
        as_xml_has_it(token.deprel) for token in arcs if token.deprel != "_"
    ]
    assert texts_of(picture, "tag") == [
        as_xml_has_it(token.upos) for token in sentence.tokens if token.upos != "_"
    ]
    title, description = picture[:2]
    assert (picture.get("role"), title.tag, description.tag) == ("img", f"{SVG}title", f"{SVG}desc")
    assert (description.text or "") == as_xml_has_it(sentence.text)


@given(st.lists(sentences(), max_size=4))
def test_pictures_of_several_sentences(several: list[Sentence]) -> None:
    picture = parsed(sentences_to_svg(several))
    images = [element for element in picture.iter(f"{SVG}svg") if element.get("role") == "img"]
    assert len(images) == len(several)
    assert len(paths(picture, "line")) == sum(head >= 0 for item in several for head in item.heads)
    for image in images:
        assert int(image.get("y", 0)) + int(image.get("height", 0)) <= int(picture.get("height", 0))
        assert int(image.get("width", 0)) <= int(picture.get("width", 0))


def test_one_sentence_of_several_is_its_picture() -> None:
    (sentence,) = read_conllu(TELESCOPE)
    assert sentences_to_svg([sentence]) == to_svg(sentence)
    assert parsed(to_svg(sentence, title="A & B"))[0].text == "A & B"


def test_colours_and_figures_follow_the_probabilities() -> None:
    probs = [0.99, 0.95, 0.9, 0.7, 0.5, 0.1]
    sentence = Sentence("abcdef", [2, 0, 2, 2, 2, 2], probs=probs)
    sentence.deprels = ["x"] * 6
    picture = parsed(to_svg(sentence))
    groups = list(picture.iter(f"{SVG}g"))
    assert [group.get("class") for group in groups] == [certainty(prob) for prob in probs]
    hints = [group.findtext(f"{SVG}title") for group in groups]
    assert hints[:3] == ["b → a: x, 0.9900", "root → b: x, 0.9500", "b → c: x, 0.9000"]
    assert texts_of(picture, "prob") == ["90%", "70%", "50%", "10%"]
    style = picture.findtext(f"{SVG}style")
    assert style is not None
    assert all(style.count(f".{certainty(prob)} {{") == 2 for prob in [*probs, None])


def test_probabilities_of_a_file_and_of_a_parser_look_the_same() -> None:
    (written,) = read_conllu(TELESCOPE)
    bare = written.with_tree(written.heads, written.deprels, columns={"misc": ["_"] * 7})
    assert Counter(g.get("class") for g in parsed(to_svg(written)).iter(f"{SVG}g")) == {
        "sure": 6,
        "likely": 1,
    }
    assert {g.get("class") for g in parsed(to_svg(bare)).iter(f"{SVG}g")} == {"unknown"}
    bare.probs = [float(re.findall(r"HeadProb=([\d.]+)", m)[0]) for m in written.column("misc")]
    assert to_svg(bare) == to_svg(written)


def places(picture: ElementTree.Element) -> list[int]:
    return [
        int(element.get("x", 0))
        for element in picture.iter(f"{SVG}text")
        if element.get("class") == "form"
    ]


def test_words_are_in_the_order_that_they_are_read_in() -> None:
    english = places(parsed(to_svg(Sentence(["see", "אבג", "it"], [0, 1, 1]))))
    assert english == sorted(english)
    hebrew = places(parsed(to_svg(Sentence(["קראה", "את", "Python", "!"], [0, 1, 1, 1]))))
    assert hebrew == sorted(hebrew, reverse=True)


def test_wide_characters_have_room() -> None:
    def gap(form: str) -> int:
        first, _, last = places(parsed(to_svg(Sentence(["a", form, "a"]))))
        return last - first

    assert gap("図書館") > gap("abc") == gap("e\u0301bc")


def test_a_long_sentence() -> None:
    forms = [form for sentence in generate_treebank(40) for form in sentence.forms][:200]
    heads = [max(word - 1 - word % 7, 0) for word in range(1, 201)]
    picture = parsed(to_svg(Sentence(forms, heads)))
    assert len(paths(picture, "line")) == 200
    assert int(picture.get("width", 0)) > 200 * 18


def test_the_picture_in_the_readme_is_what_its_command_makes() -> None:
    made = sentences_to_svg(read_conllu(TELESCOPE))
    assert (ROOT / "docs" / "images" / "tree.svg").read_text(encoding="utf-8") == made


def test_pictures_need_no_torch() -> None:
    heavy = "{'torch', 'numpy', 'rich'}"
    code = f"import sys, treecrf.treebank.drawing.svg; print({heavy} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n"


def test_a_long_word_is_drawn_in_part() -> None:
    """Each of its arcs says its name, too."""
    sentence = Sentence(["x" * 100_000] + ["y"] * 50, heads=[0] + [1] * 50, deprels=["dep"] * 51)
    picture = to_svg(sentence, title="long")
    assert picture.count("x" * 100 + "…") == 52
    assert len(picture) < 300_000
