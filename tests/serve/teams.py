"""A corpus that several people annotate, over HTTP without a process."""

import contextlib
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from httpx import Response
from starlette.testclient import TestClient

from treecrf.parser import Parser
from treecrf.serve.annotate.questions import Asking, collect, make_queues
from treecrf.serve.annotate.routes import annotate_routes
from treecrf.serve.annotate.session import Annotating, Team
from treecrf.serve.annotate.store import SentenceStore
from treecrf.serve.annotate.team import open_annotations
from treecrf.serve.app import create_app
from treecrf.serve.limits import Limits
from treecrf.treebank import Sentence


@contextlib.contextmanager
def team(
    parser: Parser, out: Path, sentences: Iterable[Sentence], *, names: Sequence[str]
) -> Iterator[TestClient]:
    """What a process serves to these annotators."""
    asking = Asking(None, 0.4)
    with open_annotations(out, names) as files, SentenceStore() as corpus:
        opened = list(files.values())
        queues = make_queues(
            collect(sentences, corpus, opened),
            parser,
            annotations=opened,
            order="corpus",
            asking=asking,
            longest=100,
        )
        members = {
            name: Annotating("corpus.txt", corpus, queue, own, asking)
            for (name, own), queue in zip(files.items(), queues, strict=True)
        }
        routes = annotate_routes(Team(members), Limits())
        with TestClient(create_app({"model": parser}, routers=[routes])) as client:
            yield client


def decide(client: TestClient, place: int, *, annotator: str = "", **decision: Any) -> Response:
    """What comes of a decision of somebody who has just looked at the sentence."""
    params = {"annotator": annotator}
    item = client.get(f"/api/annotate/{place}", params=params).json()
    names = ("key", "known", "heads", "labels", "state", "tags", "tokens", "comment", "flag")
    seen = {name: item[name] for name in names} | {"version": str(uuid.uuid4())}
    return client.post(f"/api/annotate/{place}", json=seen | decision, params=params)
