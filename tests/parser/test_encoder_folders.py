"""Encoders and the folders of models: what is refused costs nothing, and what is read is whole."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

import treecrf
from tests.parser.encoders import config_for, make_bert, make_roberta
from tests.parser.test_setup import set_up_in
from treecrf.demo import generate_treebank
from treecrf.parser.errors import ParserError
from treecrf.parser.folder import model_digest
from treecrf.parser.network.pretrained import Pretrained, load_pretrained
from treecrf.parser.presets import PRESETS
from treecrf.parser.training.loop import train
from treecrf.parser.training.setup import merged_config
from treecrf.treebank import write_conllu

pytest.importorskip("transformers")
pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "train.conllu"
    write_conllu(generate_treebank(6, seed=1), path)
    return path


@pytest.fixture(scope="module")
def trained(bert: Path, treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    train(set_up_in(folder, treebank, config_for(bert)), folder)
    return folder


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "model"))


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_model_may_start_from_itself_by_another_path(
    model: Path, treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    config = merged_config(Path("model"), init=model, resume=False)
    training = set_up_in(Path("model"), treebank, config, init=model, overwrite=True)
    train(training, Path("model"))
    assert treecrf.load(model, device="cpu").parse_tokens([["a"]])[0].heads == [0]
    assert sorted(path.name for path in (model / "encoder").iterdir()) == [
        *("config.json", "tokenizer_config.json", "vocab.txt")
    ]


def test_a_refused_encoder_leaves_the_model_that_is_there(
    model: Path, bert: Path, treebank: Path, tmp_path: Path
) -> None:
    before = content(model)
    other = make_bert(tmp_path / "other", intermediate_size=32)
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the 1 2\n")
    with pytest.raises(ParserError, match="a transformer brings its own vectors"):
        set_up_in(model, treebank, config_for(other), embeddings=vectors, overwrite=True)
    (other / "tokenizer_config.json").write_text("{")
    with pytest.raises(ParserError, match="not a JSON file"):
        set_up_in(model, treebank, config_for(other), overwrite=True)
    assert content(model) == before


def test_an_encoder_takes_the_place_of_another_whole(
    model: Path, bert: Path, treebank: Path
) -> None:
    digest = model_digest(model)
    (model / "encoder" / "merges.txt").write_text("of a model that was here before")
    train(set_up_in(model, treebank, config_for(bert), overwrite=True), model)
    assert model_digest(model) == digest


@pytest.mark.parametrize("layers", [1, 2])
def test_an_encoder_of_few_layers_is_read_whole(
    layers: int, treebank: Path, tmp_path: Path
) -> None:
    encoder = make_bert(tmp_path / "bert", num_hidden_layers=layers)
    config = config_for(encoder)
    assert config.mix_layers > layers + 1
    train(set_up_in(tmp_path / "model", treebank, config), tmp_path / "model")
    assert treecrf.load(tmp_path / "model", device="cpu").parse_tokens([["a"]])[0].heads == [0]


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("damage", ["missing", "misshapen"])
def test_weights_that_an_encoder_lacks_are_named(
    kind: str, damage: str, treebank: Path, tmp_path: Path
) -> None:
    folder = (make_bert if kind == "bert" else make_roberta)(tmp_path / "encoder")
    path = folder / "model.safetensors"
    weights = load_file(path)
    if damage == "missing":
        weights = {name: value for name, value in weights.items() if "layer.2." not in name}
    else:
        [name] = [name for name in weights if name.endswith("layer.2.output.dense.weight")]
        weights[name] = torch.ones(16, 20)
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(ParserError, match=r"encoder: its config.json asks for .*layers?\.2\."):
        set_up_in(tmp_path / "model", treebank, config_for(folder))
    assert not (tmp_path / "model").exists()


def test_dropout_is_that_of_the_settings_in_any_encoder(treebank: Path, tmp_path: Path) -> None:
    folder = make_roberta(tmp_path / "roberta")
    before = content(folder)
    encoder = load_pretrained(folder).make(dropout=0.375)
    dropouts = [m.p for m in encoder.modules() if isinstance(m, torch.nn.Dropout)]
    assert len(dropouts) > 3
    assert set(dropouts) == {0.375}
    assert content(folder) == before


def test_a_transformer_that_would_not_be_read_is_refused(
    model: Path, treebank: Path, tmp_path: Path
) -> None:
    config = merged_config(tmp_path / "next", init=model, resume=False)
    with pytest.raises(ParserError, match=r"for transformer = .*, and the settings say elsewhere"):
        set_up_in(
            tmp_path / "next", treebank, config.changed({"transformer": "elsewhere"}), init=model
        )
    plain = PRESETS["tiny"].changed({"transformer": "elsewhere"})
    with pytest.raises(ParserError, match="--set encoder=transformer"):
        set_up_in(tmp_path / "next", treebank, plain)
    assert not (tmp_path / "next").exists()


@pytest.mark.parametrize("positions", [-1, None, 0])
def test_an_encoder_without_a_limit_has_one(positions: int | None, tmp_path: Path) -> None:
    folder = make_roberta(tmp_path / "roberta")
    described = json.loads((folder / "config.json").read_text())
    pretrained = load_pretrained(folder)
    assert pretrained.longest == described["max_position_embeddings"] - 2
    pretrained.config["max_position_embeddings"] = positions
    assert pretrained.longest == 512


def test_the_size_of_a_state_has_several_names(bert: Path, tmp_path: Path) -> None:
    folder = make_roberta(tmp_path / "roberta")
    described = json.loads((folder / "config.json").read_text())
    size = described.pop("hidden_size")
    for name in ("dim", "d_model"):
        (folder / "config.json").write_text(json.dumps(described | {name: size}))
        assert load_pretrained(folder).size == size
    (folder / "config.json").write_text(json.dumps(described))
    with pytest.raises(ParserError, match=r"config.json: the size of a state"):
        load_pretrained(folder)


@pytest.mark.parametrize("key", ["max_position_embeddings", "hidden_size"])
def test_an_encoder_is_named_as_it_was_given(
    key: str, treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by the temporary folder that it is read from."""
    monkeypatch.chdir(tmp_path)
    path = make_roberta(tmp_path / "e") / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: 3}))
    with pytest.raises(ParserError, match=r"^e: "):
        set_up_in(tmp_path / "model", treebank, config_for(Path("e")))


@pytest.mark.parametrize(
    ("file", "damage", "problem"),
    [
        ("config.json", {"model_type": None}, "e: transformers makes no encoder of it: "),
        ("config.json", {"num_attention_heads": -1}, "e: transformers makes no encoder of it: "),
        ("config.json", {"pad_token_id": None}, "e: transformers makes no encoder of it: "),
        ("config.json", {"hidden_act": "y" * 100_000}, "e: transformers makes no encoder of it: "),
        ("tokenizer_config.json", {"sep_token": "new"}, "e: .* a piece 261, .* vocab_size is 261"),
    ],
)
def test_settings_that_no_parse_would_survive(
    file: str,
    damage: dict[str, object],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They show at loading, in a short line without the temporary folder of the encoder."""
    monkeypatch.chdir(tmp_path)
    path = make_roberta(tmp_path / "e") / file
    changed = json.loads(path.read_text()) | damage
    path.write_text(json.dumps({key: value for key, value in changed.items() if value is not None}))
    if damage == {"pad_token_id": None}:  # by default there is one
        path.write_text(json.dumps(changed))
    with pytest.raises(ParserError, match=f"^{problem}") as caught:
        load_pretrained(Path("e")).make(dropout=0.0)
    assert len(str(caught.value)) < 1000
    assert gettempdir() not in str(caught.value)


def test_positions_begin_after_that_of_padding(tmp_path: Path) -> None:
    path = make_roberta(tmp_path / "e") / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pad_token_id": 7}))
    pretrained = load_pretrained(tmp_path / "e")
    longest = torch.full((1, pretrained.longest), pretrained.pieces.unknown)
    states = pretrained.make(dropout=0.0)(longest, torch.tensor([longest.shape[1]]))
    assert states[-1].shape == (1, 24 - 8, pretrained.size)


def test_weights_of_other_sizes_are_told_before_any_are_made(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    train(set_up_in(model, treebank, config_for(make_roberta(tmp_path / "e"))), model)
    path = model / "config.toml"
    path.write_text(re.sub("sibling_size = .*", "sibling_size = 999", path.read_text()))
    monkeypatch.setattr(Pretrained, "make", only_blank(Pretrained.make))
    with pytest.raises(ParserError, match="damaged: the weights do not fit the settings"):
        treecrf.load(model, device="cpu")


def only_blank(make: Callable[..., nn.Module]) -> Callable[..., nn.Module]:
    def checked(*arguments: object, **options: object) -> nn.Module:
        made = make(*arguments, **options)
        assert {weights.device.type for weights in made.parameters()} == {"meta"}
        return made

    return checked
