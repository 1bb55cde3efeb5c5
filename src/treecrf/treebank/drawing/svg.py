"""Trees as SVG pictures: arcs above the words, coloured by how sure a parser was of them."""

import html
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from treecrf.treebank.drawing.layout import Arc, lay_out
from treecrf.treebank.probs import SURE, certainty, head_probs, heading
from treecrf.treebank.sentence import Sentence

__all__ = ["sentences_to_svg", "to_svg"]

# A file of its own has a ground and a colour; inside a page a picture takes those of the page. The
# rules begin with a class of ours because inside a page they hold for all of it.
_STYLE = f"<style>\n{Path(__file__).with_name('tree.css').read_text(encoding='utf-8')}</style>"

# The sizes of text, as above; a letter is about so much of its size wide.
_FORM, _TAG, _LABEL = 17, 11, 12
_LETTER = 0.6

_MARGIN = 22
_LEVEL = 27  # from one level of arcs to the next: a label has room between them
_FOOT = 12  # from the words up to where level 0 would be
_RADIUS = 14
_LONGEST_FORM = 100  # characters of a word that are drawn
_NAME = 20  # for the line above a tree that says which one of several it is

_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_svg(sentence: Sentence, *, title: str | None = None) -> str:
    """The tree of a sentence as a picture that needs nothing else; screen readers say its title.

    Arcs have the colour of how sure a parser was of the head, where `probs` or HeadProb in MISC
    tells; where it was less than 95% sure, that stands under the word. A word without a head has no
    arc. Where most words are written from the right, the first one is on the right.
    """
    return _picture(_draw(sentence, title), role="img")


def sentences_to_svg(sentences: Iterable[Sentence]) -> str:
    """The trees of sentences under each other in one picture; of one, what `to_svg` gives."""
    drawings = [(_draw(sentence, None), heading(sentence)) for sentence in sentences]
    if len(drawings) == 1:
        return _picture(drawings[0][0], role="img")
    width = max((drawing.width for drawing, _ in drawings), default=2 * _MARGIN)
    height = 0
    parts = []
    for drawing, name in drawings:
        if height:
            parts.append(f'<path class="rule" d="M 1 {height} H {width - 1}"/>')
        if name:
            height += _NAME
            parts.append(_text("name", name, _MARGIN, height))
        size = f'y="{height}" width="{drawing.width}" height="{drawing.height}"'
        parts += [f'<svg role="img" {size}>', drawing.says, drawing.marks, "</svg>"]
        height += drawing.height
    title = f"<title>{len(drawings)} dependency trees</title>"
    height = max(height, 2 * _MARGIN)
    return _picture(_Drawing(width, height, title, "\n".join(parts)), role="group")


@dataclass(frozen=True, slots=True)
class _Drawing:
    """The elements of a picture: what is said of it, and what is seen."""

    width: int
    height: int
    says: str
    marks: str


def _picture(drawing: _Drawing, *, role: str) -> str:
    width, height = drawing.width, drawing.height
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="treecrf-tree" role="{role}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    )
    size = f'width="{width - 1}" height="{height - 1}"'
    card = f'<rect class="card" fill="none" x="0.5" y="0.5" rx="10" {size}/>'
    return "\n".join([opening, drawing.says, _STYLE, card, drawing.marks, "</svg>\n"])


@dataclass(frozen=True, slots=True)
class _Word:
    form: str
    tag: str
    head: int
    label: str
    prob: float | None

    @property
    def doubt(self) -> str:
        """The probability under a word whose head is not sure."""
        return "" if self.prob is None or self.prob >= SURE else f"{self.prob:.0%}"

    @property
    def label_width(self) -> int:
        return _width(self.label, _LABEL) + 6

    @property
    def width(self) -> int:
        below = max(_width(self.tag, _TAG), _width(self.doubt, _TAG))
        return max(_width(self.form, _FORM), below, 0 if self.head else self.label_width)


def _draw(sentence: Sentence, title: str | None) -> _Drawing:
    most = _LONGEST_FORM
    forms = [form if len(form) <= most else form[:most] + "…" for form in sentence.forms]
    words = [
        _Word(form, _known(token.upos), token.head, _known(token.deprel), prob)
        for form, token, prob in zip(forms, sentence.tokens, head_probs(sentence), strict=True)
    ]
    layout = lay_out(
        [word.head for word in words],
        widths=[word.width for word in words],
        labels=[word.label_width for word in words],
        mirrored=_is_leftward(sentence.forms),
    )
    levels = max((arc.level for arc in layout.arcs), default=0)
    ground = _MARGIN + (_LABEL + levels * _LEVEL + _FOOT if levels else 0)
    marks = [_arc(arc, words, ground) for arc in layout.arcs]
    rows = [
        ("form", [word.form for word in words], 20),
        ("tag", [word.tag for word in words], 17),
        ("prob", [word.doubt for word in words], 16),
    ]
    bottom = ground
    for name, texts, size in rows:
        if any(texts):
            bottom += size
            for word, text, middle in zip(words, texts, layout.words, strict=True):
                kind = f"{name} {certainty(word.prob)}" if name == "prob" else name
                if text:
                    marks.append(_text(kind, text, _MARGIN + middle, bottom))
    if title is None:
        title = "Dependency tree" + (f" of {sentence.sent_id}" if sentence.sent_id else "")
    says = f"<title>{_escaped(title)}</title>\n<desc>{_escaped(sentence.text)}</desc>"
    return _Drawing(layout.width + 2 * _MARGIN, bottom + _MARGIN, says, "\n".join(marks))


def _arc(arc: Arc, words: list[_Word], ground: int) -> str:
    """An arc with its label, in the colour of its probability, which the mouse shows."""
    word = words[arc.dependent - 1]
    head = words[arc.head - 1].form if arc.head else "root"
    hint = f"{head} → {word.form}" + (f": {word.label}" if word.label else "")
    hint += "" if word.prob is None else f", {word.prob:.4f}"
    start, end = _MARGIN + arc.start, _MARGIN + arc.end
    top = ground - _FOOT - arc.level * _LEVEL
    if arc.head == 0:
        line = f"M {end} {top} V {ground - 8}"
    else:
        radius = min(_RADIUS, abs(end - start) // 2)
        turn = radius if start < end else -radius
        line = (
            f"M {start} {ground - 1} V {top + radius} Q {start} {top} {start + turn} {top} "
            f"H {end - turn} Q {end} {top} {end} {top + radius} V {ground - 8}"
        )
    label = _text("label", word.label, _MARGIN + arc.label, top - 5) if word.label else ""
    return (
        f'<g class="{certainty(word.prob)}"><title>{_escaped(hint)}</title>'
        f'<path class="line" d="{line}"/>'
        f'<path class="tip" d="M {end} {ground} l -4 -9 h 8 z"/>{label}</g>'
    )


def _text(kind: str, text: str, x: int, y: int) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """Text as XML may have it: some control characters are not allowed, escaped or not."""
    return html.escape(_NOT_IN_XML.sub("\ufffd", text))


def _known(cell: str) -> str:
    return "" if cell == "_" else cell


def _width(text: str, size: int) -> int:
    """About how wide a text is: wide letters count twice, marks on letters not at all."""
    letters = 0
    for character in text:
        if unicodedata.category(character) not in ("Mn", "Me", "Cf"):
            letters += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return round(letters * size * _LETTER)


def _is_leftward(forms: Iterable[str]) -> bool:
    """Whether more of the words are written from the right than from the left."""
    balance = 0
    for form in forms:
        kinds = map(unicodedata.bidirectional, form)
        first = next((kind for kind in kinds if kind in ("L", "R", "AL")), None)
        balance += {None: 0, "L": -1}.get(first, 1)
    return balance > 0
