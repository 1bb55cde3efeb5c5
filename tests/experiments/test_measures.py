"""Counts, measures, marks and tables, on figures that are made up."""

from statistics import stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.convergence import Course, length_notes
from experiments.counting import count_parses, pack_gold, pack_system, unpack
from experiments.files import to_json
from experiments.measures import (
    Measure,
    mark,
    measure,
    paired_note,
    paired_p,
    percentages,
    strict_note,
)
from experiments.partial import read_shares
from experiments.tables import cell, markdown, measure_rows
from tests.treebank.strategies import parses
from treecrf.treebank import Sentence, compare, evaluate
from treecrf.treebank.metrics.counts import Counts
from treecrf.treebank.metrics.scores import Punctuation


def counts_of(right: list[int], *, words: int = 10) -> list[Counts]:
    """A sentence for each number of right arcs."""
    return [
        Counts(words=words, right_heads=arcs, right_arcs=arcs, sentences=1, matches=arcs == words)
        for arcs in right
    ]


@settings(max_examples=25)
@given(parses(systems=1), st.sampled_from(["keep", "unicode", "tag"]))
def test_packed_counts_score_as_the_trees_do(
    treebanks: tuple[list[Sentence], ...], punct: Punctuation
) -> None:
    gold, system = treebanks
    counts = count_parses(gold, system, punct=punct)
    unpacked = unpack(pack_gold(counts), pack_system(counts))
    assert [count._replace(right_relations=0) for count in counts] == unpacked
    evaluation = evaluate(gold, system, punct=punct)
    expected = {name: 100 * score.f1 for name, score in evaluation.scores.items() if name != "LA"}
    found = percentages(unpacked)
    assert {name: found[name] for name in expected} == expected


def test_counts_are_packed_in_few_bytes() -> None:
    assert pack_gold(counts_of([10] * 1000))["words"] == "10*1000"
    assert pack_system(counts_of([10, 10, 10, 8, 9, 9]))["wrong_heads"] == "0*3 2 1*2"
    assert unpack(pack_gold([]), pack_system([])) == []


def test_p_values_are_those_of_the_comparator() -> None:
    gold = [Sentence(["a", "b"], [0, 1], deprels=["root", "x"])] * 30
    wrong = [Sentence(["a", "b"], [2, 0], deprels=["x", "root"])] * 12 + gold[12:]
    a, b = (count_parses(gold, system, punct="keep") for system in (gold, wrong))
    comparison = compare(gold, wrong, gold)
    for name in ("UAS", "LAS", "UCM", "LCM"):
        assert measure([a], [b])[name].p == comparison[name].p


def test_outputs_of_several_seeds_are_one_after_the_other() -> None:
    gold = [Sentence(["a", "b"], [0, 1], deprels=["root", "x"])] * 30
    wrong = [Sentence(["a", "b"], [2, 0], deprels=["x", "root"])] * 5 + gold[5:]
    a, b = (count_parses(gold, system, punct="keep") for system in (gold, wrong))
    found = measure([a, b, a], [b, b, b])["LAS"]
    assert found.p == compare(gold * 3, wrong * 3, gold + wrong + gold)["LAS"].p


def test_seeds_are_no_more_sentences() -> None:
    """What is better in the same sentences proves no more for being there three times."""
    loc, better = counts_of([8] * 60), counts_of([9] * 4 + [8] * 56)
    one, three = measure([better], [loc])["LAS"], measure([better] * 3, [loc] * 3)["LAS"]
    assert one.strict_p is None
    assert one.p == three.strict_p
    assert (one.mark, three.mark) == ("", "‡")
    assert one.mean == three.mean == pytest.approx(100 * 484 / 600)
    assert (one.spread, three.spread) == (None, 0)
    assert strict_note([("Crf LAS", one)]) == []
    assert strict_note([("Crf LAS", one), ("Crf2o LAS", three)]) == [
        "A stricter test, which swaps a sentence in all seeds or in none, gives other marks: "
        "Crf2o LAS none."
    ]


def test_several_seeds_prove_what_one_cannot() -> None:
    loc = counts_of([8] * 60)
    seeds = [counts_of([8] * start + [9] * 4 + [8] * (56 - start)) for start in (0, 20, 40)]
    assert all(measure([seed], [loc])["LAS"].mark == "" for seed in seeds)
    three = measure(seeds, [loc] * 3)["LAS"]
    assert (three.mark, mark(three.strict_p)) == ("‡", "‡")
    (note,) = strict_note([("Crf LAS", three)])
    assert note.endswith("gives the same marks.")


def test_marks() -> None:
    assert [mark(p) for p in (None, 1.0, 0.05, 0.049, 0.005, 0.0049)] == ["", "", "", "†", "†", "‡"]


def test_a_table() -> None:
    loc, better = Measure((88.0, 89.0)), Measure((89.0, 90.0), 0.001)
    rows = measure_rows({"Loc": [loc, None], "Crf2o": [better, Measure((7.0,), 0.03)]})
    assert markdown(["", "LAS", "SIB"], rows) == (
        "|       |               LAS |       SIB |\n"
        "| ----- | ----------------: | --------: |\n"
        "| Loc   |      88.50 ± 0.71 |         - |\n"
        "| Crf2o | **89.50** ± 0.71‡ | **7.00**† |\n"
    )
    assert cell(better) == "89.50 ± 0.71‡"


def test_the_course_of_several_seeds() -> None:
    course = Course.of([[10.0, 30.0, 20.0, 50.0], [20.0, 30.0, 40.0]])
    assert course.las == course.peak == [15.0, 30.0, 30.0]
    assert course.spread == pytest.approx([50**0.5, 0, 200**0.5])
    assert (course.reached(30.0), course.reached(31.0)) == (2, None)


def test_a_reader_is_told_where_curves_stop_early() -> None:
    one, two, three = [1.0], [1.0, 2.0], [1.0, 2.0, 3.0]
    assert length_notes({"Loc": [two, two], "Crf": [two, two]}) == []
    notes = length_notes({"Loc": [two, three], "Crf": [three, one]})
    assert len(notes) == 2
    assert notes[0].endswith("all of its seeds have: up to epoch Loc 2, Crf 1.")
    assert length_notes({"Loc": [two], "Crf": [one]}) == [notes[1]]


def test_shares() -> None:
    assert read_shares("50,10,100") == [0.1, 0.5, 1.0]
    for text in ("0,10", "101", "ten"):
        with pytest.raises(ValueError, match=f"--shares is '{text}'; "):
            read_shares(text)


def test_json_is_a_line_for_each_key_or_row() -> None:
    content = {"a": {"b": [1, 2]}, "rows": [{"x": "é"}, {"x": None}], "empty": {}}
    assert to_json(content) == (
        '{\n "a": {\n  "b": [1, 2]\n },\n "rows": [\n  {"x": "é"},\n  {"x": null}\n ],\n'
        ' "empty": {}\n}'
    )


# t that 5% of the distribution exceed on either side, by degrees of freedom.
@pytest.mark.parametrize(
    ("freedom", "t"), [(1, 12.706), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (9, 2.2622)]
)
def test_the_paired_test_is_students(freedom: int, t: float) -> None:
    seeds = freedom + 1
    gains = [-1.0, 1.0] * (seeds // 2) + [0.0] * (seeds % 2)  # of mean 0
    error = stdev(gains) / seeds**0.5
    assert paired_p([gain + t * error for gain in gains]) == pytest.approx(0.05, abs=1e-4)
    assert paired_p([gain - t * error for gain in gains]) == pytest.approx(0.05, abs=1e-4)
    assert paired_p(gains) == pytest.approx(1)


def test_seeds_are_paired() -> None:
    loc, better = ([counts_of([right] * 9) for right in row] for row in ((5, 6, 7), (6, 7, 9)))
    found = measure(better, loc)["LAS"]
    assert found.gains == pytest.approx((10, 10, 20))
    assert paired_note([("Crf LAS", found), ("Loc LAS", measure(loc)["LAS"])]) == [
        "Differences by seed, their standard deviation, and the p of a paired t-test over seeds: "
        "Crf LAS +13.33 ± 5.77 (higher with 3 of 3, p = 0.057)."
    ]
    assert found.to_dict()["paired_p"] == pytest.approx(0.0572, abs=1e-4)
    assert paired_p([2, 2]) == 0
    assert paired_note([("Crf LAS", measure(better[:1], loc[:1])["LAS"])]) == []
