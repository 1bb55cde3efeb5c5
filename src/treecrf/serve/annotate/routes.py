"""The routes of the page that annotates a corpus."""

import asyncio
import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import FileResponse

from treecrf.parser.decoding.sentences import Analysis
from treecrf.parser.vocab import COLUMNS
from treecrf.serve.annotate.agreement import agreement_of
from treecrf.serve.annotate.decisions import Record
from treecrf.serve.annotate.exports import Export, agreed, everything
from treecrf.serve.annotate.schemas import Decision
from treecrf.serve.annotate.session import Annotating, Team, content_version
from treecrf.serve.annotate.words import text_of, tokens_of
from treecrf.serve.checks import is_foreign
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.pages import STATIC
from treecrf.serve.parse.answers import render_json
from treecrf.serve.parse.routes import ERRORS, parse_job
from treecrf.serve.parse.schemas import Error
from treecrf.serve.queue.jobs import Task
from treecrf.serve.registry import Registry
from treecrf.treebank import Sentence

__all__ = ["annotate_routes"]

_PAGES = STATIC / "annotate"
_MOST_OTHERS = 8  # heads and relations of a word
_ERRORS = ERRORS | {404: {"model": Error, "description": "There is no such sentence or annotator."}}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    403: {"model": Error, "description": "A page from elsewhere wants to decide."},
    409: {"model": Error, "description": "The file has something newer of this sentence."},
}


Place = Annotated[int, Path(ge=1, description="In the queue; 1 is the first.")]
Annotator = Annotated[str, Query(description="A name of `annotators`; none where one works alone.")]


def annotate_routes(team: Team, limits: Limits) -> APIRouter:
    """Routes of the annotation page at `/` and of its data."""
    routes = APIRouter(tags=["annotation"])

    async def parse(
        connection: Request, sentence: Sentence, record: Record, *, topk: int = 0
    ) -> Any:
        """Parse a sentence as `/api/parse` does, with its confirmed arcs as constraints."""
        registry: Registry = connection.app.state.registry
        batcher = registry.find(None)
        job = parse_job(
            batcher,
            limits,
            sentences=[sentence],
            heads=[record.heads],
            relations=[record.labels],
            topk=topk,
            render=partial(_render, marginals=topk > 0),
        )
        try:
            return json.loads((await batcher.submit(job, _nobody_goes))[0])
        except ServeError as error:
            # There is one sentence, whichever of the corpus it is.
            error.detail = error.detail.removeprefix("sentence 1: ")
            raise

    @routes.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_PAGES / "index.html")

    @routes.get("/agreement", include_in_schema=False)
    async def agreement_page() -> FileResponse:
        return FileResponse(_PAGES / "agreement.html")

    @routes.get("/api/annotate", responses=_ERRORS)
    async def overview(annotator: Annotator = "") -> dict[str, Any]:
        """The corpus, the annotators, and the file and progress of one of them."""
        is_nobody = bool(team.names) and not annotator
        own = None if is_nobody else team.find(annotator)
        return {
            "corpus": team.first.corpus_name,
            "model": team.model_name,
            "annotators": [{"name": name, **team[name].progress(0)} for name in team.names],
            "annotator": annotator,
            "out": own and own.annotations.path.name,
            "file": own and _from_here(own.annotations.path),
            "threshold": team.first.asking.threshold,
            "share": team.first.asking.share,
            "about": team.first.asking.about,
            "progress": own and own.progress(0),
        }

    @routes.get("/api/annotate/agreement")
    async def agreement() -> dict[str, Any]:
        """What the annotators agree on, the words they differ in, and what they remark."""
        return await asyncio.to_thread(agreement_of, team)

    @routes.get("/api/annotate/export/{which}", response_class=Response, responses=_ERRORS)
    async def export(which: Export) -> Response:
        """A file to train on: the decisions of all annotators, or what they agree on."""
        text = await asyncio.to_thread({"all": everything, "agreed": agreed}[which], team)
        return _file(text, f"annotated.{which}.conllu")

    @routes.get("/api/annotate/export", response_class=Response, responses=_ERRORS)
    async def export_one(annotator: Annotator = "") -> Response:
        """The file of one annotator."""
        own = team.find(annotator)
        return _file(own.annotations.to_conllu(), f"annotated.{annotator or 'one'}.conllu")

    @routes.get("/api/annotate/{place}", responses=_ERRORS)
    async def look(place: Place, connection: Request, annotator: Annotator = "") -> dict[str, Any]:
        """A sentence, whose heads and relations are asked about, and what is decided already."""
        own = team.find(annotator)
        number, sentence = own.sentence(place)
        record, versions = own.decided(number)
        seen = own.shown(sentence, record)
        free = await parse(connection, seen, Record())
        probs = ([token[name] for token in free["tokens"]] for name in ("prob", "deprel_prob"))
        heads, relations = own.asking.questions(*probs)
        shown = await parse(connection, seen, record) if record.heads else free
        return {
            "place": place,
            "number": number,
            "key": own.key(number, sentence),
            "asked": sorted({*heads, *relations}),
            "asked_heads": heads,
            "asked_relations": relations,
            "sentence": shown,
            "text": text_of(sentence),
            "written": [asdict(token) for token in tokens_of(seen)],
            "original": [asdict(token) for token in tokens_of(sentence)],
            **asdict(record),
            "known": versions,
            "progress": own.progress(place),
        }

    @routes.get("/api/annotate/{place}/best", responses=_ERRORS)
    async def best(
        place: Place,
        key: str,
        connection: Request,
        *,
        annotator: Annotator = "",
        k: Annotated[int, Query(ge=1, le=50)] = 5,
    ) -> Any:
        """The best trees of a sentence, under what is decided."""
        own = team.find(annotator)
        number, sentence = own.keyed_sentence(place, key)
        record = own.annotations[number]
        return await parse(connection, own.shown(sentence, record), record, topk=k)

    @routes.post(
        "/api/annotate/{place}",
        responses=_ERRORS | _REFUSALS,
        dependencies=[Depends(_refuse_other_pages)],
    )
    async def decide(
        place: Place, decision: Decision, connection: Request, annotator: Annotator = ""
    ) -> dict[str, Any]:
        """Save a decision, and give the tree around it; what no tree can have is not saved."""
        own = team.find(annotator)
        number, sentence = own.keyed_sentence(place, decision.key)
        record = decision.record(sentence)
        shown = await parse(connection, own.shown(sentence, record), record)
        await _save(own, number, sentence, record=record, decision=decision)
        return {
            "sentence": shown,
            **asdict(record),
            "known": [decision.version, content_version(record)],
            "progress": own.progress(place),
        }

    return routes


async def _save(
    own: Annotating, number: int, sentence: Sentence, *, record: Record, decision: Decision
) -> None:
    save = partial(own.save, version=decision.version, known=decision.known)
    try:
        await asyncio.to_thread(save, number, sentence, record)
    except OSError as error:
        out = own.annotations.path
        raise ServeError(500, f"not saved: {out}: {error.strerror or error}") from error


def _from_here(path: FilePath) -> str:
    """The name of a file in commands that run where this process was started."""
    here = FilePath.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _file(text: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


def _render(task: Task, analysis: Analysis, *, marginals: bool) -> str:
    """A sentence in JSON, with the tags, lemmas and features that the corpus has."""
    given, parsed = task.sentence, analysis.sentence
    columns = {name: given.column(name) for name in COLUMNS}
    kept = {name: cells for name, cells in columns.items() if set(cells) != {"_"}}
    # Of a word that has none of them, such as a new one, it shows what the model predicts.
    bare = [set(cells) == {"_"} for cells in zip(*columns.values(), strict=True)]
    for name, cells in kept.items():
        rows = zip(bare, parsed.column(name), cells, strict=True)
        kept[name] = [other if is_bare else cell for is_bare, other, cell in rows]
    if kept:
        parsed = parsed.with_columns(kept)
        if "upos" in kept:
            parsed.upos_probs = None  # they are of other tags
        analysis = replace(analysis, sentence=parsed)
    return render_json(task, analysis, alternatives=_MOST_OTHERS, marginals=marginals)


async def _refuse_other_pages(connection: Request) -> None:
    if is_foreign(connection.headers):
        raise ServeError(403, "a page from elsewhere cannot decide; use the one of this service")


async def _nobody_goes() -> None:
    """Never return: a decision is saved even if the browser is closed meanwhile."""
    await asyncio.Event().wait()
