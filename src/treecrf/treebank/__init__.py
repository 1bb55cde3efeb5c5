"""Treebanks: files, trees, metrics and significance; needs no torch."""

from typing import TYPE_CHECKING

from treecrf.lazy import lazy_names

if TYPE_CHECKING:
    from treecrf.treebank.document import Document
    from treecrf.treebank.drawing.svg import sentences_to_svg, to_svg
    from treecrf.treebank.errors import TreebankError
    from treecrf.treebank.features import Features
    from treecrf.treebank.files.conllu import read_conllu, write_conllu
    from treecrf.treebank.files.text import read_sentences, read_tokens
    from treecrf.treebank.glossary import explain
    from treecrf.treebank.metrics.attachment import Evaluation, evaluate
    from treecrf.treebank.metrics.conll18 import evaluate_conll18
    from treecrf.treebank.metrics.scores import Score
    from treecrf.treebank.metrics.significance import Comparison, Difference, compare
    from treecrf.treebank.sentence import Sentence
    from treecrf.treebank.tokens import EmptyNode, Multiword, Token

__all__ = [
    "Comparison",
    "Difference",
    "Document",
    "EmptyNode",
    "Evaluation",
    "Features",
    "Multiword",
    "Score",
    "Sentence",
    "Token",
    "TreebankError",
    "compare",
    "evaluate",
    "evaluate_conll18",
    "explain",
    "read_conllu",
    "read_sentences",
    "read_tokens",
    "sentences_to_svg",
    "to_svg",
    "write_conllu",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "document": ("Document",),
        "drawing.svg": ("sentences_to_svg", "to_svg"),
        "errors": ("TreebankError",),
        "features": ("Features",),
        "files.conllu": ("read_conllu", "write_conllu"),
        "files.text": ("read_sentences", "read_tokens"),
        "glossary": ("explain",),
        "metrics.attachment": ("Evaluation", "evaluate"),
        "metrics.conll18": ("evaluate_conll18",),
        "metrics.scores": ("Score",),
        "metrics.significance": ("Comparison", "Difference", "compare"),
        "sentence": ("Sentence",),
        "tokens": ("EmptyNode", "Multiword", "Token"),
    },
)
