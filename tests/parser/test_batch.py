"""Batches: packed and back again, cut by two limits, shuffled by a seed."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.parser.models import SMALL, VOCABULARY, heads_of
from treecrf.parser.batching.batch import Batch, cut_batches, make_batch, shuffled_batches
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.batching.gold import WordCounts, count_words
from treecrf.treebank import Sentence, Token

CONFIG = replace(SMALL, tags="upos", predict=("upos",), max_chars=5)
WITH_VECTORS = VOCABULARY.with_vectors(["a", "cat"])


@st.composite
def annotated(draw: st.DrawFn) -> Sentence:
    """A sentence with tags, some heads and some relations."""
    heads = draw(st.integers(0, 5).flatmap(heads_of))
    tokens = [
        Token(
            number,
            draw(st.text("abcdogD?", min_size=1, max_size=8)),
            upos=draw(st.sampled_from(["N", "X", "VERB"])),
            head=head,
            deprel=draw(st.sampled_from(["x", "y", "z", "unseen", "_"])),
        )
        for number, head in enumerate(heads, 1)
    ]
    return Sentence.from_tokens(tokens)


def unpacked_characters(batch: Batch) -> list[list[int]]:
    """The characters of each distinct form, by walking through the packed steps."""
    assert batch.words is not None
    forms: list[list[int]] = [[] for _ in range(int(batch.words.character_sizes[0]))]
    rest = iter(batch.words.characters.tolist())
    for alive in batch.words.character_sizes.tolist():
        for form in range(alive):
            forms[form].append(next(rest))
    assert next(rest, None) is None
    return forms


@given(st.lists(annotated(), min_size=1, max_size=6), st.data())
def test_every_token_is_in_its_cell(sentences: list[Sentence], data: st.DataObject) -> None:
    numbers = st.integers(0, len(sentences) - 1)
    rows = np.array(data.draw(st.lists(numbers, min_size=1, max_size=6, unique=True)))
    encoded = encode(sentences, WITH_VECTORS, CONFIG)
    annotation = encode_annotation(sentences, WITH_VECTORS, CONFIG)
    batch = make_batch(encoded, rows, annotation=annotation)

    assert sorted(batch.rows.tolist()) == sorted(rows.tolist())
    lengths = [len(sentences[row]) for row in batch.rows]
    assert batch.lengths.tolist() == lengths == sorted(lengths, reverse=True)
    assert batch.grid == (len(rows), max(lengths) + 1)
    # All sentences' root symbols come first, then all first words, and so on.
    expected = [
        (s, t) for t in range(max(lengths) + 1) for s in range(len(rows)) if t <= lengths[s]
    ]
    width = batch.grid[1]
    assert batch.cells.tolist() == [s * width + t for s, t in expected]
    assert batch.sentence.tolist() == [s for s, _ in expected]
    sizes = [sum(t <= length for length in lengths) for t in range(width)]
    assert batch.batch_sizes.tolist() == sizes

    characters = unpacked_characters(batch)
    assert len(characters) == len({form for r in rows for form in sentences[r].forms}) + 1
    assert [len(item) for item in characters] == sorted(map(len, characters), reverse=True)
    table = encoded.form_table
    assert table is not None
    assert batch.words is not None
    assert batch.tags is not None
    for place, (s, t) in enumerate(expected):
        assert batch.places[s, t] == place
        row = int(batch.rows[s])
        token = encoded.starts[row] + t
        form = encoded.forms[token]
        assert batch.words.words[place] == table.words[form]
        assert batch.words.vectors[place] == table.vectors[form]  # type: ignore[index]
        assert batch.tags[place] == encoded.tags[token]  # type: ignore[index]
        own = table.characters[form, : table.counts[form]].tolist()
        assert characters[int(batch.words.forms[place])] == own

    assert batch.heads is not None
    for s, row in enumerate(batch.rows.tolist()):
        padding = [-1] * (width - 1 - lengths[s])
        assert batch.heads[s].tolist() == [0, *sentences[row].heads, *padding]
    assert batch.gold is not None
    partial = any(-1 in sentences[row].heads for row in rows)
    assert (batch.gold.arcs is None) == partial


@given(st.lists(annotated(), min_size=1, max_size=6), st.booleans())
def test_every_annotation_is_at_its_token(sentences: list[Sentence], multiroot: bool) -> None:
    config = replace(CONFIG, loss="crf2o", multiroot=multiroot)
    encoded = encode(sentences, VOCABULARY, config)
    annotation = encode_annotation(sentences, VOCABULARY, config)
    batch = make_batch(encoded, np.arange(len(sentences)), annotation=annotation)
    gold, width = batch.gold, batch.grid[1]
    assert gold is not None
    relations, upos, arcs, pairs = [], [], [], []
    for place, cell in enumerate(batch.cells.tolist()):
        s, t = divmod(cell, width)
        if t == 0:
            relations.append(-1)
            upos.append(-1)
            assert gold.places[place] == batch.places[s, 0]
            continue
        sentence = sentences[int(batch.rows[s])]
        token = sentence.tokens[t - 1]
        assert gold.places[place] == batch.places[s, max(token.head, 0)]
        known = VOCABULARY.relation_numbers
        relations.append(known.get(token.deprel, -1) if token.head >= 0 else -1)
        upos.append(VOCABULARY.column_numbers["upos"].get(token.upos, -1))
        arcs.append((s, t, token.head))
        between = range(min(token.head, t) + 1, max(token.head, t))
        siblings = [k for k in between if sentence.heads[k - 1] == token.head]
        if siblings and (token.head > 0 or multiroot):
            pairs.append((s, t, token.head, max(siblings) if token.head < t else min(siblings)))
    assert gold.relations.tolist() == relations
    assert gold.columns["upos"].tolist() == upos
    heads = [head for sentence in sentences for head in sentence.heads]
    counts = WordCounts(
        heads=sum(head >= 0 for head in heads),
        relations=sum(relation >= 0 for relation in relations),
        columns={"upos": sum(tag >= 0 for tag in upos)},
    )
    assert gold.counts == counts
    assert count_words(encoded, annotation, np.arange(len(sentences))) == counts
    if -1 in heads:
        assert gold.arcs is None
        assert gold.siblings is None
    else:
        assert gold.arcs is not None
        assert gold.siblings is not None
        shape = (*batch.grid, width, width)
        cells = [np.ravel_multi_index(arc, shape[:3]) for arc in arcs]
        assert gold.arcs.tolist() == cells
        assert gold.siblings.tolist() == [np.ravel_multi_index(pair, shape) for pair in pairs]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_unpacking_undoes_packing(lengths: list[int]) -> None:
    sentences = [Sentence(["a"] * length) for length in lengths]
    batch = make_batch(encode(sentences, VOCABULARY, SMALL), np.arange(len(lengths)))
    tokens = torch.arange(1.0, 2 * len(batch.cells) + 1).view(-1, 2)
    grid = batch.unpack(tokens)
    assert grid.shape == (*batch.grid, 2)
    torch.testing.assert_close(grid.flatten(0, 1)[batch.cells], tokens, rtol=0, atol=0)
    for row, length in enumerate(batch.lengths.tolist()):
        places = batch.places[row, : length + 1]
        torch.testing.assert_close(grid[row, : length + 1], tokens[places], rtol=0, atol=0)
        assert not grid[row, length + 1 :].any()


def test_sentences_of_a_length_keep_their_order() -> None:
    sentences = [Sentence(["a"] * length) for length in (2, 3, 2, 3, 2)]
    batch = make_batch(encode(sentences, VOCABULARY, SMALL), np.arange(5))
    assert batch.rows.tolist() == [1, 3, 0, 2, 4]
    assert batch.heads is None
    assert batch.gold is None
    assert batch.pieces is None


LENGTHS = st.lists(st.integers(0, 30), max_size=40).map(lambda x: np.array(x, np.int64))


@given(LENGTHS, st.integers(1, 60), st.integers(1, 40_000), st.randoms())
def test_batches_cover_all_and_keep_both_limits(
    lengths: np.ndarray, tokens: int, cells: int, random: object
) -> None:
    order = np.arange(len(lengths))
    random.shuffle(order)  # type: ignore[attr-defined]
    batches = list(cut_batches(lengths, order, tokens=tokens, cells=cells))
    assert [row for batch in batches for row in batch] == order.tolist()

    def fits(rows: np.ndarray) -> bool:
        own = lengths[rows]
        return own.sum() <= tokens and len(rows) * (int(own.max()) + 1) ** 3 <= cells

    for batch in batches:
        assert fits(batch) or len(batch) == 1  # a sentence is not cut
    for batch, following in pairwise(batches):
        assert not fits(np.append(batch, following[0]))  # no batch ends early


@given(LENGTHS, st.integers(1, 60), st.integers(0, 2**62))
def test_shuffled_batches_cover_all(lengths: np.ndarray, tokens: int, seed: int) -> None:
    batches = shuffled_batches(lengths, tokens=tokens, seed=seed)
    again = shuffled_batches(lengths, tokens=tokens, seed=seed)
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in again]
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert lengths[batch].sum() <= tokens or len(batch) == 1
    limited = shuffled_batches(lengths, tokens=tokens, seed=seed, cells=1)
    assert all(len(batch) == 1 for batch in limited)


def test_another_seed_is_another_order_and_other_neighbours() -> None:
    lengths = np.random.default_rng(0).integers(1, 30, 500)
    one, other = (shuffled_batches(lengths, tokens=100, seed=seed) for seed in (1, 2))
    assert {frozenset(batch.tolist()) for batch in one} != {frozenset(b.tolist()) for b in other}
    # Lengths in a batch are alike, and long ones do not all come last.
    assert np.mean([np.ptp(lengths[batch]) for batch in one]) < 4
    means = [lengths[batch].mean() for batch in one]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.5


@pytest.mark.parametrize("tokens", [1, 10_000])
def test_no_sentence_is_no_batch(tokens: int) -> None:
    none = np.array([], np.int64)
    assert list(cut_batches(none, none, tokens=tokens)) == []
    assert shuffled_batches(none, tokens=tokens, seed=1) == []
