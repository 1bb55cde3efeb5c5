"""`treecrf data`: look at treebanks, check them, change them and make them up."""

import os
from collections.abc import Iterable, Iterator
from itertools import chain, dropwhile, islice
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treecrf import treebank
from treecrf.cli.console import counted, print_json, print_table, say, track
from treecrf.cli.options import (
    Columns,
    Command,
    Output,
    PlainJson,
    check_ending,
    number,
    write_trees,
)
from treecrf.cli.parsing.files import check_not_input

if TYPE_CHECKING:
    from treecrf.treebank import Sentence
    from treecrf.treebank.statistics import Statistics

__all__ = ["app"]

app = typer.Typer(help="Look at treebanks, check them and change them.", no_args_is_help=True)

File = Annotated[str, typer.Argument(metavar="FILE", help="A treebank; - is standard input.")]
_NAMED: dict[str, Literal["conllu", "conllx", "conll09", "text"]] = {
    ".conllx": "conllx",
    ".conll09": "conll09",
    ".txt": "text",
}
Encoding = Annotated[
    Literal["head", "path", "head+path"],
    typer.Option(help="What relations say about lifted arcs (Nivre and Nilsson, 2005)."),
]


@app.command(cls=Command)
def stats(file: File, columns: Columns = "gold", json: PlainJson = False) -> None:
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


@app.command(cls=Command)
def validate(
    file: File,
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


@app.command(cls=Command)
def convert(
    file: File,
    to: Annotated[
        Literal["conllu", "conllx", "conll09", "text"] | None,
        typer.Option(
            help="The format to write.",
            show_default="by the name of --output: .conllx, .conll09, .txt; else conllu",
        ),
    ] = None,
    columns: Columns = "gold",
    output: Output = "-",
) -> None:
    """Convert between CoNLL-U, CoNLL-X and CoNLL-09, or to text.

    The format of FILE is found out; it may be gzip. The older two formats have words only:
    comments, multiword tokens and empty nodes stay behind. Text has a blank line between paragraphs
    and documents.

    \b
    Example:
      treecrf data convert examples/gold.conllu -o gold.conllx
    """
    sentences = treebank.read_conllu(file, columns=columns)
    if to is None:
        advice = "name it .conllu, .conllx, .conll09 or .txt, with or without .gz, or give --to"
        check_ending(output, advice)
    wanted = to or _NAMED.get(os.path.splitext(output.removesuffix(".gz"))[1], "conllu")
    check_not_input(file, output, replaceable=wanted == "conllu")
    if wanted != "text":
        write_trees(sentences, output, format=wanted)
        return
    from treecrf.segment.training.raw_text import treebank_text
    from treecrf.treebank.files.streams import open_target

    with open_target(output) as write:
        last = ""
        for piece in treebank_text(track(sentences, "sentences")):
            write(last)
            last = piece
        write(last.rstrip(" ") + "\n" * (not last.endswith("\n")))


@app.command(cls=Command)
def project(file: File, encoding: Encoding = "head+path", output: Output = "-") -> None:
    """Lift arcs until no two cross, and mark them for deproject.

    A partial tree keeps its arcs. Where no projective tree has them, the sentence is named, written
    as it is, and the exit code is 1.

    \b
    Example:
      treecrf data project examples/gold.conllu -o lifted.conllu
    """
    check_not_input(file, output, replaceable=True)
    from treecrf.treebank.pseudoprojective import project

    left_alone: list[treebank.TreebankError] = []

    def projected() -> "Iterator[Sentence]":
        for sentence in _not_lifted(treebank.read_conllu(file), "deproject it first"):
            try:
                yield project(sentence, encoding=encoding)
            except treebank.TreebankError as error:
                left_alone.append(error)
                yield sentence

    write_trees(projected(), output, format="conllu")
    for error in left_alone:
        say(error, err=True)
    if left_alone:
        raise typer.Exit(1)


@app.command(cls=Command)
def deproject(file: File, encoding: Encoding = "head+path", output: Output = "-") -> None:
    """Put lifted arcs back: after project, or after parsing.

    The marks of relations are removed.

    \b
    Example:
      treecrf data deproject lifted.conllu -o restored.conllu
    """
    check_not_input(file, output, replaceable=True)
    from treecrf.treebank.pseudoprojective import deproject

    sentences = (deproject(sentence, encoding=encoding) for sentence in treebank.read_conllu(file))
    write_trees(sentences, output, format="conllu")


@app.command(cls=Command)
def mask(
    file: File,
    keep: Annotated[float, number("The share to keep.", metavar="S", least=0, most=1)],
    unit: Annotated[
        Literal["dependencies", "sentences"],
        typer.Option(help="Keep this share of the dependencies, or of the sentences."),
    ] = "dependencies",
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", help="What a seed keeps at one share, it keeps at every larger one."
        ),
    ] = 1,
    encoding: Annotated[
        Literal["head", "path", "head+path", "none"] | None,
        typer.Option(
            help="How trees are lifted before they are masked; none: they are not.",
            show_default="head+path",
        ),
    ] = None,
    output: Output = "-",
) -> None:
    """Make partial training data: remove heads, or sentences.

    Relations go with their heads. A line says how much was kept, on standard error where the data
    goes to standard output.

    \b
    Example:
      treecrf data mask examples/gold.conllu --keep 0.3 -o partial.conllu
    """
    check_not_input(file, output)
    from treecrf.treebank.mask import keep_sentences, mask_dependencies

    if unit == "sentences" and encoding not in (None, "none"):
        raise typer.BadParameter("--unit sentences keeps sentences as they are: no --encoding")
    sentences = list(treebank.read_conllu(file))
    if unit == "sentences":
        kept = keep_sentences(sentences, keep, seed=seed)
    elif encoding == "none":
        kept = mask_dependencies(sentences, keep, seed=seed, encoding=None)
    else:
        whole = _not_lifted(sentences, "use --encoding none")
        kept = mask_dependencies(whole, keep, seed=seed, encoding=encoding or "head+path")
    write_trees(kept, output, format="conllu")
    heads, of_heads = _count_heads(kept), _count_heads(sentences)
    say(
        f"kept {sum(heads):,} of {sum(of_heads):,} dependencies "
        f"({sum(heads) / max(1, sum(of_heads)):.2%}), in {sum(map(bool, heads)):,} of "
        f"{len(sentences):,} sentences",
        err=output == "-",
    )


@app.command(cls=Command)
def generate(
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="The file to write; - is standard output, .gz compresses."
        ),
    ],
    sentences: Annotated[int, number("How many sentences to make.", least=0)] = 1000,
    seed: Annotated[
        int,
        typer.Option(metavar="N", help="The same seed makes the same sentences, however many."),
    ] = 1,
    crossing: Annotated[
        float,
        number("The share of sentences with crossing arcs.", metavar="S", least=0, most=1),
    ] = 0.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT whatever is in it.")
    ] = False,
) -> None:
    """Make up English-like trees, to try parsers on.

    An OUT that this command made before is replaced; any other needs --overwrite.

    \b
    Example:
      treecrf data generate made-up.conllu --sentences 200 --crossing 0.1
    """
    from treecrf.demo import generate_treebank, is_generated

    made = generate_treebank(sentences, seed=seed, crossing=crossing)
    if not overwrite and os.path.isfile(out) and not is_generated(out):
        problem = "has something that was not generated; name another file, or give --overwrite"
        raise treebank.TreebankError(problem, source=out)
    write_trees(made, out, format="conllu")


@app.command(cls=Command)
def show(
    file: File,
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


def _count_heads(sentences: "Iterable[Sentence]") -> list[int]:
    """The annotated heads of each sentence."""
    return [sum(head >= 0 for head in sentence.heads) for sentence in sentences]


def _not_lifted(sentences: "Iterable[Sentence]", advice: str) -> "Iterator[Sentence]":
    """The sentences, none of which may have marks: a file is lifted once."""
    from treecrf.treebank.pseudoprojective import is_lifted

    for position, sentence in enumerate(sentences, 1):
        if is_lifted(sentence.deprels):
            raise sentence.error(f"sentence {position}: already lifted; {advice}")
        yield sentence
