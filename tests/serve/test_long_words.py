"""A word of a megabyte holds nobody up: not the service, not a command."""

import gc
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.running import treecrf
from tests.serve.servers import Server
from treecrf.parser.bundled import model_folder

pytestmark = pytest.mark.service

MARKS = "a" + "\u0301\u0323" * 100_000  # which to put in order takes the square of so many steps
LONG = "x" * 1_000_000
ATTACKS = pytest.mark.parametrize("word", [MARKS, LONG], ids=["marks", "letters"])
CONLLU = "1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n2\t{}\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The English model, which reads pieces of words."""
    with Server(model_folder(None)) as server:
        server.parse(tokens=[["Hi", "."]])
        yield server


def seconds_of(server: Server) -> float:
    """The time that a process has spent on a CPU, in seconds."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def requests(word: str) -> Iterator[tuple[str, bytes, str]]:
    """The word in every way that it may come."""
    if len(word.encode()) < 1 << 20:
        yield "/api/parse", json.dumps({"tokens": [[word]]}, ensure_ascii=False).encode(), "json"
    for parameters in (
        {"data": word, "tokenizer": "", "parser": "", "tagger": ""},
        {"data": f"Hi {word}", "input": "horizontal", "parser": ""},
        {"data": CONLLU.format(word), "parser": ""},
    ):
        yield "/process", urllib.parse.urlencode(parameters).encode(), "x-www-form-urlencoded"


def post(address: str, body: bytes, kind: str) -> tuple[int, bytes]:
    request = urllib.request.Request(address, body, {"Content-Type": f"application/{kind}"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the time of a process")
@ATTACKS
def test_the_service_refuses_it_and_answers_others_meanwhile(server: Server, word: str) -> None:
    for path, body, kind in requests(word):
        before = seconds_of(server)
        with ThreadPoolExecutor(1) as pool:
            attack = pool.submit(post, server.url + path, body, kind)
            answers = 0
            while not (attack.done() and answers):
                with urllib.request.urlopen(f"{server.url}/healthz") as answer:
                    assert answer.read() == b"ok\n"
                answers += 1
        status, said = attack.result()
        assert status == 413
        assert b" characters, and one may have 1,000; shorten it" in said
        assert seconds_of(server) - before < 10  # it was a minute


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the time of a process")
def test_many_small_lists_make_nobody_wait_for_the_garbage_collector(server: Server) -> None:
    body = b'{"tokens": [' + b",".join([b"[]"] * 340_000) + b"]}"
    gc.disable()
    try:
        started = time.process_time()
        for _ in range(5):
            json.loads(body)
        alone = time.process_time() - started
    finally:
        gc.enable()
    before = seconds_of(server)
    for _ in range(5):
        assert post(f"{server.url}/api/parse", body, "json")[0] == 422
    assert seconds_of(server) - before < 15 * alone  # it was 30 times as long


def test_a_name_of_a_megabyte_is_not_sent_back(server: Server) -> None:
    body = b'{"tokens": [["Hi"]], "constraints": [{"%s": 1}]}' % (b"9" * 900_000)
    status, said = post(f"{server.url}/api/parse", body, "json")
    assert status == 422
    assert len(said) < 1_000


@pytest.mark.slow
@ATTACKS
def test_a_command_keeps_it_as_it_is(word: str, tmp_path: Path) -> None:
    seconds = {}
    for form in ("word", word):
        given, parsed = tmp_path / "given.conllu", tmp_path / "parsed.conllu"
        given.write_text(CONLLU.format(form), encoding="utf-8")
        started = time.process_time()
        treecrf("parse", given, "--device", "cpu", "-o", parsed)
        seconds[form] = time.process_time() - started
        lines = parsed.read_text(encoding="utf-8").splitlines()
        assert [line.split("\t")[1] for line in lines if line] == ["Hi", form]
    assert seconds[word] < 5 * seconds["word"] + 1
