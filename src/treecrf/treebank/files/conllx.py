"""CoNLL-X and CoNLL-09: told from CoNLL-U, read as CoNLL-U, written.

CoNLL-X   ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL PHEAD PDEPREL
CoNLL-09  ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED APREDs
"""

from typing import Literal, TypeAlias

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.sentence import Sentence

__all__ = ["Columns", "Format", "as_conllu", "find_format", "short", "to_format", "wrong_columns"]

Format: TypeAlias = Literal["conllu", "conllx", "conll09"]
Columns: TypeAlias = Literal["gold", "predicted"]

# Where FORM to DEPREL are. The one tag of CoNLL-09 is a treebank's own: XPOS, and no UPOS (None).
_PLACES: dict[tuple[Format, Columns], tuple[int | None, ...]] = {
    ("conllx", "gold"): (1, 2, 3, 4, 5, 6, 7),
    ("conllx", "predicted"): (1, 2, 3, 4, 5, 8, 9),
    ("conll09", "gold"): (1, 2, None, 4, 6, 8, 10),
    ("conll09", "predicted"): (1, 3, None, 5, 7, 9, 11),
}
_COLUMNS_OF_CONLL09 = 14


def find_format(block: str) -> Format | None:
    """The format of the file that a sentence is from; None where the sentence does not tell.

    CoNLL-09 has more columns. In the ninth, CoNLL-X has a number and CoNLL-U number:relation; where
    all of it is `_`, there is no difference between the two, unless there are comments or only the
    tenth is filled: CoNLL-X has no comments and no PDEPREL without PHEAD.
    """
    for line in block.split("\n"):
        if line.startswith("#"):
            continue
        row = line.split("\t")
        if len(row) >= _COLUMNS_OF_CONLL09:
            return "conll09"
        if block.startswith("#") or not row[0].isdecimal():
            return "conllu"
        if len(row) == 10 and row[8:] != ["_", "_"]:
            return "conllx" if row[8].isdecimal() else "conllu"
    return None


def as_conllu(block: str, source: str, *, line: int, format: Format, columns: Columns) -> str:
    """The lines of a sentence in CoNLL-U, with the gold or the predicted analysis."""
    places = _PLACES[format, columns]
    lines = []
    for number, text in enumerate(block.split("\n"), line):
        if text.startswith("#"):
            lines.append(text)
            continue
        row = text.split("\t")
        if (len(row) < _COLUMNS_OF_CONLL09) if format == "conll09" else (len(row) != 10):
            expected = "10" if format == "conllx" else f"{_COLUMNS_OF_CONLL09} or more"
            raise TreebankError(wrong_columns(expected, text), source=source, line=number)
        if format == "conllx" and not (row[8] in ("_", "-1") or row[8].isdecimal()):
            # What stands there would be lost: the file is not what its beginning says.
            problem = f"PHEAD {row[8][:40]!r} is no number, and those before made this CoNLL-X"
            raise TreebankError(problem, source=source, line=number)
        cells = ["_" if place is None else row[place] for place in places]
        lines.append("\t".join([row[0], *cells, "_", "_"]))
    return "\n".join(lines)


def to_format(sentence: Sentence, format: Format) -> str:
    """The lines of a sentence and the empty line after them.

    The older formats have words only, so comments, multiword tokens and empty nodes stay behind. In
    CoNLL-09 the gold and the predicted columns say the same.
    """
    if format == "conllu":
        return sentence.to_conllu()
    rows = Sentence.from_tokens(sentence.tokens).to_conllu()[:-2].split("\n")
    return "".join(_row(row.split("\t"), format) for row in rows) + "\n"


def _row(cells: list[str], format: Format) -> str:
    if format == "conllx":
        return "\t".join([*cells[:8], "_", "_"]) + "\n"
    number, word, lemma, upos, xpos, feats, head, deprel, _, _ = cells
    tag = upos if xpos == "_" else xpos
    twice = [lemma, lemma, tag, tag, feats, feats, head, head, deprel, deprel]
    return "\t".join([number, word, *twice, "_", "_"]) + "\n"


def wrong_columns(expected: str, text: str) -> str:
    """The error of a line that has not as many columns as expected."""
    found = text.count("\t") + 1
    return (
        f"{expected} columns expected, with tabs between them, and {found} found in {short(text)}"
    )


def short(text: str) -> str:
    """A part of a file as an error shows it."""
    return repr(text if len(text) <= 40 else text[:40] + "...")
