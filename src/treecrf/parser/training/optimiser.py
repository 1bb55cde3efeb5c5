"""Adam with learning rates that rise and fall, clipped gradients and averaged weights."""

import copy
import re

import torch
from torch import Tensor, nn

from treecrf.nn.adam import Adam
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.parser.network.scorer import Scorer
from treecrf.storage import StorageError, misfit

__all__ = ["Optimisation"]


_TRANSFORMER = "reader.transformer."
# The first number in the name of a weight is that of its layer: layers.3., encoder.layer.3., h.3.
_LAYER = re.compile(r"\.(\d+)\.")


class Optimisation:
    """What turns gradients into new weights; `averaged` is the model to evaluate and keep."""

    def __init__(self, scorer: Scorer, config: Config, *, epoch_steps: int) -> None:
        self.config = config
        self.scorer = scorer
        self.epoch_steps = epoch_steps
        self.parameters: list[Tensor] = list(scorer.parameters())
        for weights in self.parameters:
            if weights.dtype not in (torch.float32, torch.float64):
                raise ParserError(
                    f"weights in {str(weights.dtype).removeprefix('torch.')} cannot be trained, "
                    "because squares of small gradients are 0 in it: convert them to float32"
                )
        self.rates = _rates(scorer, config)
        self.adam = Adam(
            self.parameters,
            self.rates,
            betas=(config.beta1, config.beta2),
            epsilon=config.epsilon,
            clip=config.clip,
        )
        self.averaged = _copied(scorer).eval() if config.average else scorer
        self.averages = [parameter.data for parameter in self.averaged.parameters()]
        self.steps = 0

    @property
    def share(self) -> float:
        """What the learning rates are multiplied by at the next step."""
        config, done = self.config, self.steps / self.epoch_steps
        rising = min(1.0, (done + 1 / self.epoch_steps) / config.warmup) if config.warmup else 1.0
        if config.schedule == "exponential":
            return rising * config.decay ** (self.steps / config.decay_steps)
        left = (config.epochs - done) / max(config.epochs - config.warmup, 1e-9)
        return max(0.0, min(rising, left))

    @torch.no_grad()
    def step(self) -> None:
        """Take one step of Adam and of the average, and clear the gradients."""
        self.adam.step(self.share)
        self.steps += 1
        if self.config.average:
            # At first the weights are still far off, so the average follows them closely.
            keep = min(self.config.average, (1 + self.steps) / (10 + self.steps))
            torch._foreach_lerp_(self.averages, self.parameters, 1 - keep)

    def state(self) -> dict[str, Tensor]:
        """Every tensor that training goes on from, by name."""
        tensors = {f"weights.{name}": tensor for name, tensor in self.scorer.state_dict().items()}
        if self.config.average:
            averaged = self.averaged.state_dict()
            tensors |= {f"averaged.{name}": tensor for name, tensor in averaged.items()}
        if self.steps == 0:  # there is nothing in it yet
            return tensors
        names = (name for name, _ in self.scorer.named_parameters())
        for name, mean, square in zip(names, self.adam.means, self.adam.squares, strict=True):
            tensors[f"adam.exp_avg.{name}"] = mean
            tensors[f"adam.exp_avg_sq.{name}"] = square
        return tensors

    def restore(self, tensors: dict[str, Tensor], steps: int) -> None:
        """Go on from what `state` gave; an error says what of it does not fit."""
        self.steps = steps
        self.adam.steps.fill_(steps)
        _load(self.scorer, tensors, "weights.")
        if self.config.average:
            _load(self.averaged, tensors, "averaged.")
        if steps == 0:
            return
        names = (name for name, _ in self.scorer.named_parameters())
        for name, mean, square in zip(names, self.adam.means, self.adam.squares, strict=True):
            _copy(tensors, f"adam.exp_avg.{name}", mean)
            _copy(tensors, f"adam.exp_avg_sq.{name}", square)


def _copied(scorer: Scorer) -> Scorer:
    """A model with weights of its own, which shares what never changes: vectors of words."""
    weights = {id(tensor) for tensor in scorer.state_dict(keep_vars=True).values()}
    fixed = {id(buffer): buffer for buffer in scorer.buffers() if id(buffer) not in weights}
    return copy.deepcopy(scorer, fixed)


def _rates(scorer: Scorer, config: Config) -> list[float]:
    """Learning rates of the parameters: the lower a layer of a transformer, the slower."""
    depths = _depths(scorer)
    top = max(depths.values(), default=0)
    rates = []
    for name, _ in scorer.named_parameters():
        rate = config.learning_rate
        if name in depths:
            rate = config.transformer_learning_rate * config.layer_decay ** (top - depths[name])
        rates.append(rate)
    return rates


def _depths(scorer: Scorer) -> dict[str, int]:
    """The layer of each weight of a transformer, from 1; 0 is below the first.

    Modules stand in the order in which they read, so that what comes after the layers, such as a
    last norm, is as high as the last of them. Embeddings there are for positions, which every layer
    reads, and so is what comes after them: they are below the layers.
    """
    names = [name for name, _ in scorer.named_parameters() if name.startswith(_TRANSFORMER)]
    embeddings = {
        name for name, module in scorer.named_modules() if isinstance(module, nn.Embedding)
    }
    depths: dict[str, int] = {}
    above = 0
    for name in names:
        layer = _LAYER.search(name)
        if layer is not None:
            above = depths[name] = int(layer[1]) + 1
            continue
        if name.rpartition(".")[0] in embeddings:
            above = 0
        depths[name] = above
    return depths


def _load(scorer: Scorer, tensors: dict[str, Tensor], prefix: str) -> None:
    weights = {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
    try:
        scorer.load_state_dict(weights)
    except RuntimeError as error:
        raise StorageError(misfit(error)) from None


def _copy(tensors: dict[str, Tensor], name: str, own: Tensor) -> None:
    found = tensors.get(name)
    if found is None or found.shape != own.shape:
        raise StorageError(f"{name} is missing or of another shape")
    own.copy_(found)
