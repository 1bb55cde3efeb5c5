"""Training: generated text is learnt, and the same seed gives the same segmenter."""

import pytest
import torch

from tests.segment.texts import TINY, sentence_of, treebank, untrained
from treecrf.segment import Segmenter, SegmenterEpoch, SegmentError, train_segmenter
from treecrf.segment.training.loop import Gold
from treecrf.segment.training.raw_text import raw_sentences, raw_text
from treecrf.treebank import Sentence, evaluate_conll18


def test_generated_text_is_learnt(segmenter: Segmenter) -> None:
    gold = treebank(100, seed=3)
    found = segmenter.segment(raw_text(raw_sentences(gold)))
    scores = Gold(gold).evaluate(found)
    assert scores.tokens.f1 >= 0.99
    assert scores.words.f1 >= 0.99
    assert scores.sentences.f1 >= 0.99
    assert any(sentence.multiwords for sentence in found)


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028"])
def test_sentences_on_lines_of_their_own_are_learnt_too(
    line_break: str, segmenter: Segmenter
) -> None:
    gold = treebank(40, seed=4)
    found = segmenter.segment(line_break.join(sentence.text for sentence in gold))
    assert Gold(gold).evaluate(found).sentences.f1 >= 0.95


@pytest.mark.parametrize("learnt", [True, False])
def test_scores_are_those_of_the_shared_task(learnt: bool, segmenter: Segmenter) -> None:
    gold = treebank(30, seed=5)
    found = (segmenter if learnt else untrained()).segment(raw_text(raw_sentences(gold)))
    scores = Gold(gold).evaluate(found)
    trees = [sentence.with_tree(range(len(sentence)), sentence.deprels) for sentence in found]
    official = evaluate_conll18(gold, trees)
    assert scores.tokens == official["Tokens"]
    assert scores.sentences == official["Sentences"]
    assert scores.words.f1 == official["Words"].f1
    assert scores.mean == pytest.approx(
        sum(official[name].f1 for name in ("Tokens", "Words", "Sentences")) / 3
    )


def test_the_seed_decides() -> None:
    config = TINY.changed({"epochs": 2, "lstm_size": 8})
    train, dev = treebank(40), treebank(10, seed=2)

    def weights(seed: int) -> dict[str, torch.Tensor]:
        segmenter = train_segmenter(train, dev, config.changed({"seed": seed}))
        return segmenter.network.state_dict()

    first, again, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_training_stops_and_keeps_the_best_epoch() -> None:
    epochs: list[SegmenterEpoch] = []
    config = TINY.changed({"epochs": 9, "patience": 2, "learning_rate": 0.0})
    train = treebank(10)
    segmenter = train_segmenter(train, train, config, on_epoch=epochs.append)
    assert [epoch.epoch for epoch in epochs] == [1, 2, 3]
    assert epochs[-1].best_epoch == 1
    assert segmenter.segment("Anna slept.")[0].forms == ["Anna", "slept."]


def test_numbers_with_spaces_are_learnt() -> None:
    texts = [
        f"{name} {verb} {thousand}_{rest} {thing}~ ."
        for name in ("Anna", "Peter", "Sarah")
        for verb in ("saw", "ate", "sold", "bought")
        for thousand, rest in (("1", "500"), ("10", "000"), ("250", "000"))
        for thing in ("cakes", "dogs")
    ]
    sentences = treebank(200) + [sentence_of(text) for text in texts]
    segmenter = train_segmenter(sentences, sentences[::5], TINY)
    (sentence,) = segmenter.segment("Peter sold 10 000 dogs.")
    assert sentence.forms == ["Peter", "sold", "10 000", "dogs", "."]
    assert segmenter.segment("Anna ate cakes.")[0].forms == ["Anna", "ate", "cakes", "."]
    # A letter was never seen beside a space inside a token.
    assert all(form.count(" ") == 0 for form in segmenter.segment("1 a 2 b")[0].forms)


@pytest.mark.parametrize("empty", ["training", "dev"])
def test_no_sentences_are_an_error(empty: str) -> None:
    sentences = {"training": treebank(3), "dev": treebank(3)} | {empty: [Sentence([])]}
    with pytest.raises(SegmentError, match=f"the {empty} data has no sentences"):
        train_segmenter(sentences["training"], sentences["dev"], TINY)


def test_training_goes_on_from_a_segmenter(segmenter: Segmenter) -> None:
    gold = treebank(40, seed=6)
    more = [*treebank(60), sentence_of("• one"), sentence_of("• two")]
    config = TINY.changed({"epochs": 1, "learning_rate": 1e-3})
    found = train_segmenter(more, gold, config, start=segmenter)
    text = raw_text(raw_sentences(gold))
    assert Gold(gold).evaluate(found.segment(text)).mean >= 0.99
    known = segmenter.alphabet.characters
    assert found.alphabet.characters == [*known, "•"]


def test_a_segmenter_of_another_size_is_no_start(segmenter: Segmenter) -> None:
    sentences = treebank(10)
    with pytest.raises(SegmentError, match="has another network"):
        train_segmenter(sentences, sentences, TINY.changed({"lstm_size": 16}), start=segmenter)
