"""From scores to trees: MBR, Viterbi and spanning trees, with labels and probabilities."""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from treecrf.ops.projective import factored
from treecrf.parser.batching.batch import Batch
from treecrf.parser.batching.memory import FACTORED_CELLS
from treecrf.parser.config import Config
from treecrf.parser.decoding.entropy import tree_entropies
from treecrf.parser.decoding.mbr import has_tree, is_projective_tree, mbr_heads
from treecrf.parser.errors import ParserError
from treecrf.parser.network.loss import TreeCRF, distribution, masked_heads, tempered
from treecrf.parser.network.scorer import Network, Roles
from treecrf.struct import NonProjectiveTreeCRF, ProjectiveTreeCRF

__all__ = ["Decoded", "NoAllowedTreeError", "decode", "decode_best"]

_IMPOSSIBLE = (
    "no tree has the heads that are to be kept (a cycle, or a second root under the single-root "
    "setting); free one of them"
)
_FORBIDDEN = (
    "no tree is left without the heads that are forbidden, and with those that are to be kept; "
    "forbid fewer of them"
)

Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Decoded:
    """The trees of a batch, on the host; `[batch, N]` with the root symbol at 0."""

    heads: Array
    relations: Array
    upos: Array | None  # of a model that gives tags
    probs: npt.NDArray[np.float64] | None  # of each head
    log_probs: npt.NDArray[np.float64] | None  # [batch], of each tree
    crossing: npt.NDArray[np.bool_] | None  # [batch], whether no projective tree was allowed
    marginals: npt.NDArray[np.float32] | None = None  # [batch, N, N], where details are asked for
    entropies: npt.NDArray[np.float64] | None = None  # [batch]; NaN where it takes too long


@torch.inference_mode()
def decode(
    scorer: Network,
    batch: Batch,
    *,
    config: Config,
    allowed: Tensor | None = None,
    probs: bool = False,
    details: bool = False,
) -> Decoded:
    """The best trees of a batch by the configured decoder, among those that are allowed.

    With `details`, which has `probs` in it, marginals and entropies come with them.
    """
    probs = probs or details
    roles = scorer(batch)
    arc_scores = scorer.arcs(roles, batch)
    width = batch.grid[1]
    if scorer.sibling_scores is not None and width**3 > FACTORED_CELLS:
        return _decode_long(
            scorer,
            roles,
            batch,
            arc_scores,
            config=config,
            allowed=allowed,
            probs=probs,
            details=details,
        )
    siblings = scorer.siblings(roles, batch)
    crf = distribution(arc_scores, siblings, batch.lengths, config=config, allowed=allowed)
    heads = _best_heads(crf, arc_scores, config=config, allowed=allowed)
    if probs and config.temperature != 1:  # the tree is chosen without it
        arc_scores, siblings = tempered(arc_scores, siblings, config)
        crf = distribution(arc_scores, siblings, batch.lengths, config=config, allowed=allowed)
    crossing = None
    if allowed is not None:
        spanning = NonProjectiveTreeCRF(
            arc_scores, batch.lengths, config.multiroot, allowed, validate=False
        )
        missing = heads[:, 0] < 0
        heads = _or_spanning_trees(heads, spanning, batch)
        crossing = missing.cpu().numpy()
    head_probs = log_probs = None
    if probs:
        if config.loss == "local":
            by_head = masked_heads(arc_scores, batch.lengths, allowed).softmax(2)
        else:
            by_head = crf.marginals
        log_probs = crf.score(heads) - crf.log_partition
        if (
            isinstance(crf, NonProjectiveTreeCRF) != config.crossing
        ):  # a tree may be none of its own
            own = is_projective_tree(heads, batch.lengths, multiroot=config.multiroot)
            log_probs = torch.where(own, log_probs, float("-inf"))
        if crossing is not None and crossing.any():
            if config.loss != "local":
                by_head = torch.where(missing[:, None, None], spanning.marginals, by_head)
            log_probs = torch.where(missing, spanning.log_prob(heads), log_probs)
        head_probs = by_head.gather(2, heads.unsqueeze(2)).squeeze(2)
    decoded = _decoded(scorer, roles, batch, heads, head_probs, log_probs, crossing)
    if not details:
        return decoded
    entropies = tree_entropies(arc_scores, siblings, batch.lengths, config=config, allowed=allowed)
    if crossing is not None and crossing.any():
        entropies = torch.where(missing, spanning.entropy, entropies)
    return _with_details(decoded, by_head, entropies)


@torch.inference_mode()
def decode_best(
    scorer: Network,
    batch: Batch,
    k: int,
    *,
    config: Config,
    allowed: Tensor | None = None,
) -> list[Decoded]:
    """The k best trees of each sentence, best first; a row whose heads are -1 has no more.

    They are of the family that the model decodes, and where none of that is allowed they may cross.
    """
    roles = scorer(batch)
    arc_scores, siblings = tempered(
        scorer.arcs(roles, batch), scorer.siblings(roles, batch), config
    )
    crf = distribution(arc_scores, siblings, batch.lengths, config=config, allowed=allowed)
    scores, heads = crf.topk(k)  # [batch, k], [batch, k, N]
    log_probs = scores - crf.log_partition[:, None]
    by_head = crf.marginals
    if config.loss == "local":
        by_head = masked_heads(arc_scores, batch.lengths, allowed).softmax(2)
    crossing = None
    if allowed is not None and bool((missing := heads[:, 0, 0] < 0).any()):
        spanning = NonProjectiveTreeCRF(
            arc_scores, batch.lengths, config.multiroot, allowed, validate=False
        )
        scores, others = spanning.topk(k)
        heads = torch.where(missing[:, None, None], others, heads)
        others_log_probs = scores - spanning.log_partition[:, None]
        log_probs = torch.where(missing[:, None], others_log_probs, log_probs)
        if config.loss != "local":
            by_head = torch.where(missing[:, None, None], spanning.marginals, by_head)
        crossing = missing.cpu().numpy()
    ranked = []
    most = int((heads[:, :, 0] >= 0).sum(1).max())  # however many more are asked for
    for rank in range(most):
        chosen = heads[:, rank]
        probs = by_head.gather(2, chosen.clamp(min=0).unsqueeze(2)).squeeze(2)
        ranked.append(_decoded(scorer, roles, batch, chosen, probs, log_probs[:, rank], crossing))
    return ranked


def _best_heads(
    crf: TreeCRF, arc_scores: Tensor, *, config: Config, allowed: Tensor | None
) -> Tensor:
    """Heads `[batch, N]`; -1 in the rows of sentences that no tree of the family is allowed for."""
    match config.resolved_decoder:
        case "viterbi":
            return crf.argmax
        case "mbr":
            return crf.mbr if isinstance(crf, NonProjectiveTreeCRF) else mbr_heads(crf, allowed)
    # Sibling scores have no meaning for trees that cross, so CRFs give their marginals to MST.
    gains = crf.marginals if config.learns_projective else arc_scores
    spanning = NonProjectiveTreeCRF(gains, crf.lengths, config.multiroot, allowed, validate=False)
    if not config.learns_projective:
        return spanning.argmax
    return torch.where(has_tree(crf)[:, None], spanning.argmax, -1)


def _or_spanning_trees(heads: Tensor, spanning: NonProjectiveTreeCRF, batch: Batch) -> Tensor:
    """The heads, and where there are none those of the best tree that may cross."""
    missing = heads[:, 0] < 0
    if not bool(missing.any()):
        return heads
    heads = torch.where(missing[:, None], spanning.argmax, heads)
    impossible = (heads[:, 0] < 0).nonzero().flatten().tolist()
    if impossible:
        raise NoAllowedTreeError(int(batch.rows[impossible[0]]))
    return heads


class NoAllowedTreeError(ParserError):
    """No tree at all has the arcs that are to be kept; `row` is the sentence."""

    def __init__(self, row: int) -> None:
        super().__init__(f"sentence {row + 1}: {_IMPOSSIBLE}")
        self.row = row

    def named(self, where: str, *, forbidden: bool = False) -> ParserError:
        """The same with the name of the sentence in it, of which heads may be forbidden."""
        return ParserError(f"{where}: {_FORBIDDEN if forbidden else _IMPOSSIBLE}")


def _decoded(
    scorer: Network,
    roles: Roles,
    batch: Batch,
    heads: Tensor,
    probs: Tensor | None,
    log_probs: Tensor | None,
    crossing: npt.NDArray[np.bool_] | None,
) -> Decoded:
    labels = scorer.labels(roles, batch, heads).argmax(1)
    tag_scores = scorer.tags(roles)
    return Decoded(
        heads=heads.cpu().numpy(),
        relations=batch.unpack(labels.unsqueeze(1)).squeeze(2).cpu().numpy(),
        upos=None
        if tag_scores is None
        else batch.unpack(tag_scores.argmax(1, keepdim=True)).squeeze(2).cpu().numpy(),
        probs=None if probs is None else probs.double().cpu().numpy(),
        log_probs=None if log_probs is None else log_probs.double().cpu().numpy(),
        crossing=crossing,
    )


def _decode_long(
    scorer: Network,
    roles: Roles,
    batch: Batch,
    arc_scores: Tensor,
    *,
    config: Config,
    allowed: Tensor | None,
    probs: bool,
    details: bool,
) -> Decoded:
    """The tree of one sentence whose sibling scores would not fit in memory all at once."""
    arcs = masked_heads(arc_scores, batch.lengths, allowed)[0]
    pairs, dependents = (factor[0] for factor in scorer.sibling_factors(roles, batch))
    multiroot = config.multiroot
    log_partition, marginals = factored.marginals(arcs, pairs, dependents, multiroot=multiroot)
    by_head = marginals.unsqueeze(0)
    match config.resolved_decoder:
        case "viterbi":
            heads = factored.argmax(arcs, pairs, dependents, multiroot=multiroot).unsqueeze(0)
        case decoder:
            family = ProjectiveTreeCRF if decoder == "mbr" else NonProjectiveTreeCRF
            heads = family(by_head, batch.lengths, multiroot, allowed, validate=False).argmax
    if probs and config.temperature != 1:
        arcs, pairs = arcs / config.temperature, pairs / config.temperature
        arc_scores = arc_scores / config.temperature
        log_partition, marginals = factored.marginals(arcs, pairs, dependents, multiroot=multiroot)
        by_head = marginals.unsqueeze(0)
    missing = (log_partition == float("-inf")).reshape(1)
    if bool(missing):
        spanning = NonProjectiveTreeCRF(
            arc_scores, batch.lengths, multiroot, allowed, validate=False
        )
        heads = _or_spanning_trees(torch.full_like(heads, -1), spanning, batch)
        by_head, log_probs = spanning.marginals, spanning.log_prob(heads)
    else:
        score = factored.score(arcs, pairs, dependents, heads[0])
        own = is_projective_tree(heads, batch.lengths, multiroot=multiroot)
        log_probs = torch.where(own, score - log_partition, float("-inf"))
    head_probs = by_head.gather(2, heads.unsqueeze(2)).squeeze(2)
    decoded = _decoded(
        scorer,
        roles,
        batch,
        heads,
        head_probs if probs else None,
        log_probs if probs else None,
        missing.cpu().numpy(),
    )
    # The entropy would take the marginals of siblings, of which there are too many.
    return _with_details(decoded, by_head, log_probs * math.nan) if details else decoded


def _with_details(decoded: Decoded, marginals: Tensor, entropies: Tensor) -> Decoded:
    return replace(
        decoded,
        marginals=marginals.float().cpu().numpy(),
        entropies=entropies.double().cpu().numpy(),
    )
