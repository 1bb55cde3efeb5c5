"""Parsers that multiply bytes on a CPU: nearly the same trees, and those of no other sentence."""

from pathlib import Path

import pytest

import treecrf
from treecrf.demo import generate_treebank
from treecrf.nn.int8.lstm import ByteLSTM
from treecrf.parser import Parser, set_up
from treecrf.parser import model as parser_model
from treecrf.parser.presets import PRESETS
from treecrf.parser.training.loop import train
from treecrf.treebank import Sentence, write_conllu


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learnt something."""
    folder = tmp_path_factory.mktemp("bytes")
    write_conllu(generate_treebank(200, seed=1), folder / "train.conllu")
    write_conllu(generate_treebank(20, seed=2), folder / "dev.conllu")
    config = PRESETS["tiny"].changed({"epochs": 4})
    files = folder / "train.conllu", folder / "dev.conllu"
    training = set_up(folder / "m", config, train=[files[0]], dev=files[1], device="cpu")
    train(training, folder / "m")
    return folder / "m"


@pytest.fixture
def rounded(model: Path, monkeypatch: pytest.MonkeyPatch) -> Parser:
    """It in products of bytes, on a CPU without the instruction for them too."""
    monkeypatch.setattr(parser_model, "has_byte_products", lambda: True)
    return treecrf.load(model, device="cpu", precision="int8")


def sentences() -> list[Sentence]:
    return list(generate_treebank(100, seed=3))


def test_heads_are_nearly_those_of_float32(model: Path, rounded: Parser) -> None:
    exact = treecrf.load(model, device="cpu")
    pairs = [
        (one, other)
        for left, right in zip(
            exact.parse_tokens(sentences()), rounded.parse_tokens(sentences()), strict=True
        )
        for one, other in zip(left.heads, right.heads, strict=True)
    ]
    assert sum(one == other for one, other in pairs) >= 0.99 * len(pairs)


def test_a_tree_does_not_depend_on_the_batch(
    rounded: Parser,
) -> None:
    given = sentences()[:30]
    together = rounded.parse_tokens(given)
    for parsed in (
        rounded.parse_tokens(given[:7]) + rounded.parse_tokens(given[7:]),
        [rounded.parse_tokens([sentence])[0] for sentence in given],
    ):
        for one, other in zip(together, parsed, strict=True):
            assert (one.heads, one.deprels) == (other.heads, other.deprels)
            assert one.probs == pytest.approx(other.probs, abs=1e-4)


def test_everything_else_that_a_parser_does(rounded: Parser) -> None:
    sentence = sentences()[0]
    best = next(iter(rounded.parse_best([sentence], 2)))
    assert best[0].heads == rounded.parse_tokens([sentence], decoder="viterbi")[0].heads
    assert rounded.distribution([sentence]).marginals.shape[1] == len(sentence) + 1


def test_the_weights_that_are_saved_are_exact(model: Path, rounded: Parser, tmp_path: Path) -> None:
    assert any(isinstance(module, ByteLSTM) for module in rounded.scorer.modules())
    rounded.save(tmp_path / "again")
    for name in ("model.safetensors", "vocab.json"):
        assert (tmp_path / "again" / name).read_bytes() == (model / name).read_bytes()


def test_elsewhere_numbers_stay_as_they_are(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_model, "has_byte_products", lambda: False)
    parser = treecrf.load(model, device="cpu", precision="int8")
    assert not any(isinstance(module, ByteLSTM) for module in parser.scorer.modules())
