"""Pretokenised text: a sentence a line, white space between tokens; told from CoNLL-U by itself."""

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import IO, Literal, TypeAlias

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files import streams
from treecrf.treebank.files.conllu import parse_chunks, parse_sentence
from treecrf.treebank.files.streams import File
from treecrf.treebank.sentence import Sentence

__all__ = [
    "Input",
    "SentenceIds",
    "look_at",
    "parse_input",
    "read_sentences",
    "read_tokens",
    "text_pieces",
]

Input: TypeAlias = Literal["conllu", "tokens"]

_LOOK_AT = 1 << 16

_NO_PART_OF_IDS = re.compile(r"[\s/]+")  # in Universal Dependencies; a slash is for translations
_ID = re.compile(rb"(?:0|[1-9][0-9]*)(?:[-.][1-9][0-9]*)?\t")


def read_tokens(source: File) -> Iterator[Sentence]:
    """The sentences of a file that has one a line, with white space between the tokens.

    The source is what it is for `read_conllu`. Empty lines are skipped. A sentence has its tokens,
    with one space between them, as the comment `# text = ...`, and no heads.
    """
    with streams.open_source(source) as (file, name):
        yield from _split_lines(streams.read_chunks(file), name)


def _split_lines(chunks: Iterator[bytes], name: str) -> Iterator[Sentence]:
    for number, line in streams.read_lines(chunks, name):
        if forms := streams.decode(line, name, number).split():
            sentence = Sentence(forms, comments=["# text = " + " ".join(forms)])
            sentence.source, sentence.line = name, number
            yield sentence


def read_sentences(source: File, *, multiroot: bool = True) -> Iterator[Sentence]:
    """The sentences of a file, read as `read_conllu` or `read_tokens` does: see `find_input`."""
    with streams.open_source(source) as (file, name):
        kind, chunks = find_input(streams.read_chunks(file), name)
        yield from parse_input(chunks, name, kind=kind, multiroot=multiroot)


def parse_input(
    chunks: Iterator[bytes], name: str, *, kind: Input, multiroot: bool, trees: bool = True
) -> Iterator[Sentence]:
    """The sentences of a file of this kind; without `trees`, heads that make none are left out."""
    if kind == "conllu":
        yield from parse_chunks(chunks, name, columns="gold", multiroot=multiroot, trees=trees)
    else:
        yield from _split_lines(chunks, name)


@dataclass(slots=True)
class SentenceIds:
    """Gives sentences of a text their ids: 1, 2, 3, ..., and after that of a document ID-1, ..."""

    number: int = 0  # of the last sentence, in its document if that has an id
    document: str = ""

    def give(self, sentence: Sentence) -> Sentence:
        """The sentence with a comment `# sent_id = ...`, before that of its text."""
        for comment in sentence.comments:
            if comment.startswith("# newdoc"):
                name = _NO_PART_OF_IDS.sub("_", comment.partition("=")[2].strip())
                if name:
                    self.document, self.number = f"{name}-", 0
        self.number += 1
        if sentence.sent_id is not None:
            return sentence
        comments = sentence.comments
        at = next((i for i, c in enumerate(comments) if c.startswith("# text")), len(comments))
        comments.insert(at, f"# sent_id = {self.document}{self.number}")
        return sentence


def text_pieces(file: IO[bytes] | IO[str], name: str) -> Iterator[str]:
    """The text of an open file, nothing of it changed; a byte that is not UTF-8 is an error."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = getattr(file, "read1", file.read)
    place = 0
    try:
        while data := streams.read_piece(partial(read, _LOOK_AT), name):
            yield decoder.decode(data)
            place += len(data)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        reason = f"{error.reason}, near byte {place + error.start:,}"
        problem = streams.not_utf8(reason, name, start=b"" if place else error.object)
        raise TreebankError(problem, source=name) from None


def look_at(file: IO[bytes], name: str) -> tuple[Input, IO[bytes]]:
    """The kind of an open file, by how it starts, and the file from its start.

    A pipe is waited for until a line decides; CoNLL-U that begins with no row of it is an error.
    """
    start = _start_of(file, name)
    kind, _ = find_input(streams.read_chunks(io.BytesIO(start)), name)
    if kind == "conllu":
        _check_first_row(start[: start.rfind(b"\n") + 1], name)  # the last line may go on
    return kind, streams.rejoined(start, file)


def _start_of(file: IO[bytes], name: str) -> bytes:
    """The lines up to the one that decides what a file is, or all that is looked at."""
    start = bytearray()
    while line := streams.read_piece(partial(file.readline, _LOOK_AT - len(start)), name):
        start += line
        if _decides(line.removeprefix(codecs.BOM_UTF8)):
            break
    return bytes(start)


def _decides(line: bytes) -> bool:
    """Whether a line is neither empty nor a comment."""
    return bool(line.strip()) and not line.startswith(b"#")


def _check_first_row(start: bytes, name: str) -> None:
    for number, line in streams.read_lines(streams.read_chunks(io.BytesIO(start)), name):
        if _decides(line):
            if line.count(b"\t") >= 9 and _ID.match(line):
                return
            try:
                parse_sentence(streams.decode(line, name, number), name, number, 0, multiroot=True)
            except TreebankError as error:
                advice = "if this is plain text, say so with `treecrf parse --input text`"
                problem = f"{error.problem}; {advice}"
                raise TreebankError(problem, source=name, line=number) from None
            return


def find_input(chunks: Iterator[bytes], name: str) -> tuple[Input, Iterator[bytes]]:
    """The kind of a file that comes in pieces, and all its pieces.

    A file called .conllu is CoNLL-U, also where its tabs were lost. Otherwise the first line that
    is neither empty nor a comment decides: in CoNLL-U it has ten columns, or an id in the first of
    them, and then what else is wrong with it is named. Where the first 64 KiB have no such line, a
    tab in them makes it CoNLL-U.
    """
    if name.endswith((".conllu", ".conllu.gz")):
        return "conllu", chunks
    taken: list[bytes] = []
    left = _LOOK_AT
    while left > 0 and (chunk := streams.next_chunk(chunks, name, line=1, before=taken)):
        taken.append(chunk)
        lines = chunk[:left].split(b"\n")
        if len(chunk) > left:
            lines.pop()  # which may go on
        left -= len(chunk)
        for line in lines:
            if _decides(line):
                is_row = line.count(b"\t") == 9 or _ID.match(line)
                return "conllu" if is_row else "tokens", chain(taken, chunks)
    has_tab = b"\t" in b"".join(taken)[:_LOOK_AT]
    return "conllu" if has_tab else "tokens", chain(taken, chunks)
