"""`python -m website.tour` runs examples/tour.ipynb and stores its outputs; also makes its page."""

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

from treecrf.storage import replace_file

NOTEBOOK = Path(__file__).parent.parent / "examples" / "tour.ipynb"
PICTURE = "image/svg+xml"

Cell = dict[str, Any]


def read_cells() -> list[Cell]:
    """The cells of the notebook."""
    cells: list[Cell] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return cells


def run_cells(cells: list[Cell]) -> list[list[Cell]]:
    """The outputs of each code cell, run as a notebook does: in its folder and one namespace."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    with contextlib.chdir(NOTEBOOK.parent):
        return [_run(code, namespace, number) for number, code in enumerate(codes, 1)]


def _run(code: str, namespace: dict[str, Any], number: int) -> list[Cell]:
    """What a cell prints, and the value of its last line: text, and a picture if it has one."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    name = f"{NOTEBOOK.name}, cell {number}"
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs: list[Cell] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(text)})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_svg_"):
            data = {PICTURE: _lines(value._repr_svg_())} | data
        shown = {"data": data, "execution_count": number, "metadata": {}}
        outputs.append(shown | {"output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def store_outputs() -> None:
    """Run the notebook and write what its cells give into it."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(code, run_cells(code), strict=True), 1):
        cell["execution_count"], cell["outputs"] = number, outputs
    replace_file(NOTEBOOK, json.dumps(notebook, ensure_ascii=False, indent=1).encode() + b"\n")


def tour_page() -> str:
    """The notebook as a page of the site: text, code, and outputs with their pictures."""
    blocks = []
    for cell in read_cells():
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            blocks.append(re.sub(r"\]\(\.\./docs/", "](", source))
            continue
        blocks.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if PICTURE in data:
                picture = "".join(data[PICTURE])
                blocks.append(f'<div style="overflow-x: auto">\n{picture}\n</div>')
            else:
                text = "".join(output.get("text") or data["text/plain"]).rstrip("\n")
                blocks.append(f"```text\n{text}\n```")
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    store_outputs()
