"""What docs/results.md says is what the experiments wrote down."""

import json
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "results.md"
MADE = sorted((PAGE.parent / "results").rglob("*.md"))


def rows_of(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]


@pytest.mark.parametrize("made", MADE, ids=lambda path: path.stem)
def test_tables_are_those_that_were_printed(made: Path) -> None:
    ours, theirs = "\n".join(rows_of(PAGE)), "\n".join(rows_of(made))
    assert theirs
    assert theirs in ours


def test_every_table_was_printed() -> None:
    printed = {row for path in MADE for row in rows_of(path)}
    by_hand = [row for row in rows_of(PAGE) if row not in printed]
    assert not [row for row in by_hand if re.search(r"\d\d\.\d\d", row)]


def test_what_it_shows_is_there() -> None:
    linked = re.findall(r"\]\((results[^)]*)\)", PAGE.read_text(encoding="utf-8"))
    assert linked
    assert all((PAGE.parent / name).exists() for name in linked)


def test_it_says_how_the_trainings_ended() -> None:
    records = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (PAGE.parent / "results" / "runs").glob("*.json")
    ]
    assert {record["training"]["config"]["batch_tokens"] for record in records} == {1500}
    fifty = [
        record["epochs"]["las"]
        for record in records
        if record["training"]["config"]["epochs"] == 50 and "init" not in record["training"]
    ]
    best = [las.index(max(las)) + 1 for las in fifty]
    late, last = sum(epoch >= 44 for epoch in best), best.count(50)
    said = (
        f"of the {len(best)} trainings of 50 epochs, {late} were best in epochs 44 to 50, {last} of"
    )
    assert said in " ".join(PAGE.read_text(encoding="utf-8").split())
