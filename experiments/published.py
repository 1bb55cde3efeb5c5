"""The paper's own figures, for tables of ours that have the same treebank or the same rows.

Zhang, Li and Zhang (2020), tables 1 to 3, section 4.1 and appendix A; test parts. Its English
treebank of Universal Dependencies is en_ewt, of release 2.3 or 2.2, which have the same files. The
other languages of table 3 are treebanks whose names it does not give.
"""

from collections.abc import Mapping, Sequence

from experiments.tables import markdown

__all__ = ["las_of", "speed_table", "subtree_tables"]

_ENGLISH = "en_ewt-2.3"
_LAS = {
    "Loc-MST": "86.83",
    "Loc": "86.54",
    "Crf": "86.88†",
    "Crf2o": "86.93†",
    "Crf2o, gold UPOS": "88.98",
}
# Release 2.2 with the segmentation of another parser of the CoNLL 2018 shared task.
_RAW_TEXT = {"Crf2o": "82.88"}
_SUBTREES = {
    "PTB": {
        "Loc": ("91.16", "90.80", "90.98", "61.59", "50.66"),
        "Crf": ("91.24", "90.92", "91.08", "61.92", "50.33"),
        "Crf2o": ("91.56", "91.11", "91.33", "63.08", "50.99"),
    },
    "CoNLL09": {
        "Loc": ("79.20", "79.02", "79.11", "40.10", "28.91"),
        "Crf": ("79.17", "79.55", "79.36", "40.61", "29.38"),
        "Crf2o": ("81.00", "80.63", "80.82", "42.53", "30.09"),
    },
}
# Training and parsing.
_SPEED = {
    "Loc-MST": ("-", "over 1,000"),
    "Loc": ("about 700", "-"),
    "Crf": ("about 300", "about 500"),
    "Crf2o": ("about 200", "about 400"),
}


def las_of(treebank: str, *, raw_text: bool = False) -> Mapping[str, str]:
    """The paper's LAS on the test part of a treebank by row; empty for a treebank it has not."""
    if treebank != _ENGLISH:
        return {}
    return _RAW_TEXT if raw_text else _LAS


def subtree_tables(columns: Sequence[str]) -> list[str]:
    """The paper's figures of subtrees and whole trees, which are of other treebanks."""
    return [
        markdown(
            [f"the paper: {name} test", *columns],
            [[system, *figures] for system, figures in rows.items()],
        )
        for name, rows in _SUBTREES.items()
    ]


def speed_table() -> str:
    """The paper's sentences a second."""
    rows = [[system, *figures] for system, figures in _SPEED.items()]
    return markdown(["the paper: PTB, GTX 1080 Ti", "training", "parsing"], rows)
