"""The formats of UDPipe's interface: sentences in, and what is written of them out."""

import io
from collections.abc import Iterator

from treecrf.serve.errors import ServeError
from treecrf.treebank import Multiword, Sentence, Token, TreebankError, read_conllu
from treecrf.treebank.tokens import joined_forms, token_range

__all__ = ["INPUTS", "OUTPUTS", "join_sentences", "read_input", "write_sentence"]

INPUTS = ("conllu", "horizontal", "vertical")
OUTPUTS = ("conllu", "horizontal", "vertical")

_NO_BREAK_SPACE = "\u00a0"  # stands for a space inside a word where spaces part words


def read_input(data: str, format: str) -> list[Sentence]:
    """The sentences of data in one of the input formats; options after `=` are of no matter."""
    name = format.partition("=")[0]
    if name == "conllu":
        try:
            return list(read_conllu(io.BytesIO(data.encode()), multiroot=True))
        except TreebankError as error:
            where = f"line {error.line}: " if error.line else ""
            raise ServeError(400, f"the data is not CoNLL-U: {where}{error.problem}") from None
    if name == "horizontal":
        return [sentence for line in data.splitlines() if (sentence := _sentence(line.split()))]
    if name == "vertical":
        return list(_vertical(data))
    raise ServeError(
        400,
        f"there is no input format {format[:100]!r}; there are {', '.join(INPUTS)}, and "
        "`tokenizer` for raw text",
    )


def _vertical(data: str) -> Iterator[Sentence]:
    words: list[str] = []
    for line in [*data.splitlines(), ""]:
        if word := line.partition("\t")[0].strip():
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
