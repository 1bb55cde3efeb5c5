"""Reliability of probabilities, on cases that are counted by hand."""

import pytest

from treecrf.treebank import Sentence
from treecrf.treebank.metrics.calibration import (
    Bin,
    expected_calibration_error,
    head_outcomes,
    relation_outcomes,
    reliability,
    tag_outcomes,
)


def test_bins_are_closed_above() -> None:
    outcomes = [(0.5, True), (0.5, False), (0.6, True), (1.0, True), (0.0, False)]
    assert reliability(outcomes, bins=2) == [
        Bin(3, pytest.approx(1 / 3), pytest.approx(1 / 3)),
        Bin(2, pytest.approx(0.8), 1.0),
    ]


def test_the_error_is_weighed_by_bin() -> None:
    bins = [Bin(3, 0.2, 0.3), Bin(1, 0.9, 0.5)]
    assert expected_calibration_error(bins) == pytest.approx((3 * 0.1 + 0.4) / 4)
    assert expected_calibration_error([]) == 0


def test_what_is_right_as_often_as_said_has_no_error() -> None:
    outcomes = [(0.75, number % 4 > 0) for number in range(100)]
    assert expected_calibration_error(reliability(outcomes)) == pytest.approx(0)
    assert expected_calibration_error(reliability([(1.0, False)] * 5)) == 1


def test_one_bin_for_each_fifteenth() -> None:
    outcomes = [((place + 0.5) / 15, True) for place in range(15)]
    assert [bin.count for bin in reliability(outcomes)] == [1] * 15


def test_words_without_a_gold_head_are_left_out() -> None:
    gold = Sentence(["a", "b", "c"]).with_tree([2, 0, -1], ["x", "root", "_"])
    parsed = Sentence(["a", "b", "c"]).with_tree(
        [3, 0, 2], ["x", "root", "x"], probs=[0.5, 0.75, 1.0]
    )
    assert head_outcomes([gold], [parsed]) == [(0.5, False), (0.75, True)]


def test_relations_count_where_the_head_is_right() -> None:
    words = Sentence(["a", "b", "c", "d"])
    gold = words.with_tree([2, 0, 2, 2], ["x", "root", "_", "y"])
    parsed = words.with_tree([3, 0, 2, 2], ["x", "root", "x", "x"])
    parsed.deprel_probs = [0.5, 0.75, 1.0, 0.25]
    assert relation_outcomes([gold], [parsed]) == [(0.75, True), (0.25, False)]


def test_words_without_a_gold_tag_are_left_out() -> None:
    words = Sentence(["a", "b", "c"])
    gold = words.with_columns({"upos": ["NOUN", "_", "VERB"]})
    parsed = words.with_columns({"upos": ["NOUN", "X", "NOUN"]})
    parsed.upos_probs = [0.5, 0.75, 1.0]
    assert tag_outcomes([gold], [parsed]) == [(0.5, True), (1.0, False)]
