"""Segmenters on disk: what is loaded does the same, and damaged files are one clear error."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from tests.segment.texts import untrained
from treecrf.segment import Segmenter, SegmenterConfig, SegmentError

TEXT = "Anna didn't sleep.\n\nWhy? Peter's dog laughed. 👩‍👩‍👧"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    untrained().save(tmp_path / "model")
    return tmp_path / "model"


def test_what_is_loaded_does_the_same(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [
        "segmenter.json",
        "segmenter.safetensors",
    ]
    loaded = Segmenter.load(folder)
    assert loaded.config == untrained().config
    assert loaded.segment(TEXT) == untrained().segment(TEXT)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    loaded.save(folder)  # over the old one
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.parametrize("name", ["segmenter.json", "segmenter.safetensors"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b"[1]", b'{"format": 1', None])
def test_damaged_files(folder: Path, name: str, content: bytes | None) -> None:
    path = folder / name
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(SegmentError) as error:
        Segmenter.load(folder)
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "treecrf segmenter 0"),
        ("config", {"lstm_sizes": 3}),
        ("config", {"lstm_size": "3"}),
        ("config", None),
        ("characters", ["ab"]),
        ("characters", None),
        ("spaces_inside", [[1, 99]]),
        ("spaces_inside", [[1, 5]]),
        ("spaces_inside", 3),
        ("multiwords", {}),
    ],
)
def test_damaged_settings(folder: Path, key: str, value: object) -> None:
    path = folder / "segmenter.json"
    settings = json.loads(path.read_bytes())
    path.write_text(json.dumps(settings | {key: value}))
    with pytest.raises(SegmentError, match="damaged, or not a segmenter: "):
        Segmenter.load(folder)


def test_weights_of_another_segmenter(folder: Path) -> None:
    path = folder / "segmenter.safetensors"
    weights = load_file(path)
    weights["output.bias"] = weights["output.bias"][:1].clone()
    save_file(weights, path, {"format": "treecrf segmenter 1"})
    with pytest.raises(SegmentError, match="damaged: these are not the weights"):
        Segmenter.load(folder)


@pytest.mark.parametrize("name", ["segmenter.json", "segmenter.safetensors"])
def test_files_of_two_segmenters(folder: Path, tmp_path: Path, name: str) -> None:
    """As a crash between writing the one and the other leaves them; all shapes are the same."""
    another = Segmenter.load(folder)
    another.alphabet.characters.reverse()
    another.save(tmp_path / "another")
    Segmenter.load(tmp_path / "another")
    (tmp_path / "another" / name).replace(folder / name)
    with pytest.raises(SegmentError, match="json is not of the same segmenter"):
        Segmenter.load(folder)


def test_weights_that_do_not_say_of_which_settings_they_are(folder: Path) -> None:
    path = folder / "segmenter.safetensors"
    save_file(load_file(path), path, {"format": "treecrf segmenter 1"})
    assert Segmenter.load(folder).segment(TEXT) == untrained().segment(TEXT)


def test_a_folder_without_a_segmenter(tmp_path: Path) -> None:
    with pytest.raises(SegmentError, match="there is no segmenter here"):
        Segmenter.load(tmp_path)


def test_settings() -> None:
    config = SegmenterConfig().changed(SegmenterConfig.parsed(["epochs=3", "dropout = 0"]))
    assert (config.epochs, config.dropout) == (3, 0.0)
    for setting, problem in [
        ("epoch=3", "there is no setting 'epoch'; did you mean epochs?"),
        ("epochs", "is not a setting: write key=value"),
        ("epochs=many", "epochs is 'many'; it is a whole number"),
        ("epochs=0", "epochs is 0; it is at least 1"),
        ("dropout=1.0", "dropout is 1.0; it is from 0 to below 1"),
        ("epochs=1.5", "epochs is 1.5; it is a whole number"),
        ("window=96", "it must be longer than twice the context"),
    ]:
        with pytest.raises(SegmentError, match=problem.replace("?", "\\?")):
            SegmenterConfig().changed(SegmenterConfig.parsed([setting]))


def test_an_ensemble_has_the_mean_scores_and_is_saved_in_half_precision(tmp_path: Path) -> None:
    members = [untrained(seed=seed) for seed in (1, 2, 3)]
    whole = Segmenter.ensemble(members)
    text = "The dog didn't sleep. It barked at 10 000 cats, and so on."
    blocks = [next(one.score_stream([text]))[1] for one in members]
    ((_, scores),) = whole.score_stream([text])
    np.testing.assert_allclose(scores, np.mean(blocks, 0), rtol=1e-4, atol=1e-5)
    whole.save(tmp_path, half=True)
    loaded = Segmenter.load(tmp_path)
    assert len(loaded.networks) == 3
    ((_, again),) = loaded.score_stream([text])
    np.testing.assert_allclose(again, scores, rtol=1e-2, atol=1e-2)
    one, several = loaded.segment(text), loaded.segment_texts([text, text])
    assert several == [one, one]


def test_an_ensemble_is_of_one_kind(segmenter: Segmenter) -> None:
    with pytest.raises(SegmentError, match="networks of one size, alphabet and window"):
        Segmenter.ensemble([untrained(), segmenter])


@pytest.mark.parametrize("networks", [0, 65, "2", True])
def test_the_number_of_networks_is_checked(networks: object, folder: Path) -> None:
    settings = json.loads((folder / "segmenter.json").read_text())
    (folder / "segmenter.json").write_text(json.dumps(settings | {"networks": networks}))
    with pytest.raises(SegmentError, match="it is 1 to 64"):
        Segmenter.load(folder)
