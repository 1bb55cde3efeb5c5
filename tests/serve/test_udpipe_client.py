"""The protocol of UDPipe 2's own client, byte for byte as it sends files to a service."""

import json
import re
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.serve.servers import Server

pytestmark = pytest.mark.service

Send = Callable[[str, Mapping[str, str]], Any]

BOUNDARY = "3f0c8a"


@pytest.fixture(scope="module")
def server(full_model: Path) -> Iterator[Server]:
    with Server(full_model, "--queue-words", 400) as server:
        yield server


def multipart(url: str, fields: Mapping[str, str]) -> Any:
    """A form in parts, with a type, an encoding and a quoted boundary, as the client has them."""
    lines: list[str] = []
    for name, value in fields.items():
        lines += f"--{BOUNDARY}", f'Content-Disposition: form-data; name="{name}"'
        lines += "Content-Transfer-Encoding: 8bit", "Content-Type: text/plain; charset=utf-8"
        lines += "", value
    body = "\r\n".join([*lines, f"--{BOUNDARY}--", ""]).encode()
    return ask(url, body, f'multipart/form-data; boundary="{BOUNDARY}"')


def urlencoded(url: str, fields: Mapping[str, str]) -> Any:
    body = urllib.parse.urlencode(fields).encode()
    return ask(url, body, "application/x-www-form-urlencoded")


def ask(url: str, body: bytes, kind: str) -> Any:
    request = urllib.request.Request(f"{url}/process", body, {"Content-Type": kind})
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


@pytest.mark.parametrize("send", [multipart, urlencoded])
def test_every_option_of_the_client_is_taken(server: Server, send: Send) -> None:
    with urllib.request.urlopen(f"{server.url}/models") as answer:
        listed = json.loads(answer.read())
    assert listed["default_model"] in listed["models"]
    texts = {"conllu": "1\tAnna" + "\t_" * 8 + "\n\n", "horizontal": "Anna\n", "vertical": "Anna\n"}
    for kind, data in texts.items():
        for output in ("conllu", "conllu=v1", "horizontal", "horizontal=paragraphs", "vertical"):
            # In the order of the client; what was not given is not sent.
            fields = {"input": kind, "output": output, "data": data}
            for model in ({}, {"model": listed["default_model"]}):
                for steps in ({}, {"parser": ""}, {"parser": "", "tagger": ""}):
                    answer = send(server.url, fields | model | steps)
                    assert answer["model"] == "small"
                    assert re.search(r"(\A|\t|\n)Anna[\t\n]", answer["result"])
    for options in ("", "ranges", "presegmented", "normalized_spaces;presegmented;ranges"):
        fields = {"input": "conllu", "output": "conllu", "data": "Anna slept.\r\nIt rained."}
        written = send(server.url, fields | {"tokenizer": options, "parser": ""})["result"]
        assert written.count("\troot\t") == 2
        assert ("TokenRange=" in written) == ("ranges" in options)


@pytest.mark.parametrize("send", [multipart, urlencoded])
def test_a_file_of_more_words_than_may_wait_is_parsed(server: Server, send: Send) -> None:
    """In parts: whoever asks for a sentence meanwhile has it before."""
    lines = 1_000
    fields = {"input": "conllu", "output": "conllu", "data": "Anna saw the garden.\n" * lines}
    with ThreadPoolExecutor(1) as pool:
        large = pool.submit(send, server.url, fields | {"tokenizer": "", "parser": ""})
        passed = 0
        while not large.done():
            assert len(server.parse(tokens=[["Anna", "slept"]])["sentences"]) == 1
            passed += not large.done()
        written = large.result()["result"]
    assert written.count("\troot\t") == written.count("# sent_id") >= lines / 2
    assert passed >= 1


def test_four_mebibytes_are_taken(server: Server) -> None:
    words = "1\tAnna" + "\t_" * 8 + "\n\n"
    data = "# " + "x" * ((1 << 22) - len(words) - 3) + "\n" + words
    assert len(data) == 1 << 22
    answer = multipart(server.url, {"input": "conllu", "output": "vertical", "data": data})
    assert answer["result"] == "Anna\n\n"
