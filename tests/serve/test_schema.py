"""Whatever fits the description of the interface, or does not, gets an answer that fits it."""

import atexit
import contextlib
import os
import tempfile
from pathlib import Path

import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.parser.folders import parser_of
from treecrf.serve.annotate import Annotating, annotate_routes
from treecrf.serve.annotate_file import Annotations
from treecrf.serve.annotate_queue import Asking, collect, make_queue
from treecrf.serve.annotate_store import SentenceStore
from treecrf.serve.app import create_app
from treecrf.serve.limits import Limits
from treecrf.treebank import Sentence

SENTENCES = [["Anna", "saw", "the", "garden", "."], ["It", "rained", "."]]


def annotating_app(stack: contextlib.ExitStack) -> FastAPI:
    """A service over a corpus, which has all the routes there are; what it opens is in `stack`."""
    parser, asking = parser_of(), Asking()
    limits = Limits(body_bytes=100_000, sentence_words=50)
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    annotations = stack.enter_context(Annotations(Path(folder, "out.conllu")))
    corpus = stack.enter_context(SentenceStore())
    queue = make_queue(
        collect(map(Sentence, SENTENCES), corpus, annotations),
        parser,
        annotations=annotations,
        order="corpus",
        asking=asking,
        longest=100,
    )
    annotating = Annotating("corpus.txt", corpus, queue, annotations, asking)
    routes = annotate_routes(annotating, limits)
    return create_app({"small": parser}, limits=limits, routers=[routes])


# The tests are made of the description, when they are collected: before there are fixtures.
STACK = contextlib.ExitStack()
atexit.register(STACK.close)
schema = schemathesis.openapi.from_asgi("/openapi.json", annotating_app(STACK))


@schema.parametrize()
@settings(
    max_examples=int(os.environ.get("API_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_the_interface_keeps_to_its_description(case: schemathesis.Case) -> None:
    case.call_and_validate(
        checks=[
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
        ]
    )
