"""Checkpoints with anything in them and settings that need too much memory end in one line."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tests.parser.damage import VALUES, places, replaced
from tests.parser.test_setup import CONFIG, set_up_in
from treecrf.parser import ParserError
from treecrf.parser.folder import load_checkpoint, save_checkpoint
from treecrf.parser.training.loop import train
from treecrf.treebank import Sentence, write_conllu


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "train.conllu"
    write_conllu([Sentence(["a", "dog", "b"], [2, 0, 2], deprels=["x", "root", "z"])], path)
    return path


@pytest.mark.usefixtures("little_memory")
def test_any_value_in_a_checkpoint(treebank: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    config = CONFIG.changed({"epochs": 2})
    train(set_up_in(folder, treebank, config), folder)
    saved = load_checkpoint(folder)
    assert saved is not None
    tensors, state = saved
    training = set_up_in(folder, treebank, config, resume=True)
    path = folder / "checkpoint.safetensors"
    for number, place in enumerate(places(state)):
        for turn in range(3):
            text = replaced(state, place, VALUES[(3 * number + turn) % len(VALUES)])
            save_file(tensors, path, {"format": "treecrf checkpoint 1", "state": text})
            try:
                train(training, folder, resume=True)
            except ParserError as error:
                found = str(error)
            else:
                found = str(folder)  # a loss of -1 is a loss
            assert found.startswith(str(folder))
            assert "\n" not in found
    name = next(name for name in tensors if name.startswith("adam.exp_avg."))
    for changed in (
        torch.zeros(1),
        torch.zeros(2, 3, 5),
        torch.full_like(tensors[name], torch.nan),
    ):
        save_checkpoint(folder, tensors | {name: changed}, state)
        with pytest.raises(ParserError, match=r"checkpoint.safetensors: .*damaged"):
            train(training, folder, resume=True)
    save_checkpoint(folder, tensors, state)
    assert train(training, folder, resume=True).epoch == 2


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("setting", ["lstm_size", "arc_size", "char_size", "word_size"])
def test_settings_that_take_too_much_memory(setting: str, treebank: Path, tmp_path: Path) -> None:
    for size in (99_999_999_998, 10**15):
        config = CONFIG.changed({setting: size})
        with pytest.raises(ParserError, match=r"weights need more than [\d,]+ GiB of memory, and "):
            set_up_in(tmp_path / "model", treebank, config)
    assert not (tmp_path / "model").exists()
