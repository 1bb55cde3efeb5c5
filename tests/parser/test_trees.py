"""Trees as the user sees them: names of relations, arcs put back, probabilities in MISC."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.enumeration import all_trees
from tests.parser.models import SMALL, VOCABULARY, batch_of, decode, random_parser, sentence_of
from treecrf.parser.api import Parser
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.vocab import Vocabulary, build_vocabulary
from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.probs import with_written_probs
from treecrf.treebank.pseudoprojective import ENCODINGS, Encoding, lift, restore
from treecrf.treebank.trees import is_tree

PSEUDO = replace(SMALL, loss="crf", nonprojective="pseudo")
# 1 -> 3 was lifted from 5, whose label is d, to the head of 5.
LIFTED, LABELS = [3, 1, 0, 5, 3], ["a↑d", "b", "root", "c", "d↓"]
HEADS, PLAIN = [5, 1, 0, 5, 3], ["a", "b", "root", "c", "d"]


def vocabulary_of(relations: list[str]) -> Vocabulary:
    return Vocabulary(
        words=VOCABULARY.words,
        characters=VOCABULARY.characters,
        tags=VOCABULARY.tags,
        relations=relations,
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_small_tree_comes_back_as_by_restore(encoding: Encoding) -> None:
    config = replace(PSEUDO, encoding=encoding)
    for tree in all_trees(4, projective=False, multiroot=False):
        labels = ["a", "b", "c", "d"]
        heads, marked = lift(tree[1:], labels, encoding=encoding)
        sentence = Sentence(labels, heads, deprels=marked)
        vocabulary = build_vocabulary([sentence], config)
        numbers = [vocabulary.relation_numbers[label] for label in marked]
        named = TreeNamer(vocabulary, config).name(heads, numbers)
        assert named == restore(heads, marked, encoding=encoding)
        assert named[1] == labels
        if encoding == "head":
            assert named[0] == list(tree[1:])


def test_held_words_are_not_moved() -> None:
    vocabulary = vocabulary_of(LABELS)
    namer = TreeNamer(vocabulary, PSEUDO)
    assert namer.name(LIFTED, range(5)) == (HEADS, PLAIN)
    assert namer.name(LIFTED, range(5), constrained={1: 3}) == (LIFTED, PLAIN)
    assert namer.name(LIFTED, range(5), constrained={5}) == (HEADS, PLAIN)


def test_relations_with_arrows_of_their_own() -> None:
    sentence = Sentence(["w"], [0], deprels=["up↑x\\"])
    heads, marked = lift(sentence.heads, sentence.deprels)
    assert TreeNamer(vocabulary_of(marked), PSEUDO).name(heads, [0]) == ([0], ["up↑x\\"])
    # Without lifting nothing is a mark.
    plain = TreeNamer(vocabulary_of(LABELS), replace(PSEUDO, nonprojective="none"))
    assert plain.name(LIFTED, range(5)) == (LIFTED, LABELS)


def marking_parser(seed: int) -> Parser:
    """A parser all of whose labels have marks, so that it lifts at random."""
    relations = ["x↓", "y↑x", "x↑x↓", "y↑x↓"]
    return random_parser(PSEUDO, vocabulary=vocabulary_of(relations), seed=seed)


PARSERS = [marking_parser(seed) for seed in range(6)]


@given(st.sampled_from(PARSERS), st.integers(3, 9), st.data())
def test_arcs_are_put_back_but_those_that_are_held(
    parser: Parser, length: int, data: st.DataObject
) -> None:
    sentence = sentence_of(length, seed=data.draw(st.integers(0, 100)))
    batch = batch_of([sentence], parser.config, vocabulary=parser.vocabulary)
    decoded = decode(parser.scorer, batch, config=parser.config, probs=True)
    heads = decoded.heads[1:].tolist()
    labels = [parser.vocabulary.relations[number] for number in decoded.relations[1:]]
    [parsed] = parser.parse_tokens([sentence])
    restored, plain = restore(heads, labels)
    assert (parsed.heads, parsed.deprels) == (restored, plain)
    assert is_tree([0, *parsed.heads])
    # The probability is that of the arc that was decoded.
    assert parsed.probs == pytest.approx(decoded.probs[1:].tolist())  # type: ignore[index]

    # Held to what was decoded, the tree is the same but nothing held is moved.
    held = data.draw(st.sets(st.integers(1, length)))
    constraints = {word: heads[word - 1] for word in held}
    [kept] = parser.parse_tokens([sentence], constraints=[constraints])
    assert all(kept.heads[word - 1] == head for word, head in constraints.items())
    assert is_tree([0, *kept.heads])


def test_no_arc_is_put_back_to_a_head_that_is_ruled_out() -> None:
    checked = 0
    for parser in PARSERS:
        for seed in range(5):
            sentence = sentence_of(8, seed=seed)
            batch = batch_of([sentence], parser.config, vocabulary=parser.vocabulary)
            heads = decode(parser.scorer, batch, config=parser.config).heads[1:].tolist()
            [parsed] = parser.parse_tokens([sentence])
            for word, (before, after) in enumerate(zip(heads, parsed.heads, strict=True), 1):
                if before != after:
                    [again] = parser.parse_tokens([sentence], forbidden=[{word: [after]}])
                    assert again.heads[word - 1] != after
                    assert is_tree([0, *again.heads])
                    checked += 1
    assert checked > 10  # else the tests here would be about nothing


def test_what_was_said_of_another_tree_goes() -> None:
    """Its probabilities and its rank would be taken for those of the new tree."""
    parser = random_parser(PSEUDO)
    old = Sentence(["a", "b", "dog"], [0, 1, 1], deprels=["root", "x", "x"])
    old.comments = ["# sent_id = 1", "# rank = 2", "# log_prob = -1.0000"]
    for token, misc in zip(old.tokens, ["HeadProb=0.1", "A=b|HeadProb=0.2", "_"], strict=True):
        token.misc = misc
    for sentence in (old, next(read_conllu(StringIO(old.to_conllu())))):
        [new] = parser.parse_stream([sentence], probs=False)
        assert new.column("misc") == ["_", "A=b", "_"]
        assert new.comments == ["# sent_id = 1"]
    assert old.column("misc")[0] == "HeadProb=0.1"


def test_probabilities_in_misc() -> None:
    tree = Sentence(["a", "b", "c"], [0, 1, 1], deprels=["x"] * 3, probs=[1.0, 0.98765, 1e-9])
    tree.tokens[1].misc = "SpaceAfter=No|HeadProb=0.1000|Gloss=b"
    written = with_written_probs(tree)
    assert written.column("misc") == [
        "HeadProb=1.0000",
        "SpaceAfter=No|Gloss=b|HeadProb=0.9877",
        "HeadProb=0.0000",
    ]
    assert (written.heads, written.probs) == (tree.heads, tree.probs)
    assert with_written_probs(written) == written
    assert tree.column("misc")[0] == "_"


def trees_with(lengths: list[int], *, rows: list[int]) -> Trees:
    """Trees that say in each number which sentence and which token it is of."""
    sizes = zip(rows, lengths, strict=True)
    numbers = np.array([100 * row + token for row, n in sizes for token in range(n + 1)])
    return Trees(
        lengths=np.array(lengths),
        heads=numbers,
        relations=numbers + 1,
        probs=numbers / 2,
        log_probs=np.array(rows) / 4,
        crossing=np.array(rows) % 2 == 0,
        marginals=[np.full((1, 1), row, np.float32) for row in rows],
    )


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.data())
def test_trees_of_batches_are_joined_in_the_order_of_their_sentences(
    lengths: list[int], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(lengths))))
    cut = data.draw(st.integers(0, len(lengths)))
    parts = [part for part in (order[:cut], order[cut:]) if part]
    joined = Trees.joined(
        [(np.array(part), trees_with([lengths[row] for row in part], rows=part)) for part in parts]
    )
    expected = trees_with(lengths, rows=list(range(len(lengths))))
    for name in ("lengths", "heads", "relations", "probs", "log_probs", "crossing", "marginals"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(expected, name))
    assert joined.columns == {}
    assert joined.entropies is None


def test_no_batches_have_no_trees() -> None:
    assert len(Trees.joined([])) == 0
