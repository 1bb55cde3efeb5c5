"""Requests are parsed together, fairly, in a bounded queue, and without those who have gone."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence

import pytest

from treecrf.parser import Parser
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.sentences import Analysis
from treecrf.segment.errors import SegmentError
from treecrf.serve.errors import ServeError
from treecrf.serve.metrics import Metrics
from treecrf.serve.queue.engine import Engine
from treecrf.serve.queue.jobs import Job, Pieces, Task
from treecrf.serve.queue.scheduler import Batcher
from treecrf.treebank import Sentence

WORDS = ["Anna", "saw", "the", "garden", "."]
IMPOSSIBLE = Constraints(heads={1: 2, 2: 1})

Test = Callable[[Batcher], Awaitable[None]]


class Choking(Engine):
    """A model that cannot cut some texts."""

    def segment(self, texts: Sequence[str]) -> list[list[Sentence]]:
        if "bone" in texts:
            raise SegmentError("that stuck")
        return super().segment(texts)


class Watched(Engine):
    """A model that notes what it parses at once, takes so long at least, and may pause."""

    def __init__(self, parser: Parser, *, seconds: float = 0.0, pause_at: int = 0) -> None:
        super().__init__(parser)
        self.seconds = seconds
        self.pause_at = pause_at  # a batch, the first being 1
        self.batches: list[list[Task]] = []
        self.goes_on = threading.Event()

    def parse(self, tasks: Sequence[Task]) -> list[Analysis]:
        self.batches.append(list(tasks))
        if len(self.batches) == self.pause_at:
            assert self.goes_on.wait(300)
        time.sleep(self.seconds)
        return super().parse(tasks)


def run(parser: Parser | Engine, test: Test, *, queue: int = 1000, batch: int = 100) -> Batcher:
    """A test with a model that does nothing until the test starts it."""
    engine = parser if isinstance(parser, Engine) else Engine(parser)
    batcher = Batcher("m", engine, metrics=Metrics(), queue_words=queue, batch_words=batch)

    async def main() -> None:
        try:
            await asyncio.wait_for(test(batcher), 60)
        finally:
            await asyncio.to_thread(batcher.close)

    asyncio.run(main())
    return batcher


def job(
    count: int = 1,
    *,
    constraints: Constraints | None = None,
    text: str = "",
    times: int = 1,
    topk: int = 0,
) -> Job:
    """So many sentences of five words, or of as many times five."""

    def plan(cut: list[list[Sentence]]) -> list[Task]:
        sentences = [sentence for piece in cut for sentence in piece]
        return [Task(s, constraints or Constraints(), details=True, topk=topk) for s in sentences]

    def render(task: Task, outcome: Analysis) -> str:
        return " ".join(map(str, outcome.sentence.heads))

    sentences = [] if text else [Sentence(WORDS * times) for _ in range(count)]
    texts = [text] if text else []
    return Job(texts=texts, sentences=sentences, plan=plan, render=render, topk=topk)


async def never() -> None:
    await asyncio.Event().wait()


def submitted(batcher: Batcher, jobs: Sequence[Job]) -> list[asyncio.Task[list[str]]]:
    return [asyncio.create_task(batcher.submit(each, never)) for each in jobs]


def batches(batcher: Batcher) -> int:
    lines = batcher.metrics.text({}).splitlines()
    return int(next(n.split()[1] for n in lines if n.startswith("treecrf_batch_words_count")))


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


def test_small_requests_pass_a_large_one_by(parser: Parser) -> None:
    order: list[str] = []

    async def test(batcher: Batcher) -> None:
        jobs = {"large": job(100), "small": job(), "other": job(2)}
        waiting = submitted(batcher, list(jobs.values()))
        for name, task in zip(jobs, waiting, strict=True):
            task.add_done_callback(lambda _, name=name: order.append(name))
        await asyncio.sleep(0)
        batcher.start()
        assert [len(found) for found in await asyncio.gather(*waiting)] == [100, 1, 2]

    batcher = run(parser, test)
    assert order == ["small", "other", "large"]
    assert batches(batcher) > 1


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


def test_small_requests_do_not_wait_for_large_ones(parser: Parser) -> None:
    order: list[int] = []

    async def test(batcher: Batcher) -> None:
        jobs = [*(job(20) for _ in range(20)), job()]
        waiting = submitted(batcher, jobs)
        for number, task in enumerate(waiting):
            task.add_done_callback(lambda _, number=number: order.append(number))
        await asyncio.sleep(0)
        batcher.start()
        await asyncio.gather(*waiting)

    run(parser, test, queue=3_000)
    assert order[0] == 20  # the small one, though it came last
    assert sorted(order[1:5]) == [0, 1, 2, 3]  # those that were begun first are done first


def test_small_requests_pass_a_full_queue_that_has_waited(parser: Parser) -> None:
    order: list[int] = []
    engine = Watched(parser, pause_at=15)

    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job(20) for _ in range(20)])
        for number, task in enumerate(waiting):
            task.add_done_callback(lambda _, number=number: order.append(number))
        await asyncio.sleep(0)
        batcher.start()
        await waiting[13]
        small = asyncio.create_task(batcher.submit(job(), never))
        small.add_done_callback(lambda _: order.append(-1))
        await asyncio.sleep(0)
        engine.goes_on.set()
        await asyncio.gather(small, *waiting)

    run(engine, test, queue=2_000)
    assert order.index(-1) in (14, 15)  # with the one that was next, or after it


@pytest.mark.parametrize("costly", [{"times": 12}, {"topk": 20}])
def test_costly_sentences_are_parsed_in_pieces(parser: Parser, costly: dict[str, int]) -> None:
    order: list[str] = []
    engine = Watched(parser, pause_at=1)

    async def test(batcher: Batcher) -> None:
        large = asyncio.create_task(batcher.submit(job(4, **costly), never))
        batcher.start()
        while not engine.batches:
            await asyncio.sleep(0.001)
        small = asyncio.create_task(batcher.submit(job(), never))
        await asyncio.sleep(0)
        for name, task in (("large", large), ("small", small)):
            task.add_done_callback(lambda _, name=name: order.append(name))
        engine.goes_on.set()
        assert len(await small) == 1
        assert len(await large) == 4

    run(engine, test)
    assert order == ["small", "large"]
    assert [len(batch) for batch in engine.batches] == [1] * 5
    assert len(engine.batches[1][0].sentence) == 5  # the small one, after one sentence


def test_a_batch_costs_no_more_than_it_may(parser: Parser) -> None:
    engine = Watched(parser)

    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [job(3, times=times) for times in (1, 2, 4, 6, 8, 12)])
        await asyncio.sleep(0)
        batcher.start()
        await asyncio.gather(*waiting)

    run(engine, test)
    costs = [sum(map(engine.cost, batch)) for batch in engine.batches]
    assert all(cost <= 100 for cost, batch in zip(costs, engine.batches, strict=True) if batch[1:])
    assert max(costs) > 100  # of a sentence alone


def test_a_costly_sentence_comes_though_small_ones_keep_coming(parser: Parser) -> None:
    engine = Watched(parser, seconds=0.02)

    async def test(batcher: Batcher) -> None:
        large = asyncio.create_task(batcher.submit(job(2, times=20), never))

        async def ask() -> None:
            while not large.done():
                await batcher.submit(job(), never)

        asking = [asyncio.create_task(ask()) for _ in range(3)]
        await asyncio.sleep(0)
        batcher.start()
        assert len(await large) == 2
        await asyncio.gather(*asking)

    run(engine, test, queue=250)
    kinds = [len(batch[0].sentence) for batch in engine.batches]
    first, second = (place for place, words in enumerate(kinds) if words == 100)
    assert first > 0
    assert second > first + 1  # small ones have their turn between


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


def test_more_than_the_queue_holds_is_parsed_in_parts(parser: Parser) -> None:
    """Such requests take up an eighth of the queue each, and half of it all together."""
    engine = Watched(parser, pause_at=1)

    async def test(batcher: Batcher) -> None:
        large = submitted(batcher, [job(400) for _ in range(4)])
        await asyncio.sleep(0)
        with pytest.raises(ServeError, match="8,000 words waiting, and no more fit"):
            await batcher.submit(job(400), never)
        small = submitted(batcher, [job(20) for _ in range(5)])
        await asyncio.sleep(0)
        with pytest.raises(ServeError, match="and no more fit"):
            await batcher.submit(job(1), never)
        engine.goes_on.set()
        batcher.start()
        await asyncio.gather(*small)
        assert not any(task.done() for task in large)
        assert [len(found) for found in await asyncio.gather(*large)] == [400] * 4

    assert run(engine, test, queue=1_000).queued_words == 0


def test_a_long_text_is_cut_while_it_is_parsed(parser: Parser) -> None:
    cut: list[str] = []
    engine = Watched(parser, pause_at=1)
    text = "Anna saw the garden. " * 2_000

    def plan(pieces: Pieces) -> Iterator[Task | None]:
        for piece in pieces:
            for sentence in piece:
                if sentence:
                    cut.append(sentence.text)
                yield sentence and Task(sentence, details=True)

    async def test(batcher: Batcher) -> None:
        large = job(text=text)
        large.plan = plan
        waiting = asyncio.create_task(batcher.submit(large, never))
        batcher.start()
        while not engine.batches:
            await asyncio.sleep(0.001)
        assert len(cut) < 50  # a batch of them
        small = asyncio.create_task(batcher.submit(job(), never))
        await asyncio.sleep(0)
        engine.goes_on.set()
        await small
        assert len(cut) < 100
        assert len(await waiting) == len(parser.parse(text))
        assert cut == [sentence.text for sentence in parser.segmenter.segment(text)]

    assert run(engine, test).queued_words == 0


@pytest.mark.parametrize("lines", [False, True])
def test_much_text_without_a_sentence_lets_others_by(parser: Parser, lines: bool) -> None:
    """White space is cut step by step as well."""

    def plan(pieces: Pieces) -> Iterator[None]:
        for piece in pieces:
            assert not any(piece)
            yield None

    def render(task: Task, outcome: Analysis) -> str:
        raise NotImplementedError

    texts = ["\n"] * 3_000 if lines else ["\n" * 20_000] * 3
    blank = Job(texts=texts, plan=plan, render=render)

    async def test(batcher: Batcher) -> None:
        waiting = submitted(batcher, [blank])
        await asyncio.sleep(0)
        batcher.start()
        await asyncio.gather(*submitted(batcher, [job() for _ in range(3)]))
        assert not waiting[0].done()
        assert await waiting[0] == []

    run(parser, test)


def test_long_words_count_by_their_characters(parser: Parser) -> None:
    engine = Watched(parser)
    long = Job(
        sentences=[Sentence(["x" * 400])] * 4,
        plan=lambda cut: [Task(sentence) for piece in cut for sentence in piece],
        render=lambda task, outcome: "",
    )
    assert long.words == 200

    async def test(batcher: Batcher) -> None:
        batcher.start()
        await batcher.submit(long, never)

    run(engine, test)
    assert [len(batch) for batch in engine.batches] == [2, 2]
