"""Weights in fewer bits, and back."""

import pytest
import torch

from experiments.english.compact import shards
from treecrf.nn.compact import compacted, restored
from treecrf.nn.int8.linear import byte_weights
from treecrf.storage import StorageError

RANDOM = torch.Generator().manual_seed(0)
TENSORS = {
    "bias": torch.randn(7, generator=RANDOM),
    "matrix": torch.randn(64, 80, generator=RANDOM) * torch.logspace(-3, 3, 64)[:, None],
    "form": torch.randn(5, 33, 40, generator=RANDOM),
    "zeros": torch.zeros(64, 64),
    "numbers": torch.arange(3),
}


@pytest.mark.parametrize(
    ("stored", "error"), [("float32", 0.0), ("float16", 0.0006), ("int8", 0.02)]
)
def test_what_comes_back_is_near(stored: str, error: float) -> None:
    again = restored(compacted(TENSORS, stored))  # type: ignore[arg-type]
    assert list(again) == list(TENSORS)
    for name, tensor in TENSORS.items():
        assert again[name].dtype == tensor.dtype
        for row, expected in zip(again[name], tensor, strict=True):
            assert (row - expected).float().norm() <= error * expected.float().norm()


def test_bytes_are_stored_as_bytes() -> None:
    compact = compacted(TENSORS, "int8")
    assert compact["matrix"].dtype == compact["form"].dtype == torch.int8
    assert compact["bias"].dtype == torch.float16
    assert compact["matrix scale"].shape == (64,)


def test_bytes_that_are_stored_are_those_that_are_multiplied() -> None:
    linear = torch.nn.Linear(80, 64)
    with torch.no_grad():
        linear.weight.copy_(TENSORS["matrix"])
    compact = compacted(linear.state_dict(), "int8")
    linear.load_state_dict(restored(compact))
    tiles = torch.from_numpy(byte_weights(linear.weight)[0]).view(20, 64, 4)
    assert torch.equal(tiles.transpose(0, 1).flatten(1), compact["weight"])


def test_bytes_without_scales_are_damaged() -> None:
    compact = compacted(TENSORS, "int8")
    del compact["form scale"]
    with pytest.raises(StorageError, match="form has no scale"):
        restored(compact)


def test_parts_have_everything_once() -> None:
    parts = list(shards(TENSORS, most=20_000))
    assert [name for part in parts for name in part] == list(TENSORS)
    assert len(parts) == 4
