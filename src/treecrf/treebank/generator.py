"""A treebank out of nothing: English-like sentences with their trees, to train and test parsers on.

Which word is on which one is for a parser to learn: "with a telescope" is on the verb, "with a
beard" on the noun. The same seed makes the same sentences, whatever the number of them.
"""

from collections.abc import Iterator
from itertools import pairwise

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.sentences import crossing_sentence, projective_sentence
from treecrf.treebank.grammar.words import Word
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import Token

__all__ = ["generate_treebank"]

_LENGTHS = range(3, 26)


def generate_treebank(count: int, *, seed: int = 1, crossing: float = 0.0) -> Iterator[Sentence]:
    """So many sentences, of which about the share `crossing` has arcs that cross.

    A sentence depends on the seed and its number alone: a longer treebank begins with the shorter
    one, and what does not cross is the same for every share.
    """
    if count < 0:
        raise TreebankError(f"the number of sentences is at least 0, not {count}")
    if not 0 <= crossing <= 1:
        raise TreebankError(f"the share of crossing sentences is between 0 and 1, not {crossing}")
    for number in range(1, count + 1):
        draw = Draw(f"{seed} {number}")
        make = crossing_sentence if draw.chance(crossing) else projective_sentence
        words = make(draw)
        while len(words) not in _LENGTHS:
            words = make(draw)
        yield _sentence(words, f"generated-{seed}-{number}")


def _sentence(words: list[Word], name: str) -> Sentence:
    for word, following in pairwise(words):
        if word.form == "a" and following.form[0] in "aeiou":
            word.form = "an"
    words[0].form = words[0].form[0].upper() + words[0].form[1:]
    places = {word: place for place, word in enumerate(words, 1)}
    tokens = [
        Token(
            place,
            word.form,
            word.lemma,
            word.upos,
            word.xpos,
            head=places[word.head] if word.head else 0,
            deprel=word.deprel,
            misc="SpaceAfter=No" if word.glued else "_",
        )
        for word, place in places.items()
    ]
    sentence = Sentence.from_tokens(tokens)
    sentence.comments = [f"# sent_id = {name}", f"# text = {sentence.text}"]
    return sentence
