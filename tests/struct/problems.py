"""Random batches of sentences for the distributions, with junk in every cell that no tree uses."""

from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from treecrf.struct import (
    GrandparentTreeCRF,
    GrandSiblingTreeCRF,
    NonProjectiveTreeCRF,
    ProjectiveTreeCRF,
    SiblingTreeCRF,
)

FAMILIES = ["first_order", "second_order", "grandparent", "grandsibling", "nonprojective"]
HIGHER = {
    "second_order": ["sibling"],
    "grandparent": ["grandparent"],
    "grandsibling": ["sibling", "grandparent"],
}
"""What a family scores beside arcs, in the order of its arguments."""
BACKENDS = ["torch", "numba", "triton"]
QUICK_BACKENDS = ["torch", "numba", pytest.param("triton", marks=pytest.mark.slow)]
"""All of them; Triton, whose interpreter takes its time, where `make test-all` is asked for."""
NEGATIVE_INFINITY = float("-inf")
LONGEST = 6  # words of the longest sentence whose trees are few enough to list

KINDS = {
    "first_order": ProjectiveTreeCRF,
    "second_order": SiblingTreeCRF,
    "grandparent": GrandparentTreeCRF,
    "grandsibling": GrandSiblingTreeCRF,
    "nonprojective": NonProjectiveTreeCRF,
}
Distribution = (
    ProjectiveTreeCRF
    | SiblingTreeCRF
    | GrandparentTreeCRF
    | GrandSiblingTreeCRF
    | NonProjectiveTreeCRF
)


def device_of(backend: str) -> str:
    """Where a backend is tested: Triton in its interpreter when there is no GPU."""
    return "cuda" if backend == "triton" and torch.cuda.is_available() else "cpu"


@dataclass(frozen=True)
class Problem:
    """The arguments of a distribution."""

    family: str
    arc_scores: Tensor  # [batch, dependent, head]
    sibling_scores: Tensor | None  # [batch, dependent, head, sibling]
    lengths: Tensor  # [batch]
    multiroot: bool
    allowed: Tensor | None  # [batch, dependent, head]
    grandparent_scores: Tensor | None = None  # [batch, dependent, head, grandparent]

    def distribution(self, *, validate: bool = True) -> Distribution:
        others = self.lengths, self.multiroot, self.allowed
        return KINDS[self.family](*self.scores, *others, validate=validate)

    @property
    def scores(self) -> tuple[Tensor, ...]:
        """The score tensors of the family."""
        parts = (self.arc_scores, self.sibling_scores, self.grandparent_scores)
        return tuple(part for part in parts if part is not None)

    @property
    def named_scores(self) -> dict[str, Tensor]:
        """The score tensors by the names of the arguments of `tree_score`."""
        names = ["arc", *HIGHER.get(self.family, [])]
        return {f"{name}_scores": part for name, part in zip(names, self.scores, strict=True)}

    def with_scores(self, *scores: Tensor) -> "Problem":
        return replace(self, **dict(zip(self.named_scores, scores, strict=True)))

    def with_gradients(self) -> "Problem":
        """The same scores as leaves that want a gradient."""
        return self.with_scores(*(part.detach().clone().requires_grad_() for part in self.scores))

    def to(self, target: str | torch.dtype) -> "Problem":
        """The same problem on a device or with scores of a type."""
        moved = self.with_scores(*(part.to(target) for part in self.scores))
        if isinstance(target, torch.dtype):
            return moved
        allowed = None if self.allowed is None else self.allowed.to(target)
        return replace(moved, lengths=self.lengths.to(target), allowed=allowed)

    @property
    def usable_arcs(self) -> Tensor:
        """The arcs `[batch, dependent, head]` between tokens of the sentence that are allowed."""
        batch, tokens, _ = self.arc_scores.shape
        usable = torch.zeros(batch, tokens, tokens, dtype=torch.bool)
        for sentence, words in enumerate(self.lengths.tolist()):
            usable[sentence, 1 : words + 1, : words + 1] = True
        usable &= ~torch.eye(tokens, dtype=torch.bool)
        return usable if self.allowed is None else usable & self.allowed.cpu()

    @property
    def usable_siblings(self) -> Tensor:
        """The cells `[batch, dependent, head, sibling]` in order whose arcs are usable."""
        arcs = self.usable_arcs
        token = torch.arange(arcs.shape[1])
        dependent, head, sibling = torch.meshgrid(token, token, token, indexing="ij")
        between = (sibling - head) * (dependent - sibling) > 0
        if not self.multiroot:
            between &= head > 0
        return between & arcs[:, :, :, None] & arcs.mT[:, None]

    @property
    def usable_grandparents(self) -> Tensor:
        """The cells `[batch, dependent, head, grandparent]` in order whose arcs are usable."""
        arcs = self.usable_arcs
        token = torch.arange(arcs.shape[1])
        dependent, head, grandparent = torch.meshgrid(token, token, token, indexing="ij")
        outside = (grandparent - head) * (grandparent - dependent) > 0
        return outside & arcs[:, :, :, None] & arcs[:, None]

    @property
    def unusable(self) -> tuple[Tensor, ...]:
        """For each score tensor, the cells that no tree uses."""
        usable = {"sibling": self.usable_siblings, "grandparent": self.usable_grandparents}
        higher = (~usable[kind] for kind in HIGHER.get(self.family, []))
        return (~self.usable_arcs, *higher)

    def with_junk(self, junk: float) -> "Problem":
        """The same distribution, with this number in every cell that no tree uses."""
        parts = zip(self.scores, self.unusable, strict=True)
        return self.with_scores(
            *(torch.where(unused.to(part.device), junk, part) for part, unused in parts)
        )


def random_problem(
    family: str,
    lengths: list[int],
    *,
    seed: int = 0,
    multiroot: bool = False,
    magnitude: float = 2.0,
    forbidden: float = 0.0,
    masked: float = 0.0,
    padding: int = 0,
    junk: float = float("nan"),
    dtype: torch.dtype = torch.float64,
) -> Problem:
    """A batch with scores drawn from -magnitude to magnitude.

    `forbidden` is the fraction of arcs that are not allowed, `masked` the fraction of scores of
    arcs and siblings that are -inf, `padding` the columns beyond the longest sentence.
    """
    generator = torch.Generator().manual_seed(seed)
    batch, tokens = len(lengths), max(lengths, default=0) + 1 + padding

    def draw(*shape: int) -> Tensor:
        scores = torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1
        scores = (scores * magnitude).to(dtype)
        lost = torch.rand(shape, generator=generator) < masked
        return scores.masked_fill(lost, NEGATIVE_INFINITY)

    arc_scores = draw(batch, tokens, tokens)
    higher = {
        f"{kind}_scores": draw(batch, tokens, tokens, tokens) for kind in HIGHER.get(family, [])
    }
    allowed = None
    if forbidden > 0:
        allowed = torch.rand(batch, tokens, tokens, generator=generator) >= forbidden
    problem = Problem(
        family=family,
        arc_scores=arc_scores,
        sibling_scores=higher.get("sibling_scores"),
        grandparent_scores=higher.get("grandparent_scores"),
        lengths=torch.tensor(lengths, dtype=torch.int64),
        multiroot=multiroot,
        allowed=allowed,
    )
    return problem.with_junk(junk)


def problems(family: str, *, words: int, sentences: int) -> st.SearchStrategy[Problem]:
    """Batches of every composition up to so many words and sentences, with values of every kind."""
    return st.builds(
        random_problem,
        st.just(family),
        st.lists(st.integers(0, words), max_size=sentences),
        seed=st.integers(0, 2**32 - 1),
        multiroot=st.booleans(),
        magnitude=st.sampled_from([0.0, 1.0, 10.0]),
        forbidden=st.sampled_from([0.0, 0.1, 0.4, 0.7]),
        masked=st.sampled_from([0.0, 0.0, 0.1, 0.5]),
        padding=st.integers(0, 3),
        junk=st.sampled_from([float("nan"), float("inf"), NEGATIVE_INFINITY, 1e30, 0.0]),
        dtype=st.sampled_from([torch.float64, torch.float32]),
    )
