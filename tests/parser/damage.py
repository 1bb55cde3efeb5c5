"""Damage of JSON: any value in any place of a document."""

import json
from collections.abc import Iterator
from typing import Any

# What a JSON value is replaced by, as text: the last but one is infinite to Python.
VALUES = ["null", "[]", "{}", "-1", "0", "true", '"x"', "[" * 300 + "]" * 300]
VALUES += ["[" * 100_000 + "]" * 100_000, str(10**18), "9" * 400, "0.5", "1e400", "NaN"]


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the values of a JSON document are; of a list, its first is enough."""
    yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*path, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def replaced(document: Any, path: tuple[str | int, ...], text: str) -> str:
    """The document with this text in one place."""
    if not path:
        return text
    document = json.loads(json.dumps(document))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = "here it is"
    return json.dumps(document).replace('"here it is"', text)
