"""`treecrf evaluate`: parse a treebank and score the trees against its own."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from treecrf import treebank
from treecrf.cli.console import language_line, print_json, say, track
from treecrf.cli.options import (
    By,
    Decoder,
    Device,
    Json,
    Model,
    Punct,
    Subtypes,
    load_parser,
    unpredicted,
)
from treecrf.cli.score import print_conll18, print_evaluation

if TYPE_CHECKING:
    from treecrf.treebank import Sentence

__all__ = ["evaluate"]

_WARM_UP = 32


def evaluate(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A treebank with gold trees; - is standard input.")
    ],
    model: Model = None,
    decoder: Decoder = None,
    punct: Punct = "keep",
    subtypes: Subtypes = "keep",
    by: By = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Parse the text of the treebank instead of its words, and score everything from "
            "sentences to lemmas as the CoNLL 2018 shared task does.",
        ),
    ] = False,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Parse a treebank and score the result against it.

    The trees are scored, and the columns that the model predicts.

    \b
    Example:
      treecrf evaluate dev.conllu --model model --by relation
    """
    if raw and (punct, subtypes, by) != ("keep", "keep", None):
        raise typer.BadParameter(
            "--raw has the rules of CoNLL 2018: no --punct, --subtypes or --by"
        )
    from treecrf.segment.training.raw_text import treebank_text
    from treecrf.treebank.metrics.attachment import scores_to_dict

    sentences = list(treebank.read_conllu(file))
    if not sentences:
        raise treebank.TreebankError("there are no sentences to score", source=file)
    if not any(head >= 0 for sentence in sentences for head in sentence.heads):
        problem = "no word has a head, so there is nothing to score"
        raise treebank.TreebankError(problem, source=file)
    parser = load_parser(model, device=device)
    text = list(treebank_text(sentences)) if raw else []

    def parse(share: slice) -> "Iterator[Sentence]":
        if raw:
            return parser.parse_text(text[share], decoder=decoder, probs=False)
        return parser.parse_stream(sentences[share], decoder=decoder, probs=False)

    with language_line(hint=""):
        list(parse(slice(_WARM_UP)))  # what is compiled or loaded at first is no part of the speed
        started = time.perf_counter()
        total = None if raw else len(sentences)
        parsed = list(track(parse(slice(None)), "sentences", total=total))
    seconds = time.perf_counter() - started
    words = sum(map(len, parsed))
    speed = {"sentences_per_second": len(parsed) / seconds, "words_per_second": words / seconds}
    predicted = parser.config.predict
    if raw:
        scores = treebank.evaluate_conll18(sentences, parsed)
        if json:
            print_json(scores_to_dict(scores) | speed)
            return
        print_conll18(scores)
    else:
        evaluation = treebank.evaluate(
            sentences, parsed, punct=punct, subtypes=subtypes, columns=predicted
        )
        if json:
            print_json(evaluation.to_dict(by=by) | speed)
            return
        print_evaluation(evaluation, punct=punct, by=by)
    if missing := unpredicted(parser):
        say(f"this model predicts no {missing}")
    sentences_each, words_each = (f"{figure:,.0f}" for figure in speed.values())
    say(f"{sentences_each} sentences ({words_each} words) a second on {parser.device}")
