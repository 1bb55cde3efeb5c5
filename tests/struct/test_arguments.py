"""Bad arguments are errors that say which argument, which sentence and what was expected."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.struct.problems import (
    FAMILIES,
    NEGATIVE_INFINITY,
    QUICK_BACKENDS,
    device_of,
    random_problem,
)
from treecrf.ops import use_backend
from treecrf.struct import NoTreeError, ProjectiveTreeCRF, SiblingTreeCRF

ARCS = torch.zeros(2, 4, 4)
SIBLINGS = torch.zeros(2, 4, 4, 4)
LENGTHS = torch.tensor([3, 2])
NAN, INFINITY = float("nan"), float("inf")


def changed(scores: Tensor, cell: tuple[int, ...], value: float) -> Tensor:
    scores = scores.clone()
    scores[cell] = value
    return scores


@pytest.mark.parametrize(
    ("arc_scores", "lengths", "allowed", "message"),
    [
        (torch.zeros(4, 4), LENGTHS, None, r"arc_scores must be .* not \[4, 4\]"),
        (torch.zeros(2, 4, 3), LENGTHS, None, r"arc_scores must be .* not \[2, 4, 3\]"),
        (torch.zeros(2, 0, 0), LENGTHS, None, "arc_scores must have .* root symbol"),
        (ARCS.long(), LENGTHS, None, r"arc_scores must be floating-point, not torch\.int64"),
        (ARCS, torch.tensor([3]), None, r"lengths must be 2 whole numbers.* not \[1\]"),
        (ARCS, torch.tensor(3), None, r"lengths must be 2 whole numbers.* not \[\]"),
        (ARCS, LENGTHS.float(), None, r"lengths must be 2 whole .*torch\.float32"),
        (ARCS, LENGTHS > 2, None, r"lengths must be 2 whole .*torch\.bool"),
        (ARCS, LENGTHS.cfloat(), None, r"lengths must be 2 whole .*torch\.complex64"),
        (ARCS.to_sparse(), LENGTHS, None, r"arc_scores must be dense, not torch\.sparse_coo"),
        (ARCS, LENGTHS.to_sparse(), None, "lengths must be dense"),
        (ARCS, torch.tensor([3, 4]), None, r"lengths\[1\] is 4.* 0 to 3 words"),
        (ARCS, torch.tensor([-1, 3]), None, r"lengths\[0\] is -1.* 0 to 3 words"),
        (ARCS, LENGTHS, ARCS, r"allowed must be a boolean .*torch\.float32"),
        (
            ARCS,
            LENGTHS,
            torch.ones(2, 4, 3) > 0,
            r"allowed must be .*\[2, 4, 4\].* not \[2, 4, 3\]",
        ),
        (
            changed(ARCS, (1, 2, 1), NAN),
            LENGTHS,
            None,
            r"arc_scores\[1, 2, 1\] is nan in sentence 1",
        ),
        (changed(ARCS, (0, 3, 0), INFINITY), LENGTHS, None, r"arc_scores\[0, 3, 0\] is inf"),
    ],
)
@pytest.mark.parametrize("backend", QUICK_BACKENDS)
def test_distribution_rejects(
    arc_scores: Tensor, lengths: Tensor, allowed: Tensor | None, message: str, backend: str
) -> None:
    device = device_of(backend)
    allowed = None if allowed is None else allowed.to(device)
    with use_backend(backend), pytest.raises(ValueError, match=message):
        ProjectiveTreeCRF(arc_scores.to(device), lengths, allowed=allowed)


@pytest.mark.parametrize(
    ("sibling_scores", "message"),
    [
        (torch.zeros(2, 4, 4), r"sibling_scores must be .*\[2, 4, 4, 4\].* not \[2, 4, 4\]"),
        (torch.zeros(2, 4, 4, 5), r"sibling_scores must be .* not \[2, 4, 4, 5\]"),
        (SIBLINGS.int(), r"sibling_scores must be floating-point, not torch\.int32"),
        (SIBLINGS.to_sparse(), "sibling_scores must be dense"),
        (None, r"sibling_scores must be a torch\.Tensor, not NoneType"),
        (
            changed(SIBLINGS, (0, 3, 1, 2), NAN),
            r"sibling_scores\[0, 3, 1, 2\] is nan in sentence 0",
        ),
        (changed(SIBLINGS, (0, 1, 3, 2), INFINITY), r"sibling_scores\[0, 1, 3, 2\] is inf"),
    ],
)
def test_sibling_distribution_rejects(sibling_scores: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SiblingTreeCRF(ARCS, sibling_scores, LENGTHS)


def test_values_are_not_looked_at_on_request() -> None:
    """Shapes still are."""
    broken = changed(ARCS, (1, 2, 1), NAN)
    crf = ProjectiveTreeCRF(broken, LENGTHS, validate=False)
    assert crf.log_partition.isnan().tolist() == [False, True]
    SiblingTreeCRF(ARCS, changed(SIBLINGS, (0, 3, 1, 2), NAN), LENGTHS, validate=False)
    with pytest.raises(ValueError, match="arc_scores"):
        ProjectiveTreeCRF(ARCS[0], LENGTHS, validate=False)
    without_tree = torch.zeros(2, 4, 4, dtype=torch.bool)
    crf = ProjectiveTreeCRF(ARCS, LENGTHS, allowed=without_tree, validate=False)
    assert (crf.argmax == -1).all()
    assert (crf.sample(2) == -1).all()


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        (torch.zeros(2, 3, dtype=torch.int64), r"heads must be .*\[2, 4\].* not \[2, 3\]"),
        (torch.zeros(2, 4), r"heads must be whole numbers .*torch\.float32"),
        (torch.zeros(2, 4).cfloat(), r"heads must be whole numbers .*torch\.complex64"),
        (torch.zeros(2, 4).to_sparse(), "heads must be dense"),
        (torch.tensor([[0, 0, 1, 4], [0, 0, 1, 0]]), r"heads\[0, 3\] is 4: sentence 0 has 3 words"),
        (torch.tensor([[0, 0, 1, 1], [0, 0, 3, 0]]), r"heads\[1, 2\] is 3: sentence 1 has 2 words"),
        (torch.tensor([[0, -2, 1, 1], [0, 0, 1, 0]]), r"heads\[0, 1\] is -2"),
    ],
)
def test_heads_that_do_not_fit(heads: Tensor, message: str) -> None:
    crf = ProjectiveTreeCRF(ARCS, LENGTHS)
    for ask in (crf.score, crf.log_prob):
        with pytest.raises(ValueError, match=message):
            ask(heads)


def test_score_needs_a_full_tree() -> None:
    crf = ProjectiveTreeCRF(ARCS, LENGTHS)
    heads = torch.tensor([[0, 0, 1, -1], [0, 0, 1, 0]])
    with pytest.raises(ValueError, match=r"heads\[0, 3\] is -1.*score needs a full tree"):
        crf.score(heads)
    assert crf.log_prob(heads).isfinite().all()


def test_heads_of_padding_and_root_are_not_looked_at() -> None:
    crf = ProjectiveTreeCRF(ARCS, LENGTHS)
    heads = torch.tensor([[0, 0, 1, 1], [0, 0, 1, 0]])
    junk = torch.tensor([[9, 0, 1, 1], [-1, 0, 1, 77]])
    assert torch.equal(crf.score(junk), crf.score(heads))
    assert torch.equal(crf.log_prob(junk), crf.log_prob(heads))


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("k", [0, -3])
@pytest.mark.parametrize("family", FAMILIES)
def test_k_below_one(family: str, k: int, backend: str) -> None:
    with use_backend(backend):
        crf = random_problem(family, [2]).to(device_of(backend)).distribution()
        for ask in (crf.topk, crf.sample):
            with pytest.raises(ValueError, match=f"k must be at least 1, not {k}"):
                ask(k)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_of_trees(family: str) -> None:
    """NumPy's numbers do; so many that their ranks would not fit are refused."""
    crf = random_problem(family, [2]).distribution()
    torch.testing.assert_close(crf.topk(np.int64(2)), crf.topk(2))
    assert crf.sample(np.int64(2)).shape[0] == 2
    with pytest.raises(ValueError, match="k must be at most 2,097,152, not 2097153"):
        crf.topk(2**21 + 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_only_distributions_of_one_family_are_compared(family: str) -> None:
    problem = random_problem(family, [3, 2], junk=0.0)
    crf = problem.distribution()
    stranger = random_problem(FAMILIES[FAMILIES.index(family) - 1], [3, 2])
    multiroot = replace(problem, multiroot=True)
    shorter = replace(problem, lengths=torch.tensor([3, 1]))
    for ask in (crf.kl, crf.cross_entropy):
        for other in (stranger, multiroot):
            with pytest.raises(ValueError, match=r"cannot compare .* two families"):
                ask(other.distribution())
        with pytest.raises(ValueError, match=r"sentence 1 has 2 words here and 1 there"):
            ask(shorter.distribution())
        with pytest.raises(
            ValueError, match=r"arc_scores are \[2, 4, 4\] here and \[2, 5, 5\] there"
        ):
            ask(random_problem(family, [4, 2]).distribution())


@pytest.mark.gpu
def test_only_distributions_on_one_device_are_compared() -> None:
    crf = ProjectiveTreeCRF(ARCS, LENGTHS)
    with pytest.raises(ValueError, match="arc_scores are on cpu here and cuda:0 there"):
        crf.kl(ProjectiveTreeCRF(ARCS.cuda(), LENGTHS))


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_constraints_that_leave_no_tree(family: str, backend: str) -> None:
    """Nothing may be the head of a word in the second and the last sentence."""
    problem = random_problem(family, [3, 2, 0, 2], padding=1)
    allowed = torch.ones(4, 5, 5, dtype=torch.bool)
    allowed[1, 1, :] = False
    problem.arc_scores[3, 1, :] = NEGATIVE_INFINITY
    problem = replace(problem, allowed=allowed).with_junk(NAN)
    problem = problem.to(device_of(backend)).with_gradients()
    heads = torch.tensor([[0, 0, 1, 1, 0], [0, 2, 0, 0, 0], [0] * 5, [0, 2, 0, 0, 0]])
    without_tree = torch.tensor([False, True, False, True])
    with use_backend(backend):
        crf = problem.distribution()
        for ask in (lambda: crf.argmax, lambda: crf.mbr, lambda: crf.sample(2)):
            with pytest.raises(NoTreeError, match=r"sentence 1 \(2 words\) has no tree"):
                ask()
        scores, trees = crf.topk(2)
        assert (trees[without_tree] == -1).all()
        assert (trees[0] >= 0).all()
        likelihoods = [crf.log_partition, crf.max, crf.log_prob(heads), crf.score(heads)]
        for answer in (*likelihoods, scores[:, 0]):
            assert torch.equal(answer.cpu() == NEGATIVE_INFINITY, without_tree)
        entropies = [crf.entropy, crf.kl(crf)]
        for answer in (crf.marginals, *entropies):
            assert not answer[without_tree].any()
        for answer in (*likelihoods, scores, crf.marginals, *entropies):
            gradients = torch.autograd.grad(
                answer, problem.scores, torch.ones_like(answer), retain_graph=True
            )
            assert not any(gradient.isnan().any() for gradient in gradients)


def test_no_tree_is_a_value_error() -> None:
    assert issubclass(NoTreeError, ValueError)


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_sentences_of_no_words(family: str, padding: int, batch: int, backend: str) -> None:
    problem = random_problem(family, [0] * batch, padding=padding).to(device_of(backend))
    tokens = padding + 1
    with use_backend(backend):
        crf = problem.distribution()
        empty = torch.zeros(batch, tokens, dtype=torch.int64, device=crf.lengths.device)
        for heads in (crf.argmax, crf.mbr, crf.topk(1)[1][:, 0], *crf.sample(2)):
            assert torch.equal(heads, empty)
        zeros = torch.zeros(batch, dtype=torch.float64, device=crf.lengths.device)
        for answer in (
            crf.log_partition,
            crf.max,
            crf.score(empty),
            crf.log_prob(empty),
            crf.log_prob(empty - 1),
            crf.entropy,
            crf.kl(crf),
        ):
            assert torch.equal(answer, zeros)
        assert torch.equal(crf.marginals, torch.zeros_like(problem.arc_scores))
        scores, heads = crf.topk(3)
        assert (heads[:, 1:] == -1).all()
        assert (scores[:, 1:] == NEGATIVE_INFINITY).all()


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_forbidden_by_mask_or_by_score_is_the_same(family: str, backend: str) -> None:
    masked = random_problem(family, [5, 3], forbidden=0.2)
    arcs = masked.arc_scores.masked_fill(~masked.usable_arcs, NEGATIVE_INFINITY)
    scored = replace(masked, arc_scores=arcs, allowed=None)
    masked, scored = masked.to(device_of(backend)), scored.to(device_of(backend))
    with use_backend(backend):
        assert torch.equal(masked.distribution().marginals, scored.distribution().marginals)


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_arguments_are_taken_as_they_come(family: str, backend: str) -> None:
    """Lengths in a list or of another type, tensors that are not contiguous; none is changed."""
    problem = random_problem(family, [4, 2], forbidden=0.1, junk=0.0).to(device_of(backend))
    tensors = (*problem.scores, problem.allowed, problem.lengths)
    before = [tensor.clone() for tensor in tensors]
    strided = replace(
        problem.with_scores(*(columns_first(part) for part in problem.scores)),
        allowed=columns_first(problem.allowed),
        lengths=torch.stack([problem.lengths, problem.lengths], 1)[:, 0],
    )
    listed = replace(problem, lengths=[4, 2])
    short = replace(problem, lengths=problem.lengths.int())
    with use_backend(backend):
        expected = problem.distribution()
        for other in (strided, listed, short):
            crf = other.distribution()
            assert torch.equal(crf.marginals, expected.marginals)
            assert torch.equal(crf.topk(2)[1], expected.topk(2)[1])
        best = expected.argmax
        assert torch.equal(crf.score(best.tolist()), crf.score(best.int()))
        assert torch.equal(crf.log_prob(best.tolist()), crf.log_prob(columns_first(best)))
    for tensor, copy in zip(tensors, before, strict=True):
        assert torch.equal(tensor, copy)


def columns_first(tensor: Tensor) -> Tensor:
    """The same values in another order of memory."""
    return tensor.transpose(0, 1).contiguous().transpose(0, 1)


def test_repr_tells_the_sentences() -> None:
    text = repr(SiblingTreeCRF(ARCS, SIBLINGS, LENGTHS, multiroot=True))
    assert text == "SiblingTreeCRF(2 sentences of up to 3 words, several roots)"


def test_wrong_types_are_named() -> None:
    with pytest.raises(ValueError, match=r"arc_scores must be a torch\.Tensor, not list"):
        ProjectiveTreeCRF([[1.0]], LENGTHS)
    with pytest.raises(ValueError, match="multiroot must be True or False, not Tensor"):
        ProjectiveTreeCRF(ARCS, LENGTHS, torch.ones_like(ARCS, dtype=torch.bool))
    with pytest.raises(ValueError, match="lengths must be a tensor of whole numbers"):
        ProjectiveTreeCRF(ARCS, None)
    with pytest.raises(ValueError, match=r"cannot compare .* with Tensor"):
        ProjectiveTreeCRF(ARCS, LENGTHS).kl(ARCS)
    with pytest.raises(ValueError, match=r"k must be at least 1, not 1\.5"):
        ProjectiveTreeCRF(ARCS, LENGTHS).topk(1.5)
    with pytest.raises(ValueError, match=r"generator must be a torch\.Generator, not 0"):
        ProjectiveTreeCRF(ARCS, LENGTHS).sample(2, generator=0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.uint32, torch.uint64])
def test_integers_of_every_type_are_heads_and_lengths(dtype: torch.dtype) -> None:
    crf = ProjectiveTreeCRF(ARCS, LENGTHS)
    other = ProjectiveTreeCRF(ARCS, LENGTHS.to(dtype))
    heads = crf.argmax
    expected = crf.log_prob(heads)
    torch.testing.assert_close(other.log_prob(heads.to(dtype)), expected)


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_arguments_made_in_inference_mode(family: str, backend: str) -> None:
    """What is not differentiated may come from there, what is may not."""
    problem = random_problem(family, [3, 2]).to(device_of(backend))
    with torch.inference_mode():
        made = replace(
            problem,
            lengths=problem.lengths.clone(),
            allowed=torch.ones_like(problem.arc_scores, dtype=torch.bool),
        ).with_scores(*(part.clone() for part in problem.scores))
    gradients = []
    for other in (problem, made):
        arcs = problem.arc_scores.clone().requires_grad_()
        with use_backend(backend):
            crf = other.with_scores(arcs, *other.scores[1:]).distribution()
            crf.log_prob(problem.distribution().argmax).sum().backward()
        gradients.append(arcs.grad)
    assert torch.equal(*gradients)


def test_an_empty_list_of_lengths() -> None:
    assert ProjectiveTreeCRF(torch.zeros(0, 5, 5), []).log_partition.shape == (0,)
