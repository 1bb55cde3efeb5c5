"""Generated sentences with multiword tokens, odd texts, and segmenters for the tests."""

from collections.abc import Sequence
from itertools import islice, pairwise

import numpy as np
import torch

from treecrf.demo import generate_treebank
from treecrf.segment import Segmenter, SegmenterConfig, train_segmenter
from treecrf.segment.characters import Alphabet, CharacterClass
from treecrf.segment.multiwords import Splitter
from treecrf.segment.network import CharacterNetwork
from treecrf.treebank import Multiword, Sentence, Token

TINY = SegmenterConfig(
    character_size=16,
    class_size=4,
    lstm_layers=1,
    lstm_size=32,
    window=128,
    context=16,
    dropout=0.1,
    learning_rate=2e-2,
    batch_windows=8,
    average=0.9,
    epochs=8,
    patience=8,
)

ODD = [
    "",
    " ",
    "\n \r\n\t",
    "a",
    "  a",
    "a\n",
    "don't\r\n\r\nstop | \\s \\ |",
    "👩‍👩‍👧‍👦 and 🏳️‍🌈\u200b",
    "שלום עולם. مرحبا بالعالم؟ \u202bab\u202c",
    "see https://example.org/a?b=c&d=%20#e, or mail a.b@c.de",
    "a" * 3000,
    "10 000 000 a  b a\xa0b",
    "\ufeffstart \x00 \x01 \x7f end",
    "\ud800 lone \udfff",
    "# text = not a comment\n1\tx\t_\n",
    "İSTANBUL ǅ ﬃ",
]
"""Texts that are hardly text, of which nothing may be lost."""

_CONTRACTED = {"will": "did", "can": "could", "must": "is"}


def treebank(count: int, *, seed: int = 1) -> list[Sentence]:
    """Generated sentences in paragraphs, a fifth of them with `didn't` for `will not`."""
    sentences = [_contracted(sentence) for sentence in generate_treebank(count, seed=seed)]
    more = generate_treebank(20 * count, seed=seed + 1000)
    negated = (_contracted(sentence) for sentence in more if "not" in sentence.forms)
    sentences[::5] = islice(negated, len(sentences[::5]))
    for number, sentence in enumerate(sentences):
        comments = ["# newdoc"] if number % 20 == 0 else []
        comments += ["# newpar"] if number % 5 == 0 else []
        sentence.comments = [*comments, f"# text = {sentence.text}"]
    return sentences


def _contracted(sentence: Sentence) -> Sentence:
    tokens = sentence.tokens
    multiwords = []
    for verb, negation in pairwise(tokens):
        if negation.form == "not":
            verb.form = _CONTRACTED[verb.form]
            multiwords.append(Multiword(verb.id, negation.id, verb.form + "n't"))
            negation.form = "n't"
    return Sentence.from_tokens(tokens, multiwords=multiwords)


def sentence_of(text: str, **splits: Sequence[str]) -> Sentence:
    """A sentence of tokens with spaces between them: `~` is no space, `_` one inside a token."""
    tokens: list[Token] = []
    multiwords = []
    for piece in text.split():
        misc = "SpaceAfter=No" if piece.endswith("~") else "_"
        form = piece.rstrip("~").replace("_", " ")
        first = len(tokens) + 1
        words = splits.get(form, [form])
        if len(words) > 1:
            multiwords.append(Multiword(first, first + len(words) - 1, form, misc=misc))
            misc = "_"
        tokens += [Token(number, word, misc=misc) for number, word in enumerate(words, first)]
    return Sentence.from_tokens(tokens, multiwords=multiwords)


def train_tiny() -> Segmenter:
    """Train a segmenter on generated sentences; the fixture `segmenter` is one for all tests."""
    return train_segmenter(treebank(400), treebank(60, seed=2), TINY)


def untrained(
    *,
    seed: int = 1,
    joins: bool = True,
    bias: Sequence[float] = (0.0, 0.0, 0.0),
    window: int = 16,
) -> Segmenter:
    """A segmenter that cuts anywhere: what it does with text must hold for any decisions."""
    torch.manual_seed(seed)
    config = SegmenterConfig(
        character_size=8, class_size=4, lstm_layers=1, lstm_size=4, window=window, context=3
    )
    alphabet = Alphabet("abc é\n.,'")
    network = CharacterNetwork(len(alphabet), config)
    torch.nn.init.normal_(network.output.weight, std=3.0)
    network.output.bias.data = torch.tensor(bias, dtype=torch.float32)
    return Segmenter(
        config,
        network,
        alphabet=alphabet,
        splitter=Splitter(
            splits={"ab": ("a", "b")},
            rules={"suffix": {"c": ("x", "y")}, "prefix": {"é": ("", "z")}},
        ),
        joins=np.array([[joins and min(a, b) > 3 for a in CharacterClass] for b in CharacterClass]),
    )
