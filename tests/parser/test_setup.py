"""From files to a training: which folders are left alone, and what a model starts from."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.parser.models import SMALL
from treecrf.locks import LOCK_FILES
from treecrf.parser import ParserError, load, load_config
from treecrf.parser import folder as checkpoint
from treecrf.parser.config import Config
from treecrf.parser.folder import load_weights
from treecrf.parser.training.loop import Training, train
from treecrf.parser.training.setup import merged_config, set_up
from treecrf.treebank import Sentence, TreebankError, write_conllu

CONFIG = replace(SMALL, loss="crf", epochs=1)


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "train.conllu"
    write_conllu([Sentence(["a", "dog", "b"], [2, 0, 2], deprels=["x", "root", "z"])], path)
    return path


@pytest.fixture
def model(treebank: Path, tmp_path: Path) -> Path:
    train(set_up_in(tmp_path / "model", treebank), tmp_path / "model")
    return tmp_path / "model"


def set_up_in(
    folder: Path,
    treebank: Path,
    config: Config = CONFIG,
    *,
    init: Path | None = None,
    embeddings: Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> Training:
    return set_up(
        folder,
        config,
        train=[treebank],
        dev=treebank,
        init=init,
        embeddings=embeddings,
        resume=resume,
        overwrite=overwrite,
        device="cpu",
    )


def content(folder: Path) -> dict[str, bytes]:
    """Its files, but for those of the lock that a training has."""
    kept = (path for path in folder.iterdir() if path.name not in LOCK_FILES)
    return {path.name: path.read_bytes() for path in kept}


def test_several_files_are_one_treebank(treebank: Path, tmp_path: Path) -> None:
    other = tmp_path / "more.conllu"
    write_conllu([Sentence(["new"], [0], deprels=["top"])], other)
    training = set_up(tmp_path / "m", CONFIG, train=[treebank, other], dev=treebank, device="cpu")
    assert [len(sentence) for sentence in training.prepared.sentences] == [3, 1]
    assert training.vocabulary.relations == ["root", "top", "x", "z"]
    assert not (tmp_path / "m").exists()


def test_a_model_is_not_overwritten_by_accident(model: Path, treebank: Path) -> None:
    before = content(model)
    with pytest.raises(ParserError, match="model: there is a model already; --resume goes on"):
        set_up_in(model, treebank)
    assert content(model) == before


def test_a_model_is_overwritten_when_the_new_one_can_begin(model: Path, treebank: Path) -> None:
    before = content(model)
    broken = treebank.with_name("broken.conllu")
    broken.write_text("1\tonly\n\n")
    with pytest.raises(TreebankError):
        set_up_in(model, broken, overwrite=True)
    with pytest.raises(FileNotFoundError):
        set_up_in(model, treebank.with_name("none.conllu"), overwrite=True)
    assert content(model) == before
    config = replace(CONFIG, lstm_size=4)
    train(set_up_in(model, treebank, config, overwrite=True), model)
    assert load(model, device="cpu").config == config
    assert content(model).keys() == before.keys()


@pytest.mark.parametrize("failure", ["interrupted", "full disk"])
def test_a_model_stays_until_an_epoch_has_made_another(
    failure: str, model: Path, treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(model)
    config = replace(CONFIG, seed=2, epochs=9)
    training = set_up_in(model, treebank, config, overwrite=True)

    def stop(_: object) -> None:
        assert content(model) == before
        raise KeyboardInterrupt

    def fill(*_: object) -> None:
        raise OSError("no space left on device")

    if failure == "interrupted":
        training.on_step = stop
    elif failure == "full disk":
        monkeypatch.setattr(checkpoint, "save_checkpoint", fill)
    with pytest.raises((ParserError, OSError, KeyboardInterrupt)):
        train(training, model)
    assert content(model) == before


def test_no_epochs(treebank: Path, tmp_path: Path) -> None:
    """Nothing is written that a later command with another mistake would stumble over."""
    with pytest.raises(ParserError, match="epochs is 0, and without an epoch there is no model"):
        set_up_in(tmp_path / "new", treebank, replace(CONFIG, epochs=0))
    assert not (tmp_path / "new").exists()


def test_an_encoder_that_is_somebody_s_own(treebank: Path, tmp_path: Path) -> None:
    """It may lie where a model goes: the model leaves it alone, or is refused."""
    out = tmp_path / "out"
    (out / "encoder").mkdir(parents=True)
    (out / "encoder" / "model.safetensors").write_text("mine")
    transformer = replace(CONFIG, encoder="transformer", transformer=str(out / "encoder"))
    with pytest.raises(ParserError, match="encoder: the model would have its encoder there"):
        set_up_in(out, treebank, transformer)
    train(set_up_in(out, treebank), out)
    assert (out / "encoder" / "model.safetensors").read_text() == "mine"


def test_heads_without_relations(model: Path, treebank: Path, tmp_path: Path) -> None:
    """A model that knows some learns from heads alone; without one there are none to learn."""
    bare = tmp_path / "bare.conllu"
    write_conllu([Sentence(["a", "dog", "b"], [2, 0, 2])], bare)
    with pytest.raises(ParserError, match="no word of the training data has a head and a relation"):
        set_up_in(tmp_path / "new", bare)
    training = set_up(
        tmp_path / "next", CONFIG, train=[bare], dev=treebank, init=model, device="cpu"
    )
    assert train(training, tmp_path / "next").uas > 0


def test_the_scores_to_start_from(model: Path, treebank: Path, tmp_path: Path) -> None:
    found = set_up_in(tmp_path / "next", treebank, init=model).starting_scores()
    trees = load(model, device="cpu").parse_tokens([["a", "dog", "b"]])
    right = sum(head == gold for head, gold in zip(trees[0].heads, [2, 0, 2], strict=True))
    assert found.uas == pytest.approx(100 * right / 3)


def test_what_a_killed_run_was_to_put_in_place_goes(model: Path, treebank: Path) -> None:
    (model / ".0123abcd.new").mkdir()
    (model / ".0123abcd.new" / "config.toml").write_text("")
    longer = replace(CONFIG, epochs=2)
    train(set_up_in(model, treebank, longer, resume=True), model, resume=True)
    assert not list(model.glob(".*"))


def test_other_files_of_the_folder_stay(treebank: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "diary.txt").write_text("dear diary")
    for overwrite in (False, True):
        train(set_up_in(folder, treebank, overwrite=overwrite), folder)
        assert (folder / "diary.txt").read_text() == "dear diary"


def test_resumed_training_has_the_settings_that_it_began_with(model: Path, treebank: Path) -> None:
    assert merged_config(model, init=None, resume=True) == CONFIG
    assert merged_config(model, init=None, resume=False) == load_config("default")
    assert merged_config(model.with_name("none"), init=None, resume=True) == load_config("default")
    longer = replace(CONFIG, epochs=2, patience=7, decoder="mst")
    assert train(set_up_in(model, treebank, longer, resume=True), model, resume=True).epoch == 2
    other = replace(longer, lstm_size=4, loss="local")
    with pytest.raises(ParserError, match="began with another loss and lstm_size; resumed, only"):
        set_up_in(model, treebank, other, resume=True)


def test_a_model_starts_from_another(model: Path, treebank: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.conllu"
    write_conllu([Sentence(["new", "dog"], [2, 0], deprels=["novel", "root"])], more)
    config = replace(CONFIG, loss="crf2o")
    assert merged_config(tmp_path / "next", init=model, resume=False) == CONFIG
    training = set_up_in(tmp_path / "next", more, config, init=model)
    first = load(model, device="cpu").vocabulary
    vocabulary = training.vocabulary
    assert vocabulary.words == [*first.words, "new"]
    assert vocabulary.relations == [*first.relations, "novel"]
    weights, taken = training.scorer.state_dict(), load_weights(model)
    assert set(taken) < set(weights)
    for name, value in taken.items():
        overlap = tuple(slice(size) for size in value.shape)
        torch.testing.assert_close(weights[name][overlap], value, rtol=0, atol=0)
    train(training, tmp_path / "next")
    assert load(tmp_path / "next", device="cpu").config == config


def test_a_model_starts_from_one_of_its_own_sizes_only(
    model: Path, treebank: Path, tmp_path: Path
) -> None:
    with pytest.raises(ParserError, match=r"its weights are for lstm_size = 6, and .* say 4"):
        set_up_in(tmp_path / "next", treebank, replace(CONFIG, lstm_size=4), init=model)
    with pytest.raises(ParserError, match="no such folder"):
        set_up_in(tmp_path / "next", treebank, init=tmp_path / "none")


def test_a_model_may_start_from_what_it_overwrites(model: Path, treebank: Path) -> None:
    taken = load_weights(model)
    training = set_up_in(model, treebank, init=model, overwrite=True)
    for name, value in taken.items():
        torch.testing.assert_close(training.scorer.state_dict()[name], value, rtol=0, atol=0)
    train(training, model)
    assert load(model, device="cpu").parse_tokens([["a"]])[0].heads == [0]


VECTORS = "dog 1 -1 0.5\nemu -2 1 1\ngnu 0.1 2 -1\n"


def test_words_that_only_the_vectors_have_are_told_apart(treebank: Path, tmp_path: Path) -> None:
    embeddings = tmp_path / "vectors.txt"
    embeddings.write_text(VECTORS)
    config = replace(CONFIG, epochs=2, learning_rate=0.1)
    folder = tmp_path / "model"
    train(set_up_in(folder, treebank, config, embeddings=embeddings), folder)
    resumed = replace(config, epochs=3)
    train(set_up_in(folder, treebank, resumed, resume=True), folder, resume=True)
    parser = load(folder, device="cpu")
    assert parser.vocabulary.vectors == ["dog", "emu", "gnu"]
    assert "emu" not in parser.vocabulary.words
    emu, gnu, cow, ewe = (
        parser.distribution([["a", word, "b"]]).marginals
        # None of their characters was seen in training, so unknown words are all alike.
        for word in ("emu", "gnu", "ciw", "tew")
    )
    torch.testing.assert_close(cow, ewe)
    assert not torch.allclose(emu, cow)
    assert not torch.allclose(gnu, cow)
    assert not torch.allclose(emu, gnu)
    # A model that starts from this one has its vectors.
    training = set_up_in(tmp_path / "next", treebank, config, init=folder)
    assert training.vectors is not None
    assert training.vocabulary.vectors == ["dog", "emu", "gnu"]
