"""Which sentences are asked about first, and which of their words."""

from pathlib import Path

import numpy as np
import pytest

import treecrf
from treecrf.parser import Parser
from treecrf.serve.annotate.decisions import Annotations, Record
from treecrf.serve.annotate.questions import About, Asking, Order, Queue, collect, make_queues
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
        (queue,) = make_queues(
            collect(sentences, corpus, [annotations]),
            parser,
            annotations=[annotations],
            order=order,
            asking=asking,
            longest=longest,
        )
    return queue


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


@pytest.mark.parametrize(
    ("asking", "heads", "relations"),
    [
        (Asking(0.8, None, "heads"), [2, 4], []),
        (Asking(0.8, None, "relations"), [], [3, 4]),
        (Asking(0.8, None, "both"), [2, 4], [3, 4]),
        (Asking(None, 0.5, "heads"), [2, 4], []),
        (Asking(None, 0.5, "relations"), [], [3, 4]),
        (Asking(None, 0.5, "both"), [2], [3]),
    ],
)
def test_heads_and_relations_are_asked_about_by_choice(
    asking: Asking, heads: list[int], relations: list[int]
) -> None:
    of_heads, of_relations = [0.9, 0.5, 0.95, 0.7], [0.9, 0.99, 0.4, 0.6]
    assert asking.questions(of_heads, of_relations) == (heads, relations)


def test_the_most_uncertain_trees_come_first(
    sentences: list[Sentence], parser: Parser, tmp_path: Path
) -> None:
    trees = [parser.distribution([each.forms]).entropy.item() for each in sentences]
    relations = []
    for analysis in parser.analyse(sentences):
        probs = np.maximum(np.asarray(analysis.relation_probs), 1e-12)
        relations.append(float(-(probs * np.log(probs)).sum()))
    both = [one + other for one, other in zip(trees, relations, strict=True)]
    orders = set()
    abouts: tuple[About, ...] = ("heads", "relations", "both")
    for about, entropies in zip(abouts, (trees, relations, both), strict=True):
        asking = Asking(None, 0.2, about)
        queue = queue_of(sentences, parser, tmp_path / f"{about}.conllu", asking=asking)
        expected = sorted(range(1, 31), key=lambda number: -entropies[number - 1])
        assert list(queue.numbers) == expected
        orders.add(tuple(expected))
    assert len(orders) == 3


@pytest.mark.parametrize("about", ["heads", "relations", "both"])
def test_the_most_uncertain_words_come_first(
    sentences: list[Sentence], parser: Parser, tmp_path: Path, about: About
) -> None:
    asking = Asking(0.7, None, about)
    queue = queue_of(
        sentences, parser, tmp_path / "out.conllu", order="least-certain", asking=asking
    )
    least = []
    for tree in parser.parse_tokens(sentences):
        heads, relations = min(tree.probs or []), min(tree.deprel_probs or [])
        chosen = {"heads": heads, "relations": relations, "both": min(heads, relations)}
        least.append(chosen[about])
    unsure = [number for number in range(1, 31) if least[number - 1] < 0.7]
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
