"""An analysis says what the distribution of the sentence says, however sentences are batched."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parser.models import LOSSES, VOCABULARY, batch_of, random_parser, sentences_of, with_loss
from treecrf.parser.batching.batch import allowed_arcs
from treecrf.parser.batching.encoding import encode
from treecrf.parser.constraints import NO_CONSTRAINTS, Constraints
from treecrf.parser.decoding.batches import decode_sentences
from treecrf.parser.decoding.decoder import LONGEST_ENTROPY
from treecrf.parser.vocab import Vocabulary
from treecrf.struct import NonProjectiveTreeCRF
from treecrf.treebank.probs import log_prob


@pytest.mark.parametrize("loss", LOSSES)
@given(lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4), seed=st.integers(0, 5))
def test_analyses_agree_with_distributions(loss: str, lengths: list[int], seed: int) -> None:
    parser = random_parser(with_loss(loss), seed=seed)
    sentences = sentences_of(lengths, seed=seed)
    constraints = [
        Constraints(heads={1: 0} if number % 2 else {}) for number in range(len(lengths))
    ]
    trees = parser.parse_tokens(
        sentences, constraints=[dict(constraint.heads) for constraint in constraints]
    )
    for analysis, tree, sentence, constraint in zip(
        parser.analyse(sentences, constraints), trees, sentences, constraints, strict=True
    ):
        assert analysis.sentence == tree
        crf = parser.distribution([sentence], constraints=[dict(constraint.heads)])
        assert analysis.entropy == pytest.approx(crf.entropy.item(), abs=1e-6)
        assert log_prob(tree) == pytest.approx(analysis.log_prob, abs=1e-4)
        assert analysis.marginals is not None
        assert analysis.marginals.shape == (len(sentence) + 1,) * 2
        if loss != "local":
            assert analysis.marginals == pytest.approx(crf.marginals[0].numpy(), abs=1e-6)
        for word, (head, prob) in enumerate(zip(tree.heads, tree.probs or (), strict=True), 1):
            assert analysis.marginals[word, head] == pytest.approx(prob, abs=1e-6)
        assert analysis.relation_probs is not None
        assert analysis.relation_probs.shape == (len(sentence), len(analysis.relations))
        assert analysis.relation_probs.sum(1) == pytest.approx(1, abs=1e-6)
        assert analysis.relation_probs.max(1) == pytest.approx(tree.deprel_probs, abs=1e-6)
        best = [analysis.relations[number] for number in analysis.relation_probs.argmax(1)]
        assert best == tree.deprels


def test_marked_relations_count_by_their_names() -> None:
    vocabulary = Vocabulary(
        words=VOCABULARY.words,
        characters=VOCABULARY.characters,
        tags=VOCABULARY.tags,
        upos=[],
        relations=["z", "x", "x↑y", "y"],
    )
    config = replace(with_loss("crf"), nonprojective="pseudo", relation_temperature=3.0)
    parser = random_parser(config, vocabulary=vocabulary)
    for analysis in parser.analyse(sentences_of([4, 6])):
        assert list(analysis.relations) == ["x", "y", "z"]
        assert analysis.relation_probs is not None
        tree = analysis.sentence
        for probs, deprel, prob in zip(
            analysis.relation_probs, tree.deprels, tree.deprel_probs or (), strict=True
        ):
            assert analysis.relations[probs.argmax()] == deprel
            assert probs.max() == pytest.approx(prob, abs=1e-6)


def test_a_relation_that_is_given_is_certain() -> None:
    parser = random_parser(with_loss("crf"))
    sentences = sentences_of([3, 4])
    given = [Constraints(), Constraints(heads={2: 1}, relations={2: "z"})]
    free, kept = parser.analyse(sentences, given)
    assert max(free.sentence.deprel_probs or ()) < 1
    assert kept.sentence.deprels[1] == "z"
    assert [prob == 1 for prob in kept.sentence.deprel_probs or ()] == [False, True, False, False]
    assert kept.relation_probs is not None  # what the model would say
    assert kept.relation_probs[1].max() < 1


def test_heads_that_cross_have_the_entropy_of_spanning_trees() -> None:
    parser = random_parser(with_loss("crf2o"))
    sentence, constraint = sentences_of([5])[0], Constraints(heads={1: 3, 2: 4})
    (analysis,) = parser.analyse([sentence], [constraint])
    batch = batch_of([sentence], parser.config)
    arcs = parser.scorer.arcs(parser.scorer(batch), batch)
    allowed = allowed_arcs([constraint], 6, device=parser.device)
    spanning = NonProjectiveTreeCRF(arcs, batch.lengths, allowed=allowed)
    assert analysis.entropy == pytest.approx(spanning.entropy.item(), abs=1e-6)
    assert analysis.entropy > 0
    assert analysis.marginals == pytest.approx(spanning.marginals[0].detach().numpy(), abs=1e-6)


def test_long_sentences_have_no_entropy_of_the_second_order() -> None:
    sentences = sentences_of([7, 5, 6, 2])
    for loss, known in (("crf2o", [False, True, False, True]), ("crf", [True] * 4)):
        parser = random_parser(with_loss(loss))
        found = decode_sentences(
            parser.scorer,
            encode(sentences, parser.vocabulary, parser.config),
            [NO_CONSTRAINTS] * 4,
            config=parser.config,
            device=parser.device,
            details=True,
            longest_entropy=5,
        ).entropies
        assert found is not None
        assert np.isfinite(found).tolist() == known
        assert found[1] == pytest.approx(parser.analyse(sentences[1:2])[0].entropy)
    (analysis,) = random_parser(with_loss("crf2o")).analyse(sentences_of([LONGEST_ENTROPY + 1]))
    assert math.isnan(analysis.entropy)


def test_no_sentences_have_no_analyses() -> None:
    assert random_parser(with_loss("crf")).analyse([]) == []
