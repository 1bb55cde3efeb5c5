"""What a model takes from another: weights by role, relations that its trees may have."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.parser.models import SMALL, VOCABULARY, random_scorer
from treecrf.demo import generate_treebank
from treecrf.parser import ParserError, load
from treecrf.parser.config import Config
from treecrf.parser.folder import load_weights, save_weights
from treecrf.parser.network.scorer import Scorer, role_sizes
from treecrf.parser.training.loop import Training, train
from treecrf.parser.training.setup import merged_config, set_up
from treecrf.parser.training.warm_start import (
    inheritance_note,
    inherited_relations,
    inherited_vocabulary,
    take_weights,
)
from treecrf.parser.vocab import Vocabulary
from treecrf.segment import SegmenterConfig, train_segmenter
from treecrf.segment.sentence_ends import EndScorer
from treecrf.treebank import Sentence, read_conllu, write_conllu
from treecrf.treebank.pseudoprojective import is_lifted

PSEUDO = replace(SMALL, loss="crf", nonprojective="pseudo", epochs=1)
CROSSING = Sentence(["a", "b", "c", "dog"], [3, 4, 0, 3], deprels=["x", "y", "root", "z"])
ESCAPED = Sentence(["a", "dog"], [2, 0], deprels=["up↑x", "root"])


def rows_of(scorer: Scorer, config: Config) -> dict[str, tuple[Tensor, Tensor]]:
    """The weights and the bias of each role."""
    sizes = role_sizes(config)
    weights = scorer.roles.linear.weight.split(list(sizes.values()))
    biases = scorer.roles.linear.bias.split(list(sizes.values()))
    return dict(zip(sizes, zip(weights, biases, strict=True), strict=True))


def taken(target: Scorer, source: Scorer, old: Config, new: Config) -> None:
    relations = VOCABULARY.relations
    take_weights(target, source.state_dict(), relations=relations, old=old, new=new)


@pytest.mark.parametrize(
    ("loss", "then"),
    [("crf", "crf2o"), ("crf2o", "crf"), ("local", "crf"), ("crf2o", "crf3o"), ("crf3o", "crf")],
)
def test_weights_of_a_role_stay_those_of_the_role(loss: str, then: str) -> None:
    old = SMALL.changed({"loss": loss, "predict": ["upos"]})
    new = old.changed({"loss": then})
    source, target = random_scorer(old, seed=1), random_scorer(new, seed=2)
    before = {role: (w.clone(), b.clone()) for role, (w, b) in rows_of(target, new).items()}
    taken(target, source, old, new)
    found, given = rows_of(target, new), rows_of(source, old)
    assert "upos" in found
    for role, parts in found.items():
        expected = given.get(role, before[role])
        for part, wanted in zip(parts, expected, strict=True):
            torch.testing.assert_close(part, wanted, rtol=0, atol=0)


def test_weights_that_a_model_should_have_are_named() -> None:
    source, target = random_scorer(SMALL, seed=1), random_scorer(SMALL, seed=2)
    for name, value in (
        ("arc_scores.weight", None),
        ("reader.words.trained.weight", torch.ones(3)),
    ):
        weights = source.state_dict()
        if value is None:
            del weights[name]
        else:
            weights[name] = value
        with pytest.raises(ParserError, match=rf"damaged: .* weights {name}"):
            take_weights(target, weights, relations=VOCABULARY.relations, old=SMALL, new=SMALL)


MARKED = ["x", "root", "x↑z", "z↓", "up\\↑x"]  # the last is no mark


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {name: number for number, name in enumerate(MARKED)}),
        ({"loss": "crf2o"}, {name: number for number, name in enumerate(MARKED)}),
        ({"encoding": "path"}, {"x": 0, "root": 1, "up\\↑x": 4}),
        ({"nonprojective": "none"}, {"x": 0, "root": 1, "up↑x": 4}),
        ({"loss": "nonprojective"}, {"x": 0, "root": 1, "up↑x": 4}),
    ],
)
def test_relations_are_kept_that_a_tree_may_have(
    changes: dict[str, str], expected: dict[str, int]
) -> None:
    new = PSEUDO.changed(changes)
    assert inherited_relations(MARKED, old=PSEUDO, new=new) == expected


def test_plain_relations_are_escaped_where_marks_may_follow() -> None:
    plain = PSEUDO.changed({"nonprojective": "none"})
    found = inherited_relations(["x", "up↑x"], old=plain, new=PSEUDO)
    assert found == {"x": 0, "up\\↑x": 1}
    other = plain.changed({"encoding": "head"})  # which says nothing without marks
    assert inherited_relations(["up↑x"], old=plain, new=other) == {"up↑x": 0}


def test_weights_of_a_relation_stay_those_of_the_relation() -> None:
    new = PSEUDO.changed({"loss": "nonprojective"})
    known = Vocabulary(**VOCABULARY.to_dict() | {"relations": MARKED})
    data = Vocabulary(**VOCABULARY.to_dict() | {"relations": ["novel", "root"]})
    vocabulary = inherited_vocabulary(known, data, old=PSEUDO, new=new)
    assert vocabulary.relations == ["x", "root", "up↑x", "novel"]
    source = random_scorer(PSEUDO, vocabulary=known, seed=1)
    target = random_scorer(new, vocabulary=vocabulary, seed=2)
    fresh = target.label_scores.weight[3].clone()
    take_weights(target, source.state_dict(), relations=MARKED, old=PSEUDO, new=new)
    for row, number in enumerate([0, 1, 4]):
        assert torch.equal(target.label_scores.weight[row], source.label_scores.weight[number])
    assert torch.equal(target.label_scores.weight[3], fresh)


def begin(
    folder: Path,
    treebank: Path,
    config: Config,
    *,
    init: Path | None = None,
    keep_segmenter: bool = True,
    overwrite: bool = False,
) -> Training:
    return set_up(
        folder,
        config,
        train=[treebank],
        dev=treebank,
        init=init,
        keep_segmenter=keep_segmenter,
        overwrite=overwrite,
        device="cpu",
    )


@pytest.mark.parametrize(
    "changes", [{"loss": "nonprojective"}, {"nonprojective": "mst", "loss": "local"}]
)
def test_no_mark_comes_out_of_a_model_that_lifts_nothing(
    changes: dict[str, str], tmp_path: Path
) -> None:
    treebank = tmp_path / "train.conllu"
    write_conllu([CROSSING, ESCAPED], treebank)
    train(begin(tmp_path / "lifting", treebank, PSEUDO), tmp_path / "lifting")
    assert is_lifted(load(tmp_path / "lifting", device="cpu").vocabulary.relations)
    config = PSEUDO.changed(changes)
    training = begin(tmp_path / "next", treebank, config, init=tmp_path / "lifting")
    expected = {name for sentence in read_conllu(treebank) for name in sentence.deprels}
    assert set(training.vocabulary.relations) == expected
    train(training, tmp_path / "next")
    parser = load(tmp_path / "next", device="cpu")
    assert set(parser.vocabulary.relations) == expected


def test_a_model_keeps_what_was_chosen_for_the_one_that_it_starts_from(tmp_path: Path) -> None:
    treebank, model = tmp_path / "train.conllu", tmp_path / "model"
    sentences = list(generate_treebank(5))
    write_conllu(sentences, treebank)
    chosen = PSEUDO.changed({"temperature": 2.5, "precision": "int8", "seed": 3})
    train(begin(model, treebank, chosen), model)
    segmenter = train_segmenter(sentences, sentences, SegmenterConfig(epochs=1))
    segmenter.end_scorer = EndScorer(load(model, device="cpu").scorer.reader.size, 2)
    segmenter.save(model)
    assert merged_config(tmp_path / "next", init=model, resume=False) == chosen
    assert merged_config(model, init=None, resume=True) == chosen
    training = begin(tmp_path / "next", treebank, chosen, init=model)
    shared = pickle.loads(pickle.dumps(training))  # as processes that train together share it
    train(shared, tmp_path / "next")
    train(begin(model, treebank, chosen, init=model, overwrite=True), model)
    for folder in (tmp_path / "next", model):
        parser = load(folder, device="cpu")
        assert parser.config == chosen
        assert parser.parse(sentences[0].text)[0].text == sentences[0].text
        assert parser.segmenter.end_scorer is None  # it was for the encoder before training
    alone = begin(tmp_path / "other", treebank, chosen, init=model, keep_segmenter=False)
    train(alone, tmp_path / "other")
    assert not load(tmp_path / "other", device="cpu").has_segmenter


def test_what_is_kept_and_what_is_dropped_is_told() -> None:
    chosen = PSEUDO.changed({"temperature": 2.5, "precision": "int8"})
    assert inheritance_note(PSEUDO, PSEUDO, segmenter=None) == ""
    assert inheritance_note(PSEUDO, chosen, segmenter=True) == "keeps its segmenter"
    assert inheritance_note(chosen, chosen, segmenter=False) == (
        "keeps temperature 2.5, precision int8; drops its segmenter; temperatures were fitted to "
        "its weights, not to the new ones"
    )
    assert inheritance_note(chosen, PSEUDO, segmenter=None) == (
        "drops temperature 2.5, precision int8"
    )


def test_a_damaged_model_to_start_from_is_named(tmp_path: Path) -> None:
    treebank = tmp_path / "train.conllu"
    write_conllu([CROSSING], treebank)
    folder = tmp_path / "model"
    train(begin(folder, treebank, PSEUDO), folder)
    weights = load_weights(folder)
    del weights["arc_scores.weight"]
    save_weights(folder, weights)
    with pytest.raises(ParserError, match=r"model: damaged: there are no weights arc_scores"):
        begin(tmp_path / "next", treebank, PSEUDO, init=folder)


def test_tags_to_learn_must_be_there(tmp_path: Path) -> None:
    treebank, tagged = tmp_path / "train.conllu", tmp_path / "tagged.conllu"
    write_conllu([CROSSING], treebank)
    tags = ["DET", "NOUN", "VERB", "NOUN"]
    write_conllu(
        [CROSSING.with_tree(CROSSING.heads, CROSSING.deprels, columns={"upos": tags})], tagged
    )
    config = replace(PSEUDO, predict=("upos",))
    training = begin(tmp_path / "model", treebank, config)
    assert training.config.predict == ()
    assert training.prepared.missing == ["upos"]
    train(begin(tmp_path / "model", tagged, config), tmp_path / "model")
    # A model that gives tags already may learn more trees without them.
    training = begin(tmp_path / "next", treebank, config, init=tmp_path / "model")
    assert (
        training.vocabulary.columns["upos"]
        == json.loads((tmp_path / "model/vocab.json").read_text())["upos"]
    )
    train(training, tmp_path / "next")
