"""Counts and times of a service, in the text format that Prometheus reads."""

import math
import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate

__all__ = ["Metrics"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, math.inf)
_WORDS = (1.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, 10_000.0, 30_000.0, math.inf)
# The histograms: bounds, and what they are about.
_HISTOGRAMS = {
    "treecrf_request_seconds": (_SECONDS, "From a request to its answer."),
    "treecrf_batch_words": (_WORDS, "Words that are parsed together."),
    "treecrf_batch_seconds": (_SECONDS, "Time that a batch takes."),
}


class Metrics:
    """Counters; the event loop and the threads of the models write into them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[str] = Counter()  # by labels
        self._counts: Counter[tuple[str, str, float]] = Counter()  # by histogram, label and bound
        self._sums: dict[tuple[str, str], float] = defaultdict(float)  # by histogram and label

    def observe_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        with self._lock:
            self._requests[f"{_label('path', path)},{_label('status', str(status))}"] += 1
            self._observe("treecrf_request_seconds", _label("path", path), seconds)

    def observe_batch(self, model: str, words: int, seconds: float) -> None:
        """Count a batch that has been parsed."""
        with self._lock:
            self._observe("treecrf_batch_words", _label("model", model), words)
            self._observe("treecrf_batch_seconds", _label("model", model), seconds)

    def _observe(self, name: str, label: str, value: float) -> None:
        bounds = _HISTOGRAMS[name][0]
        self._counts[name, label, bounds[bisect_left(bounds, value)]] += 1
        self._sums[name, label] += value

    def text(self, queued_words: Mapping[str, int]) -> str:
        """All metrics, with the words that are waiting for each model, as text."""
        with self._lock:
            return "\n".join(self._lines(queued_words)) + "\n"

    def _lines(self, queued_words: Mapping[str, int]) -> Iterator[str]:
        yield from _heading("treecrf_requests_total", "counter", "Requests by path and status.")
        for labels, count in sorted(self._requests.items()):
            yield f"treecrf_requests_total{{{labels}}} {count}"
        yield from _heading("treecrf_queued_words", "gauge", "Words that are parsed or wait.")
        for model, words in queued_words.items():
            yield f"treecrf_queued_words{{{_label('model', model)}}} {words}"
        for name, (bounds, about) in _HISTOGRAMS.items():
            yield from _heading(name, "histogram", about)
            for label in sorted(label for of, label in self._sums if of == name):
                totals = list(accumulate(self._counts[name, label, bound] for bound in bounds))
                for bound, total in zip(bounds, totals, strict=True):
                    edge = "+Inf" if bound == math.inf else f"{bound:g}"
                    yield f'{name}_bucket{{{label},le="{edge}"}} {total}'
                yield f"{name}_sum{{{label}}} {self._sums[name, label]}"
                yield f"{name}_count{{{label}}} {totals[-1]}"


def _heading(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'
