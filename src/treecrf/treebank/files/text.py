"""Pretokenised text: a sentence a line, white space between tokens; told from CoNLL-U by itself."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
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
_MAGIC = 16  # first bytes, by which pictures and archives are known

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
    start = b""
    for number, line in streams.read_lines(chunks, name):
        start = start or line[:_MAGIC]
        if forms := streams.decode(line, name, number, start=start).split():
            sentence = Sentence(forms, comments=["# text = " + " ".join(forms)])
            sentence.source, sentence.line = name, number
            yield sentence


def read_sentences(source: File, *, multiroot: bool = True) -> Iterator[Sentence]:
    """The sentences of a file, read as `read_conllu` or `read_tokens` does.

    The first line that is neither empty nor a comment tells which it is.
    """
    with streams.open_source(source) as (file, name):
        kind, start, _ = _start_of(file, name)
        chunks = streams.read_chunks(streams.rejoined(start, file))
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
    place, start = 0, b""
    try:
        while data := streams.read_piece(partial(read, _LOOK_AT), name):
            start = start or data[:_MAGIC]
            yield decoder.decode(data)
            place += len(data)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        reason = f"{error.reason}, near byte {place + error.start:,}"
        problem = streams.not_utf8(reason, name, start=start if place else error.object)
        raise TreebankError(problem, source=name) from None


def look_at(file: IO[bytes] | IO[str], name: str) -> tuple[Input, IO[bytes]]:
    """The kind of an open file, by how it starts, and the file from its start.

    A pipe is waited for until a line decides; CoNLL-U that begins with no row of it is an error.
    """
    kind, start, line = _start_of(file, name)
    if kind == "conllu" and _decides(line) and line.endswith(b"\n"):  # else the line may go on
        _check_row(line.rstrip(b"\r\n"), name, start.count(b"\n"))
    return kind, streams.rejoined(start, file)


def _start_of(file: IO[bytes] | IO[str], name: str) -> tuple[Input, bytes, bytes]:
    """The kind of a file, its first lines, and the last of these, which decides it.

    A file called .conllu is CoNLL-U, also where its tabs were lost. Otherwise the first line that
    is neither empty nor a comment decides: in CoNLL-U it has ten columns, or an id in the first of
    them, and then what else is wrong with it is named. Where the first 64 KiB have no such line, a
    tab in them makes it CoNLL-U.
    """
    start, line = b"", b""
    while not _decides(line) and len(start) < _LOOK_AT:
        read = partial(file.readline, _LOOK_AT - len(start))
        line = streams.read_piece(read, name, line=1, before=[start])
        if not line:
            break
        start += line
        line = line.removeprefix(codecs.BOM_UTF8)
    is_row = line.count(b"\t") == 9 or _ID.match(line) if _decides(line) else b"\t" in start
    is_conllu = is_row or name.endswith((".conllu", ".conllu.gz"))
    return "conllu" if is_conllu else "tokens", start, line


def _decides(line: bytes) -> bool:
    """Whether a line is neither empty nor a comment."""
    return bool(line.strip()) and not line.startswith(b"#")


def _check_row(line: bytes, name: str, number: int) -> None:
    """Raise an error if the first row of a file is none of CoNLL-U."""
    if line.count(b"\t") >= 9 and _ID.match(line):
        return
    try:
        parse_sentence(streams.decode(line, name, number), name, number, 0, multiroot=True)
    except TreebankError as error:
        advice = "if this is plain text, say so with `treecrf parse --input text`"
        raise TreebankError(f"{error.problem}; {advice}", source=name, line=number) from None
