"""Raw text: another system's segmentation, our own, and neither."""

import json
import re
from pathlib import Path

import pytest

from experiments import raw_text
from tests.experiments.toys import OPTIONS, result_of, run
from treecrf.segment import Segmenter, SegmenterConfig, train_segmenter
from treecrf.segment.training.raw_text import raw_sentences
from treecrf.segment.training.raw_text import raw_text as text_of
from treecrf.treebank import Sentence, evaluate_conll18, read_conllu, write_conllu
from treecrf.treebank.tokens import Token

pytestmark = pytest.mark.slow


def split_in_two(sentence: Sentence) -> list[Sentence]:
    """The first word of a sentence as a sentence of its own."""
    parts = []
    for tokens in (sentence.tokens[:1], sentence.tokens[1:]):
        heads = [0, *range(1, len(tokens))]
        parts.append(
            Sentence.from_tokens(
                Token(place, token.form, head=head, deprel="dep", misc=token.misc)
                for place, (token, head) in enumerate(zip(tokens, heads, strict=True), 1)
            )
        )
    return parts


def test_another_segmentation_costs_what_it_gets_wrong(
    treebank: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = list(read_conllu(treebank / "test.conllu"))
    write_conllu([*split_in_two(gold[0]), *gold[1:]], tmp_path / "tokens.conllu")
    options = ("--tokens", str(tmp_path / "tokens.conllu"))
    run(raw_text.main, treebank, out, *options)
    content = result_of(out / "made", "raw_text")
    rows = {(row["system"], row["metric"]): row["mean"] for row in content["rows"]}
    for system in ("Loc", "Crf", "Crf2o"):
        assert rows[f"{system}, gold segmentation", "Sentences"] == 100
        assert rows[system, "Words"] == 100
        right, gold_count, system_count = len(gold) - 1, len(gold), len(gold) + 1
        expected = 200 * right / (gold_count + system_count)
        assert rows[system, "Sentences"] == pytest.approx(expected, abs=1e-3)
        assert rows[system, "LAS"] <= rows[system, "UAS"] <= 100
    capsys.readouterr()
    run(raw_text.main, treebank, out, *options)
    assert "0 trainings" in capsys.readouterr().out
    # A default that has changed since is no part of a file's name.
    record = Path(content["trained"][0]["record"])
    for path in (out / record.parent).glob(f"{record.stem}-raw-*.json"):
        old = json.loads(path.read_text())
        old["training"]["config"]["tag_size"] += 1
        path.write_text(json.dumps(old))
    run(raw_text.main, treebank, out, *options)
    assert "1 training, 1 finished before" in capsys.readouterr().out
    assert result_of(out / "made", "raw_text")["rows"] == content["rows"]
    run(raw_text.main, treebank, out, *options)
    assert "0 trainings" in capsys.readouterr().out


def test_our_own_segmentation(treebank: Path, out: Path, tmp_path: Path) -> None:
    sentences = list(read_conllu(treebank / "train.conllu"))
    quick = SegmenterConfig(lstm_layers=1, lstm_size=8, window=64, context=8, epochs=1)
    train_segmenter(sentences, sentences[:5], quick).save(tmp_path)
    run(raw_text.main, treebank, out, "--segmenter", str(tmp_path))
    content = result_of(out / "made", "raw_text")
    assert content["tokens"] == str(tmp_path)
    gold = list(read_conllu(treebank / "test.conllu"))
    text = text_of(raw_sentences(gold))
    cut = [
        sentence.with_tree([*range(len(sentence))], ["dep"] * len(sentence))
        for sentence in Segmenter.load(tmp_path).segment(text)
    ]
    scores = evaluate_conll18(gold, cut)
    rows = {(row["system"], row["metric"]): row["mean"] for row in content["rows"]}
    for system in ("Loc", "Crf", "Crf2o"):
        for metric in ("Sentences", "Words"):
            assert rows[system, metric] == pytest.approx(100 * scores[metric].f1, abs=1e-3)
            assert rows[f"{system}, gold segmentation", metric] == 100


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "say how the text is split: --tokens FILE or --segmenter DIR"),
        (["--segmenter", "nowhere"], "no segmenter.*; give another system's segmentation with"),
    ],
)
def test_without_a_segmentation_one_line_says_so(
    treebank: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    problem: str,
) -> None:
    arguments = ["--treebank", str(treebank), "--out", str(tmp_path), *OPTIONS, *options]
    assert raw_text.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(problem, line)
