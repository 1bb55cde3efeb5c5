"""Treebanks: files, trees, metrics and significance; needs no torch."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treecrf.treebank.drawing.svg import sentences_to_svg, to_svg
    from treecrf.treebank.errors import TreebankError
    from treecrf.treebank.files.conllu import read_conllu, write_conllu
    from treecrf.treebank.files.text import read_sentences, read_tokens
    from treecrf.treebank.metrics.attachment import Evaluation, evaluate
    from treecrf.treebank.metrics.conll18 import evaluate_conll18
    from treecrf.treebank.metrics.scores import Score
    from treecrf.treebank.metrics.significance import Comparison, Difference, compare
    from treecrf.treebank.sentence import Sentence
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
    "read_sentences",
    "read_tokens",
    "sentences_to_svg",
    "to_svg",
    "write_conllu",
]

_HOMES = {
    "Comparison": "significance",
    "Difference": "significance",
    "EmptyNode": "tokens",
    "Evaluation": "metrics",
    "Multiword": "tokens",
    "Score": "scores",
    "Sentence": "sentence",
    "Token": "tokens",
    "TreebankError": "errors",
    "compare": "significance",
    "evaluate": "metrics",
    "evaluate_conll18": "conll18",
    "read_conllu": "conllu",
    "read_sentences": "plain",
    "read_tokens": "plain",
    "sentences_to_svg": "svg",
    "to_svg": "svg",
    "write_conllu": "conllu",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is first asked for: a command loads what it needs."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
