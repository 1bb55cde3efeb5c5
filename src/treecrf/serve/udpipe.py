"""The REST interface of UDPipe: `/models` and `/process`, as its clients know them."""

import io
import json
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

import treecrf
from treecrf.serve.batching import Batcher
from treecrf.serve.errors import ServeError
from treecrf.serve.formats import INPUTS, OUTPUTS, join_sentences, read_input, write_sentence
from treecrf.serve.forms import read_parameters
from treecrf.serve.limits import Limits
from treecrf.serve.parsing import client_gone
from treecrf.serve.planning import check_lengths, check_size
from treecrf.serve.registry import Registry
from treecrf.serve.work import Job, Task, TaskResult
from treecrf.treebank import Sentence

__all__ = ["udpipe_routes"]

# The service of UDPipe lets pages from anywhere use it, and some do.
_HEADERS = {"Access-Control-Allow-Origin": "*"}

_PARAMETERS = {
    "data": "The text, or sentences in the format of `input`.",
    "model": "A name, the start of one, or a language; without it, the default.",
    "tokenizer": "If given, `data` is raw text; `ranges` keeps the places of tokens, "
    "`presegmented` takes each line as a sentence, `normalized_spaces` leaves out what white space "
    "there was.",
    "tagger": "If given, models that give tags give them.",
    "parser": "If given, trees are made.",
    "input": "conllu (the default), horizontal or vertical.",
    "output": "conllu (the default), horizontal or vertical.",
}
_VALUES: dict[str, dict[str, Any]] = {
    name: {"type": "string", "description": about} for name, about in _PARAMETERS.items()
}
_VALUES["input"]["enum"] = INPUTS
_VALUES["output"]["enum"] = OUTPUTS
_FORM = {
    "type": "object",
    "properties": _VALUES,
    "required": ["data"],
}
_TEXT = {"content": {"text/plain": {"schema": {"type": "string"}}}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    400: {"description": "What is wrong with the request.", **_TEXT},
    408: {"description": "The body did not come.", **_TEXT},
    413: {"description": "The text or a sentence is too long.", **_TEXT},
    503: {"description": "Too much is waiting; Retry-After says when to come.", **_TEXT},
}
_RESULT: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "model": {"type": "string"},
                        "acknowledgements": {"type": "array", "items": {"type": "string"}},
                        "result": {"type": "string"},
                    },
                    "required": ["model", "acknowledgements", "result"],
                }
            }
        }
    }
}


def udpipe_routes(registry: Registry, limits: Limits) -> APIRouter:
    """The routes, for these models."""
    routes = APIRouter(tags=["UDPipe"])

    async def models() -> Response:
        """The models, and what each of them can do."""
        listed = {name: _components(batcher) for name, batcher in registry.batchers.items()}
        return JSONResponse({"models": listed, "default_model": registry.default}, headers=_HEADERS)

    async def process(request: Request) -> Response:
        """Tokenise, tag and parse, as far as the model can: see UDPipe's REST interface."""
        try:
            return await _process(request, registry, limits)
        except HTTPException as error:  # of the body
            return PlainTextResponse(f"{error.detail}\n", error.status_code, _HEADERS)
        except ServeError as error:
            status = 400 if error.status == 422 else error.status  # the one that clients expect
            detail = error.detail.encode("utf-8", "replace")
            return PlainTextResponse(detail + b"\n", status, _HEADERS | error.headers)

    query = [
        {"name": name, "in": "query", "schema": schema, "required": name in _FORM["required"]}
        for name, schema in _VALUES.items()
    ]
    forms = ("application/x-www-form-urlencoded", "multipart/form-data")
    body = {"required": True, "content": {form: {"schema": _FORM} for form in forms}}
    for method in ("GET", "POST"):
        routes.add_api_route(
            "/models", models, methods=[method], operation_id=f"{method.lower()}_models"
        )
        routes.add_api_route(
            "/process",
            process,
            methods=[method],
            operation_id=f"{method.lower()}_process",
            responses=_RESULT | _ANSWERS,
            openapi_extra={"parameters": query} if method == "GET" else {"requestBody": body},
        )
    return routes


def _components(batcher: Batcher) -> list[str]:
    parser = batcher.engine.parser
    able = {
        "tokenizer": parser.has_segmenter,
        "tagger": parser.config.predict_upos,
        "parser": True,
    }
    return [name for name, can in able.items() if can]


async def _process(request: Request, registry: Registry, limits: Limits) -> Response:
    parameters = await read_parameters(request)
    if "data" not in parameters:
        raise ServeError(400, "the parameter `data` is missing: it is the text to be processed")
    batcher = registry.match(parameters.get("model", ""))
    output = parameters.get("output", "conllu")
    write_sentence(Sentence(["_"]), output)  # an error where there is no such format
    work = _Work(batcher, parameters, output=output, limits=limits)
    job = await work.job(parameters["data"])
    check_size(job.words, min(limits.request_words, batcher.queue_words))
    written = await batcher.submit(job, partial(client_gone, request))
    answer = {"model": batcher.name, "acknowledgements": [], "result": "".join(written)}
    return Response(
        json.dumps(answer, ensure_ascii=False), media_type="application/json", headers=_HEADERS
    )


class _Work:
    """What a request asks for, and the job that does it."""

    def __init__(
        self, batcher: Batcher, parameters: dict[str, str], *, output: str, limits: Limits
    ) -> None:
        self.batcher = batcher
        self.limits = limits
        self.output = output
        self.input = parameters.get("input", "conllu")
        self.cuts = "tokenizer" in parameters
        values = parameters.get("tokenizer", "").split(";")
        options = {value.partition("=")[0] for value in values}  # as UDPipe reads them
        self.by_line = "presegmented" in options
        # Of MISC, where the segmenter has written it.
        self.left_out: tuple[str, ...] = () if "ranges" in options else ("TokenRange=",)
        if "normalized_spaces" in options:
            self.left_out += "SpacesAfter=", "SpacesBefore="
        self.parses = "parser" in parameters
        self.tags = "tagger" in parameters and batcher.engine.parser.config.predict_upos
        self.starts: list[int] = []  # of the lines, where each is a sentence

    async def job(self, data: str) -> Job:
        if not self.cuts:
            sentences = await run_in_threadpool(read_input, data, self.input, trees=not self.parses)
            return Job(sentences=sentences, plan=self.plan, render=self.render)
        if not self.batcher.engine.parser.has_segmenter:
            raise ServeError(
                400,
                f"the model {self.batcher.name!r} has no tokenizer; send words, with `input` "
                "horizontal, vertical or conllu",
            )
        texts = (list(io.StringIO(data)) or [""]) if self.by_line else [data]
        place = 0
        for text in texts:
            self.starts.append(place)
            place += len(text)
        return Job(texts=texts, plan=self.plan, render=self.render)

    def plan(self, cut: list[list[Sentence]]) -> list[Task]:
        """Sentences as tasks; those of a line put together again where each line is one."""
        if self.by_line:
            found = zip(self.starts, cut, strict=True)
            cut = [[join_sentences(piece, start=start)] for start, piece in found if piece]
        sentences = [sentence for piece in cut for sentence in piece]
        check_lengths(sentences, self.limits)
        if self.cuts and sentences:
            self._number(sentences)
        return [Task(sentence, parse=self.parses or self.tags) for sentence in sentences]

    def _number(self, sentences: list[Sentence]) -> None:
        """The comments that UDPipe gives to sentences it has cut."""
        for number, sentence in enumerate(sentences, 1):
            at = next(i for i, c in enumerate(sentence.comments) if c.startswith("# text"))
            sentence.comments.insert(at, f"# sent_id = {number}")
        version = treecrf.__version__
        name = self.batcher.name
        about = [f"# generator = treecrf {version}", f"# treecrf_model = {name}", "# newdoc"]
        sentences[0].comments[:0] = about

    def render(self, task: Task, outcome: TaskResult) -> str:
        """A sentence as it is written: columns that were not asked for are as they came."""
        given, parsed = task.sentence, outcome.sentence
        if not self.parses:
            parsed = parsed.with_tree(given.heads, given.deprels)
        if not self.tags and self.batcher.engine.parser.config.predict_upos:
            parsed = parsed.with_tree(parsed.heads, parsed.deprels, upos=given.column("upos"))
        written = write_sentence(parsed, self.output)
        if not (self.cuts and self.left_out and self.output.startswith("conllu")):
            return written
        return "\n".join(_without(line, self.left_out) for line in written.split("\n"))


def _without(line: str, left_out: tuple[str, ...]) -> str:
    """A line of CoNLL-U without the entries of MISC that begin like this."""
    columns, tab, misc = line.rpartition("\t")
    if not tab or line.startswith("#"):
        return line
    kept = [entry for entry in misc.split("|") if not entry.startswith(left_out)]
    return f"{columns}\t{'|'.join(kept) or '_'}"
