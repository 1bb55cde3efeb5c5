"""Models as packages: wheels that pip installs, cards, and models found by name."""

import base64
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from email.parser import Parser as MailParser
from pathlib import Path
from zipfile import ZipFile

import pytest

import treecrf
from tests.parser.encoders import config_for
from tests.parser.folders import SENTENCES, WITH_VECTORS, parser_of
from tests.parser.test_setup import set_up_in
from treecrf.demo import generate_treebank
from treecrf.parser import ParserError
from treecrf.parser import folder as checkpoint
from treecrf.parser.bundled import BUNDLED, is_packaged, model_folder
from treecrf.parser.packages.build import Package, build_package
from treecrf.parser.packages.card import Card, read_card, write_card
from treecrf.parser.packages.installed import installed_models
from treecrf.parser.packages.listing import list_models
from treecrf.parser.packages.names import check_licence, check_version, normalised
from treecrf.parser.training.loop import train
from treecrf.treebank import read_conllu, write_conllu

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
    assert made.before is None  # the weights are as they were
    assert made.card.gold_words["LAS"] > 50
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


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_model_with_a_transformer(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, install: Install
) -> None:
    pytest.importorskip("transformers")
    write_conllu(generate_treebank(6, seed=1), tmp_path / "train.conllu")
    folder = tmp_path / "model"
    train(
        set_up_in(folder, tmp_path / "train.conllu", config_for(request.getfixturevalue(kind))),
        folder,
    )
    made = package(folder, tmp_path / "dist", stored="float16")
    site = install(made)
    metadata = (site / "treecrf_model_xx-1.0.0.dist-info/METADATA").read_text()
    # Our own BERT needs no other package.
    extra = {"bert": "treecrf>=", "roberta": "treecrf[transformers]>="}[kind]
    assert f"\nRequires-Dist: {extra}" in metadata
    assert not any(str(tmp_path) in text for text in (metadata, *texts_of(site)))
    parsed = treecrf.load("xx", device="cpu").parse_tokens([["the", "man"]])[0]
    assert (
        parsed.heads == treecrf.load(folder, device="cpu").parse_tokens([["the", "man"]])[0].heads
    )


def texts_of(site: Path) -> list[str]:
    """What JSON and TOML files of a package say."""
    files = (path for end in ("json", "toml", "txt", "md") for path in site.rglob(f"*.{end}"))
    return [path.read_text() for path in files]


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
    assert made.before is not None
    for figures, were in (
        (made.card.gold_words, made.before.gold_words),
        (made.card.raw_text, made.before.raw_text),
    ):
        assert list(figures) == list(were)
        assert figures["LAS"] == pytest.approx(were["LAS"], abs=1)
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


def test_a_package_without_metadata_has_no_name(
    full_model: Path, tmp_path: Path, install: Install
) -> None:
    site = install(package(full_model, tmp_path / "dist"))
    next(site.glob("*.dist-info/METADATA")).write_text("")
    install(package(full_model, tmp_path / "dist", "xx"))
    assert [(one.package, one.version) for one in installed_models()] == [
        ("?", "?"),
        ("xx", "1.0.0"),
    ]


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("config.toml", "it has no config.toml; install treecrf-model-xx again"),
        ("vocab.json", "it has no vocab.json; install"),
        ("model.safetensors", "it has no model*.safetensors; install"),
    ],
)
def test_a_package_that_lacks_a_file_is_listed_as_damaged(
    file: str, problem: str, full_model: Path, tmp_path: Path, install: Install
) -> None:
    (install(package(full_model, tmp_path / "dist")) / "treecrf_model_xx" / file).unlink()
    english, damaged = list_models()
    assert (english.name, english.problem) == ("en", "")
    assert problem in damaged.problem
    with pytest.raises(ParserError):
        treecrf.load("xx")


def test_a_package_whose_settings_are_cut_off_is_listed_as_damaged(
    full_model: Path, tmp_path: Path, install: Install
) -> None:
    site = install(package(full_model, tmp_path / "dist"))
    (site / "treecrf_model_xx" / "config.toml").write_text('loss = "crf')
    (damaged,) = (one for one in list_models() if one.name == "xx")
    assert "config.toml: " in damaged.problem
    assert (damaged.language, damaged.columns) == ("", ())


def test_a_folder_without_a_model_gives_way_to_one(
    full_model: Path, tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xx").mkdir()
    with pytest.raises(ParserError, match=r"^xx: not a model folder"):
        treecrf.load("xx")
    site = install(package(full_model, tmp_path / "dist"))
    assert model_folder("xx") == site / "treecrf_model_xx"
    assert model_folder("./xx") == Path("./xx")
    (tmp_path / "xx").rmdir()
    parser_of().save(tmp_path / "xx")
    assert model_folder("xx") == Path("xx")


def test_a_package_may_have_the_name_of_the_bundled_model(
    full_model: Path, tmp_path: Path, install: Install
) -> None:
    site = install(package(full_model, tmp_path / "dist", "treecrf-model-en"))
    assert [one.package for one in list_models()] == ["treecrf-model-en", "treecrf"]
    assert model_folder("en") == site / "treecrf_model_en"
    assert model_folder(None) == BUNDLED / "en"


def test_figures_of_another_model_are_left_out(full_model: Path, tmp_path: Path) -> None:
    parser = treecrf.load(full_model, device="cpu")
    folder = tmp_path / "model"
    parser.save(folder)
    card = Card(treebank="xx", gold_words={"LAS": 90.0}, model=checkpoint.model_digest(folder))
    write_card(folder, card, config=parser.config, title="A model")
    assert package(folder, tmp_path / "dist").card.gold_words == {"LAS": 90.0}
    rounded = package(folder, tmp_path / "dist", stored="int8").card
    assert (rounded.treebank, rounded.gold_words) == ("xx", {})
    checkpoint.change_settings(folder, {"temperature": 1.5})
    changed = package(folder, tmp_path / "dist").card
    assert (changed.treebank, changed.gold_words) == ("xx", {})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"licence": 3, "gold_words": {"LAS": "x"}}',
        json.dumps({"gold_words": {"LAS": 10**400}, "raw_text": {"LAS": -1}}),
        '{"train": {"words": 1e300}}',
    ],
)
def test_a_card_that_says_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(text)
    assert read_card(tmp_path) == Card()


def test_the_english_model_is_listed() -> None:
    (english,) = (one for one in list_models() if one.name == "en")
    assert english.package == "treecrf"
    assert english.language == "en"
    assert english.card.licence == "CC-BY-SA-4.0"
    assert english.card.gold_words["LAS"] > english.card.raw_text["LAS"] > 85
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
