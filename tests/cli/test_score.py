"""`treecrf score` from end to end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from treecrf.cli.app import app

GOLD = """\
# sent_id = s-1
1	I	I	PRON	PRP	_	2	nsubj	_	_
2	saw	see	VERB	VBD	_	0	root	_	_
3	Sarah	Sarah	PROPN	NNP	_	2	obj	_	SpaceAfter=No
4	.	.	PUNCT	.	_	2	punct	_	_

# sent_id = s-2
1-2	cannot	_	_	_	_	_	_	_	_
1	can	can	AUX	MD	_	3	aux	_	_
2	not	not	PART	RB	_	3	advmod	_	_
3	go	go	VERB	VB	_	0	root	_	_

"""
# Sarah hangs on the full stop, and the full stop is no punct; "not" has another relation.
SYSTEM = (
    GOLD.replace("2\tobj", "4\tobj").replace("2\tpunct", "2\tdep").replace("advmod", "advmod:n")
)
RAW = """\
1	I	I	PRON	PRP	_	2	nsubj	_	_
2	saw	see	VERB	VBD	_	0	root	_	_
3	Sarah.	Sarah	PROPN	NNP	_	2	obj	_	_

1	cannot	can	AUX	MD	_	2	aux	_	_
2	go	go	VERB	VB	_	0	root	_	_

"""

TABLE = """\

  metric   precision   recall      F1
 ─────────────────────────────────────
  UAS          85.71    85.71   85.71
  LAS          57.14    57.14   57.14
  LA           71.43    71.43   71.43
  UCM                           50.00
  LCM                            0.00
  SIB         100.00    50.00   66.67

UCM, LCM: sentences with all heads right, with relations too; SIB: adjacent siblings
2 sentences, 7 words scored
"""
BY_DISTANCE = """
  distance   gold   system    UAS P    UAS R    LAS P    LAS R   LAS F1
 ───────────────────────────────────────────────────────────────────────
  root          2        2   100.00   100.00   100.00   100.00   100.00
  1             3        3    66.67    66.67    33.33    33.33    33.33
  2             2        2   100.00   100.00    50.00    50.00    50.00

"""
CONLL18 = """\

  metric      precision   recall       F1   aligned
 ───────────────────────────────────────────────────
  Tokens          80.00    66.67    72.73
  Sentences      100.00   100.00   100.00
  Words           60.00    42.86    50.00
  UPOS            60.00    42.86    50.00    100.00
  XPOS            60.00    42.86    50.00    100.00
  UFeats          60.00    42.86    50.00    100.00
  AllTags         60.00    42.86    50.00    100.00
  Lemmas          60.00    42.86    50.00    100.00
  UAS             60.00    42.86    50.00    100.00
  LAS             60.00    42.86    50.00    100.00
  CLAS            75.00    60.00    66.67    100.00
  MLAS            50.00    40.00    44.44     66.67
  BLEX            75.00    60.00    66.67    100.00

"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.conllu").write_text(GOLD, encoding="utf-8")
    (tmp_path / "system.conllu").write_text(SYSTEM, encoding="utf-8")
    (tmp_path / "raw.conllu").write_text(RAW, encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str, stdin: str = "", code: int = 0) -> str:
    """What the command prints; names of files are those in the folder."""
    named = [str(folder / word) if word.endswith(".conllu") else word for word in arguments]
    result = CliRunner().invoke(app, ["score", *named], input=stdin)
    assert result.exit_code == code, result.output
    return "".join(line.rstrip() + "\n" for line in result.output.splitlines())


def test_table(files: Path) -> None:
    assert run(files, "gold.conllu", "system.conllu") == TABLE


def test_table_with_breakdown(files: Path) -> None:
    output = run(files, "gold.conllu", "system.conllu", "--by", "distance")
    assert output == TABLE + BY_DISTANCE


@pytest.mark.parametrize("by", ["relation", "length"])
def test_other_breakdowns_have_their_rows(files: Path, by: str) -> None:
    output = run(files, "gold.conllu", "system.conllu", "--by", by)
    rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line}
    if by == "relation":
        assert rows["obj"] == ["1", "1", "0.00", "0.00", "0.00", "0.00", "100.00"]
        assert rows["advmod"] == ["1", "0", "100.00", "0.00", "0.00", "0.00", "0.00"]
    else:
        assert rows["1-10"] == ["2", "7", "85.71", "57.14", "71.43", "50.00", "0.00", "66.67"]


def test_json(files: Path) -> None:
    figures = json.loads(run(files, "gold.conllu", "system.conllu", "--json"))
    assert figures == {
        "UAS": {"precision": 6 / 7, "recall": 6 / 7, "f1": 6 / 7},
        "LAS": {"precision": 4 / 7, "recall": 4 / 7, "f1": 4 / 7},
        "LA": {"precision": 5 / 7, "recall": 5 / 7, "f1": 5 / 7},
        "UCM": 0.5,
        "LCM": 0.0,
        "SIB": {"precision": 1.0, "recall": 0.5, "f1": 2 / 3},
    }


@pytest.mark.parametrize("punct", ["unicode", "tag"])
def test_options(files: Path, punct: str) -> None:
    options = ["--punct", punct, "--subtypes", "cut", "--by", "length", "--json"]
    figures = json.loads(run(files, "gold.conllu", "system.conllu", *options))
    assert figures["LAS"]["f1"] == 5 / 6
    assert figures["LA"]["f1"] == 1.0
    assert figures["by_length"]["1-10"]["UCM"] == 0.5
    output = run(files, "gold.conllu", "system.conllu", "--punct", punct)
    assert output.endswith("\n2 sentences, 6 words scored, 1 ignored as punctuation\n")


def test_standard_input(files: Path) -> None:
    assert run(files, "gold.conllu", "-", stdin=SYSTEM) == TABLE
    assert run(files, "-", "system.conllu", stdin=GOLD) == TABLE
    assert "only one of the files" in run(files, "-", "-", stdin=GOLD, code=2)


def test_partial_reference_says_why_there_is_no_sib(files: Path) -> None:
    partial = GOLD.replace("2\tnsubj", "_\t_")
    output = run(files, "-", "system.conllu", stdin=partial)
    assert "SIB is empty: adjacent siblings need whole trees" in output
    figures = json.loads(run(files, "-", "system.conllu", "--json", stdin=partial))
    assert figures["SIB"]["f1"] is None
    assert "whole trees" in figures["SIB"]["reason"]


def test_conll18(files: Path) -> None:
    assert run(files, "--conll18", "gold.conllu", "raw.conllu") == CONLL18
    figures = json.loads(run(files, "--conll18", "gold.conllu", "raw.conllu", "--json"))
    assert len(figures) == 13
    # I, saw and go are aligned, and "cannot" by its form is not.
    assert figures["Words"] == {"precision": 3 / 5, "recall": 3 / 7, "f1": 6 / 12}
    assert figures["LAS"]["aligned_accuracy"] == 1.0


def test_conll18_takes_no_options_of_its_own(files: Path) -> None:
    output = run(files, "--conll18", "gold.conllu", "raw.conllu", "--punct", "tag", code=2)
    assert "--conll18 has its own rules" in output


def test_predicted_columns(tmp_path: Path) -> None:
    # ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED
    rows = [["1", "a", *"______", "0", "2", "ROOT", "SBJ", "_", "_"]]
    rows += [["2", "b", *"______", "1", "0", "OBJ", "ROOT", "_", "_"]]
    file = tmp_path / "both.conllu"
    file.write_text("".join("\t".join(row) + "\n" for row in rows) + "\n", encoding="utf-8")
    assert json.loads(run(tmp_path, str(file), str(file), "--json"))["UAS"]["f1"] == 1.0
    options = ["--columns", "predicted", "--json"]
    assert json.loads(run(tmp_path, str(file), str(file), *options))["UAS"]["f1"] == 0.0


def test_errors_are_one_line(files: Path) -> None:
    output = run(files, "gold.conllu", "raw.conllu", code=2)
    name = files / "raw.conllu"
    problem = "word 3 of sentence 1 (s-1) is 'Sarah' in gold and 'Sarah.' in system"
    assert output.startswith(f"{name}:1: {problem}")
    assert "treecrf score --conll18" in output
    assert output.count("\n") == 1
    output = run(files, "--conll18", "gold.conllu", "-", stdin=RAW.replace("I\t", "It\t"), code=2)
    assert output.startswith("<stdin>:1: the texts differ: after 'I' gold goes on with 'sawSar")
    assert "No such file" in run(files, "gold.conllu", "nothing.conllu", code=2)


@pytest.mark.parametrize("options", [[], ["--json"], ["--conll18"]])
def test_nothing_to_score_is_an_error(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "empty.conllu").touch()
    output = run(tmp_path, "empty.conllu", "empty.conllu", *options, code=2)
    assert output == "there are no sentences to score\n"


def test_scoring_loads_neither_torch_nor_numpy(files: Path) -> None:
    script = (
        "import sys\nfrom treecrf.cli.app import app\n"
        f"app(['score', {str(files / 'gold.conllu')!r}, '-'], standalone_mode=False)\n"
        "assert not {'torch', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], input=SYSTEM.encode(), check=True)
