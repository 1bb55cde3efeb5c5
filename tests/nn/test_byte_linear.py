"""Products of bytes: near to those of floats, the same for a row whatever is beside it."""

import pytest
import torch
from torch import nn

from treecrf.nn.byte_linear import ByteLinear, has_byte_products, use_byte_products

has_them = pytest.mark.skipif(
    not has_byte_products(), reason="this CPU has no VNNI, without which sums of bytes may be wrong"
)


@pytest.fixture
def linear() -> nn.Linear:
    torch.manual_seed(1)
    return nn.Linear(96, 40)


@has_them
@torch.inference_mode()
def test_outputs_are_near(linear: nn.Linear) -> None:
    inputs = torch.randn(3, 7, 96) * torch.tensor([0.01, 1, 100])[:, None, None]
    exact, found = linear(inputs), ByteLinear(linear)(inputs)
    assert found.shape == exact.shape
    for row, expected in zip(found, exact, strict=True):
        assert (row - expected).norm() < 0.02 * expected.norm()


@has_them
@torch.inference_mode()
def test_whole_numbers_are_exact() -> None:
    linear = nn.Linear(4, 2, bias=False)
    linear.weight.copy_(torch.tensor([[127.0, -5, 0, 9], [0.0, 0, 0, 0]]))
    inputs = torch.tensor([[0.0, 0, 0, 0], [127, 3, -4, 100]])
    assert ByteLinear(linear)(inputs).tolist() == [[0, 0], [127 * 127 - 15 + 900, 0]]


@has_them
@torch.inference_mode()
def test_a_row_does_not_depend_on_others(linear: nn.Linear) -> None:
    layer = ByteLinear(linear)
    inputs = torch.randn(50, 96)
    whole = layer(inputs)
    for row in (0, 31, 49):
        assert torch.equal(layer(inputs[row : row + 1])[0], whole[row])


@torch.inference_mode()
def test_every_linear_layer_within_a_module_is_replaced() -> None:
    module = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.ReLU(), nn.Linear(8, 3)))
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    use_byte_products(module)
    assert [type(layer) for layer in (module[0], module[1][1])] == [ByteLinear, ByteLinear]
    after = module.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


@pytest.mark.usefixtures("without_vnni")
def test_a_cpu_without_them_has_none() -> None:
    assert not has_byte_products()


@pytest.mark.usefixtures("without_vnni")
def test_a_torch_that_does_not_tell_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "_is_vnni_supported")
    assert not has_byte_products()
