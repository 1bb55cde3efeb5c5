"""Without validation wrong input gives NaN or nonsense, but neither a crash nor a hang."""

import pytest
import torch

from tests.struct.problems import BACKENDS, device_of
from treecrf.ops import use_backend
from treecrf.struct import (
    GrandparentTreeCRF,
    GrandSiblingTreeCRF,
    NonProjectiveTreeCRF,
    ProjectiveTreeCRF,
    SiblingTreeCRF,
)

HIGHER = {SiblingTreeCRF: 1, GrandparentTreeCRF: 1, GrandSiblingTreeCRF: 2}
FAMILIES = [ProjectiveTreeCRF, NonProjectiveTreeCRF, *HIGHER]
NAN, INFINITY = float("nan"), float("inf")
HEADS = torch.tensor([[0, 0, 1, 1, 1]]).expand(2, -1)


def unchecked(family: type, arcs: torch.Tensor, lengths: list[int]):  # type: ignore[no-untyped-def]
    higher = [arcs.new_zeros(*arcs.shape, arcs.shape[-1])] * HIGHER.get(family, 0)
    return family(arcs, *higher, torch.tensor(lengths), validate=False)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("length", [5, 60, -3])
def test_lengths_that_do_not_fit(family: type, backend: str, length: int) -> None:
    with use_backend(backend):
        crf = unchecked(family, torch.zeros(2, 5, 5, device=device_of(backend)), [length, 4])
        assert crf.log_partition.isnan().tolist() == [True, False]
        for answer in (crf.marginals, crf.argmax, crf.topk(2)[1], crf.sample(2)):
            assert len(answer) == 2


@pytest.mark.parametrize("wrong", [NAN, INFINITY])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_an_arc_that_is_no_number_shows(family: type, backend: str, wrong: float) -> None:
    arcs = torch.zeros(2, 5, 5, device=device_of(backend))
    arcs[0, 2, 1] = wrong
    with use_backend(backend):
        crf = unchecked(family, arcs, [4, 4])
        for answer in (crf.log_partition, crf.log_prob(HEADS), crf.entropy):
            assert answer.isnan().tolist() == [True, False]
        assert crf.sample(2).shape == (2, 2, 5)


# Triton's interpreter computes with NumPy, which warns where a GPU is quiet.
@pytest.mark.filterwarnings("ignore:invalid value enc:RuntimeWarning")
@pytest.mark.parametrize("wrong", [NAN, INFINITY])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", [SiblingTreeCRF, GrandparentTreeCRF])
def test_a_part_that_is_no_number_harms_its_sentence_alone(
    family: type, backend: str, wrong: float
) -> None:
    """It may show or not: that would take a pass over all of them."""
    arcs = torch.zeros(2, 5, 5, device=device_of(backend))
    parts = arcs.new_zeros(2, 5, 5, 5)
    lengths = torch.tensor([4, 4])
    with use_backend(backend):
        expected = family(arcs, parts, lengths)
        parts = parts.clone()
        parts[0, 3, 1, 2] = parts[0, 3, 2, 1] = wrong
        crf = family(arcs, parts, lengths, validate=False)
        answers = [
            (crf.log_partition, expected.log_partition),
            (crf.log_prob(HEADS), expected.log_prob(HEADS)),
            (crf.marginals, expected.marginals),
            (crf.entropy, expected.entropy),
        ]
        for answer, right in answers:
            assert torch.equal(answer[1], right[1])
        for answer in (crf.argmax, crf.topk(2)[1], crf.sample(2)):
            assert len(answer) == 2


@pytest.mark.parametrize("head", [5, 10**9, -1, -7])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_score_of_a_head_out_of_range(family: type, head: int) -> None:
    heads = HEADS.clone()
    heads[0, 3] = head
    crf = unchecked(family, torch.zeros(2, 5, 5), [4, 4])
    assert crf.score(heads).isnan().tolist() == [True, False]


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
