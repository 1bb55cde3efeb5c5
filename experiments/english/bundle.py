"""A trained model made small enough to come with treecrf, with a card of what each step costs.

    python -m experiments.english.bundle TRAINED src/treecrf/models/en \\
        --dev DEV.conllu --held-out HELD_OUT.conllu --made-by 'treecrf train ...'

The steps: pieces that English text has no use for are cut from the vocabulary (none are left where
the encoder was cut before training, see `experiments.english.cut`), temperatures are fitted on
sentences that training did not learn from (held out by `experiments.english.hold_out`, or DEV),
weights are rounded to half precision or to bytes, and on a CPU bytes are multiplied. After each of
them the model is scored on DEV. The folder that comes out has the card in README.md.
"""

import argparse
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.report import print_table
from experiments.english.card import Card, Step, write_card
from experiments.english.command import run_command
from experiments.english.compact import Stored, save_compact
from experiments.english.cut import write_description
from experiments.english.irregular import abbreviation_lemmas, irregular_lemmas
from experiments.english.regular import regular_lemmas
from experiments.english.scores import gold_word_scores, raw_text_scores
from experiments.errors import ExperimentError
from experiments.files import write_json
from treecrf.parser import folder as checkpoint
from treecrf.parser import load
from treecrf.parser.choices import Precision
from treecrf.parser.packages.measures import gold_word_figures
from treecrf.parser.training.calibration import Fit, calibration_errors, fit_temperatures
from treecrf.segment.segmenter import FILES as SEGMENTER_FILES
from treecrf.treebank import Sentence, read_conllu

__all__ = ["bundle", "layers_of", "main", "with_more_lemmas"]

_MOST_BYTES = 40 << 20
_LICENCE = "CC-BY-SA-4.0"  # that of the treebank, as `treecrf models` lists it
_PIECES = "reader.transformer.pieces.weight"


@dataclass(frozen=True, slots=True)
class Data:
    """Data to score a model on, and data to fit its temperature on."""

    dev: list[Sentence]
    held_out: list[Sentence] | None


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a model, for its card."""

    treebank: str
    commands: list[str]


def bundle(
    trained: Path,
    folder: Path,
    data: Data,
    *,
    origin: Origin,
    stored: Stored,
    precision: Precision,
    device: str,
) -> Card:
    """Write the model folder with its card, in the place of the model that may be there."""
    if folder.exists() and not (folder / checkpoint.CONFIG).is_file():
        raise ExperimentError(
            f"{folder}: it is there and no model folder, so it is not replaced; name a folder that "
            "is not there yet, or delete it"
        )
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary) / "model"
        card = _make(trained, made, data, stored=stored, precision=precision, device=device)
        said = {"treebank": origin.treebank, "licence": _LICENCE}
        write_json(made / "card.json", said | card.to_dict())
        write_card(made, card, commands=origin.commands, treebank=origin.treebank)
        _replace(folder, made)
    return card


def _make(
    trained: Path, made: Path, data: Data, *, stored: Stored, precision: Precision, device: str
) -> Card:
    """Write the small model, and measure what each step costs."""
    steps: list[Step] = []

    def score(name: str, made: Path, *, precision: Precision = "float32") -> None:
        on = "cpu" if precision == "int8" else device
        parser = load(made, device=on, precision=precision)
        size = sum(path.stat().st_size for path in made.glob("model*.safetensors"))
        errors = calibration_errors(parser, data.dev)
        steps.append(Step(name, size, gold_word_scores(parser, data.dev), errors))
        print(f"{name}: {steps[-1].text}", flush=True)

    _copy(trained, made)
    score("as trained", made)
    if _cut(made):
        score("vocabulary cut", made)
    fits: dict[str, Fit] = {}
    if data.held_out is not None:
        fits = fit_temperatures(load(made, device=device), data.held_out)
        checkpoint.change_settings(made, {name: one.temperature for name, one in fits.items()})
        score("temperatures fitted", made)
    weights = checkpoint.load_weights(made)
    kinds: tuple[Stored, ...] = ("half",) if stored == "half" else ("half", "bytes")
    for kind in kinds:
        save_compact(made, weights, kind)
        score("half precision" if kind == "half" else "bytes", made)
    if precision == "int8":
        checkpoint.change_settings(made, {"precision": precision})
        score("products of bytes on a CPU", made, precision=precision)
    size = sum(path.stat().st_size for path in made.rglob("*") if path.is_file())
    if size > _MOST_BYTES:
        raise ExperimentError(
            f"the model has {size / 2**20:.1f} MiB and may have {_MOST_BYTES >> 20}; store it "
            "as bytes, or train a smaller one"
        )
    parser = load(made, device=device)
    return Card(
        steps=steps,
        gold_words=gold_word_figures(parser, data.dev),
        raw_text=raw_text_scores(parser, data.dev) if parser.has_segmenter else None,
        words=sum(map(len, data.dev)),
        sentences=len(data.dev),
        fits=fits,
        config=parser.config,
        weights=sum(tensor.numel() for tensor in weights.values()),
        layers=layers_of(made),
    )


def layers_of(made: Path) -> int:
    """The layers of the encoder of a model."""
    _, _, pretrained = checkpoint.load_settings(made)
    assert pretrained is not None
    return int(pretrained.config["num_hidden_layers"])


def _replace(folder: Path, made: Path) -> None:
    """Put a folder in the place of another, which stays until all of the new one is there."""
    folder = folder.resolve()  # where a link leads, not the link
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
        new, old = Path(beside) / "new", Path(beside) / "old"
        shutil.copytree(made, new)
        for licence in folder.glob("LICENSE*"):
            shutil.copyfile(licence, new / licence.name)
        try:
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
        finally:
            if old.exists() and not folder.exists():
                old.rename(folder)


def _copy(trained: Path, made: Path) -> None:
    """The files of a model without those that training goes on from, and without local paths."""
    config, vocabulary, pretrained = checkpoint.load_settings(trained)
    if pretrained is None:
        raise ExperimentError(f"{trained}: this model reads with no transformer")
    named = {"transformer": Path(config.transformer).name, "language": "en"}
    config = config.changed(named)
    vocabulary = vocabulary.changed(lemmas=with_more_lemmas(vocabulary.lemmas))
    checkpoint.save_settings(made, config, vocabulary, vectors=None, pretrained=pretrained)
    checkpoint.save_weights(made, checkpoint.load_weights(trained))
    for name in SEGMENTER_FILES:
        if (trained / name).is_file():
            shutil.copyfile(trained / name, made / name)


def with_more_lemmas(known: Mapping[str, str]) -> dict[str, str]:
    """A lemma dictionary with forms that the treebank does not have; its own lemmas stay."""
    irregular = irregular_lemmas()
    more = abbreviation_lemmas() | regular_lemmas(irregular | dict(known)) | irregular
    return dict(known) | {key: lemma for key, lemma in more.items() if key not in known}


def _cut(made: Path) -> bool:
    """Cut the vocabulary; return whether there was anything to cut."""
    _, _, pretrained = checkpoint.load_settings(made)
    assert pretrained is not None
    kept = write_description(pretrained, made / checkpoint.ENCODER)
    weights = checkpoint.load_weights(made)
    if len(kept) == len(weights[_PIECES]):
        return False
    weights[_PIECES] = weights[_PIECES][torch.tensor(kept)]
    checkpoint.save_weights(made, weights)
    return True


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trained", type=Path, metavar="TRAINED", help="what training wrote")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the small model goes")
    parser.add_argument("--dev", type=Path, required=True, help="a treebank to score it on")
    parser.add_argument("--held-out", type=Path, help="sentences to fit the temperatures on")
    parser.add_argument("--stored", choices=("half", "bytes"), default="bytes")
    parser.add_argument("--precision", choices=("float32", "int8"), default="int8")
    parser.add_argument("--treebank", default="en_ewt-2.16", help="its name, for the card")
    parser.add_argument(
        "--made-by",
        action="append",
        default=[],
        metavar="COMMAND",
        help="a command that came before, for the card; may be given several times",
    )
    parser.add_argument("--device", default="auto")


def _work(given: argparse.Namespace) -> None:
    options = {
        "--dev": given.dev,
        "--held-out": given.held_out,
        "--stored": given.stored,
        "--precision": given.precision,
        "--treebank": given.treebank,
        "--device": given.device,
    }
    named = [str(part) for item in options.items() if item[1] is not None for part in item]
    command = shlex.join(
        [
            "python",
            "-m",
            "experiments.english.bundle",
            str(given.trained),
            str(given.folder),
            *named,
        ]
    )
    data = Data(
        list(read_conllu(given.dev)),
        None if given.held_out is None else list(read_conllu(given.held_out)),
    )
    card = bundle(
        given.trained,
        given.folder,
        data,
        origin=Origin(given.treebank, [*given.made_by, command]),
        stored=given.stored,
        precision=given.precision,
        device=given.device,
    )
    columns = ["step", "MiB", *card.steps[-1].scores, "ECE"]
    print_table(columns, [step.row for step in card.steps])
    if card.raw_text is not None:
        print_table(["raw text", "F1"], [[k, f"{v:.2f}"] for k, v in card.raw_text.items()])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("bundle", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
