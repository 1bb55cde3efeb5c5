"""Masking and shifting of arc scores in compiled code on the CPU; see `reference`."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from treecrf.ops.numba.compiling import kernel
from treecrf.ops.numba.threads import run_in_threads


def mask_and_shift(
    arc_scores: Tensor, lengths: Tensor, *, allowed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Masked and shifted scores, and what was subtracted from them."""
    if arc_scores.dtype not in (torch.float32, torch.float64):
        arc_scores = arc_scores.float()
    scores = arc_scores.detach().contiguous().numpy()
    batch, tokens, _ = scores.shape
    arcs, best = np.empty_like(scores), np.empty((batch, tokens), scores.dtype)
    constraints = np.ones((0, 0, 0), np.bool_) if allowed is None else allowed.contiguous().numpy()
    words = lengths.contiguous().numpy()
    run_in_threads(
        lambda sentences: mask_sentences(scores, words, constraints, sentences, arcs, best),
        [float(tokens * tokens)] * batch,
    )
    return torch.from_numpy(arcs), torch.from_numpy(best)


@kernel
def mask_sentences(
    arc_scores: npt.NDArray[np.floating],
    lengths: npt.NDArray[np.int64],
    allowed: npt.NDArray[np.bool_],
    sentences: npt.NDArray[np.int64],
    arcs: npt.NDArray[np.floating],
    best: npt.NDArray[np.floating],
) -> None:
    """Fill `arcs` and `best` of these sentences; an empty `allowed` allows everything."""
    tokens = arc_scores.shape[1]
    for sentence in sentences:
        length = lengths[sentence]
        fits = 0 <= length < tokens
        arcs[sentence] = -np.inf
        for dependent in range(tokens):
            taken = -np.inf
            sane = fits
            heads = length + 1 if fits and 0 < dependent <= length else 0
            for head in range(heads):
                if head == dependent or (len(allowed) and not allowed[sentence, dependent, head]):
                    continue
                score = arc_scores[sentence, dependent, head]
                arcs[sentence, dependent, head] = score
                sane &= score < np.inf  # a comparison with NaN is false
                taken = max(taken, score)
            if taken == -np.inf:
                taken = 0.0
            if not sane:
                taken = np.nan
            best[sentence, dependent] = taken
            for head in range(heads):
                arcs[sentence, dependent, head] -= taken
