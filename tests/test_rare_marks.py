"""The benchmark of `min_marked`: which lifted arcs come back, counted by hand, and its command."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.rare_marks import measure
from treecrf.demo import generate_treebank
from treecrf.parser.config import Config
from treecrf.parser.training.data import prepare
from treecrf.treebank import Sentence, Token, read_conllu, write_conllu
from treecrf.treebank.pseudoprojective import is_lifted

ROOT = Path(__file__).parent.parent


def crossing(relation: str) -> Sentence:
    """Four words; the last, with this relation, hangs on the first over the root between them."""
    heads, deprels = [3, 3, 0, 1], ["nsubj", "aux", "root", relation]
    words = zip("abcd", heads, deprels, strict=True)
    return Sentence.from_tokens(
        Token(id=number, form=form, head=head, deprel=deprel)
        for number, (form, head, deprel) in enumerate(words, 1)
    )


def test_marks_that_are_too_rare_do_not_come_back() -> None:
    train = [crossing("nmod"), crossing("nmod"), crossing("acl")]
    dev = [crossing("nmod"), crossing("acl"), crossing("advmod")]
    bounds = measure("made", train, {"train": train, "dev": dev})
    # nmod↑nsubj twice, acl↑nsubj once, nsubj↓ three times
    assert [
        (b.min_marked, b.part, b.relations, b.arcs, b.lifted, b.restored, b.right) for b in bounds
    ] == [
        (1, "train", 3, 12, 3, 3, 12),
        (1, "dev", 3, 12, 3, 2, 11),
        (2, "train", 2, 12, 3, 2, 11),
        (2, "dev", 2, 12, 3, 1, 10),
        (3, "train", 1, 12, 3, 0, 9),
        (3, "dev", 1, 12, 3, 0, 9),
    ]


def test_marks_are_those_that_training_keeps() -> None:
    train = list(generate_treebank(60, seed=1, crossing=0.3))
    for bound in measure("made", train, {"train": train}):
        config = Config(min_marked=bound.min_marked)
        prepared = prepare(train, config)
        names = {name for sentence in prepared.sentences for name in sentence.deprels}
        assert bound.relations == sum(is_lifted([name]) for name in names)


def test_the_command_needs_no_test_part(tmp_path: Path) -> None:
    folder, figures = tmp_path / "treebanks" / "en_made", tmp_path / "figures.json"
    folder.mkdir(parents=True)
    for seed, (part, count) in enumerate((("train", 40), ("dev", 10))):
        write_conllu(generate_treebank(count, seed=seed, crossing=0.3), folder / f"{part}.conllu")
    command = [sys.executable, "-m", "benchmarks.rare_marks", folder.parent, "--json", figures]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("| en_made ") == 3
    rows = json.loads(figures.read_text())["rows"]
    words = {
        (part, sum(map(len, read_conllu(folder / f"{part}.conllu")))) for part in ("train", "dev")
    }
    assert {(row["part"], row["arcs"]) for row in rows} == words
