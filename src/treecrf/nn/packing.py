"""How the tokens of a batch are packed, as kernels read it: one transfer for all layers."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

__all__ = ["PackedSteps", "last_states", "packed_steps"]


@dataclass(frozen=True)
class PackedSteps:
    """How tokens are packed: step after step, the longest sentence first."""

    steps: int
    sentences: int
    table: Tensor  # the first token of each step, then the length of each sentence
    last: Tensor  # [sentence * direction], rows of outputs seen as `[token * direction, unit]`


def packed_steps(batch_sizes: Tensor, device: torch.device) -> PackedSteps:
    """From the number of sentences alive at each step, on the host, longest sentence first."""
    sizes = batch_sizes.numpy()
    steps, sentences = len(sizes), int(sizes[0])
    first = np.cumsum(sizes) - sizes
    sentence = np.arange(sentences)
    # A sentence is as long as there are steps with more sentences than those before it.
    lengths = steps - np.searchsorted(sizes[::-1], sentence, side="right")
    last = np.stack((2 * (first[lengths - 1] + sentence), 2 * sentence + 1), 1)
    flat = torch.from_numpy(np.concatenate((first, lengths, last.ravel()), dtype=np.int32))
    if device.type == "cuda":
        flat = flat.pin_memory()
    pieces = flat.to(device, non_blocking=True).split((steps + sentences, 2 * sentences))
    return PackedSteps(steps, sentences, *pieces)


def last_states(outputs: Tensor, steps: PackedSteps) -> Tensor:
    """The last output of each direction in each sentence, `[sentence, 2 * unit]`."""
    by_direction = outputs.view(-1, outputs.shape[1] // 2)
    return by_direction.index_select(0, steps.last).view(steps.sentences, -1)
