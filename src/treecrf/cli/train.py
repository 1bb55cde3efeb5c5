"""`treecrf train`: a parser from a treebank."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treecrf.cli.console import say
from treecrf.cli.options import Device, refuse
from treecrf.cli.train_stages import (
    Files,
    finish,
    note_idle,
    print_release,
    segmenter_config,
    split_settings,
    train_parser,
    train_segmenter,
    warn_of_lost_segmenter,
)
from treecrf.parser.choices import Loss, Nonprojective
from treecrf.treebank.metrics.scores import Punctuation

if TYPE_CHECKING:
    from treecrf.parser import Training

__all__ = ["train"]


def train(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The model folder to write.")
    ],
    treebank: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A treebank of Universal Dependencies as it is released, with train and dev "
            "parts: trains a parser and a segmenter, calibrates the parser and writes a card.",
        ),
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="A treebank to learn from; several are one treebank."),
    ] = None,
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="A treebank to choose the best epoch by.")
    ] = None,
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
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="One setting; may be given several times. segmenter.KEY=VALUE is one of the "
            "segmenter.",
        ),
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
    seed: Annotated[int | None, typer.Option(metavar="N", help="Random seed.")] = None,
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
        typer.Option(
            metavar="N",
            help="Stop training the parser after so many minutes, but not before one epoch.",
        ),
    ] = None,
    segmenter_max_minutes: Annotated[
        float | None,
        typer.Option(metavar="N", help="The same for the segmenter."),
    ] = None,
    device: Device = "auto",
) -> None:
    """Train a parser, on --treebank or on --train and --dev.

    Sentences may be annotated in part: where words have no head (_), training sums over all trees
    that have the given heads. The best model on --dev is kept in --out, with a log in log.jsonl;
    interrupted training goes on with --resume.

    \b
    Examples:
      treecrf train --train train.conllu --dev dev.conllu -o model --config tiny
      treecrf train --train train.conllu --dev dev.conllu -o model --resume
    """
    minutes = {"--max-minutes": max_minutes, "--segmenter-max-minutes": segmenter_max_minutes}
    no_time = [name for name, given in minutes.items() if given is not None and not given > 0]
    two_vectors = init is not None and embeddings is not None
    own_settings, segmenter_settings = split_settings(set or ())
    given_to_segmenter = segmenter_settings or segmenter_max_minutes is not None
    segmenter = segmenter or treebank is not None
    refuse(
        (treebank and (train or dev), "--treebank has its own parts: no --train and no --dev"),
        (
            treebank and treebank.resolve() == out.resolve(),
            "--out is the treebank's folder: name another",
        ),
        (not treebank and not (train and dev), "give --treebank DIR, or --train and --dev FILES"),
        (resume and overwrite, "--resume goes on with what --overwrite would remove"),
        (no_time, f"{' and '.join(no_time)} must be more than 0 minutes"),
        (two_vectors, "--init brings its own word vectors; it takes no --embeddings"),
        (given_to_segmenter and not segmenter, "settings of a segmenter go with --segmenter"),
    )
    chosen = {"loss": loss, "nonprojective": nonprojective, "punct": punct, "seed": seed}
    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    for name in given:
        if any(setting.partition("=")[0].strip() == name for setting in own_settings):
            raise typer.BadParameter(f"--{name} and --set {name}=... say it twice: give one")
    from treecrf.parser import set_up
    from treecrf.parser.config import Config
    from treecrf.parser.folder_writer import training_in
    from treecrf.parser.training.ranks import joined
    from treecrf.parser.training.release import find_release
    from treecrf.parser.training.setup import merged_config

    release = None if treebank is None else find_release(treebank)
    files = Files(train or [], dev or "") if release is None else Files(release.train, release.dev)
    if segmenter:
        files.check_read_twice()
    cut = segmenter_config(segmenter_settings)

    def read(device: str) -> "Training":
        language = {} if release is None else {"language": release.language}
        changes = language | given | Config.parsed(own_settings)
        return set_up(
            out,
            merged_config(out, source=config, changes=changes, init=init, resume=resume),
            train=files.train,
            dev=files.dev,
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
                    warn_of_lost_segmenter(training, out)
                if release is not None and ranks.leads:
                    print_release(release, training.config.language)
                if ranks.leads:
                    files.note_if_same()
                    note_idle(training.config, [*given, *Config.parsed(own_settings)])
                start = None if resume else init
                train_parser(training, out, device=own_device, resume=resume, init=start)
            if segmenter and ranks.leads:
                if not any(item.partition("=")[0].strip() == "seed" for item in segmenter_settings):
                    cut = cut.changed({"seed": training.config.seed})
                train_segmenter(
                    files, out, cut, device=training.device, max_minutes=segmenter_max_minutes
                )
            if release is not None and ranks.leads:
                finish(files, out, release, device=training.device)
    except KeyboardInterrupt:
        goes_on = "--resume goes on with it"
        if overwrite:
            goes_on = "once an epoch has ended --resume goes on; until then nothing is replaced"
        say(f"interrupted; {goes_on}", err=True)
        raise typer.Exit(130) from None
