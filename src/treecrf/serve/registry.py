"""The models of a service by name; names in requests are looked up only here."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from treecrf.parser import Parser
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.metrics import Metrics
from treecrf.serve.queue.engine import Engine
from treecrf.serve.queue.scheduler import Batcher

__all__ = ["Registry"]

# Languages of treebanks: codes (ISO 639-1, 639-2, 639-3) and the English name.
_NAMES = Path(__file__).with_name("languages.txt").read_text(encoding="utf-8")
# Every code and name, and the first code of the same language.
_LANGUAGES = {name: item.split()[0] for item in _NAMES.split(",") for name in item.split()}


def _parts(name: str) -> list[str]:
    return re.split(r"[-_]", name.lower()) if name else []


def _language(name: str) -> str | None:
    parts = _parts(name)
    starts = ("_".join(parts[:count]) for count in (3, 2, 1))
    return next((_LANGUAGES[start] for start in starts if start in _LANGUAGES), None)


class Registry:
    """Models, each with its queue; the first is the default."""

    def __init__(self, parsers: Mapping[str, Parser], *, limits: Limits, metrics: Metrics) -> None:
        if not parsers:
            raise ValueError("a service needs a model")
        sizes = {"queue_words": limits.queue_words, "batch_words": limits.batch_words}
        self.batchers = {
            name: Batcher(name, Engine(parser), metrics=metrics, **sizes)
            for name, parser in parsers.items()
        }
        self.default = next(iter(self.batchers))

    def find(self, name: str | None) -> Batcher:
        """The model of exactly this name, or the default for None."""
        batcher = self.batchers.get(self.default if name is None else name)
        if batcher is None:
            names = ", ".join(self.batchers)
            raise ServeError(400, f"there is no model {str(name)[:100]!r} here; there are: {names}")
        return batcher

    def match(self, name: str) -> Batcher:
        """The model that a name means as UDPipe reads it: whole, its first parts, or a language.

        `english-ewt` and `eng` both mean `english-ewt-ud-2.6`; the first such model is taken.
        """
        wanted = _parts(name)
        if not wanted or name in self.batchers:
            return self.find(name or None)
        language = _LANGUAGES.get("_".join(wanted))
        tests: tuple[Callable[[str], bool], ...] = (
            lambda own: _parts(own)[: len(wanted)] == wanted,
            lambda own: language is not None and _language(own) == language,
            lambda own: own.lower().startswith(name.lower()),
        )
        meant = (own for test in tests for own in self.batchers if test(own))
        return self.find(next(meant, name))  # which says what there is
