"""`treecrf evaluate`: parse a treebank and score the trees against its own."""

import time
from typing import Annotated

import typer

from treecrf import treebank
from treecrf.cli.console import print_json, say, track
from treecrf.cli.options import By, Decoder, Device, Json, Model, Punct, Subtypes
from treecrf.cli.score import print_evaluation

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
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Parse a treebank and score the trees against the gold trees in it."""
    from treecrf.parser import load

    sentences = list(treebank.read_conllu(file))
    if not sentences:
        raise treebank.TreebankError("there are no sentences to score", source=file)
    if not any(head >= 0 for sentence in sentences for head in sentence.heads):
        problem = "no word has a head, so there is nothing to score"
        raise treebank.TreebankError(problem, source=file)
    parser = load(model, device=device)
    # What is compiled or loaded at first is no part of the speed.
    list(parser.parse_stream(sentences[:_WARM_UP], decoder=decoder, probs=False))
    started = time.perf_counter()
    stream = parser.parse_stream(sentences, decoder=decoder, probs=False)
    parsed = list(track(stream, "sentences", total=len(sentences)))
    seconds = time.perf_counter() - started
    evaluation = treebank.evaluate(sentences, parsed, punct=punct, subtypes=subtypes)
    words = sum(map(len, sentences))
    speed = {"sentences_per_second": len(sentences) / seconds, "words_per_second": words / seconds}
    if json:
        print_json(evaluation.to_dict(by=by) | speed)
        return
    print_evaluation(evaluation, punct=punct, by=by)
    sentences_each, words_each = (f"{figure:,.0f}" for figure in speed.values())
    say(f"{sentences_each} sentences ({words_each} words) a second on {parser.device}")
