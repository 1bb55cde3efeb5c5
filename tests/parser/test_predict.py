"""The parser that users hold: order, odd sentences, columns that stay, distributions."""

import io
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.parser.models import (
    DECODERS,
    LOSSES,
    batch_of,
    decode,
    random_parser,
    row_of,
    sentence_of,
    sentences_of,
    trees_of,
    with_loss,
)
from treecrf.parser import ParserError
from treecrf.parser.api import Parser
from treecrf.parser.batching.encoding import encode
from treecrf.parser.constraints import NO_CONSTRAINTS
from treecrf.parser.decoding.batches import decode_sentences
from treecrf.parser.device import choose_device
from treecrf.treebank import Sentence, read_conllu

LENGTHS = [3, 7, 1, 5, 2, 2, 9, 4, 0, 6]


def words_of(lengths: list[int]) -> list[list[str]]:
    return [sentence.forms for sentence in sentences_of(lengths)]


def tree_of(sentence: Sentence) -> tuple[list[int], list[str]]:
    return sentence.heads, sentence.deprels


@pytest.mark.parametrize("loss", LOSSES)
def test_trees_do_not_depend_on_batches_and_windows(loss: str) -> None:
    parser = random_parser(with_loss(loss))
    words = words_of(LENGTHS)
    alone = [parser.parse_tokens([sentence])[0] for sentence in words]
    assert [sentence.forms for sentence in alone] == words
    sentences = sentences_of(LENGTHS)
    for batch_words in (1, 7, 10):
        trees = decode_sentences(
            parser.scorer,
            encode(sentences, parser.vocabulary, parser.config),
            [NO_CONSTRAINTS] * len(sentences),
            config=parser.config,
            device=parser.device,
            probs=True,
            batch_words=batch_words,
        )
        assert trees.probs is not None
        for row, expected in enumerate(alone):
            tokens = row_of(trees, row)
            assert trees.heads[tokens][1:].tolist() == expected.heads
            assert trees.probs[tokens][1:] == pytest.approx(expected.probs)
    many = words * 110  # more than a window
    for parsed in (parser.parse_tokens(iter(many)), list(parser.parse_stream(iter(many)))):
        assert [tree_of(sentence) for sentence in parsed] == [tree_of(item) for item in alone] * 110
        for sentence, expected in zip(parsed, alone * 110, strict=True):
            assert sentence.probs == pytest.approx(expected.probs)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_decoder_by_name(loss: str, decoder: str) -> None:
    parser = random_parser(with_loss(loss))
    config = with_loss(loss, decoder=decoder)
    sentences = sentences_of([5, 4])
    decoded = decode(parser.scorer, batch_of(sentences, config), config=config, probs=True)
    for parsed in (
        parser.parse_tokens(sentences, decoder=decoder),  # type: ignore[arg-type]
        list(parser.parse_stream(sentences, decoder=decoder)),  # type: ignore[arg-type]
    ):
        for row, sentence in enumerate(parsed):
            tokens = row_of(decoded, row)
            assert sentence.heads == decoded.heads[tokens][1:].tolist()
            assert sentence.probs == pytest.approx(decoded.probs[tokens][1:].tolist())  # type: ignore[index]
    assert parser.config.decoder == "auto"
    with pytest.raises(ParserError, match="decoder is 'best'; it is one of"):
        parser.parse_tokens(sentences, decoder="best")  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", LOSSES)
def test_odd_sentences(loss: str) -> None:
    parser = random_parser(with_loss(loss))
    assert parser.parse_tokens([]) == []
    assert list(parser.parse_stream([])) == []
    odd = [[], ["a"], ["世界", "\U0001f600"], ["x" * 100_000, "a"], ["\0", " "]]
    for parsed in (parser.parse_tokens(odd), list(parser.parse_stream(odd))):
        assert [sentence.forms for sentence in parsed] == odd
        for sentence in parsed:
            assert sentence.probs is not None
            assert len(sentence.heads) == len(sentence.probs) == len(sentence)
            assert sentence.heads.count(0) == min(1, len(sentence))
        assert parsed[1].heads == [0]
        if loss != "local":
            assert parsed[1].probs == pytest.approx([1.0])


def test_a_word_that_is_too_long_is_read_by_its_ends() -> None:
    parser = random_parser(with_loss("crf"))
    start, end = "dog", "abc"  # max_chars is 6
    long, longer, other = (
        parser.parse_tokens([["b", start + middle + end]])[0].probs
        for middle in ("o", "gggggg", "d" * 50)
    )
    assert long == pytest.approx(longer)
    assert long == pytest.approx(other)
    assert parser.parse_tokens([["b", "cog" + "o" + end]])[0].probs != pytest.approx(long)


CONLLU = b"""# newpar
# sent_id = one
# text = adog b
1-2\tadog\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=Yes
1\ta\tA\tDET\tDT\tX=Y\t_\t_\t_\tm=1
2\tdog\tdog\tNOUN\tNN\t_\t1\tz\t_\t_
2.1\tghost\t_\t_\t_\t_\t_\t_\t0:root\t_
3\tb\tb\tVERB\tVB\t_\t_\t_\t0:root\t_

"""


def test_all_else_stays() -> None:
    [sentence] = read_conllu(io.BytesIO(CONLLU))
    before = sentence.to_conllu()
    parser = random_parser(with_loss("crf2o"))
    for parsed in (parser.parse_tokens([sentence])[0], next(parser.parse_stream([sentence]))):
        assert parsed.comments[:3] == sentence.comments
        assert parsed.comments[3].startswith("# log_prob = -")
        assert parsed.multiwords == sentence.multiwords
        assert parsed.empty_nodes == sentence.empty_nodes
        for old, new in zip(sentence.tokens, parsed.tokens, strict=True):
            old.head, old.deprel = new.head, new.deprel
            assert old == new
            assert new.head >= 0
            assert new.deprel in "xyz"
        [sentence] = read_conllu(io.BytesIO(CONLLU))
        assert sentence.to_conllu() == before  # the input is not changed
    [plain] = parser.parse_stream([sentence], probs=False)
    assert plain.probs is None
    assert plain.comments == sentence.comments


def test_tags_of_a_model_that_gives_them() -> None:
    config = replace(with_loss("crf2o"), predict=("upos",))
    seen = set()
    for seed in range(3):
        parser = random_parser(config, seed=seed)
        sentences = sentences_of([4, 6, 1], seed=seed)
        for parsed in (parser.parse_tokens(sentences), list(parser.parse_stream(sentences))):
            for sentence, result in zip(sentences, parsed, strict=True):
                batch = batch_of([sentence], config)
                scores = parser.scorer.columns(parser.scorer(batch))["upos"]
                tags = [parser.vocabulary.columns["upos"][tag] for tag in scores[1:].argmax(1)]
                assert result.column("upos") == tags
                seen |= set(tags)
        [ranked] = parser.parse_best(sentences[:1], 3)
        assert all(tree.column("upos") == parsed[0].column("upos") for tree in ranked)
    assert len(seen) > 1


def test_a_tree_that_is_parsed_again_has_one_log_prob() -> None:
    parser = random_parser(with_loss("crf"))
    [once] = parser.parse_tokens([["a", "b", "c"]])
    [twice] = parser.parse_tokens([once])
    assert twice.comments == once.comments
    [free] = parser.parse_stream([once], probs=False)
    assert free.comments == []


@pytest.mark.parametrize("loss", LOSSES)
def test_the_distribution_is_in_the_order_of_the_input(loss: str) -> None:
    parser = random_parser(with_loss(loss))
    words = words_of([2, 5, 1, 4, 3])
    crf = parser.distribution(words)
    assert crf.lengths.tolist() == [2, 5, 1, 4, 3]
    assert not crf.marginals.requires_grad
    sentences = [Sentence(item) for item in words]
    batch = batch_of(sentences, parser.config)
    expected = trees_of(parser.scorer, batch, parser.config)
    for place, row in enumerate(batch.rows.tolist()):
        trees = expected.sentences[place]
        torch.testing.assert_close(crf.marginals[row], trees.marginals.detach())
        torch.testing.assert_close(crf.log_partition[row], trees.log_partition.detach())
    for row, sentence in enumerate(parser.parse_tokens(words)):
        places = range(1, len(sentence) + 1)
        marginals = [float(crf.marginals[row, m, sentence.heads[m - 1]]) for m in places]
        if loss != "local":
            assert sentence.probs == pytest.approx(marginals)
        heads = torch.full(crf.marginals.shape[:2], -1)
        heads[row, 1 : len(sentence) + 1] = torch.tensor(sentence.heads)
        assert sentence.comments == [f"# log_prob = {float(crf.log_prob(heads)[row]):.4f}"]


def test_a_distribution_with_constraints() -> None:
    parser = random_parser(with_loss("crf2o"))
    words = words_of([2, 4, 3])
    crf = parser.distribution(
        words, constraints=[None, {2: 4}, {}], forbidden=[{1: [2]}, None, None]
    )
    assert crf.marginals[1, 2].tolist() == pytest.approx([0, 0, 0, 0, 1])
    assert crf.marginals[0, 1, 2] == 0
    assert 0 < crf.marginals[2, 1, 2] < 1
    with pytest.raises(ParserError, match="there is no sentence"):
        parser.distribution([])
    with pytest.raises(ParserError, match="head 9"):
        parser.distribution(words, constraints=[{1: 9}, None, None])


@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_trees_of_each_sentence(loss: str) -> None:
    parser = random_parser(with_loss(loss))
    words = words_of([4, 1, 3])
    ranked = list(parser.parse_best(words, 5))
    viterbi = parser.parse_tokens(words, decoder="viterbi")
    assert [len(trees) for trees in ranked] == [5, 1, 5]
    for trees, best in zip(ranked, viterbi, strict=True):
        assert tree_of(trees[0]) == tree_of(best)
        assert len({tuple(tree.heads) for tree in trees}) == len(trees)
        log_probs = [float(tree.comments[-1].removeprefix("# log_prob = ")) for tree in trees]
        assert log_probs == sorted(log_probs, reverse=True)


def test_the_best_trees_keep_heads() -> None:
    parser = random_parser(with_loss("crf"))
    sentence = Sentence(["a", "b", "c", "dog"], [-1, 4, -1, -1], deprels=["_", "held", "_", "_"])
    [ranked] = parser.parse_best([sentence], 4, keep_heads=True)
    for tree in ranked:
        assert tree.heads[1] == 4
        assert tree.deprels[1] == "held"
    stream = parser.parse_best(iter([["a"], "oops"]), 1)
    assert next(stream)[0].heads == [0]  # one sentence at a time


def test_more_trees_than_there_are() -> None:
    """However many are asked for, no time and no rank goes into those that are not there."""
    for loss in LOSSES:
        [ranked] = random_parser(with_loss(loss)).parse_best([["a", "b"]], np.int64(100_000))
        assert len(ranked) == 2


def test_a_list_of_trees_that_is_too_long() -> None:
    for loss in LOSSES:
        stream = random_parser(with_loss(loss)).parse_best([["a"] * 200], 2**21)
        with pytest.raises(ParserError, match=r"2,097,152 best trees .* ask for fewer"):
            next(stream)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_trees_around_heads_that_cross(loss: str) -> None:
    parser = random_parser(with_loss(loss))
    crossing = Sentence(["a", "b", "c", "dog"], [3, 4, -1, -1])
    [ranked] = parser.parse_best([crossing], 4, keep_heads=True)
    (best,) = parser.parse_stream([crossing], keep_heads=True, decoder="viterbi")
    assert (ranked[0].heads, ranked[0].comments) == (best.heads, best.comments)
    assert ranked[0].probs == pytest.approx(best.probs)
    assert all(tree.heads[:2] == [3, 4] for tree in ranked)
    assert len({tuple(tree.heads) for tree in ranked}) == len(ranked) > 1
    circle = Sentence(["a", "b", "c"], [2, 1, -1])
    with pytest.raises(ParserError, match="no tree has the heads that are to be kept"):
        list(parser.parse_best([circle], 4, keep_heads=True))


def test_a_sentence_that_is_too_long_for_a_list_of_trees() -> None:
    parser = random_parser(with_loss("crf2o"))
    stream = parser.parse_best([["a", "b"], ["a"] * 20_000], 2)
    assert len(next(stream)) == 2
    with pytest.raises(ParserError, match=r"of 20,000 words needs about 119,\d+\.\d GiB"):
        next(stream)


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_device("cpu").type == "cpu"
    for name in ("nonsense", "meta", "mps", "xpu", ""):
        with pytest.raises(ParserError, match=f"no device is called '{name}'; try cpu, cuda or"):
            choose_device(name)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto").type == "cpu"
    with pytest.raises(ParserError, match="finds no CUDA device 'cuda'; use the device cpu"):
        choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("auto").type == "cuda"
    assert choose_device("cuda:1").index == 1
    with pytest.raises(ParserError, match="finds no CUDA device 'cuda:2'"):
        choose_device("cuda:2")


def test_gradients_are_not_kept() -> None:
    parser = random_parser(with_loss("crf2o"))
    assert isinstance(parser, Parser)
    parser.parse_tokens([sentence_of(4)])
    assert not parser.scorer.training
    assert all(parameter.grad is None for parameter in parser.scorer.parameters())
