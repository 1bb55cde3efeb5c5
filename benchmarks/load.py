"""Load on a service, from a process of its own: connections that send requests one after another.

`python -m benchmarks.load URL FILE` sends the bodies in a file, a line each, `words TAB JSON`, and
prints what happened as JSON. With `--rate`, so many words a second are sent whatever comes back.
"""

import argparse
import asyncio
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

_MOST_CONNECTIONS = 4_000
_IDLE_SECONDS = 2.0


@dataclass
class Record:
    """Outcomes of requests."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: dict[int, list[float]] = field(default_factory=dict)
    words: int = 0  # of those that were parsed
    problems: Counter[str] = field(default_factory=Counter)

    def add(self, status: int, seconds: float, words: int) -> None:
        self.statuses[status] += 1
        self.seconds.setdefault(status, []).append(seconds)
        self.words += words if status == 200 else 0


class Connection:
    """Persistent HTTP connection, with as much of HTTP as our service uses."""

    def __init__(self, host: str, port: int, path: str) -> None:
        self.address = host, port
        self.head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.used = 0.0

    async def post(self, body: bytes) -> int:
        """Send a body, read all of the answer, and give its status."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(*self.address, limit=1 << 20)
        reader, writer = self.streams
        try:
            writer.write(f"{self.head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            head = await reader.readuntil(b"\r\n\r\n")
            status, *fields = head.decode("latin-1").split("\r\n")
            length = next(f[15:] for f in fields if f.lower().startswith("content-length:"))
            await reader.readexactly(int(length))
        except BaseException:
            self.close()
            raise
        return int(status.split()[1])

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def steadily(
    record: Record, make: "Maker", bodies: Iterator[tuple[int, bytes]], *, until: float
) -> None:
    """Send requests on one connection, each as soon as the one before is answered."""
    connection = make()
    while time.perf_counter() < until:
        words, body = next(bodies)
        await one(record, connection, words, body)
    connection.close()


async def one(record: Record, connection: Connection, words: int, body: bytes) -> None:
    started = time.perf_counter()
    try:
        status = await connection.post(body)
    except (OSError, EOFError, asyncio.IncompleteReadError, StopIteration) as error:
        record.problems[type(error).__name__] += 1
    else:
        record.add(status, time.perf_counter() - started, words)


async def at_a_rate(
    record: Record,
    make: "Maker",
    bodies: Iterator[tuple[int, bytes]],
    *,
    rate: float,
    until: float,
) -> None:
    """Send a fixed number of words a second, on as many connections as that takes."""
    idle: list[Connection] = []
    running: set[asyncio.Task[None]] = set()

    async def send(words: int, body: bytes) -> None:
        while idle and time.perf_counter() - idle[-1].used > _IDLE_SECONDS:
            idle.pop().close()  # as the service may just be doing, too
        connection = idle.pop() if idle else make()
        await one(record, connection, words, body)
        connection.used = time.perf_counter()
        idle.append(connection)

    due = time.perf_counter()
    while due < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        words, body = next(bodies)
        due += words / rate
        if len(running) < _MOST_CONNECTIONS:
            task = asyncio.create_task(send(words, body))
            running.add(task)
            task.add_done_callback(running.discard)
        else:
            record.problems["too many connections"] += 1
    await asyncio.gather(*running)
    for connection in idle:
        connection.close()


class Maker:
    """Makes connections to a service."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self.arguments = parts.hostname, parts.port, parts.path

    def __call__(self) -> Connection:
        return Connection(*self.arguments)


async def load(options: argparse.Namespace) -> Record:
    lines = options.file.read_bytes().splitlines()
    pairs = [line.split(b"\t", 1) for line in lines]
    bodies = itertools.cycle([(int(words), body) for words, body in pairs])
    record, make = Record(), Maker(options.url)
    until = time.perf_counter() + options.seconds
    if options.rate:
        await at_a_rate(record, make, bodies, rate=options.rate, until=until)
    else:
        many = (steadily(record, make, bodies, until=until) for _ in range(options.connections))
        await asyncio.gather(*many)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.load", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("file", type=Path)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, help="words a second")
    options = parser.parse_args()
    started = time.perf_counter()
    record = asyncio.run(load(options))
    json.dump(
        {
            "statuses": {str(status): count for status, count in record.statuses.items()},
            "problems": dict(record.problems),
            "words": record.words,
            "elapsed": time.perf_counter() - started,
            "seconds": {str(status): sorted(each) for status, each in record.seconds.items()},
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
