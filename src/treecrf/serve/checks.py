"""Checks of requests against the limits of the service, and of constraints against sentences."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from treecrf.parser.constraints import Constraints
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.parse.schemas import encodable
from treecrf.treebank import Sentence

__all__ = ["Given", "check_lengths", "check_size", "checked_constraints", "checked_sentences"]

Value = TypeVar("Value")
Given = Sequence[Mapping[int, Value | None] | None]

# What cannot stand in a cell of CoNLL-U, and what would be taken for the end of a line elsewhere.
_UNFIT = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def check_size(words: int, most: int | None) -> None:
    """Refuse a request of more words than that."""
    if most is not None and words > most:
        raise ServeError(
            413,
            f"this is about {words:,} words, and a request may have {most:,}; send it in pieces",
        )


def check_lengths(sentences: Iterable[Sentence], limits: Limits, *, first: int = 1) -> None:
    """Refuse words and sentences that are too long; sentences are numbered from `first`."""
    for number, sentence in enumerate(sentences, first):
        _check_words(sentence.forms, number, limits)
        if len(sentence) > limits.sentence_words:
            raise ServeError(
                413,
                f"sentence {number} has {len(sentence):,} words, and one may have "
                f"{limits.sentence_words:,}; split it",
            )


def _check_words(words: Sequence[str], sentence: int, limits: Limits) -> None:
    longest = max(map(len, words), default=0)
    if longest > limits.word_characters:
        place = next(place for place, word in enumerate(words, 1) if len(word) == longest)
        raise ServeError(
            413,
            f"word {place} of sentence {sentence} has {longest:,} characters, and one may have "
            f"{limits.word_characters:,}; shorten it",
        )


def _check_cell(text: str, what: str, *, kind: str) -> None:
    """Refuse a word or a relation that cannot stand in a cell of CoNLL-U."""
    if not text.strip() or _UNFIT.search(text):
        raise ServeError(
            422,
            f"{what} is {text[:40]!r}: a {kind} has no tabs, line breaks or control characters, "
            "and is not empty",
        )


def checked_sentences(tokens: Sequence[Sequence[str]], limits: Limits) -> list[Sentence]:
    """The sentences of a request that has words; an error names the word that cannot be one."""
    sentences = []
    for number, words in enumerate(tokens, 1):
        if not words:
            raise ServeError(422, f"sentence {number} has no words; leave it out")
        _check_words(words, number, limits)  # their lengths first: all else looks at characters
        for place, word in enumerate(words, 1):
            try:
                encodable(word)
            except ValueError as error:
                raise ServeError(422, f"tokens.{number - 1}.{place - 1}: {error}") from None
            _check_cell(word, f"word {place} of sentence {number}", kind="word")
        sentences.append(Sentence(words, comments=["# text = " + " ".join(words)]))
    return sentences


def checked_constraints(
    sentences: Sequence[Sentence],
    heads: Given[int] | None,
    relations: Given[str] | None,
    *,
    multiroot: bool,
) -> list[Constraints]:
    """The constraints of each sentence, from the fields `constraints` and `labels`."""
    all_heads = _one_each("constraints", heads, len(sentences))
    all_relations = _one_each("labels", relations, len(sentences))
    checked = []
    for number, sentence in enumerate(sentences, 1):
        where = f"sentence {number}"
        constraints = Constraints(heads=all_heads[number - 1], relations=all_relations[number - 1])
        constraints.check(sentence, where=where)
        _check_tree(constraints.heads, where, multiroot=multiroot)
        for word, relation in constraints.relations.items():
            if not 1 <= word <= len(sentence):
                raise ServeError(
                    422, f"{where}: a label for word {word}, but there are {len(sentence)} words"
                )
            _check_cell(relation, f"{where}: the label of word {word}", kind="label")
        checked.append(constraints)
    return checked


def _one_each(name: str, given: Given[Value] | None, count: int) -> list[dict[int, Value]]:
    """The constraints of each sentence, without those that are null."""
    if given is None:
        return [{} for _ in range(count)]
    if len(given) != count:
        raise ServeError(
            422, f"`{name}` has {len(given)} items for {count} sentences; give one for each"
        )
    return [
        {word: value for word, value in (items or {}).items() if value is not None}
        for items in given
    ]


def _check_tree(heads: Mapping[int, int], where: str, *, multiroot: bool) -> None:
    """Refuse heads that no tree can have together, and say which of them are in the way."""
    roots = [word for word, head in heads.items() if head == 0]
    if len(roots) > 1 and not multiroot:
        raise ServeError(
            422,
            f"{where}: words {roots[0]} and {roots[1]} are both to be the root, and this model "
            "knows one root only; free one of them",
        )
    checked: set[int] = set()
    for start in heads:
        path: list[int] = []
        word = start
        while word in heads and word not in checked:
            checked.add(word)
            path.append(word)
            word = heads[word]
        if word in path:
            circle = " -> ".join(map(str, [*path[path.index(word) :], word]))
            raise ServeError(
                422, f"{where}: the heads run in a circle ({circle}); free one of them"
            )
