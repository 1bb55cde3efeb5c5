"""What benchmarks check before they print, and how they name what they print."""

import pytest

from benchmarks.parser import Row, rows_without_files
from benchmarks.text import check_same_trees
from treecrf.demo import generate_treebank
from treecrf.treebank import Sentence


def moved(sentence: Sentence) -> Sentence:
    """The sentence with another head for its last word that is none itself."""
    heads, words = list(sentence.heads), range(1, len(sentence) + 1)
    word = max(set(words) - set(heads))
    heads[word - 1] = next(head for head in words if head not in (word, heads[word - 1]))
    return sentence.with_tree(heads, sentence.deprels)


def test_text_with_workers_must_have_the_trees_of_one_process() -> None:
    trees = list(generate_treebank(200, seed=1))
    check_same_trees(trees, trees)
    check_same_trees(trees, [moved(trees[0]), *trees[1:]])
    with pytest.raises(SystemExit, match=r"with workers 9\d\.\d\d% of the heads are those of one"):
        check_same_trees(trees, [*map(moved, trees[:50]), *trees[50:]])


def test_what_stands_beside_supar_without_files_is_named() -> None:
    alone = "parsing, file to file"
    rows = [
        Row("training, 5,000 words a batch", "sentences/s", 9000, 1),
        Row(alone, "words/s", 50, 10),
        Row(f"{alone}, 8 workers", "words/s", 200, 10),
        Row("the encoder alone", "words/s", 900),
    ]
    assert rows_without_files(rows, 20) == [
        Row(f"{alone}, one process, float32; SuPar without files", "words/s", 50, 20),
        Row(f"{alone}, 8 workers, our fastest; SuPar without files", "words/s", 200, 20),
    ]
    assert len(rows_without_files(rows[:2], 20)) == 1
