"""Linear layers whose products are those of bytes: several times faster where a CPU has VNNI."""

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["ByteLinear", "has_byte_products", "scale_of_rows", "use_byte_products"]

_LARGEST = 127


class ByteLinear(nn.Linear):
    """A linear layer that rounds weights and inputs to whole numbers of -127 to 127.

    Each output has a scale of its own, and so has each row of the input: what comes out of a row
    depends on no other. The weights stay as they were in `state_dict`; on a GPU they are used.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(linear.in_features, linear.out_features, device="meta")
        self.weight, self.bias = linear.weight, linear.bias
        weight = linear.weight.detach()
        scale = scale_of_rows(weight)
        rounded = (weight / scale).round().to(torch.int8)
        self.register_buffer("rounded", rounded.t().contiguous(), persistent=False)
        self.register_buffer("scale", scale.flatten(), persistent=False)
        self.rounded: Tensor  # [input, output]
        self.scale: Tensor  # [output]

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs `[..., output]` of inputs `[..., input]`; no gradient."""
        if inputs.is_cuda:
            return functional.linear(inputs, self.weight, self.bias)
        rows = inputs.reshape(-1, self.in_features)
        scale = scale_of_rows(rows)
        products = torch._int_mm((rows / scale).round_().to(torch.int8), self.rounded)
        outputs = (products * scale).mul_(self.scale)
        if self.bias is not None:
            outputs.add_(self.bias)
        return outputs.view(*inputs.shape[:-1], self.out_features)


def scale_of_rows(matrix: Tensor) -> Tensor:
    """What the largest number of each row is 127 times of, `[row, 1]`; 1 for a row of zeros."""
    scale = matrix.abs().amax(1, keepdim=True) / _LARGEST
    return scale.masked_fill_(scale == 0, 1)


def use_byte_products(module: nn.Module) -> None:
    """Put byte layers in the place of the linear layers within a module."""
    for name, child in module.named_children():
        if type(child) is nn.Linear:
            setattr(module, name, ByteLinear(child))
        else:
            use_byte_products(child)


@cache
def has_byte_products() -> bool:
    """Whether this CPU and this torch multiply bytes fast, and rightly."""
    # Without VNNI, sums of products saturate or are slow.
    supported = getattr(torch.cpu, "_is_vnni_supported", None)
    if supported is None or not supported() or not torch.backends.mkldnn.is_available():
        return False
    values = torch.tensor([_LARGEST, -_LARGEST, 100, -3], dtype=torch.int8)
    left, right = values.repeat(4, 16), values.repeat(8, 16).t().contiguous()
    try:
        found = torch._int_mm(left, right)
    except (AttributeError, RuntimeError):
        return False
    return bool(torch.equal(found, left.int() @ right.int()))
