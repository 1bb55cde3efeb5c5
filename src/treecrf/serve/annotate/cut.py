"""The cut of a text into sentences and words, as it was when annotation began."""

import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from treecrf.parser.choices import InputKind
from treecrf.parser.files.sources import FileOptions, look_into, read_input
from treecrf.serve.annotate.store import SentenceStore
from treecrf.storage import hidden
from treecrf.treebank import Sentence, TreebankError
from treecrf.treebank.files import streams
from treecrf.treebank.files.documents import document_file
from treecrf.treebank.files.text import parse_input

if TYPE_CHECKING:
    from treecrf.parser import Parser

__all__ = ["Cut"]

_HEADER = re.compile(rb"# annotate_text = ([0-9]{1,18}) ([0-9a-f]{64})\s*")
_SPACES = b" \t\r\n\f\v"
_CHUNK = 1 << 18


class Cut:
    """The sentences of a corpus, and a file beside the annotations that keeps those of a text."""

    def __init__(self, corpus: str, annotations: Path, *, is_begun: bool) -> None:
        self.path = annotations.with_name(hidden(annotations, 4).removeprefix(".") + ".cut")
        self._corpus, self._annotations = corpus, annotations.name
        self._is_begun = is_begun
        self._lock = threading.Lock()
        self._header: str | None = None  # of what is to be written

    def sentences(self, parser: "Parser") -> Iterator[Sentence]:
        """The sentences as they were cut when the annotation began; of a new text, as they are now.

        What was added to the end of the text since then is cut by this parser.
        """
        # CoNLL-U says itself what its sentences are, and a pipe cannot be read again.
        is_text = os.path.isfile(self._corpus) and self._kind(parser) != "conllu"
        if is_text and self._is_begun and self.path.exists():
            yield from self._as_before(parser)
            return
        self._header = self._header_now() if is_text else None
        yield from read_input(parser, self._corpus, FileOptions(), trees=False)

    def keep(self, store: SentenceStore) -> None:
        """Write the cut, unless it is written: before the first annotation that needs it."""
        with self._lock:  # of several annotators, two may decide at once
            if self._header is None:
                return
            with streams.open_target(self.path) as write:
                write(self._header)
                for number in range(1, len(store) + 1):
                    write(store.data(number).decode())
            self._header = None

    def _kind(self, parser: "Parser") -> InputKind:
        if (kind := document_file(self._corpus)) is not None:
            return kind
        with streams.open_source(self._corpus) as (stream, name):
            return look_into(parser, stream, name, kind="auto")[0]

    def _header_now(self) -> str:
        with streams.open_source(self._corpus) as (stream, name):
            size, digest, _ = _fingerprint(stream, name)
        return f"# annotate_text = {size} {digest}\n"

    def _as_before(self, parser: "Parser") -> Iterator[Sentence]:
        with open(self.path, "rb") as file, streams.open_source(self._corpus) as (stream, name):
            header = _HEADER.fullmatch(file.readline())
            if header is None:
                hint = "bring that back, or give another --out"
                raise TreebankError(f"{self.path}: not as `treecrf annotate` wrote it; {hint}")
            size, digest, rest = _fingerprint(stream, name, most=int(header[1]))
            if (size, digest) != (int(header[1]), header[2].decode()):
                problem = f"not the text that was annotated in {self._annotations}"
                hint = "give that text, or another --out"
                raise TreebankError(f"{self._corpus}: {problem}; {hint}")
            chunks, path = streams.read_chunks(file), str(self.path)
            yield from parse_input(chunks, path, kind="conllu", multiroot=True, trees=False)
            added = streams.rejoined(rest, cast(IO[bytes], stream))
            options = FileOptions(input=self._kind(parser))
            for sentence in read_input(parser, added, options, trees=False):
                self._header = self._header or self._header_now()
                yield sentence


def _fingerprint(
    stream: IO[bytes] | IO[str], name: str, *, most: int = sys.maxsize
) -> tuple[int, str, bytes]:
    """Number and hash of up to `most` bytes that are no white space, and what is left over."""
    size, digest, rest = 0, hashlib.sha256(), b""
    while size < most and (data := streams.read_piece(partial(stream.read, _CHUNK), name)):
        bare = data.translate(None, _SPACES)
        if size + len(bare) > most:
            found = re.match(rb"(?:\s*+\S){%d}" % (most - size), data)
            place = found.end() if found else len(data)
            data, rest = data[:place], data[place:]
            bare = data.translate(None, _SPACES)
        size += len(bare)
        digest.update(bare)
    return size, digest.hexdigest(), rest
