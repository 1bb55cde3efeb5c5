"""Another tree for a sentence: as if it had been assigned, whatever the sentence is made of."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treebank.strategies import CELL, files, parses
from treecrf.treebank import EmptyNode, Multiword, Sentence, Token, TreebankError, read_conllu

GOLDEN = Path(__file__).parent / "data" / "golden.conllu"


def cells(words: int) -> st.SearchStrategy[list[str]]:
    return st.lists(CELL, min_size=words, max_size=words)


def check(data: st.DataObject, sentence: Sentence) -> None:
    """Hold `with_tree` to the tokens of a copy, and the sentence to what it was."""
    words = len(sentence)
    heads = data.draw(st.lists(st.integers(-1, words), min_size=words, max_size=words))
    deprels = data.draw(cells(words))
    upos = data.draw(st.none() | cells(words))
    misc = data.draw(st.none() | cells(words))
    comments = data.draw(st.lists(CELL.map("#".__add__), max_size=2))
    probs = data.draw(st.sampled_from([None, [0.5] * words]))
    sentence.probs = [1.0] * words

    given = {"upos": upos, "misc": misc}
    columns = {name: column for name, column in given.items() if column is not None}
    changed = sentence.with_tree(heads, deprels, probs=probs, comments=comments, columns=columns)

    before = sentence.copy()
    expected = sentence.copy()
    expected.heads, expected.deprels = heads, deprels
    for index, token in enumerate(expected.tokens):
        token.upos = upos[index] if upos else token.upos
        token.misc = misc[index] if misc else token.misc
    expected.comments += comments
    expected.probs = probs

    for one in (changed, changed.copy()):
        assert (one.forms, one.heads, one.deprels) == (sentence.forms, heads, deprels)
        assert one.to_conllu() == expected.to_conllu()
        assert one.column("misc") == expected.column("misc")
        assert (one.source, one.line) == (sentence.source, sentence.line)
        assert one == expected  # which makes tokens
        assert one.to_conllu() == expected.to_conllu()
    changed.tokens[0].lemma = "changed"
    changed.comments.append("# changed")
    assert sentence.to_conllu() == before.to_conllu()
    assert sentence == before


@given(st.data(), files())
def test_is_what_assigning_gives_for_all_that_a_file_holds(data: st.DataObject, text: str) -> None:
    for sentence in read_conllu(BytesIO(text.encode())):
        check(data, sentence)
    for sentence in list(read_conllu(BytesIO(text.encode()))):
        check(data, sentence)
    for sentence in read_conllu(BytesIO(text.encode())):
        assert sentence.tokens
        check(data, sentence)


@given(st.data(), st.integers(1, 6).flatmap(cells))
def test_is_what_assigning_gives_for_forms(data: st.DataObject, forms: list[str]) -> None:
    check(data, Sentence(forms))
    check(data, Sentence(forms, list(range(len(forms))), deprels=forms, comments=["# made"]))
    twice = Sentence(forms).with_tree([0] * len(forms), forms)
    check(data, twice)
    assert twice.tokens
    check(data, twice)


@given(st.data(), parses(systems=0, partial=True, max_sentences=2))
def test_is_what_assigning_gives_for_tokens(
    data: st.DataObject, parsed: tuple[list[Sentence]]
) -> None:
    for sentence in parsed[0]:
        check(data, sentence)


def own_tree(sentence: Sentence) -> str:
    return sentence.with_tree(sentence.heads, sentence.deprels).to_conllu()


def test_the_golden_file_with_its_own_tree_is_the_golden_file() -> None:
    golden = GOLDEN.read_text(encoding="utf-8")
    assert "".join(map(own_tree, read_conllu(GOLDEN))) == golden
    kept = list(read_conllu(GOLDEN))
    assert "".join(map(own_tree, kept)) == golden
    assert all(sentence.tokens for sentence in kept)
    assert "".join(map(own_tree, kept)) == golden


def test_its_own_tree_does_not_change_how_a_missing_head_is_written() -> None:
    text = "1\ta\t_\t_\t_\t_\t-1\t_\t_\t_\n\n"
    (sentence,) = read_conllu(BytesIO(text.encode()))
    assert own_tree(sentence) == text
    assert sentence.with_tree([-1], ["x"]).to_conllu() == "1\ta\t_\t_\t_\t_\t_\tx\t_\t_\n\n"


def test_all_but_the_tree_stays() -> None:
    third = list(read_conllu(GOLDEN))[2]
    changed = third.with_tree(
        [0, 1, 1, -1, 3], ["a", "b", "c", "_", "e"], columns={"misc": list("vwxyz")}
    )
    rows = [line.split("\t") for line in changed.to_conllu().split("\n")[2:-2]]
    assert [[row[0], *row[6:]] for row in rows] == [
        ["0.1", "_", "_", "1:nsubj", "_"],
        ["1-2", "_", "_", "_", "SpacesAfter=\\s\\s"],
        ["1", "0", "a", "0:root", "v"],
        ["2", "1", "b", "_", "w"],
        ["3-4", "_", "_", "_", "_"],
        ["3", "1", "c", "5:case", "x"],
        ["4", "_", "_", "_", "y"],
        ["5", "3", "e", "1:obl", "z"],
    ]
    assert (changed.source, changed.line, changed.comments) == (
        third.source,
        third.line,
        third.comments,
    )


def test_heads_may_be_past_a_thousand() -> None:
    words = 1030
    heads = [*range(2, words + 1), 0]
    made = Sentence(["w"] * words).with_tree(heads, ["x"] * words)
    assert made.to_conllu() == Sentence(["w"] * words, heads, deprels=["x"] * words).to_conllu()
    (again,) = read_conllu(BytesIO(made.to_conllu().encode()))
    assert again.heads == heads
    assert again.with_tree([0] * words, ["y"] * words).heads == [0] * words
    assert own_tree(again) == made.to_conllu()


def from_file() -> Sentence:
    (sentence,) = read_conllu(BytesIO(Sentence(["a", "b"]).to_conllu().encode()))
    return sentence


def of_tokens() -> Sentence:
    return Sentence.from_tokens(
        [Token(1, "a"), Token(2, "b")],
        multiwords=[Multiword(1, 2, "ab")],
        empty_nodes=[EmptyNode(0, 1, "e")],
    )


@pytest.mark.parametrize("make", [from_file, of_tokens, lambda: Sentence(["a", "b"])])
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"heads": [0]}, "1 heads for 2 words"),
        ({"heads": [0, 3]}, "word 2 has head 3, outside 0 to 2 (or -1)"),
        ({"heads": [-2, 0]}, "word 1 has head -2, outside 0 to 2 (or -1)"),
        ({"deprels": ["x"] * 3}, "3 deprels for 2 words"),
        ({"deprels": ["x", ""]}, "column DEPREL of word 2 is empty; _ stands for nothing"),
        (
            {"deprels": ["a\tb", "c"]},
            "column DEPREL of word 1 holds a tab or a line break: 'a\\tb'",
        ),
        (
            {"columns": {"upos": ["X", "Y\n"]}},
            "column UPOS of word 2 holds a tab or a line break: 'Y\\n'",
        ),
        ({"columns": {"upos": []}}, "0 upos for 2 words"),
        (
            {"columns": {"misc": ["X", "Y\r"]}},
            "column MISC of word 2 holds a tab or a line break: 'Y\\r'",
        ),
        ({"columns": {"misc": ["X"]}}, "1 misc for 2 words"),
        ({"probs": [1.0]}, "1 probs for 2 words"),
    ],
)
def test_refuses_what_could_not_be_read_again(
    make: Callable[[], Sentence], arguments: dict[str, list], problem: str
) -> None:
    sentence = make()
    with pytest.raises(TreebankError) as error:
        sentence.with_tree(**{"heads": [0, 1], "deprels": ["x", "y"], **arguments})
    assert error.value.problem == problem
    assert sentence == make()


def test_an_error_names_the_file_and_the_line() -> None:
    second = list(read_conllu(GOLDEN))[1]
    with pytest.raises(TreebankError, match=r"golden\.conllu:19: 1 heads for 8 words$"):
        second.with_tree([0], ["x"])


def test_a_carriage_return_inside_a_line_is_kept() -> None:
    changed = from_file().with_tree([0, 1], ["x\r", "y\r"], columns={"misc": ["a\rb", "_"]})
    (again,) = read_conllu(BytesIO(changed.to_conllu().encode()))
    assert (again.deprels, again.column("misc")) == (["x\r", "y\r"], ["a\rb", "_"])
