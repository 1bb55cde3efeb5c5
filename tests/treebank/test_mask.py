"""Partial training data: the share, the nesting, what goes with a head."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from treecrf.treebank import Sentence, TreebankError, read_conllu
from treecrf.treebank.mask import keep_sentences, mask_dependencies
from treecrf.treebank.pseudoprojective import project
from treecrf.treebank.trees import is_projective

GOLDEN = Path(__file__).parent / "data" / "golden.conllu"


def treebank() -> Iterator[Sentence]:
    yield from read_conllu(GOLDEN)
    for length in range(1, 40):
        words = [f"w{word}" for word in range(length)]
        yield Sentence(words, [0, *range(1, length)], deprels=["x"] * length)


def kept(share: float, *, seed: int = 1) -> list[set[int]]:
    masked = mask_dependencies(treebank(), share, seed=seed)
    return [{token.id for token in item.tokens if token.head >= 0} for item in masked]


def test_the_share_is_that_of_all_and_nearly_of_every_sentence() -> None:
    annotated = [sum(head >= 0 for head in sentence.heads) for sentence in treebank()]
    for share in (0.0, 0.1, 0.3, 0.5, 1.0):
        by_sentence = kept(share)
        assert sum(map(len, by_sentence)) == round(share * sum(annotated))
        for number, words in zip(annotated, by_sentence, strict=True):
            assert abs(len(words) - share * number) < 1.5


@pytest.mark.parametrize("length", [1, 4, 9])
def test_short_sentences_keep_their_share(length: int) -> None:
    """Rounded in each sentence, a tenth of four words would be none in all of them."""
    short = [Sentence(["w"] * length, [0, *range(1, length)]) for _ in range(100)]
    long = [Sentence(["w"] * 36, [0, *range(1, 36)]) for _ in range(100)]
    masked = mask_dependencies([*short, *long], 0.1)
    heads = [sum(head >= 0 for head in sentence.heads) for sentence in masked]
    assert sum(heads) == 10 * length + 360
    assert sum(heads[:100]) == pytest.approx(10 * length, abs=15)
    assert set(heads[:100]) == {0, 1}
    assert set(heads[100:]) <= {3, 4, 5}


def test_what_a_smaller_share_keeps_a_larger_one_keeps() -> None:
    shares = [kept(share) for share in (0.0, 0.1, 0.3, 0.31, 0.5, 0.9, 1.0)]
    for smaller, larger in pairwise(shares):
        assert all(a <= b for a, b in zip(smaller, larger, strict=True))


def test_a_seed_decides() -> None:
    assert kept(0.5) == kept(0.5)
    assert kept(0.5) != kept(0.5, seed=2)


def test_heads_go_with_their_labels_and_trees_are_lifted_first() -> None:
    for original, masked in zip(treebank(), mask_dependencies(treebank(), 0.5), strict=True):
        lifted = project(original)
        assert is_projective([0, *masked.heads])
        for before, after in zip(lifted.tokens, masked.tokens, strict=True):
            if after.head >= 0:
                assert after == before
            else:
                assert (after.deprel, after.deps) == ("_", "_")
                assert (after.form, after.misc) == (before.form, before.misc)


def test_trees_may_be_left_unlifted_and_sentences_are_not_changed() -> None:
    sentences = list(treebank())
    everything = list(mask_dependencies(sentences, 1, encoding=None))
    assert everything == sentences
    assert all(head < 0 for item in mask_dependencies(sentences, 0) for head in item.heads)
    assert sentences == list(treebank())


def test_sentences_are_kept_whole_and_nested() -> None:
    sentences = list(treebank())
    texts = [sentence.to_conllu() for sentence in sentences]
    smaller: list[int] = []
    for share in (0.0, 0.1, 0.3, 0.7, 1.0):
        places = [texts.index(item.to_conllu()) for item in keep_sentences(sentences, share)]
        assert len(places) == round(share * len(texts))
        assert places == sorted(places)
        assert set(smaller) <= set(places)
        smaller = places


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_between_zero_and_one(share: float) -> None:
    with pytest.raises(TreebankError, match="the share to keep is between 0 and 1, not"):
        list(mask_dependencies([], share))
    with pytest.raises(TreebankError, match="the share to keep is between 0 and 1, not"):
        keep_sentences([], share)
