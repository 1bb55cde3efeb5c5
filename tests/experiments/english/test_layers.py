"""Encoders with fewer layers."""

from pathlib import Path

import torch
from safetensors.torch import load_file

from experiments.english.layers import main
from tests.parser.encoders import make_bert


def test_layers_are_kept_at_even_distances(tmp_path: Path) -> None:
    whole, small = make_bert(tmp_path / "whole", num_hidden_layers=5), tmp_path / "small"
    assert main([str(whole), str(small), "--layers", "3"]) == 0
    old, new = load_file(whole / "model.safetensors"), load_file(small / "model.safetensors")
    names = [name for name in old if "encoder.layer.0." in name]
    assert names
    for place, number in enumerate((0, 2, 4)):
        for name in names:
            was = old[name.replace("layer.0.", f"layer.{number}.")]
            assert torch.equal(new[name.replace("layer.0.", f"layer.{place}.")], was)
    assert not any("encoder.layer.3." in name for name in new)


def test_more_layers_than_there_are_is_an_error(tmp_path: Path) -> None:
    whole = make_bert(tmp_path / "whole", num_hidden_layers=2)
    assert main([str(whole), str(tmp_path / "small"), "--layers", "3"]) == 2
