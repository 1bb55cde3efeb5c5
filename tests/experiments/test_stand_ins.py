"""Treebanks like those of the paper that cannot be had, made from a made-up one: what is run on
them are the commands for any other.
"""

from pathlib import Path

import pytest

from experiments import main_table, subtrees
from tests.experiments.toys import result_of, run
from treecrf.parser import load
from treecrf.treebank import Sentence, evaluate, read_conllu, write_conllu
from treecrf.treebank.mask import mask_dependencies

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def partly(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Like NLPCC19: half of the words of all parts have a head."""
    folder = tmp_path_factory.mktemp("stand-ins") / "nlpcc"
    folder.mkdir()
    for path in treebank.iterdir():
        write_conllu(mask_dependencies(read_conllu(path), 0.5), folder / path.name)
    return folder


@pytest.fixture(scope="module")
def conllx(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Like the Penn Treebank with Stanford dependencies: CoNLL-X, and tags of punctuation."""
    folder = tmp_path_factory.mktemp("stand-ins") / "ptb"
    folder.mkdir()
    for path in treebank.iterdir():
        rows = "".join(map(_conllx, read_conllu(path)))
        (folder / path.name).write_text(rows, encoding="utf-8")
    return folder


def _conllx(sentence: Sentence) -> str:
    lines = []
    for number, (token, head) in enumerate(zip(sentence.tokens, sentence.heads, strict=True), 1):
        tag, arc = token.xpos, (f"{head}", token.deprel)
        # The last word is punctuation by its tag alone.
        form = "stop" if tag == "." else token.form
        lines.append("\t".join((f"{number}", form, "_", tag, tag, "_", *arc, *arc)))
    return "\n".join(lines) + "\n\n"


def test_partial_references_are_scored_where_they_have_heads(partly: Path, tmp_path: Path) -> None:
    run(main_table.main, partly, tmp_path)
    content = result_of(tmp_path / "nlpcc", "main_table")
    gold = list(read_conllu(partly / "test.conllu"))
    assert sum(-1 in sentence.heads for sentence in gold) > 0
    (record,) = [item["record"] for item in content["trained"] if item["run"].startswith("Crf2o")]
    parser = load(tmp_path / "models" / Path(record).stem, device="cpu")
    scores = evaluate(gold, parser.parse_tokens([sentence.forms for sentence in gold]))
    (row,) = [
        row
        for row in content["rows"]
        if (row["split"], row["system"], row["metric"]) == ("test", "Crf2o", "LAS")
    ]
    assert row["mean"] == pytest.approx(100 * scores["LAS"].f1, abs=1e-3)
    assert scores["LAS"].gold == sum(head >= 0 for one in gold for head in one.heads)
    run(subtrees.main, partly, tmp_path)  # no training more
    page = (tmp_path / "nlpcc" / "subtrees.md").read_text()
    assert "There is no SIB for partial references." in page


def test_conllx_with_tags_of_punctuation(conllx: Path, tmp_path: Path) -> None:
    run(main_table.main, conllx, tmp_path, "--punct", "tag")
    content = result_of(tmp_path / "ptb", "main_table")
    gold = list(read_conllu(conllx / "test.conllu"))
    assert [one.heads for one in gold] == [
        one.heads for one in read_conllu(conllx / "test.conllu", columns="predicted")
    ]
    (record,) = [item["record"] for item in content["trained"] if item["run"].startswith("Loc on")]
    parser = load(tmp_path / "models" / Path(record).stem, device="cpu")
    assert parser.config.punct == "tag"  # the epoch is chosen by the same scores
    scores = evaluate(gold, parser.parse_tokens([one.forms for one in gold]), punct="tag")
    (row,) = [
        row
        for row in content["rows"]
        if (row["split"], row["system"], row["metric"]) == ("test", "Loc", "LAS")
    ]
    assert row["mean"] == pytest.approx(100 * scores["LAS"].f1, abs=1e-3)
    assert "Punctuation is left out." in (tmp_path / "ptb" / "main_table.md").read_text()
