"""A model in the place of another: whole or not at all, and nothing else is touched."""

import errno
import os
import shutil
from pathlib import Path

import pytest
import torch

from tests.parser.folders import assert_same_trees, content, parser_of
from tests.parser.models import SMALL, VOCABULARY
from tests.segment.texts import untrained
from treecrf.parser import ParserError, folder_writer, load, set_up
from treecrf.parser.folder import replace_file, save_model
from treecrf.segment.segmenter import Segmenter, has_segmenter


def test_saving_over_a_model_replaces_it(folder: Path) -> None:
    other = parser_of(seed=1)
    other.save(folder)
    assert_same_trees(load(folder, device="cpu"), other)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_the_segmenter_of_a_model_is_saved_with_it(folder: Path, tmp_path: Path) -> None:
    untrained().save(folder)
    expected = untrained().segment("A dog. A cat?")
    load(folder, device="cpu").save(folder)  # where it was loaded from
    load(folder, device="cpu").save(tmp_path / "copy")
    for place in (folder, tmp_path / "copy"):
        assert load(place, device="cpu").segmenter.segment("A dog. A cat?") == expected
    parser_of().save(folder)  # one without a segmenter in the place of one with it
    assert not has_segmenter(folder)


def test_what_is_not_of_the_model_stays(folder: Path) -> None:
    untrained().save(folder)
    for name in ("checkpoint.safetensors", "log.jsonl", "model-1-of-2.safetensors"):
        (folder / name).write_text("of the old model")
    for name in ("encoder", "scripts"):
        (folder / name).mkdir()
        (folder / name / "config.toml").write_text(name)
    (folder / "notes.txt").write_text("mine")
    (folder / "link").symlink_to("notes.txt")
    (folder / "nowhere").symlink_to("gone")
    parser_of(seed=1).save(folder)
    kept = ["link", "notes.txt", "nowhere", "scripts"]
    of_the_model = ["config.toml", "model.safetensors", "vectors.safetensors", "vocab.json"]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*kept, *of_the_model])
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "scripts" / "config.toml").read_text() == "scripts"
    assert (folder / "link").readlink() == Path("notes.txt")
    assert_same_trees(load(folder, device="cpu"), parser_of(seed=1))


def test_a_segmenter_that_cannot_be_written_leaves_the_old_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    untrained().save(folder)
    before = content(folder)
    parser = load(folder, device="cpu")

    def crash(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Segmenter, "save", crash)
    with pytest.raises(OSError, match="no space left"):
        parser.save(folder)
    assert content(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.json", ""])
def test_an_error_names_the_file_that_it_is_about(name: str, folder: Path) -> None:
    """Not the hidden one that is written first."""
    with (
        pytest.raises(OSError, match="No space left") as caught,
        folder_writer.replacing(folder) as new,
    ):
        raise OSError(errno.ENOSPC, "No space left on device", str(new / name))
    assert caught.value.filename == str(folder / name)


def test_saving_through_a_link_replaces_what_it_names(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(folder)
    other = parser_of(seed=1)
    other.save(link)
    assert link.is_symlink()
    assert_same_trees(load(folder, device="cpu"), other)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "model"]


def test_saving_where_one_stands(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    parser_of(seed=1).save(".")
    monkeypatch.chdir(tmp_path)
    assert_same_trees(load("model", device="cpu"), parser_of(seed=1))


def test_nothing_but_a_model_is_replaced(tmp_path: Path) -> None:
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter.tex").write_text("all my work")
    with pytest.raises(ParserError, match="thesis: not a model folder"):
        parser_of().save(precious)
    file = tmp_path / "file"
    file.write_text("more work")
    with pytest.raises(ParserError, match="file: not a folder"):
        parser_of().save(file)
    assert (precious / "chapter.tex").read_text() == "all my work"
    assert file.read_text() == "more work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "thesis"]


@pytest.mark.parametrize("calls", [0, 1, 2, 5, 7])
def test_a_model_that_cannot_be_put_in_place_leaves_the_old_one(
    calls: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(folder)
    rename = Path.rename
    done: list[Path] = []

    def fail_later(self: Path, target: Path) -> Path:
        if len(done) == calls:
            done.append(self)
            raise OSError("no space left on device")
        done.append(self)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_later)
    with pytest.raises(OSError, match="no space left"):
        parser_of(seed=1).save(folder)
    assert content(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_training_that_is_killed_as_it_takes_the_place_of_another(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser_of(seed=1).save(tmp_path / "new")
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        if self.name == "vocab.json":  # the settings are gone by then
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt), folder_writer.replacing(folder) as new:
            shutil.copytree(tmp_path / "new", new, dirs_exist_ok=True)
    folder_writer.clean_up(folder)  # which must not take it for a leftover
    (ready,) = folder.glob(".*.ready")
    problem = rf"model: a command was cut short .* move the files of {ready} to {folder}"
    with pytest.raises(ParserError, match=problem):
        load(folder, device="cpu")
    with pytest.raises(ParserError, match=problem):
        set_up(folder, SMALL, train=[], dev="", resume=True)
    for path in ready.iterdir():
        path.rename(folder / path.name)
    folder_writer.clean_up(folder)
    assert not ready.exists()
    assert_same_trees(load(folder, device="cpu"), parser_of(seed=1))


def test_a_crash_while_a_file_is_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old")

    def crash(*_: object) -> None:
        raise OSError("power lost")

    for function in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, function, crash)
            with pytest.raises(OSError, match="power lost"):
                replace_file(path, b"new")
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_crash_while_a_model_is_written_leaves_the_old_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(folder)

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        save_model(
            folder,
            SMALL,
            VOCABULARY,
            {"weight": torch.ones(2)},
            vectors=None,
            pretrained=None,
            segmenter=None,
        )
    assert content(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["model"]
