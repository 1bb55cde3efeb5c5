"""Parsers: configuration, training, prediction and model folders."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treecrf.parser.api import Parser, load
    from treecrf.parser.config import Config
    from treecrf.parser.errors import ParserError
    from treecrf.parser.presets import load_config
    from treecrf.parser.training.loop import Training
    from treecrf.parser.training.setup import set_up

__all__ = [
    "Config",
    "Parser",
    "ParserError",
    "Training",
    "load",
    "load_config",
    "set_up",
]

_HOMES = {
    "Config": "config",
    "Parser": "predict",
    "ParserError": "errors",
    "Training": "train",
    "load": "predict",
    "load_config": "presets",
    "set_up": "setup",
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
