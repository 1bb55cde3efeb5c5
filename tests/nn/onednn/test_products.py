"""Layers with weights packed for oneDNN beside those of torch."""

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from tests.parser.models import LOSSES, SMALL, batch_of, random_scorer, sentences_of
from treecrf.nn.affine import BiaffineArcs, BiaffineRelations, TriaffineSiblings
from treecrf.nn.bilstm import BiLSTM
from treecrf.nn.onednn.convert import use_packed_products
from treecrf.nn.onednn.linear import PackedLinear
from treecrf.nn.onednn.lstm import PackedLSTM

pytestmark = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(), reason="this torch has no oneDNN"
)


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


@torch.inference_mode()
@pytest.mark.parametrize("shape", [(7,), (1, 7), (63, 7), (3, 5, 7), (0, 7)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(shape: tuple[int, ...], bias: bool) -> None:
    linear = nn.Linear(7, 33, bias=bias)
    torch.testing.assert_close(PackedLinear(linear)(random(*shape)), linear(random(*shape)))


@torch.inference_mode()
@pytest.mark.parametrize("lengths", [[9, 9, 4, 1], [1], [40], [3] * 70])
@pytest.mark.parametrize(("inputs", "size"), [(5, 16), (50, 48)])
def test_lstm(lengths: list[int], inputs: int, size: int) -> None:
    lstm = nn.LSTM(inputs, size, bidirectional=True)
    packed = pack_sequence([random(length, inputs) for length in lengths])
    found, _ = PackedLSTM(lstm)(packed)
    assert isinstance(found, PackedSequence)
    torch.testing.assert_close(found.data, lstm(packed)[0].data, rtol=0, atol=1e-5)
    assert torch.equal(found.batch_sizes, packed.batch_sizes)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_packed_weights_are_copied(copied: Callable[[PackedLinear], PackedLinear]) -> None:
    layer = PackedLinear(nn.Linear(7, 33))
    with torch.inference_mode():
        assert torch.equal(copied(layer)(random(3, 7)), layer(random(3, 7)))


def test_gradients_are_as_ever() -> None:
    linear, lstm = nn.Linear(7, 5), nn.LSTM(7, 16, bidirectional=True)
    packed = pack_sequence([random(3, 7)])
    for layer, other in ((linear, PackedLinear(linear)), (lstm, PackedLSTM(lstm))):
        given = packed.data if layer is linear else packed
        gradients = []
        for one in (layer, other):
            outputs = one(given)
            values = outputs if layer is linear else outputs[0].data
            gradients.append(torch.autograd.grad(values.sum(), list(layer.parameters())))
        for own, expected in zip(*gradients, strict=True):
            assert torch.equal(own, expected)


@pytest.mark.parametrize("kind", ["arcs", "relations", "siblings"])
def test_affine_forms(kind: str) -> None:
    form: BiaffineArcs | BiaffineRelations | TriaffineSiblings
    if kind == "arcs":
        form, given = BiaffineArcs(6), [random(2, 5, 6)] * 2
    elif kind == "relations":
        form, given = BiaffineRelations(6, 4), [random(9, 6)] * 2
    else:
        form, given = TriaffineSiblings(6), [random(2, 5, 6)] * 3
    nn.init.normal_(form.weight, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = form(*given)
        form.use_packed()
        torch.testing.assert_close(form(*given), expected)
    assert form(*given).requires_grad


@pytest.mark.parametrize("loss", LOSSES)
def test_a_packed_network_scores_alike(loss: str) -> None:
    config = SMALL.changed({"loss": loss, "lstm_size": PackedLSTM.UNITS})
    scorer = random_scorer(config).float()
    names = list(scorer.state_dict())
    batch = batch_of(sentences_of([2, 5, 9]), config)
    with torch.inference_mode():
        expected = scorer(batch)
        use_packed_products(scorer)
        bilstm = scorer.reader.bilstm
        assert isinstance(bilstm, BiLSTM)
        assert all(isinstance(layer, PackedLSTM) for layer in bilstm.layers)
        for role, vectors in scorer(batch).items():
            torch.testing.assert_close(vectors, expected[role], rtol=0, atol=1e-5)
    assert list(scorer.state_dict()) == names
