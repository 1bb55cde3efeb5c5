"""Adam with a decaying learning rate, clipped gradients and an exponential average of weights."""

import copy
from typing import cast

import torch
from torch import Tensor

from treecrf.parser.config import Config
from treecrf.parser.model import Scorer

__all__ = ["Optimisation"]


class Optimisation:
    """What turns gradients into new weights; `averaged` is the model to evaluate and keep."""

    def __init__(self, scorer: Scorer, config: Config) -> None:
        self.config = config
        self.scorer = scorer
        self.parameters = list(scorer.parameters())
        on_gpu = self.parameters[0].is_cuda
        self.adam = torch.optim.Adam(
            self.parameters,
            lr=config.learning_rate,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
            fused=on_gpu or None,
        )
        self.averaged = copy.deepcopy(scorer).eval() if config.average else scorer
        self.averages = [parameter.data for parameter in self.averaged.parameters()]
        self.steps = 0

    @property
    def learning_rate(self) -> float:
        """That of the next step."""
        return self.config.learning_rate * self.config.decay ** (
            self.steps / self.config.decay_steps
        )

    def step(self) -> None:
        """Change the weights by their gradients, and forget those."""
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.config.clip)
        for group in self.adam.param_groups:
            group["lr"] = self.learning_rate
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
            for key in ("step", "exp_avg", "exp_avg_sq"):
                if f"adam.{key}.{name}" in tensors:
                    value = tensors[f"adam.{key}.{name}"]
                    on_device = key != "step" or parameter.is_cuda
                    device = parameter.device if on_device else value.device
                    self.adam.state[parameter][key] = value.to(device)


def _load(scorer: Scorer, tensors: dict[str, Tensor], prefix: str) -> None:
    weights = {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
    scorer.load_state_dict(weights)
