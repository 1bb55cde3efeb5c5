"""Adam over all weights at once: a few operations a step, whatever the number of weights."""

from collections.abc import Sequence

import torch
from torch import Tensor


class Adam:
    """Adam (Kingma and Ba, 2015) on gradients clipped by their common norm.

    The kernel is that of `torch.optim.Adam(fused=True)`, without the Python around it; it scales a
    long gradient down where it reads it.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        rates: Sequence[float],
        *,
        betas: tuple[float, float],
        epsilon: float,
        clip: float,
    ) -> None:
        """Take a learning rate for each parameter; `clip` is the largest norm, 0 for any."""
        self.parameters = list(parameters)
        self.betas = betas
        self.epsilon = epsilon
        self.clip = clip
        self.means = [torch.zeros_like(weights) for weights in self.parameters]
        self.squares = [torch.zeros_like(weights) for weights in self.parameters]
        self.steps = torch.zeros((), device=self.parameters[0].device)
        states = zip(self.parameters, self.means, self.squares, strict=True)
        self._by_rate: dict[float, list[tuple[Tensor, Tensor, Tensor]]] = {}
        for rate, state in zip(rates, states, strict=True):
            self._by_rate.setdefault(rate, []).append(state)

    @torch.no_grad()
    def step(self, share: float) -> None:
        """Take one step with learning rates scaled by `share`, and clear the gradients."""
        scale = self._scale() if self.clip else None
        self.steps += 1
        for rate, states in self._by_rate.items():
            changed = [
                (weights, gradient, mean, square)
                for weights, mean, square in states
                if (gradient := weights.grad) is not None
            ]
            if not changed:
                continue
            weights, gradients, means, squares = map(list, zip(*changed, strict=True))
            # A private name, but what `torch.optim.Adam(fused=True)` itself calls since torch 2.0.
            torch._fused_adam_(
                weights,
                gradients,
                means,
                squares,
                [],
                [self.steps] * len(changed),
                lr=rate * share,
                beta1=self.betas[0],
                beta2=self.betas[1],
                weight_decay=0.0,
                eps=self.epsilon,
                amsgrad=False,
                maximize=False,
                grad_scale=scale,
            )
        for parameter in self.parameters:
            parameter.grad = None

    def _scale(self) -> Tensor | None:
        """The divisor that brings the norm of all gradients down to `clip`; 1 if it is smaller."""
        gradients = [weights.grad for weights in self.parameters if weights.grad is not None]
        if not gradients:
            return None
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
        return (norm / self.clip).clamp_(min=1).float()
