"""Model folders whose weights are stored in fewer bits, in several files."""

from pathlib import Path
from typing import Any

import pytest
import torch

import treecrf
from experiments.english import compact
from experiments.english.compact import save_compact
from tests.parser.folders import parser_of
from tests.parser.models import VOCABULARY, random_scorer, with_loss
from treecrf.parser import Parser
from treecrf.parser import folder as checkpoint
from treecrf.parser.errors import ParserError
from treecrf.parser.folder_writer import replacing

WORDS = [["a", "dog", "?"], ["c", "b", "a", "dog"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in several files of little more than a kilobyte."""
    config = with_loss("crf2o")
    weights = random_scorer(config).float().state_dict()
    Parser(config, VOCABULARY, weights, device="cpu").save(tmp_path / "m")
    save_compact(tmp_path / "m", weights, "half", most=1000)
    return tmp_path / "m"


def test_half_precision_parses_nearly_the_same(folder: Path) -> None:
    files = sorted(path.name for path in folder.glob("model*"))
    assert len(files) > 2
    assert files[0] == f"model-1-of-{len(files)}.safetensors"
    config = with_loss("crf2o")
    exact = Parser(config, VOCABULARY, random_scorer(config).float().state_dict(), device="cpu")
    pairs = zip(treecrf.load(folder).parse_tokens(WORDS), exact.parse_tokens(WORDS), strict=True)
    for one, other in pairs:
        assert one.probs == pytest.approx(other.probs, abs=0.01)


def test_saved_again_it_is_one_file(folder: Path) -> None:
    treecrf.load(folder, device="cpu").save(folder)
    assert [path.name for path in folder.glob("model*")] == ["model.safetensors"]
    treecrf.load(folder, device="cpu")


def test_weights_over_shards_leave_none(folder: Path) -> None:
    weights = checkpoint.load_weights(folder)
    checkpoint.save_weights(folder, weights)
    assert [path.name for path in folder.glob("model*")] == ["model.safetensors"]


@pytest.mark.parametrize("stop", range(4))
def test_a_stop_in_between_leaves_all_the_old_weights_or_all_the_new(
    stop: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = checkpoint.load_weights(folder)
    new = {name: weight + 1 for name, weight in old.items()}
    save_tensors = checkpoint.save_tensors
    written: list[Path] = []

    def stop_later(path: Path, *others: Any) -> None:
        if len(written) == stop:
            raise KeyboardInterrupt
        written.append(path)
        save_tensors(path, *others)

    for module in (checkpoint, compact):
        monkeypatch.setattr(module, "save_tensors", stop_later)
    with pytest.raises(KeyboardInterrupt):
        # As many files, of the same names.
        save_compact(folder, new, "half", most=1000)
    found = checkpoint.load_weights(folder)
    expected = new if written else old
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())


def test_a_missing_file_is_noticed(folder: Path) -> None:
    sorted(folder.glob("model*"))[1].unlink()
    with pytest.raises(ParserError, match="are missing"):
        treecrf.load(folder)


def test_a_model_that_is_replaced_leaves_no_weights(folder: Path) -> None:
    with replacing(folder):
        pass
    assert not list(folder.glob("model*"))


def test_a_parser_with_vectors_keeps_them(tmp_path: Path) -> None:
    parser_of().save(tmp_path / "m")
    save_compact(tmp_path / "m", checkpoint.load_weights(tmp_path / "m"), "bytes")
    assert treecrf.load(tmp_path / "m", device="cpu").parse_tokens([]) == []
