"""Without validation wrong input gives NaN or nonsense, but neither a crash nor a hang."""

import pytest
import torch

from treecrf.ops import use_backend
from treecrf.struct import NonProjectiveTreeCRF, ProjectiveTreeCRF, SiblingTreeCRF

FAMILIES = [ProjectiveTreeCRF, SiblingTreeCRF, NonProjectiveTreeCRF]


def unchecked(family: type, arcs: torch.Tensor, lengths: list[int]):  # type: ignore[no-untyped-def]
    siblings = [torch.zeros(*arcs.shape, arcs.shape[-1])] if family is SiblingTreeCRF else []
    return family(arcs, *siblings, torch.tensor(lengths), validate=False)


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("length", [5, 60, -3])
def test_lengths_that_do_not_fit(family: type, backend: str, length: int) -> None:
    with use_backend(backend):
        crf = unchecked(family, torch.zeros(2, 5, 5), [length, 4])
        assert crf.log_partition.isnan().tolist() == [True, False]
        for answer in (crf.marginals, crf.argmax, crf.topk(2)[1], crf.sample(2)):
            assert len(answer) == 2


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("family", FAMILIES)
def test_nan_shows(family: type, backend: str) -> None:
    arcs = torch.zeros(2, 5, 5)
    arcs[0, 2, 1] = float("nan")
    with use_backend(backend):
        crf = unchecked(family, arcs, [4, 4])
        heads = torch.tensor([[0, 0, 1, 1, 1]]).expand(2, -1)
        for answer in (crf.log_partition, crf.log_prob(heads), crf.entropy):
            assert answer.isnan().tolist() == [True, False]
        assert crf.sample(2).shape == (2, 2, 5)


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_a_tree_that_is_very_rare_still_counts(backend: str) -> None:
    """One tree in 10^60 that the other distribution lacks makes the divergence infinite."""
    words = 150
    allowed = torch.zeros(1, words + 1, words + 1, dtype=torch.bool)
    word = torch.arange(1, words + 1)
    allowed[0, word, 0] = allowed[0, word, word - 1] = True
    allowed[0, word[:-1], word[:-1] + 1] = True
    fewer = allowed.clone()
    allowed[0, 1, words] = True
    scores, lengths = torch.zeros(1, words + 1, words + 1), torch.tensor([words])
    with use_backend(backend):
        ours = ProjectiveTreeCRF(scores, lengths, multiroot=True, allowed=allowed)
        other = ProjectiveTreeCRF(scores, lengths, multiroot=True, allowed=fewer)
        assert ours.kl(other).tolist() == [float("inf")]
        assert other.kl(ours).isfinite().all()
