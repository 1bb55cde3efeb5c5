"""Questions about trees against brute force, and on sentences too long for anything quadratic."""

import itertools
import random
import time

import pytest

from tests.enumeration import Tree, all_trees
from tests.enumeration import is_projective as no_arcs_cross
from treecrf.treebank import TreebankError
from treecrf.treebank.trees import (
    adjacent_siblings,
    find_cycle,
    is_projective,
    is_tree,
    nonprojective_arcs,
    roots,
)

WORDS = range(1, 5)


def sequences(words: int) -> list[Tree]:
    """Every head sequence, trees or not, partial ones too."""
    return [(0, *heads) for heads in itertools.product(range(-1, words + 1), repeat=words)]


def full_trees(words: int) -> set[Tree]:
    return set(all_trees(words, projective=False, multiroot=True))


def completions(heads: Tree, trees: tuple[Tree, ...]) -> list[Tree]:
    return [tree for tree in trees if all(a in (-1, b) for a, b in zip(heads, tree, strict=True))]


def descends(heads: Tree, word: int, ancestor: int) -> bool:
    while word and word != ancestor:
        word = heads[word]
    return word == ancestor


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("multiroot", [False, True])
def test_trees_are_what_has_a_completion(words: int, multiroot: bool) -> None:
    trees = all_trees(words, projective=False, multiroot=multiroot)
    for heads in sequences(words):
        assert is_tree(heads, multiroot=multiroot) == bool(completions(heads, trees)), heads


def test_other_things_are_not_trees() -> None:
    assert not is_tree([])
    assert not is_tree([1, 0])
    assert not is_tree([0, 2])
    assert not is_tree([0, -2])


@pytest.mark.parametrize("words", WORDS)
def test_cycles_are_found_and_are_cycles(words: int) -> None:
    for heads in sequences(words):
        cycle = find_cycle(heads)
        assert bool(cycle) == (not is_tree(heads, multiroot=True))
        for word, head in itertools.pairwise([*cycle, *cycle[:1]]):
            assert heads[word] == head


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("multiroot", [False, True])
def test_projective_trees_are_what_has_a_projective_completion(words: int, multiroot: bool) -> None:
    trees = all_trees(words, projective=True, multiroot=multiroot)
    for heads in sequences(words):
        if is_tree(heads, multiroot=multiroot):
            assert is_projective(heads) == bool(completions(heads, trees)), heads


@pytest.mark.parametrize("words", [*WORDS, 5])
def test_nonprojective_arcs(words: int) -> None:
    for heads in full_trees(words):
        arcs = {word: sorted((word, heads[word])) for word in range(1, words + 1)}
        crossing = [
            (a, b)
            for a, b in itertools.combinations(arcs, 2)
            if arcs[a][0] < arcs[b][0] < arcs[a][1] < arcs[b][1]
            or arcs[b][0] < arcs[a][0] < arcs[b][1] < arcs[a][1]
        ]
        assert is_projective(heads) == no_arcs_cross(heads) == (not crossing)
        assert nonprojective_arcs(heads) == [
            word
            for word, (left, right) in arcs.items()
            if not all(descends(heads, other, heads[word]) for other in range(left + 1, right))
        ]


def test_nonprojective_arcs_need_a_full_tree() -> None:
    with pytest.raises(TreebankError, match="the tree is partial"):
        nonprojective_arcs([0, -1])


@pytest.mark.parametrize("words", WORDS)
def test_adjacent_siblings_are_neighbours_on_one_side(words: int) -> None:
    for heads in sequences(words):
        expected = set()
        for head in range(words + 1):
            left = [word for word in range(head - 1, 0, -1) if heads[word] == head]
            right = [word for word in range(head + 1, words + 1) if heads[word] == head]
            for side in (left, right):
                expected |= {(head, a, b) for a, b in itertools.pairwise(side)}
        siblings = adjacent_siblings(heads)
        assert len(siblings) == len(set(siblings))
        assert set(siblings) == expected


def test_roots_are_the_dependents_of_the_root_symbol() -> None:
    assert roots([0, 0, 1, -1, 0]) == [1, 4]


def test_long_sentences_take_no_time() -> None:
    length = 20_000
    zigzag = [0] * (length + 1)  # 1, the last, 2, the last but one, ...: each inside the one before
    for word in range(1, length // 2 + 1):
        zigzag[length + 1 - word] = word
        zigzag[word + 1] = length + 1 - word
    zigzag[length // 2 + 1] = length // 2
    shapes = {
        "chain": [0, *range(length)],
        "star": [0, 0, *[1] * (length - 1)],
        "zigzag": zigzag,
        "random": [0, 0, *(random.Random(2).randrange(1, word) for word in range(2, length + 1))],
    }
    for name, heads in shapes.items():
        start = time.process_time()
        assert is_tree(heads), name
        adjacent_siblings(heads)
        if name == "random":
            assert len(nonprojective_arcs(heads)) > length / 2
        else:
            assert is_projective(heads)
        # Quadratic would be minutes.
        assert time.process_time() - start < 5, name
