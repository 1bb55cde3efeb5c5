"""The sentences of a corpus of any size, each at hand by its number: in a file, not in memory."""

import os
import tempfile
from array import array

from treecrf.treebank import Sentence
from treecrf.treebank.files.text import parse_input

__all__ = ["SentenceStore"]


class SentenceStore:
    """Sentences that are added once and looked up by number, the first being 1.

    They lie in a temporary file that has no name, so that nothing of it stays when the process is
    killed; memory holds where each begins.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="treecrf-annotate-")  # noqa: SIM115
        self._ends = array("q", [0])

    def __enter__(self) -> "SentenceStore":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, sentence: Sentence) -> int:
        """Keep a sentence; its number."""
        data = sentence.to_conllu().encode()
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))
        return len(self)

    def finish(self) -> None:
        """Say that there are no more sentences: now they can be looked up, from any thread."""
        self._file.flush()

    def text(self, number: int) -> str:
        """A sentence as CoNLL-U."""
        return self._data(number).decode()

    def _data(self, number: int) -> bytes:
        start, end = self._ends[number - 1], self._ends[number]
        return os.pread(self._file.fileno(), end - start, start)

    def __getitem__(self, number: int) -> Sentence:
        data = self._data(number)
        name = f"sentence {number}"
        # Heads may be anything: they are for a person to say.
        read = parse_input(iter([data]), name, kind="conllu", multiroot=True, trees=False)
        sentence = next(read)
        sentence.line = 0
        return sentence
