"""Hard sentences, written by hand: which a model gets wrong, and how.

    python -m experiments.english.hard MODEL

Each sentence has the words, tags, heads and relations that an annotator of UD_English-EWT would
give it. The model gets the words alone.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.english.command import run_command
from treecrf.parser import Parser, load
from treecrf.treebank import Sentence, read_conllu

__all__ = ["HARD", "Answer", "answers", "main"]

HARD = Path(__file__).parents[2] / "tests" / "english" / "hard.conllu"


@dataclass(frozen=True, slots=True)
class Answer:
    """A sentence as it should be, and as a model parses its words."""

    gold: Sentence
    parsed: Sentence

    @property
    def right_heads(self) -> bool:
        """Whether all heads are right."""
        return self.gold.heads == self.parsed.heads

    @property
    def right_tree(self) -> bool:
        """Whether all heads and relations are right."""
        return self.right_heads and self.gold.deprels == self.parsed.deprels

    @property
    def wrong_words(self) -> Iterator[str]:
        """A line for each word with another head, relation or tag."""
        for number, (want, got) in enumerate(
            zip(_arcs(self.gold), _arcs(self.parsed), strict=True), 1
        ):
            if want != got:
                yield f"{number} {self.gold.forms[number - 1]}: {want}, not {got}"


def answers(parser: Parser, gold: Sequence[Sentence]) -> list[Answer]:
    """Parse the words of the sentences."""
    parsed = parser.parse_tokens([sentence.forms for sentence in gold], probs=False)
    return [Answer(*pair) for pair in zip(gold, parsed, strict=True)]


def _arcs(sentence: Sentence) -> list[str]:
    """Head, relation and tag of each word, for people to read."""
    words = ["root", *sentence.forms]
    return [
        f"{token.upos} {token.deprel} of {head} {words[head]}"
        for token, head in zip(sentence.tokens, sentence.heads, strict=True)
    ]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model folder, or en")
    parser.add_argument("--device", default="auto")


def _work(given: argparse.Namespace) -> None:
    found = answers(load(given.model, device=given.device), list(read_conllu(HARD)))
    for answer in found:
        if wrong := list(answer.wrong_words):
            print(f"{answer.gold.sent_id}: {answer.gold.text}", *wrong, sep="\n  ")
    words = sum(len(answer.gold) for answer in found)
    tags = sum(
        want.upos == got.upos
        for answer in found
        for want, got in zip(answer.gold.tokens, answer.parsed.tokens, strict=True)
    )
    print(
        f"of {len(found)} sentences, {sum(answer.right_heads for answer in found)} have all heads "
        f"right, {sum(answer.right_tree for answer in found)} all heads and relations; of "
        f"{words} tags, {tags} are right"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("hard", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
