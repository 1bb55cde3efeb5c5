"""The one exception of this layer."""

from functools import partial

__all__ = ["TreebankError"]


class TreebankError(ValueError):
    """A file, sentence or tree that is not what it should be: `FILE:LINE: what is wrong`."""

    def __init__(self, problem: str, *, source: str = "", line: int = 0) -> None:
        where = f"{source}:{line}: " if line else f"{source}: " if source else ""
        super().__init__(where + problem)
        self.problem = problem
        self.source = source
        self.line = line

    def __reduce__(self) -> tuple[object, ...]:
        return partial(TreebankError, source=self.source, line=self.line), (self.problem,)
