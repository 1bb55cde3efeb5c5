"""Pretokenised text: a sentence a line, white space between tokens; told from CoNLL-U by itself."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias

from treecrf.treebank.conllu import parse_chunks
from treecrf.treebank.files import (
    File,
    decode,
    next_chunk,
    open_source,
    read_chunks,
    read_lines,
)
from treecrf.treebank.sentence import Sentence

__all__ = ["Input", "find_input", "parse_input", "read_sentences", "read_tokens"]

Input: TypeAlias = Literal["conllu", "tokens"]

_LOOK_AT = 1 << 16

_ID = re.compile(rb"(?:0|[1-9][0-9]*)(?:[-.][1-9][0-9]*)?\t")


def read_tokens(source: File) -> Iterator[Sentence]:
    """The sentences of a file that has one a line, with white space between the tokens.

    The source is what it is for `read_conllu`. Empty lines are skipped. A sentence has its tokens,
    with one space between them, as the comment `# text = ...`, and no heads.
    """
    with open_source(source) as (file, name):
        yield from _split_lines(read_chunks(file), name)


def _split_lines(chunks: Iterator[bytes], name: str) -> Iterator[Sentence]:
    for number, line in read_lines(chunks, name):
        if forms := decode(line, name, number).split():
            sentence = Sentence(forms, comments=["# text = " + " ".join(forms)])
            sentence.source, sentence.line = name, number
            yield sentence


def read_sentences(source: File, *, multiroot: bool = True) -> Iterator[Sentence]:
    """The sentences of a file, read as `read_conllu` or `read_tokens` does: see `find_input`."""
    with open_source(source) as (file, name):
        kind, chunks = find_input(read_chunks(file), name)
        yield from parse_input(chunks, name, kind=kind, multiroot=multiroot)


def parse_input(
    chunks: Iterator[bytes], name: str, *, kind: Input, multiroot: bool
) -> Iterator[Sentence]:
    """The sentences of a file of this kind that comes in pieces."""
    if kind == "conllu":
        yield from parse_chunks(chunks, name, columns="gold", multiroot=multiroot)
    else:
        yield from _split_lines(chunks, name)


def find_input(chunks: Iterator[bytes], name: str) -> tuple[Input, Iterator[bytes]]:
    """What a file that comes in pieces is, and all its pieces.

    The first line that is neither empty nor a comment decides: in CoNLL-U it has ten columns, or an
    id in the first of them, and then what else is wrong with it is named. Where the first 64 KiB
    have no such line, a tab in them makes it CoNLL-U.
    """
    taken: list[bytes] = []
    left = _LOOK_AT
    while left > 0 and (chunk := next_chunk(chunks, name, line=1, before=taken)):
        taken.append(chunk)
        lines = chunk[:left].split(b"\n")
        if len(chunk) > left:
            lines.pop()  # which may go on
        left -= len(chunk)
        for line in lines:
            if line.strip() and not line.startswith(b"#"):
                is_row = line.count(b"\t") == 9 or _ID.match(line)
                return "conllu" if is_row else "tokens", chain(taken, chunks)
    has_tab = b"\t" in b"".join(taken)[:_LOOK_AT]
    return "conllu" if has_tab else "tokens", chain(taken, chunks)
