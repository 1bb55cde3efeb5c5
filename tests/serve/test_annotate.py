"""What the page for annotation asks for and saves, over HTTP."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from treecrf.parser import Parser
from treecrf.serve.annotate import Annotating, annotate_routes
from treecrf.serve.annotate_file import Annotations
from treecrf.serve.annotate_queue import Asking, collect, make_queue
from treecrf.serve.annotate_store import SentenceStore
from treecrf.serve.app import create_app
from treecrf.serve.limits import Limits
from treecrf.treebank import Sentence, read_conllu

SENTENCES = [["Anna", "saw", "the", "garden", "."], ["It", "rained", "."]]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / "out.conllu"


@pytest.fixture
def client(wordy: Parser, out: Path) -> Iterator[TestClient]:
    asking = Asking(None, 0.4)
    with Annotations(out) as annotations, SentenceStore() as corpus:
        queue = make_queue(
            collect(map(Sentence, SENTENCES), corpus, annotations),
            wordy,
            annotations=annotations,
            order="corpus",
            asking=asking,
            longest=100,
        )
        annotating = Annotating("corpus.txt", corpus, queue, annotations, asking)
        routes = annotate_routes(annotating, Limits())
        with TestClient(create_app({"model": wordy}, routers=[routes])) as client:
            yield client


def test_the_page_and_the_beginning(client: TestClient) -> None:
    assert "<title>treecrf annotate</title>" in client.get("/").text
    overview = client.get("/api/annotate").json()
    assert overview == {
        "corpus": "corpus.txt",
        "out": "out.conllu",
        "threshold": None,
        "share": 0.4,
        "progress": {"done": 0, "skipped": 0, "heads": 0, "total": 2, "next": 1},
    }
    first = client.get("/api/annotate/1").json()
    assert [token["form"] for token in first["sentence"]["tokens"]] == SENTENCES[0]
    probs = [token["prob"] for token in first["sentence"]["tokens"]]
    least = sorted(range(1, 6), key=lambda word: probs[word - 1])[:2]
    assert (first["number"], first["state"], first["asked"]) == (1, "open", sorted(least))


def test_a_decision_is_saved_and_decoded_around(client: TestClient, out: Path) -> None:
    decision = {"heads": {"4": 1}, "labels": {"4": "nmod"}, "state": "done"}
    answer = client.post("/api/annotate/1", json=decision).json()
    token = answer["sentence"]["tokens"][3]
    assert (token["head"], token["deprel"], token["fixed"]) == (1, "nmod", True)
    assert answer["progress"] == {"done": 1, "skipped": 0, "heads": 1, "total": 2, "next": 2}
    (written,) = read_conllu(out)
    assert written.heads == [-1, -1, -1, 1, -1]
    again = client.get("/api/annotate/1").json()
    assert (again["heads"], again["labels"], again["state"]) == ({"4": 1}, {"4": "nmod"}, "done")
    best = client.get("/api/annotate/1/best?k=2").json()["best"]
    assert [tree["heads"][3] for tree in best] == [1, 1]
    skipped = {"heads": {}, "labels": {}, "state": "skipped"}
    assert client.post("/api/annotate/2", json=skipped).json()["progress"]["next"] is None


@pytest.mark.parametrize(
    ("decision", "problem"),
    [
        ({"heads": {"1": 2, "2": 1}, "labels": {}}, "circle"),
        ({"heads": {"1": 0, "2": 0}, "labels": {}}, "both to be the root"),
        ({"heads": {"9": 1}, "labels": {}}, "there are 5 words"),
        ({"heads": {}, "labels": {"1": "nsubj"}}, "word 1 has a relation but no head"),
        ({"heads": {"1": 2}, "labels": {"1": "a\tb"}}, "label"),
    ],
)
def test_what_no_tree_has_is_not_saved(
    client: TestClient, out: Path, decision: dict[str, object], problem: str
) -> None:
    answer = client.post("/api/annotate/1", json=decision | {"state": "done"})
    assert answer.status_code == 422
    assert problem in answer.json()["detail"]
    assert not out.exists()


def test_half_a_character_is_refused(client: TestClient, out: Path) -> None:
    answer = client.post(
        "/api/annotate/1",
        content=rb'{"heads": {"1": 2}, "labels": {"1": "\ud800"}, "state": "done"}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 422
    assert "half a character" in answer.json()["detail"]
    assert not out.exists()


def test_pages_from_elsewhere_decide_nothing(client: TestClient, out: Path) -> None:
    decision = {"heads": {"1": 2}, "labels": {}, "state": "done"}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://testserver"},
    ):
        answer = client.post("/api/annotate/1", json=decision, headers=headers)
        assert answer.status_code == 403, headers
        assert answer.json()["detail"].startswith("a page from elsewhere cannot decide")
    assert not out.exists()
    own = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    for headers in ({"Origin": "https://testserver"}, own):
        answer = client.post("/api/annotate/1", json=decision, headers=headers)
        assert answer.status_code == 200, headers


def test_places_that_are_not_there(client: TestClient) -> None:
    assert client.get("/api/annotate/3").status_code == 404
    assert client.get("/api/annotate/0").status_code == 422
    decision = {"heads": {}, "labels": {}, "state": "done"}
    assert client.post("/api/annotate/3", json=decision).status_code == 404
    assert client.post("/api/annotate/1", json=decision | {"state": "else"}).status_code == 422


def test_what_cannot_be_written_is_said(client: TestClient, out: Path) -> None:
    shutil.rmtree(out.parent)
    decision = {"heads": {"1": 2}, "labels": {}, "state": "done"}
    answer = client.post("/api/annotate/1", json=decision)
    assert answer.status_code == 500
    assert answer.json()["detail"] == f"not saved: {out}: No such file or directory"
    assert client.get("/api/annotate/1").json()["heads"] == {}
