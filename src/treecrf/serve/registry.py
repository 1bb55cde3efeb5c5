"""The models of a service by name: a name from a request is looked up here and nowhere else."""

from collections.abc import Mapping

from treecrf.parser import Parser
from treecrf.serve.batching import Batcher
from treecrf.serve.engine import Engine
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.metrics import Metrics

__all__ = ["Registry"]


class Registry:
    """Models, each with its queue; the first is the default."""

    def __init__(self, parsers: Mapping[str, Parser], *, limits: Limits, metrics: Metrics) -> None:
        if not parsers:
            raise ValueError("a service needs a model")
        self.batchers = {
            name: Batcher(
                name,
                Engine(parser),
                metrics=metrics,
                queue_words=limits.queue_words,
                batch_words=limits.batch_words,
            )
            for name, parser in parsers.items()
        }
        self.default = next(iter(self.batchers))

    def find(self, name: str | None) -> Batcher:
        """The model of exactly this name, or the default for None."""
        batcher = self.batchers.get(self.default if name is None else name)
        if batcher is None:
            names = ", ".join(self.batchers)
            raise ServeError(400, f"there is no model {name!r} here; there are: {names}")
        return batcher

    def start(self) -> None:
        for batcher in self.batchers.values():
            batcher.start()

    def close(self) -> None:
        """Finish what is in hand."""
        for batcher in self.batchers.values():
            batcher.close()
