"""The network: scores by batch, what siblings are made of, relations, weights of another model."""

from dataclasses import replace

import pytest
import torch

from tests.parser.models import (
    LOSSES,
    SMALL,
    VOCABULARY,
    batch_of,
    random_parser,
    random_scorer,
    sentences_of,
    with_loss,
)
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.training.warm_start import take_weights
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank import Sentence
from treecrf.treebank.tokens import Token

LENGTHS = (3, 7, 1, 5, 0, 3)


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_do_not_depend_on_the_rest_of_the_batch(loss: str) -> None:
    config = replace(with_loss(loss), tags="upos", lstm_layers=2)
    scorer = random_scorer(config)
    sentences = sentences_of(LENGTHS)
    batch = batch_of(sentences, config)
    roles = scorer(batch)
    heads = torch.zeros(batch.grid, dtype=torch.int64)
    arcs, siblings = scorer.arcs(roles, batch), scorer.siblings(roles, batch)
    relations = batch.unpack(scorer.relations(roles, batch, heads))
    assert (siblings is not None) == (loss in ("crf2o", "crf3o"))
    for place, row in enumerate(batch.rows.tolist()):
        alone = batch_of([sentences[row]], config)
        own_roles = scorer(alone)
        tokens = slice(len(sentences[row]) + 1)
        own = scorer.arcs(own_roles, alone)[0]
        torch.testing.assert_close(arcs[place, tokens, tokens], own)
        own = scorer.relations(own_roles, alone, heads[:1, tokens])
        torch.testing.assert_close(relations[place, tokens], own)
        if siblings is not None:
            own_siblings = scorer.siblings(own_roles, alone)
            assert own_siblings is not None
            torch.testing.assert_close(siblings[place, tokens, tokens, tokens], own_siblings[0])


@pytest.mark.parametrize(
    ("settings", "alike"),
    [
        ({"recurrent_dropout": 0.5}, True),
        ({"recurrent_dropout": 0.5, "recurrent_dropout_mask": "sentence"}, False),
        ({"lstm_input_dropout": 0.5}, False),
        ({"lstm_input_dropout": 0.0}, True),
    ],
    ids=str,
)
def test_masks_are_of_the_batch_or_of_a_sentence(settings: dict[str, object], alike: bool) -> None:
    """The same sentence twice is read alike, unless each has masks of its own."""
    config = SMALL.changed(settings)
    batch = batch_of([*sentences_of([5]), *sentences_of([5])], config)
    scorer = random_scorer(config).train()
    torch.manual_seed(3)
    read = scorer.reader(batch)
    first, second = (read[batch.sentence == number] for number in (0, 1))
    assert torch.equal(first, second) == alike
    scorer.eval()
    plain = scorer.reader(batch)
    torch.testing.assert_close(plain[batch.sentence == 0], plain[batch.sentence == 1])


def test_every_input_counts() -> None:
    """Words of other forms, tags or vectors have other scores; unknown words have characters."""
    vocabulary = VOCABULARY.with_vectors(["p", "q"])
    config = replace(SMALL, tags="upos")
    vectors = torch.tensor([[0.0, 0.0], [1.0, -1.0], [2.0, 0.5]]).half()
    scorer = random_scorer(config, vocabulary=vocabulary, vectors=vectors)
    encoded = {}
    for form, tag in (("a", "N"), ("b", "N"), ("a", "V"), ("?a", "N"), ("?b", "N"), ("p", "N")):
        sentence = sentences_of([1])[0]
        sentence.tokens[0].form, sentence.tokens[0].upos = form, tag
        encoded[form, tag] = scorer.reader(batch_of([sentence], config, vocabulary=vocabulary))[1]
    rows = list(encoded.values())
    for number, row in enumerate(rows):
        assert all(not torch.allclose(row, other) for other in rows[:number])


def test_siblings_are_the_product_of_their_factors() -> None:
    config = with_loss("crf2o")
    scorer = random_scorer(config)
    batch = batch_of(sentences_of([6]), config)
    roles = scorer(batch)
    siblings = scorer.siblings(roles, batch)
    assert siblings is not None
    product = torch.einsum("igf,kg,jf->jik", *scorer.sibling_factors(roles, batch))
    torch.testing.assert_close(product, siblings[0])


def test_relations_are_those_of_the_arcs_that_are_given() -> None:
    scorer = random_scorer(SMALL)
    batch = batch_of(sentences_of([4, 2, 3]), SMALL)
    roles = scorer(batch)
    dependents, heads = (
        batch.unpack(roles[name]) for name in ("relation_dependent", "relation_head")
    )
    given = torch.tensor([[0, 4, 0, -1, 2], [0, 2, 0, 3, 1], [0, 2, 0, -1, -1]])
    scores = batch.unpack(scorer.relations(roles, batch, given))
    for row, length in enumerate(batch.lengths.tolist()):
        for word in range(1, length + 1):
            head = max(int(given[row, word]), 0)  # what has no head is scored as if at the root
            own = scorer.label_scores(dependents[row, word][None], heads[row, head][None])
            torch.testing.assert_close(scores[row, word], own[0])


def test_weights_of_another_model_are_taken_where_both_have_them() -> None:
    config = replace(with_loss("crf2o"), tags="upos")
    larger = Vocabulary(
        words=[*VOCABULARY.words, "new", "words"],
        characters=[*VOCABULARY.characters, "ß"],
        tags=[*VOCABULARY.tags, "X"],
        relations=[*VOCABULARY.relations, "w"],
    )
    source = random_scorer(replace(config, loss="crf"), seed=1)
    target = random_scorer(config, vocabulary=larger, seed=2)
    before = {name: value.clone() for name, value in target.state_dict().items()}
    old = replace(config, loss="crf")
    take_weights(target, source.state_dict(), relations=VOCABULARY.relations, old=old, new=config)
    after = target.state_dict()
    taken = source.state_dict()
    assert set(taken) < set(after)  # that of siblings is new
    for name, value in after.items():
        expected = before[name]
        if name in taken:
            overlap = tuple(slice(size) for size in taken[name].shape)
            expected = expected.clone()
            expected[overlap] = taken[name]
        torch.testing.assert_close(value, expected, rtol=0, atol=0)
    assert (
        len(after["reader.words.trained.weight"]) == len(taken["reader.words.trained.weight"]) + 2
    )


def test_a_model_with_the_weights_of_another_gives_its_scores() -> None:
    source = random_scorer(SMALL, seed=1)
    target = random_scorer(SMALL, vocabulary=VOCABULARY, seed=2)
    take_weights(target, source.state_dict(), relations=VOCABULARY.relations, old=SMALL, new=SMALL)
    batch = batch_of(sentences_of([4, 3]), SMALL)
    scores = [scorer.arcs(scorer(batch), batch) for scorer in (source, target)]
    torch.testing.assert_close(scores[0], scores[1], rtol=0, atol=0)


def test_only_models_that_give_tags_score_them() -> None:
    batch = batch_of(sentences_of([3, 1]), SMALL)
    plain, tagger = random_scorer(SMALL), random_scorer(replace(SMALL, predict=("upos",)))
    assert plain.columns(plain(batch)) == {}
    scores = tagger.columns(tagger(batch))["upos"]
    assert scores.shape == (6, len(VOCABULARY.columns["upos"]))
    alone = batch_of(sentences_of([3, 1])[:1], SMALL)
    own = tagger.columns(tagger(alone))["upos"]
    torch.testing.assert_close(batch.unpack(scores)[0], own)


def test_only_models_of_the_second_order_score_siblings() -> None:
    for loss in LOSSES:
        scorer = Scorer(with_loss(loss), VOCABULARY.sizes)
        assert (scorer.sibling_scores is not None) == (loss in ("crf2o", "crf3o"))
        assert any(name.startswith("pair") for name in scorer.roles.sizes) == (
            loss in ("crf2o", "crf3o")
        )


def test_without_characters_tags_tell_words_apart() -> None:
    config = replace(SMALL, tags="upos", char_size=0)
    scorer = random_scorer(config)

    def root_scores(form: str, tag: str) -> torch.Tensor:
        batch = batch_of([Sentence.from_tokens([Token(1, form, upos=tag)])], config)
        return scorer.arcs(scorer(batch), batch)

    torch.testing.assert_close(root_scores("dogs", "N"), root_scores("cab", "N"))
    assert not torch.allclose(root_scores("dogs", "N"), root_scores("dogs", "V"))


@pytest.mark.parametrize("form", ["shared", "biaffine"])
def test_other_forms_of_sibling_scores(form: str) -> None:
    config = replace(with_loss("crf2o"), sibling_form=form)
    scorer = random_scorer(config)
    assert ("pair_head" in scorer.roles.sizes) == (form == "biaffine")
    (sentence,) = sentences_of([5])
    batch = batch_of([sentence], config)
    roles = scorer(batch)
    siblings, factors = scorer.siblings(roles, batch), scorer.sibling_factors(roles, batch)
    expected = torch.einsum("ism,ks,jm->jik", *factors)
    torch.testing.assert_close(siblings[0], expected)
    (parsed,) = random_parser(config).parse_tokens([sentence])
    assert 0 in parsed.heads
