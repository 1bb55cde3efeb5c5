"""Counts of what is in a treebank."""

from pathlib import Path

from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.statistics import count

GOLDEN = Path(__file__).parent / "data" / "golden.conllu"


def test_counts_the_golden_file() -> None:
    counts = count(read_conllu(GOLDEN)).to_dict()
    relations, tags = counts.pop("relations"), counts.pop("tags")
    assert counts == {
        "sentences": 4,
        "words": 26,
        "multiword_tokens": 3,
        "empty_nodes": 2,
        "longest_sentence": 12,
        "annotated_words": 24,
        "partial_sentences": 1,
        "multiroot_sentences": 0,
        "nonprojective_sentences": 1,
        "nonprojective_arcs": 1,
    }
    assert list(relations.items())[:2] == [("root", 4), ("det", 3)]
    assert sum(relations.values()) == 24
    assert tags["NOUN"] == 6


def test_counts_several_roots_and_partial_trees_that_cross() -> None:
    counts = count([Sentence(["a", "b"], [0, 0]), Sentence(["a", "b", "c", "d"], [3, 4, -1, 0])])
    assert counts.multiroot_sentences == 1
    assert counts.partial_sentences == 1
    assert (counts.nonprojective_sentences, counts.nonprojective_arcs) == (1, 0)


def test_nothing_is_nothing() -> None:
    assert count([]).to_dict()["words"] == 0
