"""Requests are parsed together, in a bounded queue, and without those who have gone."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from tests.serve.batching import WORDS, Watched, batches, job, never, run, submitted
from treecrf.parser import Parser
from treecrf.parser.constraints import Constraints
from treecrf.segment.errors import SegmentError
from treecrf.serve.errors import ServeError
from treecrf.serve.queue.engine import Engine
from treecrf.serve.queue.jobs import Task
from treecrf.serve.queue.scheduler import Batcher
from treecrf.treebank import Sentence

IMPOSSIBLE = Constraints(heads={1: 2, 2: 1})


class Choking(Engine):
    """A model that cannot cut some texts."""

    def segment(self, texts: Sequence[str]) -> list[list[Sentence]]:
        if "bone" in texts:
            raise SegmentError("that stuck")
        return super().segment(texts)


def test_what_waits_is_one_batch(parser: Parser) -> None:
    expected = " ".join(map(str, parser.parse_tokens([WORDS])[0].heads))

    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job() for _ in range(20)])
        await asyncio.sleep(0)
        assert batcher.queued_words == 100
        batcher.start()
        assert await asyncio.gather(*waiting) == [[expected]] * 20

    batcher = run(parser, test)
    assert batches(batcher) == 1
    assert batcher.queued_words == 0


def test_texts_of_many_requests_are_told_apart(parser: Parser) -> None:
    texts = ["Anna slept. It rained.", "The dog saw the garden.", "Anna slept."]

    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job(text=text) for text in texts])
        await asyncio.sleep(0)
        batcher.start()
        found = await asyncio.gather(*waiting)
        assert found == [
            [" ".join(map(str, s.heads)) for s in parser.parse(text)] for text in texts
        ]

    assert batches(run(parser, test)) == 1


def test_past_its_bound_the_queue_refuses_at_once(parser: Parser) -> None:
    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job(10), job(10)])
        await asyncio.sleep(0)
        with pytest.raises(ServeError, match="100 words waiting, and no more fit") as refusal:
            await batcher.submit(job(), never)
        assert refusal.value.status_code == 503
        assert refusal.value.headers == {"Retry-After": "1"}
        batcher.start()
        await asyncio.gather(*waiting)
        assert len(await batcher.submit(job(), never)) == 1  # as soon as there is room again

    run(parser, test, queue=104)


def test_what_is_impossible_fails_alone(parser: Parser) -> None:
    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job(), job(2, constraints=IMPOSSIBLE), job()])
        await asyncio.sleep(0)
        batcher.start()
        first, impossible, last = await asyncio.gather(*waiting, return_exceptions=True)
        assert first == last
        assert isinstance(impossible, ServeError)
        assert impossible.status_code == 422
        assert "no tree has the heads that are to be kept" in impossible.detail
        assert len(await batcher.submit(job(), never)) == 1  # the thread lives on

    assert run(parser, test).queued_words == 0


def test_a_text_that_cannot_be_cut_fails_alone(parser: Parser) -> None:
    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job(text="It rained."), job(text="bone"), job()])
        await asyncio.sleep(0)
        batcher.start()
        first, broken, last = await asyncio.gather(*waiting, return_exceptions=True)
        assert [len(found) for found in (first, last) if isinstance(found, list)] == [1, 1]
        assert isinstance(broken, ServeError)
        assert (broken.status_code, broken.detail) == (422, "that stuck")

    assert run(Choking(parser), test).queued_words == 0


def test_who_has_gone_is_not_worked_for(parser: Parser) -> None:
    async def test(batcher: Batcher) -> None:
        gone = asyncio.Event()

        async def leave() -> None:
            await gone.wait()

        leaving = asyncio.create_task(batcher.submit(job(10), leave))
        staying = asyncio.create_task(batcher.submit(job(), never))
        await asyncio.sleep(0)
        assert batcher.queued_words == 55
        gone.set()
        with pytest.raises(ServeError, match="the client has gone"):
            await leaving
        assert batcher.queued_words == 5
        batcher.start()
        assert len(await staying) == 1

    lines = run(parser, test).metrics.text({})
    assert 'treecrf_batch_words_sum{model="m"} 5' in lines


def test_who_leaves_halfway_is_dropped(parser: Parser) -> None:
    async def test(batcher: Batcher) -> None:
        leaving = asyncio.create_task(batcher.submit(job(2_000), never))
        await asyncio.sleep(0)
        batcher.start()
        while batcher.queued_words == 10_000:  # until the first batch is done
            await asyncio.sleep(0.001)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        while batcher.queued_words:
            await asyncio.sleep(0.01)

    batcher = run(parser, test, queue=20_000)
    done = float(batcher.metrics.text({}).partition("treecrf_batch_words_sum{")[2].split()[1])
    assert done < 10_000


def test_closing_finishes_what_waits_and_takes_no_more(parser: Parser) -> None:
    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job(30), job(5)])
        await asyncio.sleep(0)
        batcher.start()
        await asyncio.to_thread(batcher.close)
        assert [len(found) for found in await asyncio.gather(*waiting)] == [30, 5]
        with pytest.raises(ServeError, match="shutting down"):
            await batcher.submit(job(), never)

    run(parser, test)


def test_retry_after_is_right_from_the_first_batch_on(parser: Parser) -> None:
    engine = Watched(parser, seconds=0.05)
    Engine(parser).parse([Task(Sentence(WORDS), details=True)] * 20)  # kernels are compiled
    waits: list[str] = []

    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job(400), job(400)])
        await asyncio.sleep(0)
        batcher.start()
        while batcher.queued_words == 4_000:
            await asyncio.sleep(0.001)
        with pytest.raises(ServeError) as refusal:
            await batcher.submit(job(400), never)
        waits.append(refusal.value.headers["Retry-After"])
        started = time.monotonic()
        await asyncio.gather(*waiting)
        waits.append(str(time.monotonic() - started))

    run(engine, test, queue=4_000)
    said, taken = map(float, waits)
    assert said <= 2 * taken + 1


def test_words_that_text_turns_out_to_have_count(wordy: Parser) -> None:
    engine = Watched(wordy, pause_at=1)

    async def test(batcher: Batcher) -> None:
        *others, last = submitted(batcher, [job(text="a b c d e\n" * 24) for _ in range(3)])
        await asyncio.sleep(0)
        assert batcher.queued_words == 183  # a word for four characters
        batcher.start()
        with pytest.raises(ServeError, match="and no more fit") as refusal:
            await last
        assert batcher.queued_words == 240
        engine.goes_on.set()
        assert [len(found) for found in await asyncio.gather(*others)] == [24, 24]
        assert refusal.value.status_code == 503

    assert run(engine, test, queue=310, batch=400).queued_words == 0
