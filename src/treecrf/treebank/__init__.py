"""Treebanks: files, trees, metrics and significance; needs no torch."""

from treecrf.treebank.conllu import read_conllu, write_conllu
from treecrf.treebank.errors import TreebankError
from treecrf.treebank.sentence import EmptyNode, Multiword, Sentence, Token

__all__ = [
    "EmptyNode",
    "Multiword",
    "Sentence",
    "Token",
    "TreebankError",
    "read_conllu",
    "write_conllu",
]
