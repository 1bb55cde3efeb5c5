"""Tags, features and lemmas beside trees: learnt, predicted, left out where missing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import treecrf
from tests.parser.models import SMALL, VOCABULARY
from treecrf.demo import generate_treebank
from treecrf.nn.transformer.wordpieces import WordPieces
from treecrf.parser import set_up
from treecrf.parser.config import Config
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.decoding.trees import LEMMA_WEIGHT, Trees
from treecrf.parser.presets import PRESETS
from treecrf.parser.training.loop import train
from treecrf.parser.vocab import COLUMNS, Vocabulary, build_vocabulary, classes_of
from treecrf.treebank import Sentence, write_conllu

TAGS = ["NOUN", "VERB", "PROPN"]
RULES = ["lower|0|2", "lower|0|0", "same|0|0", "title|0|0", "lower|0|1", "lower|0|3y", "=be"]
RULES.append("lower|0|4")


@pytest.fixture(scope="module")
def namer() -> TreeNamer:
    vocabulary = VOCABULARY.to_dict() | {"upos": TAGS, "lemma": RULES}
    vocabulary["lemmas"] = {
        **{"saw\tVERB": "see", "Run\tVERB": "run", "dug\tVERB": "dig", "went\tVERB": "go"},
        **{"UN\tPROPN": "UN", "so\tNOUN": "so", "tall\tNOUN": "tall"},
        **{"Asia\tPROPN": "Asia", "NAPOLI\tPROPN": "Napoli"},
        **{"fair\tNOUN": "fair", "Fair\tNOUN": "fair", "B\tNOUN": "B", "A.DOC\tNOUN": "a.doc"},
        **{"fling\tPROPN": "fling", "fling\tVERB": "fl"},
    }
    return TreeNamer(Vocabulary(**vocabulary), SMALL)


@pytest.mark.parametrize(
    ("form", "tag", "weights", "lemma"),
    [
        ("saw", "VERB", {"lower|0|0": 900}, "see"),  # training always has it
        ("saw", "NOUN", {"lower|0|0": 900, "=be": 50}, "saw"),
        ("Dogs", "NOUN", {"lower|0|1": 600, "same|0|0": 300}, "dog"),
        # Two rules make the same of it.
        ("Enron", "PROPN", {"lower|0|0": 400, "same|0|0": 350, "title|0|0": 250}, "Enron"),
        ("ab", "NOUN", {"lower|0|3y": 900, "lower|0|0": 50}, "ab"),  # the first does not fit
        ("x", "NOUN", {"lower|0|1": 900}, "x"),  # none does
        # As other lemmas of such forms and tags are written.
        ("Cat", "VERB", {"same|0|0": 600, "lower|0|0": 400}, "cat"),
        ("sees", "VERB", {"lower|0|2": 500, "lower|0|1": 100}, "see"),  # which is a word
        ("digging", "VERB", {"lower|0|2": 500, "lower|0|4": 100}, "dig"),  # short, but one
        ("goxyed", "VERB", {"lower|0|2": 500, "lower|0|4": 100}, "goxy"),
        # A capital at the start of a sentence.
        ("Saw", "VERB", {"lower|0|0": 999}, "see"),
        ("Saw", "VERB", {"same|0|0": 999}, "Saw"),
        ("asia", "PROPN", {"same|0|0": 999}, "Asia"),  # a name that has its capital elsewhere
        ("york", "PROPN", {"same|0|0": 999}, "york"),
        ("sooooo", "NOUN", {"lower|0|0": 999}, "so"),
        ("tallll", "NOUN", {"lower|0|0": 999}, "tall"),
        ("hmmm", "NOUN", {"lower|0|0": 999}, "hmmm"),
        ("http://a.org/B", "NOUN", {"lower|0|0": 999}, "http://a.org/B"),
        ("A@B", "NOUN", {"lower|0|0": 999}, "A@B"),
        ("#Dogs", "NOUN", {"lower|0|1": 999}, "#Dogs"),
        ("To-Do.Doc", "PROPN", {"same|0|0": 999}, "to-do.doc"),  # as training data does
        ("To.Go", "PROPN", {"same|0|0": 999}, "To.Go"),
        # Capitals of words that training data always writes otherwise: the network is sure of them.
        ("Fair", "NOUN", {"same|0|0": 980}, "Fair"),
        ("Fair", "NOUN", {"same|0|0": 900}, "fair"),
        ("Fair", "NOUN", {"lower|0|1": 980}, "fair"),
        ("C", "NOUN", {"lower|0|0": 600, "same|0|0": 400}, "C"),  # a letter, as "B" is
        ("CATANIA", "PROPN", {"same|0|0": 999}, "Catania"),  # too long for an abbreviation
        # Words with this ending and tag are their own lemmas, or are not.
        ("digging", "PROPN", {"lower|0|0": 500, "lower|0|4": 100}, "digging"),
        ("digging", "VERB", {"lower|0|0": 500, "lower|0|4": 100}, "dig"),
    ],
)
def test_lemmas(namer: TreeNamer, form: str, tag: str, weights: dict[str, int], lemma: str) -> None:
    best = [
        RULES.index(rule) * LEMMA_WEIGHT + share * LEMMA_WEIGHT // 1000
        for rule, share in weights.items()
    ]
    none = np.zeros(2, np.int64)
    tags = np.array([[0], [TAGS.index(tag)]])
    columns = {"upos": tags, "lemma": np.array([best, best])}
    trees = Trees(np.ones(1, np.int64), none, none, columns=columns)
    (parsed,) = namer.with_trees([Sentence([form])], [Constraints()], trees)
    assert [(token.upos, token.lemma) for token in parsed.tokens] == [(tag, lemma)]


def test_parts_of_names() -> None:
    """An adjective with the tag of a name has a capital where its form has; a noun has not."""
    lists = {"upos": ["ADJ", "NOUN"], "xpos": ["JJ", "NNP"], "lemma": ["lower|0|0"]}
    lemmas = {"Fair\tADJ": "fair"}
    vocabulary = Vocabulary(**VOCABULARY.to_dict() | lists | {"lemmas": lemmas})
    namer = TreeNamer(vocabulary, SMALL)
    forms = ["Fair", "Fair", "old", "Old", "Old"]
    columns = {
        "upos": np.array([[0], [0], [0], [0], [0], [1]]),
        "xpos": np.array([[0], [0], [1], [1], [0], [1]]),
        "lemma": np.full((6, 1), LEMMA_WEIGHT // 2),
    }
    none = np.zeros(6, np.int64)
    trees = Trees(np.array([5]), none, none, columns=columns)
    (parsed,) = namer.with_trees([Sentence(forms)], [Constraints()], trees)
    assert [token.lemma for token in parsed.tokens] == ["fair", "Fair", "old", "old", "old"]


@pytest.mark.parametrize(
    ("form", "lemma"),
    [
        ("lenght", "length"),
        ("Appologies", "apology"),
        ("legth", "legth"),  # any letter might be missing
        ("trail", "trail"),  # a word, though only the encoder knows it
        ("trila", "trial"),
    ],
)
def test_misspelt_words(form: str, lemma: str) -> None:
    lists = {"upos": ["NOUN"], "lemma": ["lower|0|0", "lower|0|3y"]}
    lemmas = {f"{word}\tNOUN": word for word in ("length", "apology", "trial")}
    vocabulary = Vocabulary(**VOCABULARY.to_dict() | lists | {"lemmas": lemmas})
    special = ("[UNK]", "[CLS]", "[SEP]")
    vocabulary.pieces = WordPieces([*special, "trail"], lowercase=True, limit=9)
    rule = int(form.endswith("ies"))
    columns = {
        "upos": np.zeros((2, 1), np.int64),
        "lemma": np.full((2, 1), (rule + 1) * LEMMA_WEIGHT - 1),
    }
    none = np.zeros(2, np.int64)
    trees = Trees(np.ones(1, np.int64), none, none, columns=columns)
    (parsed,) = TreeNamer(vocabulary, SMALL).with_trees([Sentence([form])], [Constraints()], trees)
    assert parsed.tokens[0].lemma == lemma


@pytest.mark.parametrize(
    ("words", "lemmas"),
    [
        ("the NATO said", "the NATO said"),
        ("THE NATO SAID", "The Nato Said"),
        ("the NATO SAID OK", "the Nato Said Ok"),
        ("the CLOSED door", "the Closed door"),  # too long
        ("see R2D as", "see R2d as"),
    ],
)
def test_abbreviations_keep_their_capitals(namer: TreeNamer, words: str, lemmas: str) -> None:
    forms = words.split()
    keep, title = (RULES.index(rule) * LEMMA_WEIGHT for rule in ("same|0|0", "title|0|0"))
    best = [[(title if form.isupper() else keep) + LEMMA_WEIGHT - 1] for form in forms]
    names = [[0], *[[TAGS.index("PROPN")]] * len(forms)]
    columns = {"upos": np.array(names), "lemma": np.array([[0], *best])}
    none = np.zeros(1 + len(forms), np.int64)
    trees = Trees(np.array([len(forms)]), none, none, columns=columns)
    (parsed,) = namer.with_trees([Sentence(forms)], [Constraints()], trees)
    found = [token.lemma for token in parsed.tokens]
    assert " ".join(found) == lemmas


def test_classes_are_what_is_annotated() -> None:
    (sentence,) = generate_treebank(1, seed=1)
    assert None not in classes_of(sentence, "feats")  # having none is a class
    bare = sentence.with_columns({name: ["_"] * len(sentence) for name in COLUMNS})
    for name in COLUMNS:
        assert set(classes_of(bare, name)) == {None}


def test_the_vocabulary_has_lemmas_that_are_always_the_same() -> None:
    sentences = [
        Sentence(["saw"], [0], deprels=["root"]).with_columns({"upos": [tag], "lemma": [lemma]})
        for tag, lemma in (
            ("VERB", "see"),
            ("VERB", "_"),
            ("VERB", "see"),
            ("NOUN", "saw"),
            ("NOUN", "sawe"),
        )
    ]
    found = build_vocabulary(sentences, replace(SMALL, predict=("upos", "lemma")))
    assert found.lemmas == {"saw\tVERB": "see"}
    assert found.columns["lemma"] == ["lower|0|2ee"]  # rules that were seen once are left out


def test_the_first_part_of_a_word_has_a_lemma_that_is_not_its_own() -> None:
    sentence = Sentence(["to", "day", "to"], [0, 1, 1], deprels=["root", "goeswith", "dep"])
    columns = {"upos": ["NOUN", "X", "PART"], "lemma": ["today", "_", "to"]}
    config = replace(SMALL, predict=("upos", "lemma"))
    assert build_vocabulary([sentence.with_columns(columns)], config).lemmas == {"to\tPART": "to"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_conllu(generate_treebank(250, seed=1), folder / "train.conllu")
    write_conllu(generate_treebank(30, seed=2), folder / "dev.conllu")
    return folder


def trained(folder: Path, train_file: Path, dev: Path, config: Config) -> treecrf.Parser:
    training = set_up(folder, config, train=[train_file], dev=dev, device="cpu")
    train(training, folder)
    return treecrf.load(folder, device="cpu")


def accuracy(parser: treecrf.Parser, name: str) -> float:
    gold = list(generate_treebank(60, seed=3))
    parsed = parser.parse_tokens([sentence.forms for sentence in gold])
    cells = [
        (one, other)
        for truth, tree in zip(gold, parsed, strict=True)
        for one, other in zip(truth.column(name), tree.column(name), strict=True)
    ]
    return sum(one == other for one, other in cells) / len(cells)


QUICK = PRESETS["tiny"].changed({"epochs": 6, "loss": "crf"})


def test_every_column_is_learnt(data: Path, tmp_path: Path) -> None:
    parser = trained(tmp_path / "m", data / "train.conllu", data / "dev.conllu", QUICK)
    assert parser.config.predict == COLUMNS
    for name in COLUMNS:
        assert accuracy(parser, name) > 0.85
    (sentence,) = parser.parse_tokens([["a", "dog"]])
    for probs in (sentence.probs, sentence.deprel_probs, sentence.upos_probs):
        assert probs is not None
        assert all(0 <= prob <= 1.001 for prob in probs)


@pytest.mark.slow
def test_half_of_the_columns_may_be_missing(data: Path, tmp_path: Path) -> None:
    """Words without a tag, features or a lemma teach trees, and the others all of it."""
    sentences = [
        sentence
        if number % 2
        else sentence.with_columns({name: ["_"] * len(sentence) for name in COLUMNS})
        for number, sentence in enumerate(generate_treebank(500, seed=1))
    ]
    write_conllu(sentences, tmp_path / "half.conllu")
    parser = trained(tmp_path / "m", tmp_path / "half.conllu", data / "dev.conllu", QUICK)
    for name in COLUMNS:
        assert accuracy(parser, name) > 0.85


def test_a_column_that_nobody_annotated_is_left_out(data: Path, tmp_path: Path) -> None:
    sentences = [
        sentence.with_columns({name: ["_"] * len(sentence) for name in ("xpos", "lemma")})
        for sentence in generate_treebank(40, seed=1)
    ]
    write_conllu(sentences, tmp_path / "some.conllu")
    config = QUICK.changed({"epochs": 1})
    files = {"train": [tmp_path / "some.conllu"], "dev": data / "dev.conllu"}
    training = set_up(tmp_path / "m", config, device="cpu", **files)
    assert training.prepared.missing == ["xpos", "lemma"]
    train(training, tmp_path / "m")
    parser = treecrf.load(tmp_path / "m", device="cpu")
    assert parser.config.predict == ("upos", "feats")
    (sentence,) = parser.parse_tokens([["a", "dog"]])
    assert sentence.column("xpos") == sentence.column("lemma") == ["_", "_"]
    # Training goes on as it began, though the settings ask for more.
    again = set_up(
        tmp_path / "m", config.changed({"epochs": 2}), device="cpu", resume=True, **files
    )
    assert again.config.predict == ("upos", "feats")
