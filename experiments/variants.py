"""Other settings beside the given ones: LAS of one system, by setting or preset, and treebank."""

import argparse
import sys
from collections.abc import Sequence

from experiments.by_treebank import Row, publish_las
from experiments.errors import ExperimentError
from experiments.options import Options, start
from experiments.systems import CRF2O, SYSTEMS
from treecrf.parser.config import Config
from treecrf.parser.presets import PRESETS

FOOTNOTES = ("sibling_size=300", "sibling_form=biaffine", "sibling_form=shared")
_KEPT = ("epochs", "patience", "predict", "punct")


def run(options: Options) -> None:
    """Train a system under each of the settings and publish its LAS."""
    system = next(one for one in SYSTEMS if one.name == options.own.system)
    rows: dict[str, Row] = {system.name: (system, options.base)}
    for given in options.own.vary or FOOTNOTES:
        name = f"{system.name}, {given.replace('=', ' = ')}"
        rows[name] = system, vary(options.base, given)
    publish_las(options, rows, baseline=system.name, title=f"{system.name} under other settings")


def vary(base: Config, given: str) -> Config:
    """The settings of `base` with `KEY=VALUE` changed; or a preset, trained for as long."""
    if given in PRESETS:
        changes = {name: getattr(base, name) for name in _KEPT}
        return PRESETS[given].changed(changes)
    if "=" not in given:
        names = ", ".join(PRESETS)
        raise ExperimentError(f"--vary {given}: give KEY=VALUE, or a preset ({names})")
    return base.changed(Config.parsed([given]))


def _extend(parser: argparse.ArgumentParser) -> None:
    one = f"a setting, or a preset; may be given several times (default: {', '.join(FOOTNOTES)})"
    parser.add_argument("--vary", action="append", metavar="KEY=VALUE|NAME", help=one)
    names = [system.name for system in SYSTEMS]
    system = "the system that is trained (default: Crf2o)"
    parser.add_argument("--system", choices=names, default=CRF2O.name, help=system)


def main(arguments: Sequence[str] | None = None) -> int:
    return start("variants", __doc__, run, arguments=arguments, several=True, extend=_extend)


if __name__ == "__main__":
    sys.exit(main())
