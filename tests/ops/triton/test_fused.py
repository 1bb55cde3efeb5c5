"""Shapes and teams of programs in Triton's interpreter, and what the kernels can do without."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.struct.problems import random_problem
from treecrf.ops import use_backend
from treecrf.ops.triton import fused
from treecrf.ops.triton.shapes import WorkShape, use_shape, work_shape

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.skipif(not fused.INTERPRETED, reason="on a GPU the shape of the work makes the teams")
@pytest.mark.parametrize("multiroot", [False, True])
@pytest.mark.parametrize("family", ["first_order", "second_order"])
def test_a_team_does_what_one_program_does(family: str, multiroot: bool) -> None:
    """Two programs share tiles that are smaller than the sentences."""
    shape = WorkShape(team=2, block_positions=2, block_splits=4, warps=1)
    problem = random_problem(family, [9, 4, 0], multiroot=multiroot, forbidden=0.1)
    with use_backend("torch"):
        expected = problem.distribution()
        values = [expected.log_partition, expected.marginals, expected.max]
    with use_backend("triton"), use_shape(shape):
        crf = problem.distribution()
        found = [crf.log_partition, crf.marginals, crf.max]
    torch.testing.assert_close(found, values, rtol=0, atol=1e-9)


def test_a_shape_chosen_by_hand_holds_in_its_block() -> None:
    shape = WorkShape(team=4, block_positions=2, block_splits=4, warps=1)
    device = torch.device("cpu")
    usual = work_shape(1, 100, device)
    with use_shape(shape):
        assert work_shape(1, 100, device) == shape
    assert work_shape(1, 100, device) == usual != shape


def test_cuda_modules_need_no_numba() -> None:
    """On a GPU machine without it only the host's part of the work moves to torch."""
    program = (
        "import sys; sys.modules['numba'] = None\n"
        "from treecrf.ops.masking import cuda\n"
        "from treecrf.ops.projective import cuda\n"
        "from treecrf.ops.nonprojective import cuda\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
