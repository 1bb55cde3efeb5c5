"""Calls side by side: each on one thread, in order, with the errors and settings of the caller."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch

from treecrf.ops import use_backend
from treecrf.ops.backend import backend_for
from treecrf.threads import (
    run_on_one_thread,
    run_side_by_side,
    run_sized,
    threads_for,
)


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_results_come_in_order_and_from_threads_of_one() -> None:
    found = list(run_side_by_side([lambda n=n: (n, torch.get_num_threads()) for n in range(20)]))
    assert found == [(n, 1) for n in range(20)]
    assert run_on_one_thread(torch.get_num_threads) == 1
    assert torch.get_num_threads() == 2


def test_products_on_one_thread_leave_the_others_alone() -> None:
    matrix = torch.ones(1000, 1000)

    def share() -> float:
        """CPU time of this process / that of this thread."""
        process, own = time.process_time(), time.thread_time()
        for _ in range(10):
            matrix @ matrix
        return (time.process_time() - process) / (time.thread_time() - own)

    assert run_on_one_thread(share) < 1.2


def test_two_run_at_once() -> None:
    together = threading.Barrier(2)
    list(run_side_by_side([partial(together.wait, 10)] * 2))


def test_a_single_call_has_one_thread_too() -> None:
    assert list(run_side_by_side([torch.get_num_threads])) == [1]


def test_large_operations_have_all_threads() -> None:
    assert run_sized(torch.get_num_threads, multiply_adds=1e9) == 2
    assert run_sized(torch.get_num_threads, multiply_adds=1e3) == 1


def test_gradients_are_as_they_are_for_the_caller() -> None:
    def modes() -> tuple[bool, bool]:
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    assert run_on_one_thread(modes) == (True, False)
    with torch.no_grad():
        assert run_on_one_thread(modes) == (False, False)
    with torch.inference_mode():
        assert run_on_one_thread(modes) == (False, True)


def test_a_block_of_small_operations_is_the_callers_alone() -> None:
    def elsewhere() -> int:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(torch.get_num_threads).result()

    with threads_for(1e3):
        assert (torch.get_num_threads(), elsewhere()) == (1, 2)
    assert (torch.get_num_threads(), elsewhere()) == (2, 2)
    with threads_for(1e9):
        assert torch.get_num_threads() == 2


def test_the_first_error_is_raised() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(run_side_by_side([fail, fail, fail]))
    assert run_on_one_thread(lambda: 3) == 3


def test_the_backend_is_the_callers() -> None:
    with use_backend("torch"):
        names = list(run_side_by_side([lambda: backend_for(torch.device("cpu"))] * 2))
    assert names == ["torch", "torch"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_forked_child_has_threads_of_its_own() -> None:
    code = (
        "import os, torch\n"
        "torch.set_num_threads(2)\n"
        "from treecrf.threads import run_on_one_thread\n"
        "assert run_on_one_thread(lambda: 1) == 1\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(run_on_one_thread(lambda: 7))\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
