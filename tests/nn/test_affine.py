"""Biaffine and triaffine scores against the paper's equations, term by term."""

import pytest
import torch

from treecrf.nn.affine import (
    BiaffineArcs,
    BiaffineRelations,
    BiaffineSiblings,
    TriaffineSiblings,
    with_one,
)

SIZE = 5


def vectors(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, SIZE, generator=torch.Generator().manual_seed(seed))


def test_arcs_have_a_bias_on_the_side_of_the_dependent() -> None:
    layer = BiaffineArcs(SIZE)
    torch.nn.init.normal_(layer.weight)
    dependents, heads = vectors(2, 4, seed=1), vectors(2, 4, seed=2)
    scores = layer(dependents, heads)
    for batch in range(2):
        for j in range(4):
            for i in range(4):
                expected = with_one(dependents[batch, j]) @ layer.weight @ heads[batch, i]
                torch.testing.assert_close(scores[batch, j, i], expected)


def test_relations_have_biases_on_both_sides() -> None:
    layer = BiaffineRelations(SIZE, 3)
    torch.nn.init.normal_(layer.weight)
    dependents, heads = vectors(7, seed=1), vectors(7, seed=2)
    scores = layer(dependents, heads)
    assert scores.shape == (7, 3)
    for arc in range(7):
        for relation in range(3):
            expected = with_one(dependents[arc]) @ layer.weight[relation] @ with_one(heads[arc])
            torch.testing.assert_close(scores[arc, relation], expected)


def test_many_rows_are_scored_in_pieces() -> None:
    relations, siblings = BiaffineRelations(SIZE, 3), TriaffineSiblings(SIZE)
    torch.nn.init.normal_(relations.weight)
    torch.nn.init.normal_(siblings.weight)
    dependents, heads = vectors(150, seed=1), vectors(150, seed=2)
    one_by_one = [relations(dependents[i : i + 1], heads[i : i + 1]) for i in range(150)]
    torch.testing.assert_close(relations(dependents, heads), torch.cat(one_by_one))
    many, others = vectors(40, 3, seed=1), vectors(40, 3, seed=2)
    one_by_one = [siblings.pairs(many[i : i + 1], others[i : i + 1]) for i in range(40)]
    torch.testing.assert_close(siblings.pairs(many, others), torch.cat(one_by_one))


def test_siblings_have_biases_on_sibling_and_dependent() -> None:
    layer = TriaffineSiblings(SIZE)
    torch.nn.init.normal_(layer.weight)
    dependents, heads, siblings = (vectors(2, 4, seed=seed) for seed in (1, 2, 3))
    scores = layer(dependents, heads, siblings)
    expected = torch.einsum(
        "bih,hsm,bks,bjm->bjik", heads, layer.weight, with_one(siblings), with_one(dependents)
    )
    torch.testing.assert_close(scores, expected)
    pairs = layer.pairs(heads, siblings)
    products = torch.einsum("bikf,bjf->bjik", pairs, with_one(dependents))
    torch.testing.assert_close(products, scores)


def test_scores_start_at_zero() -> None:
    assert not BiaffineArcs(SIZE).weight.any()
    assert not BiaffineRelations(SIZE, 2).weight.any()
    assert not TriaffineSiblings(SIZE).weight.any()


@torch.inference_mode()
@pytest.mark.parametrize("size", [3, 16, 50])
def test_bytes_give_nearly_the_same_scores(size: int) -> None:
    torch.manual_seed(1)
    arcs, relations, siblings = (
        BiaffineArcs(size),
        BiaffineRelations(size, 70),
        TriaffineSiblings(size),
    )
    one, two, three = torch.randn(3, 7, 20, size)
    for layer, given in (
        (arcs, (one, two)),
        (relations, (one.flatten(0, 1), two.flatten(0, 1))),
        (siblings, (one, two, three)),
    ):
        torch.nn.init.normal_(layer.weight)
        exact = layer(*given)
        layer.use_bytes()
        found = layer(*given)
        # Up to three numbers in a product are off, each by a hundredth of what is usual in a row.
        assert (found - exact).norm() < 0.03 * exact.norm()
        row = [vectors[2:3] for vectors in given]
        torch.testing.assert_close(layer(*row), found[2:3], rtol=1e-5, atol=1e-4)


def test_three_biaffines_score_three_pairs_of_words() -> None:
    layer = BiaffineSiblings(SIZE)
    for weight in layer.parameters():
        torch.nn.init.normal_(weight)
    dependents, heads, siblings = (vectors(2, 4, seed=seed) for seed in (1, 2, 3))
    affine = with_one(siblings), with_one(dependents)
    expected = (
        torch.einsum("bih,hs,bks->bik", heads, layer.by_sibling, siblings).unsqueeze(1)
        + torch.einsum("bih,hm,bjm->bji", heads, layer.by_dependent, affine[1]).unsqueeze(3)
        + torch.einsum("bks,sm,bjm->bjk", affine[0], layer.by_both, affine[1]).unsqueeze(2)
    )
    torch.testing.assert_close(layer(dependents, heads, siblings), expected)
    forms = layer.forms(heads[0])  # of one long sentence
    scores = torch.einsum("ism,ks,jm->jik", forms, affine[0][0], affine[1][0])
    torch.testing.assert_close(scores, expected[0])
