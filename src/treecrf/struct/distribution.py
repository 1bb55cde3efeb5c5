"""The base of all distributions over trees: log Z, marginals, best trees, entropies, draws.

Inside, arc scores are masked (-inf in each cell that no tree may use) and shifted so that the best
head of each word scores 0; see `treecrf.ops.masking`. Differences of large numbers, such as the
entropy, are computed in double precision.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import ClassVar, Self, cast

import torch
from torch import Tensor

from treecrf.ops import autograd
from treecrf.ops.backend import Family, Scores, backend_for, implementation
from treecrf.ops.constants import MOST_TREES, NEGATIVE_INFINITY
from treecrf.ops.reference.backpropagation import plain
from treecrf.ops.reference.parts import Kind, part_scores, usable_parts
from treecrf.struct import arguments


class NoTreeError(ValueError):
    """The constraints leave no tree where one was asked for."""


class TreeDistribution:
    """Distribution over the trees of each sentence of a batch; see the subclasses."""

    _family: ClassVar[Family]
    _higher: Mapping[Kind, Tensor] = MappingProxyType({})
    """Scores of the parts beyond arcs, in the order in which the kernels take them."""

    def __init__(
        self,
        arc_scores: Tensor,
        lengths: Tensor,
        multiroot: bool = False,
        allowed: Tensor | None = None,
        *,
        validate: bool = True,
    ) -> None:
        given = {f"{kind}_scores": scores for kind, scores in self._higher.items()}
        given["arc_scores"] = arc_scores
        for name, tensor in (given if allowed is None else given | {"allowed": allowed}).items():
            arguments.check_tensor(name, tensor)
        arguments.check_multiroot(multiroot)
        lengths = arguments.whole_numbers("lengths", lengths)
        arguments.check_shapes(arc_scores, lengths, higher=self._higher, allowed=allowed)
        self.lengths = plain(lengths.to(arc_scores.device, torch.int64).contiguous())
        self.multiroot = multiroot
        self._validate = validate
        self._cache: dict[tuple[str, bool, bool], Tensor] = {}

        self._arcs, best = autograd.masked_and_shifted(arc_scores, self.lengths, allowed=allowed)
        if validate:
            arguments.check_values(
                arc_scores,
                self.lengths,
                higher=self._higher,
                allowed=allowed,
                best=best,
                multiroot=multiroot,
            )
        else:  # a wrong length makes log Z NaN, and must not read out of bounds
            self.lengths = self.lengths.clamp(0, arc_scores.shape[1] - 1)
        # [batch]; infinite on overflow, NaN where scores or lengths are wrong.
        self._shift = best.sum(1)
        self._higher = {
            kind: plain(scores.to(self._arcs.dtype).contiguous())
            for kind, scores in self._higher.items()
        }

    @property
    def log_partition(self) -> Tensor:
        """Log of the summed weight of all trees, `[batch]`; -inf where there is none."""
        return self._relative_log_partition + self._shift

    @property
    def marginals(self) -> Tensor:
        """p(head -> dependent), `[batch, dependent, head]`."""
        return self._cached("marginals", self._compute_marginals)

    @property
    def argmax(self) -> Tensor:
        """Heads `[batch, N]` of the best tree."""
        return self._require_trees(self._best_heads)

    @property
    def max(self) -> Tensor:
        """Score `[batch]` of the best tree; -inf where there is none."""
        return self._scores_of_found(self._best_heads.unsqueeze(1)).squeeze(1)

    @property
    def mbr(self) -> Tensor:
        """Heads `[batch, N]` of the tree with the largest sum of marginals."""
        return self._require_trees(self._cached("mbr", self._compute_mbr))

    def score(self, heads: Tensor) -> Tensor:
        """Score `[batch]` of full trees: the sum over their parts; -inf where one is forbidden."""
        heads = self._checked_heads(heads, partial=False)
        return self._scores_of(heads.unsqueeze(1)).squeeze(1)

    def log_prob(self, heads: Tensor) -> Tensor:
        """Log-probability `[batch]` of trees; -1 among the heads sums over all compatible trees."""
        heads = torch.where(self._is_word, self._checked_heads(heads, partial=True), 0)
        token = torch.arange(heads.shape[1], device=heads.device)
        compatible = (heads < 0)[:, :, None] | (heads[:, :, None] == token)
        arcs = torch.where(compatible, self._arcs, NEGATIVE_INFINITY)
        annotated = self._log_partition((arcs, *self._parts[1:]))
        exists = annotated > NEGATIVE_INFINITY
        total = torch.where(exists, self._relative_log_partition, 0)
        value = torch.where(exists, annotated - total, NEGATIVE_INFINITY)
        # NaN stays NaN without validation.
        return torch.where(self._shift.isnan(), float("nan"), value)

    @property
    def entropy(self) -> Tensor:
        """Entropy `[batch]` of the distribution, in nats."""
        return self._cached("entropy", self._compute_entropy)

    def cross_entropy(self, other: Self) -> Tensor:
        """Cross entropy `[batch]` of `other` under this distribution; +inf off its support."""
        return self._cross_entropy(other, self._double_marginals()).to(self._arcs.dtype)

    def kl(self, other: Self) -> Tensor:
        """Kullback-Leibler divergence `[batch]` of `other` from this; +inf off its support."""
        marginals = self._double_marginals()
        own = self._cross_entropy(self, marginals)
        return (self._cross_entropy(other, marginals) - own).to(self._arcs.dtype)

    def topk(self, k: int) -> tuple[Tensor, Tensor]:
        """Scores `[batch, k]` and heads `[batch, k, N]` of the k best trees, two million at most.

        Where fewer than k trees exist the scores are -inf and the heads -1.
        """
        k = arguments.checked_count(k, most=MOST_TREES)
        heads = self._kernels.topk(self._detached, self.lengths, k, multiroot=self.multiroot)
        return self._scores_of_found(heads), heads

    def sample(self, k: int = 1, *, generator: torch.Generator | None = None) -> Tensor:
        """Heads `[k, batch, N]` of k independent draws."""
        k = arguments.checked_count(k)
        arguments.check_generator(generator)
        heads: Tensor = self._kernels.sample(
            self._detached, self.lengths, k, multiroot=self.multiroot, generator=generator
        )
        self._require_trees(heads[0])
        return heads

    def __getitem__(self, rows: slice) -> Self:
        """The distribution over these sentences; what was computed is not computed again."""
        some = type(self).__new__(type(self))
        some.__dict__ |= self.__dict__
        some.lengths, some._shift, some._arcs = (
            part[rows] for part in (self.lengths, self._shift, self._arcs)
        )
        some._higher = {kind: scores[rows] for kind, scores in self._higher.items()}
        some._cache = {name: value[rows] for name, value in self._cache.items()}
        return some

    def __repr__(self) -> str:
        batch, tokens, _ = self._arcs.shape
        roots = "several roots" if self.multiroot else "a single root"
        return f"{type(self).__name__}({batch} sentences of up to {tokens - 1} words, {roots})"

    @property
    def _parts(self) -> Scores:
        """The score tensors in the order in which the kernels take them."""
        return (self._arcs, *self._higher.values())

    @property
    def _masked_parts(self) -> Scores:
        """The score tensors with -inf in every cell that no tree uses."""
        masked = [self._arcs]
        for kind, scores in self._higher.items():
            used = usable_parts(kind, self._arcs, multiroot=self.multiroot)
            masked.append(torch.where(used, scores, NEGATIVE_INFINITY))
        return tuple(masked)

    @property
    def _detached(self) -> Scores:
        return tuple(part.detach() for part in self._parts)

    @property
    def _kernels(self) -> ModuleType:
        return implementation(self._family, self._arcs)

    @property
    def _relative_log_partition(self) -> Tensor:
        """log Z of the shifted scores."""
        return self._cached("log_partition", lambda: self._log_partition(self._parts))

    @property
    def _best_heads(self) -> Tensor:
        return self._cached("argmax", lambda: self._argmax(self._detached))

    def _argmax(self, parts: Scores) -> Tensor:
        """Heads `[batch, N]` of this family's tree with the best score by these parts."""
        return cast(Tensor, self._kernels.argmax(parts, self.lengths, multiroot=self.multiroot))

    def _log_partition(self, parts: Scores) -> Tensor:
        return autograd.log_partition(self._family, parts, self.lengths, multiroot=self.multiroot)

    def _compute_marginals(self) -> Tensor:
        if _differentiable(self._parts):
            return self._part_marginals(self._parts)[0]
        log_partition, marginals = self._kernels.marginals(
            self._detached, self.lengths, multiroot=self.multiroot
        )
        self._cache.setdefault(self._cache_key("log_partition"), log_partition)
        return cast(Tensor, marginals)

    def _compute_entropy(self) -> Tensor:
        """The entropy; without a graph, log Z and marginals come from the same pass."""
        if _differentiable(self._parts):
            return self.cross_entropy(self)
        parts = tuple(part.double() for part in self._detached)
        log_partition, *marginals = self._inside_outside(parts)
        for name, value in (("log_partition", log_partition), ("marginals", marginals[0])):
            self._cache.setdefault(self._cache_key(name), value.to(self._arcs.dtype))
        return self._cross_entropy(self, tuple(marginals), log_partition).to(self._arcs.dtype)

    def _inside_outside(self, parts: Scores) -> Scores:
        """log Z, and marginals of arcs and of all other parts; without a graph."""
        kernels = implementation(self._family, parts[0])
        compute = kernels.marginals if len(parts) == 1 else kernels.part_marginals
        return cast(Scores, compute(parts, self.lengths, multiroot=self.multiroot))

    def _part_marginals(self, parts: Scores) -> Scores:
        """Marginals of arcs and of all other parts; differentiable if the scores are."""
        if _differentiable(parts):
            return autograd.marginals(self._family, parts, self.lengths, multiroot=self.multiroot)
        return self._inside_outside(parts)[1:]

    def _double_marginals(self) -> Scores:
        return self._part_marginals(tuple(part.double() for part in self._parts))

    def _cross_entropy(
        self, other: Self, marginals: Scores, log_partition: Tensor | None = None
    ) -> Tensor:
        """Cross entropy in double precision, under these marginals of this distribution.

        `log_partition` is the other's, where it is known.
        """
        self._check_same_family(other)
        exists = self._relative_log_partition.detach() > NEGATIVE_INFINITY
        expected = torch.zeros_like(self._shift, dtype=torch.float64)
        for marginal, scores in zip(marginals, other._masked_parts, strict=True):
            finite = torch.where(scores == NEGATIVE_INFINITY, 0, scores.double())
            expected = expected + (marginal * finite).flatten(1).sum(1)
        if log_partition is None:
            log_partition = other._log_partition(tuple(part.double() for part in other._parts))
        value = torch.where(exists, log_partition - expected, 0)
        value = torch.where(exists & self._leaves_support(other), float("inf"), value)
        return torch.where(self._shift.isnan(), float("nan"), value)

    def _compute_mbr(self) -> Tensor:
        with torch.no_grad():
            possible = self._arcs > NEGATIVE_INFINITY
            return self._best_by_gains(torch.where(possible, self.marginals, NEGATIVE_INFINITY))

    def _best_by_gains(self, gains: Tensor) -> Tensor:
        """Heads `[batch, N]` of this family's tree with the largest sum of arc gains."""
        higher = self._higher.values()
        # Where no part is forbidden the first-order decoder, which is faster, will do.
        if all(part.numel() == 0 or bool(part.amin() > NEGATIVE_INFINITY) for part in higher):
            family: Family = "nonprojective" if self._family == "nonprojective" else "projective"
            kernels = implementation(family, gains)
            return cast(Tensor, kernels.argmax((gains,), self.lengths, multiroot=self.multiroot))
        forbidden = (torch.where(part == NEGATIVE_INFINITY, part, 0.0) for part in higher)
        return self._argmax((gains, *(part.to(gains.dtype) for part in forbidden)))

    def _marginals_of(self, kind: Kind) -> Tensor:
        """Marginals of the parts of a kind, `[batch, dependent, head, other]`."""
        place = 1 + list(self._higher).index(kind)
        return self._cached(kind, lambda: self._part_marginals(self._parts)[place])

    def _scores_of_found(self, heads: Tensor) -> Tensor:
        """Scores `[batch, k]` of trees `heads [batch, k, N]`; -inf for a row of -1."""
        return torch.where(heads[:, :, 0] < 0, NEGATIVE_INFINITY, self._scores_of(heads))

    def _scores_of(self, heads: Tensor) -> Tensor:
        """Scores `[batch, k]` of trees `heads [batch, k, N]`; NaN where a head is no token."""
        if not _differentiable(self._parts) and backend_for(self._arcs.device) == "numba":
            from treecrf.ops.projective.scoring import score_trees

            higher = {kind: part.detach().numpy() for kind, part in self._higher.items()}
            scores = self._arcs.new_empty(heads.shape[:2])
            score_trees(
                self._arcs.detach().numpy(),
                higher.get("sibling"),
                higher.get("grandparent"),
                self.lengths.numpy(),
                self.multiroot,
                heads.contiguous().numpy(),
                scores.numpy(),
            )
            return scores + self._shift[:, None]
        words = self._is_word[:, None]
        fits = ((heads >= 0) & (heads <= self.lengths[:, None, None])) | ~words
        # Without validation a wrong head must not read out of bounds.
        scores = self._sum_parts(torch.where(fits & words, heads, 0)) + self._shift[:, None]
        return torch.where(fits.all(2), scores, float("nan"))

    def _sum_parts(self, heads: Tensor) -> Tensor:
        """Sums `[batch, k]` of the shifted scores of the parts of trees `heads [batch, k, N]`."""
        arcs = self._arcs.unsqueeze(1).expand(-1, heads.shape[1], -1, -1)
        chosen = arcs.gather(3, heads.unsqueeze(3)).squeeze(3)  # [batch, k, dependent]
        total = torch.where(self._is_word[:, None], chosen, 0).sum(2)
        # Beside a forbidden arc are cells that no tree uses.
        counted = self._is_word[:, None] & (total > NEGATIVE_INFINITY).unsqueeze(2)
        for kind, scores in self._higher.items():
            used = part_scores(kind, scores, heads, counted=counted, multiroot=self.multiroot)
            total = total + used.sum(2)
        return total

    @property
    def _is_word(self) -> Tensor:
        token = torch.arange(self._arcs.shape[1], device=self._arcs.device)
        return (token > 0) & (token <= self.lengths[:, None])

    def _leaves_support(self, other: Self) -> Tensor:
        """Whether some tree of this distribution has weight 0 in the other, `[batch]`."""
        lost = torch.zeros_like(self.lengths, dtype=torch.bool)
        if other is self:
            return lost
        with torch.no_grad():
            ours, theirs = self._masked_parts, other._masked_parts
            missing = [
                (mine > NEGATIVE_INFINITY) & (yours == NEGATIVE_INFINITY)
                for mine, yours in zip(ours, theirs, strict=True)
            ]
            if not any(bool(part.any()) for part in missing):
                return lost
            # With equal weights the marginal of every part that some tree of ours uses is above 0.
            equal = tuple(
                torch.where(part > NEGATIVE_INFINITY, 0.0, NEGATIVE_INFINITY).double()
                for part in ours
            )
            for marginal, absent in zip(self._part_marginals(equal), missing, strict=True):
                lost = lost | ((marginal > 0) & absent).flatten(1).any(1)
        return lost

    def _check_same_family(self, other: Self) -> None:
        if not isinstance(other, TreeDistribution):
            raise ValueError(f"cannot compare {self!r} with {type(other).__name__}")
        if type(other) is not type(self) or other.multiroot != self.multiroot:
            raise ValueError(f"cannot compare {self!r} with {other!r}: they are of two families")
        arguments.check_same_sentences(
            self.lengths,
            other.lengths,
            shapes=(self._arcs.shape, other._arcs.shape),
            values=self._validate,
        )

    def _checked_heads(self, heads: Tensor, *, partial: bool) -> Tensor:
        heads = arguments.whole_numbers("heads", heads).to(self._arcs.device)
        arguments.check_heads(
            heads, self.lengths, tokens=self._arcs.shape[1], partial=partial, values=self._validate
        )
        return heads

    def _require_trees(self, heads: Tensor) -> Tensor:
        """Return the heads; raise an error that names the first sentence without a tree."""
        missing = heads[:, 0] < 0
        if self._validate and bool(missing.any()):
            sentence = int(missing.nonzero()[0])
            raise NoTreeError(
                f"sentence {sentence} ({int(self.lengths[sentence])} words) has no tree: its "
                "constraints rule out every one; relax `allowed` or the -inf scores there"
            )
        return heads

    def _cached(self, name: str, compute: Callable[[], Tensor]) -> Tensor:
        """Compute a result once for each mode of `_cache_key`."""
        key = self._cache_key(name)
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]

    def _cache_key(self, name: str) -> tuple[str, bool, bool]:
        """Key that keeps results with and without a graph, and of inference mode, apart."""
        return name, _differentiable(self._parts), torch.is_inference_mode_enabled()


def _differentiable(parts: Scores) -> bool:
    return torch.is_grad_enabled() and any(part.requires_grad for part in parts)
