"""Temperatures: what they do to probabilities, and that the right one is found."""

from dataclasses import replace

import pytest
import torch

from tests.parser.models import VOCABULARY, batch_of, decode, random_scorer, sentences_of, with_loss
from treecrf.parser import Parser, ParserError
from treecrf.parser.estimates import FACTORED_CELLS
from treecrf.parser.training.calibration import calibration_errors, fit_temperatures
from treecrf.treebank import Sentence

LOSSES = ("local", "crf", "crf2o", "crf3o", "nonprojective")


def parser_with(temperature: float, loss: str = "crf2o", *, spread: float = 0.7) -> Parser:
    config = replace(with_loss(loss), temperature=temperature)
    weights = random_scorer(config, spread=spread).float().state_dict()
    return Parser(config, VOCABULARY, weights, device="cpu")


@pytest.mark.parametrize("loss", LOSSES)
def test_heat_takes_sureness_away(loss: str) -> None:
    words = [["a", "dog", "b", "c"]]
    cold, warm, hot = (parser_with(t, loss).distribution(words).entropy for t in (0.5, 1, 100))
    assert cold < warm < hot


@pytest.mark.parametrize("loss", LOSSES)
def test_trees_are_chosen_without_it(loss: str) -> None:
    plain, hot = parser_with(1, loss), parser_with(3, loss)
    for sentence in sentences_of([2, 5, 9]):
        batch = batch_of([sentence], plain.config)
        for cells in (FACTORED_CELLS, 0):  # the second as of long sentences
            one, other = (
                decode(it.scorer, batch, config=it.config, probs=True, factored_cells=cells)
                for it in (plain, hot)
            )
            assert one.heads.tolist() == other.heads.tolist()
            assert one.probs is not None
            assert other.probs is not None
            if loss != "local":
                marginals = hot.distribution([sentence]).marginals[0]
                expected = [marginals[m, h].item() for m, h in enumerate(other.heads.tolist())]
                assert other.probs[1:] == pytest.approx(expected[1:], abs=1e-5)
            assert other.probs[1:] != pytest.approx(one.probs[1:], abs=1e-5)


def test_the_best_trees_have_tempered_probabilities() -> None:
    parser = parser_with(3)
    (trees,) = parser.parse_best([["a", "dog", "b"]], 3)
    crf = parser.distribution([["a", "dog", "b"]])
    best = torch.tensor([[0, *trees[0].heads]])
    assert trees[0].comments == [f"# log_prob = {crf.log_prob(best).item():.4f}"]


def with_drawn_trees(parser: Parser, sentences: list[Sentence]) -> list[Sentence]:
    """The sentences with trees that are drawn from what the parser says of them."""
    torch.manual_seed(1)
    drawn = parser.distribution(sentences).sample(1)[0]
    trees = []
    for sentence, heads in zip(sentences, drawn.tolist(), strict=True):
        words = heads[1 : len(sentence) + 1]
        trees.append(sentence.with_tree(words, ["x"] * len(words)))
    return trees


@pytest.mark.parametrize("loss", ["crf", "crf2o"])
def test_the_temperature_that_trees_were_drawn_with_is_found(loss: str) -> None:
    sentences = with_drawn_trees(parser_with(1.6, loss), sentences_of([4, 6, 8] * 200))
    fit = fit_temperatures(parser_with(1.0, loss), sentences)["temperature"]
    assert fit.temperature == pytest.approx(1.6, abs=0.25)
    assert fit.after < fit.before
    assert fit.words == 18 * 200
    again = fit_temperatures(parser_with(0.7, loss), sentences)["temperature"]
    assert again.temperature == pytest.approx(fit.temperature, abs=0.02)


def test_a_model_that_is_far_too_sure_has_a_high_temperature() -> None:
    sentences = with_drawn_trees(parser_with(6.0, spread=1.5), sentences_of([4, 6, 8] * 200))
    fit = fit_temperatures(parser_with(1.0, spread=1.5), sentences)["temperature"]
    assert fit.temperature == pytest.approx(6.0, abs=0.5)


def with_drawn_classes(parser: Parser, sentences: list[Sentence]) -> list[Sentence]:
    """Drawn trees, with relations and tags drawn from what the parser says of its own trees."""
    config, scorer, drawn = parser.config, parser.scorer, []
    pairs = zip(with_drawn_trees(parser, sentences), parser.parse_tokens(sentences), strict=True)
    for sentence, parsed in pairs:
        batch = batch_of([sentence], config)
        with torch.no_grad():
            roles = scorer(batch)
            relations = scorer.relations(roles, batch, torch.tensor([[0, *parsed.heads]]))
            tags = scorer.columns(roles)["upos"]
        given = ((relations, config.relation_temperature), (tags, config.upos_temperature))
        deprels, upos = (
            (scores[1:] / temperature).softmax(1).multinomial(1).flatten().tolist()
            for scores, temperature in given
        )
        names = [VOCABULARY.relations[number] for number in deprels]
        columns = {"upos": [VOCABULARY.columns["upos"][number] for number in upos]}
        drawn.append(sentence.with_tree(sentence.heads, names, columns=columns))
    return drawn


def test_the_temperatures_of_relations_and_tags_are_found() -> None:
    hot = tagger_with(relation_temperature=2.5, upos_temperature=1.7)
    sentences = with_drawn_classes(hot, sentences_of([4, 6, 8] * 200))
    parser = tagger_with()
    before = calibration_errors(parser, sentences)
    fits = fit_temperatures(parser, sentences)
    assert fits["relation_temperature"].temperature == pytest.approx(2.5, abs=0.25)
    assert fits["upos_temperature"].temperature == pytest.approx(1.7, abs=0.15)
    # Relations are told by the words whose head is right, tags by all.
    assert fits["relation_temperature"].words < fits["upos_temperature"].words == 18 * 200
    parser.config = parser.config.changed({name: fit.temperature for name, fit in fits.items()})
    after = calibration_errors(parser, sentences)
    for name in ("relation_temperature", "upos_temperature"):
        assert after[name] < 0.05 < before[name]


def tagger_with(**temperatures: float) -> Parser:
    config = replace(with_loss("crf"), predict=("upos",), **temperatures)
    weights = random_scorer(config, spread=1.0).float().state_dict()
    return Parser(config, VOCABULARY, weights, device="cpu")


def test_what_no_word_tells_has_no_temperature() -> None:
    sentences = with_drawn_trees(tagger_with(), sentences_of([4, 6, 8] * 20))
    unknown = [s.with_tree(s.heads, ["never seen"] * len(s)) for s in sentences]
    assert set(fit_temperatures(tagger_with(), unknown)) == {"temperature"}
    parsed = tagger_with().parse_tokens(sentences)
    right = [
        sentence.with_tree(sentence.heads, tree.deprels, columns={"upos": tree.column("upos")})
        for sentence, tree in zip(sentences, parsed, strict=True)
    ]
    assert set(fit_temperatures(tagger_with(), right)) == {"temperature"}


@pytest.mark.parametrize(("edge", "drawn"), [("0.25", 0.05), ("10", 1000.0)])
def test_a_temperature_at_the_edge_is_none(edge: str, drawn: float) -> None:
    sentences = with_drawn_trees(parser_with(drawn, spread=1.5), sentences_of([4, 6, 8] * 20))
    with pytest.raises(ParserError, match=f"still falls towards {edge}; give more"):
        fit_temperatures(parser_with(1.0, spread=1.5), sentences)


def test_without_whole_trees_there_is_nothing_to_fit() -> None:
    with pytest.raises(ParserError, match="no sentence has a whole tree"):
        fit_temperatures(parser_with(1.0), [Sentence(["a"])])
