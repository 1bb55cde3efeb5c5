"""Trees as the user sees them, from the numbers that decoding gives: names and restored arcs."""

from collections.abc import Collection, Sequence

from treecrf.parser.config import Config
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank.pseudoprojective import is_lifted, restore

__all__ = ["TreeNamer"]


class TreeNamer:
    """Turns decoded numbers into heads and relations, lifted arcs put back."""

    def __init__(self, vocabulary: Vocabulary, config: Config) -> None:
        self.encoding = config.encoding
        self.relations = vocabulary.relations
        self.marked: set[int] = set()
        self.plain = list(self.relations)
        if config.pseudo:
            self.marked = {
                number for number, label in enumerate(self.relations) if is_lifted([label])
            }
            # Without marks there may still be escapes to undo.
            self.plain = [restore([0], [label])[1][0] for label in self.relations]

    def name(
        self, heads: Sequence[int], relations: Sequence[int], *, held: Collection[int] = ()
    ) -> tuple[list[int], list[str]]:
        """Heads and relations, one item a word; the words that are held keep their heads."""
        if self.marked.isdisjoint(relations):
            plain = self.plain
            return list(heads), [plain[number] for number in relations]
        labels = [self.relations[number] for number in relations]
        return restore(heads, labels, encoding=self.encoding, fixed=held)
