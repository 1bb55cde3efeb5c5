"""JSON and TOML in the folders of models, which may hold anything: content, or one error."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from treecrf.storage import StorageError

__all__ = ["parse_json", "read_json", "read_toml"]

_TOO_DEEP = "its values are nested too deeply"


def read_json(path: Path) -> Any:
    """The value in a JSON file, whose numbers are finite."""
    try:
        return parse_json(path.read_bytes())
    except (OSError, StorageError) as error:
        raise StorageError(f"{path}: not a JSON file that can be read: {error}") from None


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
        return tomllib.loads(path.read_text(encoding="utf-8"))
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
