"""Streams: in order, no further ahead than they must, errors and early ends passed on."""

import threading
from collections.abc import Iterator
from contextvars import ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parser.models import random_parser, sentence_of, with_loss
from treecrf.parser import ParserError
from treecrf.parser.files.pipeline import Ahead, pipelined, stop_of_thread, windows
from treecrf.treebank import Sentence

SETTING: ContextVar[str] = ContextVar("setting", default="plain")


class Source:
    """Numbers or sentences, and how many of them were taken."""

    def __init__(self, items: list[object]) -> None:
        self.items = items
        self.taken = 0

    def __iter__(self) -> Iterator[object]:
        for item in self.items:
            if isinstance(item, Exception):
                raise item
            self.taken += 1
            yield item


@pytest.fixture
def no_thread_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@given(st.lists(st.integers(0, 90), max_size=60))
def test_windows_are_bounded_and_grow(sizes: list[int]) -> None:
    found = list(windows(sizes, size=lambda item: item, words=64, most=8))
    assert [size for window in found for size in window] == sizes
    most = 4
    for window in found:
        assert 1 <= len(window) <= 8
        assert sum(window[:-1]) < most
        if window is not found[-1]:
            assert sum(window) >= most or len(window) == 8
        most = min(2 * most, 64)


def test_the_first_window_may_be_as_large_as_others() -> None:
    found = windows([10] * 15, size=lambda item: item, words=60, first=60)
    assert list(map(len, found)) == [6, 6, 3]


def test_a_window_is_given_as_soon_as_it_is_full() -> None:
    source = Source([3, 3, 3, 3])
    stream = windows(source, size=lambda item: item, words=64)  # type: ignore[arg-type,return-value]
    assert next(stream) == [3, 3]
    assert source.taken == 2


@pytest.mark.usefixtures("no_thread_is_left")
def test_results_come_in_order() -> None:
    assert list(pipelined(range(50), lambda number: number * number)) == [n * n for n in range(50)]
    assert list(pipelined([], str)) == []


@pytest.mark.usefixtures("no_thread_is_left")
def test_work_is_done_in_another_thread_with_the_settings_of_this_one() -> None:
    token = SETTING.set("chosen")
    found = list(pipelined(range(3), lambda _: (threading.get_ident(), SETTING.get())))
    SETTING.reset(token)
    assert {setting for _, setting in found} == {"chosen"}
    assert threading.get_ident() not in {thread for thread, _ in found}


@pytest.mark.usefixtures("no_thread_is_left")
def test_no_more_is_read_than_is_in_flight() -> None:
    source = Source(list(range(100)))
    stream = pipelined(source, lambda item: item)
    assert source.taken == 0
    for count in range(1, 20):
        next(stream)
        assert source.taken == count + 1
    stream.close()  # type: ignore[attr-defined]
    assert source.taken == 20


@pytest.mark.usefixtures("no_thread_is_left")
def test_errors_are_passed_on() -> None:
    stream = pipelined(Source([1, 2, 3, ValueError("broken file")]), str)
    assert [next(stream), next(stream)] == ["1", "2"]
    with pytest.raises(ValueError, match="broken file"):
        list(stream)
    stream = pipelined([1, 1, 0, 1, 1], lambda number: 1 // number)
    assert [next(stream), next(stream)] == [1, 1]
    with pytest.raises(ZeroDivisionError):
        next(stream)


def streamed(sentences: object, *, keep_heads: bool = False) -> Iterator[Sentence]:
    parser = random_parser(with_loss("crf"))
    return parser.parse_stream(sentences, keep_heads=keep_heads)  # type: ignore[arg-type]


@pytest.mark.usefixtures("no_thread_is_left")
def test_a_stream_of_sentences_is_read_as_it_is_used() -> None:
    source = Source([sentence_of(64)] * 1000)
    stream = streamed(source)
    assert source.taken == 0
    next(stream)
    # Windows of 4,096 and of 8,192 words are in flight.
    assert source.taken == 64 + 128
    for _ in range(64):
        next(stream)
    assert source.taken == 64 + 128 + 256
    del stream
    assert source.taken == 448


@pytest.mark.usefixtures("no_thread_is_left")
def test_a_consumer_may_stop_in_the_middle() -> None:
    for stop in (0, 1, 70):
        stream = streamed([sentence_of(64)] * 500)
        for _ in range(stop):
            next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert list(stream) == []


@pytest.mark.usefixtures("no_thread_is_left")
def test_errors_of_the_input_and_of_the_work() -> None:
    sentences = [sentence_of(64)] * 100
    stream = streamed(Source([*sentences, OSError("disk gone")]))
    with pytest.raises(OSError, match="disk gone"):
        list(stream)
    cycle = Sentence(["a", "b"], [2, 1], comments=["# sent_id = round"])
    stream = streamed([*sentences, cycle, *sentences], keep_heads=True)
    with pytest.raises(ParserError, match="round: no tree has the heads that are to be kept"):
        list(stream)


@pytest.mark.usefixtures("no_thread_is_left")
def test_order_is_kept_over_windows() -> None:
    lengths = [5, 1, 9, 0, 3, 3, 12, 2, 1, 7] * 300
    sentences = [sentence_of(length, seed=n) for n, length in enumerate(lengths)]
    parsed = list(streamed(sentences))
    assert [sentence.forms for sentence in parsed] == [sentence.forms for sentence in sentences]
    for sentence in range(0, 3000, 101):
        assert parsed[sentence].heads == next(streamed([sentences[sentence]])).heads


@pytest.mark.usefixtures("no_thread_is_left")
def test_one_result_is_made_ahead_when_told_to() -> None:
    source = Source([1, 2, 3])
    with Ahead(source, lambda item: (item, threading.current_thread())) as ahead:
        assert source.taken == 0
        number, thread = ahead.take()
        assert (number, source.taken) == (1, 1)
        assert thread is not threading.current_thread()
        ahead.begin()
        ahead.begin()
        assert source.taken == 2
        assert ahead.take()[0] == 2
        assert ahead.take()[0] == 3
        ahead.begin()  # there is no more


@pytest.mark.usefixtures("no_thread_is_left")
def test_what_fails_ahead_fails_where_it_is_taken() -> None:
    def work(item: object) -> object:
        if item == 2:
            raise ParserError("no good")
        return SETTING.get()

    token = SETTING.set("changed")
    try:
        with Ahead([1, 2, 3], work) as ahead:
            assert ahead.take() == "changed"
            ahead.begin()
            with pytest.raises(ParserError, match="no good"):
                ahead.take()
    finally:
        SETTING.reset(token)


def test_what_nobody_waits_for_is_not_computed_to_its_end(no_thread_is_left: None) -> None:
    began = threading.Event()

    def work(item: int) -> int:
        check = stop_of_thread()
        if item:
            began.set()
            while True:  # until it is stopped
                check()
        return item

    stream = pipelined(range(3), work)
    assert next(stream) == 0
    assert began.wait(120)
    stream.close()
