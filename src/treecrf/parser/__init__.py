"""Parsers: configuration, training, prediction and model folders."""

from typing import TYPE_CHECKING

from treecrf.lazy import lazy_names

if TYPE_CHECKING:
    from treecrf.parser.api import Parser, load
    from treecrf.parser.config import Config
    from treecrf.parser.errors import ParserError
    from treecrf.parser.presets import load_config
    from treecrf.parser.training.loop import Training
    from treecrf.parser.training.setup import set_up

__all__ = ["Config", "Parser", "ParserError", "Training", "load", "load_config", "set_up"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "api": ("Parser", "load"),
        "config": ("Config",),
        "errors": ("ParserError",),
        "presets": ("load_config",),
        "training.loop": ("Training",),
        "training.setup": ("set_up",),
    },
)
