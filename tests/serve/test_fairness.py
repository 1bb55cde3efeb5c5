"""Small requests do not wait for large ones, which are parsed in pieces."""

import asyncio
import threading
from collections.abc import Iterable, Iterator

import pytest

from tests.serve.batching import Watched, batches, job, never, run, submitted
from treecrf.parser import Parser
from treecrf.parser.decoding.sentences import Analysis
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.metrics import Metrics
from treecrf.serve.queue.engine import Engine
from treecrf.serve.queue.jobs import Job, Pieces, Task
from treecrf.serve.queue.scheduler import Batcher
from treecrf.serve.udpipe.routes import _Work
from treecrf.treebank import Sentence


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
    run(parser, lambda batcher: lets_others_by(batcher, blank))


def test_a_long_line_that_is_one_sentence_lets_others_by(parser: Parser) -> None:
    async def test(batcher: Batcher) -> None:
        await lets_others_by(batcher, line_work(batcher).job(" " * 100_000 + "Hi"))

    run(parser, test)


async def lets_others_by(batcher: Batcher, large: Job) -> None:
    """Check that requests that come after the first step of a job are answered before it."""
    stepped, goes_on = threading.Event(), threading.Event()
    plan = large.plan
    order: list[Job] = []

    def watched(pieces: Pieces) -> Iterator[Task | None]:
        for task in plan(pieces):
            stepped.set()
            assert goes_on.wait(300)
            yield task

    large.plan = watched
    small = [job() for _ in range(3)]
    waiting = submitted(batcher, [large])
    batcher.start()
    await asyncio.to_thread(stepped.wait, 300)
    waiting += submitted(batcher, small)
    for each, task in zip([large, *small], waiting, strict=True):
        task.add_done_callback(lambda _, each=each: order.append(each))
    await asyncio.sleep(0)
    goes_on.set()
    await asyncio.gather(*waiting)
    assert order[-1] is large


def line_work(batcher: Batcher) -> _Work:
    return _Work(batcher, {"tokenizer": "presegmented", "parser": ""}, Limits())


@pytest.mark.parametrize(
    ("text", "problem"),
    [("x" * 300_000, "word 1 of sentence 1 has"), ("Anna saw it. " * 8_000, "sentence 1 has 4")],
)
def test_a_line_that_is_too_long_is_cut_no_further(parser: Parser, text: str, problem: str) -> None:
    batcher = Batcher("m", Engine(parser), metrics=Metrics())
    work = line_work(batcher)
    steps = 0

    def watched(piece: Iterable[Sentence | None]) -> Iterator[Sentence | None]:
        nonlocal steps
        for sentence in piece:
            steps += sentence is None
            yield sentence

    pieces = map(watched, batcher.engine.cut(work.job(text).texts))
    with pytest.raises(ServeError, match=problem):
        list(work.plan(pieces))
    assert steps < 50


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
