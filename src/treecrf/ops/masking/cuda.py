"""Masking and shifting of arc scores in one Triton launch; see `reference`."""

import torch
import triton
import triton.language as tl
from torch import Tensor


# Specialised for the stride of heads (1 if contiguous), not for sizes.
@triton.jit(do_not_specialize=["tokens", "batch_stride", "dependent_stride"])
def _mask_and_shift(
    arc_scores, allowed, lengths, arcs, best, tokens,
    batch_stride, dependent_stride, head_stride,
    CONSTRAINED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Fill `arcs [sentence, dependent, head]` and `best [sentence, dependent]`."""
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence)
    dependent = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    head = tl.arange(0, COLUMNS)
    row = sentence * tokens + dependent
    cell = row[:, None] * tokens + head[None, :]
    inside = (dependent < tokens)[:, None] & (head < tokens)[None, :]
    usable = inside & (dependent > 0)[:, None] & (dependent[:, None] != head[None, :])
    usable &= (dependent <= length)[:, None] & (head <= length)[None, :]
    if CONSTRAINED:
        usable &= tl.load(allowed + cell, usable, 0) != 0
    place = sentence * batch_stride + dependent[:, None] * dependent_stride
    score = tl.load(arc_scores + place + head[None, :] * head_stride, usable, float("-inf"))
    score = score.to(arcs.dtype.element_ty)
    largest = tl.max(score, 1)
    # A comparison with NaN is false: not below infinity means infinite or NaN.
    wrong = tl.sum(tl.where(score < float("inf"), 0, 1), 1) > 0
    wrong |= (length < 0) | (length >= tokens)
    taken = tl.where(largest == float("-inf"), 0.0, largest)
    taken = tl.where(wrong, float("nan"), taken)
    tl.store(best + row, taken, dependent < tokens)
    tl.store(arcs + cell, score - taken[:, None], inside)


def mask_and_shift(
    arc_scores: Tensor, lengths: Tensor, *, allowed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Masked and shifted scores, and what was subtracted from them."""
    batch, tokens, _ = arc_scores.shape
    dtype = torch.float64 if arc_scores.dtype == torch.float64 else torch.float32
    arcs = torch.empty(arc_scores.shape, dtype=dtype, device=arc_scores.device)
    best = arcs.new_empty(batch, tokens)
    columns = max(32, triton.next_power_of_2(tokens))
    rows = max(1, 2048 // columns)
    with torch.cuda.device_of(arc_scores):
        if batch:
            _mask_and_shift[(batch, triton.cdiv(tokens, rows))](
                arc_scores, arc_scores if allowed is None else allowed.contiguous(), lengths,
                arcs, best, tokens, *arc_scores.stride(),
                CONSTRAINED=allowed is not None, ROWS=rows, COLUMNS=columns,
            )  # fmt: skip
    return arcs, best
