"""Sentences from and to the formats of UDPipe's interface, and text in Unicode's form NFC."""

import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from treecrf.serve.errors import ServeError
from treecrf.treebank import Sentence, TreebankError
from treecrf.treebank.files.conllu import parse_chunks
from treecrf.treebank.files.streams import read_chunks

__all__ = ["INPUTS", "OUTPUTS", "Writer", "composed", "read_input"]

INPUTS = ("conllu", "conllu=v1", "conllu=v2", "horizontal", "vertical")
OUTPUTS = (
    *("conllu", "conllu=v1", "conllu=v2"),
    *("horizontal", "horizontal=paragraphs", "vertical", "vertical=paragraphs"),
)

_NO_BREAK_SPACE = "\u00a0"  # stands for a space inside a word where spaces part words
# Other characters that Python takes for the end of a line may be in a word.
_LINE_BREAK = re.compile(r"\r?\n")
_GAP = re.compile(r"[ \t\r]+")
# Marks on one letter that are put in order, as in Unicode's stream-safe text. To sort a longer run
# takes time with the square of it, and nobody writes one.
_MOST_MARKS = 30
# Marks and whatever decomposes into them are between these.
_FIRST_MARK, _LAST_MARK = 0x300, 0x1FFFF


def read_input(data: str, format: str, *, trees: bool) -> list[Sentence]:
    """The sentences of data in one of the input formats; without `trees`, heads need not make any.

    CoNLL-U of version 1 is version 2 without spaces in words and without empty nodes.
    """
    name = _known(format, INPUTS).partition("=")[0]
    if name == "conllu":
        # A request is there as a whole: an empty line that is missing at its end is no loss.
        chunks = read_chunks(io.StringIO(data + "\n\n"))
        try:
            return list(parse_chunks(chunks, "data", columns="gold", multiroot=True, trees=trees))
        except TreebankError as error:
            where = f"line {error.line}: " if error.line else ""
            raise ServeError(400, f"the data is not CoNLL-U: {where}{error.problem}") from None
    return list(_horizontal(data) if name == "horizontal" else _vertical(data))


def _known(format: str, formats: Sequence[str]) -> str:
    if format not in formats:
        kind = "input" if formats is INPUTS else "output"
        known = ", ".join(formats) + ", and `tokenizer` for raw text" * (formats is INPUTS)
        raise ServeError(400, f"there is no {kind} format {format[:100]!r}; there are {known}")
    return format


def _horizontal(data: str) -> Iterator[Sentence]:
    for line in _LINE_BREAK.split(data):
        words = [word.replace(_NO_BREAK_SPACE, " ") for word in _GAP.split(line)]
        if sentence := _sentence([word for word in words if word.strip()]):
            yield sentence


def _vertical(data: str) -> Iterator[Sentence]:
    words: list[str] = []
    for line in [*_LINE_BREAK.split(data), ""]:
        word = line.partition("\t")[0].strip(" \r")
        if word.strip():
            words.append(word)
        elif sentence := _sentence(words):
            yield sentence
            words = []


def _sentence(words: list[str]) -> Sentence | None:
    return Sentence(words, comments=["# text = " + " ".join(words)]) if words else None


class Writer:
    """Writes the sentences of a request, one after the other, in one of the output formats."""

    def __init__(self, format: str) -> None:
        self.name, _, self.option = _known(format, OUTPUTS).partition("=")
        self._is_first = True

    def write(self, sentence: Sentence) -> str:
        """A sentence; its words alone, where the format has no columns."""
        if self.name == "conllu":
            return (_version_1(sentence) if self.option == "v1" else sentence).to_conllu()
        parted = self.option == "paragraphs" and not self._is_first and _starts_paragraph(sentence)
        self._is_first = False
        if self.name == "horizontal":
            words = " ".join(form.replace(" ", _NO_BREAK_SPACE) for form in sentence.forms)
            return "\n" * parted + words + "\n"
        return "\n" * parted + "\n".join(sentence.forms) + "\n\n"


def _starts_paragraph(sentence: Sentence) -> bool:
    return any(re.match(r"#\s*new(par|doc)\b", comment) for comment in sentence.comments)


def _version_1(sentence: Sentence) -> Sentence:
    """Convert to version 1 of CoNLL-U: no empty nodes, no spaces in words."""
    sentence = sentence.copy()
    sentence.empty_nodes.clear()
    for token in sentence.tokens:
        token.form, token.lemma = token.form.replace(" ", "_"), token.lemma.replace(" ", "_")
    for multiword in sentence.multiwords:
        multiword.form = multiword.form.replace(" ", "_")
    return sentence


def composed(text: str) -> str:
    """Text in NFC, but for letters with more than 30 marks, which stay as they are."""
    if text.isascii():
        return text
    # No character of a line composes with one of another. Short steps let other threads work.
    return "".join(map(_composed_line, text.splitlines(keepends=True)))


def _composed_line(line: str) -> str:
    if line.isascii():
        return line
    pieces: list[str] = []
    start = 0
    for run in _marks().finditer(line):
        if run.end() - run.start() > _MOST_MARKS:
            pieces += unicodedata.normalize("NFC", line[start : run.start()]), run[0]
            start = run.end()
    pieces.append(unicodedata.normalize("NFC", line[start:]))
    return "".join(pieces)


@cache
def _marks() -> re.Pattern[str]:
    """Runs of combining marks, which normalisation reorders."""
    characters = map(chr, range(_FIRST_MARK, _LAST_MARK + 1))
    marks = [c for c in characters if unicodedata.combining(unicodedata.normalize("NFD", c)[0])]
    return re.compile(f"[{''.join(marks)}]+")
