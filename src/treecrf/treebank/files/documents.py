"""JSON lines and Parquet: documents with a column of text come in, trees go out as JSON."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Literal, TypeAlias

from treecrf.extras import needs_extra
from treecrf.treebank.document import Document, with_document_ids
from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files import streams
from treecrf.treebank.files.streams import File
from treecrf.treebank.probs import log_prob, rank
from treecrf.treebank.sentence import Sentence

__all__ = ["DocumentFile", "document_file", "read_documents", "write_json"]

DocumentFile: TypeAlias = Literal["jsonl", "parquet"]

_NAME = "id"
_ROWS = 1000


def document_file(name: str) -> DocumentFile | None:
    """The kind of a file of documents, by its name; None is another file."""
    plain = name.removesuffix(".gz")
    if plain.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    return "parquet" if name.endswith(".parquet") else None


def read_documents(
    source: File, *, kind: DocumentFile, column: str = "text", before: int = 0
) -> Iterator[Document]:
    """The texts of a file, in the column of this name, each as a document without sentences.

    Its id is in the column `id`; without one, it is the number of the line or row. If the source is
    part of a file of JSON lines, `before` is how many lines precede it there.
    """
    return _read_jsonl(source, column, before) if kind == "jsonl" else _read_parquet(source, column)


def _read_jsonl(source: File, column: str, before: int) -> Iterator[Document]:
    with streams.open_source(source) as (file, name):
        for number, line in streams.read_lines(streams.read_chunks(file), name):
            if not line.strip():
                continue
            content = streams.decode(line, name, number)
            try:
                record = json.loads(content)
            except (ValueError, RecursionError) as error:  # so many digits or brackets, too
                problem = f"not a JSON object in a line of its own: {error}"
                raise TreebankError(problem, source=name, line=number) from None
            text = record.get(column) if isinstance(record, dict) else None
            if not isinstance(text, str):
                problem = f"no text called {column!r} in it; --text-column has another name"
                raise TreebankError(problem, source=name, line=number)
            yield Document(text=_writable(text), id=_name(record.get(_NAME), before + number))


def _read_parquet(source: File, column: str) -> Iterator[Document]:
    with needs_extra("ray", "Parquet"):
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

    with streams.open_source(source) as (file, name), contextlib.ExitStack() as stack:
        try:
            table = stack.enter_context(ParquetFile(file))
            columns = table.schema_arrow.names
            if column not in columns:
                problem = f"no column called {column!r} but {', '.join(columns)}: see --text-column"
                raise TreebankError(problem, source=name)
            wanted = [column, *([_NAME] if _NAME in columns else [])]
            rows = count(1)
            for batch in table.iter_batches(_ROWS, columns=wanted):
                for row, number in zip(batch.to_pylist(), rows, strict=False):
                    if not isinstance(row[column], str | None):
                        problem = f"the column {column!r} has no text; see --text-column"
                        raise TreebankError(problem, source=name)
                    yield Document(text=row[column] or "", id=_name(row.get(_NAME), number))
        except (ArrowException, UnicodeError) as error:
            problem = f"not Parquet that can be read: {str(error).splitlines()[0]}"
            raise TreebankError(problem, source=name) from None


def _name(value: object, number: int) -> str:
    """The id of a document; without one, its number."""
    name = _writable(str(value)).strip() if isinstance(value, str | int) else ""
    return name or str(number)


def _writable(text: str) -> str:
    """The text with a question mark for each half of a character, which JSON has and UTF-8 not."""
    return text.encode(errors="replace").decode()


def write_json(sentences: Iterable[Sentence], target: File) -> None:
    """Write `Sentence.to_dict()` of each, with the id of its document as `doc_id`.

    `rank` and `log_prob` are those of its tree, where they are known.
    """
    with streams.open_target(target) as write:
        for id, sentence in with_document_ids(sentences):
            value = {"doc_id": id} | sentence.to_dict()
            for name, known in (("rank", rank(sentence)), ("log_prob", log_prob(sentence))):
                if known is not None:
                    value[name] = known
            write(json.dumps(value, ensure_ascii=False) + "\n")
