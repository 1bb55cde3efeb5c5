"""Several people annotate one corpus: a file each, figures of agreement, what they agree on."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.cli.running import problem
from tests.serve.browsing import start
from tests.serve.teams import decide, team
from treecrf.parser import Parser
from treecrf.serve.annotate.agreement import cohens_kappa
from treecrf.serve.annotate.team import path_of
from treecrf.treebank import Sentence, read_conllu

FORMS = ["Anna", "saw", "the", "garden", "."]
SENTENCES = [FORMS, ["It", "rained", "."], ["She", "left", "."]]
ANNA = {"heads": {1: 2, 2: 0, 4: 2}, "labels": {1: "nsubj", 2: "root", 4: "obj"}}
BEN = {"heads": {1: 2, 2: 0, 4: 1, 5: 2}, "labels": {1: "nsubj", 2: "root", 4: "nmod"}}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.conllu"


@pytest.fixture
def client(wordy: Parser, out: Path) -> Iterator[TestClient]:
    with team(wordy, out, map(Sentence, SENTENCES), names=["anna", "ben", "cleo"]) as client:
        yield client


def test_each_has_a_file_and_a_progress(client: TestClient, out: Path) -> None:
    nobody = client.get("/api/annotate").json()
    assert [each["name"] for each in nobody["annotators"]] == ["anna", "ben", "cleo"]
    assert (nobody["out"], nobody["progress"]) == (None, None)
    assert decide(client, 1, annotator="anna", state="done", **ANNA).status_code == 200
    anna, ben = (client.get(f"/api/annotate?annotator={who}").json() for who in ("anna", "ben"))
    assert (anna["out"], anna["progress"]["done"]) == ("out.anna.conllu", 1)
    assert (ben["out"], ben["progress"]["done"]) == ("out.ben.conllu", 0)
    assert client.get("/api/annotate/1?annotator=ben").json()["heads"] == {}
    assert [path.name for path in out.parent.glob("*.conllu")] == ["out.anna.conllu"]
    for who in ("", "?annotator=eve"):
        answer = client.get(f"/api/annotate/1{who}")
        assert answer.status_code == 404
        assert answer.json()["detail"].endswith("there are: anna, ben, cleo")


def test_a_decision_is_of_the_one_who_saw_the_sentence(client: TestClient, out: Path) -> None:
    seen = client.get("/api/annotate/1?annotator=anna").json()
    decision = {"key": seen["key"], "known": seen["known"], "version": "a", "state": "done"}
    answer = client.post("/api/annotate/1?annotator=ben", json=decision | ANNA)
    assert answer.status_code == 404
    assert list(out.parent.glob("*.conllu")) == []


def test_figures_and_disagreements(client: TestClient) -> None:
    decide(client, 1, annotator="anna", state="done", **ANNA)
    decide(client, 1, annotator="ben", state="done", **BEN, comment="a nmod?", flag=True)
    decide(client, 2, annotator="anna", state="done", heads={1: 2}, labels={1: "expl"})
    decide(client, 2, annotator="ben", state="open", heads={1: 0})  # not done yet
    decide(client, 3, annotator="cleo", state="done", heads={1: 2}, tags={1: "X"})
    decide(client, 3, annotator="ben", state="done", heads={1: 2})
    answer = client.get("/api/annotate/agreement").json()
    pairs = {tuple(pair.pop("annotators")): pair for pair in answer["pairs"]}
    assert list(pairs) == [("anna", "ben"), ("anna", "cleo"), ("ben", "cleo")]
    # Of three heads two are the same; of relations nsubj and root, and by chance two in nine.
    assert pairs["anna", "ben"] == {
        "sentences": 1,
        "same_tokens": 1,
        "words": 3,
        "uas": pytest.approx(2 / 3),
        "relations": 3,
        "las": pytest.approx(2 / 3),
        "kappa": pytest.approx((2 / 3 - 2 / 9) / (1 - 2 / 9)),
    }
    assert pairs["anna", "cleo"]["uas"] is None
    assert pairs["ben", "cleo"] == {
        **{"sentences": 1, "same_tokens": 1, "words": 1, "uas": 1, "relations": 0},
        **{"las": None, "kappa": None},
    }
    first, second = answer["disagreements"]
    assert (first["number"], first["text"]) == (1, "Anna saw the garden .")
    (word,) = first["words"]
    assert (word["form"], word["differs"]) == ("garden", ["head", "relation"])
    assert word["said"]["anna"] == {
        **{"head": {"id": 2, "form": "saw"}, "deprel": "obj", "upos": None},
    }
    assert word["said"]["ben"]["head"] == {"id": 1, "form": "Anna"}
    assert first["places"] == {"anna": 1, "ben": 1, "cleo": 1}
    assert (second["number"], second["words"][0]["differs"]) == (3, ["tag"])
    (remark,) = answer["remarks"]
    assert (remark["annotator"], remark["comment"], remark["flag"]) == ("ben", "a nmod?", True)


def test_other_tokens_are_a_disagreement(client: TestClient) -> None:
    tokens = [{"form": form} for form in ("Anna", "saw", "the garden", ".")]
    heads = {1: 2, 2: 0}
    decide(client, 1, annotator="anna", state="done", heads={**heads, 5: 2}, labels={5: "punct"})
    decide(client, 1, annotator="ben", state="done", heads={**heads, 4: 2}, tokens=tokens)
    answer = client.get("/api/annotate/agreement").json()
    pair = answer["pairs"][0]
    # The full stop is word 5 of the one and word 4 of the other.
    assert (pair["same_tokens"], pair["words"], pair["uas"]) == (0, 3, 1)
    (found,) = answer["disagreements"]
    assert found["words"] == []
    assert found["tokens"] == {"anna": FORMS, "ben": ["Anna", "saw", "the garden", "."]}
    assert client.get("/api/annotate/export/agreed").text == ""


def test_exports_of_one_of_all_of_the_agreed(client: TestClient, out: Path) -> None:
    decide(client, 1, annotator="anna", state="done", **ANNA)
    decide(client, 1, annotator="ben", state="done", **BEN)
    decide(client, 2, annotator="ben", state="done", heads={1: 2}, labels={1: "expl"})
    one = client.get("/api/annotate/export?annotator=ben")
    assert one.content == path_of(out, "ben").read_bytes()
    assert "attachment" in one.headers["content-disposition"]
    everything = trees(client.get("/api/annotate/export/all").text)
    assert [tree.comments[-2:] for tree in everything] == [
        ["# annotator = anna", "# annotate = 1 done"],
        ["# annotator = ben", "# annotate = 1 done"],
        ["# annotator = ben", "# annotate = 2 done"],
    ]
    (common,) = trees(client.get("/api/annotate/export/agreed").text)
    assert (common.forms, common.heads) == (FORMS, [2, 0, -1, -1, -1])
    assert common.deprels == ["nsubj", "root", "_", "_", "_"]
    assert "# annotators = anna ben" in common.comments
    # Somebody who decided otherwise takes away what two agreed on.
    decide(client, 1, annotator="cleo", state="done", heads={1: 4}, labels={})
    (common,) = trees(client.get("/api/annotate/export/agreed").text)
    assert common.heads == [-1, 0, -1, -1, -1]


def test_what_is_agreed_is_a_tree(client: TestClient) -> None:
    """Each pair of people agrees on an arc of a circle, and on a root each."""
    choices = {"anna": {1: 2, 2: 4}, "ben": {2: 4, 4: 1}, "cleo": {4: 1, 1: 2}}
    for who, heads in choices.items():
        assert decide(client, 1, annotator=who, state="done", heads=heads).status_code == 200
    (common,) = trees(client.get("/api/annotate/export/agreed").text)
    assert set(common.heads) == {-1}


def trees(text: str) -> list[Sentence]:
    return list(read_conllu(io.BytesIO(text.encode())))


def test_sentences_that_others_have_begun_come_first(wordy: Parser, out: Path) -> None:
    names = ["anna", "ben"]
    with team(wordy, out, map(Sentence, SENTENCES), names=names) as client:
        decide(client, 3, annotator="anna", state="done", heads={1: 2})
        decide(client, 2, annotator="ben", state="done", heads={1: 2})
    with team(wordy, out, map(Sentence, SENTENCES), names=names) as client:
        numbers = {
            who: [
                client.get(f"/api/annotate/{place}?annotator={who}").json()["number"]
                for place in (1, 2, 3)
            ]
            for who in names
        }
    assert numbers == {"anna": [3, 2, 1], "ben": [2, 3, 1]}


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], None),
        ([("a", "a"), ("a", "a")], 1.0),
        ([("a", "a"), ("b", "b")], 1.0),
        ([("a", "b"), ("b", "a")], -1.0),
        # Of 50 answers yes or no, 35 the same; chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
        ([("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15, 0.4),
    ],
)
def test_kappa(pairs: list[tuple[str, str]], kappa: float | None) -> None:
    assert cohens_kappa(pairs) == (kappa if kappa is None else pytest.approx(kappa))


def test_names_of_files() -> None:
    for out, path in {
        "out.conllu": "out.anna.conllu",
        "a.b/out.conllu.gz": "a.b/out.anna.conllu.gz",
        "out": "out.anna",
        "v1.2.conllu": "v1.2.anna.conllu",
    }.items():
        assert str(path_of(Path(out), "anna")) == path


@pytest.mark.parametrize("names", ["anna,../x", "anna,", "a b", "anna,Anna", "", "ö"])
def test_names_that_cannot_be(names: str, tmp_path: Path, model: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("It rained .\n")
    options = ("--out", tmp_path / "out.conllu", "--model", model, "--annotators", names)
    assert "--annotators" in problem("annotate", corpus, *options)


@pytest.mark.slow
def test_one_process_has_the_files_of_a_team(model: Path, tmp_path: Path) -> None:
    """The file of one who works alone stays as it is, and all work on one cut of the text."""
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text("It rained .\nShe left .\n")
    command = ("annotate", corpus, "--model", model, "--out", out, "--share", "1")
    with start(*command) as service:
        service.decide(1, heads={1: 2}, state="done")
    before = out.read_bytes()
    with start(*command, "--annotators", "anna,ben") as service:
        service.decide(1, annotator="ben", heads={1: 0}, state="done")
        assert "end that one first" in problem(*command)
        assert "end that one first" in problem(*command, "--annotators", "cleo")
    names = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert names == {"corpus.txt", "out.conllu", "out.conllu.cut", "out.ben.conllu"}
    assert out.read_bytes() == before
    with start(*command, "--annotators", "ben") as service:
        assert service.get("api/annotate/1?annotator=ben")["heads"] == {"1": 0}
