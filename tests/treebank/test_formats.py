"""CoNLL-X and CoNLL-09: told apart by themselves, read with either analysis, written."""

import io
from pathlib import Path

import pytest

from treecrf.treebank import Sentence, TreebankError, read_conllu, write_conllu
from treecrf.treebank.files.conllu import Columns, Format

DATA = Path(__file__).parent / "data"


def rows(sentence: Sentence) -> list[list[str]]:
    return [token.to_conllu().split("\t")[1:8] for token in sentence.tokens]


@pytest.mark.parametrize(
    ("name", "columns", "first", "second"),
    [
        ("conllx", "gold", "John John N NNP case=nom|num=sg 2 SBJ", "0 ROOT"),
        ("conllx", "predicted", "John John N NNP case=nom|num=sg 2 NMOD", "_ _"),
        ("conll09", "gold", "John john _ NNP case=nom 2 SBJ", "_ _"),
        ("conll09", "predicted", "John John _ NN _ 3 OBJ", "0 ROOT"),
    ],
)
def test_reads_the_gold_or_the_predicted_columns(
    name: str, columns: Columns, first: str, second: str
) -> None:
    sentences = list(read_conllu(DATA / f"golden.{name}", columns=columns))
    assert rows(sentences[0])[0] == first.split(" ")
    assert rows(sentences[1])[0][5:] == second.split(" ")
    again = io.BytesIO("".join(sentence.to_conllu() for sentence in sentences).encode())
    assert list(read_conllu(again)) == sentences


def test_a_sentence_without_phead_does_not_hide_that_a_file_is_conllx() -> None:
    first, second = (DATA / "golden.conllx").read_text().split("\n\n")[:2]
    sentences = list(read_conllu(io.StringIO(f"{second}\n\n{first}\n\n")))
    assert sentences[1].tokens[0].deps == "_"


ONE = "1\tA\t_\t_\t_\t_\t0\troot\t{}\t{}\n\n"


@pytest.mark.parametrize(
    "first", [ONE.format("_", "SpaceAfter=No"), "# c\n" + ONE.format("4", "_")]
)
def test_a_number_in_the_ninth_column_does_not_turn_conllu_into_conllx(first: str) -> None:
    later = ONE.format("4", "SpaceAfter=No") + "# c\n" + ONE.format("0:root", "SpaceAfter=No")
    sentences = read_conllu(io.StringIO(first + later))
    assert "".join(sentence.to_conllu() for sentence in sentences) == first + later


def test_dependencies_in_conllx_are_refused_and_not_lost() -> None:
    with pytest.raises(TreebankError, match=r"<file>:3: PHEAD '0:root' is no number"):
        list(read_conllu(io.StringIO(ONE.format("0", "root") + ONE.format("0:root", "_"))))


def test_conllu_has_no_predicted_columns() -> None:
    with pytest.raises(TreebankError, match=r"golden\.conllu:1: no predicted columns: this is not"):
        list(read_conllu(DATA / "golden.conllu", columns="predicted"))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("conllx", "2: 10 columns expected, with tabs between them, and 2 found in '2\\tx'"),
        (
            "conll09",
            "2: 14 or more columns expected, with tabs between them, and 2 found in '2\\tx'",
        ),
    ],
)
def test_missing_columns_are_named(name: str, problem: str) -> None:
    first = (DATA / f"golden.{name}").read_text().split("\n")[0]
    with pytest.raises(TreebankError) as error:
        list(read_conllu(io.StringIO(f"{first}\n2\tx\n\n")))
    assert str(error.value) == f"<file>:{problem}"


@pytest.mark.parametrize("format", ["conllx", "conll09"])
def test_writes_what_it_can_read(format: Format) -> None:
    buffer = io.BytesIO()
    original = list(read_conllu(DATA / "golden.conllu"))
    write_conllu(original, buffer, format=format)
    buffer.seek(0)
    for sentence, again in zip(original, read_conllu(buffer), strict=True):
        assert (again.forms, again.heads) == (sentence.forms, sentence.heads)
        assert again.deprels == sentence.deprels
        assert (again.comments, again.multiwords) == ([], [])


def test_conll09_is_written_with_both_analyses_the_same() -> None:
    buffer = io.BytesIO()
    write_conllu(
        [Sentence(["Hi", "you"], [0, 1], deprels=["root", "vocative"])], buffer, format="conll09"
    )
    assert buffer.getvalue().decode() == (
        "1\tHi\t_\t_\t_\t_\t_\t_\t0\t0\troot\troot\t_\t_\n"
        "2\tyou\t_\t_\t_\t_\t_\t_\t1\t1\tvocative\tvocative\t_\t_\n\n"
    )
