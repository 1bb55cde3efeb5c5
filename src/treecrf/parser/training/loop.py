"""Training: one plain loop; resumed from a checkpoint it gives the same result."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor

from treecrf.parser.batching.batch import Batch, make_batch, shuffled_batches
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.encoding import (
    Annotation,
    EncodedSentences,
    encode,
    encode_annotation,
)
from treecrf.parser.batching.gold import WordCounts, count_words
from treecrf.parser.config import Config
from treecrf.parser.device import fast_products
from treecrf.parser.errors import ParserError
from treecrf.parser.files.pipeline import Ahead
from treecrf.parser.folder_writer import training_in
from treecrf.parser.network.loss import training_loss
from treecrf.parser.network.pretrained import Pretrained
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.training.data import Prepared
from treecrf.parser.training.evaluation import DevSet, Scores
from treecrf.parser.training.optimiser import Optimisation
from treecrf.parser.training.ranks import ALONE, Ranks
from treecrf.parser.training.run import Epoch, Run
from treecrf.parser.training.teachers import find_targets, load_teachers
from treecrf.parser.vocab import Vocabulary
from treecrf.segment.segmenter import Segmenter
from treecrf.threads import threads_for
from treecrf.treebank import Sentence

__all__ = ["Epoch", "Step", "Training", "train"]

# Steps between two readings of the mean loss: reading it waits for the device.
_REPORT_STEPS = 20


def _say_nothing(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of an epoch."""

    epoch: int
    sentences: int  # done in this epoch
    loss: float  # mean, by the word


@dataclass(slots=True)
class Training:
    """A training: data, network and settings; `set_up` makes it."""

    config: Config
    vocabulary: Vocabulary
    prepared: Prepared
    """Sentences to train on."""
    dev: Sequence[Sentence]
    """Sentences that choose the best epoch."""
    scorer: Scorer
    """The network, with its initial weights."""
    vectors: Tensor | None
    """Pretrained word vectors."""
    pretrained: Pretrained | None
    """The pretrained transformer of the encoder."""
    device: torch.device
    teachers: Sequence[str] = ()
    """Folders of models whose probabilities are learnt too."""
    segmenter: Segmenter | None = None
    """The segmenter of the model that this one starts from."""
    ranks: Ranks = ALONE
    """The processes that train together; each has all of this."""
    max_minutes: float | None = None
    """Time limit; the first epoch is finished in any case, a later one is dropped if cut."""
    on_step: Callable[[Step], None] = field(default=_say_nothing)
    on_epoch: Callable[[Epoch], None] = field(default=_say_nothing)

    def starting_scores(self) -> Scores:
        """Dev scores of the initial weights."""
        dev = DevSet(self.dev, self.vocabulary, self.config, device=self.device)
        return dev.evaluate(self.scorer.to(self.device))

    def forms_with_vectors(self) -> tuple[int, int]:
        """Number of forms in the training data that have a pretrained vector, and of all forms."""
        forms = {form for sentence in self.prepared.sentences for form in sentence.forms}
        known = self.vocabulary.vector_numbers
        return sum(form in known or form.lower() in known for form in forms), len(forms)


@fast_products()
def train(
    training: Training, folder: Path, *, resume: bool = False, writing_share: float = 0.05
) -> Epoch:
    """Train until the dev LAS stops rising, and keep the best model in the folder.

    Everything random in an epoch follows from the seed and the number of the epoch, so a resumed
    run gives what an uninterrupted one gives. Several processes each take a part of every batch,
    and have the same weights after each step. The folder is locked meanwhile. Writing to it takes
    at most about `writing_share` of the time.
    """
    with training_in(folder, training.ranks), threads_for(_operation_size(training)):
        return _train(training, folder, resume=resume, writing_share=writing_share)


def _taught(training: Training, encoded: EncodedSentences, annotation: Annotation) -> Annotation:
    """The annotation with the targets of teachers, which are kept no longer."""
    config, vocabulary = training.config, training.vocabulary
    targets = find_targets(
        load_teachers(training.teachers, training.device),
        training.prepared.sentences,
        encoded,
        annotation,
        vocabulary=vocabulary,
        config=config,
    )
    return replace(annotation, targets=targets)


def _operation_size(training: Training) -> float:
    """Multiply-adds of the typical operation of a step."""
    config, pretrained = training.config, training.pretrained
    if pretrained is not None:  # all words times a matrix
        return config.batch_tokens * pretrained.size**2
    # An LSTM step has one word of each sentence.
    sentences = training.prepared.sentences
    length = sum(map(len, sentences)) / max(1, len(sentences))
    return config.batch_tokens / max(1, length) * 4 * config.lstm_size**2


def _train(training: Training, folder: Path, *, resume: bool, writing_share: float) -> Epoch:
    config, ranks = training.config, training.ranks
    scorer = training.scorer.to(training.device)
    encoded = encode(training.prepared.sentences, training.vocabulary, config)
    annotation = encode_annotation(training.prepared.sentences, training.vocabulary, config)
    dev = DevSet(training.dev, training.vocabulary, config, device=training.device, ranks=ranks)
    tokens, apart = config.batch_tokens, config.longest_together
    per_epoch = len(shuffled_batches(encoded.lengths, tokens=tokens, seed=0, apart=apart))
    optimisation = Optimisation(scorer, config, epoch_steps=per_epoch)
    run = Run(folder, training, optimisation, writing_share=writing_share)
    run.start(resume=resume)
    if training.teachers and run.epoch < config.epochs and not run.stopped:
        annotation = _taught(training, encoded, annotation)
    started = time.perf_counter() - run.seconds
    limit = float("inf") if training.max_minutes is None else 60 * training.max_minutes
    cut = False  # whether the time was up in the middle of an epoch

    def make_part(rows: Integers) -> tuple[Batch | None, WordCounts | None]:
        """This process's part of a batch, if it has one, and the counts of the whole."""
        part = ranks.part_of(rows, encoded.lengths)
        if not len(part):
            return None, None
        counts = None if ranks.size == 1 else count_words(encoded, annotation, rows)
        batch = make_batch(encoded, part, annotation=annotation, device=training.device)
        return batch, counts

    while run.epoch < config.epochs and not run.stopped and run.seconds < limit:
        epoch = run.epoch + 1
        seed = config.seed * 1_000_003 + epoch
        torch.manual_seed(seed + ranks.rank * 1_000_000_007)  # each drops other features
        batches = shuffled_batches(encoded.lengths, tokens=tokens, seed=seed, apart=apart)
        total = torch.zeros((), dtype=torch.float64, device=training.device)
        sentences = steps = 0
        epoch_started = time.perf_counter()
        scorer.train()
        with Ahead(batches, make_part) as parts:
            for rows in batches:
                batch, counts = parts.take()
                if batch is None:
                    loss = torch.zeros((), device=training.device)
                else:
                    loss = training_loss(scorer, batch, config, counts=counts)
                    parts.begin()  # while the host does nothing but launch what is compiled
                    loss.backward()
                total += ranks.add_gradients(optimisation.parameters, loss.detach())
                optimisation.step()
                sentences += len(rows)
                steps += 1
                if steps % _REPORT_STEPS == 0 or steps == len(batches):
                    training.on_step(Step(epoch, sentences, float(total) / steps))
                # Without the first epoch there would be no model.
                if training.max_minutes is not None and run.epoch > 0 and steps < len(batches):
                    cut = any(ranks.add([int(time.perf_counter() - started > limit)]))
                    if cut:
                        break
        if cut:  # half an epoch is none: resumed, it is trained from its start
            break
        mean = float(total) / steps
        speed = sentences / (time.perf_counter() - epoch_started)
        if mean != mean or mean == float("inf"):
            raise ParserError(
                f"the loss of epoch {epoch} is {mean}: try a smaller learning rate (--set "
                f"learning_rate={config.learning_rate / 4:g})"
            )
        scores = dev.evaluate(optimisation.averaged)
        run.seconds = ranks.from_leader(lambda: time.perf_counter() - started)
        training.on_epoch(run.finish_epoch(mean, scores, speed))
    return run.end(cut=cut)
