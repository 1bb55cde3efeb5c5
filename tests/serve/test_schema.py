"""Whatever fits the description of the interface, or does not, gets an answer that fits it."""

import atexit
import contextlib
import os
import tempfile
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.parser.models import random_parser, with_loss
from treecrf.parser import Parser
from treecrf.serve.annotate.decisions import Annotations
from treecrf.serve.annotate.questions import Asking, collect, make_queues
from treecrf.serve.annotate.routes import annotate_routes
from treecrf.serve.annotate.session import Annotating, Team
from treecrf.serve.annotate.store import SentenceStore
from treecrf.serve.app import create_app
from treecrf.serve.limits import Limits
from treecrf.treebank import Sentence

pytestmark = pytest.mark.slow

SENTENCES = [["Anna", "saw", "the", "garden", "."], ["It", "rained", "."]]


LIMITS = Limits(body_bytes=100_000, sentence_words=50)


def annotating_corpus(stack: contextlib.ExitStack, parser: Parser) -> Annotating:
    """A corpus to annotate; what it opens is in `stack`."""
    asking = Asking()
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    annotations = stack.enter_context(Annotations(Path(folder, "out.conllu")))
    corpus = stack.enter_context(SentenceStore())
    (queue,) = make_queues(
        collect(map(Sentence, SENTENCES), corpus, [annotations]),
        parser,
        annotations=[annotations],
        order="corpus",
        asking=asking,
        longest=100,
    )
    return Annotating("corpus.txt", corpus, queue, annotations, asking)


# The tests are made of the description, when they are collected: before there are fixtures.
STACK = contextlib.ExitStack()
atexit.register(STACK.close)
PARSER = random_parser(with_loss("crf2o"))
ANNOTATING = annotating_corpus(STACK, PARSER)
ROUTES = annotate_routes(Team({"": ANNOTATING}), LIMITS)
# A service over a corpus has all the routes there are.
APP = create_app({"small": PARSER}, limits=LIMITS, routers=[ROUTES])
schema = schemathesis.openapi.from_asgi("/openapi.json", APP)


def see(case: schemathesis.Case) -> None:
    """Let a decision be that of somebody who has seen the sentence: nobody guesses its key."""
    place = case.path_parameters.get("place")
    if place not in (1, 2) or not isinstance(case.body, dict):
        return
    number, sentence = ANNOTATING.sentence(place)
    if isinstance(case.body.get("key"), str):
        case.body["key"] = ANNOTATING.key(number, sentence)
    if isinstance(case.body.get("known"), list):
        case.body["known"].extend(ANNOTATING.decided(number)[1])


@schema.parametrize()
@settings(
    max_examples=int(os.environ.get("API_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_the_interface_keeps_to_its_description(case: schemathesis.Case) -> None:
    see(case)
    case.call_and_validate(
        checks=[
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
        ]
    )
