"""The BiLSTM over packed sentences: the same as one sentence at a time, with dropout as stated."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from treecrf.nn.bilstm import BiLSTM
from treecrf.nn.dropout import InputDropout, SharedDropout
from treecrf.nn.lstm.fused import can_fuse, use_fused_lstm

LENGTHS = (5, 3, 3, 1)

interpreted = pytest.mark.skipif(torch.cuda.is_available(), reason="kernels are compiled")


def packed_sentences(size: int) -> tuple[PackedSequence, torch.Tensor, list[torch.Tensor]]:
    sentences = [torch.randn(length, size) for length in LENGTHS]
    packed = pack_sequence(sentences)
    sentence = torch.cat([torch.arange(int(alive)) for alive in packed.batch_sizes])
    return packed, sentence, sentences


def bilstm(recurrent_dropout: float = 0.0) -> BiLSTM:
    return BiLSTM(4, 6, layers=2, dropout=0.3, recurrent_dropout=recurrent_dropout)


def test_neighbours_in_a_batch_change_nothing() -> None:
    packed, sentence, sentences = packed_sentences(4)
    module = bilstm().eval()
    together = module(packed.data, packed.batch_sizes, sentence)
    for number, tokens in enumerate(sentences):
        alone = module(
            tokens, torch.ones(len(tokens), dtype=torch.int64), torch.zeros(len(tokens)).long()
        )
        torch.testing.assert_close(together[sentence == number], alone)


def test_weights_are_orthogonal_and_biases_zero() -> None:
    for layer in bilstm().layers:
        for name, parameter in layer.named_parameters():
            if name.startswith("bias"):
                assert not parameter.any()
            else:
                small = parameter if parameter.shape[0] < parameter.shape[1] else parameter.T
                torch.testing.assert_close(
                    small @ small.T, torch.eye(len(small)), rtol=0, atol=1e-5
                )


def test_recurrent_dropout_masks_the_state_of_the_whole_batch() -> None:
    torch.manual_seed(1)
    module = BiLSTM(4, 6, layers=2, dropout=0.0, recurrent_dropout=0.5).train()
    packed, sentence, _ = packed_sentences(4)
    torch.manual_seed(7)
    output = module(packed.data, packed.batch_sizes, sentence)
    torch.manual_seed(7)
    masks = torch.empty(2, 2, 6).bernoulli_(0.5) / 0.5
    assert set(masks.flatten().tolist()) == {0.0, 2.0}
    layers = [nn.LSTM(4, 6, bidirectional=True), nn.LSTM(12, 6, bidirectional=True)]
    expected = packed
    for layer, original, mask in zip(layers, module.layers, masks, strict=True):
        layer.load_state_dict(original.state_dict())
        layer.weight_hh_l0.data *= mask[0]
        layer.weight_hh_l0_reverse.data *= mask[1]
        expected = layer(expected)[0]
    torch.testing.assert_close(output, expected.data)
    output.square().sum().backward()
    expected.data.square().sum().backward()
    for layer, original, mask in zip(layers, module.layers, masks, strict=True):
        for (name, weights), other in zip(
            original.named_parameters(), layer.parameters(), strict=True
        ):
            gradient = other.grad
            if name.startswith("weight_hh"):
                gradient = gradient * mask[int(name.endswith("reverse"))]
            torch.testing.assert_close(weights.grad, gradient)


def read_alone(layer: nn.LSTM, tokens: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Outputs of one sentence, a cell at a time; masks are `[direction, unit]`."""
    columns = []
    for direction, suffix in enumerate(("", "_reverse")):
        weights = [
            getattr(layer, f"{name}_l0{suffix}")
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        ]
        state = cell = tokens.new_zeros(1, layer.hidden_size)
        outputs = []
        for token in tokens.flip(0) if direction else tokens:
            state, cell = torch.lstm_cell(token[None], (state * masks[direction], cell), *weights)
            outputs.append(state)
        columns.append(torch.cat(outputs[::-1] if direction else outputs))
    return torch.cat(columns, 1)


@pytest.mark.parametrize(
    ("fused", "dtype"),
    [
        (False, torch.float64),
        (False, torch.float32),
        pytest.param(True, torch.float32, marks=interpreted),
    ],
)
@pytest.mark.parametrize("lengths", [(5, 3, 3, 1), (7,), (1, 1), (63, 17, 17, 16, 2)])
def test_a_recurrent_mask_a_sentence_is_that_of_cells(
    lengths: tuple[int, ...], dtype: torch.dtype, fused: bool
) -> None:
    torch.manual_seed(1)
    module = BiLSTM(
        4, 6, layers=2, dropout=0.0, recurrent_dropout=0.5, mask_sentences=True, input_dropout=0.3
    ).train()
    module.to(dtype)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    sentences = [torch.randn(length, 4, dtype=dtype) for length in lengths]
    packed = pack_sequence(sentences)
    sentence = torch.cat([torch.arange(int(alive)) for alive in packed.batch_sizes])
    tokens = packed.data.clone().requires_grad_()
    torch.manual_seed(7)
    with use_fused_lstm(fused):
        assert can_fuse(tokens, 6) == fused
        output = module(tokens, packed.batch_sizes, sentence)
    torch.manual_seed(7)
    input_masks = torch.empty(len(lengths), 4, dtype=dtype).bernoulli_(0.7) / 0.7
    masks = torch.empty(2, 2, len(lengths), 6, dtype=dtype).bernoulli_(0.5) / 0.5
    by_sentence = []
    for number in range(len(lengths)):
        expected = tokens[sentence == number] * input_masks[number]
        for layer, layer_masks in zip(module.layers, masks, strict=True):
            expected = read_alone(layer, expected, layer_masks[:, number])
        by_sentence.append(expected)
    together = pack_sequence(by_sentence).data
    tolerance = 1e-10 if dtype == torch.float64 else 2e-5
    torch.testing.assert_close(output, together, rtol=tolerance, atol=tolerance)
    upstream = torch.randn(output.shape, dtype=dtype)
    leaves = [tokens, *module.parameters()]
    found, wanted = (
        torch.autograd.grad((one * upstream).sum(), leaves) for one in (output, together)
    )
    scale = max(float(gradient.abs().max()) for gradient in wanted)
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance * max(1, scale))


@pytest.mark.parametrize("mask_sentences", [False, True])
def test_nothing_is_masked_after_training(mask_sentences: bool) -> None:
    packed, sentence, _ = packed_sentences(4)
    module = BiLSTM(
        4, 6, layers=2, dropout=0.3, recurrent_dropout=0.5, mask_sentences=mask_sentences,
        input_dropout=0.5,
    )  # fmt: skip
    plain = bilstm()
    plain.load_state_dict(module.state_dict())
    torch.testing.assert_close(
        module.eval()(packed.data, packed.batch_sizes, sentence),
        plain.eval()(packed.data, packed.batch_sizes, sentence),
    )


@pytest.mark.gpu
def test_a_gpu_reads_masked_weights_where_they_are() -> None:
    """It warns of weights that it has to copy, and warnings are errors here."""
    packed, sentence, _ = packed_sentences(4)
    module = bilstm(recurrent_dropout=0.5).train().cuda()
    with use_fused_lstm(False):
        output = module(packed.data.cuda(), packed.batch_sizes, sentence.cuda())
    output.sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())


def test_a_layer_drops_features_of_its_own() -> None:
    module = bilstm().train()
    packed, sentence, _ = packed_sentences(4)
    first = module(packed.data, packed.batch_sizes, sentence)
    for number in range(len(LENGTHS)):
        dropped = first[sentence == number] == 0
        assert (dropped == dropped[0]).all()
    masks = module.between.masks(first, sentence, (2, len(LENGTHS), 12))
    assert masks is not None
    assert masks.shape == (2, len(sentence), 12)
    assert not torch.equal(masks[0], masks[1])


def test_shared_dropout_has_one_mask_a_sentence() -> None:
    dropout = SharedDropout(0.5).train()
    _, sentence, _ = packed_sentences(4)
    dropped = dropout(torch.ones(len(sentence), 50), sentence, len(LENGTHS))
    for number in range(len(LENGTHS)):
        rows = dropped[sentence == number]
        assert (rows == rows[0]).all()
        assert set(rows.flatten().tolist()) == {0.0, 2.0}
    assert not torch.equal(dropped[0], dropped[1])
    ones = torch.ones(len(sentence), 50)
    assert dropout.eval()(ones, sentence, len(LENGTHS)) is ones


def test_inputs_that_are_left_make_up_for_dropped_ones() -> None:
    dropout = InputDropout(0.5).train()
    word, characters = torch.ones(1000, 3), torch.ones(1000, 2)
    dropped = dropout([word, characters])
    assert dropped.shape == (1000, 5)
    by_token = torch.stack((dropped[:, 0], dropped[:, 4]), 1)
    assert (dropped[:, :3] == dropped[:, :1]).all()
    assert set(map(tuple, by_token.tolist())) == {(0, 0), (2, 0), (0, 2), (1, 1)}
