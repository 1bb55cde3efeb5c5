"""Whatever fits the description of the interface, or does not, gets an answer that fits it."""

import os

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.parser.folders import parser_of
from treecrf.serve.app import create_app
from treecrf.serve.limits import Limits

APP = create_app({"small": parser_of()}, limits=Limits(body_bytes=100_000, sentence_words=50))
schema = schemathesis.openapi.from_asgi("/openapi.json", APP)


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
