"""Encoders that bring code of their own are refused, whatever standard input says."""

import json
import os
import pickle
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.cli.running import COMMAND, ENVIRONMENT, problem
from tests.parser.encoders import config_for, make_bert
from tests.parser.test_setup import set_up_in
from treecrf.parser.errors import ParserError
from treecrf.parser.network.pretrained import fetch, load_pretrained
from treecrf.parser.training.loop import train

pytest.importorskip("transformers")
pytest.importorskip("tokenizers")

REFUSED = "this encoder needs code of its own (auto_map in "


@pytest.fixture(scope="module")
def trained(roberta: Path, treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads with it."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    small = folder.parent / "small.conllu"
    text = (treebank / "dev.conllu").read_text().split("\n\n")[0]
    small.write_text(text + "\n\n")
    train(set_up_in(folder, small, config_for(roberta)), folder)
    return folder


def change(path: Path, changes: dict[str, Any]) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def own_config(folder: Path) -> None:
    maps = {"AutoConfig": "code.Mine", "AutoModel": "code.Mine"}
    change(folder / "config.json", {"model_type": "mine", "auto_map": maps})


def own_model(folder: Path) -> None:
    change(folder / "config.json", {"auto_map": {"AutoModel": "code.Mine"}})


def own_tokenizer(folder: Path) -> None:
    maps = {"AutoTokenizer": ["code.Mine", None]}
    change(folder / "tokenizer_config.json", {"tokenizer_class": "Mine", "auto_map": maps})


def own_part(folder: Path) -> None:
    part = {"model_type": "mine", "auto_map": {"AutoConfig": "code.Mine"}}
    change(folder / "config.json", {"parts": [{"text_config": part}]})


CODE = [own_config, own_model, own_tokenizer, own_part]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("attn_implementation", "someone/kernel"),
        ("_attn_implementation", {"": "someone/kernel"}),
        ("_attn_implementation_internal", "flash_attention_2"),
        ("experts_implementation", "someone/kernel@main:attend"),
        ("kernel_config", {"RMSNorm": "someone/kernel:Norm"}),
        ("use_kernels", True),
        ("quantization_config", {"quant_method": "mxfp4"}),
        ("configuration_files", ["config.4.0.0.json"]),
        ("backbone", "someone/model"),
        ("architecture", "hf-hub:someone/model"),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_settings_that_load_kernels_are_refused(
    setting: str, value: object, inside: bool, roberta: Path, tmp_path: Path
) -> None:
    """If the package `kernels` is installed, transformers would download and run them."""
    encoder = Path(shutil.copytree(roberta, tmp_path / "encoder"))
    changes = {setting: value}
    change(encoder / "config.json", {"parts": [{"text_config": changes}]} if inside else changes)
    for read in (load_pretrained, fetch):
        with pytest.raises(
            ParserError, match=rf"needs code of its own \({setting} in config.json\)"
        ):
            read(encoder if read is load_pretrained else str(encoder))


def test_an_adapter_is_refused(roberta: Path, tmp_path: Path) -> None:
    """It names another encoder; the package peft would also import modules that it names."""
    encoder = Path(shutil.copytree(roberta, tmp_path / "encoder"))
    adapter = {"peft_type": "LORA", "base_model_name_or_path": "someone/model"}
    (encoder / "adapter_config.json").write_text(json.dumps(adapter))
    for read in (load_pretrained, fetch):
        with pytest.raises(ParserError, match=r"\(peft_type in adapter_config.json\), which tree"):
            read(encoder if read is load_pretrained else str(encoder))


def test_no_family_of_encoders_loads_kernels(
    roberta: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.integrations import hub_kernels

    monkeypatch.setattr(hub_kernels, "is_kernels_available", lambda: True)
    load_pretrained(roberta)
    with pytest.raises(ImportError, match="kernels"):
        hub_kernels.get_kernel("someone/kernel")


class Touch:
    """Unpickled, it leaves a file behind."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


@pytest.mark.parametrize(
    "save", [torch.save, lambda item, path: path.write_bytes(pickle.dumps(item))]
)
def test_pickled_weights_run_no_code(
    save: Callable[[object, Path], object], roberta: Path, tmp_path: Path
) -> None:
    encoder = Path(shutil.copytree(roberta, tmp_path / "encoder"))
    (encoder / "model.safetensors").unlink()
    marker = tmp_path / "it-ran"
    save({"embeddings.word_embeddings.weight": Touch(marker)}, encoder / "pytorch_model.bin")
    with warnings.catch_warnings(action="ignore"), pytest.raises(ParserError, match=r"[Ww]eights"):
        fetch(str(encoder))
    assert not marker.exists()


@pytest.mark.parametrize("plain", [None, "eager", "sdpa"])
def test_plain_implementations_are_read(plain: str | None, roberta: Path, tmp_path: Path) -> None:
    encoder = Path(shutil.copytree(roberta, tmp_path / "encoder"))
    sizes = {"conv_kernel_size": 3, "conv_kernel": [3, 3], "use_kernels": False}
    change(encoder / "config.json", {"attn_implementation": plain, "auto_map": {}} | sizes)
    load_pretrained(encoder).make(dropout=0.0)
    fetch(str(encoder))


@pytest.mark.parametrize("stdin", ["y\ny\ny\n", "1\n"])
def test_tokenizers_in_subfolders_bring_no_code(stdin: str, trained: Path, tmp_path: Path) -> None:
    """RAG has two, which transformers loads without what it was told about code."""
    model = Path(shutil.copytree(trained, tmp_path / "model"))
    encoder = model / "encoder"
    parts = {"question_encoder": {"model_type": "vit"}, "generator": {"model_type": "vit"}}
    change(encoder / "config.json", {"model_type": "rag"} | parts)
    change(encoder / "tokenizer_config.json", {"tokenizer_class": "RagTokenizer"})
    marker = add_code(encoder, lambda _: None)
    for name in parts:
        inside = encoder / f"{name}_tokenizer"
        inside.mkdir()
        shutil.copy(encoder / "code.py", inside)
        (inside / "tokenizer_config.json").write_text("{}")
        own_tokenizer(inside)
    found = problem("parse", "-", "--model", model, "--input", "tokens", stdin=stdin)
    assert found.startswith(f"{encoder}: not an encoder that can be read: Loading this model requ")
    assert not marker.exists()


def add_code(folder: Path, how: Callable[[Path], None]) -> Path:
    """Code that leaves a file behind when it runs, and what makes transformers run it."""
    marker = folder / "it-ran"
    (folder / "code.py").write_text(
        f"open({str(marker)!r}, 'w').close()\n"
        "from transformers import RobertaConfig\n"
        "class Mine(RobertaConfig):\n    model_type = 'mine'\n"
    )
    how(folder)
    return marker


@pytest.mark.parametrize("how", CODE)
def test_a_model_that_brings_code_does_not_parse(
    how: Callable[[Path], None], trained: Path, tmp_path: Path
) -> None:
    model = Path(shutil.copytree(trained, tmp_path / "model"))
    marker = add_code(model / "encoder", how)
    found = problem("parse", "-", "--model", model, "--input", "tokens", stdin="y\ny\ny\n")
    assert found.startswith(f"{model / 'encoder'}: {REFUSED}")
    assert not marker.exists()


@pytest.mark.parametrize("how", CODE)
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_an_encoder_that_brings_code_is_not_trained(
    kind: str, how: Callable[[Path], None], treebank: Path, roberta: Path, tmp_path: Path
) -> None:
    encoder = tmp_path / "encoder"
    make_bert(encoder) if kind == "bert" else shutil.copytree(roberta, encoder)
    marker = add_code(encoder, how)
    data = ("--train", treebank / "dev.conllu", "--dev", treebank / "dev.conllu")
    settings = ("--set", "encoder=transformer", "--set", f"transformer={encoder}")
    options = ("--config", "tiny", "--out", tmp_path / "model")
    found = problem("train", *data, *settings, *options, stdin="y\ny\ny\n")
    assert found.startswith(f"{encoder}: {REFUSED}")
    assert not marker.exists()
    assert not (tmp_path / "model").exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", [own_config, own_tokenizer])
def test_an_encoder_by_name_that_brings_code_is_not_trained(
    how: Callable[[Path], None], treebank: Path, roberta: Path, tmp_path: Path
) -> None:
    """As the cache of Hugging Face has it, without the network."""
    kept = tmp_path / "hub" / "models--someone--mine"
    snapshot = kept / "snapshots" / "0123456789abcdef0123456789abcdef01234567"
    shutil.copytree(roberta, snapshot)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(snapshot.name)
    marker = add_code(snapshot, how)
    data = ["--train", str(treebank / "dev.conllu"), "--dev", str(treebank / "dev.conllu")]
    settings = ["--set", "encoder=transformer", "--set", "transformer=someone/mine"]
    run = subprocess.run(
        [*COMMAND, "train", *data, *settings, "--config", "tiny", "--out", str(tmp_path / "model")],
        env=ENVIRONMENT | {"HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"},
        input="y\ny\ny\n",
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2, run.stderr
    assert run.stderr.startswith(f"someone/mine: {REFUSED}")
    assert run.stderr.count("\n") == 1
    assert not marker.exists()
    assert os.listdir(tmp_path) == ["hub"]
