"""A tiny model from training to a bundled folder with a card, and its reliability plot."""

import io
import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import treecrf
from experiments.english import bundle, final, hold_out, reliability, renew
from treecrf.demo import generate_treebank
from treecrf.nn.transformer.bert import BertEncoder, BertShape
from treecrf.parser.presets import PRESETS, load_config
from treecrf.parser.training.loop import train
from treecrf.parser.training.setup import set_up
from treecrf.segment import SegmenterConfig, train_segmenter
from treecrf.treebank import Sentence, read_conllu, write_conllu

pytestmark = pytest.mark.slow

LETTERS = "abcdefghijklmnopqrstuvwxyz.,?'"
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[unused1]", "ж", *LETTERS]
PIECES += [f"##{letter}" for letter in LETTERS]
CONFIG = {
    "model_type": "bert",
    "vocab_size": len(PIECES),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 48,
}


QUICK = SegmenterConfig(lstm_layers=1, lstm_size=8, window=64, context=8, epochs=1)


def make_bert(folder: Path) -> Path:
    """A BERT with weights at random, under the names that Hugging Face has for them."""
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    (folder / "config.json").write_text(json.dumps(CONFIG))
    torch.manual_seed(1)
    ours = BertEncoder(BertShape.from_transformers(CONFIG), dropout=0).state_dict()
    weights = {
        "embeddings.word_embeddings.weight": ours["pieces.weight"],
        "embeddings.position_embeddings.weight": ours["positions.weight"],
        "embeddings.token_type_embeddings.weight": torch.zeros(2, 16),
    }
    for end in ("weight", "bias"):
        weights[f"embeddings.LayerNorm.{end}"] = ours[f"norm.{end}"]
        for layer in range(2):
            old, new = f"layers.{layer}", f"encoder.layer.{layer}"
            parts = ours[f"{old}.queries_keys_values.{end}"].chunk(3)
            for name, part in zip(("query", "key", "value"), parts, strict=True):
                weights[f"{new}.attention.self.{name}.{end}"] = part.clone()
            for theirs, mine in (
                ("attention.output.dense", "attended"),
                ("attention.output.LayerNorm", "attention_norm"),
                ("intermediate.dense", "expand"),
                ("output.dense", "contract"),
                ("output.LayerNorm", "norm"),
            ):
                weights[f"{new}.{theirs}.{end}"] = ours[f"{old}.{mine}.{end}"]
    save_file(weights, folder / "model.safetensors")
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A trained model with a segmenter, and its data."""
    folder = tmp_path_factory.mktemp("english")
    write_conllu(generate_treebank(80, seed=1), folder / "all.conllu")
    write_conllu(generate_treebank(12, seed=2), folder / "dev.conllu")
    parts = [str(folder / f"{name}.conllu") for name in ("all", "learnt", "held-out")]
    assert hold_out.main([*parts, "--every", "4"]) == 0
    config = PRESETS["tiny"].changed(
        {
            "encoder": "transformer",
            "transformer": str(make_bert(folder / "bert")),
            "mix_layers": 2,
            "lstm_layers": 0,
            "predict": ["upos"],
            "epochs": 2,
        }
    )
    learnt, dev = folder / "learnt.conllu", folder / "dev.conllu"
    training = set_up(folder / "model", config, train=[learnt], dev=dev, device="cpu")
    train(training, folder / "model")
    sentences = list(read_conllu(learnt))
    train_segmenter(sentences, sentences[:5], QUICK).save(folder / "model")
    return {"model": folder / "model", "dev": dev, "held_out": folder / "held-out.conllu"}


def test_what_is_held_out_is_not_learnt() -> None:
    sentences = list(generate_treebank(100, seed=1))
    learnt, held_out = hold_out.hold_out(sentences, every=5, run=10)
    assert held_out == sentences[40:50] + sentences[90:]
    assert [s for s in sentences if s in learnt or s in held_out] == sentences
    assert hold_out.hold_out(sentences)[1] == sentences[24::25]


def test_a_small_model_with_a_card(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "en"
    arguments = [str(files["model"]), str(folder), "--dev", str(files["dev"]), "--device", "cpu"]
    arguments += ["--held-out", str(files["held_out"]), "--made-by", "treecrf train --set x=1"]
    assert bundle.main(arguments) == 0, capsys.readouterr().err
    card = json.loads((folder / "card.json").read_text())
    names = [step["name"] for step in card["steps"]]
    assert names[:2] == ["as trained", "vocabulary cut"]
    assert names[3:] == ["half precision", "bytes", "products of bytes on a CPU"]
    assert card["steps"][1]["scores"] == card["steps"][0]["scores"]
    assert set(card["gold_words"]) == {"UAS", "LAS", "UPOS"}  # what this model predicts
    text = (folder / "README.md").read_text()
    assert "$ treecrf train --set x=1\n$ python -m experiments.english.bundle " in text
    assert "--stored bytes --precision int8 --treebank en_ewt-2.16 --device cpu\n```" in text
    assert "CC BY-SA 4.0" in text
    assert "The same part chose the epochs of the parser" in text
    assert "Apache 2.0" in text

    parser = treecrf.load(folder, device="cpu")
    assert parser.config.precision == "int8"
    assert parser.config.transformer == "bert"
    assert "[unused1]" not in (folder / "encoder" / "vocab.txt").read_text()
    assert parser.parse("The dog slept.")
    assert not (folder / "checkpoint.safetensors").exists()
    assert list(tmp_path.iterdir()) == [folder]

    train_segmenter(list(read_conllu(files["dev"])), list(read_conllu(files["dev"])), QUICK).save(
        folder
    )
    options = [str(folder), "--dev", str(files["dev"]), "--made-by", "again"]
    for _ in range(2):  # the second time changes nothing
        assert renew.main(options) == 0, capsys.readouterr().err
        renewed = json.loads((folder / "card.json").read_text())
        assert renewed["steps"][:-1] == card["steps"]
        assert renewed["steps"][-1]["name"] == "more lemmas"
        assert renewed["raw_text"] != card["raw_text"]
        assert {**renewed, "steps": 0, "raw_text": 0} == {**card, "steps": 0, "raw_text": 0}
        again = (folder / "README.md").read_text()
        assert again.endswith("--device cpu\n$ again\n```\n")
        assert "| more lemmas " in again

    options = [str(folder), str(files["dev"]), "--device", "cpu"]
    assert final.main(options) == 0, capsys.readouterr().err
    assert "| in capitals " in capsys.readouterr().out
    assert (folder / "README.md").read_text() == again
    assert final.main([*options, "--store"]) == 0
    stored = json.loads((folder / "card.json").read_text())
    assert stored["test"]["gold_words"]["all"] == renewed["steps"][-1]["scores"]
    assert stored["test"]["raw_text"] == {"all": renewed["raw_text"]}
    assert {**stored, "test": None} == renewed
    text = (folder / "README.md").read_text()
    assert "On the 12 sentences" in text
    assert text.endswith("$ again\n```\n")
    assert "This was scored before" not in text

    options = [str(folder), "--dev", str(files["dev"]), "--train", str(files["dev"])]
    assert renew.main(options) == 0, capsys.readouterr().err
    assert "This was scored before" in (folder / "README.md").read_text()

    plot = tmp_path / "plot"
    options = [str(files["dev"]), "--model", str(folder), "--out", str(plot), "--device", "cpu"]
    assert reliability.main(options) == 0
    assert "expected calibration error 0." in capsys.readouterr().out
    assert plot.with_suffix(".svg").stat().st_size > 1000


def test_genres_are_told_by_ids() -> None:
    texts = [
        f"# sent_id = {name}\n1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
        for name in ("email-a-1", "weblog-1", "email-2")
    ]
    first, second, third = read_conllu(io.StringIO("".join(texts)))
    found = final.by_genre([first, second, third])
    assert found == {"email": [first, third], "weblog": [second]}
    assert final.by_genre([first, third]) == {}
    assert final.by_genre([first, second, Sentence(["Go"])]) == {}


def test_no_plot_without_matplotlib(
    files: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as where it is not installed
    options = ["--model", str(files["model"]), "--out", str(tmp_path / "plot"), "--device", "cpu"]
    assert reliability.main([str(files["dev"]), *options]) == 2
    assert capsys.readouterr().err == (
        "experiments.english.reliability: a plot needs matplotlib: "
        "pip install 'treecrf[experiments]'\n"
    )


def test_what_cannot_be_bundled_is_one_line(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(tmp_path), str(tmp_path / "en"), "--dev", str(files["dev"])]
    assert bundle.main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "en").exists()


def test_only_a_model_is_replaced(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, note = tmp_path / "en", tmp_path / "en" / "note.txt"
    folder.mkdir()
    note.touch()
    arguments = [str(files["model"]), str(folder), "--dev", str(files["dev"]), "--device", "cpu"]
    assert bundle.main(arguments) == 2
    assert capsys.readouterr().err == (
        f"experiments.english.bundle: {folder}: it is there and no model folder, so it is not "
        "replaced; name a folder that is not there yet, or delete it\n"
    )
    assert note.exists()
    (folder / "config.toml").touch()
    assert bundle.main([*arguments, "--stored", "half", "--precision", "float32"]) == 0
    assert not note.exists()
    assert (folder / "README.md").exists()
    assert treecrf.load(folder, device="cpu").parse("The dog slept.")
    assert list(tmp_path.iterdir()) == [folder]


def test_the_settings_of_the_english_model_are_settings() -> None:
    path = Path(__file__).parents[3] / "experiments" / "english" / "english.toml"
    config = load_config(path, {"transformer": "e5-small"})
    assert (config.language, config.encoder, config.spelling_size) == ("en", "transformer", 64)
