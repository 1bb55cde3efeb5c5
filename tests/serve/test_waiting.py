"""Who comes next: nobody waits for ever, and small jobs wait for no large one to end."""

import asyncio
from collections.abc import Callable

import pytest

from treecrf.parser.decoding.sentences import Analysis
from treecrf.serve.queue.jobs import Job, Task
from treecrf.serve.queue.order import WaitingJobs
from treecrf.treebank import Sentence

BATCH, LONGEST = 500, 48_000


def in_a_loop(test: Callable[[], None]) -> None:
    """Jobs belong to a running loop."""

    async def main() -> None:
        test()

    asyncio.run(main())


def job(cost: int) -> Job:
    def render(task: Task, outcome: Analysis) -> str:
        raise NotImplementedError

    made = Job(sentences=[Sentence(["a"])], plan=lambda cut: [], render=render)
    made.cost = cost
    return made


def waiting_jobs() -> WaitingJobs:
    return WaitingJobs(batch=BATCH, longest=LONGEST, next_cost=lambda job: min(job.cost, 100))


def work_until(waiting: WaitingJobs, wanted: Job, *, arriving: Callable[[], Job | None]) -> int:
    """What all work costs until a job is done, with others that come before each batch."""
    done = 0
    while wanted.cost:
        if new := arriving():
            waiting.add(new)
        taken = waiting.take()
        room = BATCH
        for each in taken:
            part = min(room, each.cost)
            each.cost -= part
            room -= part
        done += BATCH - room
        waiting.count(BATCH - room)
        waiting.put_back([each for each in taken if each.cost])
    return done


@pytest.mark.parametrize("large", [1, 3])
def test_a_small_job_waits_for_no_large_one_to_end(large: int) -> None:
    """Though they have waited so long that they are due."""

    def test() -> None:
        waiting = waiting_jobs()
        for _ in range(large):
            waiting.add(job(400_000))
        first = job(2 * LONGEST)
        waiting.add(first)
        work_until(waiting, first, arriving=lambda: None)
        small = job(20)
        waiting.add(small)
        assert work_until(waiting, small, arriving=lambda: None) <= LONGEST // 3

    in_a_loop(test)


def test_a_small_job_comes_after_a_batch_of_a_large_one() -> None:
    def test() -> None:
        waiting = waiting_jobs()
        large, small = job(400_000), job(20)
        waiting.add(large)
        for _ in range(200):
            work_until(waiting, once := job(BATCH), arriving=iter([once, *[None] * 999]).__next__)
        waiting.add(small)
        assert work_until(waiting, small, arriving=lambda: None) <= 2 * BATCH

    in_a_loop(test)


def test_a_large_job_ends_though_small_ones_keep_coming() -> None:
    def test() -> None:
        waiting = waiting_jobs()
        large = job(10_000)
        waiting.add(large)
        cost = work_until(waiting, large, arriving=lambda: job(BATCH // 2))
        assert cost <= LONGEST + 3 * 10_000

    in_a_loop(test)
