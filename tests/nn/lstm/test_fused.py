"""The fused LSTM layer equals `nn.LSTM`, in Triton's interpreter where there is no GPU."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from treecrf.nn.bilstm import BiLSTM, lstm_weights
from treecrf.nn.embedding import CharLSTM
from treecrf.nn.lstm.fused import (
    can_fuse,
    fused_lstm,
    last_states,
    packed_steps,
    use_fused_lstm,
)
from treecrf.nn.lstm.stepwise import stepwise_lstm
from treecrf.nn.lstm.tiles import Share, Tile, fit_memory, share_out, tiles_for
from treecrf.nn.precision import FAST, product_precision, set_product_precision

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
FEATURES = 6
# Smaller than sizes and batches, so that programs share units and go through several groups.
SMALL = Tile(sentences=16, units=16, depth=32, warps=4, stages=2)
# By the number of sentences.
LENGTHS = {
    1: [7],
    3: [9, 4, 1],
    33: [9, 9, 8, 7, 7, 6, *[5] * 4, 4, 4, *[3] * 5, *[2] * 6, *[1] * 10],
}


@pytest.fixture
def fresh_memory_is_nan() -> Iterator[None]:
    """A number that was never written shows in the results."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        assert torch.empty(1000, device=DEVICE).isnan().all()
        assert torch.ones(1, device=DEVICE).new_empty(2, 500).isnan().all()
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def random_sentences(lengths: list[int], features: int = FEATURES) -> PackedSequence:
    generator = torch.Generator().manual_seed(len(lengths))
    return pack_sequence([torch.randn(length, features, generator=generator) for length in lengths])


def answers(
    layer: nn.LSTM, tokens: Tensor, read: Callable[[Tensor], tuple[Tensor, Tensor]]
) -> list[Tensor]:
    """Outputs, last states, and the gradients of a sum of both by tokens and weights."""
    generator = torch.Generator().manual_seed(1)
    tokens = tokens.requires_grad_()
    outputs, last = read(tokens)
    total = torch.zeros((), device=tokens.device)
    for result in (outputs, last):
        total += (result * torch.randn(result.shape, generator=generator).to(result)).sum()
    gradients = torch.autograd.grad(total, [tokens, *lstm_weights(layer)])
    return [result.detach().cpu() for result in (outputs, last, *gradients)]


def of_the_library(layer: nn.LSTM, packed: PackedSequence) -> list[Tensor]:
    def read(tokens: Tensor) -> tuple[Tensor, Tensor]:
        outputs, (last, _) = layer(PackedSequence(tokens, packed.batch_sizes))
        return outputs.data, last.transpose(0, 1).flatten(1)

    return answers(layer, packed.data.clone(), read)


def of_the_kernels(
    layer: nn.LSTM,
    packed: PackedSequence,
    *,
    masks: Tensor | None = None,
    tiles: tuple[Tile, Tile] | None = None,
) -> list[Tensor]:
    def read(tokens: Tensor) -> tuple[Tensor, Tensor]:
        steps = packed_steps(packed.batch_sizes, tokens.device)
        weights = lstm_weights(layer)
        outputs = fused_lstm(tokens, steps, weights, state_masks=masks, tiles=tiles)
        return outputs, last_states(outputs, steps)

    return answers(layer, packed.data.clone(), read)


def one_step_at_a_time(layer: nn.LSTM, packed: PackedSequence, masks: Tensor) -> list[Tensor]:
    def read(tokens: Tensor) -> tuple[Tensor, Tensor]:
        weights = lstm_weights(layer)
        outputs = stepwise_lstm(tokens, packed.batch_sizes, weights, state_masks=masks)
        return outputs, last_states(outputs, packed_steps(packed.batch_sizes, tokens.device))

    return answers(layer, packed.data.clone(), read)


@pytest.mark.usefixtures("fresh_memory_is_nan")
@pytest.mark.filterwarnings("ignore:.*[Dd]eterministic")
@pytest.mark.parametrize("sentences", LENGTHS)
@pytest.mark.parametrize(
    ("size", "small"),
    [
        *((5, False), (17, False), (5, True)),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((70, False), (40, True))),
    ],
    ids=lambda value: {False: "chosen tiles", True: "small tiles"}.get(value, value),
)
def test_outputs_and_gradients_are_those_of_the_library(
    size: int, sentences: int, small: bool
) -> None:
    torch.manual_seed(size)
    layer = nn.LSTM(FEATURES, size, bidirectional=True)
    packed = random_sentences(LENGTHS[sentences])
    expected = of_the_library(layer, packed)  # on the CPU, where it is as precise as it says
    layer.to(DEVICE)
    tiles = (SMALL, SMALL) if small else None
    found = of_the_kernels(layer, packed.to(DEVICE), tiles=tiles)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("fresh_memory_is_nan")
@pytest.mark.filterwarnings("ignore:.*[Dd]eterministic")
@pytest.mark.parametrize("sentences", LENGTHS)
@pytest.mark.parametrize(
    ("size", "tiles"), [(17, None), (70, None), (40, (SMALL, SMALL))], ids=["17", "70", "small"]
)
def test_states_masked_by_the_sentence(
    size: int, sentences: int, tiles: tuple[Tile, Tile] | None
) -> None:
    """As one step at a time, which `test_bilstm` holds to cells of single sentences."""
    torch.manual_seed(size)
    layer = nn.LSTM(FEATURES, size, bidirectional=True)
    packed = random_sentences(LENGTHS[sentences])
    masks = torch.empty(2, sentences, size).bernoulli_(0.67) / 0.67
    expected = one_step_at_a_time(layer, packed, masks)
    layer.to(DEVICE)
    found = of_the_kernels(layer, packed.to(DEVICE), masks=masks.to(DEVICE), tiles=tiles)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_gradients_add_up() -> None:
    """An optimiser scales and adds to a gradient where it is: no two may share their memory."""
    layer = nn.LSTM(FEATURES, 5, bidirectional=True)
    packed = random_sentences(LENGTHS[3])
    for _ in range(2):
        layer(packed)[0].data.sum().backward()
    expected = [weight.grad for weight in lstm_weights(layer)]
    layer.zero_grad()  # before the move, which would take these along
    layer.to(DEVICE)
    packed = packed.to(DEVICE)
    steps = packed_steps(packed.batch_sizes, DEVICE)
    for _ in range(2):
        fused_lstm(packed.data, steps, lstm_weights(layer)).sum().backward()
    found = [weight.grad for weight in lstm_weights(layer)]
    for one, other in zip(found, expected, strict=True):
        assert one is not None
        torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-5)
    assert len({gradient.data_ptr() for gradient in found}) == len(found)


@pytest.mark.parametrize("frozen", ["tokens", "weights"])
def test_what_is_frozen_has_no_gradient(frozen: str) -> None:
    layer = nn.LSTM(FEATURES, 5, bidirectional=True).to(DEVICE)
    packed = random_sentences(LENGTHS[3]).to(DEVICE)
    tokens = packed.data.clone().requires_grad_(frozen != "tokens")
    layer.requires_grad_(frozen != "weights")
    outputs = fused_lstm(tokens, packed_steps(packed.batch_sizes, DEVICE), lstm_weights(layer))
    outputs.square().sum().backward()
    gradients = {"tokens": [tokens.grad], "weights": [one.grad for one in lstm_weights(layer)]}
    assert all(one is None for one in gradients.pop(frozen))
    assert all(one is not None and one.any() for kept in gradients.values() for one in kept)


def test_tokens_may_lie_apart_in_memory() -> None:
    layer = nn.LSTM(FEATURES, 5, bidirectional=True).to(DEVICE)
    packed = random_sentences(LENGTHS[3], 2 * FEATURES).to(DEVICE)
    steps = packed_steps(packed.batch_sizes, DEVICE)
    apart = packed.data[:, ::2].requires_grad_()
    together = apart.detach().contiguous().requires_grad_()
    results = []
    for tokens in (apart, together):
        outputs = fused_lstm(tokens, steps, lstm_weights(layer))
        # The gradients of a part of the outputs are as a view has them.
        results.append([outputs, *torch.autograd.grad(outputs[:, ::3].sum(), [tokens])])
    torch.testing.assert_close(*results)


def test_there_is_no_second_derivative() -> None:
    layer = nn.LSTM(FEATURES, 5, bidirectional=True).to(DEVICE)
    packed = random_sentences(LENGTHS[1]).to(DEVICE)
    tokens = packed.data.requires_grad_()
    outputs = fused_lstm(tokens, packed_steps(packed.batch_sizes, DEVICE), lstm_weights(layer))
    (gradient,) = torch.autograd.grad(outputs.square().sum(), tokens, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_the_table_has_first_tokens_and_lengths() -> None:
    steps = packed_steps(random_sentences([4, 2, 2, 1]).batch_sizes, torch.device("cpu"))
    assert (steps.steps, steps.sentences) == (4, 4)
    assert steps.table.tolist() == [0, 4, 7, 8, 4, 2, 2, 1]
    assert steps.last.tolist() == [2 * 8, 1, 2 * 5, 3, 2 * 6, 5, 2 * 3, 7]


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU has more multiprocessors")
def test_small_tiles_make_teams_that_take_turns() -> None:
    """Else the test above would not run through every loop."""
    assert share_out(SMALL, 33, 40, DEVICE) == Share(team=2, teams=1)  # 3 blocks of units, 3 groups
    assert share_out(SMALL, 33, 16, DEVICE) == Share(team=1, teams=3)


def test_more_sentences_have_larger_tiles() -> None:
    by_sentences = [tiles_for(count, 400, processors=132) for count in (60, 200, 800)]
    assert [forward.sentences for forward, _ in by_sentences] == [32, 64, 128]
    assert [backward.sentences for _, backward in by_sentences] == [32, 64, 64]
    narrow, also_narrow = tiles_for(800, 50, processors=132)
    assert narrow == also_narrow
    assert narrow.units >= 50  # a program alone has all units


def test_a_small_gpu_has_fewer_pieces_on_their_way() -> None:
    # 48 KiB a piece, of 4 products.
    tile = Tile(sentences=64, units=32, depth=64, warps=8, stages=3)
    assert fit_memory(tile, 4, 227 << 10) == tile
    assert fit_memory(tile, 4, 99 << 10).stages == 2
    assert fit_memory(tile, 1, 99 << 10) == tile
    assert fit_memory(tile, 4, 32 << 10).stages == 1


def test_tokens_without_gradients_are_read_alike() -> None:
    layer = nn.LSTM(FEATURES, 17, bidirectional=True).to(DEVICE)
    packed = random_sentences(LENGTHS[3]).to(DEVICE)
    steps = packed_steps(packed.batch_sizes, DEVICE)
    kept = fused_lstm(packed.data, steps, lstm_weights(layer))
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            outputs = fused_lstm(packed.data, steps, lstm_weights(layer))
        assert not outputs.requires_grad
        assert torch.equal(outputs, kept)


@pytest.mark.filterwarnings("ignore:overflow encountered in exp")  # whose inverse is 0, as it is
def test_large_numbers_saturate() -> None:
    layer = nn.LSTM(FEATURES, 5, bidirectional=True)
    packed = random_sentences(LENGTHS[3])
    packed = packed._replace(data=1e2 * packed.data)
    expected = of_the_library(layer, packed)
    found = of_the_kernels(layer.to(DEVICE), packed.to(DEVICE))
    torch.testing.assert_close(found[:2], expected[:2], rtol=1e-4, atol=1e-4)
    assert all(gradient.isfinite().all() for gradient in found)


@pytest.mark.parametrize("mask_sentences", [False, True], ids=["batch mask", "sentence masks"])
@pytest.mark.parametrize("recurrent_dropout", [0.0, 0.5])
def test_a_bilstm_is_the_same_with_it(recurrent_dropout: float, mask_sentences: bool) -> None:
    torch.manual_seed(1)
    module = BiLSTM(
        4,
        6,
        layers=2,
        dropout=0.3,
        recurrent_dropout=recurrent_dropout,
        mask_sentences=mask_sentences,
    )
    module.train().to(DEVICE)
    packed = random_sentences(LENGTHS[3], features=4).to(DEVICE)
    sentence = torch.cat([torch.arange(int(alive)) for alive in packed.batch_sizes]).to(DEVICE)

    def run(fused: bool) -> list[Tensor]:
        torch.manual_seed(7)
        with use_fused_lstm(fused):
            assert can_fuse(packed.data, 6) == fused
            output = module(packed.data, packed.batch_sizes, sentence)
            gradients = torch.autograd.grad(output.square().sum(), list(module.parameters()))
        return [output, *gradients]

    tolerance = 1e-2 if DEVICE.type == "cuda" else 1e-5  # cuDNN is less precise than it says
    torch.testing.assert_close(run(True), run(False), rtol=tolerance, atol=tolerance)


def test_a_char_lstm_is_the_same_with_it() -> None:
    torch.manual_seed(1)
    module = CharLSTM(20, 5, 14).to(DEVICE)
    packed = random_sentences(LENGTHS[33], features=1).to(DEVICE)
    characters = torch.randint(20, (len(packed.data),), device=DEVICE)

    def run(fused: bool) -> list[Tensor]:
        with use_fused_lstm(fused):
            assert can_fuse(packed.data, 7) == fused
            vectors = module(characters, packed.batch_sizes)
            gradients = torch.autograd.grad(vectors.square().sum(), list(module.parameters()))
        return [vectors, *gradients]

    tolerance = 1e-2 if DEVICE.type == "cuda" else 1e-5
    torch.testing.assert_close(run(True), run(False), rtol=tolerance, atol=tolerance)


def test_the_library_reads_what_the_kernels_cannot() -> None:
    tokens = torch.ones(3, 4, device=DEVICE)
    assert can_fuse(tokens, 400) == (DEVICE.type == "cuda")  # the interpreter is for tests alone
    with use_fused_lstm(True):
        assert can_fuse(tokens, 400)
        assert not can_fuse(tokens.double(), 400)
        assert not can_fuse(tokens[:0], 400)
        assert not can_fuse(tokens, 4000)
        with torch.autocast(DEVICE.type, torch.bfloat16):  # nothing is computed in it
            assert not can_fuse(tokens, 400)
    with use_fused_lstm(False):
        assert not can_fuse(tokens, 400)


def test_a_cpu_does_not_wait_for_triton() -> None:
    program = """
import sys, torch
from treecrf.nn.bilstm import BiLSTM
module = BiLSTM(4, 6, layers=1, dropout=0.0, recurrent_dropout=0.0)
module(torch.ones(3, 4), torch.tensor([2, 1]), torch.tensor([0, 1, 0]))
print("triton" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.split() == ["False"], result.stderr


@pytest.fixture
def tensor_cores() -> Iterator[None]:
    before = product_precision()
    set_product_precision(FAST)
    yield
    set_product_precision(before)


@pytest.mark.gpu
@pytest.mark.parametrize("precise", [False, True], ids=["tensor cores", "precise"])
@pytest.mark.parametrize("longest", [25, 60])
@pytest.mark.parametrize("sentences", [1, 20, 60, 200, 800])
def test_large_layers_on_a_gpu(
    sentences: int, longest: int, precise: bool, tensor_cores: None
) -> None:
    """As close to the library on the CPU as tensor cores allow; a race would change a digit."""
    if precise:
        set_product_precision("ieee" if FAST == "tf32" else "highest")
    torch.manual_seed(sentences)
    lengths = torch.randint(1, longest + 1, (sentences,)).sort(descending=True).values.tolist()
    layer = nn.LSTM(100, 400, bidirectional=True)
    packed = random_sentences(lengths, features=100)
    expected = of_the_library(layer, packed)
    layer.cuda()
    packed = packed.to("cuda")
    found = of_the_kernels(layer, packed)
    for one, other in zip(found, expected, strict=True):
        assert (one - other).norm() <= (1e-5 if precise else 5e-3) * other.norm()
    for _ in range(20):
        assert all(map(torch.equal, of_the_kernels(layer, packed), found))
