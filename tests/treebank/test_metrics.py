"""The metrics: an example by hand, and every tree against the definitions written out naively."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treebank.strategies import parses
from treecrf.treebank import Score, Sentence, TreebankError, evaluate
from treecrf.treebank.metrics.scores import Punctuation, Subtypes

#        1  2   3    4  5    6 7         8
FORMS = ["I", "saw", "Sarah", ",", "with", "a", "telescope", "."]
GOLD = Sentence(
    FORMS,
    [2, 0, 2, 7, 7, 7, 2, 2],
    deprels=["nsubj", "root", "obj", "punct", "case", "det", "obl:mod", "punct"],
)
# Wrong: the head of "telescope" (3), the head of "," (2), the relations of "I" and "telescope".
SYSTEM = Sentence(
    FORMS,
    [2, 0, 2, 2, 7, 7, 3, 2],
    deprels=["obj", "root", "obj", "punct", "case", "det", "obl", "punct"],
)


def test_attachment_by_hand() -> None:
    result = evaluate([GOLD], [SYSTEM])
    assert result.uas == Score(6, 8, 8)
    assert result.las == Score(5, 8, 8)
    assert result.la == Score(6, 8, 8)
    assert result.las.precision == result.las.recall == result.las.f1 == 5 / 8
    assert (result.ucm, result.lcm) == (0.0, 0.0)
    assert (result.sentences, result.words) == (1, 8)


def test_adjacent_siblings_by_hand() -> None:
    # Gold: (2, 3, 7), (2, 7, 8), (7, 6, 5), (7, 5, 4). System: (2, 3, 4), (2, 4, 8), (7, 6, 5).
    result = evaluate([GOLD], [SYSTEM])
    assert result.sib == Score(1, 4, 3)
    assert result["SIB"].precision == pytest.approx(1 / 3)
    assert result["SIB"].recall == pytest.approx(1 / 4)
    assert result["SIB"].f1 == pytest.approx(2 / 7)


def test_complete_matches() -> None:
    relabelled = Sentence(FORMS, GOLD.heads, deprels=["x"] * 8)
    result = evaluate([GOLD, GOLD, GOLD, GOLD], [GOLD, relabelled, SYSTEM, SYSTEM])
    assert result.ucm == 0.5
    assert result.lcm == 0.25


def test_subtypes_can_be_cut() -> None:
    assert evaluate([GOLD], [SYSTEM], subtypes="cut").la == Score(7, 8, 8)


def test_punctuation_by_unicode_class() -> None:
    result = evaluate([GOLD], [SYSTEM], punct="unicode")
    assert result.uas == Score(5, 6, 6)
    assert (result.words, result.ignored) == (6, 2)
    # Without "," and "." the siblings are (2, 3, 7), (7, 6, 5) and, of the system, (7, 6, 5).
    assert result.sib == Score(1, 2, 1)


def test_punctuation_by_tag() -> None:
    def tagged(tags: list[str]) -> Sentence:
        sentence = Sentence(["a", "b", "c", "d", "e", "f"], [0, 1, 1, 1, 1, 1])
        for token, tag in zip(sentence.tokens, tags, strict=True):
            token.xpos = tag
        return sentence

    gold = tagged(["NN", "``", "''", ":", ",", "."])
    assert evaluate([gold], [gold], punct="tag").words == 1
    gold = tagged(["NN", "-LRB-", "$", "#", "PUNCT", "_"])
    assert evaluate([gold], [gold], punct="tag").words == 6
    gold.tokens[4].upos = "PUNCT"  # not asked: there is an XPOS
    for upos in (",", "PUNCT"):
        gold.tokens[5].upos = upos
        assert evaluate([gold], [gold], punct="tag").words == 5


def test_the_gold_word_decides_what_is_punctuation() -> None:
    system = Sentence(FORMS, GOLD.heads, deprels=GOLD.deprels)
    for token in system.tokens:
        token.xpos = ","
    assert evaluate([GOLD], [system], punct="tag").words == 8


def test_partial_reference_leaves_words_out_and_has_no_siblings() -> None:
    gold = Sentence(FORMS, [2, 0, -1, -1, 7, 7, -1, -1], deprels=GOLD.deprels)
    result = evaluate([gold, GOLD], [SYSTEM, SYSTEM])
    assert result.uas == Score(4 + 6, 4 + 8, 4 + 8)
    assert result.ucm == 0.5
    assert result.sib is None
    reason = "adjacent siblings need whole trees, and the reference has 4 words without a head"
    assert result.missing == {"SIB": reason}
    with pytest.raises(KeyError, match="4 words without a head"):
        result["SIB"]
    assert all("SIB" not in scores for scores in result.by_length.values())
    sib = {"precision": None, "recall": None, "f1": None, "reason": reason}
    assert result.to_dict()["SIB"] == sib


def test_sentence_without_any_annotation_is_no_match_and_no_miss() -> None:
    nothing = Sentence(FORMS, [-1] * 8)
    result = evaluate([nothing, GOLD], [SYSTEM, GOLD])
    assert (result.sentences, result.words, result.ucm) == (1, 8, 1.0)


def test_unannotated_punctuation_does_not_matter_where_it_is_ignored() -> None:
    gold = Sentence(FORMS, [2, 0, 2, -1, 7, 7, 2, -1], deprels=GOLD.deprels)
    assert evaluate([gold], [SYSTEM], punct="unicode").sib == Score(1, 2, 1)


def test_word_that_the_system_leaves_open_is_wrong() -> None:
    system = Sentence(FORMS, [-1, *GOLD.heads[1:]], deprels=GOLD.deprels)
    result = evaluate([GOLD], [system])
    assert result.uas == Score(7, 8, 8)
    assert result.by_distance["1"]["UAS"] == Score(2, 3, 2)


def test_breakdown_by_relation() -> None:
    groups = evaluate([GOLD], [SYSTEM]).by_relation
    assert list(groups) == ["punct", "obj", "case", "det", "root", "nsubj", "obl:mod", "obl"]
    assert groups["punct"]["UAS"] == Score(1, 2, 2)
    assert groups["obj"] == {"UAS": Score(1, 1, 1), "LAS": Score(1, 1, 2), "LA": Score(1, 1, 2)}
    assert groups["obl"]["LAS"] == Score(0, 0, 1)


def test_breakdown_by_distance() -> None:
    groups = evaluate([GOLD], [SYSTEM]).by_distance
    # Gold: I 1, Sarah 1, "," 3, with 2, a 1, telescope 5, "." 6; system: "," 2, telescope 4.
    assert {group: scores["UAS"] for group, scores in groups.items()} == {
        "root": Score(1, 1, 1),
        "1": Score(3, 3, 3),
        "2": Score(1, 1, 2),
        "3-6": Score(1, 3, 2),
    }
    assert groups["1"]["LAS"] == Score(2, 3, 3)


def test_breakdown_by_length() -> None:
    long = Sentence(["w"] * 60, [0, *range(1, 60)])
    middle = Sentence(["w"] * 10, [0, *[1] * 9])
    eleven = Sentence(["w"] * 11, [0, *[1] * 10])
    groups = evaluate([GOLD, long, middle, eleven], [SYSTEM, long, middle, eleven]).by_length
    assert list(groups) == ["1-10", "11-20", "51+"]
    assert groups["1-10"]["UAS"] == Score(16, 18, 18)
    assert groups["1-10"]["UCM"] == Score(1, 2, 2)


def test_json_has_fractions_by_name() -> None:
    figures = json.loads(json.dumps(evaluate([GOLD], [SYSTEM]).to_dict(by="distance")))
    assert list(figures) == ["UAS", "LAS", "LA", "UCM", "LCM", "SIB", "by_distance"]
    assert figures["LAS"] == {"precision": 0.625, "recall": 0.625, "f1": 0.625}
    assert figures["UCM"] == 0.0
    assert figures["by_distance"]["1"]["LAS"]["recall"] == pytest.approx(2 / 3)


def test_nothing_to_score_is_zero() -> None:
    result = evaluate([], [])
    assert (result.las.f1, result.ucm, result.sentences) == (0.0, 0.0, 0)


def test_sentences_that_do_not_match_are_an_error_that_says_which() -> None:
    named = Sentence(FORMS, GOLD.heads, comments=["# sent_id = s-2"])
    other = Sentence(["I", "saw", "Sara", *FORMS[3:]], GOLD.heads)
    with pytest.raises(TreebankError, match=r"word 3 of sentence 2 \(s-2\) is 'Sarah' in gold and"):
        evaluate([GOLD, named], [GOLD, other])
    shorter = Sentence(FORMS[:-1], GOLD.heads[:-1])
    with pytest.raises(TreebankError, match=r"\(s-2\) has 8 words in gold and 7 in system"):
        evaluate([GOLD, named], [GOLD, shorter])
    with pytest.raises(TreebankError, match=r"gold goes on with sentence 2 \(s-2\), but system"):
        evaluate([GOLD, named], [GOLD])
    with pytest.raises(TreebankError, match=r"system goes on with sentence 2, but gold.*--conll18"):
        evaluate([GOLD], [GOLD, GOLD])


def test_unknown_options_are_errors() -> None:
    with pytest.raises(ValueError, match="punct is 'keep', 'unicode' or 'tag', not 'none'"):
        evaluate([GOLD], [GOLD], punct="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="subtypes is 'keep' or 'cut', not 'drop'"):
        evaluate([GOLD], [GOLD], subtypes="drop")  # type: ignore[arg-type]


def is_ignored(sentence: Sentence, index: int, punct: Punctuation) -> bool:
    token = sentence.tokens[index]
    if punct == "unicode":
        return all(unicodedata.category(character)[0] == "P" for character in token.form)
    return punct == "tag" and token.xpos in ("``", "''", ":", ",", ".")


def naive_siblings(sentence: Sentence, punct: Punctuation) -> set[tuple[int, frozenset[int]]]:
    """Pairs of words on one side of their head with no other dependent of it between them."""
    heads = {
        number: head
        for number, head in enumerate(sentence.heads, 1)
        if head >= 0 and not is_ignored(sentence, number - 1, punct)
    }
    return {
        (heads[k], frozenset((k, j)))
        for k in heads
        for j in heads
        if k < j
        and heads[k] == heads[j]
        and (j < heads[k] or heads[k] < k)
        and not any(heads.get(between) == heads[k] for between in range(k + 1, j))
    }


@given(
    st.booleans().flatmap(lambda partial: parses(systems=1, partial=partial)),
    st.sampled_from(["keep", "unicode", "tag"]),
    st.sampled_from(["keep", "cut"]),
)
def test_metrics_are_what_their_definitions_say(
    treebanks: tuple[list[Sentence], ...], punct: Punctuation, subtypes: Subtypes
) -> None:
    gold, system = treebanks
    result = evaluate(gold, system, punct=punct, subtypes=subtypes)

    def relation(sentence: Sentence, index: int) -> str:
        whole = sentence.deprels[index]
        return whole.split(":")[0] if subtypes == "cut" else whole

    heads, relations, arcs, matches, labelled_matches = [], [], [], [], []
    for one, other in zip(gold, system, strict=True):
        words = [
            index
            for index in range(len(one))
            if one.heads[index] != -1 and not is_ignored(one, index, punct)
        ]
        right_heads = [one.heads[index] == other.heads[index] for index in words]
        right_relations = [relation(one, index) == relation(other, index) for index in words]
        right_arcs = [a and b for a, b in zip(right_heads, right_relations, strict=True)]
        heads += right_heads
        relations += right_relations
        arcs += right_arcs
        if set(one.heads) != {-1}:
            matches.append(all(right_heads))
            labelled_matches.append(all(right_arcs))

    def score(right: list[bool]) -> Score:
        return Score(sum(right), len(right), len(right))

    expected = {
        "UAS": score(heads),
        "LAS": score(arcs),
        "LA": score(relations),
        "UCM": score(matches),
        "LCM": score(labelled_matches),
    }
    if not any(
        head == -1 and not is_ignored(sentence, index, punct)
        for sentence in gold
        for index, head in enumerate(sentence.heads)
    ):
        ours = {(n, *pair) for n, one in enumerate(gold) for pair in naive_siblings(one, punct)}
        theirs = {(n, *pair) for n, one in enumerate(system) for pair in naive_siblings(one, punct)}
        expected["SIB"] = Score(len(ours & theirs), len(ours), len(theirs))
    assert result.scores == expected

    # The groups of each breakdown add up to the whole.
    for groups in (result.by_relation, result.by_distance, result.by_length):
        for name in ("UAS", "LAS"):
            assert sum(scores[name].correct for scores in groups.values()) == result[name].correct
            assert sum(scores[name].gold for scores in groups.values()) == result.words
            assert sum(scores[name].system for scores in groups.values()) == result.words
