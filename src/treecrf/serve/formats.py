"""The formats of UDPipe's interface: sentences in, and what is written of them out."""

import io
import re
from collections.abc import Iterator

from treecrf.serve.errors import ServeError
from treecrf.treebank import Multiword, Sentence, Token, TreebankError
from treecrf.treebank.conllu import parse_chunks
from treecrf.treebank.files import read_chunks
from treecrf.treebank.tokens import joined_forms, token_range

__all__ = ["INPUTS", "OUTPUTS", "join_sentences", "read_input", "write_sentence"]

INPUTS = ("conllu", "horizontal", "vertical")
OUTPUTS = ("conllu", "horizontal", "vertical")

_NO_BREAK_SPACE = "\u00a0"  # stands for a space inside a word where spaces part words
# Other characters that Python takes for the end of a line may be in a word.
_LINE_BREAK = re.compile(r"\r?\n")
_GAP = re.compile(r"[ \t\r]+")


def read_input(data: str, format: str, *, trees: bool) -> list[Sentence]:
    """The sentences of data in one of the input formats; options after `=` are of no matter.

    Without `trees`, heads that make none are no error: for who gives the words others.
    """
    name = format.partition("=")[0]
    if name == "conllu":
        # A request is there as a whole: an empty line that is missing at its end is no loss.
        chunks = read_chunks(io.StringIO(data + "\n\n"))
        try:
            return list(parse_chunks(chunks, "data", columns="gold", multiroot=True, trees=trees))
        except TreebankError as error:
            where = f"line {error.line}: " if error.line else ""
            raise ServeError(400, f"the data is not CoNLL-U: {where}{error.problem}") from None
    if name == "horizontal":
        return list(_horizontal(data))
    if name == "vertical":
        return list(_vertical(data))
    raise ServeError(
        400,
        f"there is no input format {format[:100]!r}; there are {', '.join(INPUTS)}, and "
        "`tokenizer` for raw text",
    )


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


def write_sentence(sentence: Sentence, format: str) -> str:
    """A sentence in one of the output formats; the words, where it is one without columns."""
    match format.partition("=")[0]:
        case "conllu":
            return sentence.to_conllu()
        case "horizontal":
            return " ".join(form.replace(" ", _NO_BREAK_SPACE) for form in sentence.forms) + "\n"
        case "vertical":
            return "\n".join(sentence.forms) + "\n\n"
    raise ServeError(
        400, f"there is no output format {format[:100]!r}; there are {', '.join(OUTPUTS)}"
    )


def join_sentences(sentences: list[Sentence], *, start: int = 0) -> Sentence:
    """One sentence of those that a line was cut into; the line starts there in the text."""
    tokens: list[Token] = []
    multiwords: list[Multiword] = []
    for sentence in sentences:
        before = len(tokens)
        for token in sentence.tokens:
            token.id += before
            token.misc = _moved(token.misc, start)
        for multiword in sentence.multiwords:
            multiword.first += before
            multiword.last += before
            multiword.misc = _moved(multiword.misc, start)
        tokens += sentence.tokens
        multiwords += sentence.multiwords
    comments = [c for c in sentences[0].comments if not c.startswith("# text")]
    comments.append("# text = " + joined_forms(tokens, multiwords))
    return Sentence.from_tokens(tokens, multiwords=multiwords, comments=comments)


def _moved(misc: str, start: int) -> str:
    if (place := token_range(misc)) is None:
        return misc
    first, last = place
    return misc.replace(f"TokenRange={first}:{last}", f"TokenRange={first + start}:{last + start}")
