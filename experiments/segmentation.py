"""The raw text of a treebank, and the sentences that our own segmenter cuts it into."""

import importlib
from collections.abc import Sequence
from pathlib import Path

from experiments.errors import ExperimentError
from treecrf.treebank import Sentence

__all__ = ["raw_text", "segmented"]

_PARAGRAPHS = ("# newpar", "# newdoc")


def raw_text(sentences: Sequence[Sentence]) -> str:
    """The text that sentences are from: paragraphs apart, and spaces where MISC leaves them."""
    pieces: list[str] = []
    glued = True
    for sentence in sentences:
        if pieces and any(comment.startswith(_PARAGRAPHS) for comment in sentence.comments):
            pieces.append("\n\n")
        elif not glued:
            pieces.append(" ")
        pieces.append(sentence.text)
        last = [token.misc for token in sentence.tokens[-1:]]
        last += [word.misc for word in sentence.multiwords if word.last == len(sentence)]
        glued = any("SpaceAfter=No" in misc.split("|") for misc in last)
    return "".join(pieces) + "\n"


def segmented(sentences: Sequence[Sentence], folder: Path) -> list[Sentence]:
    """The text of sentences as the segmenter in a folder cuts it."""
    advice = "give another system's segmentation with --tokens FILE"
    try:
        segment = importlib.import_module("treecrf.segment")
    except ModuleNotFoundError:
        raise ExperimentError(f"this version of treecrf has no segmenter; {advice}") from None
    try:
        result: list[Sentence] = segment.Segmenter.load(folder).segment(raw_text(sentences))
    except segment.SegmentError as error:
        raise ExperimentError(f"{error}; {advice}") from None
    return result
