"""Encoders are trained in single precision, whatever precision they are stored in."""

import json
from pathlib import Path

import pytest
import torch

import treecrf
from tests.parser.encoders import KINDS, config_for, make_bert, make_encoder
from tests.parser.models import SMALL, random_scorer
from tests.parser.test_setup import set_up_in
from treecrf.demo import generate_treebank
from treecrf.parser.errors import ParserError
from treecrf.parser.network.pretrained import fetch, load_pretrained
from treecrf.parser.training.loop import Training, train
from treecrf.parser.training.optimiser import Optimisation
from treecrf.parser.training.setup import merged_config
from treecrf.treebank import write_conllu

transformers = pytest.importorskip("transformers")
pytest.importorskip("tokenizers")

# What DeBERTa is made of is compiled when transformers imports it.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")

PRECISIONS = [torch.float32, torch.float16, torch.bfloat16]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "train.conllu"
    write_conllu(generate_treebank(30, seed=1), path)
    return path


def precisions(training: Training) -> set[torch.dtype]:
    tensors = [*training.scorer.parameters(), *training.scorer.buffers()]
    return {tensor.dtype for tensor in tensors if tensor.is_floating_point()}


@pytest.mark.parametrize("kind", [*KINDS, "Bert"])
@pytest.mark.parametrize("stored", PRECISIONS, ids=str)
def test_an_encoder_is_in_single_precision(
    kind: str, stored: torch.dtype, treebank: Path, tmp_path: Path
) -> None:
    if kind == "Bert":
        folder = make_bert(tmp_path / "encoder")
        transformers.BertModel.from_pretrained(folder, dtype=stored).save_pretrained(folder)
    else:
        folder = make_encoder(tmp_path / "encoder", kind, stored=stored)
    # This is what transformers would make the encoder in.
    described = json.loads((folder / "config.json").read_text())
    assert described["dtype"] == str(stored).removeprefix("torch.")
    training = set_up_in(tmp_path / "model", treebank, config_for(folder))
    assert training.pretrained is not None
    assert training.pretrained.native == (kind == "Bert")
    assert precisions(training) == {torch.float32}
    # The numbers are those that were stored.
    weights = fetch(str(folder))[1]
    for name, own in training.scorer.reader.transformer.state_dict().items():
        torch.testing.assert_close(own, weights[name].to(own.dtype), rtol=0, atol=0)


def test_an_encoder_stored_in_half_precision_learns(treebank: Path, tmp_path: Path) -> None:
    encoder = make_encoder(tmp_path / "encoder", "MPNet", stored=torch.float16)
    config = config_for(encoder, epochs=6, transformer_learning_rate=5e-3, loss="local")
    training = set_up_in(tmp_path / "model", treebank, config)
    before = {name: own.clone() for name, own in training.scorer.named_parameters()}
    epochs = []
    training.on_epoch = epochs.append
    train(training, tmp_path / "model")
    assert precisions(training) == {torch.float32}
    # Half precision would leave Adam with squares that are 0, and steps that know no bounds.
    assert epochs[-1].loss < 0.6 * epochs[0].loss
    assert epochs[-1].uas > epochs[0].uas
    unread = {"reader.transformer.model.embeddings.word_embeddings.weight"}  # some pieces
    for name, own in training.scorer.named_parameters():
        assert name in unread or not own.equal(before[name])
    parser = treecrf.load(tmp_path / "model", device="cpu")
    assert {own.dtype for own in parser.scorer.parameters()} == {torch.float32}
    # What goes on from the model is in single precision as well.
    again = merged_config(tmp_path / "next", init=tmp_path / "model", resume=False)
    heir = set_up_in(tmp_path / "next", treebank, again, init=tmp_path / "model")
    assert precisions(heir) == {torch.float32}


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16], ids=str)
def test_weights_in_half_precision_are_not_trained(precision: torch.dtype) -> None:
    scorer = random_scorer(SMALL).to(precision)
    with pytest.raises(ParserError, match=r"weights in b?float16 cannot be trained"):
        Optimisation(scorer, SMALL, epoch_steps=1)


@pytest.mark.parametrize("kind", [*KINDS, "Bert"])
def test_dropout_that_is_0_stays_so(kind: str, tmp_path: Path) -> None:
    if kind == "Bert":
        folder = make_bert(tmp_path / "encoder")
    else:
        folder = make_encoder(tmp_path / "encoder", kind)
    config = json.loads((folder / "config.json").read_text())
    names = [name for name in config if "dropout" in name and name != "classifier_dropout"]
    attention = [name for name in names if "attention" in name]
    assert attention
    for off in (attention, names):
        changed = config | dict.fromkeys(names, 0.1) | dict.fromkeys(off, 0.0)
        (folder / "config.json").write_text(json.dumps(changed))
        pretrained = load_pretrained(folder)
        assert pretrained.native == (kind == "Bert")
        with torch.no_grad():
            read = pretrained.make(dropout=0.5).train()
            pieces, lengths = torch.tensor([[0, 5, 6, 7, 2]]), torch.tensor([5])
            one, other = (read(pieces, lengths)[-1] for _ in range(2))
        assert torch.equal(one, other) == (off == names)
        rates = {getattr(module, "attention_dropout", 0.0) for module in read.modules()}
        assert all(rate == 0 for rate in rates if isinstance(rate, float))


def depths(tmp_path: Path, treebank: Path, kind: str) -> dict[str, float]:
    """How often the rate of each weight of an encoder of three layers was halved."""
    folder = make_encoder(tmp_path / "encoder", kind)
    config = config_for(folder, transformer_learning_rate=1.0, layer_decay=0.5)
    scorer = set_up_in(tmp_path / "model", treebank, config).scorer
    rates = Optimisation(scorer, config, epoch_steps=1).rates
    names = (name for name, _ in scorer.named_parameters())
    prefix = "reader.transformer.model."
    return {
        name.removeprefix(prefix): rate
        for name, rate in zip(names, rates, strict=True)
        if name.startswith(prefix)
    }


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Roberta", {"embeddings.word_embeddings.weight": 1 / 8}),
        ("MPNet", {"encoder.relative_attention_bias.weight": 1 / 8}),
        ("DebertaV2", {"encoder.rel_embeddings.weight": 1 / 8, "encoder.LayerNorm.bias": 1 / 8}),
        ("ModernBert", {"embeddings.norm.weight": 1 / 8, "final_norm.weight": 1.0}),
        ("GPT2", {"wpe.weight": 1 / 8, "ln_f.weight": 1.0}),
    ],
)
def test_the_higher_the_faster(
    kind: str, expected: dict[str, float], treebank: Path, tmp_path: Path
) -> None:
    rates = depths(tmp_path, treebank, kind)
    for name, rate in expected.items():
        assert rates[name] == rate
    for number, rate in enumerate([1 / 4, 1 / 2, 1.0]):
        found = [own for name, own in rates.items() if f".{number}." in f".{name}"]
        assert found
        assert set(found) == {rate}
