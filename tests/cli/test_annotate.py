"""`treecrf annotate`: what it says when it cannot begin; the rest is in tests/serve."""

from pathlib import Path

from tests.cli.running import misuse, problem


def test_one_way_to_choose_words(tmp_path: Path) -> None:
    command = ("annotate", "x", "--model", "y", "--out", tmp_path / "out")
    assert misuse(*command, "--threshold", 0.5, "--share", 0.5) == (
        "--threshold and --share both say which words; give one of them"
    )
    assert misuse(*command, "--share", 0) == "that asks about no word at all"


def test_a_treebank_is_not_overwritten(treebank: Path, model: Path) -> None:
    gold = treebank / "dev.conllu"
    said = problem("annotate", gold, "--model", model, "--out", gold)
    assert said.startswith(f"{gold}:1: no comment `# annotate = ...`")


def test_a_corpus_that_is_not_there(model: Path, tmp_path: Path) -> None:
    said = problem("annotate", tmp_path / "none", "--model", model, "--out", tmp_path / "out")
    assert said == f"{tmp_path / 'none'}: No such file or directory"


def test_a_folder_that_is_not_there(treebank: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "no" / "out.conllu"
    said = problem("annotate", treebank / "dev.conllu", "--model", model, "--out", out)
    assert said == f"{out}: No such file or directory"


def test_a_corpus_without_sentences(model: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n \n")
    said = problem("annotate", corpus, "--model", model, "--out", tmp_path / "out.conllu")
    assert said == f"{corpus}: there are no sentences to annotate"
    assert list(tmp_path.iterdir()) == [corpus]
