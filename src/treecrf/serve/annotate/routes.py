"""The routes of the page that annotates a corpus."""

import asyncio
import hashlib
import json
import threading
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import FileResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from treecrf.parser.decoding.sentences import Analysis
from treecrf.parser.vocab import COLUMNS
from treecrf.serve.annotate.cut import Cut
from treecrf.serve.annotate.decisions import Annotations, Record, State
from treecrf.serve.annotate.questions import Asking, Queue
from treecrf.serve.annotate.store import SentenceStore
from treecrf.serve.checks import is_foreign
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.pages import STATIC
from treecrf.serve.parse.answers import render_json
from treecrf.serve.parse.routes import ERRORS, parse_job
from treecrf.serve.parse.schemas import Error, Text
from treecrf.serve.queue.jobs import Task
from treecrf.serve.registry import Registry
from treecrf.treebank import Sentence

__all__ = ["Annotating", "annotate_routes"]

_MOST_OTHERS = 8  # heads and relations of a word
_ERRORS = ERRORS | {404: {"model": Error, "description": "There is no such sentence."}}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    403: {"model": Error, "description": "A page from elsewhere wants to decide."},
    409: {"model": Error, "description": "The file has something newer of this sentence."},
}


def _without_blanks(labels: dict[int, str]) -> dict[int, str]:
    """Remove `_`, which is no relation: a model that knows none gives it to all words."""
    return {word: label for word, label in labels.items() if label != "_"}


class Decision(BaseModel):
    """All that is decided about a sentence, and what the sender takes the file to have of it."""

    model_config = ConfigDict(extra="forbid")

    heads: dict[int, int] = Field(description="Confirmed heads by word; 0 is the root.")
    labels: Annotated[dict[int, Text], AfterValidator(_without_blanks)] = Field(
        description="Confirmed relations of those words; `_` is none."
    )
    state: State
    key: str = Field(description="That of the sentence, as it was given with it.")
    version: Text = Field(min_length=1, description="A name for this decision that no other has.")
    known: list[str] = Field(
        description="The versions that the file may have of it: those that were given last, and "
        "those that were sent since. If it has another one, somebody has decided meanwhile, and "
        "that is kept."
    )


@dataclass(frozen=True, slots=True)
class Annotating:
    """A corpus that is being annotated."""

    corpus_name: str
    corpus: SentenceStore
    queue: Queue
    annotations: Annotations
    asking: Asking
    cut: Cut | None = None  # kept with the first decision
    saved: dict[int, str] = field(default_factory=dict)  # versions since the start, by sentence
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sentence(self, place: int) -> tuple[int, Sentence]:
        """The sentence at a place of the queue, the first being 1, and its number."""
        if place > len(self.queue.numbers):
            raise ServeError(404, f"there are {len(self.queue.numbers)} sentences to annotate")
        number = self.queue.numbers[place - 1]
        return number, self.corpus[number]

    def key(self, number: int, sentence: Sentence) -> str:
        """An identifier that no other sentence has, in this queue or in that of another process."""
        return _digest([str(self.annotations.path), str(number), *sentence.forms])

    def keyed_sentence(self, place: int, key: str) -> tuple[int, Sentence]:
        """The same, if it is the one that somebody has seen there."""
        number, sentence = self.sentence(place)
        if self.key(number, sentence) != key:
            reason = "the service has been started again since the page was opened; reload the page"
            raise ServeError(404, f"this is not the sentence that is here now: {reason}")
        return number, sentence

    def decided(self, number: int) -> tuple[Record, list[str]]:
        """The record of a sentence, and the names of that version; the first one counts.

        The last is that of what is in the file, which another process gives it too.
        """
        # Read before the record: it may be that of an earlier one then, never of a later one.
        saved = [self.saved[number]] if number in self.saved else []
        record = self.annotations[number]
        return record, [*saved, _content(record)]

    def save(
        self, number: int, sentence: Sentence, record: Record, *, version: str, known: list[str]
    ) -> None:
        """Save a decision, unless it was made without knowing what is in the file."""
        with self.lock:
            # The same may come twice, if an answer is lost.
            if self.decided(number)[1][0] not in (version, *known):
                reason = "this sentence was changed elsewhere meanwhile, perhaps in another tab"
                hint = "look at what it has now, and decide again"
                raise ServeError(409, f"not saved: {reason}; {hint}")
            if self.cut is not None:
                self.cut.keep(self.corpus)
            self.annotations.put(number, sentence, record)
            self.saved[number] = version

    def progress(self, place: int) -> dict[str, Any]:
        """Progress of the annotation, and the next sentence after this place."""
        total = len(self.queue.numbers)
        after = [*range(place + 1, total + 1), *range(1, min(place, total) + 1)]
        numbers, records = self.queue.numbers, self.annotations
        is_open = (other for other in after if records[numbers[other - 1]].state == "open")
        return {**records.counts(), "total": total, "next": next(is_open, None)}


def annotate_routes(annotating: Annotating, limits: Limits) -> APIRouter:
    """Routes of the annotation page at `/` and of its data."""
    routes = APIRouter(tags=["annotation"])
    Place = Annotated[int, Path(ge=1, description="In the queue; 1 is the first.")]  # noqa: N806

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
        return FileResponse(STATIC / "annotate.html")

    @routes.get("/api/annotate")
    async def overview() -> dict[str, Any]:
        """The corpus, the file of annotations, and the progress."""
        return {
            "corpus": annotating.corpus_name,
            "out": annotating.annotations.path.name,
            "threshold": annotating.asking.threshold,
            "share": annotating.asking.share,
            "about": annotating.asking.about,
            "progress": annotating.progress(0),
        }

    @routes.get("/api/annotate/{place}", responses=_ERRORS)
    async def look(place: Place, connection: Request) -> dict[str, Any]:
        """A sentence, whose heads and relations are asked about, and what is decided already."""
        number, sentence = annotating.sentence(place)
        record, versions = annotating.decided(number)
        free = await parse(connection, sentence, Record())
        probs = ([token[name] for token in free["tokens"]] for name in ("prob", "deprel_prob"))
        heads, relations = annotating.asking.questions(*probs)
        shown = await parse(connection, sentence, record) if record.heads else free
        return {
            "place": place,
            "number": number,
            "key": annotating.key(number, sentence),
            "asked": sorted({*heads, *relations}),
            "asked_heads": heads,
            "asked_relations": relations,
            "sentence": shown,
            **asdict(record),
            "known": versions,
            "progress": annotating.progress(place),
        }

    @routes.get("/api/annotate/{place}/best", responses=_ERRORS)
    async def best(
        place: Place, key: str, connection: Request, k: Annotated[int, Query(ge=1, le=50)] = 5
    ) -> Any:
        """The best trees of a sentence, under what is decided."""
        number, sentence = annotating.keyed_sentence(place, key)
        record = annotating.annotations[number]
        return await parse(connection, sentence, record, topk=k)

    @routes.post(
        "/api/annotate/{place}",
        responses=_ERRORS | _REFUSALS,
        dependencies=[Depends(_refuse_other_pages)],
    )
    async def decide(place: Place, decision: Decision, connection: Request) -> dict[str, Any]:
        """Save a decision, and give the tree around it; what no tree can have is not saved."""
        number, sentence = annotating.keyed_sentence(place, decision.key)
        if extra := sorted(decision.labels.keys() - decision.heads.keys()):
            problem = f"word {extra[0]} has a relation but no head"
            raise ServeError(422, f"{problem}; confirm the arc with it")
        record = Record(decision.heads, decision.labels, decision.state)
        shown = await parse(connection, sentence, record)
        save = partial(annotating.save, version=decision.version, known=decision.known)
        try:
            await asyncio.to_thread(save, number, sentence, record)
        except OSError as error:
            out = annotating.annotations.path
            raise ServeError(500, f"not saved: {out}: {error.strerror or error}") from error
        return {
            "sentence": shown,
            **asdict(record),
            "known": [decision.version, _content(record)],
            "progress": annotating.progress(place),
        }

    return routes


def _render(task: Task, analysis: Analysis, *, marginals: bool) -> str:
    """A sentence in JSON, with the tags, lemmas and features that the corpus has."""
    given, parsed = task.sentence, analysis.sentence
    columns = {name: given.column(name) for name in COLUMNS}
    kept = {name: cells for name, cells in columns.items() if set(cells) != {"_"}}
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


def _digest(parts: list[str]) -> str:
    # The name of a file may be no text.
    return hashlib.sha256("\t".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _content(record: Record) -> str:
    heads, labels = sorted(record.heads.items()), sorted(record.labels.items())
    return "content-" + _digest([str(heads), str(labels), record.state])
