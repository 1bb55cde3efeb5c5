"""Token boundaries that a person corrects: tokens split, joined, or made of several words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from treecrf.treebank import Sentence
from treecrf.treebank.tokens import Multiword, Token, surfaces

__all__ = ["BoundaryError", "WrittenToken", "spans", "text_of", "tokens_of", "with_tokens"]

_NO_SPACE = "SpaceAfter=No"


class BoundaryError(ValueError):
    """Tokens that are not those of the text; the message says which and what to do."""


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """A token of the text, and the words that a multiword token stands for; named as in JSON."""

    form: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Placed:
    """A token of a sentence, its words, and where it is in the text that the tokens make."""

    token: Token | Multiword
    words: list[Token]
    start: int
    end: int
    has_space: bool


def _placed(sentence: Sentence) -> Iterator[_Placed]:
    start = 0
    for token in surfaces(sentence.tokens, sentence.multiwords):
        words = [token] if isinstance(token, Token) else _words(sentence, token)
        end = start + len(token.form)
        has_space = _NO_SPACE not in token.misc.split("|")
        yield _Placed(token, words, start, end, has_space)
        start = end + has_space


def _words(sentence: Sentence, token: Multiword) -> list[Token]:
    return sentence.tokens[token.first - 1 : token.last]


def tokens_of(sentence: Sentence) -> tuple[WrittenToken, ...]:
    """The tokens of a sentence as they are written."""
    return tuple(_written(placed) for placed in _placed(sentence))


def text_of(sentence: Sentence) -> str:
    """The text that the tokens of a sentence make, with the spaces that stand between them."""
    return "".join(each.token.form + " " * each.has_space for each in _placed(sentence))


def _written(placed: _Placed) -> WrittenToken:
    is_multiword = isinstance(placed.token, Multiword)
    words = tuple(word.form for word in placed.words) if is_multiword else ()
    return WrittenToken(placed.token.form, words)


def spans(sentence: Sentence) -> list[tuple[int, int, int]]:
    """Start and end of the token of each word in the text, and the word's number in its token.

    Words of two segmentations of one text are the same if their spans are.
    """
    return [
        (placed.start, placed.end, number)
        for placed in _placed(sentence)
        for number, _ in enumerate(placed.words)
    ]


def with_tokens(sentence: Sentence, tokens: Sequence[WrittenToken]) -> Sentence:
    """The sentence cut into other tokens of the same text, without a tree.

    Tokens that stay as they were keep their lemma, tags, features and MISC. Empty nodes go: they
    stand between words that may be gone.
    """
    before = list(_placed(sentence))
    same = {(each.start, each.end): each for each in before}
    text = text_of(sentence)
    words: list[Token] = []
    multiwords: list[Multiword] = []
    start = 0
    for number, token in enumerate(tokens, 1):
        _check(token, number, text, start)
        end = start + len(token.form)
        has_space = text.startswith(" ", end)
        old = same.get((start, end))
        if old is None or _written(old) != token:
            old = _made(token, has_space=has_space)
        first = len(words) + 1
        words += [replace(word, id=id) for id, word in enumerate(old.words, first)]
        if isinstance(old.token, Multiword):
            multiwords.append(replace(old.token, first=first, last=len(words)))
        start = end + has_space
    if start < len(text):
        raise BoundaryError(f"the tokens end before {_shown(text[start:])}; give those of all text")
    for word in words:
        word.head, word.deprel, word.deps = -1, "_", "_"
    return Sentence.from_tokens(words, multiwords=multiwords, comments=sentence.comments)


def _check(token: WrittenToken, number: int, text: str, start: int) -> None:
    if not token.form.strip() or token.form != token.form.strip():
        raise BoundaryError(f"token {number} is {token.form!r}; a token starts and ends with text")
    if not text.startswith(token.form, start):
        rest = _shown(text[start:])
        problem = f"token {number} is {_shown(token.form)}, but the text goes on with {rest}"
        raise BoundaryError(f"{problem}; tokens can be split and joined, not written differently")
    if len(token.words) == 1:
        raise BoundaryError(f"token {number} has one word; give several, or none for a plain token")


def _made(token: WrittenToken, *, has_space: bool) -> _Placed:
    misc = "_" if has_space else _NO_SPACE
    if not token.words:
        word = Token(1, token.form, misc=misc)
        return _Placed(word, [word], 0, 0, has_space)
    words = [Token(id, form) for id, form in enumerate(token.words, 1)]
    multiword = Multiword(1, len(words), token.form, misc=misc)
    return _Placed(multiword, words, 0, 0, has_space)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
