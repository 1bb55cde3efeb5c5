"""Drawings of trees: what the eye follows leads back to the tree."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treebank.strategies import trees
from treecrf.treebank.drawing.terminal import draw_arcs
from treecrf.treebank.trees import is_tree

UP, DOWN = "│├└┴┼", "│├┌┬┼"


def test_a_projective_tree() -> None:
    assert draw_arcs([0, 2, 0, 2, 6, 6, 2]) == [
        "  ┌───▶ ",
        "──┼───▶ ",
        "  ├───▶ ",
        "  │ ┌─▶ ",
        "  │ ├─▶ ",
        "  └─┴─▶ ",
    ]


def test_arcs_that_cross_show_a_gap() -> None:
    # A hearing is scheduled on the issue today: "issue" hangs on "hearing", across "scheduled".
    assert draw_arcs([0, 2, 4, 4, 0, 7, 7, 2, 4]) == [
        "    ┌───▶ ",
        "  ┌─┼───▶ ",
        "  ├─────▶ ",
        "──┼─────▶ ",
        "  │ │ ┌─▶ ",
        "  │ │ ├─▶ ",
        "  │ └─┴─▶ ",
        "  └─────▶ ",
    ]


def test_several_roots_and_words_without_a_head() -> None:
    assert draw_arcs([0, 0, 1, 0]) == ["┌─┬─▶ ", "│ └─▶ ", "└───▶ "]
    assert draw_arcs([0, -1, -1, 2]) == ["    ", "┌── ", "└─▶ "]
    assert draw_arcs([0, 0]) == ["──▶ "]
    assert draw_arcs([0]) == []


def followed(lines: list[str]) -> list[int]:
    """The heads that a reader finds: from the arrow left to a rail, along it to the head."""
    heads = []
    for row, line in enumerate(lines):
        turns = [column for column, character in enumerate(line) if character in "┌├└"]
        if "▶" not in line:
            heads.append(-1)
        elif not turns:
            heads.append(0)
        else:
            (column,) = turns
            top = bottom = row
            if line[column] in UP:
                top -= 1
                while lines[top][column] in UP + "─":
                    top -= 1
            if line[column] in DOWN:
                bottom += 1
                while lines[bottom][column] in DOWN + "─":
                    bottom += 1
            ends = [
                word + 1
                for word in range(top, bottom + 1)
                if lines[word][column] in "┬┴┼"
                or (lines[word][column] in "┌├└" and "▶" not in lines[word])
            ]
            heads.append(*ends or [0])
    return heads


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_every_small_tree_is_found_again(words: int) -> None:
    for heads in itertools.product(range(-1, words + 1), repeat=words):
        if is_tree([0, *heads], multiroot=True):
            lines = draw_arcs([0, *heads])
            assert followed(lines) == list(heads), "\n".join(lines)


@given(st.integers(1, 30).flatmap(trees))
def test_every_tree_is_found_again(heads: list[int]) -> None:
    lines = draw_arcs([0, *heads])
    assert len({len(line) for line in lines}) == 1
    assert followed(lines) == heads, "\n".join(lines)
