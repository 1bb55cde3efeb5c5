"""Sentences of a treebank in capitals, in small letters, and without final punctuation.

    python -m experiments.english.vary TRAIN.conllu VARIED.conllu

Each kind is made of a share of the sentences, drawn by a fixed seed; trees, tags and lemmas stay,
but for lemmas of names, whose letters are not to be learnt from these. The file is for training
beside the treebank itself.
"""

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from experiments.english.command import run_command
from treecrf.treebank import Sentence, read_conllu, write_conllu

__all__ = ["VARIATIONS", "main", "vary"]


def vary(sentences: Sequence[Sentence], *, share: float, seed: int = 1) -> Iterator[Sentence]:
    """Varied copies of a share of the sentences of each kind: see above."""
    draw = random.Random(seed)
    kinds = [*VARIATIONS.values()]
    for sentence in sentences:
        number = int(draw.random() / share) if share else len(kinds)
        varied = kinds[number](sentence) if number < len(kinds) else None
        if varied is not None and varied.forms != sentence.forms:
            yield varied


def _upper(sentence: Sentence) -> Sentence:
    return _bare(sentence, [form.upper() for form in sentence.forms])


def _lower(sentence: Sentence) -> Sentence:
    return _bare(sentence, [form.lower() for form in sentence.forms])


def _unended(sentence: Sentence) -> Sentence | None:
    """Without the mark at its end, if it has one on which nothing hangs."""
    last = len(sentence)
    if last < 3 or sentence.tokens[-1].upos != "PUNCT" or last in sentence.heads:
        return None
    return _bare(sentence, sentence.forms[:-1])


def _bare(sentence: Sentence, forms: list[str]) -> Sentence:
    """The first words of a sentence written like this, with their annotation and no comments."""
    words = len(forms)
    varied = Sentence(forms, sentence.heads[:words], deprels=sentence.deprels[:words])
    names = ("lemma", "upos", "xpos", "feats")
    columns = {name: sentence.column(name)[:words] for name in names}
    if forms != sentence.forms[:words]:
        tagged = zip(columns["lemma"], columns["upos"], strict=True)
        columns["lemma"] = ["_" if tag == "PROPN" else lemma for lemma, tag in tagged]
    return varied.with_columns(columns)


VARIATIONS: dict[str, Callable[[Sentence], Sentence | None]] = {
    "in capitals": _upper,
    "in small letters": _lower,
    "without the last mark": _unended,
}
"""What makes a varied copy of a sentence, or none, by what it does."""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", type=Path, metavar="TRAIN.conllu")
    parser.add_argument("varied", type=Path, metavar="VARIED.conllu")
    parser.add_argument(
        "--share", type=float, default=0.08, metavar="X", help="share of sentences of each kind"
    )


def _work(given: argparse.Namespace) -> None:
    varied = list(vary(list(read_conllu(given.train)), share=given.share))
    write_conllu(varied, given.varied)
    print(f"{given.varied}: {len(varied):,} sentences, {sum(map(len, varied)):,} words")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("vary", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
