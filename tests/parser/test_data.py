"""Training data: which sentences a loss can learn from, found by listing all trees."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.enumeration import all_trees
from tests.parser.models import LOSSES, SMALL, heads_of
from treecrf.parser import ParserError
from treecrf.parser.config import Config
from treecrf.parser.training.data import Prepared, fingerprint, prepare
from treecrf.treebank import Sentence, TreebankError, read_conllu
from treecrf.treebank.pseudoprojective import is_lifted, project
from treecrf.treebank.trees import is_projective, is_tree

CROSSING = Sentence(list("abcd"), [3, 4, 0, 3], deprels=["a", "b", "root", "d"])
PLAIN = Sentence(list("ab"), [2, 0], deprels=["a", "root"])
BLANK = Sentence(list("ab"))


def config_of(loss: str, nonprojective: str = "none", *, multiroot: bool = False) -> Config:
    return SMALL.changed({"loss": loss, "nonprojective": nonprojective, "multiroot": multiroot})


def sentence_with(heads: Sequence[int]) -> Sentence:
    return Sentence(["w"] * len(heads), heads, deprels=["x" if h >= 0 else "_" for h in heads])


@cache
def partial_trees(words: int, *, multiroot: bool) -> frozenset[tuple[int, ...]]:
    """The heads of every projective tree, in every way in which some are not annotated."""
    found = set()
    for tree in all_trees(words, projective=True, multiroot=multiroot):
        found |= set(itertools.product(*((head, -1) for head in tree[1:])))
    return frozenset(found)


def learnt(sentences: list[Sentence], config: Config) -> set[int]:
    """Which of the sentences, by their place, are kept; all others must be named."""
    always = sentence_with([0])
    prepared = prepare([*sentences, always], config)
    kept = {id(sentence) for sentence in prepared.sentences} - {id(always)}
    left_out = {id(sentence) for sentence in prepared.left_out}
    blank = {id(sentence) for sentence in sentences if max(sentence.heads) < 0}
    assert kept | left_out | blank == {id(sentence) for sentence in sentences}
    assert not (kept & left_out | kept & blank | left_out & blank)
    assert len(prepared.sentences) == len(kept) + 1
    return {place for place, sentence in enumerate(sentences) if id(sentence) in kept}


@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("loss", ["crf", "crf2o"])
def test_partial_trees_that_no_projective_tree_fits_are_left_out(
    loss: str, multiroot: bool
) -> None:
    """Every partial tree of up to four words."""
    config = config_of(loss, multiroot=multiroot)
    rows = []
    for words in range(1, 5):
        for heads in itertools.product(range(-1, words + 1), repeat=words):
            if is_tree([0, *heads], multiroot=multiroot):
                rows.append(heads)
    kept = learnt([sentence_with(heads) for heads in rows], config)
    for place, heads in enumerate(rows):
        fits = heads in partial_trees(len(heads), multiroot=multiroot)
        assert (place in kept) == (fits and max(heads) >= 0)


@given(st.lists(st.integers(1, 6).flatmap(heads_of), min_size=1, max_size=5), st.booleans())
def test_partial_trees_of_any_length(rows: list[list[int]], multiroot: bool) -> None:
    rows = [heads for heads in rows if is_tree([0, *heads], multiroot=multiroot)]
    kept = learnt([sentence_with(heads) for heads in rows], config_of("crf", multiroot=multiroot))
    for place, heads in enumerate(rows):
        fits = tuple(heads) in partial_trees(len(heads), multiroot=multiroot)
        assert (place in kept) == (fits and max(heads) >= 0)


def test_a_word_that_no_arc_crosses_may_still_have_no_place() -> None:
    """1 -> 3 does not cross anything, but word 2 stands below it and hangs above 1: 2 -> 1."""
    config = config_of("crf")
    stuck = sentence_with([2, -1, 1, 0])
    prepared = prepare([PLAIN, stuck], config)
    assert prepared.left_out == [stuck]
    with pytest.raises(ParserError, match="there is no sentence to train on"):
        prepare([stuck], config)


# What becomes of a full tree that crosses: kept as it is, lifted, or left out.
FATE = {
    ("local", "none"): "kept",
    ("local", "pseudo"): "lifted",
    ("local", "mst"): "kept",
    ("crf", "none"): "left out",
    ("crf", "pseudo"): "lifted",
    ("crf", "mst"): "left out",
    ("crf2o", "none"): "left out",
    ("crf2o", "pseudo"): "lifted",
    ("crf2o", "mst"): "left out",
    ("crf3o", "none"): "left out",
    ("crf3o", "pseudo"): "lifted",
    ("crf3o", "mst"): "left out",
    ("nonprojective", "none"): "kept",
    ("nonprojective", "pseudo"): "kept",
    ("nonprojective", "mst"): "kept",
}


@pytest.mark.parametrize(("loss", "nonprojective"), FATE)
def test_full_trees_that_cross(loss: str, nonprojective: str) -> None:
    prepared = prepare([PLAIN, CROSSING, PLAIN], config_of(loss, nonprojective))
    fate = FATE[loss, nonprojective]
    assert prepared.left_out == ([CROSSING] if fate == "left out" else [])
    assert prepared.lifted == (fate == "lifted")
    assert prepared.partial == 0
    assert len(prepared.sentences) == (2 if fate == "left out" else 3)
    if fate != "left out":
        middle = prepared.sentences[1]
        assert middle == (project(CROSSING) if fate == "lifted" else CROSSING)
        assert is_projective([0, *middle.heads]) == (fate == "lifted")
        assert is_lifted(middle.deprels) == (fate == "lifted")


def test_marks_that_are_too_rare_are_taken_off() -> None:
    config = config_of("crf", "pseudo")
    marked = project(CROSSING).deprels
    assert is_lifted(marked)
    for copies, least, kept in ((2, 2, True), (2, 3, False), (1, 2, False)):
        prepared = prepare([CROSSING] * copies, replace(config, min_marked=least))
        assert prepared.lifted == copies
        for sentence in prepared.sentences:
            assert sentence.heads == project(CROSSING).heads
            assert sentence.deprels == (marked if kept else CROSSING.deprels)


def test_relations_with_arrows_are_escaped_only_where_marks_are_made() -> None:
    arrow = Sentence(["a"], [0], deprels=["up↑"])
    assert prepare([arrow], config_of("crf", "pseudo")).sentences[0].deprels == ["up\\↑"]
    assert prepare([arrow], config_of("crf", "none")).sentences[0].deprels == ["up↑"]


def test_marks_that_partial_trees_have_already_are_kept() -> None:
    masked = Sentence(["a", "b"], [-1, 0], deprels=["_", "x↑y"])
    assert prepare([masked], config_of("crf", "pseudo")).sentences[0].deprels == ["_", "x↑y"]


@pytest.mark.parametrize("loss", LOSSES)
def test_sentences_without_any_head_are_skipped(loss: str) -> None:
    prepared = prepare([BLANK, PLAIN, Sentence([]), BLANK], config_of(loss))
    assert prepared.sentences == [PLAIN]
    assert prepared.left_out == []
    assert prepared.warnings() == []
    assert prepared.headless == 3
    assert prepare([BLANK, PLAIN], config_of(loss), taught=True).sentences == [PLAIN, BLANK]
    with pytest.raises(ParserError, match="there is no sentence to train on"):
        prepare([BLANK], config_of(loss))


def test_partial_sentences_that_are_learnt_are_counted() -> None:
    partial, stuck = sentence_with([-1, 0]), sentence_with([2, -1, 1, 0])
    crossing = sentence_with([3, 4, -1, 3])
    for loss, count in (("crf", 1), ("local", 3)):
        prepared = prepare([partial, PLAIN, stuck, crossing], config_of(loss))
        assert prepared.partial == count


TWO_ROOTS = b"""# sent_id = first
1\ta\t_\t_\t_\t_\t0\troot\t_\t_

1\ta\t_\t_\t_\t_\t0\troot\t_\t_
2\tb\t_\t_\t_\t_\t1\tx\t_\t_
3\tc\t_\t_\t_\t_\t0\troot\t_\t_

"""


@pytest.mark.parametrize("loss", LOSSES)
def test_a_second_root_is_an_error_that_names_the_setting(loss: str, tmp_path: Path) -> None:
    path = tmp_path / "two.conllu"
    path.write_bytes(TWO_ROOTS)
    with pytest.raises(TreebankError) as caught:
        prepare(read_conllu(path), config_of(loss))
    assert str(caught.value).startswith(f"{path}:4: words 1 and 3 are both roots")
    assert "multiroot=true" in str(caught.value)
    assert len(prepare(read_conllu(path), config_of(loss, multiroot=True)).sentences) == 2


def test_a_cycle_is_an_error() -> None:
    with pytest.raises(TreebankError, match="word 1 is in a cycle"):
        prepare([Sentence(["a", "b"], [2, 1])], config_of("local"))


def test_what_is_left_out_is_named() -> None:
    crossing = b"".join(
        f"{word}\tw\t_\t_\t_\t_\t{head}\tx\t_\t_\n".encode()
        for word, head in enumerate((3, 4, 0, 3), 1)
    )
    file = BytesIO(b"\n".join([crossing] * 7) + b"\n")
    file.name = "seven.conllu"
    prepared = prepare([PLAIN, *read_conllu(file)], config_of("crf"))
    [warning] = prepared.warnings()
    assert warning == (
        "left out 7 sentences whose heads no projective tree has (seven.conllu:1, seven.conllu:6, "
        "seven.conllu:11, seven.conllu:16, seven.conllu:21 and 2 more); "
        "--nonprojective pseudo lifts the arcs of whole trees, --loss nonprojective learns any tree"
    )
    one = Prepared(left_out=[CROSSING])
    assert one.warnings()[0].startswith("left out 1 sentence whose heads")
    partial = Prepared(left_out=[sentence_with([3, 4, -1, 0])])  # which cannot be lifted
    assert partial.warnings()[0].endswith("(a sentence); --loss nonprojective learns any tree")


def test_a_fingerprint_is_of_the_content() -> None:
    same = Sentence(list("ab"), [2, 0], deprels=["a", "root"])
    assert fingerprint([PLAIN, CROSSING]) == fingerprint([same, CROSSING])
    others = [
        [CROSSING, PLAIN],
        [PLAIN],
        [PLAIN, CROSSING, CROSSING],
        [PLAIN, Sentence(list("abcd"), [3, 4, 0, 3], deprels=["a", "b", "root", "other"])],
        [PLAIN, Sentence(list("abcd"), [3, 1, 0, 3], deprels=["a", "b", "root", "d"])],
        [PLAIN, Sentence(list("abce"), [3, 4, 0, 3], deprels=["a", "b", "root", "d"])],
    ]
    names = [fingerprint(sentences) for sentences in others]
    assert len({fingerprint([PLAIN, CROSSING]), *names}) == len(others) + 1


def test_a_sentence_that_no_file_can_hold_has_a_fingerprint() -> None:
    tabs = Sentence(["a\tb"], [0], deprels=["root"])
    assert fingerprint([tabs]) == fingerprint([tabs]) != fingerprint([PLAIN])
