"""`/api/parse` and `/api/models`: JSON in, trees with all that is known of them out."""

import json
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from treecrf.serve.limits import Limits
from treecrf.serve.parse.answers import render_json
from treecrf.serve.parse.requests import check_size, plan_tasks, sentences_of
from treecrf.serve.queue.jobs import Job
from treecrf.serve.queue.scheduler import Batcher
from treecrf.serve.registry import Registry
from treecrf.serve.schemas import Error, Model, Models, ParseRequest, ParseResponse

__all__ = ["ERRORS", "client_gone", "parsing_routes"]

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "The request is not what it should be."},
    408: {"model": Error, "description": "The body did not come."},
    413: {"model": Error, "description": "The text or a sentence is too long."},
    422: {"model": Error, "description": "Something in the request does not fit."},
    503: {"model": Error, "description": "Too much is waiting; Retry-After says when to come."},
}


def parsing_routes(registry: Registry, limits: Limits) -> APIRouter:
    """The routes, for these models."""
    routes = APIRouter(prefix="/api", tags=["parsing"])

    @routes.get("/models")
    async def models() -> Models:
        """The models that are served, with the labels that they give."""
        return Models(
            models=[
                Model(
                    name=name,
                    labels=batcher.engine.labels,
                    segmenter=batcher.engine.parser.has_segmenter,
                )
                for name, batcher in registry.batchers.items()
            ],
            default=registry.default,
        )

    @routes.post("/parse", response_model=ParseResponse, responses=ERRORS)
    async def parse(request: ParseRequest, connection: Request) -> Response:
        """Trees for text or words, with the probability of each head."""
        batcher = registry.find(request.model)
        job = await run_in_threadpool(_job, request, batcher, limits)
        sentences = await batcher.submit(job, partial(client_gone, connection))
        # Each sentence is JSON already, made in the thread of the model.
        name = json.dumps(batcher.name, ensure_ascii=False)
        start, end = f'{{"model": {name}, "sentences": [', "]}"
        body = await run_in_threadpool(lambda: f"{start}{', '.join(sentences)}{end}".encode())
        return Response(body, media_type="application/json")

    return routes


def _job(request: ParseRequest, batcher: Batcher, limits: Limits) -> Job:
    """The job of a request, whose size is checked before anything is made of it."""
    check_size(sum(map(len, request.tokens or [])), limits.request_words)
    job = Job(
        texts=[] if request.text is None else [request.text],
        sentences=[] if request.tokens is None else sentences_of(request.tokens, limits),
        plan=partial(
            plan_tasks,
            constraints=request.constraints,
            labels=request.labels,
            topk=request.topk or 0,
            limits=limits,
            multiroot=batcher.engine.parser.config.multiroot,
        ),
        render=partial(render_json, alternatives=request.alternatives, marginals=request.marginals),
        topk=request.topk or 0,
    )
    check_size(job.words, limits.request_words)
    job.cost = batcher.estimated_cost(job)
    return job


async def client_gone(connection: Request) -> None:
    """Return when the client of this request, whose body has been read, has gone."""
    while (await connection.receive())["type"] != "http.disconnect":
        pass
