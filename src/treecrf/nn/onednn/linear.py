"""Products with weights that are packed once for oneDNN."""

from functools import cache
from typing import Self

import torch
from torch import Tensor, nn

__all__ = ["PackedLinear", "PackedProduct", "has_packed_products"]

_ROWS = 64  # of a typical product: the layout of packed weights is chosen for it


@cache
def has_packed_products() -> bool:
    """Whether torch has oneDNN's products, and they are worth it on this CPU."""
    operations = ("_reorder_linear_weight", "_linear_pointwise")
    return (
        torch.backends.mkldnn.is_available()
        and "AVX512" in torch.backends.cpu.get_cpu_capability()
        and all(hasattr(torch.ops.mkldnn, name) for name in operations)
    )


class PackedProduct:
    """Product with weights `[output, input]` in float32; no gradient."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        dense = weight.detach().contiguous()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(dense, _ROWS)
        self.bias = None if bias is None else bias.detach()

    def __reduce__(self) -> tuple[type[Self], tuple[Tensor, Tensor | None]]:
        """Copy and pickle the plain weights: torch does neither with packed ones."""
        return type(self), (self.weight.to_dense(), self.bias)

    def __call__(self, inputs: Tensor) -> Tensor:
        """Outputs `[..., output]` of inputs `[..., input]`."""
        return torch.ops.mkldnn._linear_pointwise(inputs, self.weight, self.bias, "none", [], "")


class PackedLinear(nn.Linear):
    """Linear layer by a `PackedProduct`, or as ever where gradients are asked for."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(linear.in_features, linear.out_features, device="meta")
        self.weight, self.bias = linear.weight, linear.bias
        self.product = PackedProduct(linear.weight, linear.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs `[..., output]` of inputs `[..., input]`."""
        return super().forward(inputs) if torch.is_grad_enabled() else self.product(inputs)
