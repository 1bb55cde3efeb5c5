"""The second opinion of the English segmenter: sentence ends by the states of the parser's encoder.

    python -m experiments.english.sentence_ends TRAIN.conllu DEV.conllu FOLDER

FOLDER has a parser and a segmenter. The encoder reads sentences of TRAIN as raw text has them, some
one after the other, and small networks learn from its states between which words a sentence ends.
Three numbers are fitted on DEV, because the segmenter is too sure of TRAIN: how much the log odds
of the characters count, how much those of the states, and what is added. DEV is scored with all of
it, and once more with numbers fitted on nine tenths of DEV for each tenth. All is saved with the
segmenter, and the names of the shapes that TRAIN keeps whole, which older segmenters do not have.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, dropout

from experiments.english.command import run_command
from experiments.errors import ExperimentError
from treecrf.parser import load
from treecrf.segment import Segmenter
from treecrf.segment.sentence_ends import EndScorer, WordReader, find_stretches
from treecrf.segment.training.conventions import find_shapes
from treecrf.segment.training.loop import Gold, SegmentationScores
from treecrf.segment.training.raw_text import RawSentence, raw_sentences, raw_text
from treecrf.treebank import Sentence, read_conllu

__all__ = ["main", "train_end_scorer"]

_MOST_SENTENCES = 4  # that are read at once
_MOST_WORDS = 120
_SINGLE = 0.3  # share of the single sentences that are kept: nothing ends inside them
_READ_AT_ONCE = 500  # texts
_BATCH = 256  # places
_LEARNING_RATE = 1e-3
_INPUT_DROPOUT, _HIDDEN_DROPOUT = 0.2, 0.3
_FOLDS = 10
_PENALTY = 1e-3  # of the squares of the fitted numbers


def _texts(sentences: Sequence[Sentence], random: Random) -> Iterator[list[Sentence]]:
    """Sentences that follow each other in a paragraph, a random number at a time."""
    held: list[Sentence] = []
    wanted = random.randint(1, _MOST_SENTENCES)
    for sentence in filter(len, sentences):
        starts = any("newpar" in comment or "newdoc" in comment for comment in sentence.comments)
        words = sum(map(len, held)) + len(sentence)
        if held and (starts or len(held) >= wanted or words > _MOST_WORDS):
            if len(held) > 1 or random.random() < _SINGLE:
                yield held
            held, wanted = [], random.randint(1, _MOST_SENTENCES)
        held.append(sentence)
    yield held


def _examples(texts: Sequence[list[Sentence]], read: WordReader) -> tuple[Tensor, Tensor, Tensor]:
    """States `[word, feature]`, the words after which a sentence may end `[place]`, and whether it
    does `[place]`.
    """
    states: list[Tensor] = []
    places: list[int] = []
    labels: list[bool] = []
    before = 0
    for first in range(0, len(texts), _READ_AT_ONCE):
        some = texts[first : first + _READ_AT_ONCE]
        found = read([[form for s in text for form in s.forms] for text in some])
        states += [one.half().cpu() for one in found]
        for text in some:
            for sentence in text:
                inner = {n for m in sentence.multiwords for n in range(m.first, m.last)}
                counts = [n for n in range(1, len(sentence) + 1) if n not in inner]
                places += [before + n - 1 for n in counts]
                labels += [n == len(sentence) for n in counts]
                before += len(sentence)
            del places[-1], labels[-1]  # no word follows
    return torch.cat(states), torch.tensor(places), torch.tensor(labels, dtype=torch.float32)


def train_end_scorer(
    sentences: Sequence[Sentence], read: WordReader, *, size: int, epochs: int, seeds: Sequence[int]
) -> EndScorer:
    """Train on sentences in the order of the text; the mean of as many networks as seeds."""
    texts = list(_texts(sentences, Random(seeds[0])))
    examples = _examples(texts, read)
    members = [_train(*examples, size=size, epochs=epochs, seed=seed) for seed in seeds]
    scorer = EndScorer(members[0].features, size * len(members))
    with torch.no_grad():
        scorer.hidden.weight.copy_(torch.cat([one.hidden.weight for one in members]))
        scorer.hidden.bias.copy_(torch.cat([one.hidden.bias for one in members]))
        outputs = [one.output.weight / len(members) for one in members]
        scorer.output.weight.copy_(torch.cat(outputs, 1))
        scorer.output.bias.copy_(torch.stack([one.output.bias for one in members]).mean(0))
    return scorer.eval()


def _train(
    states: Tensor, places: Tensor, labels: Tensor, *, size: int, epochs: int, seed: int
) -> EndScorer:
    torch.manual_seed(seed)
    scorer = EndScorer(states.shape[1], size)
    optimiser = torch.optim.AdamW(scorer.parameters(), _LEARNING_RATE)
    batches = [rows for _ in range(epochs) for rows in torch.randperm(len(places)).split(_BATCH)]
    rates = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, len(batches))
    for rows in batches:
        pair = torch.cat((states[places[rows]], states[places[rows] + 1]), 1).float()
        hidden = scorer.hidden(dropout(pair, _INPUT_DROPOUT)).relu()
        scores = scorer.output(dropout(hidden, _HIDDEN_DROPOUT)).squeeze(1)
        loss = binary_cross_entropy_with_logits(scores, labels[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rates.step()
    return scorer


class Held:
    """Unsure sentence ends of held-out text: log odds by characters and by states; the truth."""

    def __init__(
        self, segmenter: Segmenter, scorer: EndScorer, read: WordReader, dev: Sequence[Sentence]
    ) -> None:
        raw = raw_sentences(dev)
        text = raw_text(raw)
        self.segmenter = segmenter
        self.gold = Gold([sentence for sentence in dev if len(sentence)])
        self.blocks = list(segmenter.score_stream([text]))
        ends = _end_places(text, raw)
        self.places: list[tuple[int, int]] = []  # block, character
        odds: list[tuple[float, float, float]] = []
        labels: list[bool] = []
        for number, (block, scores) in enumerate(self.blocks):
            cutting = {"splitter": segmenter.splitter, "joins": segmenter.joins}
            found = list(find_stretches((block, scores), **cutting))
            with torch.inference_mode():
                for stretch, states in zip(found, read([s.words for s in found]), strict=True):
                    states = states.cpu()  # where the scorer is
                    before, after = states[[n - 1 for n in stretch.after]], states[stretch.after]
                    opinions = scorer(before, after, odds=torch.zeros(len(after)))
                    for place, opinion in zip(stretch.places, opinions.tolist(), strict=True):
                        self.places.append((number, place))
                        odds.append((float(scores[place, 1]), opinion, 1.0))
                        labels.append(block.start + place in ends)
        self.odds = torch.tensor(odds, dtype=torch.float64)  # [place, 3]
        self.labels = torch.tensor(labels, dtype=torch.float64)

    def fit(self, chosen: Tensor) -> Tensor:
        """The three numbers that explain the chosen places best, `[3]`."""
        numbers = torch.zeros(3, dtype=torch.float64, requires_grad=True)
        optimiser = torch.optim.LBFGS([numbers], max_iter=200)

        def loss() -> Tensor:
            optimiser.zero_grad()
            scores = self.odds[chosen] @ numbers
            value = binary_cross_entropy_with_logits(scores, self.labels[chosen])
            value = value + _PENALTY * numbers.square().sum()
            value.backward()
            return value

        optimiser.step(loss)
        return numbers.detach()

    def score(self, decided: Tensor) -> SegmentationScores:
        """The scores of the text with these log odds `[place]`."""
        assembly = self.segmenter.assembly()
        blocks = [(block, scores.copy()) for block, scores in self.blocks]
        for (number, place), odds in zip(self.places, decided.tolist(), strict=True):
            blocks[number][1][place, 1] = odds
        sentences = [s for block, scores in blocks for s in assembly.add(block, scores)]
        return self.gold.evaluate([*sentences, *assembly.finish()])

    def cross_validated(self) -> SegmentationScores:
        """The scores of the text, each tenth with numbers that were fitted on the others."""
        fold = torch.arange(len(self.places)) * _FOLDS // len(self.places)
        parts = [self.odds[fold == n] @ self.fit(fold != n) for n in range(_FOLDS)]
        return self.score(torch.cat(parts))


def _end_places(text: str, sentences: Sequence[RawSentence]) -> set[int]:
    """The last characters of sentences in the text that they are all of."""
    ends = set()
    place = 0
    for sentence in sentences:
        place = text.index(sentence.text, place) + len(sentence.text)
        ends.add(place - 1)
    return ends


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", type=Path, metavar="TRAIN.conllu")
    parser.add_argument("dev", type=Path, metavar="DEV.conllu")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the model")
    parser.add_argument("--size", type=int, default=64, help="units of the layer")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--device", default="auto")


def _work(given: argparse.Namespace) -> None:
    parser = load(given.folder, device=given.device)
    segmenter, read = parser.segmenter, parser.word_reader()
    if read is None:
        raise ExperimentError(f"{given.folder}: the encoder of this model reads more than words")
    train, dev = list(read_conllu(given.train)), list(read_conllu(given.dev))
    segmenter.end_scorer = None
    segmenter.shapes = tuple(find_shapes(raw_sentences(train)))
    scorer = train_end_scorer(train, read, size=given.size, epochs=given.epochs, seeds=given.seeds)
    held = Held(segmenter, scorer, read, dev)
    everything = torch.ones(len(held.places), dtype=torch.bool)
    numbers = held.fit(everything)
    of_characters, of_states, added = numbers.tolist()
    print(f"{len(held.places)} unsure places; fitted: {of_characters:.3f} times the characters")
    print(f"+ {of_states:.3f} times the states + {added:.3f}")
    print(f"characters alone: {held.score(held.odds[:, 0])}")
    print(f"with the encoder: {held.score(held.odds @ numbers)}")
    print(f"the same, cross-validated: {held.cross_validated()}")
    with torch.no_grad():
        scorer.output.weight.mul_(of_states)
        scorer.output.bias.mul_(of_states).add_(added)
        scorer.share.fill_(of_characters)
    segmenter.end_scorer = scorer
    segmenter.save(given.folder, half=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("sentence_ends", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
