"""Conversion of a network to packed products."""

import torch
from torch import nn

from treecrf.nn.affine import BiaffineArcs, BiaffineRelations, TriaffineSiblings
from treecrf.nn.bilstm import BiLSTM
from treecrf.nn.onednn.linear import PackedLinear
from treecrf.nn.onednn.lstm import PackedLSTM

__all__ = ["use_packed_products"]


def use_packed_products(module: nn.Module) -> None:
    """Pack the weights of linear layers, BiLSTMs and affine forms; for inference on a CPU."""
    for name, child in module.named_children():
        if any(weight.dtype != torch.float32 for weight in child.parameters()):
            continue
        if type(child) is nn.Linear:
            setattr(module, name, PackedLinear(child))
        elif isinstance(child, BiLSTM):
            if child.size % PackedLSTM.UNITS == 0:
                child.layers = nn.ModuleList(PackedLSTM(layer) for layer in child.layers)
        elif isinstance(child, BiaffineArcs | BiaffineRelations | TriaffineSiblings):
            child.use_packed()
        else:
            use_packed_products(child)
