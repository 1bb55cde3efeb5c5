"""Sentences with the trees that were decoded for them; needs no torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt

from treecrf.parser.batching.words import SentenceTable
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.names import TreeNames
from treecrf.parser.decoding.trees import Trees
from treecrf.treebank import Sentence
from treecrf.treebank.probs import without_probs

__all__ = ["OWN_COMMENTS", "RANK", "Analysis", "TreeNamer", "tree_comments"]

# Comments about a tree.
_LOG_PROB = "# log_prob = "
RANK = "# rank = "
_CROSSING = "# decoder = mst (no projective tree has the heads that were kept)"
OWN_COMMENTS = (_LOG_PROB, RANK, _CROSSING)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A sentence with its tree, and what the model knows of it, as far as that was asked for."""

    sentence: Sentence
    log_prob: float = nan
    """Of the tree; -inf where it crosses and the distribution has no such trees."""
    entropy: float = nan
    """Of the distribution over trees, in nats; NaN of long sentences."""
    marginals: npt.NDArray[np.float32] | None = None
    """The probability of each arc, `[dependent, head]` with the root symbol at 0."""
    relations: Sequence[str] = ()
    """The names of all relations."""
    relation_probs: npt.NDArray[np.float32] | None = None
    """The probability of each of them, given the head that a word has: `[word, relation]`."""
    best: Sequence[tuple[Sentence, float]] = ()
    """The k best trees with their log-probabilities, best first."""


def tree_comments(trees: Trees) -> list[list[str]]:
    """The comments about each tree."""
    comments: list[list[str]] = [[] for _ in range(len(trees))]
    if trees.log_probs is not None:
        for own, log_prob in zip(comments, trees.log_probs.tolist(), strict=True):
            own.append(f"{_LOG_PROB}{round(log_prob, 4) + 0.0:.4f}")  # not -0.0
    if trees.crossing is not None:
        for row in np.flatnonzero(trees.crossing):
            comments[row].append(_CROSSING)
    return comments


class TreeNamer(TreeNames):
    """Gives sentences their trees."""

    def with_trees(
        self, sentences: Sequence[Sentence], constraints: Sequence[Constraints], trees: Trees
    ) -> list[Sentence]:
        """The sentences with these trees; heads and relations under constraints stay."""
        named = self.named(SentenceTable(sentences), constraints, trees)
        # Whole lists at once: a slice of a list is cheaper than one of an array.
        heads = named.heads.tolist()
        probs = {name: values.tolist() for name, values in named.probs.items()}
        columns = {
            name: np.array(names, object).take(numbers).tolist()
            for name, (names, numbers) in named.columns.items()
        }
        deprels = columns.pop("deprel")
        parsed = []
        start = 0
        for sentence, comments in zip(sentences, tree_comments(trees), strict=True):
            words = slice(start, start + len(sentence))
            start = words.stop
            cells = {name: column[words] for name, column in columns.items()}
            if (misc := without_probs(sentence)) is not None:  # those of a tree that it had before
                cells["misc"] = misc
            tree = sentence.with_tree(heads[words], deprels[words], columns=cells)
            for name, values in probs.items():
                setattr(tree, name, values[words])
            kept = [comment for comment in tree.comments if not comment.startswith(OWN_COMMENTS)]
            tree.comments = kept + comments
            parsed.append(tree)
        return parsed

    def _by_name(self, probs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Probabilities `[word, relation]` of the `distinct` names, from those of marked ones too.

        Of several with one name, the most probable counts: it is the one that is chosen.
        """
        named = np.zeros((len(self.distinct), len(probs)), np.float32)
        np.maximum.at(named, self._distinct_numbers, probs.T)
        return named.T

    def ranked(
        self, sentence: Sentence, constraints: Constraints, trees: Trees
    ) -> list[tuple[Sentence, float]]:
        """A sentence with each of its best trees, and their log-probabilities."""
        assert trees.log_probs is not None
        count = len(trees)
        named = self.with_trees([sentence] * count, [constraints] * count, trees)
        return list(zip(named, trees.log_probs.tolist(), strict=True))

    def analyses(
        self, sentences: Sequence[Sentence], constraints: Sequence[Constraints], trees: Trees
    ) -> list[Analysis]:
        """The sentences with their trees, which were decoded with details."""
        found = []
        for number, sentence in enumerate(self.with_trees(sentences, constraints, trees)):
            assert trees.log_probs is not None
            assert trees.entropies is not None
            assert trees.marginals is not None
            assert trees.relation_marginals is not None
            best = None if trees.best is None else trees.best[number]
            found.append(
                Analysis(
                    sentence,
                    log_prob=float(trees.log_probs[number]),
                    entropy=float(trees.entropies[number]),
                    marginals=trees.marginals[number],
                    relations=self.distinct,
                    relation_probs=self._by_name(trees.relation_marginals[number][1:]),
                    best=()
                    if best is None
                    else self.ranked(sentences[number], constraints[number], best),
                )
            )
        return found
