"""Checks of a request to `/api/parse`, and the tasks that it is made into."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from treecrf.parser.constraints import Constraints
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.queue.jobs import Pieces, Task, counted_words
from treecrf.serve.schemas import LONGEST_RANKED, encodable
from treecrf.treebank import Sentence

__all__ = ["check_lengths", "check_size", "plan_tasks", "sentences_of"]

Value = TypeVar("Value")

# What cannot stand in a cell of CoNLL-U, and what would be taken for the end of a line elsewhere.
_UNFIT = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def sentences_of(tokens: Sequence[Sequence[str]], limits: Limits) -> list[Sentence]:
    """The sentences of a request that has words; an error names the word that cannot be one."""
    sentences = []
    for number, words in enumerate(tokens, 1):
        if not words:
            raise ServeError(422, f"sentence {number} has no words; leave it out")
        _check_words(words, number, limits)  # their lengths first: all else looks at characters
        _check_encodable(words, number)
        for place, word in enumerate(words, 1):
            if not word.strip() or _UNFIT.search(word):
                raise ServeError(
                    422,
                    f"word {place} of sentence {number} is {word[:40]!r}: a word has no tabs, line "
                    "breaks or control characters, and is not empty",
                )
        sentences.append(Sentence(words, comments=["# text = " + " ".join(words)]))
    return sentences


def _check_encodable(words: Sequence[str], sentence: int) -> None:
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        for place, word in enumerate(words):
            try:
                encodable(word)
            except ValueError as error:
                where = f"tokens.{sentence - 1}.{place}"
                raise ServeError(422, f"{where}: {error}") from None


def check_size(words: int, most: int | None) -> None:
    """An error where a request has more words than that."""
    if most is not None and words > most:
        raise ServeError(
            413,
            f"this is about {words:,} words, and a request may have {most:,}; send it in pieces",
        )


def check_lengths(sentences: Iterable[Sentence], limits: Limits, *, first: int = 1) -> None:
    """An error where a word or a sentence is too long; they are numbered from `first`."""
    for number, sentence in enumerate(sentences, first):
        _check_words(sentence.forms, number, limits)
        if len(sentence) > limits.sentence_words:
            raise ServeError(
                413,
                f"sentence {number} has {len(sentence):,} words, and one may have "
                f"{limits.sentence_words:,}; split it",
            )


def _check_words(words: Sequence[str], sentence: int, limits: Limits) -> None:
    longest = max(map(len, words), default=0)
    if longest > limits.word_characters:
        place = next(place for place, word in enumerate(words, 1) if len(word) == longest)
        raise ServeError(
            413,
            f"word {place} of sentence {sentence} has {longest:,} characters, and one may have "
            f"{limits.word_characters:,}; shorten it",
        )


def plan_tasks(
    cut: Pieces,
    *,
    constraints: Sequence[Mapping[int, int | None] | None] | None,
    labels: Sequence[Mapping[int, str | None] | None] | None,
    topk: int,
    limits: Limits,
    multiroot: bool,
) -> list[Task]:
    """A task for each sentence, its constraints checked; `topk` is 0 where no list is wanted."""
    sentences = [sentence for piece in cut for sentence in piece if sentence]
    check_size(sum(map(counted_words, sentences)), limits.request_words)
    check_lengths(sentences, limits)
    all_heads = _one_each("constraints", constraints, len(sentences))
    all_labels = _one_each("labels", labels, len(sentences))
    if topk and (long := max(map(len, sentences), default=0)) > LONGEST_RANKED:
        raise ServeError(
            413,
            f"a sentence has {long:,} words, and the best trees are listed for up to "
            f"{LONGEST_RANKED}; leave out `topk`, or split it",
        )
    tasks = []
    for number, (sentence, heads, relations) in enumerate(
        zip(sentences, all_heads, all_labels, strict=True), 1
    ):
        _check_heads(heads, f"sentence {number}", words=len(sentence), multiroot=multiroot)
        _check_labels(relations, f"sentence {number}", words=len(sentence))
        limit = Constraints(held=heads, labels=relations)
        tasks.append(Task(sentence, limit, details=True, topk=topk))
    return tasks


def _one_each(
    name: str, given: Sequence[Mapping[int, Value | None] | None] | None, count: int
) -> list[dict[int, Value]]:
    """What is given for each sentence, without what is null."""
    if given is None:
        return [{} for _ in range(count)]
    if len(given) != count:
        raise ServeError(
            422, f"`{name}` has {len(given)} items for {count} sentences; give one for each"
        )
    return [
        {word: value for word, value in (items or {}).items() if value is not None}
        for items in given
    ]


def _check_heads(heads: Mapping[int, int], where: str, *, words: int, multiroot: bool) -> None:
    """An error where no tree can have these heads, which says which of them are in the way."""
    for word, head in heads.items():
        if not (1 <= word <= words and 0 <= head <= words):
            raise ServeError(
                422,
                f"{where}: a constraint on word {word} and head {head}, but there are {words} "
                "words (1 is the first; head 0 is the root)",
            )
    roots = [word for word, head in heads.items() if head == 0]
    if len(roots) > 1 and not multiroot:
        raise ServeError(
            422,
            f"{where}: words {roots[0]} and {roots[1]} are both to be the root, and this model "
            "knows one root only; free one of them",
        )
    checked: set[int] = set()
    for start in heads:
        path: list[int] = []
        word = start
        while word in heads and word not in checked:
            checked.add(word)
            path.append(word)
            word = heads[word]
        if word in path:
            circle = " -> ".join(map(str, [*path[path.index(word) :], word]))
            raise ServeError(
                422, f"{where}: the heads run in a circle ({circle}); free one of them"
            )


def _check_labels(labels: Mapping[int, str], where: str, *, words: int) -> None:
    for word, label in labels.items():
        if not 1 <= word <= words:
            raise ServeError(422, f"{where}: a label for word {word}, but there are {words} words")
        if not label.strip() or _UNFIT.search(label):
            raise ServeError(
                422,
                f"{where}: the label of word {word} is {label[:40]!r}: a label has no tabs, line "
                "breaks or control characters, and is not empty",
            )
