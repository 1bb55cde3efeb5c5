"""A made-up treebank: English-like sentences with their trees, to train and test parsers on.

A parser has to learn attachment: "with a telescope" is on the verb, "with a beard" on the noun.
Some words are made up, so that held-out sentences have words that training has not.
"""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise, product
from pathlib import Path

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files.conllu import read_conllu
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import Token

__all__ = ["generate_treebank", "is_generated"]

_ID = "generated-"
_LENGTHS = range(3, 26)

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@dataclass(eq=False, slots=True)
class _Word:
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: "_Word | None" = None
    deprel: str = "root"


def _entries(text: str) -> list[str]:
    return text.strip().replace("; ", "\n").splitlines()


@cache
def _grammar() -> tuple[dict[str, list[tuple[float, list[str]]]], dict[str, list[str]]]:
    """Rules by symbol, each a weight and parts; and by class of words UPOS, XPOS, ... as above."""
    rules: dict[str, list[tuple[float, list[str]]]] = {}
    for rule in _DATA["rules"].split(";"):
        head, _, choices = rule.partition("=")
        for form, number, choice in product(_DATA["verb_forms"], "sp", choices.split("|")):
            if ("<>" in head or form == "VB") and ("#" in head + choice or number == "s"):
                symbol = head.strip().replace("#", number).replace("<>", f"<{form}>")
                parts, _, weight = choice.partition("*")
                parts = parts.replace("#", number).replace("<>", form)
                rules.setdefault(symbol, []).append((float(weight or 1), parts.split()))
    words = {name: entry for name, *entry in map(str.split, _entries(_DATA["words"]))}
    for name, lemmas in _DATA["verbs"].items():
        for form, feats in _DATA["verb_forms"].items():
            words[f"{name}.{form}"] = ["VERB", form, feats, *lemmas.split()]
    return rules, words


@cache
def _inflected(lemma: str, xpos: str) -> str:
    irregular = dict(forms.split(" ", 1) for forms in _entries(_DATA["irregular"]))
    if lemma in irregular and xpos in ("NNS", "VBD", "VBN"):
        return irregular[lemma].split()[xpos == "VBN"]
    short_y = lemma.endswith("y") and lemma[-2] not in "aeiou"
    match xpos:
        case "NNS" | "VBZ":
            hissing = lemma.endswith(("s", "x", "ch", "sh"))
            return lemma[:-1] + "ies" if short_y else lemma + ("es" if hissing else "s")
        case "VBD" | "VBN":
            return lemma[:-1] + "ied" if short_y else lemma.removesuffix("e") + "ed"
        case "VBG":
            return lemma.removesuffix("e") + "ing"
    return lemma


class _Draw:
    """Random phrases; all draws go through `random()`, whose numbers no Python version changes."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed).random

    def phrase(self, symbol: str) -> tuple[list[_Word], _Word]:
        """The words of a phrase and the one that heads it."""
        rules, classes = _grammar()
        if symbol in classes:
            word = self.word(*classes[symbol])
            return [word], word
        sums = list(accumulate(weight for weight, _ in rules[symbol]))
        point = self.random() * sums[-1]
        parts = rules[symbol][next(k for k, limit in enumerate(sums) if point < limit)][1]
        names = [part.partition(":") if len(part) > 1 else (part, "", "") for part in parts]
        phrases = [self.phrase(name) for name, _, _ in names]
        head = next(word for (_, word), name in zip(phrases, names, strict=True) if not name[2])
        for (_, word), (_, _, relation) in zip(phrases, names, strict=True):
            if relation:
                word.deprel, _, other = relation.partition("@")
                word.head = phrases[int(other) - 1][1] if other else head
        return [word for words, _ in phrases for word in words], head

    def word(self, upos: str, xpos: str, feats: str, *lemmas: str) -> _Word:
        form, _, lemma = lemmas[int(self.random() ** 1.5 * len(lemmas))].partition("/")
        if form.startswith("~"):
            syllables = _DATA["syllables"].split()
            stem = (syllables[int(self.random() * len(syllables))] for _ in range(2))
            form = "".join(stem) + form[1:]
            form = form.capitalize() if upos == "PROPN" else form
        if upos in ("NOUN", "VERB"):
            return _Word(_inflected(form, xpos), form, upos, xpos, feats)
        return _Word(form, lemma or form, upos, xpos, feats)


def generate_treebank(count: int, *, seed: int = 1, crossing: float = 0.0) -> Iterator[Sentence]:
    """Generate sentences, of which about the share `crossing` has arcs that cross.

    A sentence depends on the seed and its number alone: a longer treebank begins with the shorter.
    """
    if count < 0:
        raise TreebankError(f"the number of sentences is at least 0, not {count}")
    if not 0 <= crossing <= 1:
        raise TreebankError(f"the share of crossing sentences is between 0 and 1, not {crossing}")
    for number in range(1, count + 1):
        draw = _Draw(f"{seed} {number}")
        symbol = "X" if draw.random() < crossing else "S"
        words, _ = draw.phrase(symbol)
        while len(words) not in _LENGTHS:
            words, _ = draw.phrase(symbol)
        yield _sentence(words, f"{_ID}{seed}-{number}")


def is_generated(file: str) -> bool:
    """Whether a file is empty or a generated treebank, by the id of its first sentence."""
    try:
        first = next(read_conllu(file), None)
    except (TreebankError, OSError):
        return False
    return first is None or (first.sent_id or "").startswith(_ID)


def _sentence(words: list[_Word], name: str) -> Sentence:
    for word, following in pairwise(words):
        if word.form == "a" and following.form[0] in "aeiou":
            word.form = "an"
    words[0].form = words[0].form[0].upper() + words[0].form[1:]
    places = {word: place for place, word in enumerate(words, 1)}
    glued = {word for word, following in pairwise(words) if following.xpos in (".", ",", "POS")}
    tokens = []
    for word, place in places.items():
        columns = place, word.form, word.lemma, word.upos, word.xpos, word.feats
        head = places[word.head] if word.head else 0
        misc = "SpaceAfter=No" if word in glued else "_"
        tokens.append(Token(*columns, head=head, deprel=word.deprel, misc=misc))
    sentence = Sentence.from_tokens(tokens)
    sentence.comments = [f"# sent_id = {name}", f"# text = {sentence.text}"]
    return sentence
