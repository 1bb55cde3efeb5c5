"""Perceptrons that give tokens a vector for each role, in one matrix product."""

from torch import Tensor, nn
from torch.nn import functional

from treecrf.nn.dropout import SharedDropout


class Perceptrons(nn.Module):
    """One-layer perceptrons over the same tokens, one for each role."""

    def __init__(self, inputs: int, sizes: dict[str, int], *, dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.linear = nn.Linear(inputs, sum(sizes.values()))
        self.dropout = SharedDropout(dropout)
        for weight in self.linear.weight.data.split(list(sizes.values())):
            nn.init.orthogonal_(weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, tokens: Tensor, sentence: Tensor, sentences: int) -> dict[str, Tensor]:
        """Vectors `[token, feature]` by role."""
        hidden = functional.leaky_relu(self.linear(tokens), 0.1, inplace=True)
        hidden = self.dropout(hidden, sentence, sentences)
        return dict(zip(self.sizes, hidden.split(list(self.sizes.values()), 1), strict=True))
