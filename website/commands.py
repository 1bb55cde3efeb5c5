"""`python -m website.commands` writes docs/commands.md, the reference of the command line."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import typer.main

from treecrf.cli.app import EXIT_CODES, app
from treecrf.storage import replace_file

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
WIDTH = 120
# Commands that run until they are interrupted: their examples are marked as not to be run.
SERVERS = ("serve", "annotate")

_INTRODUCTION = """\
# Commands

<!-- Written by `make commands` from the commands themselves: change their help instead. -->

This is what `treecrf COMMAND --help` prints, on one page. `python -m treecrf` is the same command,
and `treecrf --install-completion` makes a shell complete commands and options.
"""
_FILES = """\
The examples run in this order, with the files of `examples/` and these:

```console
$ treecrf data generate train.conllu --sentences 200
$ treecrf data generate dev.conllu --sentences 50 --seed 2
```
"""


def page() -> str:
    """The text of the page."""
    root: Any = typer.main.get_command(app)
    commands = dict(commands_of(root))
    links = {path: f"[`treecrf {path}`](#treecrf-{path.replace(' ', '-')})" for path in commands}
    listed = _table(
        {links[path]: _marked(parts_of(command)[0][0]) for path, command in commands.items()}
    )
    codes = "## Exit codes\n\n" + _table(EXIT_CODES)
    sections = [_section(path, command) for path, command in commands.items()]
    return "\n".join([_INTRODUCTION, listed, codes, _FILES, *sections])


def _table(rows: Mapping[str, str]) -> str:
    lines = [f"| {name} | {meaning} |\n" for name, meaning in rows.items()]
    return "".join(["| | |\n", "|---|---|\n", *lines])


def commands_of(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The commands of a group and of the groups in it, each after its name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


def parts_of(command: Any) -> tuple[list[str], list[str]]:
    """The paragraphs of a command's help, and its examples, each with its continued lines."""
    text, _, examples = command.help.partition("\b\nExample")
    body = examples.partition(":\n")[2].rstrip()
    return (
        [paragraph.replace("\n", " ") for paragraph in text.rstrip().split("\n\n")],
        re.split(r"\n(?=  \w)", body.removeprefix("\n")),
    )


def _section(path: str, command: Any) -> str:
    context = command.make_context(path, [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    paragraphs, examples = parts_of(command)
    texts = [fill(_marked(text), WIDTH, break_on_hyphens=False) for text in paragraphs]
    blocks = [f"## treecrf {path}", *texts]
    blocks += [f"Usage: `treecrf {path} {usage}`"]
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    blocks += ["\n".join(_item(*record) for record in records if record and record[0] != "--help")]
    console = "\n".join("$ " + example.strip().replace("\n  ", "\n") for example in examples)
    mark = "<!-- needs: somebody to end it -->\n" if path in SERVERS else ""
    blocks += [f"{mark}```console\n{console}\n```"]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _item(names: str, text: str) -> str:
    # Typer puts defaults in words into brackets of their own.
    text = re.sub(r"\[default: \((.*?)\)(?=[;\]])", r"[default: \1", text).replace("  [", " [")
    item = f"- `{names}`: {_marked(text)}"
    return fill(item, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _marked(text: str) -> str:
    """The text with its options as code."""
    parts = text.split("`")  # what is at odd places is code already
    parts[::2] = [re.sub(r"(?<![\w-])(--[a-z][a-z0-9-]*)", r"`\1`", part) for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    replace_file(PAGE, page().encode())
