"""Each system learns a generated treebank from the command line, from parts of its trees too."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import treecrf
from treecrf.treebank import read_conllu
from treecrf.treebank.trees import is_projective

Generate = Callable[[float], Path]


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Generate:
    """A folder with a treebank in which this share of the sentences has crossing arcs."""
    folders: dict[float, Path] = {}

    def generate(crossing: float) -> Path:
        if crossing not in folders:
            folder = folders[crossing] = tmp_path_factory.mktemp("treebank")
            for name, count, seed in (("train", 2500, 1), ("dev", 200, 2)):
                options = ("--sentences", count, "--seed", seed, "--crossing", crossing)
                treecrf("data", "generate", folder / f"{name}.conllu", *options)
        return folders[crossing]

    return generate


def las_of(train: Path, dev: Path, model: Path, *options: str) -> float:
    """The LAS on dev of what these options train."""
    settings = ("--config", "tiny", "--set", "epochs=4", *options)
    treecrf("train", "--train", train, "--dev", dev, "--out", model, *settings)
    evaluation = json.loads(treecrf("evaluate", dev, "--model", model, "--json").stdout)
    las: float = evaluation["LAS"]["f1"]
    return las


SLOW = [pytest.param(loss, marks=pytest.mark.slow) for loss in ("local", "crf")]


@pytest.mark.parametrize("loss", [*SLOW, "crf2o"])
def test_projective_trees_are_learnt(loss: str, generated: Generate, tmp_path: Path) -> None:
    folder = generated(0)
    las = las_of(folder / "train.conllu", folder / "dev.conllu", tmp_path / "model", "--loss", loss)
    assert las > 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [("--loss", "local", "--nonprojective", "mst"), ("--loss", "crf2o")],
    ids=["Loc-MST", "pseudo-projective Crf2o"],
)
def test_crossing_trees_are_learnt(
    options: tuple[str, ...], generated: Generate, tmp_path: Path
) -> None:
    folder, model = generated(0.2), tmp_path / "model"
    dev, parsed = folder / "dev.conllu", tmp_path / "parsed.conllu"
    assert las_of(folder / "train.conllu", dev, model, *options) > 0.95
    treecrf("parse", dev, "--model", model, "-o", parsed)
    pairs = [
        (gold.heads, answer.heads)
        for gold, answer in zip(read_conllu(dev), read_conllu(parsed), strict=True)
        if not is_projective([0, *gold.heads])
    ]
    assert len(pairs) > 20
    # Without what finds crossing arcs not one of these trees could be right.
    assert sum(gold == answer for gold, answer in pairs) > 0.6 * len(pairs)


@pytest.mark.slow
def test_second_order_learns_more_from_a_part_of_the_heads(
    generated: Generate, tmp_path: Path
) -> None:
    folder = generated(0)
    partial = tmp_path / "partial.conllu"
    treecrf("data", "mask", folder / "train.conllu", "--keep", 0.3, "-o", partial)
    las = {
        loss: las_of(partial, folder / "dev.conllu", tmp_path / loss, "--loss", loss)
        for loss in ("local", "crf2o")
    }
    assert las["crf2o"] > 0.9
    assert las["crf2o"] > las["local"]
