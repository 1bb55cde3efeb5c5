"""Partial training data as in the paper: a share of each sentence's dependencies, or of sentences.

What is kept at one share is kept at every larger one with the same seed.
"""

import random
from collections.abc import Iterable, Iterator

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.pseudoprojective import Encoding, project
from treecrf.treebank.sentence import Sentence

__all__ = ["keep_sentences", "mask_dependencies"]


def mask_dependencies(
    sentences: Iterable[Sentence],
    keep: float,
    *,
    seed: int = 1,
    encoding: Encoding | None = "head+path",
) -> Iterator[Sentence]:
    """Sentences in which the same share of the annotated dependencies is left, chosen at random.

    A head and its label go together, and what the enhanced graph says of the word with them. Trees
    are lifted first, because a partial tree cannot be: with `encoding` None they are not.
    """
    _check_share(keep)
    for number, sentence in enumerate(sentences):
        masked = _lifted(sentence, encoding) if encoding else sentence.copy()
        annotated = [token for token in masked.tokens if token.head >= 0]
        random.Random(f"{seed} {number}").shuffle(annotated)
        for token in annotated[round(keep * len(annotated)) :]:
            token.head = -1
            token.deprel = token.deps = "_"
        yield masked


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
