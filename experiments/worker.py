"""One run from its data to its record: training, or going on with it, then parsing and counting.

As a program it is what `--jobs` runs side by side: it reads one run from standard input, and ends
when that is closed, so that none is left behind when an experiment is killed.
"""

import io
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.timing import machine
from experiments.counting import count_parses
from experiments.errors import ExperimentError
from experiments.runs import Mask, Run
from experiments.store import Store, read_epochs
from experiments.systems import decoders_of
from experiments.treebanks import Split
from treecrf.extras import MissingExtraError
from treecrf.parser import ParserError, load, load_config, set_up
from treecrf.parser import folder as checkpoint
from treecrf.parser.choices import Decoder
from treecrf.parser.device import choose_device
from treecrf.parser.training.data import Prepared
from treecrf.parser.training.loop import Epoch, train
from treecrf.segment.errors import SegmentError
from treecrf.treebank import TreebankError, read_conllu, write_conllu
from treecrf.treebank.files.streams import File
from treecrf.treebank.mask import keep_sentences, mask_dependencies
from treecrf.treebank.metrics.counts import Counts

__all__ = ["USER_ERRORS", "carry_out"]

USER_ERRORS = (
    ExperimentError,
    MissingExtraError,
    ParserError,
    SegmentError,
    TreebankError,
    OSError,
)
"""What a user can put right, so that one line says what it is."""


def carry_out(
    run: Run, store: Store, *, device: str, on_epoch: Callable[[Epoch], None] | None = None
) -> None:
    """Carry out the missing steps of a run and write its record; calls `on_epoch` meanwhile."""
    with store.lock(run):
        if not store.has_model(run) or store.load(run) is None:
            _carry_out(run, store, device=device, on_epoch=on_epoch)


def _carry_out(
    run: Run, store: Store, *, device: str, on_epoch: Callable[[Epoch], None] | None
) -> None:
    for file in run.files:
        file.check()
    folder = store.make_model_folder(run)
    beside: Mapping[str, Any] = {}
    if store.has_model(run):  # other data to parse, or to be scored otherwise
        record = store.record(run)
        assert record is not None
        epochs, left_out, trained_on = (record[k] for k in ("epochs", "left_out", "machine"))
        beside = record["parses"]
    else:
        init = None if run.init is None else store.model_folder(run.init)
        left_out = _train(run, folder, device, init=init, on_epoch=on_epoch)
        epochs, trained_on = read_epochs(folder), machine(choose_device(device))
        store.drop_raw(run)
    store.save(
        run,
        epochs=epochs,
        machine=trained_on,
        left_out=left_out,
        parses=_parse(run, folder, device),
        beside=beside,
    )
    # The model stays for what else is asked of it; what training goes on from is larger still.
    (folder / checkpoint.CHECKPOINT).unlink(missing_ok=True)


def _train(
    run: Run,
    folder: Path,
    device: str,
    *,
    init: Path | None,
    on_epoch: Callable[[Epoch], None] | None,
) -> int:
    """Train, or resume an interrupted training; return the number of sentences left out."""
    begun = (folder / checkpoint.CONFIG).exists()
    # The same key with other settings, whose defaults have changed since; or nothing to go on from.
    stale = begun and (
        not (folder / checkpoint.CHECKPOINT).exists()
        or load_config(folder / checkpoint.CONFIG) != run.config
    )
    training = set_up(
        folder,
        run.config,
        train=[_training_file(run)],
        dev=run.treebank.dev.path,
        embeddings=None if run.embeddings is None or (begun and not stale) else run.embeddings.path,
        init=init,
        resume=not stale,
        overwrite=stale,
        device=device,
    )
    if run.mask is not None and run.mask.unit == "dependencies":
        training.prepared = _masked(training.prepared, run.mask)
    if on_epoch is not None:
        training.on_epoch = on_epoch
    train(training, folder, resume=not stale)
    return len(training.prepared.left_out)


def _training_file(run: Run) -> File:
    path = run.treebank.train.path
    if run.mask is None or run.mask.unit == "dependencies":
        return path
    file = io.BytesIO()
    write_conllu(keep_sentences(read_conllu(path), run.mask.keep, seed=run.mask.seed), file)
    file.seek(0)
    return file


def _masked(prepared: Prepared, mask: Mask) -> Prepared:
    """The data with a share of its dependencies: masked after the trees were lifted.

    Marks of lifted arcs in a partial treebank would be taken for part of its relations.
    """
    masked = mask_dependencies(prepared.sentences, mask.keep, seed=mask.seed, encoding=None)
    sentences = [sentence for sentence in masked if any(head >= 0 for head in sentence.heads)]
    if not sentences:
        raise ExperimentError(f"nothing is left of the training data at {mask.keep:.0%}")
    return Prepared(
        sentences=sentences,
        partial=sum(-1 in sentence.heads for sentence in sentences),
        lifted=prepared.lifted,
        left_out=prepared.left_out,
    )


def _parse(run: Run, folder: Path, device: str) -> dict[Split, dict[Decoder, list[Counts]]]:
    parser = load(folder, device=device)
    parses: dict[Split, dict[Decoder, list[Counts]]] = {}
    for split, part in run.treebank.splits.items():
        gold = list(read_conllu(part.path))
        if not gold:
            raise ExperimentError(f"{part.path}: there are no sentences to score")
        parses[split] = {
            decoder: count_parses(
                gold, parser.parse_stream(gold, decoder=decoder, probs=False), punct=run.punct
            )
            for decoder in decoders_of(run.config)
        }
    return parses


def main() -> None:
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        carry_out(Run.from_dict(task["run"]), Store(Path(task["store"])), device=task["device"])
    except USER_ERRORS as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
