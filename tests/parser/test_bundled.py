"""Which folder is meant by a name, by a path, and by nothing."""

from pathlib import Path

import pytest

import treecrf
from tests.parser.folders import assert_same_trees, parser_of
from treecrf.parser import ParserError
from treecrf.parser.bundled import model_folder
from treecrf.treebank import read_conllu
from treecrf.treebank.probs import head_probs

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


def test_nothing_and_the_name_are_the_model_that_comes_along(models: Path) -> None:
    parser_of().save(models / "en")
    for name in (None, "en"):
        assert model_folder(name, bundled=models) == models / "en"


def test_a_folder_of_that_name_comes_first(models: Path) -> None:
    parser_of().save(models / "en")
    parser_of(seed=3).save("en")
    assert model_folder("en", bundled=models) == Path("en")
    assert_same_trees(treecrf.load("en", device="cpu"), parser_of(seed=3))
    assert model_folder(None, bundled=models) == models / "en"


@pytest.mark.parametrize("name", [None, "en"])
def test_without_a_model_the_error_says_what_to_do(name: str | None, models: Path) -> None:
    with pytest.raises(ParserError, match="no English model comes with this copy"):
        model_folder(name, bundled=models)


@pytest.mark.parametrize("name", ["some/en", "./en"])
def test_other_names_are_folders(name: str, models: Path) -> None:
    parser_of().save(models / "en")
    assert model_folder(name, bundled=models) == Path(name)
    with pytest.raises(ParserError, match="no such folder"):
        treecrf.load(name)


def test_a_name_that_is_not_there_says_what_is(models: Path) -> None:
    parser_of().save(models / "en")
    with pytest.raises(ParserError, match=r"^de: no such folder, .*; there is en "):
        model_folder("de", bundled=models)


def test_english_comes_along() -> None:
    parser = treecrf.load(device="cpu")
    first, second = parser.parse("I saw Sarah with a telescope. They're here!")
    assert first.heads == [2, 0, 2, 6, 6, 2, 2]
    assert first.deprels == ["nsubj", "root", "obj", "case", "det", "obl", "punct"]
    assert [token.upos for token in first.tokens][:3] == ["PRON", "VERB", "PROPN"]
    assert all(0.5 < prob <= 1 for prob in first.probs)
    assert second.forms == ["They", "'re", "here", "!"]
    folder = model_folder(None)
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= 40 << 20
    assert all(path.stat().st_size < 16 << 20 for path in folder.glob("*.safetensors"))


def test_the_picture_in_the_readme_is_of_this_model() -> None:
    [drawn] = read_conllu(EXAMPLES / "telescope.conllu")
    [parsed] = treecrf.load(device="cpu").parse("I saw Sarah with a telescope.")
    assert (parsed.forms, parsed.heads) == (drawn.forms, drawn.heads)
    assert parsed.deprels == drawn.deprels
    # Products of bytes and of floats differ a little.
    assert parsed.probs == pytest.approx(head_probs(drawn), abs=0.03)
