"""Sentences with the trees that were decoded for them; needs no torch."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import nan

import numpy as np
import numpy.typing as npt

from treecrf.nn.transformer.wordpieces import WordPieces
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.config import Config
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.trees import LEMMA_WEIGHT, Trees
from treecrf.parser.vocab import Vocabulary
from treecrf.segment.boundaries import is_emoji
from treecrf.treebank import Sentence
from treecrf.treebank.lemmas import apply_rule, letter_case
from treecrf.treebank.probs import without_probs
from treecrf.treebank.pseudoprojective import is_lifted, restore

__all__ = ["RANK", "Analysis", "TreeNamer"]

# Comments about a tree.
_LOG_PROB = "# log_prob = "
RANK = "# rank = "
_CROSSING = "# decoder = mst (no projective tree has the heads that were kept)"
_OWN_COMMENTS = (_LOG_PROB, RANK, _CROSSING)


# Few treebanks have emoji, so that models would guess; in Universal Dependencies all are symbols.
_EMOJI = {"upos": "SYM", "xpos": "NFP", "feats": "_"}
_WORD_FACTOR = 8  # of a lemma that is a known word
_SURE = LEMMA_WEIGHT * 19 // 20  # of a rule beside which others are not looked at

_PROBS = {"probs": "probs", "relation_probs": "deprel_probs", "upos_probs": "upos_probs"}


@lru_cache(maxsize=1 << 16)
def _applied(form: str, rule: str) -> str | None:
    return apply_rule(form, rule)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A sentence with its tree, and what the model knows of it, as far as that was asked for."""

    sentence: Sentence
    log_prob: float = nan
    """Of the tree; -inf where it crosses and the distribution has no such trees."""
    entropy: float = nan
    """Of the distribution over trees, in nats; NaN of long sentences."""
    marginals: npt.NDArray[np.float32] | None = None
    """The probability of each arc, `[dependent, head]` with the root symbol at 0."""
    relations: Sequence[str] = ()
    """The names of all relations."""
    relation_probs: npt.NDArray[np.float32] | None = None
    """The probability of each of them, given the head that a word has: `[word, relation]`."""
    best: Sequence[tuple[Sentence, float]] = ()
    """The k best trees with their log-probabilities, best first."""


class TreeNamer:
    """Gives sentences their trees: names for numbers, and lifted arcs put back."""

    def __init__(self, vocabulary: Vocabulary, config: Config) -> None:
        self.encoding = config.encoding
        self.relations = vocabulary.relations
        self.columns = vocabulary.columns
        self.lemmas = vocabulary.lemmas
        self._names = {name: np.array(names, object) for name, names in self.columns.items()}
        self._pieces = vocabulary.pieces
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

    def with_trees(
        self, sentences: Sequence[Sentence], constraints: Sequence[Constraints], trees: Trees
    ) -> list[Sentence]:
        """The sentences with these trees; heads and relations under constraints stay."""
        # Whole lists at once: a slice of a list is cheaper than one of an array.
        heads, relations = trees.heads.tolist(), trees.relations.tolist()
        numbers = {name: getattr(trees, name) for name in _PROBS}
        probs = {name: values.tolist() for name, values in numbers.items() if values is not None}
        rules = trees.columns.get("lemma")
        columns = {
            name: self._names[name].take(classes[:, 0]).tolist()
            for name, classes in trees.columns.items()
            if name != "lemma"
        }
        parsed = []
        first = 1
        for number, (sentence, constraint) in enumerate(zip(sentences, constraints, strict=True)):
            words = slice(first, first + len(sentence))
            first = words.stop + 1
            named_heads, deprels = self.name(
                heads[words],
                relations[words],
                # Put back, an arc might be a forbidden one.
                constrained={*constraint.heads, *constraint.forbidden},
            )
            for word, relation in constraint.relations.items():
                deprels[word - 1] = relation
                if "relation_probs" in probs:
                    probs["relation_probs"][words.start + word - 1] = 1.0
            cells = {name: column[words] for name, column in columns.items()}
            if "upos" in cells and self._emoji:
                for word, form in enumerate(sentence.forms):
                    if is_emoji(form):
                        for name in self._emoji.keys() & cells.keys():
                            cells[name][word] = self._emoji[name]
                        if deprels[word] == "punct" and word + 1 not in constraint.relations:
                            deprels[word] = "discourse"
                            if "relation_probs" in probs:
                                probs["relation_probs"][words.start + word] = 1.0
                        if "upos_probs" in probs:
                            probs["upos_probs"][words.start + word] = 1.0
            if rules is not None:
                tags = cells["upos"] if "upos" in cells else sentence.column("upos")
                named = enumerate(zip(sentence.forms, tags, strict=True), words.start)
                cells["lemma"] = [  # what training data always has for a form and tag, if it has
                    self.lemmas.get(f"{form}\t{tag}") or self._lemma(form, tag, rules[token])
                    for token, (form, tag) in named
                ]
            if (misc := without_probs(sentence)) is not None:  # those of a tree that it had before
                cells["misc"] = misc
            tree = sentence.with_tree(named_heads, deprels, columns=cells)
            for name, values in probs.items():
                setattr(tree, _PROBS[name], values[words])
            tree.comments = [
                comment for comment in tree.comments if not comment.startswith(_OWN_COMMENTS)
            ]
            if trees.log_probs is not None:
                log_prob = round(float(trees.log_probs[number]), 4) + 0.0  # not -0.0
                tree.comments.append(f"{_LOG_PROB}{log_prob:.4f}")
            if trees.crossing is not None and trees.crossing[number]:
                tree.comments.append(_CROSSING)
            parsed.append(tree)
        return parsed

    def _lemma(self, form: str, tag: str, best: Integers) -> str:
        """The lemma that the best rules make of a form.

        Several rules may make the same one: of an unknown name, to keep it and to capitalise it.
        Words count for more than what is none: of "rotating", "rotate" and not "rotat". So does
        what is written as lemmas of such forms and tags are: names keep their capitals.
        """
        weights: dict[str, int] = {}
        for number in best.tolist():
            rule, weight = divmod(number, LEMMA_WEIGHT)
            lemma = _applied(form, self.columns["lemma"][rule])
            if lemma:
                if weight > _SURE:
                    return lemma
                weights[lemma] = weights.get(lemma, 0) + weight
        if len(weights) > 1:
            counts = self._letter_cases.get((tag, letter_case(form)), {})
            for lemma in weights:
                factor = _WORD_FACTOR if lemma.lower() in self._words else 1
                weights[lemma] *= factor * (2 * counts.get(letter_case(lemma), 0) + 1)
                if 2 * len(lemma) < len(form):  # all that is left of a short word: "s" of "sang"
                    weights[lemma] //= _WORD_FACTOR**2
        return max(weights, key=weights.__getitem__, default=form)

    @cached_property
    def _letter_cases(self) -> dict[tuple[str, str], dict[str, int]]:
        """How lemmas of training data are written, by the tag and by how the form is written."""
        found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for key, lemma in self.lemmas.items():
            form, _, tag = key.rpartition("\t")
            found[tag, letter_case(form)][letter_case(lemma)] += 1
        return dict(found)

    @cached_property
    def _words(self) -> set[str]:
        """Words that may be lemmas: those of training data, and whole words among the pieces."""
        words = set(map(str.lower, self.lemmas.values()))
        if isinstance(self._pieces, WordPieces):  # those of one or two letters are parts of words
            words.update(piece for piece in self._pieces.vocabulary if len(piece) > 2)
        return words

    def _by_name(self, probs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Probabilities `[word, relation]` of the `distinct` names, from those of marked ones too.

        Of several with one name, the most probable counts: it is the one that is chosen.
        """
        named = np.zeros((len(self.distinct), len(probs)), np.float32)
        np.maximum.at(named, self._distinct_numbers, probs.T)
        return named.T

    def ranked(
        self, sentence: Sentence, constraints: Constraints, trees: Trees
    ) -> list[tuple[Sentence, float]]:
        """A sentence with each of its best trees, and their log-probabilities."""
        assert trees.log_probs is not None
        count = len(trees)
        named = self.with_trees([sentence] * count, [constraints] * count, trees)
        return list(zip(named, trees.log_probs.tolist(), strict=True))

    def analyses(
        self, sentences: Sequence[Sentence], constraints: Sequence[Constraints], trees: Trees
    ) -> list[Analysis]:
        """The sentences with their trees, which were decoded with details."""
        found = []
        for number, sentence in enumerate(self.with_trees(sentences, constraints, trees)):
            assert trees.log_probs is not None
            assert trees.entropies is not None
            assert trees.marginals is not None
            assert trees.relation_marginals is not None
            best = None if trees.best is None else trees.best[number]
            found.append(
                Analysis(
                    sentence,
                    log_prob=float(trees.log_probs[number]),
                    entropy=float(trees.entropies[number]),
                    marginals=trees.marginals[number],
                    relations=self.distinct,
                    relation_probs=self._by_name(trees.relation_marginals[number][1:]),
                    best=()
                    if best is None
                    else self.ranked(sentences[number], constraints[number], best),
                )
            )
        return found
