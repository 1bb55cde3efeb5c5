"""Non-projective trees in plain torch and Python: the specification of the fast kernels."""

import heapq
import itertools

import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.constants import NEGATIVE_INFINITY
from treecrf.ops.nonprojective.edmonds import Rows, best_tree, tree_score
from treecrf.ops.reference import backpropagation
from treecrf.ops.reference.semiring import log_sum_exp


def log_partition(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`; differentiable twice.

    Eliminates the words from the last to the first, with sums and products only:

        D(v) = sum_h w(v, h)    w(m, h) += w(m, v) w(v, h) / D(v)    Z = product of the D(v)

    Single root: the arcs of the root symbol carry a formal t -> 0, and Z is the coefficient of t.
    Leading orders cannot cancel, so they are all there is to keep: D(v) leaves the root symbol out
    until a word has no other head. That is the one root arc of the tree; what hangs on this word
    then hangs on the root symbol for free, and all other root arcs go.
    """
    (arc_scores,) = scores
    words = arc_scores.shape[1] - 1
    arcs = arc_scores[:, 1:, 1:].double()  # [batch, dependent, head]
    root = arc_scores[:, 1:, 0].double()  # [batch, dependent]
    total = root[:, :0].sum(1)  # 0, but in the graph even when there is no word
    exists = torch.ones_like(lengths, dtype=torch.bool)
    counts = torch.full_like(exists, multiroot)  # whether arcs of the root symbol count in D
    for v in range(words - 1, -1, -1):
        is_word = v < lengths
        into, out, root_out = arcs[:, :v, v], arcs[:, v, :v], root[:, v]
        is_root_child = is_word & ~counts & (out == NEGATIVE_INFINITY).all(1)
        counts = counts | is_root_child
        # D(v) = sum_h w(v, h)
        D = log_sum_exp(
            torch.cat([torch.where(counts, root_out, NEGATIVE_INFINITY)[:, None], out], 1), 1
        )
        is_reached = D > NEGATIVE_INFINITY
        exists = exists & (is_reached | ~is_word)
        D = torch.where(is_reached, D, 0)
        total = total + D
        # w(m, h) += w(m, v) w(v, h) / D(v)
        through = into[:, :, None] + (out - D[:, None])[:, None, :]
        arcs = log_sum_exp(torch.stack([arcs[:, :v, :v], through]), 0)
        arcs = arcs.masked_fill(
            torch.eye(v, dtype=torch.bool, device=arcs.device), NEGATIVE_INFINITY
        )
        root = root[:, :v].masked_fill(is_root_child[:, None], NEGATIVE_INFINITY)
        root = log_sum_exp(torch.stack([root, into + (root_out - D)[:, None]]), 0)
    return torch.where(exists, total, NEGATIVE_INFINITY).to(arc_scores.dtype)


def marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    value, probabilities = backpropagation.marginals(
        lambda arcs: log_partition((arcs,), lengths, multiroot=multiroot).unsqueeze(-1), scores
    )
    return value, probabilities.clamp(0, 1)


def argmax(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    return topk(scores, lengths, 1, multiroot=multiroot).squeeze(1)


def topk(scores: Scores, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    (arc_scores,) = scores
    batch, tokens, _ = arc_scores.shape
    heads = torch.full((batch, k, tokens), -1)
    for sentence, words in enumerate(lengths.tolist()):
        rows: Rows = arc_scores[sentence, : words + 1, : words + 1].tolist()
        for rank, tree in enumerate(_best_trees(rows, k, multiroot=multiroot)):
            heads[sentence, rank] = 0
            heads[sentence, rank, : words + 1] = torch.tensor(tree)
    return heads.to(arc_scores.device)


def _best_trees(scores: Rows, k: int, *, multiroot: bool) -> list[list[int]]:
    """The k best trees by Lawler's partition (see `kbest`)."""
    order = itertools.count()  # breaks ties
    sets: list[tuple[float, int, list[int], int, Rows]] = []

    def push(scores: Rows, fixed: int) -> None:
        tree = best_tree(scores, multiroot=multiroot)
        if tree is not None:
            heapq.heappush(sets, (-tree_score(scores, tree), next(order), tree, fixed, scores))

    push(scores, 1)
    trees: list[list[int]] = []
    while sets:
        _, _, tree, fixed, allowed = heapq.heappop(sets)
        trees.append(tree)
        if len(trees) == k:
            break
        for word in range(fixed, len(tree)):
            differing = [list(row) for row in allowed]
            differing[word][tree[word]] = NEGATIVE_INFINITY
            push(differing, word)
            allowed = [list(row) for row in allowed]
            allowed[word] = [
                score if head == tree[word] else NEGATIVE_INFINITY
                for head, score in enumerate(allowed[word])
            ]
    return trees


def sample(
    scores: Scores, lengths: Tensor, k: int, *, multiroot: bool, generator: torch.Generator | None
) -> Tensor:
    """Heads `[k, batch, N]` of k trees: word by word, from the marginals given the heads before."""
    batch, tokens, _ = scores[0].shape
    arcs, lengths = scores[0].double().repeat(k, 1, 1), lengths.repeat(k)
    exists = log_partition((arcs,), lengths, multiroot=multiroot) > NEGATIVE_INFINITY
    heads = torch.zeros(k * batch, tokens, dtype=torch.int64, device=arcs.device)
    token = torch.arange(tokens, device=arcs.device)
    source = arcs.device if generator is None else generator.device
    for word in range(1, tokens):
        _, probabilities = marginals((arcs,), lengths, multiroot=multiroot)
        # The shortest of exponential waiting times is a draw by their rates.
        uniform = torch.rand(
            (k * batch, tokens), dtype=torch.float64, device=source, generator=generator
        )
        waiting = -torch.log1p(-uniform).to(arcs.device)
        heads[:, word] = (probabilities[:, word] / waiting.clamp(min=1e-300)).argmax(-1)
        chosen = token == heads[:, word, None]
        arcs[:, word] = arcs[:, word].masked_fill(~chosen, NEGATIVE_INFINITY)
    return torch.where(exists[:, None], heads, -1).view(k, batch, tokens)
