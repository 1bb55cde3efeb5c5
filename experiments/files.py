"""JSON files that a person can read and a repository can keep: a line for each key or row."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.errors import ExperimentError
from treecrf.storage import replace_file

__all__ = ["read_json", "to_json", "write_json", "write_text"]


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a JSON file; None if there is no such file."""
    try:
        content = json.loads(path.read_bytes())
        if not isinstance(content, dict):
            raise ValueError("it is no object")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ExperimentError(
            f"{path}: damaged ({error}); delete it, and it is made again"
        ) from None
    return content


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file atomically."""
    write_text(path, to_json(content) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically; make its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode())


def to_json(value: Any, *, indent: int = 0) -> str:
    """JSON with objects, and lists of objects, over several lines; lists of numbers on one."""
    space = " " * (indent + 1)
    if isinstance(value, Mapping) and value:
        items = [
            f"{space}{json.dumps(key, ensure_ascii=False)}: {to_json(item, indent=indent + 1)}"
            for key, item in value.items()
        ]
        return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, Mapping) for item in value):
        items = [space + json.dumps(item, ensure_ascii=False) for item in value]
        return "[\n" + ",\n".join(items) + "\n" + " " * indent + "]"
    return json.dumps(value, ensure_ascii=False)
