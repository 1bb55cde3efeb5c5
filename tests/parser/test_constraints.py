"""Heads to keep and heads to avoid, from what a caller gives to what is allowed."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.enumeration import all_trees
from tests.parser.models import LOSSES, heads_of, random_parser, sentence_of, with_loss
from treecrf.parser import ParserError
from treecrf.parser.batching.batch import allowed_arcs
from treecrf.parser.constraints import (
    NO_CONSTRAINTS,
    Constraints,
    constraints_from,
    make_constraints,
)
from treecrf.treebank import Sentence
from treecrf.treebank.trees import is_projective, is_tree

PARSERS = {loss: random_parser(with_loss(loss)) for loss in LOSSES}
MANY_ROOTS = {loss: random_parser(with_loss(loss, multiroot=True)) for loss in LOSSES}


@settings(max_examples=100)
@given(st.integers(1, 6).flatmap(heads_of), st.sampled_from(LOSSES), st.booleans())
def test_heads_that_a_sentence_has_are_kept(heads: list[int], loss: str, multiroot: bool) -> None:
    parser = (MANY_ROOTS if multiroot else PARSERS)[loss]
    labels = [("held", "_", "other:x")[word % 3] for word in range(len(heads))]
    sentence = Sentence(sentence_of(len(heads)).forms, heads, deprels=labels)
    if not is_tree([0, *heads], multiroot=multiroot):
        with pytest.raises(ParserError, match="sentence 1: no tree has the heads that are to be"):
            list(parser.parse_stream([sentence], keep_heads=True))
        return
    [parsed] = parser.parse_stream([sentence], keep_heads=True)
    assert is_tree([0, *parsed.heads], multiroot=multiroot)
    assert -1 not in parsed.heads
    for word, head in enumerate(heads):
        if head >= 0:
            assert parsed.heads[word] == head
            assert parsed.probs is not None
            assert parsed.probs[word] == pytest.approx(1.0)
        kept = labels[word] != "_"  # with a head or without
        assert parsed.deprels[word] == labels[word] if kept else parsed.deprels[word] in "xyz"
    fallen_back = any(comment.startswith("# decoder = mst") for comment in parsed.comments)
    assert fallen_back == (not is_projective([0, *heads]) and loss != "nonprojective")
    if not fallen_back and loss != "nonprojective":
        assert is_projective([0, *parsed.heads])


@pytest.mark.parametrize("loss", LOSSES)
def test_heads_that_are_ruled_out(loss: str) -> None:
    """One head after the other is forbidden until no tree is left."""
    forbidden: dict[int, list[int]] = {1: [], 2: [], 3: []}
    seen = set()
    for _ in range(7):
        [parsed] = PARSERS[loss].parse_tokens([["a", "b", "c"]], forbidden=[forbidden])
        assert is_tree([0, *parsed.heads])
        assert not any(head in forbidden[word] for word, head in enumerate(parsed.heads, 1))
        assert tuple(parsed.heads) not in seen
        seen.add(tuple(parsed.heads))
        left = [
            tree
            for tree in all_trees(3, projective=False, multiroot=False)
            if not any(tree[word] in forbidden[word] for word in forbidden)
        ]
        word = 1 + len(seen) % 3
        forbidden[word].append(parsed.heads[word - 1])
        if all(any(tree[w] in forbidden[w] for w in forbidden) for tree in left):
            break
    with pytest.raises(ParserError, match="sentence 1: no tree is left without the heads that are"):
        PARSERS[loss].parse_tokens([["a", "b", "c"]], forbidden=[{1: [0], 2: {0}, 3: (0,)}])


def test_constraints_go_with_their_sentences() -> None:
    parser = PARSERS["crf"]
    words = [sentence_of(length).forms for length in (3, 5, 2, 4)]
    plain = parser.parse_tokens(words)
    held = [None, {5: 1}, {}, {1: 4, 2: 4}]
    forbidden = [{2: [0, 1]}, None, {}, None]
    parsed = parser.parse_tokens(words, constraints=held, forbidden=forbidden)
    assert parsed[0].heads[1] == 3
    assert parsed[1].heads[4] == 1
    assert parsed[2].heads == plain[2].heads
    assert parsed[3].heads[:2] == [4, 4]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"constraints": [{1: 2}]}, "1 constraints for 2 sentences: give one for each, or None"),
        ({"forbidden": [None] * 3}, "3 forbidden for 2 sentences"),
        ({"constraints": [{4: 1}, None]}, "sentence 1: .* word 4 and head 1, but the sentence"),
        ({"constraints": [{0: 1}, None]}, "word 0 and head 1"),
        ({"constraints": [{1: -1}, None]}, "word 1 and head -1"),
        ({"constraints": [None, {1: 3}]}, "sentence 2: .* word 1 and head 3, but .* 2 words"),
        ({"forbidden": [{1: [2, 4]}, None]}, r"heads \[2, 4\] are forbidden for word 1, but"),
        ({"forbidden": [None, {5: [2]}]}, r"sentence 2: heads \[2\] are forbidden for word 5, but"),
        ({"forbidden": [{5: []}, None]}, "for word 5"),
        ({"constraints": [{2: 2}, None]}, "word 2 cannot be its own head"),
        ({"constraints": [{1: 2, 2: 1}, None]}, "no tree has the heads that are to be kept"),
        ({"constraints": [{1: 0, 2: 0}, None]}, "no tree has the heads that are to be kept"),
        ({"constraints": [{1: 2}, None], "forbidden": [{1: [2]}, None]}, "word 1 is to keep"),
        ({"constraints": [None, {1: 2, 2: 1}]}, "sentence 2: no tree has the heads"),
        ({"forbidden": [None, {1: [0], 2: [0]}]}, "sentence 2: no tree is left"),
    ],
)
def test_wrong_constraints(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ParserError, match=problem):
        PARSERS["crf2o"].parse_tokens([["a", "b", "c"], ["a", "b"]], **given)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"constraints": [{1: "2"}]},
            r"constraints has {1: '2'} for a sentence; give None or a di",
        ),
        ({"constraints": [{"1": 2}]}, r"such as {1: 2}$"),
        ({"constraints": [{1: 2.0}]}, r"such as {1: 2}$"),
        ({"constraints": [[2, 0]]}, r"such as {1: 2}$"),
        ({"constraints": {1: 2}}, r"constraints is a list with an item for each sentence, such as"),
        ({"constraints": 3}, r"such as \[{1: 2}\]$"),
        ({"forbidden": [{1: 2}]}, r"such as {1: \[2, 3\]}$"),
        ({"forbidden": [{1: "2"}]}, r"such as {1: \[2, 3\]}$"),
        ({"forbidden": {1: [2]}}, r"such as \[{1: \[2, 3\]}\]$"),
    ],
)
@pytest.mark.parametrize("method", ["parse_tokens", "distribution"])
def test_constraints_of_another_type(method: str, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ParserError, match=problem):
        getattr(PARSERS["crf"], method)([["a", "b"]], **given)


@pytest.mark.parametrize("parser", [PARSERS["crf"].parse_tokens, PARSERS["crf"].distribution])
def test_the_sentence_is_named(parser: Callable[..., object]) -> None:
    named = Sentence(["a", "b"], comments=["# sent_id = s42"])
    with pytest.raises(ParserError, match="s42: a constraint on word 7"):
        parser([["a"], named], constraints=[None, {7: 1}])


def test_a_word_may_be_ruled_out_as_its_own_head() -> None:
    """It never is; whoever rules out all heads but one need not leave it."""
    [parsed] = PARSERS["crf"].parse_tokens([["a", "b"]], forbidden=[{1: [0, 1]}])
    assert parsed.heads == [2, 0]


def test_what_a_sentence_has_already() -> None:
    sentence = Sentence(["a", "b", "c"], [2, -1, 2], deprels=["x", "y", "_"])
    assert constraints_from(sentence) == Constraints(heads={1: 2, 3: 2}, relations={1: "x", 2: "y"})
    assert not constraints_from(Sentence(["a"]))
    assert constraints_from(sentence)
    assert not NO_CONSTRAINTS
    assert Constraints(forbidden={1: [0]})
    assert list(make_constraints(2, [None, {}], None)) == [NO_CONSTRAINTS, NO_CONSTRAINTS]


def test_allowed_arcs() -> None:
    device = torch.device("cpu")
    assert allowed_arcs([NO_CONSTRAINTS, NO_CONSTRAINTS], 4, device=device) is None
    constraints = [NO_CONSTRAINTS, Constraints(heads={2: 0}, forbidden={1: [2, 0]})]
    allowed = allowed_arcs(constraints, 4, device=device)
    assert allowed is not None
    assert allowed[0].all()
    assert allowed[1].int().tolist() == [[1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]
