"""Whether the weights of a network fit in memory, which is known before they are made."""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

from treecrf.nn.blank import TooLargeError, blank_weights, machine_memory
from treecrf.parser.errors import ParserError

__all__ = ["check_trainable", "make_blank"]

Module = TypeVar("Module", bound=nn.Module)

# Weights, gradients, and Adam's two moments.
_TRAINING_COPIES = 4


def make_blank(make: Callable[[], Module], where: str = "") -> Module:
    """The network that `make` gives, without numbers; an error where it does not fit in memory."""
    try:
        with blank_weights():
            return make()
    except TooLargeError as error:
        raise ParserError(f"{where}{error}: choose smaller sizes in the settings") from None


def check_trainable(network: nn.Module, device: torch.device, *, average: bool) -> None:
    """An error where a network fits in memory, and what training it takes does not."""
    copies = _TRAINING_COPIES + average
    needed = copies * sum(weights.nbytes for weights in network.parameters())
    memory = machine_memory()
    if device.type == "cuda":
        memory = torch.cuda.get_device_properties(device).total_memory
    if needed > memory:
        raise ParserError(
            f"training needs at least {needed / 2**30:,.0f} GiB of memory ({copies} times the "
            f"weights), and {device} has {memory / 2**30:,.0f} GiB: choose smaller sizes in the "
            "settings"
        )
