"""The answers to every question about a batch of short sentences, by listing all their trees.

Everything is plain float64 torch, so autograd gives the expected gradients too.
"""

from functools import cache, cached_property

import torch
from torch import Tensor

from tests.enumeration import adjacent_sibling, all_trees
from tests.struct.problems import HIGHER, NEGATIVE_INFINITY, Problem


@cache
def _listed(words: int, projective: bool, multiroot: bool) -> tuple[Tensor, Tensor]:
    """Heads and adjacent siblings (0 for none), both `[tree, token]`, of every tree."""
    trees = all_trees(words, projective=projective, multiroot=multiroot)
    siblings = [[0, *(adjacent_sibling(heads, m) for m in range(1, words + 1))] for heads in trees]
    return torch.tensor(trees), torch.tensor(siblings)


class Trees:
    """The trees of one sentence that are allowed and have a finite score; `listed` are all."""

    def __init__(self, problem: Problem, sentence: int) -> None:
        self.words = int(problem.lengths[sentence])
        self.tokens = problem.arc_scores.shape[1]
        self._parts = [part[sentence].cpu().double() for part in problem.scores]
        self._kinds = HIGHER.get(problem.family, [])
        self._allowed = problem.usable_arcs[sentence]
        projective = problem.family != "nonprojective"
        self.listed, siblings = _listed(self.words, projective, problem.multiroot)
        exists = self.scores_of(self.listed, siblings) > NEGATIVE_INFINITY
        self.heads, self.siblings = self.listed[exists], siblings[exists]  # [tree, token]
        self.scores = self.scores_of(self.heads, self.siblings)  # [tree]

    def scores_of(self, heads: Tensor, siblings: Tensor) -> Tensor:
        """Scores of trees, -inf for one that is not allowed."""
        dependent = torch.arange(1, self.words + 1)
        grandparents = heads.gather(1, heads)[:, 1:]
        heads, siblings = heads[:, 1:], siblings[:, 1:]
        scores = self._parts[0][dependent, heads].sum(1)
        for kind, part in zip(self._kinds, self._parts[1:], strict=True):
            others = siblings if kind == "sibling" else grandparents
            counted = siblings > 0 if kind == "sibling" else heads > 0
            scores = scores + torch.where(counted, part[dependent, heads, others], 0).sum(1)
        allowed = self._allowed[dependent, heads].all(1)
        return torch.where(allowed, scores, NEGATIVE_INFINITY)

    @cached_property
    def log_partition(self) -> Tensor:
        return self.scores.logsumexp(0)

    @cached_property
    def log_probs(self) -> Tensor:
        return self.scores.log_softmax(0)

    @cached_property
    def marginals(self) -> Tensor:
        """`[dependent, head]`"""
        uses = torch.zeros(len(self.heads), self.tokens, self.tokens, dtype=torch.float64)
        dependent = torch.arange(1, self.words + 1)
        uses[torch.arange(len(self.heads))[:, None], dependent, self.heads[:, 1:]] = 1
        return torch.einsum("t,tmh->mh", self.log_probs.exp(), uses)

    @cached_property
    def sibling_marginals(self) -> Tensor:
        """`[dependent, head, sibling]`"""
        uses = torch.zeros(len(self.heads), *[self.tokens] * 3, dtype=torch.float64)
        tree, dependent = self.siblings.nonzero(as_tuple=True)
        head, sibling = self.heads[tree, dependent], self.siblings[tree, dependent]
        uses[tree, dependent, head, sibling] = 1
        return torch.einsum("t,tmhs->mhs", self.log_probs.exp(), uses)

    @cached_property
    def grandparent_marginals(self) -> Tensor:
        """`[dependent, head, grandparent]`"""
        uses = torch.zeros(len(self.heads), *[self.tokens] * 3, dtype=torch.float64)
        tree, dependent = self.heads.nonzero(as_tuple=True)
        head = self.heads[tree, dependent]
        uses[tree, dependent, head, self.heads[tree, head]] = 1
        return torch.einsum("t,tmhg->mhg", self.log_probs.exp(), uses)

    @cached_property
    def gains(self) -> Tensor:
        """The summed marginals `[tree]` of each tree's arcs."""
        dependent = torch.arange(1, self.words + 1)
        return self.marginals.detach()[dependent, self.heads[:, 1:]].sum(1)

    def index(self, heads: Tensor) -> int:
        """Where a head sequence stands in the list; it must be there, padded with 0."""
        return int(self.indices(heads[None]))

    def indices(self, heads: Tensor) -> Tensor:
        """Where head sequences `[row, token]` stand in the list, each of them being there."""
        heads = heads.cpu()
        assert not heads[:, self.words + 1 :].any(), f"padding is not 0: {heads.tolist()}"
        wanted = self._numbers(heads[:, : self.words + 1])
        listed = self._numbers(self.heads)
        found = torch.searchsorted(listed, wanted)
        strange = heads[listed[found.clamp(max=len(listed) - 1)] != wanted]
        assert not len(strange), f"{strange.tolist()} are not among the trees"
        return found

    def _numbers(self, heads: Tensor) -> Tensor:
        """Head sequences as numbers `[row]`, the heads being their digits, in the list's order."""
        assert ((heads >= 0) & (heads <= self.words)).all(), f"not heads: {heads.tolist()}"
        return heads @ (self.words + 1) ** torch.arange(self.words, -1, -1)

    def cross_entropy(self, other: "Trees") -> Tensor:
        if not len(self.heads):
            return torch.zeros((), dtype=torch.float64)
        scores = other.scores_of(self.heads, self.siblings)
        if (scores == NEGATIVE_INFINITY).any():
            return torch.tensor(float("inf"), dtype=torch.float64)
        return -(self.log_probs.exp() * (scores - other.log_partition)).sum()

    def log_prob(self, heads: Tensor) -> Tensor:
        """The log-probability of every tree that agrees with the heads that are not -1."""
        heads = heads[1 : self.words + 1].cpu()
        compatible = ((heads == -1) | (self.heads[:, 1:] == heads)).all(1)
        return self.log_probs[compatible].logsumexp(0)


class Expected:
    """The answers for a batch, `[batch, ...]` as the distributions give them."""

    def __init__(self, problem: Problem) -> None:
        self.sentences = [Trees(problem, sentence) for sentence in range(len(problem.lengths))]
        self._tokens = problem.arc_scores.shape[1]

    @property
    def log_partition(self) -> Tensor:
        return self._stack([trees.log_partition for trees in self.sentences])

    @property
    def marginals(self) -> Tensor:
        return self._stack(
            [trees.marginals for trees in self.sentences], self._tokens, self._tokens
        )

    @property
    def sibling_marginals(self) -> Tensor:
        shape = [self._tokens] * 3
        return self._stack([trees.sibling_marginals for trees in self.sentences], *shape)

    @property
    def grandparent_marginals(self) -> Tensor:
        shape = [self._tokens] * 3
        return self._stack([trees.grandparent_marginals for trees in self.sentences], *shape)

    @property
    def max(self) -> Tensor:
        lowest = torch.tensor([NEGATIVE_INFINITY], dtype=torch.float64)
        return self._stack([torch.cat([trees.scores, lowest]).max() for trees in self.sentences])

    @property
    def entropy(self) -> Tensor:
        return self.cross_entropy(self)

    def cross_entropy(self, other: "Expected") -> Tensor:
        pairs = zip(self.sentences, other.sentences, strict=True)
        return self._stack([trees.cross_entropy(others) for trees, others in pairs])

    def kl(self, other: "Expected") -> Tensor:
        return self.cross_entropy(other) - self.entropy

    def log_prob(self, heads: Tensor) -> Tensor:
        pairs = zip(self.sentences, heads, strict=True)
        return self._stack([trees.log_prob(row) for trees, row in pairs])

    def topk(self, k: int) -> Tensor:
        """Scores `[batch, k]` of the k best trees, -inf past the last."""
        missing = torch.full((k,), NEGATIVE_INFINITY, dtype=torch.float64)
        return self._stack(
            [torch.cat([trees.scores, missing]).topk(k).values for trees in self.sentences], k
        )

    def _stack(self, values: list[Tensor], *shape: int) -> Tensor:
        return torch.stack(values) if values else torch.zeros(0, *shape, dtype=torch.float64)
