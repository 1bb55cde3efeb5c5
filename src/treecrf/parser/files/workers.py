"""Parsing from file to file with worker processes.

This process computes. The workers turn pieces of the file into numbers, and the trees into text, so
that the device does not wait for Python.
"""

import os
import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

import torch

from treecrf.ops.backend import obstacle
from treecrf.parser.api import Parser
from treecrf.parser.columns.reading import whole_blocks
from treecrf.parser.config import Config
from treecrf.parser.decoding.batches import decode_sentences
from treecrf.parser.decoding.decoder import NoAllowedTreeError
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import TooLongError
from treecrf.parser.files.language import warn_of_language
from treecrf.parser.files.pipeline import submit
from treecrf.parser.files.scored import ScoredText, cut_scored
from treecrf.parser.files.sources import FileOptions, check_has_heads, look_into
from treecrf.parser.files.worker import Decoded, FileJob, Numbers, Piece
from treecrf.treebank.files.streams import File, open_source, read_chunks
from treecrf.treebank.files.text import Input, text_pieces

__all__ = ["parse_with_workers"]

# Pieces in flight for each worker: while one is computed, the next is read.
_IN_FLIGHT = 2
# Threads that compute: while one waits for a GPU, another makes the next batch.
_THREADS = {"cpu": 1, "cuda": 2}
_SECONDS_TO_END = 5.0
# Workers ignore Ctrl-C from their very start; the process that writes handles it.
_PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "from treecrf.parser.files.worker import serve; serve()"
)
_ENDED = "a process that reads and writes has ended; try --workers 0"


def parse_with_workers(
    parser: Parser,
    source: File,
    options: FileOptions,
    *,
    workers: int,
    piece_bytes: int = 1 << 21,
    piece_characters: int = 1 << 18,
    program: str = _PROGRAM,
) -> Iterator[bytes]:
    """Parse a file to pieces of CoNLL-U, in order; one tree a sentence, no documents.

    Pieces have about `piece_bytes`, of raw text `piece_characters`. Workers run `program`.
    """
    if workers < 1:
        raise ParserError(f"workers is {workers}; it is how many processes there are, 1 or more")
    if problem := obstacle("numba", torch.device("cpu")):
        raise ParserError(f"workers need Numba, and {problem}; parse with none")
    if options.topk is not None:
        raise ParserError("workers give one tree a sentence; parse with none for the best k")
    decoder, keep_heads, probs = options.decoder, options.keep_heads, options.write_probs
    with ExitStack() as stack:
        file, name = stack.enter_context(open_source(source))
        kind, file = look_into(parser, file, name, kind=options.input)
        check_has_heads(kind, name, keep_heads=keep_heads)
        cutting = None
        pieces: Iterator[Piece | ScoredText]
        if kind == "text":
            segmenter = parser.segmenter
            cutting = segmenter.splitter, segmenter.joins
            blocks = segmenter.score_stream(text_pieces(file, name))
            pieces = cut_scored(blocks, joins=segmenter.joins, size=piece_characters)
            read_as: Input = "tokens"
        elif kind == "conllu" or kind == "tokens":
            found = whole_blocks(
                read_chunks(file, piece_bytes // 8), name, size=piece_bytes, lines=kind == "tokens"
            )
            pieces, read_as = (Piece(line, data) for line, data in found), kind
        else:
            raise ParserError(f"{name}: workers take no documents; parse them with none")
        job = FileJob(parser.vocabulary, parser.config, name, read_as, keep_heads, probs, cutting)
        config = parser.config if decoder is None else replace(parser.config, decoder=decoder)
        pool: list[_Process] = []
        stack.callback(_close, pool)
        for _ in range(workers):
            pool.append(_Process(job, program))
        threads = ThreadPoolExecutor(_THREADS[parser.device.type])
        stop = threading.Event()
        stack.callback(threads.shutdown, cancel_futures=True)
        stack.callback(stop.set)
        told = False

        def compute(
            number: int, numbers: "Future[Numbers]", before: "Future[int]", after: "Future[int]"
        ) -> "Future[bytes]":
            nonlocal told
            sentences = before.result()
            try:
                encoded = numbers.result()
            finally:  # others wait for it
                failed = numbers.exception() is not None
                here = 0 if failed else len(numbers.result().encoded.lengths)
                after.set_result(sentences + here)
            if encoded.foreign and not told:
                told = True
                warn_of_language(parser.language)
            trees = _trees(parser, encoded, config, probs=probs)
            return pool[number % workers].ask(number, Decoded(trees, sentences))

        under_way: deque[Future[Future[bytes]]] = deque()
        after: Future[int] = Future()  # how many sentences come before the next piece
        after.set_result(0)
        for number, piece in enumerate(pieces):
            numbers = pool[number % workers].ask(number, piece)
            before, after = after, Future()
            under_way.append(submit(threads, stop, compute, number, numbers, before, after))
            if len(under_way) >= workers * _IN_FLIGHT:
                yield under_way.popleft().result().result()
        while under_way:
            yield under_way.popleft().result().result()


def _close(pool: "list[_Process]") -> None:
    """Tell all workers to end, then wait for them."""
    for process in pool:
        process.messages.put(None)
    until = time.monotonic() + _SECONDS_TO_END
    for process in pool:
        process.close(until=until)


def _trees(parser: Parser, numbers: Numbers, config: Config, *, probs: bool) -> Trees:
    try:
        return decode_sentences(
            parser.scorer,
            numbers.encoded,
            numbers.constraints,
            config=config,
            device=parser.device,
            probs=probs,
        )
    except (NoAllowedTreeError, TooLongError) as error:
        raise error.named(numbers.places[error.row]) from None


class _Process:
    """A worker process, and two threads that talk to it, so that `ask` does not wait."""

    def __init__(self, job: FileJob, program: str) -> None:
        # multiprocessing would import the main program, and torch, in the worker.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
        self.lock = threading.Lock()
        self.messages: SimpleQueue[object] = SimpleQueue()
        self.asked: deque[Future[Any]] = deque()  # replies come in this order
        self.ended = False
        self.messages.put(job)
        talks = self._send, self._listen
        self.talkers = [threading.Thread(target=talk, daemon=True) for talk in talks]
        for talker in self.talkers:
            talker.start()

    def ask(self, number: int, message: object) -> "Future[Any]":
        """A future reply to a piece, or to the trees of the piece with this number."""
        reply: Future[Any] = Future()
        with self.lock:
            if self.ended:
                reply.set_exception(ParserError(_ENDED))
            else:
                self.asked.append(reply)
                self.messages.put((number, message))
        return reply

    def close(self, *, until: float) -> None:
        """Wait for its end; kill it at the time `until`."""
        try:
            self.process.wait(max(0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for talker in self.talkers:
            talker.join()

    def _send(self) -> None:
        assert self.process.stdin is not None
        with suppress(OSError), self.process.stdin as pipe:  # `_listen` notices its end
            while (message := self.messages.get()) is not None:
                pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
                pipe.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        try:
            with self.process.stdout as pipe:
                while True:
                    reply = pickle.load(pipe)
                    future = self.asked.popleft()
                    if isinstance(reply, Exception):
                        future.set_exception(reply)
                    else:
                        future.set_result(reply)
        except Exception:  # the end of replies, or bytes that are no pickle
            pass
        finally:
            with self.lock:
                self.ended = True
                for future in self.asked:
                    future.set_exception(ParserError(_ENDED))
            self.messages.put(None)
