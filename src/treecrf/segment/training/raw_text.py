"""Training text: characters of a treebank, where tokens and sentences end, and windows of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

import numpy as np
import numpy.typing as npt

from treecrf.segment.characters import (
    OUTSIDE,
    CharacterClass,
    Classes,
    Codes,
    Joins,
    as_read,
    classes_of,
    codes_of,
    is_space,
    may_join,
)
from treecrf.segment.config import SegmenterConfig
from treecrf.segment.spaces import space_after, space_before
from treecrf.treebank import Multiword, Sentence, Token
from treecrf.treebank.tokens import surfaces

__all__ = [
    "TOKEN",
    "RawSentence",
    "cut_runs",
    "draw_windows",
    "raw_sentences",
    "raw_text",
    "treebank_text",
]

Labels = npt.NDArray[np.uint8]

# What a character may be the last one of, as bits; the network has an output for each, in this
# order.
TOKEN, SENTENCE, MULTIWORD = 1, 2, 4

PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class RawSentence:
    """A sentence as text."""

    text: str  # from its first token to its last
    labels: Labels  # [character], bits
    before: str  # white space before the first token, where the sentence before does not have it
    after: str  # white space up to the next sentence, unless that one starts a paragraph
    new_paragraph: bool
    new_document: bool


def raw_sentences(sentences: Sequence[Sentence]) -> list[RawSentence]:
    """The sentences as text with labels; those without words are left out."""
    return [_raw_sentence(sentence) for sentence in sentences if len(sentence)]


def _raw_sentence(sentence: Sentence) -> RawSentence:
    tokens = list(surfaces(sentence.tokens, sentence.multiwords))
    # The comment has one space where MISC tells of more.
    exact = any("SpacesAfter=" in token.misc for token in tokens)
    text, ends = (None if exact else _aligned(sentence.text, tokens)) or _joined(tokens)
    labels = np.zeros(len(text), np.uint8)
    labels[ends] = TOKEN
    for end, token in zip(ends, tokens, strict=True):
        if isinstance(token, Multiword):
            labels[end] |= MULTIWORD
    labels[ends[-1]] |= SENTENCE
    return RawSentence(
        text=text,
        labels=labels,
        before=space_before(tokens[0].misc),
        after=space_after(tokens[-1].misc),
        new_paragraph=_has_comment(sentence, "newpar"),
        new_document=_has_comment(sentence, "newdoc"),
    )


def _aligned(text: str, tokens: list[Token | Multiword]) -> tuple[str, list[int]] | None:
    """The text of the comment with the place of each token's last character, if they are in it."""
    text = text.strip()
    ends = []
    place = 0
    for token in tokens:
        while place < len(text) and text[place].isspace():
            place += 1
        if not text.startswith(token.form, place):
            return None
        place += len(token.form)
        ends.append(place - 1)
    return (text, ends) if place == len(text) else None


def _joined(tokens: list[Token | Multiword]) -> tuple[str, list[int]]:
    """The text that the tokens and their MISC make."""
    pieces: list[str] = []
    ends = []
    length = 0
    for token in tokens:
        pieces += token.form, space_after(token.misc)
        ends.append(length + len(token.form) - 1)
        length += len(pieces[-2]) + len(pieces[-1])
    return "".join(pieces)[: ends[-1] + 1], ends


def _has_comment(sentence: Sentence, key: str) -> bool:
    return any(comment.lstrip("# \t").startswith(key) for comment in sentence.comments)


def raw_text(sentences: Sequence[RawSentence]) -> str:
    """The text of sentences, with a blank line between paragraphs and between documents."""
    return "".join(_pieces(sentences))


def treebank_text(sentences: Iterable[Sentence]) -> Iterator[str]:
    """The text of a treebank in pieces, as `raw_text` has it."""
    return _pieces(_raw_sentence(sentence) for sentence in sentences if len(sentence))


def _pieces(sentences: Iterable[RawSentence]) -> Iterator[str]:
    after = ""
    for number, sentence in enumerate(sentences):
        new = number and (sentence.new_paragraph or sentence.new_document)
        yield (PARAGRAPH if new else after) + sentence.before + sentence.text
        after = sentence.after
    yield after


_LONGEST_RUN = 40  # sentences that stay together, and share a layout
_LINE_WIDTHS = (50, 110)
_SHORTENED = 0.2  # share of the sentences on lines of their own that lose their last full stop


def cut_runs(sentences: Sequence[RawSentence]) -> list[list[RawSentence]]:
    """Sentences that follow each other in one document, not too many at a time."""
    runs: list[list[RawSentence]] = []
    for sentence in sentences:
        if not runs or sentence.new_document or len(runs[-1]) >= _LONGEST_RUN:
            runs.append([])
        runs[-1].append(sentence)
    return runs


@dataclass(frozen=True, slots=True)
class TrainingWindows:
    """Windows of training text, in random order."""

    codes: Codes  # [window, character]
    classes: npt.NDArray[np.int32]  # [window, character]
    targets: npt.NDArray[np.bool_]  # [window, character, output]
    asked: npt.NDArray[np.bool_]  # [window, character, output], whether it is to be learnt


def draw_windows(
    runs: Sequence[Sequence[RawSentence]],
    config: SegmenterConfig,
    *,
    joins: Joins,
    random: np.random.Generator,
) -> TrainingWindows:
    """All runs, in random order and layout, as windows."""
    codes, labels = _draw_text(runs, config, random)
    order = random.permutation(len(codes))
    codes, labels = codes[order], labels[order]
    classes = classes_of(codes)
    asked = _find_asked(classes, labels, joins)
    bits = np.array([TOKEN, SENTENCE, MULTIWORD], np.uint8)
    return TrainingWindows(
        codes=codes,
        classes=classes.astype(np.int32),
        targets=labels[..., None] & bits > 0,
        asked=asked[..., None] & bits > 0,
    )


def _draw_text(
    runs: Sequence[Sequence[RawSentence]], config: SegmenterConfig, random: np.random.Generator
) -> tuple[Codes, Labels]:
    """Characters and labels `[window, character]`, in the order of the text."""
    order = random.permutation(len(runs))
    texts, labels = zip(*(_lay_out(runs[place], config, random) for place in order), strict=True)
    codes = as_read(codes_of("".join(texts)))
    marks = np.concatenate(labels)
    # The windows lie elsewhere each time, and what is left at both ends is outside the text.
    before = int(random.integers(config.window))
    after = -(before + len(codes)) % config.window
    codes = np.pad(codes, (before, after), constant_values=OUTSIDE)
    marks = np.pad(marks, (before, after))
    shape = (-1, config.window)
    windows, marks = codes.reshape(shape), marks.reshape(shape)
    for row in np.flatnonzero(random.random(len(windows)) < config.text_ends):
        _end_text(windows[row], marks[row], random)
    return windows, marks


def _lay_out(
    run: Sequence[RawSentence], config: SegmenterConfig, random: np.random.Generator
) -> tuple[str, Labels]:
    """The text of a run and its labels, as it is or with line breaks of another layout."""
    changed = random.random() < config.line_breaks
    on_lines = changed and random.random() < 0.5
    width = 0 if not changed or on_lines else int(random.integers(*_LINE_WIDTHS))
    pieces: list[str] = []
    labels: list[Labels] = []
    for number, sentence in enumerate(run):
        text, marks = sentence.text, sentence.labels
        if number and (sentence.new_paragraph or sentence.new_document):
            pieces[-1] = PARAGRAPH
        elif number and on_lines:
            pieces[-1] = PARAGRAPH if random.random() < 0.1 else "\n"
        if random.random() < (_SHORTENED if on_lines else config.lost_stops):
            text, marks = _shortened(text, marks)
        pieces += sentence.before, text, sentence.after
        labels.append(marks)
    pieces[-1] = str(random.choice([PARAGRAPH, "\n", pieces[-1]]))  # before whatever run is next
    text = _changed_case("".join(pieces), config.letter_case, random)
    marks = np.zeros(len(text), np.uint8)  # none for the white space around the sentences
    ends = accumulate(map(len, pieces))
    for end, of_sentence in zip(islice(ends, 1, None, 3), labels, strict=True):
        marks[end - len(of_sentence) : end] = of_sentence
    return _wrapped(text, width) if width else text, marks


def _shortened(text: str, labels: Labels) -> tuple[str, Labels]:
    """The sentence without its last token, if that is a mark of one character."""
    rest = text[:-1].rstrip()
    if text[-1].isalnum() or not rest or not labels[len(rest) - 1] & TOKEN:
        return text, labels
    labels = labels[: len(rest)].copy()
    labels[-1] |= SENTENCE
    return rest, labels


def _changed_case(text: str, rate: float, random: np.random.Generator) -> str:
    """The text, at this rate in capitals or in small letters, if these are as many characters."""
    if random.random() >= rate:
        return text
    changed = text.upper() if random.random() < 0.5 else text.lower()
    return changed if len(changed) == len(text) else text


def _wrapped(text: str, width: int) -> str:
    """The text with line breaks in the place of spaces, so that lines are at most so wide."""
    lines = []
    start = 0
    while len(text) - start > width:
        stop = text.find("\n", start, start + width)
        if stop < 0:
            stop = text.rfind(" ", start, start + width)
        if stop < 0:
            stop = text.find(" ", start + width)
        if stop < 0:
            break
        lines.append(text[start:stop])
        start = stop + 1
    return "\n".join([*lines, text[start:]])


def _end_text(window: Codes, labels: Labels, random: np.random.Generator) -> None:
    """Let the text end, or start, where a sentence of the window ends."""
    ends = np.flatnonzero(labels & SENTENCE)
    if not len(ends):
        return
    end = int(random.choice(ends)) + 1
    outside = slice(end, None) if random.random() < 0.5 else slice(0, end)
    window[outside] = OUTSIDE
    labels[outside] = 0


def _find_asked(classes: Classes, labels: Labels, joins: Joins) -> Labels:
    """The outputs that are to be learnt at each character, as bits `[window, character]`.

    A token ends before white space without being asked, unless it may go on after a space; a
    sentence ends before a blank line and at the end of the text.
    """
    padded = np.pad(classes, ((0, 0), (0, 2)))
    first, second = padded[:, 1:-1], padded[:, 2:]
    tokens = (~is_space(classes) & ~is_space(first)) | may_join(padded, joins)
    last = labels & TOKEN > 0
    blank = (first == CharacterClass.LINE_BREAK) & (second == CharacterClass.LINE_BREAK)
    sentences = last & ~blank & (first != CharacterClass.OUTSIDE)
    return (TOKEN * tokens + SENTENCE * sentences + MULTIWORD * last).astype(np.uint8)
