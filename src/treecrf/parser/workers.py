"""Parsing from file to file, with processes for what Python does beside the device.

This process computes. The others each take pieces of the file, turn them into numbers, wait for
the trees and turn those into text, so that the device does not wait for Python.
"""

import multiprocessing
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from queue import SimpleQueue
from typing import IO, Literal, TypeVar, cast

from treecrf.parser.config import Config
from treecrf.parser.decode import NoAllowedTreeError
from treecrf.parser.errors import ParserError
from treecrf.parser.options import Decoder
from treecrf.parser.predict import Parser
from treecrf.parser.worker import FileJob, Numbers, Piece, serve
from treecrf.segment.scored import ScoredText, cut_scored
from treecrf.treebank.files import File, next_chunk, open_source, read_chunks
from treecrf.treebank.plain import Input, look_at, text_pieces

__all__ = ["parse_with_workers"]

_PIECE_BYTES = 1 << 21
_PIECE_CHARACTERS = 1 << 18  # of raw text
# Pieces for each worker that are under way at once: while one is computed the next one is read.
_IN_FLIGHT = 2
_ENDED = "a process that reads and writes has ended; try --workers 0"

Reply = TypeVar("Reply", Numbers, str)


def parse_with_workers(
    parser: Parser,
    source: File,
    *,
    workers: int,
    decoder: Decoder | None = None,
    input: Literal["auto", "conllu", "tokens", "text"] = "auto",
    keep_heads: bool = False,
    probs: bool = False,
) -> Iterator[str]:
    """The parsed file in pieces of CoNLL-U, in order; see `Parser.parse_stream`.

    With "auto" what is no CoNLL-U is taken for raw text if the model can cut it, else for words.
    """
    with ExitStack() as stack:
        file, name = stack.enter_context(open_source(source))
        kind = input
        if kind == "auto":
            kind, file = look_at(cast(IO[bytes], file), name)
            if kind == "tokens" and parser.has_segmenter:
                kind = "text"
        cutting = None
        pieces: Iterator[Piece | ScoredText]
        if kind == "text":
            segmenter = parser.segmenter
            cutting = segmenter.splitter, segmenter.joins
            blocks = segmenter.score_stream(text_pieces(cast(IO[bytes], file), name))
            pieces = cut_scored(blocks, joins=segmenter.joins, size=_PIECE_CHARACTERS)
            read_as: Input = "tokens"
        else:
            pieces, read_as = _pieces(read_chunks(file), name, kind), kind
        job = FileJob(parser.vocabulary, parser.config, name, read_as, keep_heads, probs, cutting)
        pool = [_Process(job) for _ in range(workers)]
        for process in pool:
            stack.callback(process.close)
        config = parser.config if decoder is None else replace(parser.config, decoder=decoder)
        count = 0
        to_compute: deque[int] = deque()
        to_write: deque[int] = deque()
        more = True
        while more or to_compute or to_write:
            while more and len(to_compute) + len(to_write) < workers * _IN_FLIGHT:
                piece = next(pieces, None)
                if piece is None:
                    more = False
                    break
                pool[count % workers].send(count, piece)
                to_compute.append(count)
                count += 1
            if to_compute:
                number = to_compute.popleft()
                process = pool[number % workers]
                numbers = _next(process.numbers)
                process.send(number, _trees(parser, numbers, config, probs=probs))
                to_write.append(number)
            if to_write and (len(to_write) > workers or not (more or to_compute)):
                number = to_write.popleft()
                yield _next(pool[number % workers].texts)


def _trees(parser: Parser, numbers: Numbers, config: Config, *, probs: bool) -> object:
    try:
        return parser.decode(numbers.encoded, numbers.limits, config=config, probs=probs)
    except NoAllowedTreeError as error:
        raise error.named(numbers.places[error.row]) from None


def _pieces(chunks: Iterator[bytes], name: str, kind: Input) -> Iterator[Piece]:
    """The file in pieces that end where a sentence ends."""
    lines = 0
    rest: list[bytes] = []
    while chunk := next_chunk(chunks, name, line=lines + 1, before=rest):
        rest.append(chunk)
        if sum(map(len, rest)) < _PIECE_BYTES:
            continue
        data = b"".join(rest)
        end = len(data) if kind == "tokens" else data.rfind(b"\n\n") + 2
        if end < 2:  # one sentence and no end of it
            rest = [data]
            continue
        yield Piece(lines, data[:end])
        lines += data.count(b"\n", 0, end)
        rest = [data[end:]]
    if data := b"".join(rest):
        yield Piece(lines, data)


class _Process:
    """A worker, and a thread that takes what it sends: it never has to wait for us to listen."""

    def __init__(self, job: FileJob) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, job), daemon=True)
        self.process.start()
        other.close()
        self.numbers: SimpleQueue[Numbers | Exception] = SimpleQueue()
        self.texts: SimpleQueue[str | Exception] = SimpleQueue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def send(self, number: int, message: object) -> None:
        try:
            self.connection.send((number, message))
        except OSError:
            raise ParserError(_ENDED) from None

    def close(self) -> None:
        with suppress(ParserError):
            self.send(-1, None)
        self.process.join(5)
        if self.process.is_alive():
            self.process.terminate()
        self.listener.join()  # it ends with the other end of the pipe
        self.connection.close()

    def _listen(self) -> None:
        """Replies of each kind come in the order of the pieces; an error is for whoever waits."""
        reply: Numbers | str | Exception
        ended = False
        while not ended:
            try:
                reply = self.connection.recv()
            except (EOFError, OSError):
                reply, ended = ParserError(_ENDED), True
            if not isinstance(reply, str):
                self.numbers.put(reply)
            if not isinstance(reply, Numbers):
                self.texts.put(reply)


def _next(replies: "SimpleQueue[Reply | Exception]") -> Reply:
    reply = replies.get()
    if isinstance(reply, Exception):
        raise reply
    return reply
