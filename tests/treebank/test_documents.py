"""Documents of JSON lines and Parquet: their texts, their names, and what is wrong with them."""

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from treecrf.treebank import Document, Sentence, TreebankError
from treecrf.treebank.files.documents import (
    DocumentFile,
    document_file,
    read_documents,
    write_json,
)

RECORDS = [{"id": "a 1", "text": "A dog."}, {"text": ""}, {"id": 7, "text": "Zwei\nZeilen"}]


def named(documents: Iterable[Document]) -> list[tuple[str | None, str]]:
    return [(document.id, document.text) for document in documents]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.jsonl", "jsonl"),
        ("a.jsonl.gz", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.txt", None),
        ("-", None),
    ],
)
def test_files_are_known_by_their_names(name: str, kind: DocumentFile | None) -> None:
    assert document_file(name) == kind


def test_json_lines(tmp_path: Path) -> None:
    text = "\n\n".join(json.dumps(record) for record in RECORDS) + "\n"
    for path in (tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"):
        data = text.encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        found = named(read_documents(path, kind="jsonl"))
        # The third line is the second document, which has no id.
        assert found == [("a 1", "A dog."), ("3", ""), ("7", "Zwei\nZeilen")]


def test_sentences_in_json_have_the_id_of_their_document() -> None:
    comments = [["# newdoc id = a 1"], [], ["# newdoc"], ["# text = x", "#newdoc id = b "], []]
    target = io.StringIO()
    write_json((Sentence(["x"], comments=each) for each in comments), target)
    values = [json.loads(line) for line in target.getvalue().splitlines()]
    assert [value["doc_id"] for value in values] == ["a 1", "a 1", None, "b", "b"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not a JSON object in a line of its own"),
        ("[" * 200_000, "not a JSON object in a line of its own"),
        ("1" * 5000, "not a JSON object in a line of its own"),  # a number too long for Python
        ("\xff", "not UTF-8"),
        ("[1]", "no text called 'text' in it; --text-column"),
        ('{"text": 3}', "no text called 'text' in it; --text-column"),
        ('{"body": "a"}', "no text called 'text' in it; --text-column"),
    ],
)
def test_a_line_without_text_is_named(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n' + line + "\n", encoding="latin-1")
    with pytest.raises(TreebankError) as error:
        list(read_documents(path, kind="jsonl"))
    assert str(error.value).startswith(f"{path}:2: {problem}")


def test_half_characters_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(r'{"id": "\udfff 1", "text": "a \ud800b \ud83d\ude00"}' + "\n")
    assert named(read_documents(path, kind="jsonl")) == [("? 1", "a ?b 😀")]


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    texts = [record["text"] for record in RECORDS]
    parquet.write_table(pyarrow.table({"id": ["a 1", None, "7"], "text": texts}), path)
    found = named(read_documents(path, kind="parquet"))
    assert found == [("a 1", "A dog."), ("2", ""), ("7", "Zwei\nZeilen")]
    parquet.write_table(pyarrow.table({"body": texts, "size": [1, 2, 3]}), path)
    with pytest.raises(TreebankError, match="no column called 'text' but body, size: see"):
        list(read_documents(path, kind="parquet"))
    with pytest.raises(TreebankError, match="the column 'size' has no text"):
        list(read_documents(path, kind="parquet", column="size"))
    path.write_bytes(b"something else")
    with pytest.raises(TreebankError, match=r"a\.parquet: not Parquet that can be read"):
        list(read_documents(path, kind="parquet"))


def test_parquet_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    compute = pytest.importorskip("pyarrow.compute")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    unchecked = compute.CastOptions(target_type=pyarrow.string(), allow_invalid_utf8=True)
    texts = compute.cast(pyarrow.array([b"ok", b"\xff"], pyarrow.binary()), options=unchecked)
    parquet.write_table(pyarrow.table({"text": texts}), path)
    with pytest.raises(TreebankError, match=r"a\.parquet: not Parquet that can be read: 'utf-8'"):
        list(read_documents(path, kind="parquet"))


def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from treecrf.extras import MissingExtraError\n"
        "from treecrf.treebank.files.documents import read_documents\n"
        "try: list(read_documents(sys.argv[1], kind='parquet'))\n"
        "except MissingExtraError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.parquet")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "Parquet needs pyarrow: pip install 'treecrf[ray]'\n"
