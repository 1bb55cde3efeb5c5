"""`treecrf train`: a parser from a treebank."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treecrf import treebank
from treecrf.cli.console import print_best, print_segmenter_epoch, print_training, say
from treecrf.cli.options import Device, refuse
from treecrf.parser.choices import Loss, Nonprojective
from treecrf.treebank.metrics.scores import Punctuation

if TYPE_CHECKING:
    from treecrf.parser import Training
    from treecrf.parser.training.loop import Epoch

__all__ = ["train"]


def train(
    train: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="A treebank to learn from; several are one treebank."),
    ],
    dev: Annotated[
        str, typer.Option(metavar="FILE", help="A treebank to choose the best epoch by.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The model folder to write.")
    ],
    config: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="default, paper, tiny, or a TOML file of settings.",
            autocompletion=lambda: ["default", "paper", "tiny"],
        ),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="One setting; may be given several times."),
    ] = None,
    loss: Annotated[
        Loss | None,
        typer.Option(help="What training maximises: the probability of heads or of trees."),
    ] = None,
    nonprojective: Annotated[
        Nonprojective | None,
        typer.Option(help="Crossing arcs: lift and restore them, decode any tree, or neither."),
    ] = None,
    punct: Annotated[
        Punctuation | None,
        typer.Option(
            help="Count punctuation in the dev scores, which choose the epoch, or leave it out."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed.")] = None,
    embeddings: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Pretrained word vectors: GloVe, word2vec, fastText."),
    ] = None,
    segmenter: Annotated[
        bool,
        typer.Option(
            "--segmenter",
            help="Also train a segmenter, which splits raw text into sentences and words.",
        ),
    ] = False,
    init: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|NAME",
            help="Start from another model: its weights, words, settings and segmenter.",
        ),
    ] = None,
    teacher: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR|NAME",
            help="Also learn the probabilities that this model gives; sentences without heads are "
            "learnt from it alone. Several are averaged.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the training in --out, if it has begun.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Train anew, though --out has a model.")
    ] = False,
    max_minutes: Annotated[
        float | None,
        typer.Option(metavar="N", help="Stop after so many minutes, but not before one epoch."),
    ] = None,
    device: Device = "auto",
) -> None:
    """Train a parser.

    Sentences may be annotated in part: words without a head (_) are learnt from what the others
    leave possible. The best model on --dev is kept in --out, with a log in log.jsonl; interrupted
    training goes on with --resume.
    """
    no_time = max_minutes is not None and not max_minutes > 0
    two_vectors = init is not None and embeddings is not None
    pipe = next((file for file in (*train, dev) if not _is_kept(file)), None)
    read_again = f"reads the data again, and {pipe} can be read once: make a file of it"
    refuse(
        (resume and overwrite, "--resume goes on with what --overwrite would remove"),
        (no_time, "--max-minutes is more than 0: there is no training in no time"),
        (two_vectors, "--init brings its own word vectors; it takes no --embeddings"),
        (segmenter and pipe, f"--segmenter {read_again}"),
    )
    chosen = {"loss": loss, "nonprojective": nonprojective, "punct": punct, "seed": seed}
    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    for name in given:
        if any(setting.partition("=")[0].strip() == name for setting in set or ()):
            raise typer.BadParameter(f"--{name} and --set {name}=... say it twice: give one")
    from treecrf.parser import set_up
    from treecrf.parser.config import Config
    from treecrf.parser.folder_writer import training_in
    from treecrf.parser.training.ranks import joined
    from treecrf.parser.training.setup import merged_config

    def read(device: str) -> "Training":
        changes = given | Config.parsed(set or ())
        return set_up(
            out,
            merged_config(out, source=config, changes=changes, init=init, resume=resume),
            train=train,
            dev=dev,
            embeddings=embeddings,
            init=init,
            teachers=teacher or (),
            keep_segmenter=not segmenter,
            resume=resume,
            overwrite=overwrite,
            device=device,
        )

    try:
        with ExitStack() as held:
            with joined(device) as (ranks, own_device):
                # From before the folder is looked at until the segmenter is there too.
                held.enter_context(training_in(out, ranks))
                training = ranks.from_leader(lambda: read(own_device))
                training.ranks, training.max_minutes = ranks, max_minutes
                if overwrite and not segmenter and ranks.leads:
                    _warn_of_lost_segmenter(training, out)
                start = None if resume else init
                _train_parser(training, out, device=own_device, resume=resume, init=start)
            if segmenter and ranks.leads:
                _train_segmenter(train, dev, out, training)
    except KeyboardInterrupt:
        goes_on = "--resume goes on with it"
        if overwrite:
            goes_on = "once an epoch has ended --resume goes on; until then nothing is replaced"
        say(f"interrupted; {goes_on}", err=True)
        raise typer.Exit(130) from None


def _is_kept(file: str) -> bool:
    """Whether a file can be read twice, unlike a pipe; a missing file is reported later."""
    return file != "-" and (Path(file).is_file() or not Path(file).exists())


def _train_parser(
    training: "Training", out: Path, *, device: str, resume: bool, init: str | None
) -> None:
    """Train, and say what it came to; with `init`, against the model that it starts from."""
    from treecrf.parser.device import choose_device
    from treecrf.parser.training.loop import train as run

    if not training.ranks.leads:
        training.device = choose_device(device)  # what came from the leader has its device
        run(training, out, resume=resume)
        return
    start = None
    if init is not None:
        start = training.starting_scores()
        _print_inheritance(training, init)
    with print_training(training, start=start) as printed:
        last = run(training, out, resume=resume)
    if not printed:
        say(_why_ended(training, last))
    print_best(last, out, config=training.config, start=start)


def _print_inheritance(training: "Training", init: str) -> None:
    """Say what the model keeps of the one that it starts from, and what it drops."""
    from treecrf.parser.bundled import model_folder
    from treecrf.parser.folder import load_settings
    from treecrf.parser.training.warm_start import inheritance_note
    from treecrf.segment.segmenter import has_segmenter

    folder = model_folder(init)
    kept = training.segmenter is not None if has_segmenter(folder) else None
    note = inheritance_note(load_settings(folder)[0], training.config, segmenter=kept)
    if note:
        say(f"init   {init}: {note}")


def _warn_of_lost_segmenter(training: "Training", out: Path) -> None:
    """Say that the model to be replaced can cut raw text and the new one will not."""
    from treecrf.segment.segmenter import has_segmenter

    if has_segmenter(out) and training.segmenter is None:
        lost = f"the segmenter in {out} goes with the model that is replaced"
        say(f"warning: {lost}; --segmenter trains another", err=True)


def _why_ended(training: "Training", last: "Epoch") -> str:
    """Message for --resume without anything left to do."""
    if last.epoch >= training.config.epochs:
        reason = f"{last.epoch} epochs are done; --set epochs=N goes on up to N"
    elif last.epoch - last.best_epoch >= training.config.patience:
        since = last.epoch - last.best_epoch
        reason = f"no new best in {since} epochs; --set patience=N goes on after as many as N"
    else:
        spent = f"after {last.seconds / 60:.1f} minutes there is no time for another epoch"
        reason = f"{spent}; a larger --max-minutes goes on"
    return f"this training had ended already: {reason}"


def _train_segmenter(train: list[str], dev: str, out: Path, training: "Training") -> None:
    """Train a segmenter on the text of the same files, unless the folder has one already."""
    from treecrf.segment import SegmenterConfig, train_segmenter
    from treecrf.segment.segmenter import has_segmenter

    if has_segmenter(out):
        say(f"segmenter: {out} has one already, which stays")
        return
    sentences = [sentence for file in train for sentence in treebank.read_conllu(file)]
    train_segmenter(
        sentences,
        list(treebank.read_conllu(dev)),
        SegmenterConfig(seed=training.config.seed),
        device=training.device,
        on_epoch=print_segmenter_epoch,
    ).save(out)
