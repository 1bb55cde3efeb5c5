"""The time of one sentence, printed where its tree is the one within a document."""

import json
from pathlib import Path

import pytest

from benchmarks import latency
from treecrf.parser import Parser
from treecrf.treebank import Document


def test_latency_is_of_a_sentence_with_the_tree_of_a_document(
    full_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = tmp_path / "figures.json"
    monkeypatch.setattr(latency, "TEXT", "The {} sleeps.")
    options = ["latency", "--model", full_model, "--repeats", "3", "--json", figures]
    monkeypatch.setattr("sys.argv", [*map(str, options)])
    latency.main()
    content = json.loads(figures.read_text())
    assert list(content) == ["median", "p90", "p99", "CPU time, median"]
    assert 0 < content["median"] <= content["p90"] <= content["p99"]


def test_nothing_is_timed_where_trees_differ(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = parser.parse

    def without_last(text: str) -> Document:
        return Document(list(parse(text))[:1], text=text)

    monkeypatch.setattr(parser, "parse", without_last)
    with pytest.raises(SystemExit, match="nothing is timed"):
        latency.check_same_tree(parser, ["The cat sleeps.", "A dog barks."])


def test_percentiles() -> None:
    assert latency.summary([float(n) for n in range(101)]) == {"median": 50, "p90": 90, "p99": 99}
    assert latency.summary([7.0]) == {"median": 7, "p90": 7, "p99": 7}
