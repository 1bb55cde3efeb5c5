"""Tasks in threads: every index once, from many callers, after a fork, with exceptions."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.forking import assert_in_child
from treecrf.ops.numba.threads import INLINE_COST, balanced_split, run_in_threads
from treecrf.ops.projective import cpu

COSTLY = INLINE_COST * 10


pytestmark = pytest.mark.usefixtures("two_threads")


@given(st.lists(st.floats(0.0, 1e9), max_size=40), st.integers(1, 8))
def test_split_covers_every_index_once(costs: list[float], bins: int) -> None:
    parts = balanced_split(costs, bins)
    assert len(parts) <= bins
    assert sorted(index for part in parts for index in part.tolist()) == list(range(len(costs)))
    if costs:
        totals = [sum(costs[index] for index in part) for part in parts]
        assert max(totals) <= sum(costs) / bins + max(costs)
        assert all(len(part) > 0 for part in parts)


@pytest.mark.parametrize("costs", [[], [1.0] * 7, [COSTLY] * 7, [COSTLY]])
def test_every_index_runs_once(costs: list[float]) -> None:
    runs = np.zeros(len(costs), np.int64)
    run_in_threads(lambda indices: np.add.at(runs, indices, 1), costs)
    assert (runs == 1).all()


def test_costly_tasks_run_at_once() -> None:
    meeting = threading.Barrier(2, timeout=120)
    run_in_threads(lambda _: meeting.wait(), [COSTLY, COSTLY])


def test_cheap_tasks_stay_in_the_calling_thread() -> None:
    names = []
    run_in_threads(lambda _: names.append(threading.current_thread()), [1.0] * 5)
    assert names == [threading.current_thread()]


@pytest.mark.parametrize("guilty", [0, 1])
def test_exceptions_propagate_after_all_tasks_ended(guilty: int) -> None:
    ended = []

    def task(indices: np.ndarray) -> None:
        if guilty in indices:
            raise ValueError("a task failed")
        time.sleep(0.05)
        ended.extend(indices)

    meeting = threading.Barrier(2, timeout=120)

    def both_begun(indices: np.ndarray) -> None:
        meeting.wait()
        task(indices)

    with pytest.raises(ValueError, match="a task failed"):
        run_in_threads(both_begun, [COSTLY, COSTLY])
    assert ended == [1 - guilty]


def test_a_task_may_start_tasks() -> None:
    runs = np.zeros(4, np.int64)

    def outer(indices: np.ndarray) -> None:
        for index in indices:
            run_in_threads(lambda _, index=index: np.add.at(runs, index, 1), [COSTLY, COSTLY])

    run_in_threads(outer, [COSTLY] * 4)
    assert (runs == 2).all()


def batch(seed: int) -> tuple[tuple[Tensor], Tensor]:
    """Scores `[40, 31, 31]` and lengths; enough for several threads."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(20, 31, (40,), generator=generator)
    scores = torch.randn(40, 31, 31, dtype=torch.float64, generator=generator)
    token = torch.arange(31)
    inside = token <= lengths[:, None]
    usable = (inside & (token > 0))[:, :, None] & inside[:, None] & (token[:, None] != token)
    return (scores.masked_fill(~usable, float("-inf")),), lengths


def test_many_threads_get_the_serial_results() -> None:
    batches = [batch(seed) for seed in range(8)]
    torch.set_num_threads(1)
    serial = [cpu.marginals(*each, multiroot=False)[1] for each in batches]
    torch.set_num_threads(2)

    def repeated(seed: int) -> bool:
        results = [cpu.marginals(*batches[seed], multiroot=False)[1] for _ in range(10)]
        return all(torch.equal(result, serial[seed]) for result in results)

    with ThreadPoolExecutor(8) as callers:
        assert all(callers.map(repeated, range(8)))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_computes() -> None:
    scores, lengths = batch(0)
    expected, _ = cpu.marginals(scores, lengths, multiroot=False)
    assert torch.isfinite(expected).all()
    assert_in_child(
        lambda: torch.equal(cpu.marginals(scores, lengths, multiroot=False)[0], expected)
    )
