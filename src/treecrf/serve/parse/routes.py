"""`/api/parse`, `/api/models` and `/api/glossary`: JSON in, trees and names out."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from treecrf.parser.decoding.sentences import Analysis
from treecrf.serve import checks
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.parse.answers import render_json
from treecrf.serve.parse.schemas import (
    LONGEST_RANKED,
    Error,
    Model,
    Models,
    ParseRequest,
    ParseResponse,
)
from treecrf.serve.queue.jobs import Job, Pieces, Task, counted_words
from treecrf.serve.queue.scheduler import Batcher
from treecrf.serve.registry import Registry
from treecrf.treebank import Sentence
from treecrf.treebank.glossary import MEANINGS

__all__ = ["ERRORS", "answer_json", "parse_job", "parsing_routes"]

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "The request is not what it should be."},
    408: {"model": Error, "description": "The body did not come."},
    413: {"model": Error, "description": "The text or a sentence is too long."},
    422: {"model": Error, "description": "Something in the request does not fit."},
    503: {"model": Error, "description": "Too much is waiting; Retry-After says when to come."},
}


def parsing_routes(registry: Registry, limits: Limits) -> APIRouter:
    routes = APIRouter(prefix="/api", tags=["parsing"])

    @routes.get("/models")
    async def models() -> Models:
        """The models that are served, with the relations that they give."""
        engines = {name: batcher.engine for name, batcher in registry.batchers.items()}
        listed = [
            Model(
                name=name,
                labels=engine.relations,
                segmenter=engine.parser.has_segmenter,
                language=engine.parser.language,
            )
            for name, engine in engines.items()
        ]
        return Models(models=listed, default=registry.default)

    @routes.get("/glossary")
    async def glossary() -> dict[str, str]:
        """Relations, universal tags and features with their meanings in a few words."""
        return MEANINGS

    @routes.post("/parse", response_model=ParseResponse, responses=ERRORS)
    async def parse(request: ParseRequest, connection: Request) -> Response:
        """Trees for texts or words, with the probabilities of heads, relations and tags."""
        batcher = registry.find(request.model)
        counts: list[int] = []
        job = await run_in_threadpool(_job, request, batcher, limits, counts)
        write = partial(_documents, counts) if request.texts is not None else _sentences
        return await answer_json(batcher, job, connection, write=write)

    return routes


def _sentences(results: Sequence[str]) -> str:
    return f'"sentences": [{", ".join(results)}]'


def _documents(counts: Sequence[int], results: Sequence[str]) -> str:
    """Group results by text, given their number in each."""
    rest = iter(results)
    texts = (f"{{{_sentences(list(islice(rest, count)))}}}" for count in counts)
    return f'"documents": [{", ".join(texts)}]'


def _job(request: ParseRequest, batcher: Batcher, limits: Limits, counts: list[int]) -> Job:
    """Make the job of a request after checking its size.

    It adds the number of sentences of each text to `counts`.
    """
    checks.check_size(sum(map(len, request.tokens or [])), limits.request_words)
    job = parse_job(
        batcher,
        limits,
        texts=(request.texts or []) if request.text is None else [request.text],
        sentences=checks.checked_sentences(request.tokens or [], limits),
        heads=request.constraints,
        relations=request.labels,
        topk=request.topk or 0,
        render=partial(render_json, alternatives=request.alternatives, marginals=request.marginals),
        counts=counts,
    )
    checks.check_size(job.words, limits.request_words)
    job.cost = batcher.estimated_cost(job)
    return job


def parse_job(
    batcher: Batcher,
    limits: Limits,
    *,
    texts: Sequence[str] = (),
    sentences: Sequence[Sentence] = (),
    heads: checks.Given[int] | None,
    relations: checks.Given[str] | None,
    topk: int,
    render: Callable[[Task, Analysis], str],
    counts: list[int] | None = None,
) -> Job:
    """Make a job that parses under constraints; `topk` is 0 for no list of trees.

    `counts`, if given, gets the number of sentences of each text.
    """

    def plan(cut: Pieces) -> list[Task]:
        pieces = [[sentence for sentence in piece if sentence] for piece in cut]
        if counts is not None and texts:
            counts[:] = map(len, pieces)
        found = list(chain.from_iterable(pieces))
        checks.check_size(sum(map(counted_words, found)), limits.request_words)
        checks.check_lengths(found, limits)
        if topk and (long := max(map(len, found), default=0)) > LONGEST_RANKED:
            most = f"the best trees are listed for up to {LONGEST_RANKED}"
            problem = f"a sentence has {long:,} words, and {most}"
            raise ServeError(413, f"{problem}; leave out `topk`, or split it")
        multiroot = batcher.engine.parser.config.multiroot
        constraints = checks.checked_constraints(found, heads, relations, multiroot=multiroot)
        pairs = zip(found, constraints, strict=True)
        return [Task(sentence, own, details=True, topk=topk) for sentence, own in pairs]

    return Job(texts=texts, sentences=sentences, plan=plan, render=render, topk=topk)


async def answer_json(
    batcher: Batcher, job: Job, connection: Request, *, write: Callable[[Sequence[str]], str]
) -> Response:
    """Run a job; return JSON with the name of the model and the results."""

    async def gone() -> None:
        """Return when the client, whose request has been read, has gone."""
        while (await connection.receive())["type"] != "http.disconnect":
            pass

    results = await batcher.submit(job, gone)
    name = json.dumps(batcher.name, ensure_ascii=False)
    body = await run_in_threadpool(lambda: f'{{"model": {name}, {write(results)}}}'.encode())
    return Response(body, media_type="application/json")
