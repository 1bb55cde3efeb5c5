"""First-order log Z and marginals in plain Numba loops over logarithms, a sentence at a time.

The peer that the lanes and scaled numbers of `treecrf.ops.numba` have to beat.
"""

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from treecrf.ops.numba.threads import run_in_threads


def plain_marginals(arc_scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]` of trees with a single root."""
    scores, words = arc_scores.double().numpy(), lengths.numpy()
    value, marginals = np.empty(len(words)), np.zeros(scores.shape)
    run_in_threads(
        lambda part: _kernel()(scores, words, part, value, marginals), (5.0 * words**3).tolist()
    )
    return torch.from_numpy(value), torch.from_numpy(marginals)


@cache
def _kernel() -> Any:
    import numba

    compiled = numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})

    @compiled
    def log_sum(left: Any, right: Any) -> float:
        """log sum_r exp(left[r] + right[r])"""
        largest = -np.inf
        for r in range(len(left)):
            largest = max(largest, left[r] + right[r])
        total = 0.0
        for r in range(len(left)):
            total += np.exp(left[r] + right[r] - largest)
        return largest + np.log(total) if total > 0 else -np.inf

    @compiled
    def spread(flow: float, value: float, left: Any, right: Any, to: tuple[Any, Any]) -> None:
        """Pass the probability of a `log_sum` on to its terms."""
        if flow > 0:
            for r in range(len(left)):
                share = flow * np.exp(left[r] + right[r] - value)
                to[0][r] += share
                to[1][r] += share

    @compiled
    def marginals(scores: Any, lengths: Any, sentences: Any, values: Any, found: Any) -> None:
        """The recurrences are those of `treecrf.ops.projective.inside`."""
        for sentence in sentences:
            n, s = lengths[sentence], scores[sentence]
            charts, flows = np.full((4, n + 1, n + 1), -np.inf), np.zeros((3, n + 1, n + 1))
            C, Ct, I, S = charts[0], charts[1], charts[2], charts[3]
            to_C, to_Ct, to_I = flows[0], flows[1], flows[2]
            for j in range(n + 1):
                C[j, j] = Ct[j, j] = 0.0
                for i in range(j - 1, -1, -1):
                    S[i, j] = log_sum(C[i, i:j], C[j, i + 1 : j + 1])
                    I[i, j], I[j, i] = S[i, j] + s[j, i], S[i, j] + s[i, j]
                    if i > 0 or j == n:
                        C[i, j] = log_sum(I[i, i + 1 : j + 1], Ct[j, i + 1 : j + 1])
                    if i > 0:
                        C[j, i] = log_sum(I[j, i:j], Ct[i, i:j])
                    Ct[j, i], Ct[i, j] = C[i, j], C[j, i]
            values[sentence] = C[0, n]
            to_C[0, n] = 1.0
            for j in range(n, 0, -1):
                for i in range(j):
                    a, b = slice(i, j), slice(i + 1, j + 1)
                    flow = to_C[i, j] + to_Ct[j, i]
                    spread(flow, C[i, j], I[i, b], Ct[j, b], (to_I[i, b], to_Ct[j, b]))
                    flow = to_C[j, i] + to_Ct[i, j]
                    spread(flow, C[j, i], I[j, a], Ct[i, a], (to_I[j, a], to_Ct[i, a]))
                    flow = to_I[i, j] + to_I[j, i]
                    spread(flow, S[i, j], C[i, a], C[j, b], (to_C[i, a], to_C[j, b]))
            found[sentence, : n + 1, : n + 1] = to_I.T

    return marginals
