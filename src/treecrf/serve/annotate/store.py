"""The sentences of a corpus in a temporary file, each looked up by its number."""

import tempfile
import threading
from array import array

from treecrf.treebank import Sentence
from treecrf.treebank.files.text import parse_input

__all__ = ["SentenceStore"]


class SentenceStore:
    """Sentences by number, the first being 1; any thread may add and look up.

    The file has no name, so that nothing of it stays when the process is killed.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="treecrf-annotate-")  # noqa: SIM115
        self._ends = array("q", [0])
        self._lock = threading.Lock()

    def __enter__(self) -> "SentenceStore":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, sentence: Sentence) -> int:
        """Add a sentence; return its number."""
        data = sentence.to_conllu().encode()
        with self._lock:
            self._file.seek(self._ends[-1])
            self._file.write(data)
            self._ends.append(self._ends[-1] + len(data))
            return len(self)

    def data(self, number: int) -> bytes:
        """A sentence as CoNLL-U."""
        start, end = self._ends[number - 1], self._ends[number]
        with self._lock:
            self._file.seek(start)
            return self._file.read(end - start)

    def __getitem__(self, number: int) -> Sentence:
        data, name = iter([self.data(number)]), f"sentence {number}"
        # Heads may be anything: they are for a person to say.
        sentence = next(parse_input(data, name, kind="conllu", multiroot=True, trees=False))
        sentence.line = 0
        return sentence
