"""Files of documents: read in groups of bounded size, each document as it would be alone."""

import io
import json

from tests.parser.models import random_parser, with_loss
from treecrf.parser.files.sources import FileOptions, read_input


def test_documents_are_the_same_in_several_windows() -> None:
    long = "b " * 4_000  # the first window has 16,384 characters, and the next twice as many
    texts = ["a dog", "", long, "c\nd", "e" * 9] * 5
    lines = [json.dumps({"id": f"{n}", "text": text}) + "\n" for n, text in enumerate(texts)]
    parser, options = random_parser(with_loss("crf")), FileOptions(input="jsonl")

    def read(lines: list[str]) -> list[tuple[list[str], list[str]]]:
        found = read_input(parser, io.StringIO("".join(lines)), options)
        return [(sentence.comments, sentence.forms) for sentence in found]

    together = read(lines)
    assert len(together) == 25
    assert sum(comments[0].startswith("# newdoc") for comments, _ in together) == 20
    assert together == [found for line in lines for found in read([line])]


def test_a_byte_order_mark_is_no_word() -> None:
    source = io.StringIO('{"text": "\\ufeffa dog\\r\\n\\nb"}\n')
    found = read_input(random_parser(with_loss("crf")), source, FileOptions(input="jsonl"))
    assert [sentence.forms for sentence in found] == [["a", "dog"], ["b"]]
