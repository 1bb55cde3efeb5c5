"""The REST interface of UDPipe: `/models` and `/process`, as its clients know them."""

import io
import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import accumulate, compress
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

import treecrf
from treecrf.parser.decoding.sentences import Analysis
from treecrf.parser.vocab import COLUMNS
from treecrf.segment.assembly import join_sentences
from treecrf.serve.checks import check_lengths, check_page, check_size
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.parse.routes import answer_json
from treecrf.serve.queue.jobs import Job, Pieces, Task, counted_words
from treecrf.serve.queue.scheduler import Batcher
from treecrf.serve.registry import Registry
from treecrf.serve.udpipe.conversion import (
    INPUTS,
    OUTPUTS,
    Writer,
    composed,
    read_input,
)
from treecrf.serve.udpipe.parameters import read_parameters
from treecrf.treebank import Sentence

__all__ = ["udpipe_routes"]

_BLANK_LINES = 50  # that are a step of cutting a text

_PARAMETERS = {
    "data": "The text, or sentences in the format of `input`.",
    "model": "A name, the start of one, or a language; without it, the default.",
    "tokenizer": "If given, `data` is raw text; `ranges` keeps the places of tokens, "
    "`presegmented` takes each line as a sentence, `normalized_spaces` leaves out what white space "
    "there was.",
    "tagger": "If given, LEMMA, UPOS, XPOS and FEATS are those that the model predicts, and blank "
    "where it predicts none; a model that predicts none of them leaves all as they are.",
    "parser": "If given, trees are made; an enhanced graph of another tree is left out.",
    "input": "The format of `data` without `tokenizer`; conllu is the default.",
    "output": "The format of the result; conllu is the default.",
}
_VALUES: dict[str, dict[str, Any]] = {
    name: {"type": "string", "description": about} for name, about in _PARAMETERS.items()
}
_VALUES["input"]["enum"] = INPUTS
_VALUES["output"]["enum"] = OUTPUTS
_FORM = {"type": "object", "properties": _VALUES, "required": ["data"]}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": about, "content": {"text/plain": {"schema": {"type": "string"}}}}
    for status, about in {
        400: "An error in the request.",
        403: "A page from elsewhere asks.",
        408: "The body did not come.",
        413: "The text, a sentence or a word is too long.",
        503: "Too much is waiting; Retry-After says when to come.",
    }.items()
}


class Processed(BaseModel):
    """An answer of `/process`."""

    model: str
    acknowledgements: list[str]
    result: str


def udpipe_routes(
    registry: Registry, limits: Limits, *, allowed_origins: Collection[str] = ()
) -> APIRouter:
    """Routes for these models; pages of these origins may use them, `*` for all."""
    routes = APIRouter(tags=["UDPipe"])

    async def answer(request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
        headers: dict[str, str] = {}
        try:
            headers = check_page(request.headers, allowed_origins)
            found = await work()
        except ServeError as error:
            status = 400 if error.status_code == 422 else error.status_code  # as clients expect
            found = PlainTextResponse(f"{error.detail}\n", status, error.headers)
        found.headers.update(headers)
        return found

    async def list_models() -> Response:
        listed = {name: _components(batcher) for name, batcher in registry.batchers.items()}
        return JSONResponse({"models": listed, "default_model": registry.default})

    async def models(request: Request) -> Response:
        """The models, and what each of them can do."""
        return await answer(request, list_models)

    async def process(request: Request) -> Response:
        """Tokenise, tag and parse, as far as the model can: see UDPipe's REST interface."""
        return await answer(request, partial(_process, request, registry, limits))

    query = [
        {"name": name, "in": "query", "schema": schema, "required": name in _FORM["required"]}
        for name, schema in _VALUES.items()
    ]
    forms = ("application/x-www-form-urlencoded", "multipart/form-data")
    body = {"required": True, "content": {form: {"schema": _FORM} for form in forms}}
    # Each method is described by itself, and has a name of its own.
    for method, given in (("get", {"parameters": query}), ("post", {"requestBody": body})):
        route = partial(routes.api_route, methods=[method.upper()])
        route("/models", operation_id=f"{method}_models", responses={403: _ERRORS[403]})(models)
        route(
            "/process",
            operation_id=f"{method}_process",
            response_model=Processed,
            responses=_ERRORS,
            openapi_extra=given,
        )(process)
    return routes


def _components(batcher: Batcher) -> list[str]:
    parser = batcher.engine.parser
    able = [parser.has_segmenter, bool(parser.config.predict), True]
    return list(compress(["tokenizer", "tagger", "parser"], able))


async def _process(request: Request, registry: Registry, limits: Limits) -> Response:
    parameters = await read_parameters(request)
    if "data" not in parameters:
        raise ServeError(400, "the parameter `data` is missing: it is the text to be processed")
    batcher = registry.match(parameters.get("model", ""))
    job = await run_in_threadpool(_Work(batcher, parameters, limits).job, parameters["data"])
    return await answer_json(batcher, job, request, write=_result)


def _result(results: Sequence[str]) -> str:
    return f'"acknowledgements": [], "result": "{"".join(results)}"'


class _Work:
    """The options of a request, and the job that does it."""

    def __init__(self, batcher: Batcher, parameters: dict[str, str], limits: Limits) -> None:
        self.batcher = batcher
        self.limits = limits
        self.writer = Writer(parameters.get("output", "conllu"))
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
        self.predicted = batcher.engine.parser.config.predict
        self.tags = "tagger" in parameters and bool(self.predicted)
        self.starts: list[int] = []  # of the lines, where each is a sentence

    def job(self, data: str) -> Job:
        data = composed(data)
        if self.cuts:
            job = Job(texts=self._texts(data), plan=self.plan, render=self.render)
        else:
            sentences = read_input(data, self.input, trees=not self.parses)
            check_lengths(sentences, self.limits)
            job = Job(sentences=sentences, plan=self.plan, render=self.render)
        check_size(job.words, self.limits.process_words)
        job.cost = self.batcher.estimated_cost(job)
        return job

    def _texts(self, data: str) -> list[str]:
        if not self.batcher.engine.parser.has_segmenter:
            hint = "send words, with `input` horizontal, vertical or conllu"
            raise ServeError(400, f"the model {self.batcher.name!r} has no tokenizer; {hint}")
        texts = (list(io.StringIO(data)) or [""]) if self.by_line else [data]
        self.starts = list(accumulate(map(len, texts[:-1]), initial=0))
        return texts

    def plan(self, cut: Pieces) -> Iterator[Task | None]:
        """Tasks, one by one: a long text is cut while it is parsed."""
        words = number = 0
        for sentence in self._sentences(cut):
            if sentence is None:
                yield None
                continue
            number += 1
            check_lengths([sentence], self.limits, first=number)
            words += counted_words(sentence)
            check_size(words, self.limits.process_words)
            if self.cuts:
                self._comment(sentence, number)
            yield Task(sentence, parse=self.parses or self.tags)

    def _sentences(self, cut: Pieces) -> Iterator[Sentence | None]:
        """The sentences of each text; those of a line put together where each line is one."""
        if not self.by_line:
            for piece in cut:
                yield from piece
            return
        blank_lines = 1
        for start, piece in zip(self.starts, cut, strict=True):
            found: list[Sentence] = []
            words = 0
            for sentence in piece:
                if sentence is None:
                    yield None
                    continue
                found.append(sentence)
                words += len(sentence)
                longest = max(map(len, sentence.forms), default=0)
                if words > self.limits.sentence_words or longest > self.limits.word_characters:
                    break  # it will be refused: the rest of the line is not cut
            if found:
                yield join_sentences(found, start=start, new_paragraph=blank_lines > 0)
                blank_lines = 0
            else:
                blank_lines += 1
                if blank_lines % _BLANK_LINES == 0:
                    yield None

    def _comment(self, sentence: Sentence, number: int) -> None:
        at = next(i for i, c in enumerate(sentence.comments) if c.startswith("# text"))
        sentence.comments.insert(at, f"# sent_id = {number}")
        if number == 1:
            version, name = treecrf.__version__, self.batcher.name
            about = [f"# generator = treecrf {version}", f"# treecrf_model = {name}", "# newdoc"]
            sentence.comments[:0] = about

    def render(self, task: Task, outcome: Analysis) -> str:
        """A sentence as a part of a JSON string; columns that nobody asked for are as they came."""
        given, parsed = task.sentence, outcome.sentence
        if self.parses:
            parsed = _without_graph(parsed)
        else:
            parsed = parsed.with_tree(given.heads, given.deprels)
        if self.tags:
            stale = [name for name in COLUMNS if name not in self.predicted]
            parsed = parsed.with_columns({name: ["_"] * len(parsed) for name in stale})
        else:
            parsed = parsed.with_columns({name: given.column(name) for name in self.predicted})
        written = self.writer.write(parsed)
        if self.cuts and self.left_out and self.writer.name == "conllu":
            written = "\n".join(_without(line, self.left_out) for line in written.split("\n"))
        return json.dumps(written, ensure_ascii=False)[1:-1]


def _without_graph(sentence: Sentence) -> Sentence:
    """A sentence without an enhanced graph, which belongs to the tree that it had before."""
    blank = ["_"] * len(sentence)
    if sentence.column("deps") == blank:
        return sentence
    bare = sentence.with_columns({"deps": blank})
    bare.empty_nodes.clear()
    return bare


def _without(line: str, left_out: tuple[str, ...]) -> str:
    """A line of CoNLL-U without entries of MISC."""
    columns, tab, misc = line.rpartition("\t")
    if not tab or line.startswith("#"):
        return line
    entries = [entry for entry in misc.split("|") if not entry.startswith(left_out)]
    return f"{columns}\t{'|'.join(entries) or '_'}"
