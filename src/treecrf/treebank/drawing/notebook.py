"""Trees in notebooks, which ask objects for a picture of themselves."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treecrf.treebank.sentence import Sentence

__all__ = ["DrawnInNotebooks"]

_MOST = 50


class DrawnInNotebooks:
    """A sentence or a list of them, whose trees a notebook shows; of many, the first ones."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        """One picture of the trees."""
        from treecrf.treebank.drawing.svg import sentences_to_svg

        return sentences_to_svg(self._drawn()[:_MOST])

    def _repr_html_(self) -> str:
        """The picture inside the page, in its colours; a wide one can be scrolled."""
        more = len(self._drawn()) - _MOST
        note = f"<p>and {more:,} more sentences</p>" if more > 0 else ""
        return f'<div style="overflow-x: auto">{self._repr_svg_()}</div>{note}'

    def _drawn(self) -> "list[Sentence]":
        from treecrf.treebank.sentence import Sentence

        if isinstance(self, Sentence):
            return [self]
        assert isinstance(self, list)
        return self
