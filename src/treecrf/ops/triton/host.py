"""Operations that the CUDA backend leaves to the host: k-best lists, draws, spanning trees."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from treecrf.ops.backend import Family, host_module


def on_host(family: Family, operation: str) -> Callable[..., Tensor]:
    """Make a function that copies its tensors to the host, and the heads it finds there back.

    It has the signature of the operation in the other backends.
    """

    def compute(arc_scores: Tensor, *arguments: Any, **options: Any) -> Tensor:
        on_cpu = (one.cpu() if isinstance(one, Tensor) else one for one in arguments)
        heads: Tensor = getattr(host_module(family), operation)(
            arc_scores.cpu(), *on_cpu, **options
        )
        return heads.to(arc_scores.device)

    return compute
