"""Lifting and restoring: the paper's labels, projective results, and marks that make no sense."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.enumeration import all_trees
from tests.treebank.strategies import trees
from treecrf.treebank import Sentence, TreebankError, read_conllu
from treecrf.treebank.pseudoprojective import (
    ENCODINGS,
    Encoding,
    deproject,
    lift,
    project,
    restore,
)
from treecrf.treebank.trees import is_projective, is_tree

GOLDEN = Path(__file__).parent / "data" / "golden.conllu"

LABELS = st.sampled_from(["a", "b", "a:b", "↑", "↓", "\\", "a\\↑b", "_"])


def lists(strategy: st.SearchStrategy[str], size: int) -> st.SearchStrategy[list[str]]:
    return st.lists(strategy, min_size=size, max_size=size)


@pytest.mark.parametrize(
    ("encoding", "labels"),
    [
        ("head", ["AuxP↑Sb", "Atr", "Pred", "AuxZ", "Sb", "AuxP", "Adv"]),
        ("path", ["AuxP↑", "Atr", "Pred", "AuxZ", "Sb↓", "AuxP", "Adv"]),
        ("head+path", ["AuxP↑Sb", "Atr", "Pred", "AuxZ", "Sb↓", "AuxP", "Adv"]),
    ],
)
def test_labels_are_those_of_nivre_and_nilsson(encoding: Encoding, labels: list[str]) -> None:
    heads = [5, 1, 0, 5, 3, 5, 6]  # "Z" (of) is a dependent of "jedna" (one), across "je" (is)
    deprels = ["AuxP", "Atr", "Pred", "AuxZ", "Sb", "AuxP", "Adv"]
    lifted = lift(heads, deprels, encoding=encoding)
    assert lifted == ([3, 1, 0, 5, 3, 5, 6], labels)
    assert restore(*lifted, encoding=encoding) == (heads, deprels)


def test_an_arc_may_be_lifted_and_on_a_path() -> None:
    # 5 -> 3 is the smaller one: to 2, the head of 5. Then 2 -> 5: to 1, the head of 2.
    heads, deprels = [0, 1, 5, 1, 2], ["a", "b", "c", "d", "e"]
    lifted = lift(heads, deprels)
    assert lifted == ([0, 1, 2, 1, 1], ["a", "b↓", "c↑e", "d", "e↑b↓"])
    assert restore(*lifted) == (heads, deprels)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_small_tree_is_lifted_to_a_projective_one(encoding: Encoding) -> None:
    lifted_arcs = restored_arcs = 0
    for words in range(1, 6):
        for tree in all_trees(words, projective=False, multiroot=True):
            heads = list(tree[1:])
            deprels = [f"r{word}" for word in range(words)]
            lifted, labels = lift(heads, deprels, encoding=encoding)
            assert is_tree([0, *lifted], multiroot=True)
            assert is_projective([0, *lifted])
            assert heads.count(0) > 1 or lifted.count(0) == 1
            if is_projective(tree):
                assert (lifted, labels) == (heads, deprels)
            restored, plain = restore(lifted, labels, encoding=encoding)
            assert plain == deprels
            for before, between, after in zip(heads, lifted, restored, strict=True):
                lifted_arcs += before != between
                restored_arcs += before != between and before == after
    # With labels that are all different, the name of the head is all it takes.
    least = {"head": 1, "path": 0.8, "head+path": 0.99}[encoding]
    assert restored_arcs >= least * lifted_arcs > 0


@given(st.data(), st.sampled_from(ENCODINGS))
def test_marks_that_make_no_sense_do_no_harm(data: st.DataObject, encoding: Encoding) -> None:
    heads = data.draw(st.integers(1, 12).flatmap(trees))
    marks = st.sampled_from(["", "↑", "↓", "↑a", "↑a↓", "↑↓", "↓↑", "↑a↑b", "\\", "↑\\"])
    deprels = data.draw(lists(st.builds(str.__add__, LABELS, marks), len(heads)))
    missing = data.draw(st.sets(st.integers(0, len(heads) - 1)))
    fixed = data.draw(st.sets(st.integers(1, len(heads))))
    heads = [-1 if word in missing else head for word, head in enumerate(heads)]
    restored, plain = restore(heads, deprels, encoding=encoding, fixed=fixed)
    assert is_tree([0, *restored])
    assert [head < 0 for head in restored] == [head < 0 for head in heads]
    assert all(restored[word - 1] == heads[word - 1] for word in fixed)
    for word, deprel in enumerate(deprels):
        assert plain[word]
        if "↑" not in deprel:
            assert restored[word] == heads[word]


@given(st.data(), st.sampled_from(ENCODINGS))
def test_any_label_survives(data: st.DataObject, encoding: Encoding) -> None:
    heads = data.draw(st.integers(1, 10).flatmap(trees))
    deprels = data.draw(lists(LABELS, len(heads)))
    lifted, labels = lift(heads, deprels, encoding=encoding)
    assert is_projective([0, *lifted])
    assert restore(lifted, labels, encoding=encoding)[1] == deprels


def test_marks_that_lead_nowhere_are_taken_off_and_the_arc_stays() -> None:
    assert restore([2, 0, 2], ["a↑zzz", "root↓", "b↓"]) == ([2, 0, 2], ["a", "root", "b"])
    assert restore([2, 0], ["↑x", "root"]) == ([2, 0], ["_", "root"])


def test_what_is_fixed_stays() -> None:
    lifted, labels = [3, 1, 0, 5, 3], ["a↑d", "b", "root", "c", "d↓"]
    assert restore(lifted, labels)[0] == [5, 1, 0, 5, 3]
    assert restore(lifted, labels, fixed={1}) == (lifted, ["a", "b", "root", "c", "d"])


def test_a_partial_tree_keeps_its_arcs_or_is_an_error() -> None:
    assert lift([-1, 0, -1], ["_", "root", "_"]) == ([-1, 0, -1], ["_", "root", "_"])
    crossing = Sentence(["a", "b", "c", "d"], [3, 4, -1, -1], deprels=["x", "y", "_", "_"])
    with pytest.raises(TreebankError, match="no projective tree has the arcs of this partial tree"):
        project(crossing)


def test_a_cycle_is_an_error() -> None:
    with pytest.raises(TreebankError, match="word 1 is in a cycle"):
        lift([2, 1], ["a", "b"])


def test_sentences_keep_all_else() -> None:
    for sentence in read_conllu(GOLDEN):
        before = sentence.to_conllu()
        lifted = project(sentence)
        assert is_projective([0, *lifted.heads])
        assert lifted.multiwords == sentence.multiwords
        assert deproject(lifted).to_conllu() == before == sentence.to_conllu()
    assert "nmod↑nsubj:pass" in "".join(project(item).to_conllu() for item in read_conllu(GOLDEN))
