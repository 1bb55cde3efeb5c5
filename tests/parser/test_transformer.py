"""Parsers that read with a pretrained transformer: ours in the shape of BERT, and any other."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import treecrf
from tests.parser.encoders import config_for
from treecrf.demo import generate_treebank
from treecrf.nn.int8.linear import ByteLinear
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.parser.presets import PRESETS
from treecrf.parser.training.loop import train
from treecrf.parser.training.setup import set_up
from treecrf.treebank import write_conllu

transformers = pytest.importorskip("transformers")
pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "train.conllu"
    write_conllu(generate_treebank(20, seed=1), path)
    return path


def trained(folder: Path, treebank: Path, config: Config) -> Path:
    training = set_up(folder, config, train=[treebank], dev=treebank, device="cpu")
    train(training, folder)
    return folder


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("layers", [0, 1])
def test_a_model_folder_is_all_that_parsing_needs(
    kind: str, layers: int, treebank: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    encoder: Path = request.getfixturevalue(kind)
    config = config_for(encoder, lstm_layers=layers, predict=("upos",), loss="crf")
    training = set_up(tmp_path / "m", config, train=[treebank], dev=treebank, device="cpu")
    before = {name: tensor.clone() for name, tensor in training.scorer.state_dict().items()}
    train(training, tmp_path / "m")
    moved = [
        name
        for name, tensor in training.scorer.state_dict().items()
        if not tensor.equal(before[name])
    ]
    assert any(name.startswith("reader.transformer.") for name in moved)

    hidden = encoder.with_name(f"{encoder.name}-away")
    encoder.rename(hidden)
    try:
        parser = treecrf.load(tmp_path / "m", device="cpu")
        sentence = parser.parse_tokens([["The", "man", "saw", "the", "dogs", "."]])[0]
    finally:
        hidden.rename(encoder)
    assert sentence.heads.count(0) == 1
    assert {token.upos for token in sentence.tokens} <= set(parser.vocabulary.columns["upos"])


def test_bert_parses_without_the_package_transformers(
    bert: Path, treebank: Path, tmp_path: Path
) -> None:
    folder = trained(tmp_path / "m", treebank, config_for(bert))
    code = (
        "import sys, treecrf\n"
        f"parser = treecrf.load({str(folder)!r}, device='cpu')\n"
        "parser.parse_tokens([['The', 'man', 'slept']])\n"
        "assert not {'transformers', 'tokenizers'} & set(sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_sentences_longer_than_the_encoder_reads_are_read_whole(
    kind: str, treebank: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = trained(tmp_path / "m", treebank, config_for(request.getfixturevalue(kind)))
    parser = treecrf.load(folder, device="cpu")
    words = ["the", "man", "saw", "telescopes"] * 15
    changed = [*words[:-1], "dog"]
    crf, other = (parser.distribution([sentence]) for sentence in (words, changed))
    assert not torch.equal(crf.marginals, other.marginals)  # the last word matters
    assert parser.parse_tokens([words])[0].heads.count(0) == 1


def test_weights_that_were_fetched_are_those_that_are_read_with(
    bert: Path, treebank: Path, tmp_path: Path
) -> None:
    training = set_up(
        tmp_path / "m", config_for(bert), train=[treebank], dev=treebank, device="cpu"
    )
    theirs = transformers.BertModel.from_pretrained(bert).eval()
    pieces = torch.tensor([[2, 4, 5, 10, 3]])
    encoder = training.scorer.reader.transformer.eval()
    with torch.no_grad():
        ours = encoder(pieces, torch.tensor([5]))[-1]
        torch.testing.assert_close(ours, theirs(pieces).last_hidden_state, rtol=1e-4, atol=1e-5)


def test_lower_layers_learn_slower(bert: Path, treebank: Path, tmp_path: Path) -> None:
    from treecrf.parser.training.optimiser import Optimisation

    config = config_for(
        bert,
        schedule="linear",
        warmup=1.0,
        epochs=3,
        learning_rate=1e-2,
        transformer_learning_rate=1e-3,
        layer_decay=0.5,
    )
    training = set_up(tmp_path / "m", config, train=[treebank], dev=treebank, device="cpu")
    optimisation = Optimisation(training.scorer, config, epoch_steps=10)
    assert sorted(set(optimisation.rates)) == [1.25e-4, 2.5e-4, 5e-4, 1e-3, 1e-2]
    shares = []
    for step in range(31):
        optimisation.steps = step
        shares.append(round(optimisation.share, 6))
    assert shares[0] == 0.1
    assert max(shares) == 1.0 == shares[9]
    assert shares[20] == 0.5
    assert shares[30] == 0.0


@pytest.mark.parametrize("damage", ["missing", "half", "foreign"])
def test_damaged_weights_of_an_encoder_are_named(
    damage: str, bert: Path, treebank: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(bert, folder)
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    path.unlink()
    if damage == "half":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "foreign":
        save_file({"weight": torch.ones(2)}, path)
    with pytest.raises(ParserError, match=r"damaged/model\.safetensors: not the weights of a BERT"):
        trained(tmp_path / "m", treebank, config_for(folder))
    assert not (tmp_path / "m").exists()


def test_what_is_no_encoder_is_named(treebank: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ParserError, match="empty"):
        set_up(
            tmp_path / "m",
            config_for(tmp_path / "empty"),
            train=[treebank],
            dev=treebank,
            device="cpu",
        )
    with pytest.raises(ParserError, match="none is named"):
        PRESETS["tiny"].changed({"encoder": "transformer"})


def test_products_of_bytes_give_nearly_the_same_trees(
    bert: Path, treebank: Path, tmp_path: Path
) -> None:
    folder = trained(tmp_path / "m", treebank, config_for(bert, precision="int8"))
    words = [["the", "man", "saw", "telescopes"] * count for count in (1, 3, 9)]
    exact = treecrf.load(folder, device="cpu", precision="float32")
    rounded = treecrf.load(folder, device="cpu")
    for one, other in zip(exact.parse_tokens(words), rounded.parse_tokens(words), strict=True):
        assert other.heads.count(0) == 1
        assert other.probs == pytest.approx(one.probs, abs=0.1)
    alone = [rounded.parse_tokens([sentence])[0] for sentence in words]
    assert [sentence.heads for sentence in alone] == [
        sentence.heads for sentence in rounded.parse_tokens(words)
    ]
    rounded.save(tmp_path / "saved")
    again = treecrf.load(tmp_path / "saved", device="cpu", precision="float32").scorer.state_dict()
    assert all(
        torch.equal(again[name], tensor) for name, tensor in exact.scorer.state_dict().items()
    )


@pytest.mark.usefixtures("without_vnni")
def test_a_cpu_without_products_of_bytes_takes_single_precision(
    bert: Path, treebank: Path, tmp_path: Path
) -> None:
    folder = trained(tmp_path / "m", treebank, config_for(bert, precision="int8"))
    words = [["the", "man", "saw", "telescopes"]]
    [exact] = treecrf.load(folder, device="cpu", precision="float32").parse_tokens(words)
    parser = treecrf.load(folder, device="cpu")
    [found] = parser.parse_tokens(words)
    assert not any(isinstance(layer, ByteLinear) for layer in parser.scorer.modules())
    assert (found.heads, found.probs) == (exact.heads, exact.probs)
