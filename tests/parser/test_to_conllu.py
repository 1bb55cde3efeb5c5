"""Files go to CoNLL-U in columns as they do over `Sentence` objects: the same bytes, or errors."""

import gzip
import io
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import treecrf
from tests.parser.models import SMALL, VOCABULARY, random_parser, sentence_of
from tests.treebank.test_fuzz import EXAMPLES, mutated_files, until_error
from tests.treebank.test_malformed import MALFORMED
from treecrf.parser.api import Parser
from treecrf.parser.columns.columns import Columns
from treecrf.parser.columns.reading import column_windows, read_columns, whole_blocks
from treecrf.parser.columns.writing import write_columns
from treecrf.parser.config import Config
from treecrf.parser.constraints import NO_CONSTRAINTS
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.decoding.trees import LEMMA_WEIGHT, Trees
from treecrf.parser.errors import LanguageWarning, ParserError
from treecrf.parser.files.conllu import parse_to_conllu
from treecrf.parser.files.pipeline import windows
from treecrf.parser.files.sources import FileOptions, parse_file
from treecrf.parser.files.workers import parse_with_workers
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank import Sentence, TreebankError, read_conllu, write_conllu
from treecrf.treebank.files.conllu import ConlluReader
from treecrf.treebank.files.streams import read_chunks
from treecrf.treebank.probs import with_written_probs

GOLDEN = Path(__file__).parent.parent / "treebank" / "data" / "golden.conllu"

ODD = """\
# newdoc id = d
# sent_id = 1
# text = dogs' ☃ abc
# log_prob = -3.2100
# rank = 2
# decoder = mst (no projective tree has the heads that were kept)
# decoder = mst
1-2\tdogs'\t_\t_\t_\t_\t_\t_\t_\tHeadProb=0.1|SpaceAfter=No
1\tdog\t_\tNOUN\t_\tNumber=Plur\t2\tx\t2:x|3:conj\tHeadProb=0.5000|Gloss=a|DeprelProb=1
2\t'\t_\tPART\t_\t_\t0\ty\t0:y\tUposProb=0.1
2.1\t☃\t_\t_\t_\t_\t_\t_\t0:x\tHeadProb=0.2
3\tabc\ta b\tX\t_\t_\t1\tz\t_\tHeadProb=1||A=B|
3.1\t☃\t_\t_\t_\t_\t_\t_\t_\t_


#
0.1\t_\t_\t_\t_\t_\t_\t_\t_\t_
1\t#\t_\t_\t_\t_\t_\t_\t_\t_|HeadProb=0.5

1\ta\t_\t_\t_\t_\t2\tx\t_\t_
2\tb\t_\t_\t_\t_\t1\tx\t_\tHeadProb=
3-4\tb\t_\t_\t_\t_\t_\t_\t_\t_
3\tb\t_\t_\t_\t_\tbad\t_\t_\t|
4\tİ\t_\t_\t_\t_\t-1\t_\t_\tSpaceAfter=No

"""
PLAIN = "1\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\t_\tN\t_\t_\t1\t_\t_\t_\n\n"
CONLLX = "1\tdog\tdog\tN\tN\t_\t0\tx\t_\t_\n2\tb\tb\tN\tN\t_\t1\ty\t1\ty\n\n"
CONLL09 = "1\tdog\t_\t_\tN\tN\t_\t_\t0\t0\tx\tx\t_\t_\n\n"

FILES = {
    "comments, multiword tokens, empty nodes, DEPS, probabilities": ODD,
    "CRLF": ODD.replace("\n", "\r\n"),
    "a byte order mark": "\ufeff" + ODD,
    "no comments, then some": PLAIN * 3 + ODD,
    "nothing tells the format": PLAIN,
    "CoNLL-X": PLAIN + CONLLX + PLAIN,
    "CoNLL-09": CONLL09,
    "empty": "",
    "empty lines": "\n\n\n" + PLAIN + "\n\n\n" + PLAIN + "\n",
    "carriage returns in cells": PLAIN.replace("N", "N\rN"),
    "a carriage return at the end of MISC": ODD + PLAIN.replace("_\n\n", "a\r\r\n\n"),
    "a carriage return at the end of a comment": "# a\r\r\n" + PLAIN,
    "no empty line at the end": ODD[:-1],
    "no final line break": ODD[:-2],
    "only a comment": ODD + "# a\n\n",
    "CoNLL-U after CoNLL-X": CONLLX + ODD,
}


def expected(parser: Parser, source: Path, options: FileOptions) -> bytes:
    """The way over sentences."""
    target = io.BytesIO()
    write_conllu(parse_file(parser, str(source), options), target)
    return target.getvalue()


def check_same(parser: Parser, source: Path, options: FileOptions) -> None:
    """Both ways give the same bytes, or the same error."""
    right, found = (
        outcome(partial(way, parser, source, options))
        for way in (expected, lambda *given: b"".join(parse_to_conllu(*given)))
    )
    assert found == right


def outcome(call: Callable[[], bytes]) -> bytes | tuple[type, str]:
    """The result, or the error."""
    try:
        return call()
    except (TreebankError, ParserError) as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    "options",
    [FileOptions(), FileOptions(write_probs=True), FileOptions(keep_heads=True, write_probs=True)],
    ids=["trees", "probabilities", "kept heads"],
)
@pytest.mark.parametrize("name", FILES)
def test_odd_files(name: str, options: FileOptions, tmp_path: Path) -> None:
    source = tmp_path / "in.conllu"
    source.write_bytes(FILES[name].encode())
    check_same(random_parser(replace(SMALL, loss="crf")), source, options)


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files(name: str, tmp_path: Path) -> None:
    content = MALFORMED[name][0]
    source = tmp_path / "in.conllu"
    source.write_bytes(content.encode() if isinstance(content, str) else content)
    check_same(random_parser(SMALL), source, FileOptions())
    source.write_bytes(ODD.encode() + source.read_bytes())  # named by their lines, later too
    check_same(random_parser(SMALL), source, FileOptions())


def test_gzip(tmp_path: Path) -> None:
    source = tmp_path / "in.conllu.gz"
    source.write_bytes(gzip.compress(ODD.encode() * 30))
    check_same(random_parser(SMALL), source, FileOptions())
    source.write_bytes(gzip.compress(ODD.encode() * 300)[:-20])
    check_same(random_parser(SMALL), source, FileOptions())


@pytest.mark.parametrize("loss", ["crf2o", "nonprojective"])
def test_several_windows(loss: str, tmp_path: Path) -> None:
    source = tmp_path / "in.conllu"
    sentences = [sentence_of(1 + number % 19, seed=number) for number in range(1500)]
    write_conllu(sentences, source)
    parser = random_parser(replace(SMALL, loss=loss))
    check_same(parser, source, FileOptions(write_probs=True))
    pieces = list(parse_to_conllu(parser, source, FileOptions()))
    assert len(pieces) > 1
    assert sum(piece.count(b"\n\n") for piece in pieces) == 1500


def test_models_that_read_and_predict_tags(tmp_path: Path) -> None:
    source = tmp_path / "in.conllu"
    source.write_text(ODD.partition("\n\n")[0] + "\n\n", encoding="utf-8")
    check_same(random_parser(replace(SMALL, tags="upos")), source, FileOptions())
    check_same(random_parser(replace(SMALL, predict=("upos",))), source, FileOptions())
    source.write_text(ODD, encoding="utf-8")  # some sentences have no tags
    check_same(random_parser(replace(SMALL, tags="upos")), source, FileOptions())
    with pytest.raises(ParserError, match=r"in.conllu:16: the model reads tags"):
        list(parse_to_conllu(random_parser(replace(SMALL, tags="upos")), source, FileOptions()))


@pytest.mark.parametrize("write_probs", [False, True])
def test_the_english_model(tmp_path: Path, write_probs: bool) -> None:
    """Tags, features, lemmas, emoji and pieces of words, from CoNLL-U, raw text and words."""
    parser = treecrf.load(device="cpu")
    options = FileOptions(write_probs=write_probs)
    text = (
        "I saw Sarah with a telescope 🙂. They're rotating McDonald's Zorblaxes!\n\nDid you? No.\n"
    )
    source = tmp_path / "text.txt"
    source.write_text(text * 3, encoding="utf-8")
    check_same(parser, source, options)
    check_same(parser, source, replace(options, input="lines"))
    check_same(parser, source, replace(options, input="tokens"))
    source = tmp_path / "in.conllu"
    source.write_bytes(expected(parser, tmp_path / "text.txt", options))
    check_same(parser, source, options)
    check_same(parser, GOLDEN, options)


def test_another_language_is_told(tmp_path: Path) -> None:
    words = "das ist ein Satz den ein Programm nicht kennt und der lang ist"
    source = tmp_path / "in.conllu"
    write_conllu([Sentence(words.split())] * 20, source)
    parser = treecrf.load(device="cpu")
    with pytest.warns(LanguageWarning):
        list(parse_to_conllu(parser, source, FileOptions()))


def test_workers_write_the_same(tmp_path: Path) -> None:
    source = tmp_path / "in.conllu"
    source.write_text(ODD, encoding="utf-8")
    parser = random_parser(SMALL)
    for options in (FileOptions(), FileOptions(write_probs=True)):
        found = b"".join(parse_with_workers(parser, source, options, workers=1))
        assert found == expected(parser, source, options)


def all_columns(data: bytes) -> Iterable[Columns]:
    reader = ConlluReader("<file>", trees=False)
    for line, piece in whole_blocks(read_chunks(io.BytesIO(data), 50), "<file>", size=200):
        yield from read_columns(reader, piece, line=line)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(mutated_files())
def test_mutated_files(data: bytes) -> None:
    if data.startswith(b"\x1f\x8b"):
        return
    reader = ConlluReader("<file>", trees=False)
    sentences, error = until_error(reader.read(read_chunks(io.BytesIO(data), 50)))
    columns = (part.sentences() for part in all_columns(data))
    found, problem = until_error(chain.from_iterable(columns))
    assert str(problem) == str(error)
    assert len(found) == len(sentences)
    for one, other in zip(found, sentences, strict=True):
        assert (one.line, one.source, one.comments) == (other.line, other.source, other.comments)
        assert (one.forms, one._lines) == (other.forms, other._lines)


def test_windows_are_those_of_sentences() -> None:
    sentences = list(read_conllu(GOLDEN)) * 7
    lengths = [[len(one) for one in window] for window in windows(sentences, size=len, words=160)]
    parts = [Columns.of(sentences[start : start + 5]) for start in range(0, len(sentences), 5)]
    found = list(column_windows(parts, words=160))
    assert [window.lengths.tolist() for window in found] == lengths
    written = [sentence.to_conllu() for window in found for sentence in window.sentences()]
    assert written == [sentence.to_conllu() for sentence in sentences]
    assert [line for window in found for line in window.bounds[:-1, 3]] == [
        sentence.line for sentence in sentences
    ]


@pytest.mark.parametrize(
    "probs",
    [
        [0.00005, 0.00015, 0.5, 0.12345, 0.99995, 1.0],
        [1.00004, 0.0, -0.0, 0.3, 0.3, 0.3],
        [float("nan"), 0.3, -1e-9, 12.5, 0.3, 0.3],
    ],
)
def test_probabilities_are_rounded_as_python_does(probs: list[float]) -> None:
    sentences = [sentence_of(6)]
    trees = Trees(
        np.array([6]),
        np.zeros(7, np.int64),
        np.zeros(7, np.int64),
        probs=np.array([0, *probs]),
        log_probs=np.array([-0.00001]),
    )
    check_written(TreeNamer(VOCABULARY, SMALL), sentences, trees)


def test_many_words() -> None:
    sentences = [Sentence(["dog"] * 1100), Sentence(["dog"] * 10_000)]
    lengths = np.array([len(sentence) for sentence in sentences])
    heads = np.concatenate([np.arange(-1, length).clip(0) for length in lengths])
    trees = Trees(lengths, heads, np.zeros(len(heads), np.int64))
    check_written(TreeNamer(VOCABULARY, SMALL), sentences, trees)


def test_one_very_long_word_takes_memory_once() -> None:
    sentences = [Sentence(["dog"] * 10_000), Sentence(["a" * 100_000])]
    lengths = np.array([len(sentence) for sentence in sentences])
    tokens = np.zeros(int((lengths + 1).sum()), np.int64)
    keep = np.full((len(tokens), 1), LEMMA_WEIGHT - 1)  # the first rule, and sure of it
    trees = Trees(lengths, tokens, tokens, columns={"lemma": keep})
    vocabulary = Vocabulary(**VOCABULARY.to_dict() | {"lemma": ["lower|0|0"]})
    tracemalloc.start()
    try:
        check_written(TreeNamer(vocabulary, SMALL), sentences, trees)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def test_lifted_arcs_and_lemmas() -> None:
    lists = VOCABULARY.to_dict() | {
        "relations": ["x", "y↑x", "x↓", "punct", "discourse"],
        "upos": ["NOUN", "SYM"],
        "lemma": ["lower|0|0", "lower|0|1"],
        "lemmas": {"dog\tNOUN": "hound"},
    }
    config: Config = replace(SMALL, nonprojective="pseudo", encoding="head+path")
    random = np.random.default_rng(1)
    sentences = [*(sentence_of(length, seed=length) for length in range(1, 9)), Sentence(["😀"])]
    lengths = np.array([len(sentence) for sentence in sentences])
    tokens = int((lengths + 1).sum())
    heads = np.arange(tokens) - np.repeat(np.cumsum(lengths + 1) - (lengths + 1), lengths + 1) - 1
    trees = Trees(
        lengths,
        heads.clip(0),
        random.integers(0, 4, tokens),
        columns={
            "upos": random.integers(0, 2, (tokens, 1)),
            "lemma": random.integers(0, 2 * LEMMA_WEIGHT, (tokens, 2)),
        },
        probs=random.random(tokens),
        relation_probs=random.random(tokens),
        upos_probs=random.random(tokens),
    )
    check_written(TreeNamer(Vocabulary(**lists), config), sentences, trees)


def check_written(namer: TreeNamer, sentences: list[Sentence], trees: Trees) -> None:
    """Sentences with trees are written as `Sentence` writes them."""
    constraints = [NO_CONSTRAINTS] * len(sentences)
    for write_probs in (False, True):
        parsed = namer.with_trees(sentences, constraints, trees)
        if write_probs:
            parsed = [with_written_probs(sentence) for sentence in parsed]
        columns = Columns.of(sentences)
        found = write_columns(namer, columns, constraints, trees, write_probs=write_probs)
        assert found.decode() == "".join(sentence.to_conllu() for sentence in parsed)
