"""`/api/parse` and `/api/models`: JSON in, trees with all that is known of them out."""

import json
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from treecrf.serve.limits import Limits
from treecrf.serve.planning import check_size, plan_tasks, sentences_of
from treecrf.serve.registry import Registry
from treecrf.serve.rendering import render_json
from treecrf.serve.schemas import Error, Model, Models, ParseRequest, ParseResponse
from treecrf.serve.work import Job

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
        most = min(limits.request_words, batcher.queue_words)
        check_size(sum(map(len, request.tokens or [])), most)  # before anything is made of them
        job = Job(
            texts=[] if request.text is None else [request.text],
            sentences=[] if request.tokens is None else sentences_of(request.tokens),
            plan=partial(
                plan_tasks,
                constraints=request.constraints,
                labels=request.labels,
                topk=request.topk or 0,
                limits=limits,
                multiroot=batcher.engine.parser.config.multiroot,
            ),
            render=partial(
                render_json, alternatives=request.alternatives, marginals=request.marginals
            ),
            topk=request.topk or 0,
        )
        check_size(job.words, most)
        sentences = await batcher.submit(job, partial(client_gone, connection))
        # Each sentence is JSON already, made in the thread of the model.
        name = json.dumps(batcher.name, ensure_ascii=False)
        body = f'{{"model": {name}, "sentences": [{", ".join(sentences)}]}}'
        return Response(body, media_type="application/json")

    return routes


async def client_gone(connection: Request) -> None:
    """Return when the client of this request, whose body has been read, has gone."""
    while (await connection.receive())["type"] != "http.disconnect":
        pass
