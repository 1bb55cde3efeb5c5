"""Layers of a transformer with int8 products, step by step and window by window."""

import copy
import pickle

import numpy as np
import pytest
import torch

from treecrf.nn.int8.attention_kernel import ROWS, attend
from treecrf.nn.int8.linear import ByteLinear
from treecrf.nn.int8.transformer_kernel import gelu
from treecrf.nn.transformer.bert import BertEncoder, BertLayer, BertShape


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
@pytest.mark.parametrize("shares", [[0.5], [0.1, 0.7, -0.2], [0.1, 0.2, 0.3, 0.4]], ids=len)
@pytest.mark.parametrize("lengths", [[1], [60, 5], [130, 33, 70, 2]], ids=str)
def test_a_stack_is_the_same_as_its_layers(lengths: list[int], shares: list[float]) -> None:
    torch.manual_seed(1)
    shape = BertShape(vocabulary=9, size=64, layers=3, heads=2, feed_forward=96, positions=150)
    encoder = BertEncoder(shape, dropout=0.0).eval()
    encoder.use_bytes()
    sizes, wanted = torch.tensor(lengths), np.array(shares, np.float32)
    pieces = torch.randint(9, (len(lengths), max(lengths)))
    found = torch.from_numpy(encoder.read_mixed(pieces, sizes, shares=wanted)).split(lengths)
    again = pickle.loads(pickle.dumps(encoder)).read_mixed(pieces, sizes, shares=wanted)
    states, packed = encoder.read_packed(pieces, sizes)
    mixed = sum(share * state for share, state in zip(shares, states[-len(shares) :], strict=True))
    for window, rows in enumerate(found):
        # The last bit of a number may decide how it is rounded to a byte.
        torch.testing.assert_close(rows, mixed[packed[window, : len(rows)]], atol=0.05, rtol=0.01)
    torch.testing.assert_close(torch.cat(found), torch.from_numpy(again), atol=0.05, rtol=0.01)


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
