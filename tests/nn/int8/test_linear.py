"""Products of bytes: near to those of floats, the same for a row whatever is beside it."""

import os
import subprocess
import sys

import pytest
import torch
from torch import nn

from treecrf.nn.int8.linear import ByteLinear, ByteProduct, has_byte_products


@pytest.fixture
def linear() -> nn.Linear:
    torch.manual_seed(1)
    return nn.Linear(96, 40)


@torch.inference_mode()
def test_outputs_are_near(linear: nn.Linear) -> None:
    inputs = torch.randn(3, 7, 96) * torch.tensor([0.01, 1, 100])[:, None, None]
    exact, found = linear(inputs), ByteLinear(linear)(inputs)
    assert found.shape == exact.shape
    for row, expected in zip(found, exact, strict=True):
        assert (row - expected).norm() < 0.02 * expected.norm()


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 2), (7, 64, 65), (200, 130, 101)])
def test_whole_numbers_are_exact(shape: tuple[int, int, int]) -> None:
    rows, inputs, outputs = shape
    generator = torch.Generator().manual_seed(1)
    left = torch.randint(-127, 128, (rows, inputs), generator=generator).float()
    weight = torch.randint(-127, 128, (outputs, inputs), generator=generator).float()
    left[:, 0], weight[:, 0] = 127, -127  # so that scales are 1
    bias = torch.arange(outputs).float()
    found = ByteProduct(weight, bias)(left)
    assert torch.equal(found, (left.double() @ weight.double().T + bias).float())


def test_zeros_stay_zeros() -> None:
    weight = torch.tensor([[127.0, -5, 0, 9], [0.0, 0, 0, 0]])
    inputs = torch.tensor([[0.0, 0, 0, 0], [127, 3, -4, 100]])
    assert ByteProduct(weight)(inputs).tolist() == [[0, 0], [127 * 127 - 15 + 900, 0]]


@torch.inference_mode()
def test_a_row_does_not_depend_on_others(linear: nn.Linear) -> None:
    layer = ByteLinear(linear)
    inputs = torch.randn(500, 96)
    whole = layer(inputs)
    for row in (0, 31, 499):
        assert torch.equal(layer(inputs[row : row + 1])[0], whole[row])


def test_threads_change_nothing(linear: nn.Linear) -> None:
    layer, inputs = ByteLinear(linear), torch.randn(3000, 96)
    threads = torch.get_num_threads()
    try:
        found = []
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(layer(inputs))
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(*found)


@pytest.mark.usefixtures("without_vnni")
def test_a_cpu_without_them_has_none() -> None:
    assert not has_byte_products()


@pytest.mark.slow
def test_code_for_any_cpu_gives_the_same() -> None:
    program = (
        "import torch\n"
        "from treecrf.nn.int8.linear import ByteProduct, has_byte_products\n"
        "assert not has_byte_products()\n"
        "numbers = torch.arange(70 * 30).remainder(255).sub(127).float().view(70, 30)\n"
        "numbers[:, 0] = 127\n"
        "assert torch.equal(ByteProduct(numbers)(numbers[:8]), numbers[:8] @ numbers.T)\n"
    )
    environment = os.environ | {"NUMBA_CPU_NAME": "generic"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
