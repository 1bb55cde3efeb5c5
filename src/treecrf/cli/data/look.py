"""Commands that look at treebanks: stats, validate and show."""

from itertools import chain, dropwhile, islice
from typing import TYPE_CHECKING, Annotated

import typer

from treecrf import treebank
from treecrf.cli.console import counted, print_json, print_table, say, track
from treecrf.cli.options import Columns, PlainJson, TreebankFile, check_ending, write_trees
from treecrf.cli.parsing.files import check_not_input

if TYPE_CHECKING:
    from treecrf.treebank.statistics import Statistics

__all__ = ["show", "stats", "validate"]


def stats(file: TreebankFile, columns: Columns = "gold", json: PlainJson = False) -> None:
    """Count sentences, words, relations and tags.

    Also counted is what is special about the trees: partial ones, several roots, crossing arcs.

    \b
    Example:
      treecrf data stats examples/gold.conllu
    """
    from treecrf.treebank.statistics import count

    counts = count(track(treebank.read_conllu(file, columns=columns), "sentences"))
    if json:
        print_json(counts.to_dict())
    else:
        _print_statistics(counts, file)


def _print_statistics(counts: "Statistics", file: str) -> None:
    def share(part: int, whole: int) -> str:
        return f"{100 * part / whole:.1f}%" if whole else ""

    sentences, words = counts.sentences, counts.words
    average = f"{words / sentences:.1f} a sentence" if sentences else ""
    shares = [
        ("words with a head", counts.annotated_words, words),
        ("partial sentences", counts.partial_sentences, sentences),
        ("sentences with several roots", counts.multiroot_sentences, sentences),
        ("non-projective sentences", counts.nonprojective_sentences, sentences),
        ("non-projective arcs", counts.nonprojective_arcs, words),
    ]
    rows = [
        ("sentences", sentences, ""),
        ("words", words, average),
        ("longest sentence", counts.longest_sentence, ""),
        ("multiword tokens", counts.multiword_tokens, ""),
        ("empty nodes", counts.empty_nodes, ""),
        *((name, part, share(part, whole)) for name, part, whole in shares),
    ]
    print_table([file, "", ""], [(name, f"{number:,}", note) for name, number, note in rows])
    for name, counter in (("relation", counts.relations), ("tag", counts.tags)):
        most = counter.most_common(20)
        total = counter.total()
        more = len(counter) - len(most)
        print_table(
            [name, "words", ""],
            [(label, f"{number:,}", share(number, total)) for label, number in most],
            caption=f"and {more} more, which --json lists" if more > 0 else None,
        )


def validate(
    file: TreebankFile,
    multiroot: Annotated[
        bool, typer.Option("--multiroot", help="Allow several roots in a sentence.")
    ] = False,
    json: PlainJson = False,
) -> None:
    """List everything that is wrong with a file, with its lines.

    A line is FILE:LINE and the problem. The exit code is 2 if there is any.

    \b
    Example:
      treecrf data validate examples/gold.conllu
    """
    from treecrf.treebank.files.conllu import check_conllu

    sentences = words = 0
    problems: list[treebank.TreebankError] = []
    for item in track(check_conllu(file, multiroot=multiroot), "sentences"):
        if isinstance(item, treebank.TreebankError):
            problems.append(item)
            if not json:
                say(item, err=True)
        else:
            sentences += 1
            words += len(item)
    if json:
        named = [{"line": problem.line, "problem": problem.problem} for problem in problems]
        print_json({"sentences": sentences, "words": words, "problems": named})
    else:
        found = f"{counted(sentences, 'well-formed sentence')} with {counted(words, 'word')}"
        say(f"{file}: {found}")
        if problems:
            say(f"{file}: {len(problems):,} malformed", err=True)
    if problems:
        raise typer.Exit(2)


def show(
    file: TreebankFile,
    sent_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The sentence to show; else the first one.")
    ] = None,
    number: Annotated[
        int,
        typer.Option(
            "--number", "-n", min=1, metavar="N", help="How many sentences to show from there."
        ),
    ] = 1,
    svg: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a picture instead; - is standard output."),
    ] = None,
) -> None:
    """Draw trees, in the terminal or as a picture.

    In the terminal each word has the arc from its head on its left. Where MISC has HeadProb, as
    `treecrf parse --probs` writes it, it is shown too.

    \b
    Examples:
      treecrf data show examples/telescope.conllu
      treecrf data show examples/gold.conllu -n 2 --svg trees.svg
    """
    check_ending(svg or "-", "the picture is an .svg")
    check_not_input(file, svg or "-")
    sentences = treebank.read_conllu(file)
    if sent_id is not None:
        sentences = dropwhile(lambda sentence: sentence.sent_id != sent_id, sentences)
    chosen = islice(sentences, number)
    if (first := next(chosen, None)) is None:
        problem = "no sentences" if sent_id is None else f"no sentence with sent_id = {sent_id}"
        raise treebank.TreebankError(problem, source=file)
    write_trees(chain([first], chosen), svg or "-", format="tree" if svg is None else "svg")
