"""`treecrf parse --keep-heads`, and heads that no tree has."""

from pathlib import Path

import pytest

from tests.cli.running import misuse, parsed, problem, treecrf
from treecrf.treebank import read_conllu
from treecrf.treebank.trees import is_projective, is_tree

PARTIAL = Path(__file__).parent.parent.parent / "examples" / "partial.conllu"

# 1 and 4 are to hang on 3 and 2, and no projective tree has both arcs.
CROSSING = """\
# sent_id = crossing
1	a	_	_	_	_	3	det	_	_
2	dog	_	_	_	_	_	_	_	_
3	saw	_	_	_	_	_	_	_	_
4	Anna	_	_	_	_	2	obj	_	_

"""


def test_the_best_trees_around_heads_to_keep(model: Path) -> None:
    options = ("--topk", 4, "--keep-heads")
    trees = parsed(treecrf("parse", PARTIAL, "--model", model, *options).stdout)
    assert len({tuple(tree.heads) for tree in trees}) == 4
    assert all((tree.heads[0], tree.heads[5]) == (2, 3) for tree in trees)
    assert all((tree.deprels[0], tree.deprels[5]) == ("nsubj", "nmod") for tree in trees)


@pytest.mark.parametrize("on", [2, 3])
def test_partial_trees_are_completed(on: int, model: Path) -> None:
    """Whether the telescope is on the seeing or on Sarah."""
    text = PARTIAL.read_text(encoding="utf-8").replace("\t3\tnmod", f"\t{on}\tnmod")
    tree = parsed(treecrf("parse", "-", "--model", model, "--keep-heads", stdin=text).stdout)[0]
    assert (tree.heads[0], tree.heads[5]) == (2, on)
    assert (tree.deprels[0], tree.deprels[5]) == ("nsubj", "nmod")
    assert is_tree([0, *tree.heads])
    assert is_projective([0, *tree.heads])
    assert "_" not in tree.deprels
    assert tree.comments == next(read_conllu(PARTIAL)).comments


def test_whole_trees_are_kept_as_they_are(model: Path, treebank: Path) -> None:
    """Those whose arcs cross as well, which no projective tree has."""
    kept = treecrf("parse", treebank / "dev.conllu", "--model", model, "--keep-heads").stdout
    text = (treebank / "dev.conllu").read_text(encoding="utf-8")
    assert "# decoder = mst" in kept
    for old, new in zip(parsed(text), parsed(kept), strict=True):
        assert (new.heads, new.deprels) == (old.heads, old.deprels)


def test_kept_arcs_that_cross_are_told_of(model: Path) -> None:
    text = treecrf("parse", "-", "--model", model, "--keep-heads", "--probs", stdin=CROSSING).stdout
    tree = parsed(text)[0]
    assert (tree.heads[0], tree.heads[3]) == (3, 2)
    assert is_tree([0, *tree.heads])
    note = "# decoder = mst (no projective tree has the heads that were kept)"
    assert tree.comments[0] == "# sent_id = crossing"
    assert note in tree.comments
    assert "HeadProb=1.0000" in tree.tokens[0].misc


def test_trees_that_cannot_be_completed(model: Path) -> None:
    cycle = CROSSING.replace("4\tAnna\t_\t_\t_\t_\t2", "4\tAnna\t_\t_\t_\t_\t4")
    line = problem("parse", "-", "-m", model, "--keep-heads", stdin=cycle)
    assert line.startswith("<stdin>:5: the heads make a cycle: 4 -> 4")
    roots = CROSSING.replace("\t3\tdet", "\t0\troot").replace("\t2\tobj", "\t0\troot")
    line = problem("parse", "-", "-m", model, "--keep-heads", stdin=roots)
    assert line.startswith("<stdin>:1: no tree has the heads that are to be kept")
    assert "a second root" in line
    assert problem("parse", "-", "-m", model, "--keep-heads", "--topk", 2, stdin=roots) == line


@pytest.mark.parametrize("options", [(), ("--workers", 1), ("--topk", 1)])
@pytest.mark.parametrize("head", ["4", "9", "x"])
def test_heads_that_make_no_tree_are_replaced(
    options: tuple[object, ...], head: str, model: Path, tmp_path: Path
) -> None:
    file = tmp_path / "in.conllu"
    file.write_text(CROSSING.replace("Anna\t_\t_\t_\t_\t2", f"Anna\t_\t_\t_\t_\t{head}"))
    [sentence] = parsed(treecrf("parse", file, "-m", model, *options).stdout)
    assert is_tree([0, *sentence.heads])


@pytest.mark.parametrize("workers", [0, 1])
def test_plain_text_has_no_heads_to_keep(workers: int, model: Path, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("a dog\n")
    line = problem("parse", file, "-m", model, "--keep-heads", "--workers", workers)
    assert line == f"{file}: --keep-heads is for CoNLL-U, and this is none: it has no heads"
    line = misuse("parse", "--text", "a dog", "-m", model, "--keep-heads")
    assert line == "--keep-heads is for CoNLL-U; --text has no heads to keep"
