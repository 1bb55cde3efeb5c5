"""The LSTM in products of bytes beside the one of torch, within what rounding may do."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from treecrf.nn.affine import TriaffineSiblings
from treecrf.nn.int8.convert import use_byte_products
from treecrf.nn.int8.linear import ByteLinear
from treecrf.nn.int8.lstm import ByteLSTM

LENGTHS = (40, 17, 17, 9, 3, 1, 1)


def lstm_of(inputs: int, size: int) -> nn.LSTM:
    torch.manual_seed(1)
    return nn.LSTM(inputs, size, bidirectional=True)


def sequences(size: int) -> list[torch.Tensor]:
    torch.manual_seed(2)
    return [torch.randn(length, size) for length in LENGTHS]


@torch.inference_mode()
@pytest.mark.parametrize(("inputs", "size"), [(7, 5), (64, 48), (130, 100)])
def test_outputs_and_last_states_are_near(inputs: int, size: int) -> None:
    lstm, packed = lstm_of(inputs, size), pack_sequence(sequences(inputs))
    exact, (exact_last, _) = lstm(packed)
    found, (last, _) = ByteLSTM(lstm)(packed)
    # Rounding puts numbers off by at most a 254th of the largest of their row: a gate has a sum of
    # inputs + size such errors of either sign, of inputs or states and of weights below the bound.
    bound = size**-0.5
    largest = float(packed.data.abs().max())
    deviation = bound * largest / 254 * (2 * (inputs + size)) ** 0.5
    # A state is at most as far off as the gates that it comes from, and passes that on in part.
    assert (found.data - exact.data).abs().max() < 4 * deviation
    assert (last - exact_last).abs().max() < 4 * deviation
    assert (found.data - exact.data).norm() < 0.03 * exact.data.norm()
    assert torch.equal(found.batch_sizes, packed.batch_sizes)


@torch.inference_mode()
def test_a_sequence_does_not_depend_on_others() -> None:
    lstm = ByteLSTM(lstm_of(9, 20))
    given = sequences(9)
    packed = pack_sequence(given)
    together, (last, _) = lstm(packed)
    sequence = torch.cat([torch.arange(int(alive)) for alive in packed.batch_sizes])
    for number, tokens in enumerate(given):
        alone, (alone_last, _) = lstm(
            PackedSequence(tokens, torch.ones(len(tokens), dtype=torch.int64))
        )
        assert torch.equal(together.data[sequence == number], alone.data)
        assert torch.equal(last[:, number], alone_last[:, 0])


@torch.inference_mode()
def test_large_gates_are_those_of_a_saturated_lstm() -> None:
    lstm = lstm_of(4, 16)
    for name, parameter in lstm.named_parameters():
        if name.startswith("bias"):
            parameter.fill_(50.0 if "reverse" in name else -50.0)
    exact, found = (layer(pack_sequence(sequences(4)))[0].data for layer in (lstm, ByteLSTM(lstm)))
    torch.testing.assert_close(found, exact, rtol=0, atol=1e-5)


@torch.inference_mode()
def test_all_that_multiplies_within_a_module_is_replaced() -> None:
    form = TriaffineSiblings(4)
    inner = nn.Sequential(nn.ReLU(), nn.Linear(8, 3), nn.LSTM(4, 4, bidirectional=True))
    module = nn.Sequential(nn.Linear(8, 8), inner, form)
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    use_byte_products(module)
    assert [type(layer) for layer in (module[0], *inner)] == [
        ByteLinear,
        nn.ReLU,
        ByteLinear,
        ByteLSTM,
    ]
    assert form.rounded is not None
    after = module.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
