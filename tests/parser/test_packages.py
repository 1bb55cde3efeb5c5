"""Models as packages: wheels that pip installs, cards, and models found by name."""

import base64
import hashlib
import subprocess
import sys
from collections.abc import Callable
from email.parser import Parser as MailParser
from pathlib import Path
from zipfile import ZipFile

import pytest

import treecrf
from tests.parser.folders import SENTENCES, WITH_VECTORS, parser_of
from treecrf.parser import ParserError
from treecrf.parser import folder as checkpoint
from treecrf.parser.bundled import is_packaged, model_folder
from treecrf.parser.packages.build import Package, build_package
from treecrf.parser.packages.card import Card, read_card, write_card
from treecrf.parser.packages.installed import installed_models
from treecrf.parser.packages.listing import list_models
from treecrf.parser.packages.names import check_licence, check_version, normalised
from treecrf.treebank import read_conllu

Install = Callable[[Package], Path]


def package(
    model: Path, folder: Path, name: str = "treecrf-model-xx", **options: object
) -> Package:
    return build_package(model, name=name, version="1.0.0", folder=folder, **options)  # type: ignore[arg-type]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Unpack a wheel where Python looks for packages."""

    def unpack(made: Package) -> Path:
        site = tmp_path / f"site-{made.path.stem}"
        with ZipFile(made.path) as archive:
            archive.extractall(site)
        monkeypatch.syspath_prepend(site)
        return site

    return unpack


def test_an_installed_model_is_found_by_its_name(
    full_model: Path, treebank: Path, tmp_path: Path, install: Install
) -> None:
    dev = list(read_conllu(treebank / "dev.conllu"))
    about = {"language": "xx", "licence": "CC-BY-SA-4.0", "treebank": "xx_made"}
    made = package(full_model, tmp_path / "dist", dev=dev, **about)
    install(made)
    assert made.name == "xx"
    assert made.card.gold_words["LAS"] == made.before["LAS"] > 50
    assert made.card.raw_text["Words"] > 90
    parser = treecrf.load("xx", device="cpu")
    assert parser.language == "xx"
    assert parser.parse("A dog barks .")[0].heads
    (listed,) = (one for one in list_models() if one.name == "xx")
    assert (listed.package, listed.version) == ("treecrf-model-xx", "1.0.0")
    assert (listed.language, listed.columns) == ("xx", parser.config.predict)
    assert listed.raw_text
    assert listed.card == made.card
    assert is_packaged(model_folder("xx"))
    with pytest.raises(ParserError, match=r"^yy: no such folder, .* there are en, xx "):
        treecrf.load("yy")


def test_the_wheel_is_what_pip_expects(full_model: Path, tmp_path: Path) -> None:
    (tmp_path / "model").symlink_to(full_model)
    made = package(tmp_path / "model", tmp_path / "dist", "Treecrf_Model.XX", licence="MIT")
    assert made.path.name == "treecrf_model_xx-1.0.0-py3-none-any.whl"
    with ZipFile(made.path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        info = "treecrf_model_xx-1.0.0.dist-info"
        fields = MailParser().parsestr(archive.read(f"{info}/METADATA").decode())
        assert (fields["Name"], fields["Version"]) == ("treecrf-model-xx", "1.0.0")
        assert fields["License-Expression"] == "MIT"
        assert "Licence of the weights: MIT" in fields.get_payload()
        record = dict(
            line.split(",", 1) for line in archive.read(f"{info}/RECORD").decode().splitlines()
        )
        assert list(record) == names
        for name in names[:-1]:
            content = archive.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            assert record[name] == f"sha256={digest.decode()},{len(content)}"
    assert not [name for name in names if "checkpoint" in name or "log" in name]


@pytest.mark.slow
def test_pip_installs_it(full_model: Path, tmp_path: Path) -> None:
    made = package(full_model, tmp_path / "dist")
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target"]
    subprocess.run([*pip, str(site), str(made.path)], check=True, capture_output=True)
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r}); import treecrf; "
        "print(treecrf.load('xx', device='cpu').has_segmenter)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "True\n", run.stderr


def test_the_same_model_is_the_same_wheel(full_model: Path, tmp_path: Path) -> None:
    first, second = (package(full_model, tmp_path / name).path for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(("stored", "share"), [("float16", 0.55), ("int8", 0.45)])
def test_weights_in_fewer_bits(
    stored: str, share: float, full_model: Path, tmp_path: Path, install: Install, treebank: Path
) -> None:
    dev = list(read_conllu(treebank / "dev.conllu"))
    made = package(full_model, tmp_path / "dist", stored=stored, dev=dev)
    before, after = made.sizes
    assert after < share * before
    assert abs(made.card.gold_words["LAS"] - made.before["LAS"]) < 1
    assert made.card.stored == stored
    install(made)
    assert treecrf.load("xx", device="cpu").parse("A dog barks .")


@pytest.mark.parametrize("stored", ["float32", "float16", "int8"])
def test_word_vectors_come_along(stored: str, tmp_path: Path, install: Install) -> None:
    parser_of().save(tmp_path / "model")
    install(package(tmp_path / "model", tmp_path / "dist", stored=stored))
    parser = treecrf.load("xx", device="cpu")
    assert parser.vocabulary.vectors == WITH_VECTORS.vectors
    assert [len(tree) for tree in parser.parse_tokens(SENTENCES)] == [3, 2]


def test_two_packages_with_one_name(full_model: Path, tmp_path: Path, install: Install) -> None:
    for name in ("treecrf-model-xx", "xx"):
        install(package(full_model, tmp_path / "dist", name))
    with pytest.raises(ParserError, match=r"^xx: treecrf-model-xx 1.0.0 and xx 1.0.0 both"):
        treecrf.load("xx")


def test_an_entry_point_without_its_files_is_left_out(
    full_model: Path, tmp_path: Path, install: Install
) -> None:
    site = install(package(full_model, tmp_path / "dist"))
    assert [one.name for one in installed_models()] == ["xx"]
    (site / "treecrf_model_xx").rename(site / "other")
    assert installed_models() == []


def test_figures_of_another_model_are_left_out(full_model: Path, tmp_path: Path) -> None:
    parser = treecrf.load(full_model, device="cpu")
    folder = tmp_path / "model"
    parser.save(folder)
    card = Card(treebank="xx", gold_words={"LAS": 90.0}, model=checkpoint.model_digest(folder))
    write_card(folder, card, config=parser.config, title="A model")
    assert package(folder, tmp_path / "dist").card.gold_words == {"LAS": 90.0}
    checkpoint.change_settings(folder, {"temperature": 1.5})
    changed = package(folder, tmp_path / "dist").card
    assert (changed.treebank, changed.gold_words) == ("xx", {})


@pytest.mark.parametrize("text", ["", "[]", '{"licence": 3, "gold_words": {"LAS": "x"}}'])
def test_a_card_that_says_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(text)
    assert read_card(tmp_path) == Card()


def test_the_english_model_is_listed() -> None:
    (english,) = (one for one in list_models() if one.name == "en")
    assert english.package == "treecrf"
    assert english.language == "en"
    assert english.card.licence == "CC-BY-SA-4.0"
    assert english.card.raw_text["LAS"] > 85
    assert english.size < 40 << 20


@pytest.mark.parametrize("name", ["", "-fr", "fr-", "a b", "a/b", "é", "treecrf", "json"])
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(ParserError, match="such as treecrf-model-fr"):
        normalised(name)


@pytest.mark.parametrize("version", ["1", "1.0.0", "0.1.dev3", "2!1.0rc1.post2+cpu.1"])
def test_versions(version: str) -> None:
    check_version(version)


@pytest.mark.parametrize("version", ["", "v1", "1.0-1", "01.0", "1.0 ", "latest", "1.0\n"])
def test_versions_that_are_refused(version: str) -> None:
    with pytest.raises(ParserError, match="PEP 440"):
        check_version(version)


@pytest.mark.parametrize("licence", ["", "CC BY-SA 4.0", "MIT AND", "AND", "MIT\nName: other"])
def test_licences_that_are_refused(licence: str) -> None:
    with pytest.raises(ParserError, match="SPDX"):
        check_licence(licence)
    check_licence("MIT AND (CC-BY-SA-4.0 OR Apache-2.0)")
