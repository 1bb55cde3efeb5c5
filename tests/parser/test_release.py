"""Treebanks of Universal Dependencies as they are released: their parts, language and licence."""

from pathlib import Path

import pytest

from treecrf.parser import ParserError
from treecrf.parser.training.release import find_release


def made(folder: Path, *names: str, readme: str = "") -> Path:
    """A folder with empty files of these names."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).touch()
    if readme:
        (folder / "README.md").write_text(readme)
    return folder


def test_released_names(tmp_path: Path) -> None:
    parts = [f"tr_imst-ud-{part}.conllu" for part in ("train", "dev", "test")]
    folder = made(tmp_path, *parts, "LICENSE.txt", readme="# Summary\n\nLicense: CC BY-SA 4.0\n")
    release = find_release(folder)
    assert (release.name, release.language) == ("tr_imst", "tr")
    assert release.licence == "CC-BY-SA-4.0"
    assert release.train == [str(folder / "tr_imst-ud-train.conllu")]
    assert release.dev == str(folder / "tr_imst-ud-dev.conllu")


@pytest.mark.parametrize(("name", "language"), [("xx", "xx"), ("My-Corpus", "")])
def test_names_that_are_released_in_part(name: str, language: str, tmp_path: Path) -> None:
    release = find_release(made(tmp_path, f"{name}-ud-train.conllu", f"{name}-ud-dev.conllu"))
    assert (release.name, release.language, len(release.train)) == (name, language, 1)


def test_a_training_part_in_several_files(tmp_path: Path) -> None:
    parts = ["cs_pdt-ud-train-l.conllu", "cs_pdt-ud-train-c.conllu", "cs_pdt-ud-dev.conllu.gz"]
    release = find_release(made(tmp_path, *parts))
    assert [Path(file).name for file in release.train] == sorted(parts[:2])
    assert release.dev.endswith(".gz")
    assert release.licence == ""


def test_plain_names_are_called_as_the_folder(tmp_path: Path) -> None:
    folder = made(tmp_path / "my_corpus", "train.conllu", "dev.conllu", "notes.conllu")
    release = find_release(folder)
    assert (release.name, release.language) == ("my_corpus", "")


@pytest.mark.parametrize(
    ("stated", "licence"),
    [
        ("CC BY-NC-SA 3.0", "CC-BY-NC-SA-3.0"),
        ("GNU GPL 3.0", "GPL-3.0"),
        ("LGPL-LR", "LGPLLR"),
        ("CC0 1.0", "CC0-1.0"),
        ("see file LICENSE.txt", "LicenseRef-see-file-LICENSE.txt"),
        ("CC BY 4.0; texts: ©", "LicenseRef-CC-BY-4.0-texts"),
        ("CC BY-SA 4.0 \t", "CC-BY-SA-4.0"),
        ("©", ""),
    ],
)
def test_licences_are_written_as_spdx_writes_them(
    stated: str, licence: str, tmp_path: Path
) -> None:
    parts = ("xx_made-ud-train.conllu", "xx_made-ud-dev.conllu")
    assert find_release(made(tmp_path, *parts, readme=f"License: {stated}\n")).licence == licence


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], "it has no *-ud-train.conllu and no train.conllu; give the files with --train"),
        (["xx_made-ud-test.conllu"], "it has no *-ud-train.conllu and no train.conllu"),
        (["xx_made-ud-train.conllu"], "it has no *-ud-dev.conllu and no dev.conllu"),
        (
            ["xx_a-ud-train.conllu", "xx_b-ud-train.conllu", "xx_b-ud-dev.conllu"],
            "it has several treebanks (xx_a, xx_b); put one into a folder of its own",
        ),
        (
            ["train.conllu", "xx_b-ud-train.conllu", "dev.conllu"],
            "it has several treebanks (train.conllu, xx_b)",
        ),
        (
            ["xx_a-ud-train.conllu", "xx_a-ud-dev.conllu", "xx_a-ud-dev.conllu.gz"],
            "it has several dev parts",
        ),
        (
            ["xx_a-ud-train.conllu", "xx_a-ud-train.conllu.gz", "xx_a-ud-dev.conllu"],
            "it has xx_a-ud-train.conllu and xx_a-ud-train.conllu.gz; remove one of them",
        ),
    ],
)
def test_folders_that_are_no_treebank(names: list[str], expected: str, tmp_path: Path) -> None:
    with pytest.raises(ParserError) as caught:
        find_release(made(tmp_path, *names))
    assert str(caught.value).startswith(f"{tmp_path}: {expected}")


def test_no_folder(tmp_path: Path) -> None:
    made(tmp_path, "train.conllu")
    for name, problem in (("missing", "no such folder"), ("train.conllu", "this is a file")):
        with pytest.raises(ParserError, match=f"{problem}; --treebank takes the folder"):
            find_release(tmp_path / name)
