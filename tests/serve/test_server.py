"""The process: it listens on the loopback, bears bad clients, and ends without losing anything."""

import contextlib
import json
import socket
import struct
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from udapi.tool.udpipeonline import UDPipeOnline

from tests.serve.servers import Server

pytestmark = pytest.mark.service

WORDS = ["Anna", "saw", "the", "garden", "."]


@pytest.fixture(scope="module")
def server(full_model: Path) -> Iterator[Server]:
    with Server(full_model) as server:
        yield server


def test_many_clients_at_once_get_their_own_answers(server: Server) -> None:
    texts = [" ".join(["very"] * number) + " good ." for number in range(1, 41)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda text: server.parse(text=text), texts))
    for text, answer in zip(texts, answers, strict=True):
        assert " ".join(sentence["text"] for sentence in answer["sentences"]) == text


def test_a_client_of_udpipe_works_unchanged(server: Server) -> None:
    client = UDPipeOnline("small", server=server.url)
    assert client.list_models() == ["small"]
    parameters = {"data": "Anna saw Zoë.", "tokenizer": "", "tagger": "", "parser": ""}
    for send in (client.perform_request, client.perform_request_urlencoded):
        result = send(parameters)
        assert "# text = Anna saw Zoë.\n" in result
        assert "\troot\t" in result


def test_by_default_only_this_machine_is_listened_to(server: Server) -> None:
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: this finds out our own address
            own = probe.getsockname()[0]
        except OSError:
            pytest.skip("this machine has no other address")
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
        socket.create_connection((own, server.port), timeout=2)


def test_names_of_others_are_not_answered_to(server: Server) -> None:
    request = urllib.request.Request(f"{server.url}/models", headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request)
    assert refusal.value.code == 400
    said = refusal.value.read()
    assert said.startswith(b"this service is not called 'evil.example'; it answers to 127.0.0.1, ")
    assert said.endswith(b", and to others with --allow-host\n")


@pytest.mark.skipif(sys.platform != "linux", reason="has one loopback address only")
def test_its_own_address_is_answered_to(full_model: Path) -> None:
    with Server(full_model, "--host", "127.0.0.2") as server:
        assert server.url.startswith("http://127.0.0.2:")
        assert len(server.parse(tokens=[WORDS])["sentences"]) == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="has one loopback address only")
@pytest.mark.parametrize("host", ["LOCALHOST", "127.1", "127.0.0.3"])
def test_whatever_means_the_loopback_has_names_checked(full_model: Path, host: str) -> None:
    with Server(full_model, "--host", host, "--allow-host", "Ours.example") as server:
        assert server.url == f"http://{host}:{server.port}"
        for name, status in (
            (host, 200),
            (f"{host}:{server.port}", 200),
            ("localhost", 200),
            ("ours.example", 200),
            ("evil.example", 400),
        ):
            assert status_of(server, name) == status


def test_names_can_be_asked_for_on_every_address(full_model: Path) -> None:
    with Server(full_model, "--host", "0.0.0.0", "--allow-host", "ours.example") as server:
        for name, status in (("127.0.0.1", 200), ("ours.example", 200), ("evil.example", 400)):
            assert status_of(server, name) == status


def status_of(server: Server, host: str) -> int:
    request = urllib.request.Request(f"{server.url}/models", headers={"Host": host})
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


def test_two_lengths_of_a_body_are_refused(server: Server) -> None:
    body = b"5\r\ndata=\r\n0\r\n\r\n"
    head = b"POST /process HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    head += b"Content-Type: application/x-www-form-urlencoded\r\n"
    for length, status in ((b"", b"200"), (b"Content-Length: %d\r\n" % len(body), b"400")):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head + length + b"Connection: close\r\n\r\n" + body)
            said = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        assert said.startswith(b"HTTP/1.1 " + status)
    assert b"both Content-Length and Transfer-Encoding" in said


def test_clients_that_stall_or_break_hold_up_nobody(server: Server) -> None:
    head = (
        b"POST /api/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n"
    )
    start = head % 1000 + b"{"
    whole = json.dumps({"tokens": [WORDS] * 200}).encode()
    asked = head % len(whole) + whole
    with contextlib.ExitStack() as open_ones:
        for sent in (b"", b"POST", start) * 20:
            stalled = socket.create_connection(("127.0.0.1", server.port))
            open_ones.enter_context(stalled)
            stalled.sendall(sent)
        for _ in range(20):  # they ask and leave without a word
            gone = socket.create_connection(("127.0.0.1", server.port))
            gone.sendall(asked)
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.close()
        for garbage in (b"\x00\xff" * 100, b"GET / HTTP/9.9\r\n\r\n", b"A" * 100_000):
            with contextlib.suppress(OSError):
                broken = open_ones.enter_context(
                    socket.create_connection(("127.0.0.1", server.port))
                )
                broken.sendall(garbage)
        deadline = time.monotonic() + 3000
        while queued_words(server) and time.monotonic() < deadline:
            time.sleep(0.01)  # until it is noticed that they have left
        started = time.monotonic()
        assert len(server.parse(tokens=[WORDS])["sentences"]) == 1
        # As long as a slow machine takes, and less than the service waits for those who stall.
        assert time.monotonic() - started < 25


def test_a_busy_service_says_when_to_come_back(full_model: Path) -> None:
    with Server(full_model, "--queue-words", 3_000, "--request-words", 2_000) as server:
        server.parse(tokens=[WORDS])  # kernels are compiled
        refusals: list[tuple[int, str]] = []

        def ask(_: int) -> int:
            try:
                server.parse(tokens=[WORDS] * 300)
            except urllib.error.HTTPError as refusal:
                refusals.append((int(refusal.headers["Retry-After"]), json.load(refusal)["detail"]))
                return refusal.code
            return 200

        with ThreadPoolExecutor(16) as pool:
            statuses = set(pool.map(ask, range(48)))
        assert statuses == {200, 503}
        assert all(wait >= 1 and "and no more fit" in detail for wait, detail in refusals)
        assert ask(0) == 200
        with urllib.request.urlopen(f"{server.url}/metrics") as answer:
            assert b'treecrf_queued_words{model="small"} 0\n' in answer.read()


@pytest.mark.slow
def test_it_can_be_ended_as_soon_as_it_serves(full_model: Path) -> None:
    for _ in range(2):
        with Server(full_model) as server:
            assert server.end() == (0, "")


@pytest.mark.slow
def test_what_is_in_hand_is_finished_at_the_end(full_model: Path) -> None:
    with Server(full_model) as server:
        server.parse(tokens=[WORDS])
        answers = []
        asking = [
            threading.Thread(target=lambda: answers.append(server.parse(tokens=[WORDS] * 600)))
            for _ in range(3)
        ]
        for thread in asking:
            thread.start()
        deadline = time.monotonic() + 300
        while (queued := queued_words(server)) < 6_000 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert queued >= 6_000
        code, said = server.end()
        for thread in asking:
            thread.join()
        assert (code, said) == (0, "")
        assert [len(answer["sentences"]) for answer in answers] == [600] * 3


def queued_words(server: Server) -> int:
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith("treecrf_queued_words{"):
                return int(line.split()[1])
    return 0
