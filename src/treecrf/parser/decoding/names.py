"""Names for the numbers of decoded trees, all words of a window at once; needs no torch."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.words import WordTable, word_places
from treecrf.parser.config import Config
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.lemmas import SURE, LemmaChooser, lemma_in_name
from treecrf.parser.decoding.trees import LEMMA_WEIGHT, Numbers, Trees
from treecrf.parser.vocab import Vocabulary
from treecrf.segment.boundaries import is_emoji
from treecrf.treebank.pseudoprojective import is_lifted, restore

__all__ = ["Named", "TreeNames"]

# Few treebanks have emoji, so that models would guess; in Universal Dependencies all are symbols.
_EMOJI = {"upos": "SYM", "xpos": "NFP", "feats": "_"}
_NAMES = ("NNP", "NNPS")  # in XPOS, where they follow the Penn Treebank
_NOUNS = ("NOUN", "PROPN")
_PROBS = {"probs": "probs", "relation_probs": "deprel_probs", "upos_probs": "upos_probs"}


@dataclass(frozen=True, slots=True)
class Named:
    """Trees and other columns of sentences, by word."""

    heads: Integers  # [word]
    columns: dict[str, tuple[list[str], Integers]]  # names, and the number of each word's
    probs: dict[str, Numbers]  # by the attribute of `Sentence` that has them


class TreeNames:
    """Names of relations, tags and lemmas for numbers, and lifted arcs put back."""

    def __init__(self, vocabulary: Vocabulary, config: Config) -> None:
        self.encoding = config.encoding
        self.relations = vocabulary.relations
        self.columns = vocabulary.columns
        self.lemmas = LemmaChooser(vocabulary)
        known = {name: cell for name, cell in _EMOJI.items() if cell in self.columns[name]}
        self._emoji = known if "upos" in known and "discourse" in self.relations else {}
        self.marked: set[int] = set()
        self.plain = list(self.relations)
        if config.pseudo:
            self.marked = {
                number for number, relation in enumerate(self.relations) if is_lifted([relation])
            }
            # Without marks there may still be escapes to undo.
            self.plain = [restore([0], [relation])[1][0] for relation in self.relations]
        self.distinct = sorted(set(self.plain))
        numbers = {name: number for number, name in enumerate(self.distinct)}
        self._distinct_numbers = [numbers[name] for name in self.plain]

    def name(
        self, heads: Sequence[int], relations: Sequence[int], *, constrained: Collection[int] = ()
    ) -> tuple[list[int], list[str]]:
        """Heads and relations, one item a word; words that are `constrained` keep their heads."""
        if self.marked.isdisjoint(relations):
            plain = self.plain
            return list(heads), [plain[number] for number in relations]
        marked = [self.relations[number] for number in relations]
        return restore(heads, marked, encoding=self.encoding, fixed=constrained)

    def named(self, words: WordTable, constraints: Sequence[Constraints], trees: Trees) -> Named:
        """The trees of sentences by name; heads and relations under constraints stay."""
        places, starts = word_places(trees.lengths), trees.starts - np.arange(len(trees))
        heads, relations = trees.heads.take(places), trees.relations.take(places)
        probs = {
            attribute: values.take(places)
            for name, attribute in _PROBS.items()
            if (values := getattr(trees, name)) is not None
        }
        columns = {
            name: (self.columns[name], classes[:, 0].take(places))
            for name, classes in trees.columns.items()
            if name != "lemma"
        }
        names = self.plain[:]
        numbers = {name: number for number, name in enumerate(names)}

        def number_of(name: str) -> int:
            if name not in numbers:
                numbers[name] = len(names)
                names.append(name)
            return numbers[name]

        for row in self._marked_rows(relations, trees.lengths):
            own = slice(starts[row], starts[row] + trees.lengths[row])
            # Put back, an arc might be a forbidden one.
            constrained = {*constraints[row].heads, *constraints[row].forbidden}
            heads[own], deprels = self.name(
                heads[own].tolist(), relations[own].tolist(), constrained=constrained
            )
            relations[own] = [number_of(name) for name in deprels]
        kept = np.zeros(len(relations), bool)
        for row, constraint in enumerate(constraints):
            if constraint.relations:
                own = starts[row] - 1 + np.array([*constraint.relations])
                relations[own] = [number_of(name) for name in constraint.relations.values()]
                kept[own] = True
        certain = {"deprel_probs": kept}
        if "upos" in columns and self._emoji:
            forms, form = words.column("form")
            emoji = np.array([*map(is_emoji, forms)], bool).take(form)
            for name in self._emoji.keys() & columns.keys():
                columns[name][1][emoji] = self.columns[name].index(self._emoji[name])
            marks = np.array([name == "punct" for name in names]).take(relations)
            marks &= emoji & ~kept
            relations[marks] = number_of("discourse")
            certain = {"deprel_probs": kept | marks, "upos_probs": emoji}
        for name, sure in certain.items():
            if name in probs:
                probs[name][sure] = 1.0
        columns["deprel"] = names, relations
        if (rules := trees.columns.get("lemma")) is not None:
            upos = columns["upos"] if "upos" in columns else words.column("upos")
            columns["lemma"] = self._lemmas(
                words.column("form"),
                upos,
                columns.get("xpos"),
                rules.take(places, 0),
                lengths=trees.lengths,
            )
        return Named(heads, columns, probs)

    def _marked_rows(self, relations: Integers, lengths: Integers) -> list[int]:
        """The sentences that have lifted arcs."""
        if not self.marked:
            return []
        marked = np.zeros(len(self.relations), bool)
        marked[[*self.marked]] = True
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        return np.unique(sentence[marked.take(relations)]).tolist()

    def _lemmas(
        self,
        forms: tuple[list[str], Integers],
        tags: tuple[list[str], Integers],
        xpos: tuple[list[str], Integers] | None,
        rules: Integers,
        *,
        lengths: Integers,
    ) -> tuple[list[str], Integers]:
        """Lemmas: what training data always has for a form and tag, if it has, else by rules."""
        (form_names, form), (tag_names, tag) = forms, tags
        pairs, pair = np.unique(form * len(tag_names) + tag, return_inverse=True)
        numbers: dict[str, int] = {}
        found = np.full(len(pairs), -1, np.int64)
        cased = np.zeros(len(pairs), bool)
        for place, both in enumerate(pairs.tolist()):
            first, second = divmod(both, len(tag_names))
            if lemma := self.lemmas.known.get(f"{form_names[first]}\t{tag_names[second]}"):
                found[place] = numbers.setdefault(lemma, len(numbers))
                letters = form_names[first] + lemma
                cased[place] = tag_names[second] != "PROPN" and letters != letters.lower()
        lemmas = found[pair]
        known = [*numbers]
        for word in np.flatnonzero(cased[pair] & (rules[:, 0] % LEMMA_WEIGHT > SURE)).tolist():
            lemma = self.lemmas.with_case(
                form_names[form[word]], known[lemmas[word]], int(rules[word, 0])
            )
            lemmas[word] = numbers.setdefault(lemma, len(numbers))
        capitals = np.array([len(name) > 1 and name.isupper() for name in form_names], bool)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        counts = np.bincount(sentence[capitals.take(form)], minlength=len(lengths))
        in_capitals = (2 * counts >= lengths).tolist()
        for word in np.flatnonzero(lemmas < 0).tolist():
            lemma = self.lemmas.choose(
                form_names[form[word]],
                tag_names[tag[word]],
                rules[word],
                in_capitals=in_capitals[sentence[word]],
            )
            lemmas[word] = numbers.setdefault(lemma, len(numbers))
        if xpos is not None:
            chosen = [*numbers]
            for word in np.flatnonzero(_are(xpos, _NAMES) & ~_are(tags, _NOUNS)).tolist():
                lemma = lemma_in_name(form_names[form[word]], chosen[lemmas[word]])
                lemmas[word] = numbers.setdefault(lemma, len(numbers))
        return list(numbers), lemmas


def _are(column: tuple[list[str], Integers], names: Collection[str]) -> npt.NDArray[np.bool_]:
    """Whether each word has one of these names in a column."""
    found, number = column
    return np.array([name in names for name in found], bool).take(number)
