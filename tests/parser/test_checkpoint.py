"""Model folders: what goes in comes out, and what is wrong with a file is told with its name."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tests.parser.folders import (
    WITH_VECTORS,
    assert_same_trees,
    content,
    parser_of,
)
from tests.parser.models import LOSSES, SMALL, VOCABULARY, random_scorer
from treecrf.parser import Parser, ParserError, load
from treecrf.parser.folder import (
    load_checkpoint,
    load_settings,
    load_vectors,
    load_weights,
    save_checkpoint,
    save_settings,
)
from treecrf.storage import save_tensors

MODEL_FILES = ["config.toml", "vocab.json", "model.safetensors"]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_saved_parser_comes_back(loss: str, tmp_path: Path) -> None:
    parser = parser_of(loss)
    parser.save(str(tmp_path / "new" / "model"))
    loaded = load(tmp_path / "new" / "model", device="cpu")
    assert loaded.config == parser.config
    assert loaded.vocabulary.to_dict() == parser.vocabulary.to_dict()
    for name, weight in parser.scorer.state_dict().items():
        torch.testing.assert_close(loaded.scorer.state_dict()[name], weight, rtol=0, atol=0)
    assert_same_trees(loaded, parser)
    assert sorted(content(tmp_path / "new" / "model")) == [
        *("config.toml", "model.safetensors", "vectors.safetensors", "vocab.json")
    ]
    loaded.save(tmp_path / "again")
    assert content(tmp_path / "again") == content(tmp_path / "new" / "model")


def test_a_model_without_vectors_has_no_file_of_them(tmp_path: Path) -> None:
    scorer = random_scorer(SMALL)
    Parser(SMALL, VOCABULARY, scorer.state_dict(), device="cpu").save(tmp_path / "model")
    assert sorted(content(tmp_path / "model")) == sorted(MODEL_FILES)
    assert load(tmp_path / "model", device="cpu").scorer.reader.words.vectors is None


@pytest.mark.parametrize("name", [*MODEL_FILES, "vectors.safetensors"])
@pytest.mark.parametrize("damage", ["missing", "empty", "half", "garbage", "pickle", "folder"])
def test_a_damaged_file_is_named(name: str, damage: str, folder: Path) -> None:
    path = folder / name
    whole = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "missing":
        weights = {"weight": [1.0]}
        damaged = {
            "empty": b"",
            "half": whole[: len(whole) // 2],
            "garbage": b"\xff\xfe\x00garbage" * 100,
            "pickle": pickle.dumps(weights),
        }
        path.write_bytes(damaged[damage])
    with pytest.raises(ParserError) as caught:
        load(folder, device="cpu")
    message = str(caught.value)
    assert message.startswith(str(folder))
    if name == "model.safetensors" and damage in ("missing", "folder"):
        assert "training has not finished its first epoch" in message
    elif name == "config.toml" and damage in ("empty", "half"):
        # What a file leaves out has its default, and such a model has other weights.
        assert "the weights do not fit the settings" in message or name in message
    else:
        assert name in message


def test_no_pickle_is_read(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model may come from anywhere, and reading it runs nothing that is in it."""
    save_checkpoint(folder, {"weight": torch.ones(2)}, {"steps": 1})
    assert_same_trees(parser_of(), parser_of())  # kernels that Numba keeps are pickles of its own

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a pickle was read")

    monkeypatch.setattr(torch, "load", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "Unpickler", refuse)
    assert_same_trees(load(folder, device="cpu"), parser_of())
    assert load_checkpoint(folder) is not None


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ParserError, match=r"none: no such folder; a model is a folder that"):
        load(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(ParserError, match="file: this is a file; a model is a folder"):
        load(tmp_path / "file")
    with pytest.raises(
        ParserError, match=r"not a model folder: it has no config.toml and no vocab"
    ):
        load(tmp_path)
    save_settings(tmp_path, SMALL, VOCABULARY, vectors=None, pretrained=None)
    with pytest.raises(ParserError, match="has not finished its first epoch; go on with --resume"):
        load(tmp_path)
    assert load_settings(tmp_path, weights=False)[0] == SMALL


def test_a_file_of_another_kind_is_refused(folder: Path) -> None:
    for name in ("model.safetensors", "vectors.safetensors"):
        other = "vectors.safetensors" if name.startswith("model") else "model.safetensors"
        kept = (folder / name).read_bytes()
        shutil.copy(folder / other, folder / name)
        with pytest.raises(ParserError, match=rf"{name}: not a file of this version of treecrf"):
            load(folder, device="cpu")
        (folder / name).write_bytes(kept)
    save_file({"weight": torch.ones(2)}, folder / "model.safetensors")
    with pytest.raises(ParserError, match=r"model.safetensors: not a file of this version"):
        load_weights(folder)


def test_weights_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    config = (folder / "config.toml").read_text()
    for setting in ("lstm_size = 6", "arc_size = 6", 'loss = "crf2o"', 'tags = "upos"'):
        key = setting.split(" = ")[0]
        other = {"loss": '"crf"', "tags": '"none"'}.get(key, "8")
        assert setting in config
        (folder / "config.toml").write_text(config.replace(setting, f"{key} = {other}"))
        with pytest.raises(ParserError, match="damaged: the weights do not fit the settings and"):
            load(folder, device="cpu")
    (folder / "config.toml").write_text(config)
    vocabulary = json.loads((folder / "vocab.json").read_text())
    for name, problem in (
        ("words", "do not fit"),
        ("relations", "do not fit"),
        ("vectors", "has not the words of vocab.json"),
    ):
        changed = vocabulary | {name: [*vocabulary[name], "more"]}
        (folder / "vocab.json").write_text(json.dumps(changed))
        with pytest.raises(ParserError, match=problem):
            load(folder, device="cpu")


@pytest.mark.parametrize("vectors", [torch.ones(3).half(), torch.ones(()).half()])
def test_vectors_of_another_shape(vectors: torch.Tensor, folder: Path) -> None:
    save_tensors(
        folder / "vectors.safetensors", {"vectors": vectors}, {"format": "treecrf vectors 1"}
    )
    with pytest.raises(ParserError, match=r"vectors.safetensors: damaged"):
        load_vectors(folder, WITH_VECTORS)


def test_checkpoints(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path) is None
    tensors = {"a": torch.arange(6.0).view(2, 3).T, "b": torch.tensor(3)}  # one not contiguous
    state = {"steps": 7, "epochs": [{"las": 1.5}]}
    save_checkpoint(tmp_path, tensors, state)
    loaded = load_checkpoint(tmp_path)
    assert loaded is not None
    assert loaded[1] == state
    for name, tensor in tensors.items():
        torch.testing.assert_close(loaded[0][name], tensor, rtol=0, atol=0)


@pytest.mark.parametrize("state", [None, "{", "nonsense"])
def test_a_damaged_checkpoint_is_named(state: str | None, tmp_path: Path) -> None:
    metadata = {"format": "treecrf checkpoint 1"} | ({"state": state} if state else {})
    path = tmp_path / "checkpoint.safetensors"
    save_file({"weight": torch.ones(2)}, path, metadata)
    with pytest.raises(
        ParserError, match=r"safetensors: a damaged checkpoint .*; --overwrite trains"
    ):
        load_checkpoint(tmp_path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ParserError, match=r"checkpoint.safetensors: damaged, or not a safetensors"):
        load_checkpoint(tmp_path)
