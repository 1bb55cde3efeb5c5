"""The LSTM layer for single sequences on the CPU equals `nn.LSTM`."""

import pytest
import torch
from torch import nn

from treecrf.nn.lstm.cpu import can_run_alone, pack_layer, run_alone


@pytest.mark.parametrize(
    ("features", "units", "steps"), [(3, 16, 1), (7, 48, 63), (56, 64, 173), (5, 128, 9)]
)
def test_a_sequence_is_read_as_torch_reads_it(features: int, units: int, steps: int) -> None:
    torch.manual_seed(steps)
    layer = nn.LSTM(features, units, bidirectional=True)
    # Scaled up so that gates are saturated as well.
    tokens = 4 * torch.randn(steps, features)
    with torch.inference_mode():
        assert can_run_alone([layer], tokens)
        packed = pack_layer(layer)
        found = run_alone([packed], [one.gates(tokens) for one in packed])
        expected = layer(tokens)[0]
    torch.testing.assert_close(found, expected, atol=2e-6, rtol=1e-5)


def test_context_is_read_and_has_no_outputs() -> None:
    torch.manual_seed(0)
    layers = [nn.LSTM(8, 16, bidirectional=True), nn.LSTM(32, 16, bidirectional=True)]
    tokens = torch.randn(41, 8)
    with torch.inference_mode():
        packed = list(map(pack_layer, layers))
        gates = [one.gates(tokens) for one in packed[0]]
        torch.testing.assert_close(
            run_alone(packed, gates, context=7), run_alone(packed, gates)[7:-7]
        )


def test_gradients_and_odd_layers_are_left_to_torch() -> None:
    tokens = torch.randn(5, 8)
    assert not can_run_alone([nn.LSTM(8, 16, bidirectional=True)], tokens)  # gradients are on
    with torch.inference_mode():
        assert can_run_alone([nn.LSTM(8, 16, bidirectional=True)], tokens)
        assert not can_run_alone([nn.LSTM(8, 20, bidirectional=True)], tokens)
        assert not can_run_alone([nn.LSTM(8, 512, bidirectional=True)], tokens)
        assert not can_run_alone([nn.LSTM(8, 16, bidirectional=True).double()], tokens.double())
