"""Adam with learning rates that rise and fall, clipped gradients and averaged weights."""

import copy
import re
from typing import Any, cast

import torch
from torch import Tensor

from treecrf.parser.config import Config
from treecrf.parser.model import Scorer

__all__ = ["Optimisation"]


_TRANSFORMER = "reader.transformer."
_LAYER = re.compile(rf"^{re.escape(_TRANSFORMER)}.*?layers?\.(\d+)\.")


class Optimisation:
    """What turns gradients into new weights; `averaged` is the model to evaluate and keep."""

    def __init__(self, scorer: Scorer, config: Config, *, epoch_steps: int) -> None:
        self.config = config
        self.scorer = scorer
        self.epoch_steps = epoch_steps
        self.parameters = list(scorer.parameters())
        on_gpu = self.parameters[0].is_cuda
        groups = _groups(scorer, config)
        self.rates = [float(group["lr"]) for group in groups]
        self.adam = torch.optim.Adam(
            groups,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
            fused=on_gpu or None,
        )
        self.averaged = copy.deepcopy(scorer).eval() if config.average else scorer
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

    def step(self) -> None:
        """Change the weights by their gradients, and forget those."""
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.config.clip)
        share = self.share
        for group, rate in zip(self.adam.param_groups, self.rates, strict=True):
            group["lr"] = rate * share
        self.adam.step()
        self.adam.zero_grad()
        self.steps += 1
        if self.config.average:
            # At first the weights are still far off, so the average follows them closely.
            keep = min(self.config.average, (1 + self.steps) / (10 + self.steps))
            weights = [parameter.data for parameter in self.parameters]
            torch._foreach_lerp_(self.averages, weights, 1 - keep)

    def state(self) -> dict[str, Tensor]:
        """Every tensor that training goes on from, by name."""
        tensors = {f"weights.{name}": tensor for name, tensor in self.scorer.state_dict().items()}
        if self.config.average:
            averaged = self.averaged.state_dict()
            tensors |= {f"averaged.{name}": tensor for name, tensor in averaged.items()}
        names = [name for name, _ in self.scorer.named_parameters()]
        for name, parameter in zip(names, self.parameters, strict=True):
            for key, value in self.adam.state[parameter].items():
                tensors[f"adam.{key}.{name}"] = cast(Tensor, value)
        return tensors

    def restore(self, tensors: dict[str, Tensor], steps: int) -> None:
        """Go on from what `state` gave."""
        self.steps = steps
        _load(self.scorer, tensors, "weights.")
        if self.config.average:
            _load(self.averaged, tensors, "averaged.")
        for name, parameter in self.scorer.named_parameters():
            if f"adam.step.{name}" not in tensors:  # it had no gradient yet
                continue
            for key in ("step", "exp_avg", "exp_avg_sq"):
                value = tensors[f"adam.{key}.{name}"]
                on_device = key != "step" or parameter.is_cuda
                device = parameter.device if on_device else value.device
                self.adam.state[parameter][key] = value.to(device)


def _groups(scorer: Scorer, config: Config) -> list[dict[str, Any]]:
    """The weights by how fast they learn: the lower a layer of a transformer, the slower."""
    layers = [
        int(match[1])
        for name, _ in scorer.named_parameters()
        if (match := _LAYER.search(name)) is not None
    ]
    top = max(layers, default=-1) + 1
    groups: dict[float, list[Tensor]] = {}
    for name, parameter in scorer.named_parameters():
        rate = config.learning_rate
        if name.startswith(_TRANSFORMER):
            match = _LAYER.search(name)
            depth = int(match[1]) + 1 if match is not None else 0
            rate = config.transformer_learning_rate * config.layer_decay ** (top - depth)
        groups.setdefault(rate, []).append(parameter)
    return [{"params": parameters, "lr": rate} for rate, parameters in groups.items()]


def _load(scorer: Scorer, tensors: dict[str, Tensor], prefix: str) -> None:
    weights = {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
    scorer.load_state_dict(weights)
