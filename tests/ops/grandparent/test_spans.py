"""Third-order sums where one exponent for a span, whatever its grandparent, is not enough."""

import pytest
import torch

from treecrf.ops.backend import use_backend
from treecrf.struct import GrandparentTreeCRF, GrandSiblingTreeCRF


@pytest.mark.parametrize("siblings", [False, True], ids=["model 0", "model 1"])
def test_sentences_that_one_exponent_a_span_cannot_hold(siblings: bool) -> None:
    """Those with scores far apart, or with -inf of an arc that is allowed, beside plain ones."""
    generator = torch.Generator().manual_seed(3)
    lengths = torch.tensor([7, 6, 7, 5])
    arcs = torch.randn(4, 8, 8, generator=generator, dtype=torch.float64)
    higher = torch.randn(2, 4, 8, 8, 8, generator=generator, dtype=torch.float64)
    higher[0, 1] *= 1e4
    higher[0, 2, 3, 2, 1] = -torch.inf
    used = (*higher.flip(0),) if siblings else (higher[0],)
    family = GrandSiblingTreeCRF if siblings else GrandparentTreeCRF
    answers = []
    for backend in ("torch", "numba"):
        with use_backend(backend):
            crf = family(arcs, *used, lengths)
            answers.append((crf.log_partition, crf.marginals, crf.grandparent_marginals))
    for found, expected in zip(*answers, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
