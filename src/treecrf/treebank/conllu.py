"""Reading and writing of CoNLL-U files."""

import os
from collections.abc import Iterable, Iterator
from typing import IO

from treecrf.treebank.sentence import Sentence

__all__ = ["read_conllu", "write_conllu"]


def read_conllu(
    source: str | os.PathLike[str] | IO[bytes] | IO[str], *, multiroot: bool = True
) -> Iterator[Sentence]:
    """The sentences of a file, one by one."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, encoding="utf-8", newline="\n") as file:
            text = file.read()
    else:
        content = source.read()
        text = content if isinstance(content, str) else content.decode()
    line = 1
    for block in text.split("\n\n")[:-1]:
        lines = block.split("\n")
        comments = [row for row in lines if row.startswith("#")]
        body = lines[len(comments) :]
        words = [row.split("\t") for row in body]
        words = [row for row in words if row[0].isdecimal()]
        yield Sentence._from_body(
            "\n".join(body),
            comments,
            [row[1] for row in words],
            [-1 if row[6] == "_" else int(row[6]) for row in words],
            [row[7] for row in words],
            str(source),
            line,
        )
        line += len(lines) + 1


def write_conllu(
    sentences: Iterable[Sentence], target: str | os.PathLike[str] | IO[bytes] | IO[str]
) -> None:
    """Write sentences to a file."""
    text = "".join(sentence.to_conllu() for sentence in sentences)
    if isinstance(target, (str, os.PathLike)):
        with open(target, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    else:
        try:
            target.write(text)  # type: ignore[arg-type]
        except TypeError:
            target.write(text.encode())  # type: ignore[arg-type]
