"""Trees given to sentences, from the numbers that decoding gave; needs no torch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treecrf.parser.batching.distinct import Integers
from treecrf.parser.config import Config
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.trees import TreeNamer
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank import Sentence
from treecrf.treebank.probs import without_probs

__all__ = ["RANK", "Assigner", "TreeArrays"]

# What is said of a tree in comments.
_LOG_PROB = "# log_prob = "
RANK = "# rank = "
_CROSSING = "# decoder = mst (no projective tree has the heads that were kept)"
_OWN_COMMENTS = (_LOG_PROB, RANK, _CROSSING)


@dataclass(frozen=True, slots=True)
class TreeArrays:
    """The trees of sentences that were encoded together, root symbols among the tokens."""

    heads: Integers  # [token]
    relations: Integers  # [token]
    upos: Integers | None  # [token]
    probs: npt.NDArray[np.float64] | None  # [token], of each head
    log_probs: npt.NDArray[np.float64] | None  # [sentence], of each tree
    crossing: npt.NDArray[np.bool_] | None  # [sentence], whether no projective tree was allowed


class Assigner:
    """Gives sentences the trees that were decoded for them."""

    def __init__(self, vocabulary: Vocabulary, config: Config) -> None:
        self.namer = TreeNamer(vocabulary, config)
        self.upos = vocabulary.upos

    def assign(
        self, sentences: Sequence[Sentence], limits: Sequence[Constraints], arrays: TreeArrays
    ) -> list[Sentence]:
        """The sentences with trees; constraints say which heads and labels must stay."""
        # Whole lists at once: a slice of a list is cheaper than one of an array.
        heads, relations = arrays.heads.tolist(), arrays.relations.tolist()
        probs = None if arrays.probs is None else arrays.probs.tolist()
        tags = None if arrays.upos is None else arrays.upos.tolist()
        parsed = []
        first = 1
        for number, (sentence, limit) in enumerate(zip(sentences, limits, strict=True)):
            words = slice(first, first + len(sentence))
            first = words.stop + 1
            named_heads, deprels = self.namer.name(
                heads[words],
                relations[words],
                held={*limit.held, *limit.forbidden},  # put back, an arc might be a forbidden one
            )
            for word, label in limit.labels.items():
                deprels[word - 1] = label
            tree = sentence.with_tree(
                named_heads,
                deprels,
                probs=None if probs is None else probs[words],
                # What is said of a tree that it had before is not about this one.
                misc=without_probs(sentence),
                upos=None if tags is None else [self.upos[tag] for tag in tags[words]],
            )
            tree.comments = [
                comment for comment in tree.comments if not comment.startswith(_OWN_COMMENTS)
            ]
            if arrays.log_probs is not None:
                log_prob = round(float(arrays.log_probs[number]), 4) + 0.0  # not -0.0
                tree.comments.append(f"{_LOG_PROB}{log_prob:.4f}")
            if arrays.crossing is not None and arrays.crossing[number]:
                tree.comments.append(_CROSSING)
            parsed.append(tree)
        return parsed
