"""Printing of commands: messages, tables, trees, JSON, progress. Only here is rich imported."""

import codecs
import contextlib
import datetime
import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, TextIO, TypeVar

import typer

from treecrf.parser.errors import LanguageWarning

if TYPE_CHECKING:
    from rich.console import Console

    from treecrf.parser.config import Config
    from treecrf.parser.training.evaluation import Scores
    from treecrf.parser.training.loop import Epoch, Step, Training
    from treecrf.segment.training.loop import SegmenterEpoch
    from treecrf.treebank import Sentence
    from treecrf.treebank.probs import Certainty

__all__ = [
    "counted",
    "language_line",
    "print_best",
    "print_json",
    "print_segmenter_epoch",
    "print_table",
    "print_training",
    "print_tree",
    "say",
    "track",
    "visible",
]

Item = TypeVar("Item")

# DEL, the second set of controls, which CSI is of, and what turns the direction of writing.
_LATER = "\x7f-\x9f\u202a-\u202e\u2066-\u2069"
_CONTROLS = re.compile(f"[\x00-\x1f{_LATER}]")
_NOT_IN_JSON = re.compile(f"[{_LATER}]")
_COLOURS: dict["Certainty", str] = {
    "sure": "green",
    "likely": "yellow",
    "unsure": "yellow",
    "doubtful": "red",
    "unlikely": "red",
    "unknown": "dim",
}


def visible(text: str) -> str:
    """The text on one line, with U+FFFD for each character that is a command to a terminal."""
    return _CONTROLS.sub("\ufffd", text)


def visible_json(text: str) -> str:
    """Escape control characters in the strings of a JSON text."""
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: object, *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error with `err`."""
    typer.echo(visible(str(text)), err=err)


@contextlib.contextmanager
def language_line(*, quiet: bool = False, hint: str = " (--quiet silences this)") -> Iterator[None]:
    """Print the first `LanguageWarning` as a line on standard error; with `quiet`, none."""
    told = quiet
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        nonlocal told
        if not issubclass(category, LanguageWarning):
            usual(message, category, filename, lineno, file, line)
        elif not told:
            told = True
            say(f"warning: {message}{hint}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", LanguageWarning)
        warnings.showwarning = show
        yield


def counted(number: int, noun: str) -> str:
    """`1 word`, `2 words`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def print_json(value: object) -> None:
    """Print a JSON value on standard output."""
    # Elsewhere than in UTF-8 a character may become a question mark, and two keys the same one.
    utf8 = codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    text = json.dumps(value, ensure_ascii=not utf8, indent=2)
    sys.stdout.write(visible_json(text) + "\n")


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str | None = None
) -> None:
    """Print a table: names in the first column, numbers in the others."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(caption=caption, caption_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(Text(visible(column)), justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    _console().print(table)


def print_tree(sentence: "Sentence", file: IO[str] | None = None) -> None:
    """Print a tree, a word a line, with arcs on the left and probabilities if known.

    A file has it without colours.
    """
    from rich.table import Table
    from rich.text import Text

    from treecrf.treebank.drawing.terminal import draw_arcs
    from treecrf.treebank.probs import certainty, head_probs, heading

    def shown(text: str, style: str) -> Text:
        return Text(visible(text), style=style)

    console = _console(file)
    if above := heading(sentence):
        console.print(shown(above, "dim"))
    console.print(shown(sentence.text, "bold"))
    probs = head_probs(sentence)
    with_probs = any(prob is not None for prob in probs)
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(5 if with_probs else 4):
        grid.add_column(no_wrap=True)
    arcs = draw_arcs([0, *sentence.heads])
    for lines, token, prob in zip(arcs, sentence.tokens, probs, strict=True):
        cells = [
            Text(lines, style="cyan") + shown(token.form, "default"),
            shown("" if token.upos == "_" else token.upos, "dim"),
            shown("" if token.deprel == "_" else token.deprel, "magenta"),
        ]
        if with_probs:
            text = "" if prob is None else f"{prob:.0%}"
            cells.append(Text(text, style=_COLOURS[certainty(prob)], justify="right"))
        grid.add_row(*cells, Text(str(token.id), style="dim", justify="right"))
    console.print(grid)


def track(items: Iterable[Item], what: str, *, total: int | None = None) -> Iterator[Item]:
    """Iterate with a progress line on standard error, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    count = TextColumn("{task.completed:,}" if total is None else "{task.percentage:.0f}%")
    columns = SpinnerColumn(), TextColumn("{task.description}"), count, TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(items, total=total, description=what)


def print_segmenter_epoch(epoch: "SegmenterEpoch") -> None:
    """Print a line about an epoch of a segmenter."""
    best = "*" if epoch.best_epoch == epoch.epoch else " "
    scores = epoch.scores
    say(
        f"segmenter epoch {epoch.epoch:>3}  loss {epoch.loss:7.4f}  dev sentences "
        f"{100 * scores.sentences.f1:6.2f}  tokens {100 * scores.tokens.f1:6.2f}  words "
        f"{100 * scores.words.f1:6.2f} {best}  {datetime.timedelta(seconds=round(epoch.seconds))}"
    )


@contextlib.contextmanager
def print_training(
    training: "Training", *, start: "Scores | None" = None
) -> Iterator[list["Epoch"]]:
    """Have training show a progress bar and print a line an epoch; the epochs printed so far."""
    from rich import progress as bars
    from rich.console import Console

    from treecrf.parser.vocab import classes_of

    prepared = training.prepared
    for warning in prepared.warnings():
        say(f"warning: {warning}", err=True)
    words = sum(map(len, prepared.sentences))
    special = {
        "partial": prepared.partial,
        "with lifted arcs": prepared.lifted,
        "learnt from teachers alone": prepared.unannotated,
        "more without a head, which a --teacher could annotate": prepared.headless,
    }
    notes = [f"{number:,} {what}" for what, number in special.items() if number]
    extra = f" ({', '.join(notes)})" if notes else ""
    weights = sum(parameter.numel() for parameter in training.scorer.parameters())
    say(f"train  {counted(len(prepared.sentences), 'sentence')}, {counted(words, 'word')}{extra}")
    scored = "" if training.config.punct == "keep" else ", scored without punctuation"
    say(f"dev    {counted(len(training.dev), 'sentence')}{scored}")
    say(f"model  {training.config.loss}, {weights / 1e6:.1f}M weights, on {training.device}")
    names = [name.upper() for name in training.config.predict]
    missing = [f"no {name.upper()} in the training data" for name in prepared.missing]
    missing += [
        f"{counted(bare, 'word')} without {name.upper()}"
        for name in training.config.predict
        if (bare := sum([*classes_of(one, name)].count(None) for one in prepared.sentences))
    ]
    say(f"also   {', '.join(names) or 'no other column'}{''.join(f'; {item}' for item in missing)}")
    if training.teachers:
        share = f"share {training.config.teacher_weight:g} where there is annotation"
        say(f"teach  {', '.join(training.teachers)}; {share}")
    if training.vectors is not None:
        known, forms = training.forms_with_vectors()
        say(f"vectors of {known:,} of the {counted(forms, 'form')} in the training data")
        if not known:
            say("warning: none of its forms is among the word vectors", err=True)
    if start is not None:
        say(f"start  dev UAS {start.uas:.2f}, LAS {start.las:.2f}")
    sys.stdout.flush()
    shown = sys.stderr is not None and sys.stderr.isatty()
    progress = bars.Progress(
        bars.TextColumn("epoch {task.fields[epoch]}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("loss {task.fields[loss]:.3f}  {task.speed:,.0f} sentences/s"),
        bars.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not shown,
    )
    printed: list[Epoch] = []
    bar = progress.add_task("", total=len(prepared.sentences), epoch=1, loss=0.0)

    def on_step(step: "Step") -> None:
        if step.epoch != progress.tasks[bar].fields["epoch"]:
            progress.reset(bar, epoch=step.epoch)
        progress.update(bar, completed=step.sentences, epoch=step.epoch, loss=step.loss)

    def on_epoch(epoch: "Epoch") -> None:
        printed.append(epoch)
        best = "*" if epoch.best_epoch == epoch.epoch else " "
        line = (
            f"epoch {epoch.epoch:>4}  loss {epoch.loss:7.4f}  dev UAS {epoch.uas:6.2f}  "
            f"LAS {epoch.las:6.2f} {best}  {epoch.sentences_per_second:8,.0f} sentences/s  "
            f"{datetime.timedelta(seconds=round(epoch.seconds))}"
        )
        progress.console.print(line, highlight=False) if shown else say(line)

    training.on_step, training.on_epoch = on_step, on_epoch
    with progress:
        yield printed


def print_best(
    last: "Epoch", folder: Path, *, config: "Config", start: "Scores | None" = None
) -> None:
    """Print the best epoch of a training, and the folder of the model."""
    best = f"dev LAS {last.best_las:.2f} in epoch {last.best_epoch}"
    say(f"best   {best}; the model is in {folder}")
    if start is not None and last.best_las < start.las:
        rates = _lower_rates(config)
        advice = f"; a lower rate forgets less, such as {rates}" if rates else ""
        better = f"has a dev LAS of {start.las:.2f}, which is better{advice}"
        say(f"warning: the model that it started from {better}", err=True)


def _lower_rates(config: "Config") -> str:
    """The options for a tenth of each learning rate that was set, not of what a schedule left."""
    rates = {"learning_rate": config.learning_rate}
    if config.encoder == "transformer":
        rates["transformer_learning_rate"] = config.transformer_learning_rate
    return " ".join(f"--set {name}={rate / 10:.3g}" for name, rate in rates.items() if rate > 0)


def _console(file: IO[str] | None = None) -> "Console":
    """Console for standard output, with colours on a terminal, or for a file without colours."""
    from rich.console import Console

    # A long line is the terminal's to wrap: made to fit, a number would lose its last digits.
    # A dumb terminal is taken to be 80 wide unless it has a height as well.
    colours: Literal["auto"] | None = "auto" if file is None else None
    return Console(file=file, width=10_000, height=25, highlight=False, color_system=colours)
