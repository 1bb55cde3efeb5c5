"""The formats that commands write trees in, and which one a reader gets that asks for none."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from treecrf.treebank import Sentence

__all__ = ["OutputFormat", "default_format", "write_trees"]

OutputFormat: TypeAlias = Literal["conllu", "json", "tree", "svg"]


def default_format(output: str) -> OutputFormat:
    """Drawings for a person at a terminal, CoNLL-U for files and other programs."""
    return "tree" if _is_terminal(output) else "conllu"


def write_trees(sentences: "Iterable[Sentence]", output: str, *, format: OutputFormat) -> None:
    """Write sentences one by one; but a picture, whose size comes first, is made as a whole."""
    from treecrf.cli.console import track

    if not _is_terminal(output):
        sentences = track(sentences, "sentences")
    match format:
        case "conllu":
            from treecrf.treebank import write_conllu

            write_conllu(sentences, output)
        case "json":
            from treecrf.treebank.files.documents import write_json

            write_json(sentences, output)
        case "tree":
            _write_drawings(sentences, output)
        case "svg":
            from treecrf.treebank.drawing.svg import sentences_to_svg
            from treecrf.treebank.files.streams import open_target

            with open_target(output) as write:
                write(sentences_to_svg(sentences))


def _write_drawings(sentences: "Iterable[Sentence]", output: str) -> None:
    from treecrf.cli.console import print_tree, tree_text
    from treecrf.treebank.files.streams import open_target

    if output == "-":  # with colours where there are any, and in the encoding that it has
        for number, sentence in enumerate(sentences):
            if number:
                print()
            print_tree(sentence)
            sys.stdout.flush()
        return
    with open_target(output) as write:
        for number, sentence in enumerate(sentences):
            write(("\n" if number else "") + tree_text(sentence))


def _is_terminal(output: str) -> bool:
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()
