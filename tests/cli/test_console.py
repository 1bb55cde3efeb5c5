"""What commands print, wherever they print it."""

import io
import json

import pytest

from treecrf.cli.console import print_json, print_table

LONG = "a-relation-with-a-name-that-no-narrow-terminal-has-room-for"


@pytest.mark.parametrize("columns", ["20", "46", "200"])
def test_a_table_is_whole_on_a_narrow_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "dumb")  # no colours
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    numbers = [f"{number}.25" for number in range(100, 109)]
    print_table(["name", *"abcdefghi"], [[LONG, *numbers]])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["name", *"abcdefghi"] in rows
    assert [LONG, *numbers] in rows


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_keeps_every_character(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding, errors="replace")
    monkeypatch.setattr("sys.stdout", stream)
    value = {"名": 1, "動": 2, "é": 3}
    print_json(value)
    stream.seek(0)
    assert json.loads(stream.read()) == value
