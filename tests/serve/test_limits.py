"""Requests that are too large are refused by name, whatever way they come."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient
from starlette.types import Message

from treecrf.parser import Parser
from treecrf.serve.app import create_app
from treecrf.serve.limits import Limits
from treecrf.serve.parse.schemas import ParseRequest
from treecrf.serve.queue.engine import Engine

LIMITS = Limits(
    body_bytes=2_000,
    process_bytes=2_500,
    request_words=100,
    process_words=120,
    sentence_words=8,
    word_characters=50,
)


@pytest.fixture(scope="module")
def narrow(parser: Parser, wordy: Parser) -> Iterator[TestClient]:
    with TestClient(create_app({"small": parser, "words": wordy}, limits=LIMITS)) as client:
        yield client


def test_a_body_that_is_too_long_is_refused(narrow: TestClient) -> None:
    def chunks() -> Iterator[bytes]:  # of no announced length
        for _ in range(100):
            yield b" " * 100

    for body in (b" " * 2_001, chunks()):
        answer = narrow.post("/api/parse", content=body)
        assert answer.status_code == 413
        expected = "the body has more than 2,000 bytes; send the text in pieces"
        assert answer.json() == {"detail": expected}


def test_for_udpipe_it_is_plain_text(narrow: TestClient) -> None:
    answer = narrow.post("/process", data={"data": "a" * 3_000})
    assert answer.status_code == 413
    assert answer.text == "the body has more than 2,500 bytes; send the text in pieces\n"
    # A body that nobody asked for counts as well.
    answer = narrow.request("GET", "/process", params={"data": ""}, content=b"a" * 3_000)
    assert answer.status_code == 413


def test_a_request_of_too_many_words_is_refused(narrow: TestClient) -> None:
    answer = narrow.post("/api/parse", json={"tokens": [["a"] * 5] * 21})
    assert answer.status_code == 413
    expected = "this is about 105 words, and a request may have 100; send it in pieces"
    assert answer.json() == {"detail": expected}
    assert narrow.post("/api/parse", json={"text": "a" * 500}).status_code == 413
    assert narrow.post("/api/parse", json={"tokens": [["a"] * 5] * 20}).status_code == 200


def test_udpipe_has_a_limit_of_its_own(narrow: TestClient) -> None:
    expected = "this is about 121 words, and a request may have 120; send it in pieces\n"
    for words, status in ((120, 200), (121, 413)):
        data = {"data": "a\n" * words, "input": "horizontal"}
        answer = narrow.post("/process", data=data)
        assert answer.status_code == status
    assert answer.text == expected


def test_a_long_word_is_refused_by_number(narrow: TestClient) -> None:
    expected = "word 2 of sentence 2 has 51 characters, and one may have 50; shorten it"
    words = [["a"], ["a", "x" * 51]]
    answer = narrow.post("/api/parse", json={"tokens": words})
    assert (answer.status_code, answer.json()) == (413, {"detail": expected})
    for data in ("a\na " + "x" * 51, "a\n\na\n" + "x" * 51):
        kind = "horizontal" if " " in data else "vertical"
        answer = narrow.post("/process", data={"data": data, "input": kind})
        assert (answer.status_code, answer.text) == (413, expected + "\n")
    answer = narrow.post("/api/parse", json={"text": f"a\na {'x' * 51}", "model": "words"})
    assert (answer.status_code, answer.json()) == (413, {"detail": expected})
    answer = narrow.post("/process", data={"data": "x" * 51, "tokenizer": ""})
    assert (answer.status_code, answer.text[:7]) == (413, "word 1 ")
    assert narrow.post("/api/parse", json={"tokens": [["a", "x" * 50]]}).status_code == 200


def test_long_words_count_for_several(narrow: TestClient) -> None:
    answer = narrow.post("/api/parse", json={"tokens": [["x" * 48] * 6] * 3})
    assert answer.json()["detail"].startswith("this is about 108 words, and a request may have 100")


def test_limits_on_words_are_about_words_whatever_is_asked_of_them(narrow: TestClient) -> None:
    answer = narrow.post("/api/parse", json={"tokens": [["a"] * 5] * 20, "topk": 50})
    assert answer.status_code == 200
    answer = narrow.post("/api/parse", json={"tokens": [["a"] * 5] * 21, "topk": 50})
    assert answer.json()["detail"].startswith("this is about 105 words, and a request may have")


def test_words_that_are_short_are_counted_when_they_are_cut(narrow: TestClient) -> None:
    expected = "this is about 150 words, and a request may have 100; send it in pieces"
    answer = narrow.post("/api/parse", json={"text": "a b c d e f\n" * 25, "model": "words"})
    assert (answer.status_code, answer.json()) == (413, {"detail": expected})


def test_a_long_sentence_is_refused_by_number(narrow: TestClient) -> None:
    expected = "sentence 2 has 9 words, and one may have 8; split it"
    answer = narrow.post("/api/parse", json={"tokens": [["a"], ["a"] * 9]})
    assert (answer.status_code, answer.json()) == (413, {"detail": expected})
    answer = narrow.post("/process", data={"data": "a\n" + "a " * 9, "input": "horizontal"})
    assert (answer.status_code, answer.text) == (413, expected + "\n")


def test_best_trees_of_a_long_sentence_are_refused(client: TestClient) -> None:
    answer = client.post("/api/parse", json={"tokens": [["a"] * 151], "topk": 2})
    assert answer.status_code == 413
    assert answer.json()["detail"].startswith("a sentence has 151 words, and the best trees are")


def test_the_entropy_of_a_long_sentence_is_left_out(client: TestClient) -> None:
    answer = client.post("/api/parse", json={"tokens": [["a"] * 151, ["a"] * 10]})
    long, short = answer.json()["sentences"]
    assert long["entropy"] is None
    assert short["entropy"] > 0


def test_a_body_that_does_not_come_is_not_waited_for(parser: Parser) -> None:
    app = create_app({"small": parser}, limits=Limits(receive_seconds=0.05))
    answers: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        answers.append(message)

    headers = [(b"content-length", b"10"), (b"content-type", b"application/json")]
    for path in ("/api/parse", "/process"):
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": headers,
            "query_string": b"",
            "app": app,
        }
        answers.clear()
        asyncio.run(app(scope, receive, send))
        assert answers[0]["status"] == 408
        assert b"nothing of the body came for 0.05 seconds" in answers[1]["body"]


@pytest.mark.parametrize(
    "request_",
    [
        {"tokens": [[1] * 1_000]},
        {"tokens": [1] * 1_000},
        {"tokens": [["a"]], "constraints": [1] * 1_000},
        {"tokens": [["a"]], "labels": [{"a": "b"}] * 1_000},
        {"tokens": [["a"]], "constraints": [{str(word): "x" for word in range(10_001)}]},
        {str(name): 1 for name in range(1_000)},
    ],
)
def test_errors_of_a_request_are_not_all_looked_for(request_: dict[str, Any]) -> None:
    """A megabyte of them took many seconds in which nobody was answered."""
    with pytest.raises(ValidationError) as caught:
        ParseRequest.model_validate(request_)
    assert caught.value.error_count() == 1


def test_blank_lines_cost_nearly_nothing(parser: Parser) -> None:
    engine = Engine(parser)

    def seconds(texts: Sequence[str]) -> float:
        started = time.process_time()
        assert sum(1 for _ in engine.cut(texts)) == len(texts)
        return time.process_time() - started

    lines = ["Hi there, you.\n"] * 200
    seconds(lines)
    assert seconds(["\n"] * len(lines)) < seconds(lines) / 4
    found = [list(piece) for piece in engine.cut(["\n", "Hi there.\n", "", " \n", "Hi.\n"])]
    assert [bool(sentences) for sentences in found] == [False, True, False, False, True]
