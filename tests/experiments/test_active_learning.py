"""Simulated annotation at toy size, and what it asks for."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from experiments import active_learning
from experiments.active_learning import STRATEGIES, Point, heads_for
from experiments.measures import Measure
from experiments.selection import Pool, count_heads
from tests.experiments.toys import OPTIONS, result_of, run
from treecrf.parser import load, load_config
from treecrf.parser.training.data import prepare
from treecrf.treebank import read_conllu, write_conllu

pytestmark = pytest.mark.slow


def test_active_learning(treebank: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--start", "6", "--heads", "40", "--rounds", "2")
    run(active_learning.main, treebank, out, *options)
    content = result_of(out / "made", "active_learning")
    rows = {(row["strategy"], row["round"]): row for row in content["rows"]}
    assert list(rows) == [(strategy, number) for strategy in STRATEGIES for number in range(3)]
    assert len({rows[strategy, 0]["mean"] for strategy in STRATEGIES}) == 1  # the same beginning
    for strategy in STRATEGIES:
        heads = [rows[strategy, number]["heads"] for number in range(3)]
        steps = [after - before for before, after in pairwise(heads)]
        assert all(step >= 40 for step in steps)
        if strategy.endswith("words"):
            assert steps == [40, 40]
    assert len(content["trained"]) == 1 + 2 * 4
    needed = content["heads_for_the_last_of_random_sentences"]
    assert needed["random sentences"] <= rows["random sentences", 2]["heads"]
    capsys.readouterr()
    run(active_learning.main, treebank, out, *options)
    assert "4 trainings, 4 finished before" in capsys.readouterr().out


def test_rounds_of_as_many_steps(treebank: Path, out: Path) -> None:
    options = ("--start", "6", "--heads", "40", "--rounds", "1", "--steps", "2", "--epochs", "50")
    run(active_learning.main, treebank, out, *options)
    trained = result_of(out / "made", "active_learning")["trained"]
    assert len(trained) == 1 + 4
    for item in trained:
        record = json.loads((out / item["record"]).read_text())
        assert len(record["epochs"]["las"]) <= 2  # 200 words are a batch


@pytest.mark.parametrize("option", ["--start", "--heads", "--rounds", "--steps"])
def test_numbers_that_cannot_be(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    arguments = ["--treebank", str(treebank), "--out", str(tmp_path), *OPTIONS, option, "0"]
    assert active_learning.main(arguments) == 2
    assert capsys.readouterr().err == (
        "experiments.active_learning: --start, --heads, --rounds and --steps are 1 or more\n"
    )


def test_more_heads_than_there_are(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--treebank", str(treebank), "--out", str(tmp_path), *OPTIONS]
    assert active_learning.main([*arguments, "--start", "59", "--heads", "100"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(r"ask for [\d,]+ heads, and made has [\d,]+; ask for fewer$", line)
    assert not (tmp_path / "made").exists()


def test_a_pool_gives_what_was_asked_for(treebank: Path, tmp_path: Path) -> None:
    pool = Pool(treebank / "train.conllu")
    begun = pool.begin(5, seed=1)
    assert count_heads(begun) == sum(len(pool.gold[place]) for place in begun)
    chosen = pool.extend(begun, 30, strategy="random words", parser=None, seed=1)
    assert count_heads(chosen) == count_heads(begun) + 30
    pool.write(chosen, tmp_path / "chosen.conllu")
    assert pool.read(tmp_path / "chosen.conllu") == chosen
    written = list(read_conllu(tmp_path / "chosen.conllu"))
    for place, sentence in zip(sorted(chosen), written, strict=True):
        tree = pool.gold[place] if place in begun else pool.lifted[place]
        assert sentence.forms == tree.forms
        for word, (head, true) in enumerate(zip(sentence.heads, tree.heads, strict=True), 1):
            assert head == (true if word in chosen[place] else -1)
    assert prepare(written, load_config("tiny")).left_out == []


def test_all_that_is_left_is_the_treebank_itself(treebank: Path) -> None:
    pool = Pool(treebank / "train.conllu")
    everything = pool.extend({}, 10**6, strategy="random words", parser=None, seed=1)
    whole = [pool.partial(place, words) for place, words in sorted(everything.items())]
    assert whole == pool.gold


def test_unsure_words_and_sentences_come_first(treebank: Path, out: Path) -> None:
    run(active_learning.main, treebank, out, "--start", "6", "--heads", "40", "--rounds", "1")
    first = Path(result_of(out / "made", "active_learning")["trained"][0]["record"])
    parser = load(out / "models" / first.stem, device="cpu")
    pool = Pool(treebank / "train.conllu")
    (chosen,) = pool.extend({}, 1, strategy="uncertain words", parser=parser, seed=1).items()
    parsed = parser.parse_tokens(pool.gold)
    least = min((min(tree.probs or []), place) for place, tree in enumerate(parsed))
    assert chosen[0] == least[1]
    (word,) = chosen[1]
    assert (parsed[chosen[0]].probs or [])[word - 1] == pytest.approx(least[0], abs=1e-4)
    picked = pool.extend({}, 1, strategy="uncertain sentences", parser=parser, seed=1)
    entropies = [parser.distribution([each]).entropy.item() / len(each) for each in pool.gold]
    assert list(picked) == [entropies.index(max(entropies))]


def test_nobody_is_asked_for_what_is_not_known(treebank: Path, out: Path, tmp_path: Path) -> None:
    """A treebank that is partial itself has no more to give than its heads."""
    run(active_learning.main, treebank, out, "--start", "6", "--heads", "40", "--rounds", "1")
    first = Path(result_of(out / "made", "active_learning")["trained"][0]["record"])
    parser = load(out / "models" / first.stem, device="cpu")
    sentences = Pool(treebank / "train.conllu").lifted
    for token in (token for sentence in sentences for token in sentence.tokens[::2]):
        token.head, token.deprel = -1, "_"
    write_conllu(sentences, tmp_path / "train.conllu")
    pool = Pool(tmp_path / "train.conllu")
    assert pool.heads == sum(len(sentence) // 2 for sentence in sentences)
    for strategy in STRATEGIES:
        chosen = pool.extend({}, 10**6, strategy=strategy, parser=parser, seed=1)
        assert count_heads(chosen) == pool.heads
        pool.write(chosen, tmp_path / "chosen.conllu")
        assert count_heads(pool.read(tmp_path / "chosen.conllu")) == pool.heads


def test_what_is_asked_for_does_not_follow_from_the_answer(
    treebank: Path, out: Path, tmp_path: Path
) -> None:
    run(active_learning.main, treebank, out, "--start", "6", "--heads", "40", "--rounds", "1")
    first = Path(result_of(out / "made", "active_learning")["trained"][0]["record"])
    parser = load(out / "models" / first.stem, device="cpu")
    pool = Pool(treebank / "train.conllu")
    known = pool.extend(pool.begin(20, seed=1), 60, strategy="random words", parser=None, seed=1)
    chains = [
        sentence
        if place in known
        else sentence.with_tree([*range(len(sentence))], ["dep"] * len(sentence))
        for place, sentence in enumerate(pool.gold)
    ]
    write_conllu(chains, tmp_path / "train.conllu")
    other = Pool(tmp_path / "train.conllu")
    for strategy in STRATEGIES:
        chosen = pool.extend(known, 80, strategy=strategy, parser=parser, seed=1)
        assert other.extend(known, 80, strategy=strategy, parser=parser, seed=1) == chosen


def test_heads_for_a_score_lie_on_the_line() -> None:
    points = [Point(heads, Measure((las,))) for heads, las in ((100, 50.0), (200, 60), (300, 58))]
    assert heads_for(points, 55) == 150
    assert heads_for(points, 60) == 200
    assert heads_for(points, 40) == 100
    assert heads_for(points, 61) is None
