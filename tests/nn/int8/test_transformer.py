"""Layers of a transformer with int8 products, step by step and window by window."""

import copy

import numpy as np
import pytest
import torch

from treecrf.nn.int8.attention_kernel import ROWS, attend
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
@pytest.mark.parametrize("lengths", [[1], [95], [96, 1], [97, 96, 40, 40, 3], [500]], ids=str)
def test_a_layer_is_the_same_as_step_by_step(layer: BertLayer, lengths: list[int]) -> None:
    states = torch.randn(sum(lengths), 72)
    by_step = copy.deepcopy(layer)
    for name in ("queries_keys_values", "attended", "expand", "contract"):
        setattr(by_step, name, ByteLinear(getattr(by_step, name)))
    layer.use_bytes()
    found, expected = (one.read_packed(states, np.array(lengths)) for one in (layer, by_step))
    # The last bit of a number may decide how it is rounded to a byte.
    assert (found - expected).abs().mean() < 1e-4
    assert (found - expected).abs().max() < 0.05


@torch.inference_mode()
def test_a_window_does_not_depend_on_others(layer: BertLayer) -> None:
    layer.use_bytes()
    lengths = np.array([130, 70, 70, 33, 8, 7, 2, 1])
    windows = torch.randn(int(lengths.sum()), 72).split(lengths.tolist())
    together = layer.read_packed(torch.cat(windows), lengths).split(lengths.tolist())
    for window, found in zip(windows, together, strict=True):
        assert torch.equal(layer.read_packed(window, np.array([len(window)])), found)


@pytest.mark.parametrize(
    ("length", "heads", "width"), [(1, 2, 32), (20, 12, 32), (33, 3, 24), (64, 1, 100), (5, 4, 64)]
)
@pytest.mark.parametrize("scale", [1, 5])
def test_attention_is_that_of_torch(length: int, heads: int, width: int, scale: int) -> None:
    torch.manual_seed(length)
    first, size = 3, heads * width
    projected = scale * torch.randn(first + length + ROWS, 3 * size)
    found = torch.full((first + length, size), torch.nan)
    attend(projected.flatten().numpy(), first, length, heads, size, found.numpy())
    window = projected[first : first + length].view(length, 3, heads, width)
    query, key, value = window.permute(1, 2, 0, 3)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value)
    expected = expected.transpose(0, 1).reshape(length, size)
    torch.testing.assert_close(found[first:], expected, rtol=1e-3, atol=1e-4)
    assert found[:first].isnan().all()


def test_gelu_is_that_of_torch() -> None:
    values = torch.cat((torch.linspace(-8, 8, 4001), torch.tensor([0.0, -100, 100, -1e30, 1e30])))
    found = values.clone()[None]
    gelu(found.numpy())
    torch.testing.assert_close(found[0], torch.nn.functional.gelu(values), rtol=1e-6, atol=2e-6)
