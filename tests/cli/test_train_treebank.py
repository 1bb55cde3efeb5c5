"""`treecrf train --treebank`: a whole model of a released treebank in one command."""

import json
import re
import shutil
from pathlib import Path

import pytest

import treecrf as package
from tests.cli.running import misuse, problem, treecrf
from treecrf.parser.packages.card import read_card

QUICK = ("--config", "tiny", "--set", "epochs=2", "--device", "cpu")
CUT = ("--set", "segmenter.epochs=2", "--set", "segmenter.lstm_size=16")


@pytest.fixture
def released(treebank: Path, tmp_path: Path) -> Path:
    """A small treebank with the names and the licence of a release."""
    folder = tmp_path / "UD_Made-Up"
    folder.mkdir()
    for part in ("train", "dev"):
        shutil.copy(treebank / "dev.conllu", folder / f"xx_made-ud-{part}.conllu")
    (folder / "README.md").write_text("# Summary\n\nMade up.\n\nLicense: CC BY-SA 4.0\n")
    return folder


def test_one_command_makes_a_whole_model(released: Path, out: Path) -> None:
    said = treecrf("train", "--treebank", released, *QUICK, *CUT, "--out", out).stdout
    assert said.startswith("data   xx_made: language xx, licence CC-BY-SA-4.0\ntrain ")
    assert len(re.findall("^epoch ", said, re.MULTILINE)) == 2
    assert len(re.findall("^segmenter epoch ", said, re.MULTILINE)) == 2
    assert re.search(r"^temperature +\d", said, re.MULTILINE)
    card = read_card(out)
    assert (card.treebank, card.licence) == ("xx_made", "CC-BY-SA-4.0")
    assert card.train == card.dev == {"sentences": 60, "words": card.dev["words"]}
    text = (out / "README.md").read_text()
    assert "- Language: xx\n- Trained on: xx_made (60 sentences, " in text
    assert "- Columns besides the tree: UPOS, XPOS, FEATS, LEMMA\n" in text
    parser = package.load(out, device="cpu")
    assert parser.language == "xx"
    assert parser.config.temperature != 1
    assert parser.has_segmenter
    assert len(parser.config.predict) == 4
    dev = released / "xx_made-ud-dev.conllu"
    for options, figures in (((), card.gold_words), (("--raw",), card.raw_text)):
        found = json.loads(treecrf("evaluate", dev, "-m", out, "--json", *options).stdout)
        assert {name: round(100 * found[name]["f1"], 2) for name in figures} == figures
        assert {"UAS", "LAS", "UPOS", "XPOS", "UFeats", "Lemmas"} <= set(figures)

    again = treecrf("train", "--treebank", released, *CUT, "--out", out, "--resume").stdout
    assert "this training had ended already" in again
    assert f"segmenter: {out} has one already, which stays" in again
    assert read_card(out) == card

    # What is trained on other data has not the card of these.
    files = ("--train", dev, "--dev", dev)
    treecrf("train", *files, *QUICK, "--out", out, "--overwrite", "--segmenter", *CUT)
    assert not (out / "card.json").exists()
    assert not (out / "README.md").exists()


def test_a_treebank_without_a_licence(released: Path, out: Path, tmp_path: Path) -> None:
    (released / "README.md").unlink()
    minutes = ("--max-minutes", "0.001", "--segmenter-max-minutes", "0.001")
    options = (*QUICK, *minutes, "--set", "language=yy")
    said = treecrf("train", "--treebank", released, *options, "--out", out).stdout
    assert len(re.findall("^epoch ", said, re.MULTILINE)) == 1
    assert len(re.findall("^segmenter epoch ", said, re.MULTILINE)) == 1
    assert "language yy, licence not stated in README.md\n" in said
    assert "- Licence of the weights: not stated\n" in (out / "README.md").read_text()
    named = ("--name", "treecrf-model-xx", "--version", "1.0.0", "--out", tmp_path / "dist")
    said = treecrf("package", out, *named).stdout
    assert "note: the card states no licence: --licence\n" in said
    assert "  LAS  " in said  # those of the card of the training
    assert "states no" not in treecrf("package", out, *named, "--licence", "MIT").stdout


def test_what_is_refused(released: Path, out: Path, data: tuple[object, ...]) -> None:
    whole = ("train", "--treebank", released, "--out", out)
    assert misuse(*whole, *data).startswith("--treebank has its own parts: no --train and no")
    assert misuse("train", "--out", out).startswith("give --treebank DIR, or --train and --dev")
    assert misuse("train", *data, *CUT, "--out", out).startswith("settings of a segmenter go with")
    assert misuse(*whole, "--segmenter-max-minutes", 0).startswith("--segmenter-max-minutes must")
    assert misuse("train", "--treebank", released, "--out", released).startswith("--out is the ")
    wrong = problem(*whole, "--set", "segmenter.epoch=4")
    assert wrong == "of the segmenter: there is no setting 'epoch'; did you mean epochs?"
    (released / "xx_made-ud-dev.conllu").unlink()
    assert problem(*whole).startswith(f"{released}: it has no *-ud-dev.conllu and no dev.conllu")
    assert not out.exists()
    assert (released / "README.md").read_text().startswith("# Summary")
