"""Treebanks: files, trees, metrics and significance; needs no torch."""

from treecrf.treebank.conll18 import evaluate_conll18
from treecrf.treebank.conllu import read_conllu, write_conllu
from treecrf.treebank.errors import TreebankError
from treecrf.treebank.metrics import Evaluation, evaluate
from treecrf.treebank.scores import Score
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.significance import Comparison, Difference, compare
from treecrf.treebank.tokens import EmptyNode, Multiword, Token

__all__ = [
    "Comparison",
    "Difference",
    "EmptyNode",
    "Evaluation",
    "Multiword",
    "Score",
    "Sentence",
    "Token",
    "TreebankError",
    "compare",
    "evaluate",
    "evaluate_conll18",
    "read_conllu",
    "write_conllu",
]
