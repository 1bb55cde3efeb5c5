"""`treecrf calibrate`: the temperature it finds, where that goes, and what it refuses."""

import re
import shutil
from pathlib import Path

import pytest

import treecrf as package
from tests.cli.running import problem, treecrf
from tests.parser.folders import content
from treecrf.parser.folder import change_settings

WHOLE = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
PARTIAL = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
TEMPERATURES = {"temperature": 8.0, "relation_temperature": 5.0, "upos_temperature": 6.0}
PRINTED = re.compile(
    r"fitted to [\d,]+ words of 60 sentences\n"
    + "".join(
        rf"{name} +(\S+) -> (\S+) +calibration error (0\.\d{{4}}) -> (0\.\d{{4}})\n"
        for name in TEMPERATURES
    )
)


@pytest.fixture
def unsure(model: Path, tmp_path: Path) -> Path:
    """A model that is less sure than it should be."""
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    change_settings(folder, TEMPERATURES)
    return folder


def test_probabilities_get_better_and_trees_stay(unsure: Path, treebank: Path) -> None:
    dev = treebank / "dev.conllu"
    before = content(unsure)
    trees = treecrf("parse", dev, "--model", unsure).stdout
    printed = treecrf("calibrate", unsure, dev).stdout
    found = PRINTED.match(printed)
    assert found, printed
    assert printed[found.end() :] == f"the temperatures are in {unsure / 'config.toml'}\n"
    config = package.load(unsure).config
    groups = list(map(float, found.groups()))
    fitted = groups[1::4]
    for place, (name, hot) in enumerate(TEMPERATURES.items()):
        old, new, error, smaller = groups[4 * place : 4 * place + 4]
        assert old == hot
        assert getattr(config, name) == new < hot
        assert smaller < error
    assert config.changed(TEMPERATURES).to_toml().encode() == before.pop("config.toml")
    after = content(unsure)
    assert before == {name: after[name] for name in before}
    assert treecrf("parse", dev, "--model", unsure).stdout == trees
    # A second time there is nothing to gain: the temperatures take the place of the old ones.
    again = PRINTED.match(treecrf("calibrate", unsure, dev).stdout)
    assert again
    assert list(map(float, again.groups()[1::4])) == pytest.approx(fitted, abs=0.02)


def test_a_dry_run_writes_nothing(unsure: Path, treebank: Path) -> None:
    before = content(unsure)
    printed = treecrf("calibrate", unsure, treebank / "dev.conllu", "--dry-run").stdout
    assert PRINTED.match(printed)
    assert printed.endswith("\nnothing is written (--dry-run)\n")
    assert content(unsure) == before


def test_what_cannot_be_calibrated(unsure: Path, tmp_path: Path) -> None:
    before = content(unsure)
    file = tmp_path / "dev.conllu"
    file.write_text(WHOLE + PARTIAL)
    line = problem("calibrate", unsure, file)
    assert line == f"{file}:3: word 2 has no head; calibration needs whole trees"
    file.write_text("")
    assert problem("calibrate", unsure, file) == f"{file}: there are no sentences to calibrate with"
    assert content(unsure) == before
    file.write_text(WHOLE)
    line = problem("calibrate", "en", file)
    assert line == "en: belongs to an installed package and stays as it is; calibrate a copy of it"
    missing = tmp_path / "missing"
    assert problem("calibrate", missing, file).startswith(f"{missing}: no such folder; a model is")
