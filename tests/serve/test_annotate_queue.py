"""Which sentences are asked about first, and which of their words."""

from pathlib import Path

import pytest

import treecrf
from treecrf.parser import Parser
from treecrf.serve.annotate.decisions import Annotations, Record
from treecrf.serve.annotate.questions import Asking, Order, Queue, collect, make_queue
from treecrf.serve.annotate.store import SentenceStore
from treecrf.treebank import Sentence, read_conllu


@pytest.fixture(scope="module")
def parser(model: Path) -> Parser:
    return treecrf.load(model, device="cpu")


@pytest.fixture(scope="module")
def sentences(treebank: Path) -> list[Sentence]:
    return list(read_conllu(treebank / "dev.conllu"))[:30]


def queue_of(
    sentences: list[Sentence],
    parser: Parser,
    path: Path,
    *,
    order: Order = "entropy",
    asking: Asking = Asking(None, 0.2),  # noqa: B008
    longest: int = 400,
) -> Queue:
    with Annotations(path) as annotations, SentenceStore() as corpus:
        return make_queue(
            collect(sentences, corpus, annotations),
            parser,
            annotations=annotations,
            order=order,
            asking=asking,
            longest=longest,
        )


@pytest.mark.parametrize(
    ("probs", "asking", "words"),
    [
        ([0.9, 0.5, 0.79, 0.8], Asking(), [2, 3]),
        ([0.9, 0.95], Asking(), []),
        ([0.9, 0.5, 0.79, 0.8], Asking(None, 0.25), [2]),
        ([0.9, 0.5, 0.79, 0.8], Asking(None, 0.26), [2, 3]),
        ([0.9, 0.8], Asking(None, 0.01), [2]),
        ([0.9, 0.8], Asking(None, 1), [1, 2]),
    ],
)
def test_the_least_sure_words_are_asked_about(
    probs: list[float], asking: Asking, words: list[int]
) -> None:
    assert asking.words(probs) == words


def test_the_most_uncertain_trees_come_first(
    sentences: list[Sentence], parser: Parser, tmp_path: Path
) -> None:
    queue = queue_of(sentences, parser, tmp_path / "out.conllu")
    entropies = [parser.distribution([each.forms]).entropy.item() for each in sentences]
    expected = sorted(range(1, 31), key=lambda number: -entropies[number - 1])
    assert list(queue.numbers) == expected


def test_the_most_uncertain_heads_come_first(
    sentences: list[Sentence], parser: Parser, tmp_path: Path
) -> None:
    asking = Asking(0.9)
    queue = queue_of(
        sentences, parser, tmp_path / "out.conllu", order="least-certain", asking=asking
    )
    least = [min(tree.probs or []) for tree in parser.parse_tokens(sentences)]
    unsure = [number for number in range(1, 31) if least[number - 1] < 0.9]
    assert list(queue.numbers) == sorted(unsure, key=lambda number: least[number - 1])
    assert queue.sure == 30 - len(unsure) > 0


def test_what_was_begun_comes_first(
    sentences: list[Sentence], parser: Parser, tmp_path: Path
) -> None:
    path = tmp_path / "out.conllu"
    with Annotations(path) as annotations:
        for number in (7, 3):
            annotations.put(number, sentences[number - 1], Record({1: 2}, {}, "done"))
    queue = queue_of(sentences, parser, path, order="corpus")
    rest = [number for number in range(1, 31) if number not in (3, 7)]
    assert list(queue.numbers) == [7, 3, *rest]


def test_long_sentences_are_left_out(
    sentences: list[Sentence], parser: Parser, tmp_path: Path
) -> None:
    longest = sorted(map(len, sentences))[15]
    queue = queue_of(sentences, parser, tmp_path / "out.conllu", longest=longest)
    assert queue.too_long == sum(len(each) > longest for each in sentences) > 0
    assert all(len(sentences[number - 1]) <= longest for number in queue.numbers)
