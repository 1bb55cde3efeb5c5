"""A queue of requests and a model behind it, for tests."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence

from treecrf.parser import Parser
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.sentences import Analysis
from treecrf.serve.metrics import Metrics
from treecrf.serve.queue.engine import Engine
from treecrf.serve.queue.jobs import Job, Task
from treecrf.serve.queue.scheduler import Batcher
from treecrf.treebank import Sentence

WORDS = ["Anna", "saw", "the", "garden", "."]


Test = Callable[[Batcher], Awaitable[None]]


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
