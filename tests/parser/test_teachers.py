"""Teachers: what they say of sentences, and what is learnt from it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import treecrf
from tests.parser.models import SMALL, random_parser
from treecrf.demo import generate_treebank
from treecrf.parser import ParserError, set_up
from treecrf.parser.batching.batch import make_batch
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.batching.targets import WEIGHT, Items
from treecrf.parser.config import Config
from treecrf.parser.network.loss import TreeScores, training_loss
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.presets import PRESETS
from treecrf.parser.training.loop import train
from treecrf.parser.training.teachers import check_teachers, find_targets
from treecrf.treebank import Sentence, write_conllu

LOSSES = ["local", "crf", "crf2o", "crf3o", "nonprojective"]


def test_items_are_found_by_token() -> None:
    items = Items.of(np.array([3, 0, 3]), np.array([[7, 1], [8, 2], [9, 3]]), count=5)
    owner, rows = items.take(np.array([3, 1, 0, 3]))
    assert owner.tolist() == [0, 0, 2, 3, 3]
    assert rows.tolist() == [[7, 1], [9, 3], [8, 2], [7, 1], [9, 3]]


def losses(config: Config, sentences: list[Sentence]) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of the annotation, and with a teacher beside it that has the same scores."""
    parser = random_parser(config)
    assert isinstance(parser.scorer, Scorer)
    encoded = encode(sentences, parser.vocabulary, config)
    annotation = encode_annotation(sentences, parser.vocabulary, config)
    targets = find_targets(
        [parser, parser],
        sentences,
        encoded,
        annotation,
        vocabulary=parser.vocabulary,
        config=config,
    )
    plain, taught = (
        make_batch(encoded, np.arange(len(sentences)), annotation=own)
        for own in (annotation, replace(annotation, targets=targets))
    )
    with torch.no_grad():
        alone = training_loss(parser.scorer, plain, config)
        if config.teacher_weight == 1:  # the entropy of the teacher's trees
            scores = TreeScores.of(parser.scorer, parser.scorer(plain), plain, config=config)
            crf = scores.distribution(plain.lengths, config=config)
            alone = crf.entropy.sum() / plain.lengths.sum()
        return alone, training_loss(parser.scorer, taught, config)


SENTENCES = [
    Sentence(["a", "dog", "b", "?"], [2, 3, 0, 3], deprels=["x", "y", "z", "x"]),
    Sentence(["c", "dog"], [2, 0], deprels=["x", "z"]),
]


@pytest.mark.parametrize("loss", LOSSES)
def test_without_weight_a_teacher_changes_nothing(loss: str) -> None:
    config = SMALL.changed({"loss": loss, "predict": [], "teacher_weight": 0.0})
    alone, taught = losses(config, SENTENCES)
    torch.testing.assert_close(taught, alone, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES[1:])
def test_the_loss_is_the_cross_entropy_of_the_trees(loss: str) -> None:
    """Of a teacher with the same scores it is the entropy; what is improbable is left out."""
    config = SMALL.changed({"loss": loss, "predict": [], "teacher_weight": 1.0})
    bare = [Sentence(sentence.forms) for sentence in SENTENCES]
    entropy, taught = losses(config, bare)
    relations = taught - entropy  # their own cross entropy, by the word
    assert 0 < relations < np.log(len(random_parser(config).vocabulary.relations)) + 0.05


@pytest.mark.parametrize("loss", LOSSES)
def test_targets_are_those_of_a_distribution_over_trees(loss: str) -> None:
    """Whatever else is in the batch: a whole tree, a part of one, none."""
    config = SMALL.changed({"loss": loss, "predict": [], "teacher_weight": 0.5})
    parser = random_parser(config)
    part = Sentence(["a", "dog", "b"], [-1, 0, -1], deprels=["_", "z", "_"])
    bare = Sentence(["a", "dog", "b", "c"])
    every = [SENTENCES[0], part, bare]

    def weights(sentences: list[Sentence]) -> dict[str, list[dict[tuple[int, ...], float]]]:
        encoded = encode(sentences, parser.vocabulary, config)
        annotation = encode_annotation(sentences, parser.vocabulary, config)
        targets = find_targets(
            [parser], sentences, encoded, annotation, vocabulary=parser.vocabulary, config=config
        )
        found = {}
        for name, items in (("arcs", targets.arcs), ("siblings", targets.siblings)):
            if items is not None:
                by_token = (
                    items.take(np.array([t]))[1].tolist() for t in range(len(targets.heads))
                )
                found[name] = [
                    {(*row[:-1],): row[-1] / WEIGHT for row in rows} for rows in by_token
                ]
        return found

    together = weights(every)
    alone: dict[str, list[dict[tuple[int, ...], float]]] = {}
    for sentence in every:
        for name, found in weights([sentence]).items():
            alone.setdefault(name, []).extend(found)
    for name, expected in alone.items():
        for ours, theirs in zip(together[name], expected, strict=True):
            assert ours == pytest.approx(theirs, abs=1e-4)
    arcs = together["arcs"]
    for token, of_token in enumerate(arcs):
        assert sum(of_token.values()) == pytest.approx(int(token not in (0, 5, 9)), abs=1e-3)
    if loss != "local":  # one root in each sentence
        for first, last in ((1, 5), (6, 9), (10, 14)):
            roots = [of_token.get((0,), 0.0) for of_token in arcs[first:last]]
            assert sum(roots) == pytest.approx(1, abs=1e-3)
    assert arcs[1][2,] > 0.5  # annotated
    assert arcs[7][0,] > 0.5


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    sentences = list(generate_treebank(400, seed=1))
    write_conllu(sentences, folder / "train.conllu")
    write_conllu(sentences[:15], folder / "few.conllu")
    bare = [Sentence(sentence.forms) for sentence in sentences[15:]]
    write_conllu(bare, folder / "bare.conllu")
    write_conllu(generate_treebank(80, seed=2), folder / "dev.conllu")
    return folder


def trained(
    folder: Path, files: list[str], data: Path, *teachers: Path, **changes: object
) -> float:
    config = PRESETS["tiny"].changed({"epochs": 6, "loss": "crf2o", "patience": 9, **changes})
    training = set_up(
        folder,
        config,
        train=[data / name for name in files],
        dev=data / "dev.conllu",
        teachers=list(map(str, teachers)),
        device="cpu",
    )
    return train(training, folder).best_las


def test_a_student_learns_from_words_alone(data: Path, tmp_path: Path) -> None:
    teacher = tmp_path / "teacher"
    best = trained(teacher, ["train.conllu"], data)
    few = trained(tmp_path / "few", ["few.conllu"], data)
    both = ["few.conllu", "bare.conllu"]
    assert trained(tmp_path / "untaught", both, data) == pytest.approx(few)
    student = trained(tmp_path / "student", both, data, teacher)
    assert few + 5 < student
    assert best - 5 < student
    parser = treecrf.load(tmp_path / "student", device="cpu")
    assert parser.config.predict == treecrf.load(teacher, device="cpu").config.predict


def test_a_teacher_of_another_kind_is_refused(data: Path, tmp_path: Path) -> None:
    trained(tmp_path / "teacher", ["few.conllu"], data, loss="crf", predict=["upos"], epochs=1)
    for changes, said in (
        ({"loss": "crf2o", "predict": ["upos"]}, "the same loss"),
        ({"loss": "crf", "predict": ["upos", "xpos"]}, "does not predict xpos"),
    ):
        config = PRESETS["tiny"].changed(changes)
        with pytest.raises(ParserError, match=said):
            check_teachers([str(tmp_path / "teacher")], config)


def test_training_goes_on_with_the_same_teachers_alone(data: Path, tmp_path: Path) -> None:
    teacher, student = tmp_path / "teacher", tmp_path / "student"
    trained(teacher, ["few.conllu"], data, epochs=1)
    trained(student, ["few.conllu"], data, teacher, epochs=1)
    config = PRESETS["tiny"].changed({"epochs": 2, "loss": "crf2o", "patience": 9})
    files = {"train": [data / "few.conllu"], "dev": data / "dev.conllu"}
    for teachers in ([], [str(teacher)] * 2):
        training = set_up(student, config, teachers=teachers, resume=True, device="cpu", **files)
        with pytest.raises(ParserError, match="other teachers, or with none"):
            train(training, student, resume=True)
    again = set_up(student, config, teachers=[str(teacher)], resume=True, device="cpu", **files)
    assert train(again, student, resume=True).epoch == 2
