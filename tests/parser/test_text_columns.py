"""Raw text goes into columns as it does over `Sentence` objects: the same bytes."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.parser.models import SMALL, random_parser
from tests.segment.texts import ODD, untrained
from treecrf.parser.columns.columns import Columns
from treecrf.parser.columns.text import text_columns
from treecrf.parser.files.conllu import parse_to_conllu
from treecrf.parser.files.sources import FileOptions, parse_file
from treecrf.parser.files.workers import parse_with_workers
from treecrf.segment.assembly import Assembly, sentences_of
from treecrf.segment.blocks import cut_blocks
from treecrf.segment.boundaries import BOUNDS, Bounds
from treecrf.treebank import write_conllu
from treecrf.treebank.files.text import SentenceIds

SEGMENTER = untrained()
TEXTS = st.text("abc é'.#_|\\ \t\n\r\x00\x1c\x85\u00a0\u2028\ufeff日🇩👩\u200d🙂", max_size=150)
PARAGRAPHS = "\n\n".join(text for text in ODD if "\ud800" not in text)


@given(
    text=TEXTS,
    size=st.integers(1, 60),
    ends=st.sampled_from([-9, -1, 0]),
    bounds=st.sampled_from([BOUNDS, Bounds(token=5), Bounds(space=4), Bounds(sentence=3)]),
    seed=st.integers(0, 1000),
)
@example(text=PARAGRAPHS, size=40, ends=-1, bounds=BOUNDS, seed=1)
@example(text="ab  abc\r\n\r\n éab \t ab", size=100, ends=0, bounds=BOUNDS, seed=1)
def test_columns_of_a_text(text: str, size: int, ends: int, bounds: Bounds, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(len(text), 3)).astype(np.float32)
    scores[:, 1] += ends
    assembly = Assembly(splitter=SEGMENTER.splitter, joins=SEGMENTER.joins, bounds=bounds)
    cuts = [
        assembly.cut(block, scores[block.start : block.start + len(block.text)])
        for block in cut_blocks([text], size=size, context=17)
    ]
    cuts.append(assembly.cut_rest())
    ids = SentenceIds(7)
    sentences = [ids.give(one) for cut in cuts for one in sentences_of(cut, SEGMENTER.splitter)]
    right = Columns.of(sentences)
    found = Columns.joined([*text_columns(cuts, SEGMENTER.splitter, before=7)])
    assert found.data == right.data
    assert np.array_equal(found.cells, right.cells)
    assert np.array_equal(found.bounds[:-1], right.bounds[:-1])


@pytest.mark.parametrize("write_probs", [False, True])
def test_a_file_of_odd_text(tmp_path: Path, write_probs: bool) -> None:
    parser = random_parser(SMALL)
    parser._segmenter = untrained()
    source = tmp_path / "text.txt"
    source.write_bytes((PARAGRAPHS * 20).encode())
    options = FileOptions(input="text", write_probs=write_probs)
    right = io.BytesIO()
    write_conllu(parse_file(parser, str(source), options), right)
    assert b"".join(parse_to_conllu(parser, source, options)) == right.getvalue()
    pieces = parse_with_workers(parser, source, options, workers=1, piece_characters=1000)
    assert b"".join(pieces) == right.getvalue()
