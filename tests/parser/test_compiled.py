"""Compiled decoding on a CPU gives the trees and the numbers of `Decoding.best` without it."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.parser.models import (
    VOCABULARY,
    batch_of,
    decode,
    random_scorer,
    sentences_of,
    with_loss,
)
from treecrf.parser.config import Config
from treecrf.parser.decoding import decoder
from treecrf.parser.decoding.trees import LEMMA_WEIGHT, Trees
from treecrf.parser.vocab import Vocabulary
from treecrf.threads import run_on_one_thread

LENGTHS = [9, 3, 5, 0, 1, 4, 2]
TAGGED = Vocabulary(
    words=VOCABULARY.words,
    characters=VOCABULARY.characters,
    tags=VOCABULARY.tags,
    relations=VOCABULARY.relations,
    upos=["NOUN", "VERB", "X"],
    xpos=["N", "V"],
    lemma=[f"rule {number}" for number in range(7)],
)


def decoded(
    config: Config, *, seed: int, allowed: Tensor | None = None, probs: bool = True
) -> Trees:
    scorer = random_scorer(config, vocabulary=TAGGED, seed=seed).float()
    batch = batch_of(sentences_of(LENGTHS, seed=seed), config, vocabulary=TAGGED)
    return run_on_one_thread(
        lambda: decode(scorer, batch, config=config, allowed=allowed, probs=probs)
    )


def check_same(found: Trees, expected: Trees) -> None:
    for field in fields(Trees):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "columns":
            assert list(one) == list(other)
            for name in one:
                check_classes(one[name], other[name])
        elif other is None:
            assert one is None
        else:
            np.testing.assert_allclose(one, other, atol=2e-5, err_msg=field.name)


def check_classes(found: np.ndarray, expected: np.ndarray) -> None:
    """The same rules with nearly the same weights."""
    if expected.shape[1] > 1:
        np.testing.assert_array_equal(found // LEMMA_WEIGHT, expected // LEMMA_WEIGHT)
    np.testing.assert_allclose(found, expected, atol=8, rtol=0)


@pytest.mark.parametrize("predict", [(), ("upos", "xpos", "lemma")], ids=["trees", "columns"])
@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("loss", ["crf", "crf2o"])
@pytest.mark.parametrize(
    ("probs", "temperature"), [(True, 1.7), (True, 1.0), (False, 1.7)], ids=["both", "one", "none"]
)
def test_trees_are_the_same(
    probs: bool,
    temperature: float,
    loss: str,
    multiroot: bool,
    predict: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = replace(
        with_loss(loss, multiroot=multiroot),
        temperature=temperature,
        relation_temperature=1.3,
        upos_temperature=0.8,
        predict=predict,
    )
    calls: list[Trees | None] = []

    def counted(decoding: decoder.Decoding, *, probs: bool) -> Trees | None:
        calls.append(compiled_trees(decoding, probs=probs))
        return calls[-1]

    compiled_trees = decoder.compiled_trees
    monkeypatch.setattr(decoder, "compiled_trees", counted)
    found = [decoded(config, seed=seed, probs=probs) for seed in range(12)]
    assert [trees is not None for trees in calls] == [True] * 12
    monkeypatch.setattr(decoder, "is_compiled", lambda _: False)
    for seed, trees in enumerate(found):
        check_same(trees, decoded(config, seed=seed, probs=probs))
    assert len(calls) == 12


@pytest.mark.parametrize("loss", ["crf", "crf2o"])
def test_constraints_hold_and_trees_that_cross_are_left_to_others(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(with_loss(loss), temperature=1.7)
    width = LENGTHS[0] + 1
    kept = {(0, 3): 6, (1, 1): 2}
    crossing = {**kept, (0, 2): 4, (0, 5): 3}
    masks = []
    for arcs in (kept, crossing):
        allowed = torch.ones(len(LENGTHS), width, width, dtype=torch.bool)
        for (row, dependent), head in arcs.items():
            allowed[row, dependent] = False
            allowed[row, dependent, head] = True
        masks.append(allowed)
    calls: list[Trees | None] = []

    def counted(decoding: decoder.Decoding, *, probs: bool) -> Trees | None:
        calls.append(compiled_trees(decoding, probs=probs))
        return calls[-1]

    compiled_trees = decoder.compiled_trees
    monkeypatch.setattr(decoder, "compiled_trees", counted)
    found = [decoded(config, seed=1, allowed=allowed) for allowed in masks]
    assert [trees is not None for trees in calls] == [True, False]
    assert found[0].heads[3] == 6
    assert [trees.crossing.any() for trees in found if trees.crossing is not None] == [False, True]
    monkeypatch.setattr(decoder, "is_compiled", lambda _: False)
    for trees, allowed in zip(found, masks, strict=True):
        check_same(trees, decoded(config, seed=1, allowed=allowed))
