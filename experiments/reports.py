"""Output of an experiment: JSON, a page with its table, and a plot, with their origin."""

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.timing import machine
from experiments import plots
from experiments.files import write_json, write_text
from experiments.options import Options
from treecrf.parser.config import Config
from treecrf.parser.device import choose_device

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SIGNIFICANCE", "changed_settings", "publish", "significance"]


def significance(baseline: str) -> str:
    """Sentence about the marks in a table."""
    return (
        f"† p < 0.05 and ‡ p < 0.005 against {baseline}, by Dan Bikel's randomised comparator, "
        f"two-sided: a marked system is better or worse than {baseline} as its figure says."
    )


SIGNIFICANCE = significance("Loc")


def publish(
    options: Options,
    *,
    title: str,
    content: Mapping[str, Any],
    tables: Sequence[str],
    notes: Sequence[str],
    draw: "Callable[[], Figure]",
) -> None:
    """Print the tables, and write `NAME.json`, `NAME.md`, `NAME.png` and `NAME.svg`."""
    folder = options.out if len(options.treebanks) > 1 else options.out / options.treebank.name
    path = folder / (options.own.name or options.experiment)
    facts = machine(choose_device(options.device))
    trained = _trained(options)
    write_json(
        path.with_suffix(".json"),
        {
            "experiment": options.experiment,
            "command": options.command,
            "machine": facts,
            "treebanks": [treebank.to_dict() for treebank in options.treebanks],
            "seeds": list(options.seeds),
            "settings": options.base.to_dict(),
            **content,
            "trained": trained,
        },
    )
    plotted = importlib.util.find_spec("matplotlib") is not None
    if plotted:
        plots.save(draw(), path)
    else:
        print("no plot without matplotlib: pip install 'treecrf[experiments]'", file=sys.stderr)
    page = [f"# {title}\n", *tables, *(f"{note}\n" for note in notes)]
    page += [f"![{title}]({path.name}.svg)\n"] if plotted else []
    page += [f"{line}\n" for line in _origin(options, facts, trained)]
    write_text(path.with_suffix(".md"), "\n".join(page))
    for table in tables:
        print(f"\n{table}", end="")
    print("", *notes, sep="\n")
    written = [".json", ".md", *([".png", ".svg"] if plotted else [])]
    print("written: " + ", ".join(str(path.with_suffix(suffix)) for suffix in written))


def _trained(options: Options) -> list[dict[str, Any]]:
    """The runs that the figures come from, and where those were trained."""
    records = {run: options.store.record(run) for run in dict.fromkeys(options.runs)}
    return [
        {
            "run": run.label,
            "record": f"runs/{run.key}.json",
            "machine": record["machine"],
            "best_epoch": _best_epoch(record["epochs"]["las"]),
            "epochs": len(record["epochs"]["las"]),
        }
        for run, record in records.items()
        if record is not None
    ]


def _best_epoch(las: Sequence[float]) -> int:
    return las.index(max(las)) + 1


def _best_epochs(trained: Sequence[Mapping[str, Any]]) -> str:
    """Sentence on the best epoch of each training and its number of epochs."""
    by_name: dict[str, list[str]] = {}
    for run in trained:
        name = re.sub(r", seed \d+", "", run["run"])
        by_name.setdefault(name, []).append(f"{run['best_epoch']} of {run['epochs']}")
    parts = [f"{name} {', '.join(epochs)}" for name, epochs in by_name.items()]
    return f"Best epochs: {'; '.join(parts)}."


def _origin(
    options: Options, facts: Mapping[str, str], trained: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Sentences that say where the figures come from."""
    seeds = ", ".join(map(str, options.seeds))
    settings = ", ".join(f"{k} = {v}" for k, v in changed_settings(options.base).items())
    machines = dict.fromkeys(_named(run["machine"]) for run in trained)
    return [
        f"Seeds: {seeds}. Settings other than the default ones: {settings or 'none'}.",
        f"Trained on {'; '.join(machines)}.",
        _best_epochs(trained),
        f"Made with `{options.command}` on {_named(facts)}.",
    ]


def _named(facts: Mapping[str, str]) -> str:
    """A machine and what was run on it, in a few words."""
    device = facts.get("gpu") or f"{facts['processor']}, {facts['cores']} cores"
    return f"{device} (commit {facts['commit']}, torch {facts['torch']})"


def changed_settings(config: Config) -> dict[str, Any]:
    """The settings that are not the default ones."""
    defaults = Config().to_dict()
    return {name: value for name, value in config.to_dict().items() if value != defaults[name]}
