"""Steps of Adam, their size, the average of weights, and going on from a state."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.parser.models import SMALL, VOCABULARY, batch_of, random_scorer
from treecrf.parser.batching.batch import make_batch
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.config import Config
from treecrf.parser.network.loss import training_loss
from treecrf.parser.training.optimiser import Optimisation
from treecrf.treebank import Sentence

CONFIG = replace(SMALL, loss="crf", learning_rate=0.01, average=0.9, clip=5.0, decay_steps=3)
SENTENCES = [
    Sentence(["a", "dog", "c"], [2, 0, 2], deprels=["x", "y", "z"]),
    Sentence(["b", "c"], [0, 1], deprels=["y", "z"]),
]


def optimisation_of(config: Config, *, seed: int = 0) -> Optimisation:
    return Optimisation(random_scorer(config, seed=seed).train(), config, epoch_steps=2)


def take_steps(optimisation: Optimisation, steps: int) -> None:
    batch = batch_of(SENTENCES, optimisation.config, annotated=True)
    for _ in range(steps):
        training_loss(optimisation.scorer, batch, optimisation.config).backward()
        optimisation.step()


def test_steps_lower_the_loss() -> None:
    optimisation = optimisation_of(CONFIG)
    batch = batch_of(SENTENCES, CONFIG, annotated=True)
    with torch.no_grad():
        before = float(training_loss(optimisation.scorer, batch, CONFIG))
    take_steps(optimisation, 30)
    for scorer in (optimisation.scorer, optimisation.averaged):
        with torch.no_grad():
            assert float(training_loss(scorer, batch, CONFIG)) < 0.7 * before


def test_vectors_that_never_change_are_kept_once() -> None:
    vectors = torch.randn(4, 3, dtype=torch.float64)
    optimisation = Optimisation(random_scorer(CONFIG, vectors=vectors), CONFIG, epoch_steps=2)
    for scorer in (optimisation.scorer, optimisation.averaged):
        assert scorer.reader.words.vectors.data_ptr() == vectors.data_ptr()
    own = [p.data_ptr() for p in optimisation.scorer.parameters()]
    assert set(own).isdisjoint(p.data_ptr() for p in optimisation.averaged.parameters())


def shares(config: Config, steps: int) -> list[float]:
    """What each step multiplies the learning rate by; without means Adam moves by that rate."""
    config = replace(config, beta1=0.0, beta2=0.0, clip=0.0)
    optimisation = optimisation_of(config)
    found = []
    for _ in range(steps):
        found.append(optimisation.share)
        before = optimisation.parameters[0].detach().clone()
        for parameter in optimisation.parameters:
            parameter.grad = torch.full_like(parameter, 3.0)
        optimisation.step()
        moved = before - optimisation.parameters[0].detach()
        expected = torch.full_like(moved, config.learning_rate * found[-1])
        torch.testing.assert_close(moved, expected)
    return found


def test_the_learning_rate_decays_smoothly() -> None:
    config = replace(CONFIG, decay=0.5, decay_steps=3)
    assert shares(config, 7) == pytest.approx([0.5 ** (step / 3) for step in range(7)])


def test_the_learning_rate_rises_first() -> None:
    """An epoch is two steps."""
    config = replace(CONFIG, decay=1.0, warmup=1.5)
    assert shares(config, 5) == pytest.approx([1 / 3, 2 / 3, 1, 1, 1])
    linear = replace(CONFIG, schedule="linear", epochs=4, warmup=1.0)
    assert shares(linear, 9) == pytest.approx([1 / 2, 1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6, 0])
    assert shares(replace(linear, warmup=0.0), 9) == pytest.approx(
        [left / 8 for left in range(8, -1, -1)]
    )


def test_gradients_are_clipped_and_forgotten() -> None:
    """Adam by hand: the first step is the sign of the gradient but for epsilon."""
    for clip, expected in ((0.0, 10.0), (2.0, 2.0), (100.0, 10.0)):
        config = replace(CONFIG, clip=clip, beta1=0.0, beta2=0.0, epsilon=10.0, learning_rate=1.0)
        optimisation = optimisation_of(config)
        before = copy.deepcopy(optimisation.scorer.state_dict())
        parameters = list(optimisation.scorer.parameters())
        for parameter in parameters:
            parameter.grad = torch.zeros_like(parameter)
        parameters[0].grad.view(-1)[0] = 10.0  # type: ignore[union-attr]
        optimisation.step()
        name = next(iter(before))
        moved = (before[name] - optimisation.scorer.state_dict()[name]).abs().max()
        assert float(moved) == pytest.approx(expected / (expected + 10.0), rel=1e-4)
        assert all(parameter.grad is None for parameter in parameters)


@pytest.mark.parametrize("scale", [0.01, 10.0])
def test_steps_are_those_of_torch(scale: float) -> None:
    """Of its Adam on gradients that are clipped before."""
    config = replace(CONFIG, epsilon=1e-8)
    optimisation, theirs = optimisation_of(config), random_scorer(config, seed=0)
    adam = torch.optim.Adam(
        theirs.parameters(), lr=1.0, betas=(config.beta1, config.beta2), eps=config.epsilon
    )
    generator = torch.Generator().manual_seed(1)
    for _ in range(5):
        pairs = list(zip(optimisation.parameters, theirs.parameters(), strict=True))
        for ours, other in pairs[1:]:  # the first has no gradient
            ours.grad = scale * torch.randn(ours.shape, generator=generator, dtype=ours.dtype)
            other.grad = ours.grad.clone()
        adam.param_groups[0]["lr"] = config.learning_rate * optimisation.share
        optimisation.step()
        norm = torch.nn.utils.clip_grad_norm_(theirs.parameters(), config.clip)
        assert (norm > config.clip) == (scale > 1)
        adam.step()
    for ours, other in zip(optimisation.parameters, theirs.parameters(), strict=True):
        torch.testing.assert_close(ours, other)


def test_the_average_follows_closely_at_first() -> None:
    optimisation = optimisation_of(CONFIG)
    expected = [parameter.detach().clone() for parameter in optimisation.scorer.parameters()]
    for step in range(1, 100):
        for parameter in optimisation.scorer.parameters():
            parameter.grad = torch.full_like(parameter, (-1.0) ** step)
        optimisation.step()
        keep = min(0.9, (1 + step) / (10 + step))
        for average, parameter in zip(expected, optimisation.scorer.parameters(), strict=True):
            average.copy_(keep * average + (1 - keep) * parameter.detach())
    for average, parameter in zip(expected, optimisation.averaged.parameters(), strict=True):
        torch.testing.assert_close(parameter.detach(), average)


def test_without_an_average_the_weights_themselves_are_kept() -> None:
    optimisation = optimisation_of(replace(CONFIG, average=0.0))
    assert optimisation.averaged is optimisation.scorer
    assert not any(name.startswith("averaged.") for name in optimisation.state())


@pytest.mark.parametrize("average", [0.0, 0.9])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_state_goes_on_as_if_nothing_had_happened(steps: int, average: float) -> None:
    config = replace(CONFIG, average=average)
    straight = optimisation_of(config)
    take_steps(straight, steps)
    state = {name: tensor.clone() for name, tensor in straight.state().items()}
    resumed = optimisation_of(config, seed=9)
    resumed.restore(state, straight.steps)
    assert resumed.steps == straight.steps
    for optimisation in (straight, resumed):
        take_steps(optimisation, 3)
    after, again = straight.state(), resumed.state()
    assert after.keys() == again.keys()
    for name in after:
        torch.testing.assert_close(after[name], again[name], rtol=0, atol=0)


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
@pytest.mark.parametrize("loss", ["local", "crf", "crf2o"])
def test_a_step_does_not_wait_for_a_gpu(loss: str) -> None:
    """The host goes on to the next step while the GPU computes this one."""
    config = CONFIG.changed({"loss": loss, "recurrent_dropout": 0.2, "mlp_dropout": 0.3})
    scorer = random_scorer(config).float().cuda().train()
    optimisation = Optimisation(scorer, config, epoch_steps=2)
    encoded = encode(SENTENCES, VOCABULARY, config)
    annotation = encode_annotation(SENTENCES, VOCABULARY, config)

    def take_step() -> None:
        batch = make_batch(encoded, np.arange(2), annotation=annotation, device="cuda")
        training_loss(scorer, batch, config).backward()
        optimisation.step()

    take_step()  # kernels are compiled here
    torch.cuda.set_sync_debug_mode("error")
    try:
        take_step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
