"""JSON and TOML that describe models: read in bounded memory, or one error."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from treecrf.storage import StorageError

__all__ = ["parse_json", "read_description", "read_json", "read_toml"]

_MOST_BYTES = 1 << 28  # of a file of a model; a vocabulary of millions of words has less
_MOST_SETTINGS = 1 << 20  # characters of a file of settings
_MOST_DOTS = 100  # of a line: tomllib takes memory with the square of the parts of a key
_TOO_DEEP = "its values are nested too deeply"


def read_json(path: Path) -> Any:
    """The value in a JSON file, whose numbers are finite."""
    try:
        return parse_json(read_description(path))
    except (OSError, StorageError) as error:
        raise StorageError(f"{path}: not a JSON file that can be read: {error}") from None


def read_description(path: Path) -> bytes:
    """The content of a file of a model; a pipe or a device, which may have no end, is refused."""
    if path.exists() and not path.is_file():
        raise StorageError("it is a folder, a pipe or a device")
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise StorageError(f"it has more than {_MOST_BYTES >> 20} MiB")
    return data


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text, whose numbers are finite."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_refuse)
    except RecursionError:
        raise StorageError(_TOO_DEEP) from None
    except ValueError as error:
        raise StorageError(str(error)) from None


def read_toml(path: Path) -> dict[str, Any]:
    """The values in a TOML file."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MOST_SETTINGS + 1)
        if len(text) > _MOST_SETTINGS:
            raise StorageError(f"it has more than {_MOST_SETTINGS:,} characters")
        if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
            raise StorageError(f"a line has more than {_MOST_DOTS} dots")
        return tomllib.loads(text)
    except FileNotFoundError:
        raise
    except RecursionError:
        problem = _TOO_DEEP
    except (OSError, ValueError) as error:
        problem = str(error)
    raise StorageError(f"{path}: not a TOML file that can be read: {problem}")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text:.30} is not a finite number")
