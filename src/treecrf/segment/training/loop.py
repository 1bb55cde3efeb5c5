"""Training a segmenter: one plain loop over the text of a treebank."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from treecrf.nn.adam import Adam
from treecrf.segment.characters import UNKNOWN, Alphabet
from treecrf.segment.config import SegmenterConfig
from treecrf.segment.errors import SegmentError
from treecrf.segment.multiwords import learn_splitter
from treecrf.segment.network import CharacterNetwork, step_size
from treecrf.segment.segmenter import Segmenter
from treecrf.segment.training.conventions import find_joins, find_shapes, multiwords_of
from treecrf.segment.training.raw_text import (
    cut_runs,
    draw_windows,
    raw_sentences,
    raw_text,
)
from treecrf.threads import threads_for
from treecrf.treebank import Score, Sentence
from treecrf.treebank.metrics.alignment import Text, score_segmentation

__all__ = ["Gold", "SegmenterEpoch", "train_segmenter"]


@dataclass(frozen=True, slots=True)
class SegmentationScores:
    """Scores of tokens, words and sentences, as CoNLL 2018 counts them."""

    tokens: Score
    words: Score
    sentences: Score

    @property
    def mean(self) -> float:
        """The mean of the three F1."""
        return (self.tokens.f1 + self.words.f1 + self.sentences.f1) / 3

    def __str__(self) -> str:
        """The F1 in percent."""
        parts = {"tokens": self.tokens, "words": self.words, "sentences": self.sentences}
        return ", ".join(f"{name} {100 * score.f1:.2f}" for name, score in parts.items())


@dataclass(frozen=True, slots=True)
class SegmenterEpoch:
    """Loss and dev scores of an epoch."""

    epoch: int
    loss: float  # mean by the token
    scores: SegmentationScores  # on the dev sentences
    best_epoch: int
    seconds: float  # since the start of training, dev evaluation included


def train_segmenter(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    config: SegmenterConfig,
    *,
    start: Segmenter | None = None,
    max_minutes: float | None = None,
    device: torch.device | str = "cpu",
    on_epoch: Callable[[SegmenterEpoch], None] = lambda epoch: None,
) -> Segmenter:
    """Train on sentences in the order of the text; keep the epoch with the best mean dev F1.

    Training goes on from the weights of `start`, whose network has the sizes of `config`. It ends
    with the first epoch that goes beyond `max_minutes`.
    """
    with threads_for(step_size(config, config.batch_windows)):
        started = time.perf_counter()
        sentences, dev_sentences = raw_sentences(train), raw_sentences(dev)
        if not sentences or not dev_sentences:
            raise SegmentError(f"the {'dev' if sentences else 'training'} data has no sentences")
        runs, dev_text = cut_runs(sentences), raw_text(dev_sentences)
        gold = Gold([sentence for sentence in dev if len(sentence)])
        torch.manual_seed(config.seed)
        alphabet = _alphabet(raw_text(sentences), config)
        if start is not None:
            alphabet = _extended(start.alphabet, alphabet)
        # The second has averages of the weights; the LSTMs of a deep copy would be slow on a GPU.
        network, averaged = (CharacterNetwork(len(alphabet), config).to(device) for _ in range(2))
        if start is not None:
            _copy_weights(start, network)
        averaged.load_state_dict(network.state_dict())
        segmenter = Segmenter(
            config,
            averaged,
            alphabet=alphabet,
            splitter=learn_splitter(multiwords_of(train)),
            joins=find_joins(sentences),
            shapes=find_shapes(sentences),
        )
        parameters = list(network.parameters())
        averages = [parameter.data for parameter in averaged.parameters()]
        rates = [config.learning_rate] * len(parameters)
        adam = Adam(parameters, rates, betas=(0.9, 0.999), epsilon=1e-8, clip=config.clip)
        best: dict[str, Tensor] = {}
        best_mean, best_epoch, steps = -1.0, 0, 0

        for epoch in range(1, config.epochs + 1):
            random = np.random.default_rng([config.seed, epoch])
            windows = draw_windows(runs, config, joins=segmenter.joins, random=random)
            numbers = alphabet.numbers(windows.codes)
            arrays = numbers, windows.classes, windows.targets, windows.asked
            tensors = [torch.from_numpy(array).to(device) for array in arrays]
            characters, classes, targets, asked = tensors
            total = torch.zeros((), dtype=torch.float64, device=device)
            batches = range(0, len(characters), config.batch_windows)
            network.train()
            for place, first in enumerate(batches):
                rows = slice(first, first + config.batch_windows)
                seen = _drop_characters(characters[rows], config.character_dropout)
                loss = _loss(network(seen, classes[rows]), targets[rows], asked[rows])
                loss.backward()
                adam.step(1 - (epoch - 1 + place / len(batches)) / config.epochs)
                steps += 1
                # At first the weights are still far off, so the average follows them closely.
                keep = min(config.average, (1 + steps) / (10 + steps))
                weights = [parameter.data for parameter in parameters]
                torch._foreach_lerp_(averages, weights, 1 - keep)
                total += loss.detach()
            mean = float(total) / len(batches)
            if not np.isfinite(mean):
                advice = f"try a smaller learning_rate, such as {config.learning_rate / 4:g}"
                raise SegmentError(f"the loss of epoch {epoch} is {mean}: {advice}")
            scores = gold.evaluate(segmenter.segment(dev_text))
            if scores.mean > best_mean:
                best_mean, best_epoch = scores.mean, epoch
                best = {name: tensor.clone() for name, tensor in averaged.state_dict().items()}
            seconds = time.perf_counter() - started
            on_epoch(SegmenterEpoch(epoch, mean, scores, best_epoch, seconds))
            late = max_minutes is not None and seconds >= 60 * max_minutes
            if late or epoch - best_epoch >= config.patience:
                break
        averaged.load_state_dict(best)
        return segmenter


def _alphabet(text: str, config: SegmenterConfig) -> Alphabet:
    """The characters of a text that are frequent enough, the most frequent first."""
    counts = Counter(text)
    counts["\n"] += config.min_freq  # training puts line breaks into every text
    frequent = [character for character in counts if counts[character] >= config.min_freq]
    return Alphabet(sorted(frequent, key=lambda character: (-counts[character], character)))


def _extended(first: Alphabet, second: Alphabet) -> Alphabet:
    """The characters of both, those of the first under the numbers that they have there."""
    return Alphabet(dict.fromkeys([*first.characters, *second.characters]))


def _copy_weights(start: Segmenter, network: CharacterNetwork) -> None:
    """Give a network the weights of a segmenter; a new character starts as an unknown one."""
    if len(start.networks) > 1:
        raise SegmentError("training cannot go on from a segmenter with several networks")
    weights = dict(start.network.state_dict())
    vectors = weights["characters.weight"]
    new = network.characters.num_embeddings - len(vectors)
    weights["characters.weight"] = torch.cat([vectors, vectors[UNKNOWN].expand(new, -1)])
    try:
        network.load_state_dict(weights)
    except RuntimeError:  # torch lists what does not fit
        raise SegmentError(
            "the segmenter to start from has another network: set the sizes that it has"
        ) from None


def _drop_characters(characters: Tensor, rate: float) -> Tensor:
    """Some characters become unknown, so that the vector of these is trained."""
    dropped = torch.rand(characters.shape, device=characters.device) < rate
    return characters.masked_fill(dropped & (characters > UNKNOWN), UNKNOWN)


def _loss(scores: Tensor, targets: Tensor, asked: Tensor) -> Tensor:
    """The cross entropy of what is asked, by the token; all `[window, character, output]`."""
    right, weights = targets.to(scores.dtype), asked.to(scores.dtype)
    losses = binary_cross_entropy_with_logits(scores, right, weights, reduction="sum")
    return losses / targets[..., 0].sum().clamp(min=1)


class Gold:
    """A reference that many segmentations of its text are held to."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.text = Text.of(map(_with_some_tree, sentences))

    def evaluate(self, sentences: Iterable[Sentence]) -> SegmentationScores:
        """The scores of sentences that have the same text."""
        scores, _ = score_segmentation(self.text, Text.of(map(_with_some_tree, sentences)))
        return SegmentationScores(scores["Tokens"], scores["Words"], scores["Sentences"])


def _with_some_tree(sentence: Sentence) -> Sentence:
    """The sentence with a chain for a tree: the alignment asks for one, and looks at no head."""
    words = len(sentence)
    return sentence.with_tree(range(words), ["_"] * words)
