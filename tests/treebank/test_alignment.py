"""The CoNLL-18 evaluation: hand-made cases, and the official evaluator on perturbed files."""

import io
from typing import Any

import pytest
from hypothesis import given, settings
from udtools import udeval

from tests.treebank.strategies import parses
from tests.treebank.texts import text_pairs
from treecrf.treebank import (
    Score,
    Sentence,
    TreebankError,
    evaluate,
    evaluate_conll18,
    read_conllu,
)
from treecrf.treebank.metrics.alignment import Text, align

METRICS = (
    *("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags"),
    *("Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX"),
)


def conllu(*sentences: str) -> io.StringIO:
    """A file of chains of words; `don't=do+n't` is a multiword token."""
    lines = []
    for sentence in sentences:
        number = 0
        for token in sentence.split():
            surface, _, parts = token.partition("=")
            forms = parts.split("+") if parts else [surface]
            if parts:
                ids = f"{number + 1}-{number + len(forms)}"
                lines.append("\t".join([ids, surface, *["_"] * 8]))
            for form in forms:
                columns = [form, *["_"] * 4, str(number), "dep", "_", "_"]
                number += 1
                lines.append("\t".join([str(number), *columns]))
        lines.append("")
    return io.StringIO("\n".join(lines) + "\n")


def aligned(gold: str, system: str) -> list[tuple[str, str]]:
    ours, theirs = Text.of(read_conllu(conllu(gold))), Text.of(read_conllu(conllu(system)))
    pairs = align(ours.words, theirs.words)
    return [(ours.words[g].token.form, theirs.words[s].token.form) for g, s in pairs]


def official(gold: str, system: str) -> dict[str, Any]:
    return udeval.evaluate(
        udeval.load_conllu(io.StringIO(gold), "gold", {}),
        udeval.load_conllu(io.StringIO(system), "system", {}),
    )


def assert_official_figures(gold: str, system: str) -> None:
    expected = official(gold, system)
    scores = evaluate_conll18(io.StringIO(gold), io.StringIO(system))
    assert tuple(scores) == METRICS
    for name, score in scores.items():
        other = expected[name]
        counts = (other.correct, other.gold_total, other.system_total, other.aligned_total)
        assert score == Score(*counts), name
        figures = (other.precision, other.recall, other.f1, other.aligned_accuracy)
        assert figures == (score.precision, score.recall, score.f1, score.aligned_accuracy), name


def test_tokens_are_aligned_where_their_spans_are_equal() -> None:
    assert aligned("a bc d", "ab c d") == [("d", "d")]
    assert aligned("abc d", "a b c d") == [("d", "d")]


def test_words_of_multiword_tokens_are_aligned_by_their_forms() -> None:
    assert aligned("du=de+le pain", "du pain") == [("pain", "pain")]
    assert aligned("du=de+le pain", "du=De+la pain") == [("de", "De"), ("pain", "pain")]
    assert aligned("abc=a+b+c", "a b c") == [("a", "a"), ("b", "b"), ("c", "c")]


def test_a_block_grows_until_no_multiword_token_sticks_out() -> None:
    assert aligned("abc=a+x+c def=d+y+f", "ab=a+b cd=c+d ef=e+f") == [
        ("a", "a"),
        ("c", "c"),
        ("d", "d"),
        ("f", "f"),
    ]


def test_scores_by_hand() -> None:
    # Sentences 1 of 1 and 2; tokens: c is split from d. Each word depends on the one before it.
    scores = evaluate_conll18(conllu("a b cd"), conllu("a b", "c d"))
    assert scores["Tokens"] == Score(2, 3, 4)
    assert scores["Sentences"] == Score(0, 1, 2)
    assert scores["Words"] == Score(2, 3, 4)
    assert scores["UAS"] == Score(2, 3, 4, 2)
    assert scores["LAS"].f1 == pytest.approx(2 * 2 / 7)
    assert scores["LAS"].aligned_accuracy == 1.0
    assert scores["Tokens"].aligned_accuracy is None


def test_empty_files_score_nothing() -> None:
    assert_official_figures("", "")
    assert evaluate_conll18([], [])["LAS"] == Score(0, 0, 0, 0)


PHRASE = """\
1\tthe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t2\tdet\t_\t_
2\tdog\t_\tNOUN\tNN\tNumber=Sing\t0\troot\t_\t_

"""


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("\tdet\t", "\tdet:x\t", set()),
        ("\tdet\t", "\tcase\t", {"LAS", "MLAS"}),
        ("\tdet\t", "\tnmod\t", {"LAS", "CLAS", "BLEX", "MLAS"}),
        ("Definite=Def|PronType=Art", "PronType=Art|Definite=Def", set()),
        ("Number=Sing", "Number=Sing|Typo=Yes", set()),
        ("Definite=Def|", "", {"UFeats", "AllTags", "MLAS"}),
        ("DET", "PRON", {"UPOS", "AllTags", "MLAS"}),
        ("NN", "NNP", {"XPOS", "AllTags"}),
        ("\tthe\tthe", "\tthe\ta", {"Lemmas"}),
        ("\tdog\t_", "\tdog\tcat", set()),
    ],
)
def test_each_change_is_seen_by_its_metrics(old: str, new: str, wrong: set[str]) -> None:
    system = PHRASE.replace(old, new)
    assert_official_figures(PHRASE, system)
    scores = evaluate_conll18(io.StringIO(PHRASE), io.StringIO(system))
    assert {name for name, score in scores.items() if score.f1 < 1} == wrong


@settings(max_examples=800, derandomize=True)
@given(text_pairs())
def test_figures_are_those_of_the_official_evaluator(pair: tuple[str, str]) -> None:
    assert_official_figures(*pair)


@settings(max_examples=50)
@given(parses(systems=1))
def test_same_words_have_the_scores_of_plain_evaluation(
    treebanks: tuple[list[Sentence], ...],
) -> None:
    scores = evaluate_conll18(*treebanks)
    plain = evaluate(*treebanks, subtypes="cut")
    for name in ("UAS", "LAS"):
        assert scores[name].correct == plain[name].correct
        assert scores[name].f1 == scores[name].aligned_accuracy == plain[name].f1


def test_different_texts_are_an_error_that_says_where() -> None:
    message = "the texts differ: after 'ab' gold goes on with 'c' and system goes on with 'xc'"
    with pytest.raises(TreebankError, match=message):
        evaluate_conll18(conllu("a bc"), conllu("ab xc"))
    with pytest.raises(TreebankError, match="after 'ab' gold goes on with 'c' and system ends"):
        evaluate_conll18(conllu("a b c"), conllu("a b"))
    with pytest.raises(TreebankError, match="at the start gold ends and system goes on with 'ab'"):
        evaluate_conll18([], conllu("a b"))


ROWS = "1\ta\t_\t_\t_\t_\t{}\tdep\t_\t_\n2\tb\t_\t_\t_\t_\t{}\tdep\t_\t_\n\n"


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((2, 1), "cycle"),
        ((0, 0), "words 1 and 2 are both roots"),
        ((0, 3), "3"),
        ((0, "_"), "word 2 has no head"),
    ],
)
def test_what_the_official_evaluator_refuses_is_refused(
    heads: tuple[object, object], message: str
) -> None:
    broken, whole = ROWS.format(*heads), ROWS.format(0, 1)
    for gold, system in ((broken, whole), (whole, broken)):
        with pytest.raises(udeval.UDError):
            official(gold, system)
        with pytest.raises(TreebankError, match=message):
            evaluate_conll18(io.StringIO(gold), io.StringIO(system))


def test_a_word_of_spaces_is_refused() -> None:
    broken = ROWS.format(0, 1).replace("\ta\t", "\t\u00a0\t")
    with pytest.raises(udeval.UDError):
        official(broken, broken)
    with pytest.raises(TreebankError, match="word 1"):
        evaluate_conll18(io.StringIO(broken), io.StringIO(broken))
