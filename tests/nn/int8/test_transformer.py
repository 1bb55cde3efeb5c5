"""Layers of a transformer with products of bytes: near to those of floats, row by row."""

import copy

import pytest
import torch

from treecrf.nn.int8.linear import ByteLinear
from treecrf.nn.int8.transformer_kernel import gelu
from treecrf.nn.transformer.bert import BertLayer, BertShape


@pytest.fixture
def layer() -> BertLayer:
    torch.manual_seed(1)
    shape = BertShape(
        vocabulary=1, size=72, layers=1, heads=3, feed_forward=130, positions=1, epsilon=1e-7
    )
    made = BertLayer(shape, dropout=0.1, attention_dropout=0.1).eval()
    for norm in (made.attention_norm, made.norm):
        torch.nn.init.normal_(norm.weight)
        torch.nn.init.normal_(norm.bias)
    return made


@torch.inference_mode()
@pytest.mark.parametrize("rows", [1, 95, 96, 97, 500])
def test_the_end_of_a_layer_is_the_same_as_step_by_step(layer: BertLayer, rows: int) -> None:
    states, attended = torch.randn(rows, 72), torch.randn(rows, 72)
    by_step = copy.deepcopy(layer)
    for name in ("attended", "expand", "contract"):
        setattr(by_step, name, ByteLinear(getattr(by_step, name)))
    layer.use_bytes()
    found, expected = layer._after(states, attended), by_step._after(states, attended)
    # The last bit of a number may decide how it is rounded to a byte.
    assert (found - expected).abs().mean() < 1e-4
    assert (found - expected).abs().max() < 0.05


@torch.inference_mode()
def test_a_row_does_not_depend_on_others(layer: BertLayer) -> None:
    layer.use_bytes()
    states, attended = torch.randn(400, 72), torch.randn(400, 72)
    whole = layer._after(states, attended)
    for row in (0, 97, 399):
        one = slice(row, row + 1)
        assert torch.equal(layer._after(states[one], attended[one])[0], whole[row])


def test_gelu_is_that_of_torch() -> None:
    values = torch.cat((torch.linspace(-8, 8, 4001), torch.tensor([0.0, -100, 100, -1e30, 1e30])))
    found = values.clone()[None]
    gelu(found.numpy())
    torch.testing.assert_close(found[0], torch.nn.functional.gelu(values), rtol=1e-6, atol=2e-6)
