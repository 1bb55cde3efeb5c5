"""Conversion of a network to int8 products."""

from torch import nn

from treecrf.nn.affine import BiaffineArcs, BiaffineRelations, TriaffineSiblings
from treecrf.nn.int8.linear import ByteLinear
from treecrf.nn.int8.lstm import ByteLSTM
from treecrf.nn.transformer.bert import BertEncoder, BertLayer

__all__ = ["use_byte_products"]

_WITH_BYTES = (BiaffineArcs, BiaffineRelations, TriaffineSiblings, BertEncoder, BertLayer)


def use_byte_products(module: nn.Module) -> None:
    """Make the linear layers, LSTMs, affine forms and BERT layers multiply int8; inference only."""
    for name, child in module.named_children():
        if type(child) is nn.Linear:
            setattr(module, name, ByteLinear(child))
        elif type(child) is nn.LSTM:
            setattr(module, name, ByteLSTM(child))
        elif isinstance(child, _WITH_BYTES):
            child.use_bytes()
        else:
            use_byte_products(child)
