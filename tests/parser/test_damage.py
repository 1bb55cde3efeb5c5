"""Folders of models with anything in them: they load, or one line says what is wrong."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from tests.parser.damage import VALUES, places, replaced
from tests.parser.encoders import config_for, make_bert, make_roberta
from tests.parser.folders import parser_of
from tests.parser.models import VOCABULARY
from treecrf.parser import Parser, ParserError, load
from treecrf.parser.network.pretrained import load_pretrained
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.vocab import Vocabulary
from treecrf.segment import SegmentError
from treecrf.segment.characters import Alphabet, CharacterClass
from treecrf.segment.config import SegmenterConfig
from treecrf.segment.multiwords import learn_splitter
from treecrf.segment.network import CharacterNetwork
from treecrf.segment.segmenter import Segmenter


def save_segmenter(folder: Path) -> None:
    """A segmenter that has learnt nothing, whose settings may change without its weights."""
    config = SegmenterConfig(character_size=2, class_size=2, lstm_layers=1, lstm_size=2)
    joins = np.zeros((len(CharacterClass), len(CharacterClass)), np.bool_)
    joins[CharacterClass.DIGIT, CharacterClass.DIGIT] = True
    alphabet = Alphabet("ab\n")
    splitter = learn_splitter([("dont", ("do", "nt")), ("cant", ("ca", "nt"))])
    network = CharacterNetwork(len(alphabet), config)
    Segmenter(config, network, alphabet=alphabet, splitter=splitter, joins=joins).save(folder)
    path = folder / "segmenter.safetensors"
    save_file(load_file(path), path, {"format": "treecrf segmenter 1"})


@pytest.fixture(scope="module")
def bilstm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bilstm") / "model"
    parser_of().save(folder)
    save_segmenter(folder)
    return folder


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return save_transformer(tmp_path_factory.mktemp("bert"), make_bert)


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return save_transformer(tmp_path_factory.mktemp("roberta"), make_roberta)


def save_transformer(folder: Path, make: Callable[[Path], Path]) -> Path:
    """A parser that has learnt nothing, with this encoder."""
    config = config_for(make(folder / "encoder"))
    pretrained = load_pretrained(folder / "encoder")
    vocabulary = Vocabulary(**VOCABULARY.to_dict())
    vocabulary.pieces = pretrained.pieces
    weights = Scorer(config, vocabulary.sizes, pretrained=pretrained).state_dict()
    parser = Parser(config, vocabulary, weights, pretrained=pretrained, device="cpu")
    parser.save(folder / "model")
    save_segmenter(folder / "model")
    return folder / "model"


@pytest.fixture(params=["bilstm", "bert"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(request.getfixturevalue(request.param), tmp_path / "model"))


def complaint(folder: Path) -> str | None:
    """The line that loading ends with, if it does not succeed."""
    try:
        parser = load(folder, device="cpu")
        assert parser.segmenter.segment("") == []
        if (folder / "encoder").is_dir():  # the other one reads tags, too
            assert len(parser.parse_tokens([["a", "b"]])) == 1
    except (ParserError, SegmentError) as error:
        found = str(error)
    else:
        return None
    assert str(folder) in found
    assert "\n" not in found
    assert len(found) < 1000
    return found


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    "name", ["vocab.json", "segmenter.json", "encoder/config.json", "encoder/tokenizer_config.json"]
)
def test_any_value_in_a_json_file(name: str, bilstm: Path, bert: Path, tmp_path: Path) -> None:
    source = bert if name.startswith("encoder") else bilstm
    model = Path(shutil.copytree(source, tmp_path / "model"))
    document = json.loads((model / name).read_bytes())
    assert complaint(model) is None
    refused = cases = 0
    for number, path in enumerate(places(document)):
        # All of them of what the rest hangs on, and two in turn of each of the others.
        values = VALUES if len(path) < 2 and "encoder" not in name else None
        turns = (2 * number % len(VALUES), (2 * number + 1) % len(VALUES))
        for text in values or [VALUES[turn] for turn in turns]:
            (model / name).write_text(replaced(document, path, text))
            refused += complaint(model) is not None
            cases += 1
    assert cases > 2
    assert refused > cases // 3 or "tokenizer" in name
    (model / name).write_text(json.dumps(document))
    assert complaint(model) is None


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_any_value_in_an_encoder_of_transformers(name: str, roberta: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(roberta, tmp_path / "model"))
    path = model / "encoder" / name
    document = json.loads(path.read_bytes())
    for number, place in enumerate(places(document)):
        for turn in range(2):
            path.write_text(replaced(document, place, VALUES[(2 * number + turn) % len(VALUES)]))
            complaint(model)
    path.write_text(json.dumps(document))
    assert complaint(model) is None


@pytest.mark.parametrize("text", ["[]", "{}", '"x"', "true", "null", "-1", "0", "3", "1e30"])
def test_the_longest_text_of_a_tokenizer(text: str, roberta: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(roberta, tmp_path / "model"))
    path = model / "encoder" / "tokenizer_config.json"
    path.write_text(replaced(json.loads(path.read_bytes()), ("model_max_length",), text))
    found = complaint(model)
    if text in ("[]", "{}", '"x"', "true"):
        assert found is not None
        assert ": damaged: model_max_length is " in found
    else:
        assert found is None


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("text", VALUES)
@pytest.mark.parametrize(
    "key", ["hidden_size", "num_hidden_layers", "max_position_embeddings", "vocab_size"]
)
@pytest.mark.parametrize("native", [True, False])
def test_sizes_of_an_encoder(native: bool, key: str, text: str, bert: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(bert, tmp_path / "model"))
    path = model / "encoder" / "config.json"
    document = json.loads(path.read_bytes()) | ({} if native else {"hidden_act": "relu"})
    path.write_text(replaced(document, (key,), text))
    assert complaint(model) is not None


@pytest.mark.usefixtures("little_memory")
def test_any_setting_in_a_toml_file(model: Path) -> None:
    path = model / "config.toml"
    lines = path.read_text().splitlines()
    values = [*VALUES, "inf", "nan", "-inf", "1979-05-27", "{ a = 1 }"]
    for number, line in enumerate(lines):
        key, equals, _ = line.partition(" = ")
        if not equals:
            continue
        size = key.endswith("_size") or key.endswith("layers")
        unread = any(part in key for part in ("layers", "tag", "spelling", "char_size"))
        for text in values if size else [values[number % len(values)]]:
            path.write_text("\n".join([*lines[:number], f"{key} = {text}", *lines[number + 1 :]]))
            assert complaint(model) is not None or not size or unread


@pytest.mark.usefixtures("little_memory")
def test_any_file_that_is_not_whole(model: Path) -> None:
    for path in sorted(path for path in model.rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for damaged in (b"", whole[: len(whole) // 2], b"\xff\xfe" + whole, b"\0" * 64):
            path.write_bytes(damaged)
            complaint(model)
        path.write_bytes(whole)
        assert complaint(model) is None


def header_changes(header: dict[str, Any], name: str) -> Iterator[bytes]:
    """Damaged headers of a safetensors file, one of whose tensors has this name."""
    described = header[name]
    for changed in (
        {"dtype": "I64"},
        {"dtype": "F4"},
        {"dtype": "C64"},
        {"dtype": None},
        {"shape": [10**18, 10**18]},
        {"shape": [-1]},
        {"shape": None},
        {"data_offsets": [0, 10**18]},
        {"data_offsets": [8, 0]},
        {"data_offsets": []},
    ):
        yield json.dumps(header | {name: described | changed}).encode()
    yield json.dumps({**header, "__metadata__": []}).encode()
    yield json.dumps({**header, "__metadata__": {"format": 1}}).encode()
    yield json.dumps([]).encode()
    yield b"[" * 10_000
    yield b"\xff" * 100


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("name", ["model.safetensors", "segmenter.safetensors"])
def test_headers_of_weights(name: str, model: Path) -> None:
    path = model / name
    whole = path.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    tensor = next(key for key in header if key != "__metadata__")
    for damaged in header_changes(header, tensor):
        path.write_bytes(len(damaged).to_bytes(8, "little") + damaged + whole[8 + size :])
        assert complaint(model) is not None
    for length in (0, size - 1, size + 1, 2**62, 2**64 - 1):
        path.write_bytes(length.to_bytes(8, "little") + whole[8:])
        assert complaint(model) is not None


def change_tensors(path: Path, change: Callable[[torch.Tensor], torch.Tensor]) -> str:
    """Change the first tensor of a file that has several numbers; its name."""
    tensors = load_file(path)
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    name = next(name for name, tensor in tensors.items() if tensor.numel() > 1)
    tensors[name] = change(tensors[name])
    save_file(tensors, path, metadata)
    return name


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("file", ["model", "segmenter", "vectors"])
def test_weights_are_finite(file: str, value: float, bilstm: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(bilstm, tmp_path / "model"))

    def change(tensor: torch.Tensor) -> torch.Tensor:
        tensor.view(-1)[-1] = value
        return tensor

    name = change_tensors(model / f"{file}.safetensors", change)
    found = f"{model / file}.safetensors: damaged: {name} has numbers that are not finite"
    assert complaint(model) == found


def test_large_weights_are_finite(bilstm: Path, tmp_path: Path) -> None:
    """Though their sum is not."""
    model = Path(shutil.copytree(bilstm, tmp_path / "model"))
    change_tensors(model / "model.safetensors", lambda tensor: torch.full_like(tensor, 3e38))
    assert complaint(model) is None


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
def test_weights_are_loaded_in_single_precision(precision: torch.dtype, model: Path) -> None:
    change_tensors(model / "model.safetensors", lambda tensor: tensor.to(precision))
    parser = load(model, device="cpu")
    assert {weights.dtype for weights in parser.scorer.parameters()} == {torch.float32}


@pytest.mark.parametrize(
    ("error", "expected", "found"),
    [
        (RuntimeError("CUDA error"), RuntimeError, "^CUDA error$"),
        (torch.OutOfMemoryError("none left"), ParserError, "model: the weights do not fit in the"),
    ],
)
def test_an_error_of_a_device_is_not_one_of_the_weights(
    error: Exception,
    expected: type[Exception],
    found: str,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(torch.nn.Module, "to", fail)
    with pytest.raises(expected, match=found):
        load(model, device="cpu")
