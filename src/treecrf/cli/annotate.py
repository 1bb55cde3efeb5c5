"""`treecrf annotate`: ask a person about the words that a parser is unsure of."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treecrf import treebank
from treecrf.cli.console import counted, say, track
from treecrf.cli.options import Device, Host, Model, Port, number, refuse
from treecrf.extras import needs_extra

if TYPE_CHECKING:
    from treecrf.serve.annotate.decisions import Annotations
    from treecrf.serve.annotate.questions import Queue

__all__ = ["annotate"]


def annotate(
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS",
            help="CoNLL-U (its heads are not looked at), raw text, or words with spaces between, a "
            "sentence a line.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="The file for what is confirmed, as partial trees; annotation goes on with one "
            "that exists.",
        ),
    ],
    model: Model = None,
    annotators: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Names of several annotators, such as anna,ben: each has a file of their own "
            "beside FILE, and a page shows where they differ.",
        ),
    ] = None,
    ask: Annotated[
        Literal["heads", "relations", "both"],
        typer.Option(help="Ask about uncertain heads, uncertain relations, or both."),
    ] = "both",
    order: Annotated[
        Literal["entropy", "least-certain", "corpus"],
        typer.Option(
            help="entropy: sentences with the most uncertain trees first; least-certain: with the "
            "most uncertain word; corpus: as they come."
        ),
    ] = "entropy",
    threshold: Annotated[
        float | None,
        number(
            "Ask about words whose head or relation is less probable than this.",
            metavar="P",
            least=0,
            most=1,
            unset="0.8",
        ),
    ] = None,
    share: Annotated[
        float | None,
        number(
            "Ask about this share of the words of a sentence instead, the least sure ones.",
            metavar="S",
            least=0,
            most=1,
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another host name that the page may be opened by; requests to any other name "
            "are refused, on any --host.",
        ),
    ] = None,
    device: Device = "auto",
) -> None:
    """Annotate in the browser what the parser is unsure of.

    Only what is confirmed is written; `treecrf train --train FILE` takes it as it is. It runs until
    Ctrl-C, and the same command goes on with the file later.

    \b
    Example:
      treecrf annotate examples/sentences.txt --out annotated.conllu
    """
    both = threshold is not None and share is not None
    refuse(
        (both, "--threshold and --share both say which words; give one of them"),
        (0 in (share, threshold), "that asks about no word at all"),
    )
    with needs_extra("serve", "annotation"):
        from treecrf.serve.annotate.routes import annotate_routes
        from treecrf.serve.annotate.session import Annotating, Team
        from treecrf.serve.app import create_app
        from treecrf.serve.server import run_server
    from treecrf.parser import load
    from treecrf.parser.bundled import DEFAULT
    from treecrf.parser.decoding.decoder import LONGEST_ENTROPY
    from treecrf.serve.annotate.cut import Cut
    from treecrf.serve.annotate.questions import Asking, collect, make_queues
    from treecrf.serve.annotate.store import SentenceStore
    from treecrf.serve.annotate.team import checked_names, open_annotations
    from treecrf.serve.limits import Limits

    asking = Asking(0.8 if threshold is None and share is None else threshold, share, ask)
    # It is the user's own corpus: models look at no more of a long word than they can bear.
    limits = Limits(word_characters=sys.maxsize)
    names, target = checked_names(annotators), Path(out)
    with open_annotations(target, names) as files, SentenceStore() as sentences:
        parser = load(model, device=device)
        is_begun = any(path.exists() for path in (target, *(each.path for each in files.values())))
        cut = Cut(corpus, Path(os.path.realpath(target)), is_begun=is_begun)
        opened = list(files.values())
        queues = make_queues(
            track(collect(cut.sentences(parser), sentences, opened), "sentences looked at"),
            parser,
            annotations=opened,
            order=order,
            asking=asking,
            longest=LONGEST_ENTROPY,
        )
        if not len(sentences):
            raise treebank.TreebankError("there are no sentences to annotate", source=corpus)
        members = {}
        for (name, annotations), queue in zip(files.items(), queues, strict=True):
            summary = _summary(queue, annotations, longest=LONGEST_ENTROPY)
            say(f"{name}: {summary}" if name else summary)
            members[name] = Annotating(corpus, sentences, queue, annotations, asking, cut)
        routes = annotate_routes(Team(members, model_name=model or DEFAULT), limits)
        app = create_app({"model": parser}, limits=limits, routers=[routes])
        run_server(app, host=host, port=port, allowed_hosts=allow_host or [], private=True)


def _summary(queue: "Queue", annotations: "Annotations", *, longest: int) -> str:
    counts = annotations.counts()
    notes = [
        (len(queue.numbers), f"{counted(len(queue.numbers), 'sentence')} to ask about"),
        (counts["done"], f"{counts['done']:,} done"),
        (counts["skipped"], f"{counts['skipped']:,} skipped"),
        (queue.sure, f"{queue.sure:,} without an uncertain word"),
        (queue.too_long, f"{queue.too_long:,} of more than {longest} words left out"),
    ]
    said = [note for number, note in notes if number] or ["there is nothing to ask about"]
    if queue.sure and not queue.numbers:
        said.append("a higher --threshold asks about more")
    return "; ".join(said)
