"""Partial training data: a random share of the dependencies, or of the sentences.

What is kept at one share is kept at every larger one with the same seed.
"""

import random
from collections.abc import Iterable

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.pseudoprojective import Encoding, project
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import Token

__all__ = ["keep_sentences", "mask_dependencies"]


def mask_dependencies(
    sentences: Iterable[Sentence],
    keep: float,
    *,
    seed: int = 1,
    encoding: Encoding | None = "head+path",
) -> list[Sentence]:
    """Sentences with a random share of their heads, and of the relations and DEPS of these words.

    Trees are lifted first, because a partial tree cannot be; not with `encoding` None.
    """
    _check_share(keep)
    masked = [_lifted(one, encoding) if encoding else one.copy() for one in sentences]
    drawn: list[tuple[float, int, Token]] = []
    for number, sentence in enumerate(masked):
        annotated = [token for token in sentence.tokens if token.head >= 0]
        chance = random.Random(f"{seed} {number}")
        chance.shuffle(annotated)
        # The j-th is kept from a share of (j - u) / n on, with the same random u for all n of the
        # sentence: rounding in each sentence by itself would take all heads of short ones away.
        start = chance.random()
        for place, token in enumerate(annotated, 1):
            drawn.append(((place - start) / len(annotated), number, token))
    drawn.sort(key=lambda item: item[:2])
    for _, _, token in drawn[round(keep * len(drawn)) :]:
        token.head = -1
        token.deprel = token.deps = "_"
    return masked


def _lifted(sentence: Sentence, encoding: Encoding) -> Sentence:
    try:
        return project(sentence, encoding=encoding)
    except TreebankError as error:
        if -1 not in sentence.heads:
            raise
        raise sentence.error(f"{error.problem}, or --encoding none") from None


def keep_sentences(sentences: Iterable[Sentence], keep: float, *, seed: int = 1) -> list[Sentence]:
    """A share of the sentences, chosen at random, in their order and as they are."""
    _check_share(keep)
    every = list(sentences)
    order = sorted(range(len(every)), key=lambda number: random.Random(f"{seed} {number}").random())
    return [every[number] for number in sorted(order[: round(keep * len(every))])]


def _check_share(keep: float) -> None:
    if not 0 <= keep <= 1:
        raise TreebankError(f"the share to keep is between 0 and 1, not {keep}")
