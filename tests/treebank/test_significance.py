"""The comparator: a slow version that shuffles sentences, and every shuffle there is."""

from fractions import Fraction
from itertools import product
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings

from tests.treebank.strategies import parses
from treecrf.treebank import Sentence, TreebankError, compare, evaluate
from treecrf.treebank.metrics.counts import Counts
from treecrf.treebank.metrics.significance import compare_counts, shuffle_test

METRICS = ("UAS", "LAS", "UCM", "LCM", "SIB")


def figures(gold: list[Sentence], system: list[Sentence]) -> list[Fraction]:
    """The metrics as exact fractions."""
    scores = [evaluate(gold, system)[name] for name in METRICS]
    return [
        Fraction(2 * score.correct, score.gold + score.system)
        if score.gold + score.system
        else Fraction(0)
        for score in scores
    ]


def differences(gold: list[Sentence], a: list[Sentence], b: list[Sentence]) -> list[Fraction]:
    pairs = zip(figures(gold, a), figures(gold, b), strict=True)
    return [abs(one - other) for one, other in pairs]


def shuffled_differences(
    gold: list[Sentence], a: list[Sentence], b: list[Sentence], coins: tuple[int, ...]
) -> list[Fraction]:
    """The differences after the sentences whose coin is 1 have been swapped."""
    pile_a = [y if coin else x for x, y, coin in zip(a, b, coins, strict=True)]
    pile_b = [x if coin else y for x, y, coin in zip(a, b, coins, strict=True)]
    return differences(gold, pile_a, pile_b)


def coins_of(seed: int, rounds: int, sentences: int) -> list[tuple[int, ...]]:
    """The coins of each round: the bits of 64-bit numbers, lowest byte first, highest bit first."""
    stream = np.random.PCG64(seed)
    result = []
    for _ in range(rounds):
        numbers = [int(stream.random_raw()) for _ in range(-(-sentences // 64))]
        data = b"".join(number.to_bytes(8, "little") for number in numbers)
        bits = [byte >> (7 - place) & 1 for byte in data for place in range(8)]
        result.append(tuple(bits[:sentences]))
    return result


@settings(max_examples=25)
@given(parses(systems=2))
def test_p_values_are_those_of_a_slow_version(treebanks: tuple[list[Sentence], ...]) -> None:
    gold, a, b = treebanks
    rounds, seed = 40, 3
    observed = differences(gold, a, b)
    extreme = [0] * len(METRICS)
    for coins in coins_of(seed, rounds, len(gold)):
        shuffled = shuffled_differences(gold, a, b, coins)
        extreme = [n + (x >= y) for n, x, y in zip(extreme, shuffled, observed, strict=True)]
    comparison = compare(gold, a, b, rounds=rounds, seed=seed)
    assert [comparison[name].p for name in METRICS] == [(n + 1) / (rounds + 1) for n in extreme]
    assert [comparison[name].a for name in METRICS] == pytest.approx(figures(gold, a))
    assert [comparison[name].b for name in METRICS] == pytest.approx(figures(gold, b))


@settings(max_examples=25)
@given(parses(systems=2))
def test_p_values_come_near_those_of_all_shuffles(treebanks: tuple[list[Sentence], ...]) -> None:
    gold, a, b = treebanks
    observed = differences(gold, a, b)
    shuffles = [
        shuffled_differences(gold, a, b, coins) for coins in product((0, 1), repeat=len(gold))
    ]
    comparison = compare(gold, a, b, rounds=20_000)
    for index, name in enumerate(METRICS):
        exact = np.mean([shuffled[index] >= observed[index] for shuffled in shuffles])
        assert comparison[name].p == pytest.approx(exact, abs=0.02)  # five standard deviations


def sentences(wrong: list[int], *, length: int = 10) -> list[Sentence]:
    """Chains of words in which so many last words depend on the first instead."""
    return [
        Sentence(["w"] * length, [*range(length - number), *[1] * number], deprels=["x"] * length)
        for number in wrong
    ]


def test_a_clear_difference_and_none() -> None:
    gold = sentences([0] * 100)
    better, worse = sentences([1, 0] * 50), sentences([3, 2] * 50)
    assert compare(gold, better, worse, rounds=999)["UAS"].p == 1 / 1000
    assert compare(gold, worse, better, rounds=999)["UAS"].p == 1 / 1000
    assert compare(gold, better, worse, rounds=999)["UAS"].difference == pytest.approx(-0.2)
    same = compare(gold, better, better, rounds=999)
    assert all(same[name].p == 1.0 for name in METRICS)


def test_the_seed_decides() -> None:
    gold = sentences([0] * 70)
    a, b = sentences([1, 0, 2, 0, 3, 1, 0] * 10), sentences([0, 1, 1, 2, 0, 2, 2] * 10)
    first = compare(gold, a, b, rounds=500, seed=7)
    assert compare(gold, a, b, rounds=500, seed=7) == first
    assert compare(gold, a, b, rounds=500, seed=8) != first


def test_the_size_of_a_block_of_rounds_makes_no_difference() -> None:
    a, b = np.random.default_rng(1).integers(1, 5, (2, 70, 2, 3)).astype(np.float64)
    whole = shuffle_test(a, b, rounds=500, seed=7)
    assert shuffle_test(a, b, rounds=500, seed=7, coins_at_once=1000).tolist() == whole.tolist()


def test_partial_reference_has_no_siblings() -> None:
    gold = [Sentence(["a", "b"], [0, -1])]
    comparison = compare(gold, gold, gold, rounds=10)
    assert list(comparison.differences) == ["UAS", "LAS", "UCM", "LCM"]
    with pytest.raises(KeyError, match="a word without a head"):
        comparison["SIB"]
    assert comparison.to_dict()["SIB"]["p"] is None
    assert "whole trees" in comparison.to_dict()["SIB"]["reason"]


def test_errors() -> None:
    gold = sentences([0, 0])
    with pytest.raises(TreebankError, match="gold goes on with sentence 2, but B has only 1"):
        compare(gold, gold, gold[:1])
    with pytest.raises(TreebankError, match="no sentences to compare"):
        compare([], [], [])
    with pytest.raises(ValueError, match="rounds is 1 or more, not 0"):
        compare(gold, gold, gold, rounds=0)
    with pytest.raises(ValueError, match="A has 2 sentences and B has 1: both must have the same"):
        compare_counts([Counts()] * 2, [Counts()])


def test_ten_thousand_rounds_of_two_thousand_sentences_take_no_five_seconds() -> None:
    gold = sentences([0] * 2000)
    a, b = sentences([1, 0, 2, 3] * 500), sentences([0, 1, 3, 2] * 500)
    start = process_time()
    compare(gold, a, b, rounds=10_000)
    assert process_time() - start < 5
