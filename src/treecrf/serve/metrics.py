"""Counts and times of a service, in the text format that Prometheus reads."""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Metrics"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_WORDS = (1.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, 10_000.0, 30_000.0)

_Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters; the event loop and the threads of the models write into them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[_Labels] = Counter()
        self._seconds: dict[_Labels, _Histogram] = defaultdict(lambda: _Histogram(_SECONDS))
        self._batch_words: dict[_Labels, _Histogram] = defaultdict(lambda: _Histogram(_WORDS))
        self._batch_seconds: dict[_Labels, _Histogram] = defaultdict(lambda: _Histogram(_SECONDS))

    def observe_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        with self._lock:
            self._requests[("path", path), ("status", str(status))] += 1
            self._seconds[(("path", path),)].add(seconds)

    def observe_batch(self, model: str, words: int, seconds: float) -> None:
        """Count a batch that has been parsed."""
        with self._lock:
            self._batch_words[(("model", model),)].add(words)
            self._batch_seconds[(("model", model),)].add(seconds)

    def text(self, queued_words: Mapping[str, int]) -> str:
        """All of them, and how many words wait for each model just now."""
        with self._lock:
            return "\n".join(self._lines(queued_words)) + "\n"

    def _lines(self, queued_words: Mapping[str, int]) -> Iterator[str]:
        yield from _heading("treecrf_requests_total", "counter", "Requests by path and status.")
        for labels, count in sorted(self._requests.items()):
            yield f"treecrf_requests_total{_labels(labels)} {count}"
        yield from _heading("treecrf_queued_words", "gauge", "Words that are parsed or wait.")
        for model, words in queued_words.items():
            yield f"treecrf_queued_words{_labels((('model', model),))} {words}"
        for name, histograms, about in (
            ("treecrf_request_seconds", self._seconds, "From a request to its answer."),
            ("treecrf_batch_words", self._batch_words, "Words that are parsed together."),
            ("treecrf_batch_seconds", self._batch_seconds, "Time that a batch takes."),
        ):
            yield from _heading(name, "histogram", about)
            for labels, histogram in sorted(histograms.items(), key=lambda item: item[0]):
                yield from histogram.lines(name, labels)


class _Histogram:
    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self, name: str, labels: _Labels) -> Iterator[str]:
        total = 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            total += count
            edge = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield f"{name}_bucket{_labels((*labels, ('le', edge)))} {total}"
        yield f"{name}_sum{_labels(labels)} {self.sum}"
        yield f"{name}_count{_labels(labels)} {total}"


def _heading(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _labels(labels: _Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
