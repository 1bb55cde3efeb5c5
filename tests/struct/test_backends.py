"""The choice of a backend: by hand, by device, and what happens where one cannot run."""

import importlib.util
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch

from tests.struct.problems import FAMILIES, Problem, random_problem
from treecrf.ops import BackendError, use_backend
from treecrf.ops.backend import backend_for

CPU = torch.device("cpu")


def hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Make a package look as if it were not installed."""
    find_spec = importlib.util.find_spec

    def without(name: str, parent: str | None = None) -> ModuleSpec | None:
        return None if name == package else find_spec(name, parent)

    monkeypatch.setattr(importlib.util, "find_spec", without)


def run_without_interpreter(code: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in os.environ if name != "TRITON_INTERPRET"}
    environment |= settings
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )


def test_triton_needs_a_gpu_or_its_interpreter() -> None:
    code = """
import torch
from treecrf.ops import BackendError, use_backend
from treecrf.struct import ProjectiveTreeCRF

crf = ProjectiveTreeCRF(torch.zeros(1, 3, 3), torch.tensor([2]))
try:
    with use_backend("triton"):
        crf.log_partition
except BackendError as error:
    print(error)
print(crf.log_partition.exp().round().item())
"""
    finished = run_without_interpreter(code)
    assert finished.returncode == 0, finished.stderr
    message, trees = finished.stdout.splitlines()
    assert "triton" in message
    assert "CUDA" in message
    assert "'numba' or 'torch'" in message
    assert trees == "2.0"


def test_fast_backends_load_on_first_use() -> None:
    """Importing the layer must not wait for numba or triton."""
    finished = run_without_interpreter(
        "import sys, treecrf.struct; print({'numba', 'triton'} & {n for n in sys.modules})"
    )
    assert finished.stdout.strip() == "set()", finished.stderr


def test_unknown_backend() -> None:
    with (
        pytest.raises(BackendError, match="unknown backend 'jax': choose one of 'torch', 'numba'"),
        use_backend("jax"),  # type: ignore[arg-type]
    ):
        pytest.fail("the block must not run")


def test_chosen_backend_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "numba")
    crf = random_problem("first_order", [3]).distribution()
    with use_backend("numba"):
        for ask in (lambda: crf.log_partition, lambda: crf.argmax, lambda: crf.sample(1)):
            with pytest.raises(BackendError, match="numba is not installed"):
                ask()


def test_a_triton_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    device = torch.device("cuda")
    hide(monkeypatch, "triton.knobs")
    assert backend_for(device) == "torch"
    with use_backend("triton"), pytest.raises(BackendError, match=r"older than 3\.4 \(pip install"):
        backend_for(device)


def test_default_is_the_fast_backend_of_the_device() -> None:
    assert backend_for(CPU) == "numba"
    assert backend_for(torch.device("cuda")) == "triton"


def test_numba_does_not_compute_on_a_gpu() -> None:
    with use_backend("numba"), pytest.raises(BackendError, match=r"on cuda.*use 'triton'"):
        backend_for(torch.device("cuda"))


@pytest.mark.parametrize("family", FAMILIES)
def test_default_quietly_takes_the_next_best(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(family, [5, 3], forbidden=0.1)
    fast = problem.distribution().marginals
    hide(monkeypatch, "numba")
    assert backend_for(CPU) == "torch"
    with use_backend("torch"):
        expected = problem.distribution().marginals
    crf = problem.distribution()
    assert torch.equal(crf.marginals, expected)
    assert crf.argmax.shape == (2, 6)
    torch.testing.assert_close(crf.marginals, fast)


ANSWERS = """
import torch
from treecrf.struct import NonProjectiveTreeCRF, ProjectiveTreeCRF, SiblingTreeCRF

arcs, lengths = torch.zeros(1, 3, 3), torch.tensor([2])
for crf in (
    ProjectiveTreeCRF(arcs, lengths),
    SiblingTreeCRF(arcs, torch.zeros(1, 3, 3, 3), lengths),
    NonProjectiveTreeCRF(arcs, lengths),
):
    print(crf.log_partition.exp().round().item(), crf.argmax.tolist(), crf.sample(2).shape)
"""


@pytest.mark.parametrize(
    ("obstruction", "reason"),
    [
        ("import sys; sys.modules['llvmlite'] = None", "llvmlite"),  # Numba cannot be imported
        ("import llvmlite.ir; llvmlite.ir.IRBuilder.gep = None", "NoneType"),  # nor can it compile
    ],
)
def test_a_backend_that_does_not_work_says_so_once(
    obstruction: str, reason: str, tmp_path: Path
) -> None:
    # Kernels on disk would be used without being compiled.
    finished = run_without_interpreter(f"{obstruction}\n{ANSWERS}", NUMBA_CACHE_DIR=str(tmp_path))
    assert finished.returncode == 0, finished.stderr
    answers = finished.stdout.splitlines()
    assert [answer.split()[0] for answer in answers] == ["2.0"] * 3
    assert "Traceback" not in finished.stderr
    (line,) = [line for line in finished.stderr.splitlines() if "does not work here" in line]
    assert line.startswith("numba does not work here, so torch computes, slowly: ")
    assert reason in line


def test_a_chosen_backend_that_does_not_work_is_an_error() -> None:
    code = """
import sys
sys.modules["llvmlite"] = None
import torch
from treecrf.ops import BackendError, use_backend
from treecrf.ops.backend import backend_for

try:
    with use_backend("numba"):
        backend_for(torch.device("cpu"))
except BackendError as error:
    print(error)
"""
    finished = run_without_interpreter(code)
    assert finished.stdout.startswith("the numba backend cannot be used here: "), finished.stderr
    assert "llvmlite" in finished.stdout


def test_choices_nest() -> None:
    with use_backend("torch"):
        assert backend_for(CPU) == "torch"
        with use_backend("numba"):
            assert backend_for(CPU) == "numba"
        assert backend_for(CPU) == "torch"
        with pytest.raises(KeyError), use_backend("numba"):
            raise KeyError
        assert backend_for(CPU) == "torch"
    assert backend_for(CPU) == "numba"


def test_choice_is_of_one_thread() -> None:
    seen = {}
    inside, done = threading.Event(), threading.Event()

    def choose() -> None:
        with use_backend("torch"):
            inside.set()
            assert done.wait(10)
            seen["chooser"] = backend_for(CPU)

    thread = threading.Thread(target=choose)
    thread.start()
    assert inside.wait(10)
    seen["bystander"] = backend_for(CPU)
    done.set()
    thread.join()
    assert seen == {"chooser": "torch", "bystander": "numba"}


@pytest.mark.parametrize("family", FAMILIES)
def test_many_threads_compute_at_once(family: str) -> None:
    problems = [random_problem(family, [25, 10, 3], seed=seed) for seed in range(8)]

    def answer(problem: Problem) -> tuple[torch.Tensor, torch.Tensor]:
        crf = problem.distribution()
        return crf.marginals, crf.argmax

    expected = [answer(problem) for problem in problems]
    with ThreadPoolExecutor(max_workers=8) as pool:
        torch.testing.assert_close(list(pool.map(answer, problems)), expected, rtol=0, atol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_backward_works_under_another_backend(family: str) -> None:
    """The gradient is there whichever backend is in force when it is asked for."""
    problem = random_problem(family, [4, 2]).with_gradients()
    with use_backend("numba"):
        crf = problem.distribution()
        log_partition = crf.log_partition
    with use_backend("torch"):
        log_partition.sum().backward()
    with use_backend("torch"), torch.no_grad():
        expected = problem.distribution().marginals
    torch.testing.assert_close(problem.arc_scores.grad, expected)
