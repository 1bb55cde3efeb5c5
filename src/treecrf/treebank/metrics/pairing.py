"""Sentences of several files side by side: the same sentences with the same words, or an error."""

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import cast

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files.conllu import read_conllu
from treecrf.treebank.files.streams import File
from treecrf.treebank.sentence import Sentence

__all__ = ["Treebank", "pair_sentences", "sentences_of"]

Treebank = File | Iterable[Sentence]

ADVICE = "Files whose text is split differently are scored by `treecrf score --conll18`."


def sentences_of(treebank: Treebank) -> Iterator[Sentence]:
    """The sentences of a file, or those that are given."""
    if isinstance(treebank, (str, os.PathLike)) or hasattr(treebank, "read"):
        return read_conllu(cast(File, treebank))
    return iter(treebank)


def pair_sentences(
    gold: Treebank, systems: Mapping[str, Treebank]
) -> Iterator[tuple[Sentence, ...]]:
    """Each gold sentence and the same sentence of each system; errors call a system by its key."""
    streams = [sentences_of(treebank) for treebank in (gold, *systems.values())]
    for number, (reference, *others) in enumerate(zip_longest(*streams), 1):
        for name, sentence in zip(systems, others, strict=True):
            if reference is None and sentence is None:
                continue
            if reference is None:
                raise _ended(number, "gold", name, sentence)
            if sentence is None:
                raise _ended(number, name, "gold", reference)
            if reference.forms != sentence.forms:
                raise _differ(number, name, reference, sentence)
        yield (reference, *others)


def _ended(number: int, shorter: str, longer: str, sentence: Sentence) -> TreebankError:
    return sentence.error(
        f"{longer} goes on with {_named(number, sentence)}, but {shorter} has only {number - 1} "
        f"sentences; both must have the same. {ADVICE}"
    )


def _differ(number: int, name: str, gold: Sentence, system: Sentence) -> TreebankError:
    what = _named(number, gold)
    for index, (ours, theirs) in enumerate(zip(gold.forms, system.forms, strict=False), 1):
        if ours != theirs:
            problem = f"word {index} of {what} is {ours!r} in gold and {theirs!r} in {name}"
            break
    else:
        problem = f"{what} has {len(gold)} words in gold and {len(system)} in {name}"
    return system.error(f"{problem}; both must have the same. {ADVICE}")


def _named(number: int, sentence: Sentence) -> str:
    return f"sentence {number}" + (f" ({sentence.sent_id})" if sentence.sent_id else "")
