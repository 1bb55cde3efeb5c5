"""Mutated files: each is read or is a TreebankError; `make fuzz` makes 100,000 of them."""

import gzip
import io
import os
from collections.abc import Iterable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from treecrf.treebank import (
    EmptyNode,
    Sentence,
    TreebankError,
    read_conllu,
    read_sentences,
    write_conllu,
)
from treecrf.treebank.drawing.terminal import draw_arcs
from treecrf.treebank.files.conllu import Columns, check_conllu
from treecrf.treebank.mask import mask_dependencies
from treecrf.treebank.pseudoprojective import deproject, project
from treecrf.treebank.statistics import count
from treecrf.treebank.trees import is_projective, is_tree

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "300"))

ORIGINALS = [path.read_bytes() for path in sorted((Path(__file__).parent / "data").iterdir())]
ORIGINALS += [gzip.compress(ORIGINALS[-1], mtime=0), b""]

PIECES = st.binary(max_size=4) | st.sampled_from(
    [
        *(b"\t", b"\n", b"\n\n", b"\r\n", b"\r", b" ", b"#", b"\\", b"\x00", b"\xff", b"\xc3"),
        *(b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x1f\x8b", "↑".encode(), "↓".encode()),
        *(b"_", b"0", b"1", b"-1", b"1-2", b"2-1", b"0.1", b"1.1", b"99999999999", b"\xd9\xa1"),
        b"1\tx\t_\t_\t_\t_\t0\tr\t_\t_\n",
    ]
)


@st.composite
def mutated_files(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from(ORIGINALS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        match draw(
            st.sampled_from(["replace", "insert", "delete", "repeat", "cell", "line", "cut"])
        ):
            case "replace":
                piece = draw(PIECES)
                data = data[:start] + piece + data[start + len(piece) :]
            case "insert":
                data = data[:start] + draw(PIECES) + data[start:]
            case "delete":
                data = data[:start] + data[start + draw(st.integers(1, 40)) :]
            case "repeat":
                end = start + draw(st.integers(1, 80))
                data = data[:end] + data[start:]
            case "cell":
                cells = data.split(b"\t")
                cells[start % len(cells)] = draw(PIECES)
                data = b"\t".join(cells)
            case "line":
                lines = data.split(b"\n")
                other = draw(st.integers(0, len(lines) - 1))
                lines[start % len(lines)] = lines[other]
                data = b"\n".join(lines)
            case "cut":
                data = data[:start]
    return data


def read(data: bytes, columns: Columns) -> tuple[list[Sentence], TreebankError | None]:
    return until_error(read_conllu(io.BytesIO(data), columns=columns))


def until_error(source: Iterable[Sentence]) -> tuple[list[Sentence], TreebankError | None]:
    """The sentences up to the first error, and the error."""
    sentences = []
    try:
        for sentence in source:
            sentences.append(sentence)
    except TreebankError as error:
        return sentences, error
    return sentences, None


@settings(
    max_examples=EXAMPLES,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(mutated_files())
def test_a_mutated_file_is_read_or_is_the_one_error(data: bytes) -> None:
    sentences, error = read(data, "gold")
    if error is not None:
        assert error.problem
        assert error.line > 0
        assert str(error) == f"<file>:{error.line}: {error.problem}"
    for item in check_conllu(io.BytesIO(data)):
        assert isinstance(item, (Sentence, TreebankError))

    # What was read is well-formed, so it is written and read again.
    buffer = io.BytesIO()
    write_conllu(sentences, buffer)
    assert read(buffer.getvalue(), "gold") == (sentences, None)

    # Given its own tree, a sentence stays as it is; given another, all but the tree does.
    for sentence in sentences:
        own = sentence.with_tree(sentence.heads, sentence.deprels)
        assert own.to_conllu() == sentence.to_conllu()
        chain = sentence.with_tree(range(len(sentence)), ["x"] * len(sentence))
        assert own.with_tree(chain.heads, chain.deprels) == chain
        assert chain.with_tree(own.heads, own.deprels) == sentence

    # Whatever a file is taken for, its sentences are read or it is the one error.
    found, error = until_error(read_sentences(io.BytesIO(data)))
    assert error is None or error.line > 0
    write_conllu(found, io.BytesIO())

    # An empty node sends a sentence down the careful path: it finds what the fast one found.
    for sentence in sentences:
        careful = sentence.copy()
        if not careful.empty_nodes:
            careful.empty_nodes.append(EmptyNode(0, 1, "_"))
            ((again,), error) = read(careful.to_conllu().encode(), "gold")
            assert error is None
            assert again.tokens == sentence.tokens

    sentences += read(data, "predicted")[0]
    count(sentences)
    for sentence in sentences:
        heads = [0, *sentence.heads]
        assert is_tree(heads, multiroot=True)
        assert len(draw_arcs(heads)) == len(sentence)
        assert is_tree([0, *deproject(sentence).heads], multiroot=True)
        if -1 not in heads or is_projective(heads):
            lifted = project(sentence)
            assert is_projective([0, *lifted.heads])
            mask_dependencies([lifted], 0.5)[0].to_conllu()
