"""Checks of requests: their sizes, their constraints, and the pages that they come from."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from treecrf.parser.constraints import Constraints
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.parse.schemas import encodable
from treecrf.treebank import Sentence
from treecrf.treebank.trees import find_cycle

__all__ = [
    "Given",
    "check_cell",
    "check_lengths",
    "check_page",
    "check_size",
    "checked_constraints",
    "checked_sentences",
    "is_foreign",
]

Value = TypeVar("Value")
Given = Sequence[Mapping[int, Value | None] | None]

# What cannot stand in a cell of CoNLL-U, and what would be taken for the end of a line elsewhere.
_UNFIT = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def check_size(words: int, most: int | None) -> None:
    """Refuse a request with too many words."""
    if most is not None and words > most:
        problem = f"this is about {words:,} words, and a request may have {most:,}"
        raise ServeError(413, f"{problem}; send it in pieces")


def check_lengths(sentences: Iterable[Sentence], limits: Limits, *, first: int = 1) -> None:
    """Refuse words and sentences that are too long; sentences are numbered from `first`."""
    for number, sentence in enumerate(sentences, first):
        _check_words(sentence.forms, number, limits)
        if len(sentence) > limits.sentence_words:
            words, most = f"{len(sentence):,} words", f"{limits.sentence_words:,}"
            problem = f"sentence {number} has {words}, and one may have {most}"
            raise ServeError(413, f"{problem}; split it")


def _check_words(words: Sequence[str], sentence: int, limits: Limits) -> None:
    longest = max(map(len, words), default=0)
    if longest > limits.word_characters:
        place = next(place for place, word in enumerate(words, 1) if len(word) == longest)
        where, most = f"word {place} of sentence {sentence}", f"{limits.word_characters:,}"
        problem = f"{where} has {longest:,} characters, and one may have {most}"
        raise ServeError(413, f"{problem}; shorten it")


def check_cell(text: str, what: str, *, kind: str) -> None:
    """Refuse text that cannot stand in a cell of CoNLL-U; `what` and `kind` are for the error."""
    if not text.strip() or _UNFIT.search(text):
        rule = f"a {kind} has no tabs, line breaks or control characters, and is not empty"
        raise ServeError(422, f"{what} is {text[:40]!r}: {rule}")


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
            check_cell(word, f"word {place} of sentence {number}", kind="word")
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
    given = zip(all_heads, all_relations, strict=True)
    checked = [Constraints(heads=heads, relations=relations) for heads, relations in given]
    for number, (sentence, constraints) in enumerate(zip(sentences, checked, strict=True), 1):
        where = f"sentence {number}: "
        constraints.check(sentence, where=f"sentence {number}")
        if problem := _no_tree(constraints.heads, len(sentence), multiroot=multiroot):
            raise ServeError(422, f"{where}{problem}; free one of them")
        for word, relation in constraints.relations.items():
            if not 1 <= word <= len(sentence):
                problem = f"a label for word {word}, but there are {len(sentence)} words"
                raise ServeError(422, where + problem)
            check_cell(relation, f"{where}the label of word {word}", kind="label")
    return checked


def _one_each(name: str, given: Given[Value] | None, count: int) -> list[dict[int, Value]]:
    """The constraints of each sentence, without those that are null."""
    items = [None] * count if given is None else given
    if len(items) != count:
        problem = f"`{name}` has {len(items)} items for {count} sentences; give one for each"
        raise ServeError(422, problem)
    return [{k: value for k, value in (item or {}).items() if value is not None} for item in items]


def _no_tree(heads: Mapping[int, int], words: int, *, multiroot: bool) -> str:
    """Name the heads that no tree can have together; empty if a tree can have them."""
    roots = [word for word, head in heads.items() if head == 0]
    if len(roots) > 1 and not multiroot:
        return (
            f"words {roots[0]} and {roots[1]} are both to be the root, and this model knows one "
            "root only"
        )
    cycle = find_cycle([heads.get(word, -1) for word in range(words + 1)])
    path = " -> ".join(map(str, [*cycle, *cycle[:1]]))
    return f"the heads run in a circle ({path})" if cycle else ""


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Whether a browser sends this for a page of another site; other clients do not say."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is None and origin is not None:
        # The scheme is left out: a proxy may have changed it.
        own = headers.get("host", "")
        site = "same-origin" if origin.partition("://")[2] == own else "cross-site"
    return site not in (None, "same-origin", "none")


def check_page(headers: Mapping[str, str], allowed: Collection[str]) -> dict[str, str]:
    """Headers that let a page of an allowed origin read the answer; raises for other pages."""
    origin = headers.get("origin", "")
    if "*" in allowed:
        return {"Access-Control-Allow-Origin": "*"}
    if origin and origin.lower() in allowed:
        return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
    if is_foreign(headers):
        problem = f"pages of {origin[:100] or 'another site'} may not use this service"
        raise ServeError(403, f"{problem}; start it with --allow-origin to let them")
    return {}
