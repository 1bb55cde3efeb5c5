"""`treecrf score`: the metrics of a system's trees against the gold trees."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from treecrf import treebank
from treecrf.cli.console import counted, print_json, print_table, say
from treecrf.cli.options import By, Columns, Gold, Json, Punct, Subtypes
from treecrf.treebank.metrics.scores import By as ByName
from treecrf.treebank.metrics.scores import Punctuation

if TYPE_CHECKING:
    from treecrf.treebank.metrics.attachment import Evaluation
    from treecrf.treebank.metrics.scores import Score

__all__ = ["check_one_stdin", "percent", "print_conll18", "print_evaluation", "score"]

NAMES = ("metric", "precision", "recall", "F1")
# What a breakdown shows of each group: columns, the metric that is in each, and which figure of it.
COLUMNS: dict[ByName, dict[str, tuple[str, str]]] = {
    "relation": {
        "gold": ("LAS", "gold"),
        "system": ("LAS", "system"),
        "UAS": ("UAS", "recall"),
        "LAS P": ("LAS", "precision"),
        "LAS R": ("LAS", "recall"),
        "LAS F1": ("LAS", "f1"),
        "LA F1": ("LA", "f1"),
    },
    "length": {
        "sentences": ("UCM", "gold"),
        "words": ("UAS", "gold"),
        "UAS": ("UAS", "f1"),
        "LAS": ("LAS", "f1"),
        "LA": ("LA", "f1"),
        "UCM": ("UCM", "f1"),
        "LCM": ("LCM", "f1"),
        "SIB F1": ("SIB", "f1"),
    },
    "distance": {
        "gold": ("UAS", "gold"),
        "system": ("UAS", "system"),
        "UAS P": ("UAS", "precision"),
        "UAS R": ("UAS", "recall"),
        "LAS P": ("LAS", "precision"),
        "LAS R": ("LAS", "recall"),
        "LAS F1": ("LAS", "f1"),
    },
}


def score(
    gold: Gold,
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="The trees of the parser.")],
    punct: Punct = "keep",
    subtypes: Subtypes = "keep",
    by: By = None,
    columns: Columns = "gold",
    conll18: Annotated[
        bool,
        typer.Option(
            "--conll18",
            help="Align the words first, as the CoNLL 2018 evaluation of raw text does.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Score a system's trees against the gold trees.

    Words that GOLD has no head for are left out. Both files need the same sentences and words;
    with --conll18 the same text is enough.

    \b
    Example:
      treecrf score examples/gold.conllu examples/system-a.conllu
    """
    check_one_stdin(gold, system)
    if conll18:
        if (punct, subtypes, by, columns) != ("keep", "keep", None, "gold"):
            raise typer.BadParameter("--conll18 has its own rules; give it no option but --json")
        _score_conll18(gold, system, json=json)
        return

    answers = treebank.read_conllu(system, columns=columns)
    evaluation = treebank.evaluate(gold, answers, punct=punct, subtypes=subtypes)
    if not evaluation.sentences:
        raise treebank.TreebankError("there are no sentences to score")
    if json:
        print_json(evaluation.to_dict(by=by))
        return
    print_evaluation(evaluation, punct=punct, by=by)


def print_evaluation(evaluation: "Evaluation", *, punct: Punctuation, by: By) -> None:
    """Print tables of every metric and of the breakdown, if one is named."""
    rows = [_row(name, item) for name, item in evaluation.scores.items()]
    rows += [[name, "-", "-", "-"] for name in evaluation.missing]
    print_table(NAMES, rows)
    say("UCM, LCM: sentences with all heads right, with relations too; SIB: adjacent siblings")
    ignored = "" if punct == "keep" else f", {evaluation.ignored:,} ignored as punctuation"
    sentences, words = counted(evaluation.sentences, "sentence"), counted(evaluation.words, "word")
    say(f"{sentences}, {words} scored{ignored}")
    for name, reason in evaluation.missing.items():
        say(f"{name} is empty: {reason}")
    if by is not None:
        groups = evaluation.by(by).items()
        rows = [[group, *_figures(scores, by)] for group, scores in groups]
        print_table([by, *COLUMNS[by]], rows)


def check_one_stdin(*files: str) -> None:
    """Refuse standard input for two files: it can be read once."""
    if files.count("-") > 1:
        raise typer.BadParameter("only one of the files can be - (standard input)")


def percent(figure: float) -> str:
    return f"{100 * figure:.2f}"


def _row(name: str, item: "Score") -> list[str]:
    if name in ("UCM", "LCM"):
        return [name, "", "", percent(item.f1)]
    return [name, percent(item.precision), percent(item.recall), percent(item.f1)]


def _figures(scores: "dict[str, Score]", by: ByName) -> Iterator[str]:
    """Cells of a group in the table of a breakdown."""
    for metric, figure in COLUMNS[by].values():
        value = getattr(scores[metric], figure) if metric in scores else None
        if value is None:
            yield "-"
        else:
            yield f"{value:,}" if isinstance(value, int) else percent(value)


def _score_conll18(gold: str, system: str, *, json: bool) -> None:
    from treecrf.treebank.metrics.attachment import scores_to_dict

    scores = treebank.evaluate_conll18(gold, system)
    if not scores["Sentences"].gold:
        raise treebank.TreebankError("there are no sentences to score")
    if json:
        print_json(scores_to_dict(scores))
    else:
        print_conll18(scores)


def print_conll18(scores: "dict[str, Score]") -> None:
    """A table of the metrics of CoNLL 2018."""
    accuracies = [item.aligned_accuracy for item in scores.values()]
    aligned = ["" if accuracy is None else percent(accuracy) for accuracy in accuracies]
    rows = [[*_row(*item), cell] for item, cell in zip(scores.items(), aligned, strict=True)]
    print_table([*NAMES, "aligned"], rows)
