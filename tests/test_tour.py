"""The tour: a notebook whose stored outputs are what its code gives."""

import json
import re
from xml.etree import ElementTree

import pytest

from website.tour import NOTEBOOK, PICTURE, Cell, read_cells, run_cells, tour_page

DECIMAL = re.compile(r"(\d+\.\d+|\d+%)")
COLOUR = re.compile(r"\b(sure|likely|unsure|doubtful|unlikely)(?=\")")
ROUNDING = 0.05


@pytest.mark.slow
def test_the_outputs_are_what_the_code_gives() -> None:
    code = [cell for cell in read_cells() if cell["cell_type"] == "code"]
    for cell, outputs in zip(code, run_cells(code), strict=True):
        assert len(cell["outputs"]) == len(outputs), "run: make tour"
        for stored, given in zip(cell["outputs"], outputs, strict=True):
            assert stored["output_type"] == given["output_type"]
            assert texts(stored).keys() == texts(given).keys()
            for kind, text in texts(given).items():
                assert same(texts(stored)[kind], text), f"run: make tour\n{text}"


def texts(output: Cell) -> dict[str, str]:
    """The text of each form that an output has."""
    return {kind: "".join(text) for kind, text in output.get("data", output).items() if kind in
            ("text", "text/plain", PICTURE)}  # fmt: skip


def same(stored: str, given: str) -> bool:
    """Whether two texts agree; probabilities, and so colours, may differ on another processor."""
    ours, theirs = (DECIMAL.split(COLOUR.sub("", text)) for text in (stored, given))
    return ours[::2] == theirs[::2] and all(
        abs(number(one) - number(other)) <= ROUNDING
        for one, other in zip(ours[1::2], theirs[1::2], strict=True)
    )


def number(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def test_texts_that_differ_are_told_apart() -> None:
    assert same("p = 0.63, 7 words", "p = 0.61, 7 words")
    assert same('<text class="prob unsure">61%</text>', '<text class="prob doubtful">59%</text>')
    assert not same("p = 0.63", "p = 0.73")
    assert not same("7 words", "8 words")
    assert not same("[2, 0]", "[0, 2]")
    assert not same("0.63", "0.63 0.63")


def test_the_notebook_is_one_and_has_pictures() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    pictures = [texts(output)[PICTURE] for output in outputs if PICTURE in texts(output)]
    assert len(pictures) >= 4
    for picture in pictures:
        assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    assert tour_page().count("<svg ") == len(pictures)
