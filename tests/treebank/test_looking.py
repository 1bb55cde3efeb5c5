"""What a file is, by how it starts: as soon as a whole line says so, whatever comes at a time."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue

import pytest

from treecrf.treebank.files.text import Input, look_at

ROW = b"1\tI\t_\t_\t_\t_\t_\t_\t_\t_\n"


@contextmanager
def looking(read: int) -> Iterator["SimpleQueue[tuple[Input, bytes]]"]:
    """What is found out about a pipe, and then all that comes through it."""
    found: SimpleQueue[tuple[Input, bytes]] = SimpleQueue()

    def look() -> None:
        with open(read, "rb") as file:
            kind, whole = look_at(file, "pipe")
            found.put((kind, b""))
            found.put((kind, whole.read()))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    yield found
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        ([b"# sent_id = 1\n", ROW], "conllu"),
        ([b"# sent", b"_id = 1\n1", b"\tI", ROW[3:]], "conllu"),
        ([b"\xef\xbb\xbf", b"\n", b"# sent_id = 1\n", ROW], "conllu"),
        ([b"\xef\xbb\xbf# sent_id = 1\n", ROW], "conllu"),
        ([b"\r\n", b"#\r", b"\n", ROW], "conllu"),
        ([b"# 1 song\n", b"1", b" dog\n"], "tokens"),
        ([b"Hel", b"lo\n"], "tokens"),
    ],
)
def test_a_slow_pipe_is_what_it_is_when_it_is_fast(pieces: Sequence[bytes], kind: Input) -> None:
    read, write = os.pipe()
    with looking(read) as found, open(write, "wb", buffering=0) as writer:
        for piece in pieces:
            assert found.empty()  # no line has said anything
            writer.write(piece)
            threading.Event().wait(0.02)
        # The pipe is still open: who types gets an answer to the first line.
        assert found.get(timeout=120) == (kind, b"")
        writer.write(b"more")
        writer.close()
        assert found.get(timeout=120) == (kind, b"".join(pieces) + b"more")


@pytest.mark.parametrize(
    ("text", "kind"), [(ROW[:-1], "conllu"), (b"Hello", "tokens"), (b"", "tokens")]
)
def test_the_end_of_a_file_ends_its_last_line(text: bytes, kind: Input) -> None:
    read, write = os.pipe()
    with looking(read) as found, open(write, "wb", buffering=0) as writer:
        writer.write(text)
        writer.close()
        assert found.get(timeout=120) == (kind, b"")
        assert found.get(timeout=120) == (kind, text)


def test_no_more_is_waited_for_than_is_looked_at() -> None:
    read, write = os.pipe()
    with looking(read) as found, open(write, "wb", buffering=0) as writer:
        for _ in range(1 << 4):
            writer.write(b"x" * (1 << 12))
        assert found.get(timeout=120) == ("tokens", b"")
        writer.close()
        assert found.get(timeout=120) == ("tokens", b"x" * (1 << 16))
