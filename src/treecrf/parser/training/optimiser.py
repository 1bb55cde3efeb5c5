"""Adam with a learning rate schedule, clipped gradients and averaged weights."""

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
    """Steps of Adam and of the weight average; `averaged` is the model to evaluate and keep."""

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
        """Factor of the learning rates at the next step."""
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
            # The first weights are far off, so the average follows closely at the start.
            keep = min(self.config.average, (1 + self.steps) / (10 + self.steps))
            torch._foreach_lerp_(self.averages, self.parameters, 1 - keep)

    def state(self) -> dict[str, Tensor]:
        """The tensors of a checkpoint, by name."""
        tensors = {f"weights.{name}": tensor for name, tensor in self.scorer.state_dict().items()}
        if self.config.average:
            averaged = self.averaged.state_dict()
            tensors |= {f"averaged.{name}": tensor for name, tensor in averaged.items()}
        return tensors if self.steps == 0 else tensors | self._moments()

    def _moments(self) -> dict[str, Tensor]:
        names = [name for name, _ in self.scorer.named_parameters()]
        means = {f"adam.exp_avg.{name}": m for name, m in zip(names, self.adam.means, strict=True)}
        squares = zip(names, self.adam.squares, strict=True)
        return means | {f"adam.exp_avg_sq.{name}": square for name, square in squares}

    def restore(self, tensors: dict[str, Tensor], steps: int) -> None:
        """Restore the tensors of `state`; an error names one that does not fit."""
        self.steps = steps
        self.adam.steps.fill_(steps)
        _load(self.scorer, tensors, "weights.")
        if self.config.average:
            _load(self.averaged, tensors, "averaged.")
        for name, own in self._moments().items() if steps else ():
            found = tensors.get(name)
            if found is None or found.shape != own.shape:
                raise StorageError(f"{name} is missing or of another shape")
            own.copy_(found)


def _copied(scorer: Scorer) -> Scorer:
    """A copy of the model; it shares what never changes: pretrained word vectors."""
    weights = {id(tensor) for tensor in scorer.state_dict(keep_vars=True).values()}
    fixed = {id(buffer): buffer for buffer in scorer.buffers() if id(buffer) not in weights}
    return copy.deepcopy(scorer, fixed)


def _rates(scorer: Scorer, config: Config) -> list[float]:
    """Learning rates of the parameters; lower layers of a transformer have lower ones."""
    depths = _depths(scorer)
    top = max(depths.values(), default=0)
    return [
        config.transformer_learning_rate * config.layer_decay ** (top - depths[name])
        if name in depths
        else config.learning_rate
        for name, _ in scorer.named_parameters()
    ]


def _depths(scorer: Scorer) -> dict[str, int]:
    """The layer of each weight of a transformer, from 1; 0 is below the first layer.

    Modules are in the order in which they compute, so a norm after the layers is as high as the
    last of them. Embeddings after the layers are of positions, which every layer reads: they, and
    what follows them, are below the layers.
    """
    depths: dict[str, int] = {}
    depth = 0
    for name, _ in scorer.named_parameters():
        if not name.startswith(_TRANSFORMER):
            continue
        if layer := _LAYER.search(name):
            depth = int(layer[1]) + 1
        elif isinstance(scorer.get_submodule(name.rpartition(".")[0]), nn.Embedding):
            depth = 0
        depths[name] = depth
    return depths


def _load(scorer: Scorer, tensors: dict[str, Tensor], prefix: str) -> None:
    named = tensors.items()
    weights = {name.removeprefix(prefix): x for name, x in named if name.startswith(prefix)}
    try:
        scorer.load_state_dict(weights)
    except RuntimeError as error:
        raise StorageError(misfit(error)) from None
