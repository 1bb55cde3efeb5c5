"""`Parser.pipe`: a document for each text, in order, parsed together in bounded memory."""

from collections.abc import Iterator
from typing import Any

import pytest

from treecrf import Document
from treecrf.parser import Parser, ParserError
from treecrf.parser.files import pipeline

TEXTS = ["Anna saw the garden. The dog slept.", "", "  \n", "Her bag was broken by a painter."] * 3


def test_texts_are_parsed_as_if_each_were_alone(parser: Parser) -> None:
    alone = [parser.parse(text) for text in TEXTS]
    assert all(isinstance(document, Document) for document in alone)
    for size in (None, 1, 5):
        documents = list(parser.pipe(iter(TEXTS), batch_size=size))
        assert [document.text for document in documents] == TEXTS
        for document, expected in zip(documents, alone, strict=True):
            assert isinstance(document, Document)
            assert [s.to_conllu() for s in document] == [s.to_conllu() for s in expected]
            assert [s.offsets for s in document] == [s.offsets for s in expected]
            assert [len(s.probs or ()) for s in document] == [len(s) for s in document]


def test_offsets_are_places_in_the_text(parser: Parser) -> None:
    for document in parser.pipe(TEXTS, probs=False):
        for sentence in document:
            assert sentence.probs is None
            for token in sentence.tokens:
                assert document.text[token.start : token.end] == token.form


def test_contexts_come_back_and_name_documents(parser: Parser) -> None:
    thing = object()
    contexts: list[Any] = [{"id": 7, "year": 2021}, "b", 3, thing, None, {"year": 2022}]
    pairs = list(parser.pipe(((TEXTS[0], context) for context in contexts), as_tuples=True))
    assert [context for _, context in pairs] == contexts
    assert [document.id for document, _ in pairs] == ["7", "b", "3", None, None, None]
    assert [document.meta for document, _ in pairs][:2] == [{"id": 7, "year": 2021}, {}]
    assert pairs[1][0].to_conllu().startswith("# newdoc id = b\n")


def test_no_more_texts_are_taken_than_needed(parser: Parser) -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield TEXTS[0]

    documents = parser.pipe(texts(), batch_size=3)
    assert taken == 0
    assert len(next(documents)) == 2
    assert taken <= 3 * (pipeline._IN_FLIGHT + 1)
    documents.close()  # type: ignore[attr-defined]


def test_what_is_no_list_of_texts_is_named(parser: Parser) -> None:
    for wrong in ("one text", b"bytes", None, 3):
        with pytest.raises(ParserError, match="`pipe` takes a list or another iterable of texts"):
            parser.pipe(wrong)  # type: ignore[call-overload]
    for size in (0, -1, 2.5):
        with pytest.raises(ParserError, match="it is a number of texts, at least 1"):
            parser.pipe([], batch_size=size)  # type: ignore[call-overload]
    with pytest.raises(ParserError, match="raw text is one string, and not something of type int"):
        list(parser.pipe(["a", 3]))  # type: ignore[list-item]
    with pytest.raises(ParserError, match="pairs need `as_tuples=True`"):
        list(parser.pipe([("a", {})]))  # type: ignore[list-item]
    for pair in ("ab", ("a", 1, 2), 3):
        with pytest.raises(ParserError, match=r"with as_tuples, give pairs \(text, context\)"):
            list(parser.pipe([pair], as_tuples=True))  # type: ignore[list-item]


def test_a_model_without_a_segmenter_says_so(wordy: Parser) -> None:
    with pytest.raises(ParserError, match="this model has no segmenter"):
        wordy.pipe(TEXTS)
