"""What the page for annotation asks for and saves, over HTTP."""

import contextlib
import io
import shutil
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from starlette.testclient import TestClient

from tests.serve.browsing import start
from treecrf.parser import Parser
from treecrf.serve.annotate.decisions import Annotations
from treecrf.serve.annotate.questions import Asking, collect, make_queues
from treecrf.serve.annotate.routes import annotate_routes
from treecrf.serve.annotate.session import Annotating, Team
from treecrf.serve.annotate.store import SentenceStore
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
    with annotation(wordy, out) as client:
        yield client


@contextlib.contextmanager
def annotation(
    wordy: Parser, out: Path, sentences: Iterable[Sentence] | None = None
) -> Iterator[TestClient]:
    """What a process serves that has this file."""
    asking = Asking(None, 0.4)
    with Annotations(out) as annotations, SentenceStore() as corpus:
        (queue,) = make_queues(
            collect(sentences or map(Sentence, SENTENCES), corpus, [annotations]),
            wordy,
            annotations=[annotations],
            order="corpus",
            asking=asking,
            longest=100,
        )
        annotating = Annotating("corpus.txt", corpus, queue, annotations, asking)
        routes = annotate_routes(Team({"": annotating}), Limits())
        with TestClient(create_app({"model": wordy}, routers=[routes])) as client:
            yield client


def post(client: TestClient, place: int, decision: dict[str, Any], **headers: str) -> Response:
    """What comes of a decision of somebody who has just looked at the sentence."""
    item = client.get(f"/api/annotate/{place}").json()
    seen = {"key": item["key"], "known": item["known"], "version": str(uuid.uuid4())}
    return client.post(f"/api/annotate/{place}", json=seen | decision, headers=headers)


def test_the_page_and_the_beginning(client: TestClient, out: Path) -> None:
    assert "<title>treecrf annotate</title>" in client.get("/").text
    overview = client.get("/api/annotate").json()
    assert overview == {
        "corpus": "corpus.txt",
        "model": "en",
        "annotators": [],
        "annotator": "",
        "out": "out.conllu",
        "file": str(out),
        "threshold": None,
        "share": 0.4,
        "about": "both",
        "progress": {"done": 0, "skipped": 0, "heads": 0, "total": 2, "next": 1},
    }
    first = client.get("/api/annotate/1").json()
    assert [token["form"] for token in first["sentence"]["tokens"]] == SENTENCES[0]
    tokens = first["sentence"]["tokens"]
    probs = [min(token["prob"], token["deprel_prob"]) for token in tokens]
    least = sorted(range(1, 6), key=lambda word: probs[word - 1])[:2]
    assert (first["number"], first["state"], first["asked"]) == (1, "open", sorted(least))
    for word in least:
        token = tokens[word - 1]
        assert (word in first["asked_relations"]) == (token["deprel_prob"] <= token["prob"])
        assert (word in first["asked_heads"]) == (token["prob"] <= token["deprel_prob"])


def test_columns_of_the_corpus_stay(parser: Parser, tmp_path: Path) -> None:
    rows = [
        "1\tAnna\tanna\tX\tXP\tOwn=Yes\t2\tnsubj\t_\tGloss=a",
        "2\tslept\tsnore\tX\t_\t_\t0\troot\t_\t_",
    ]
    (given,) = read_conllu(io.StringIO("\n".join(rows) + "\n\n"))
    out = tmp_path / "out.conllu"
    with annotation(parser, out, [given, Sentence(["Anna", "slept"])]) as client:
        first, second = (client.get(f"/api/annotate/{place}").json() for place in (1, 2))
        post(client, 1, {"heads": {"1": 2}, "labels": {"1": "obj"}, "state": "done"})
    shown = first["sentence"]["tokens"][0]
    assert (shown["lemma"], shown["upos"], shown["xpos"]) == ("anna", "X", "XP")
    assert (shown["feats"], shown["upos_prob"]) == ({"Own": "Yes"}, None)
    assert "1\tAnna\tanna\tX\tXP\tOwn=Yes\t" in first["sentence"]["conllu"]
    # A corpus without them is shown with those that the model predicts.
    assert second["sentence"]["tokens"][0]["upos"] is not None
    assert second["sentence"]["tokens"][0]["upos_prob"] is not None
    (written,) = read_conllu(out)
    for name in ("form", "lemma", "upos", "xpos", "feats", "misc"):
        assert written.column(name) == given.column(name)
    assert (written.heads, written.deprels) == ([2, -1], ["obj", "_"])


def test_a_decision_is_saved_and_decoded_around(client: TestClient, out: Path) -> None:
    decision = {"heads": {"4": 1}, "labels": {"4": "nmod"}, "state": "done"}
    answer = post(client, 1, decision).json()
    token = answer["sentence"]["tokens"][3]
    assert (token["head"], token["deprel"], token["fixed"]) == (1, "nmod", True)
    assert answer["progress"] == {"done": 1, "skipped": 0, "heads": 1, "total": 2, "next": 2}
    (written,) = read_conllu(out)
    assert written.heads == [-1, -1, -1, 1, -1]
    again = client.get("/api/annotate/1").json()
    assert (again["heads"], again["labels"], again["state"]) == ({"4": 1}, {"4": "nmod"}, "done")
    best = client.get(f"/api/annotate/1/best?k=2&key={again['key']}").json()["best"]
    assert [tree["heads"][3] for tree in best] == [1, 1]
    skipped = {"heads": {}, "labels": {}, "state": "skipped"}
    assert post(client, 2, skipped).json()["progress"]["next"] is None


@pytest.mark.parametrize(
    ("decision", "problem"),
    [
        ({"heads": {"1": 2, "2": 1}, "labels": {}}, "circle"),
        ({"heads": {"1": 0, "2": 0}, "labels": {}}, "both to be the root"),
        ({"heads": {"9": 1}, "labels": {}}, "the sentence has 5 words"),
        ({"heads": {}, "labels": {"1": "nsubj"}}, "word 1 has a relation but no head"),
        ({"heads": {"1": 2}, "labels": {"1": "a\tb"}}, "label"),
    ],
)
def test_what_no_tree_has_is_not_saved(
    client: TestClient, out: Path, decision: dict[str, Any], problem: str
) -> None:
    answer = post(client, 1, decision | {"state": "done"})
    assert answer.status_code == 422
    assert problem in answer.json()["detail"]
    assert "sentence 1" not in answer.json()["detail"]  # it may be any one of the corpus
    assert not out.exists()


def test_half_a_character_is_refused(client: TestClient, out: Path) -> None:
    answer = client.post(
        "/api/annotate/1",
        content=rb'{"heads": {"1": 2}, "labels": {"1": "\ud800"}, "state": "done", '
        rb'"key": "", "version": "a", "known": []}',
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
        answer = post(client, 1, decision, **headers)
        assert answer.status_code == 403, headers
        assert answer.json()["detail"].startswith("a page from elsewhere cannot decide")
    assert not out.exists()
    own = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    for headers in ({"Origin": "https://testserver"}, own):
        answer = post(client, 1, decision, **headers)
        assert answer.status_code == 200, headers


def test_places_that_are_not_there(client: TestClient) -> None:
    assert client.get("/api/annotate/3").status_code == 404
    assert client.get("/api/annotate/0").status_code == 422
    decision = {"heads": {}, "labels": {}, "state": "done"}
    nowhere = decision | {"key": "", "version": "a", "known": []}
    assert client.post("/api/annotate/3", json=nowhere).status_code == 404
    assert post(client, 1, decision | {"state": "else"}).status_code == 422


def test_what_cannot_be_written_is_said(client: TestClient, out: Path) -> None:
    shutil.rmtree(out.parent)
    decision = {"heads": {"1": 2}, "labels": {}, "state": "done"}
    answer = post(client, 1, decision)
    assert answer.status_code == 500
    assert answer.json()["detail"] == (
        f"not saved: {out}: there is no folder {out.parent}; make it first"
    )
    assert client.get("/api/annotate/1").json()["heads"] == {}


def test_a_decision_is_about_the_sentence_that_was_seen(client: TestClient, out: Path) -> None:
    """Places change when the service is started again, and the page may still be open."""
    first, second = (client.get(f"/api/annotate/{place}").json() for place in (1, 2))
    assert first["key"] != second["key"]
    decision = {"heads": {"1": 2}, "labels": {}, "state": "done", "version": "a"}
    decision["known"] = second["known"]
    answer = client.post("/api/annotate/2", json=decision | {"key": first["key"]})
    assert answer.status_code == 404
    assert answer.json()["detail"].endswith("reload the page")
    assert client.get(f"/api/annotate/2/best?key={first['key']}").status_code == 404
    assert not out.exists()
    assert client.post("/api/annotate/2", json=decision).status_code == 422
    answer = client.post("/api/annotate/2", json=decision | {"key": second["key"]})
    assert answer.status_code == 200


def test_what_somebody_else_decided_is_not_overwritten(client: TestClient, out: Path) -> None:
    item = client.get("/api/annotate/1").json()
    seen = {"key": item["key"], "known": item["known"]}
    done = {"heads": {"1": 2, "2": 0}, "labels": {"1": "nsubj"}, "state": "done", "version": "a"}
    other = {"heads": {"4": 2}, "labels": {}, "state": "open", "version": "b"}
    answer = client.post("/api/annotate/1", json=seen | done)
    assert (answer.status_code, answer.json()["known"][0]) == (200, "a")
    before = out.read_bytes()
    answer = client.post("/api/annotate/1", json=seen | other)
    assert answer.status_code == 409
    assert "changed elsewhere meanwhile" in answer.json()["detail"]
    assert out.read_bytes() == before
    # The same once more, as after a lost answer; and something else without having seen it.
    assert client.post("/api/annotate/1", json=seen | done).status_code == 200
    both = seen | {"known": [*item["known"], "a"]}
    assert client.post("/api/annotate/1", json=both | other).status_code == 200


def test_a_decision_that_comes_late_does_not_undo_a_later_one(client: TestClient) -> None:
    """Both were sent at once: the first fixed a head, the second freed it again."""
    item = client.get("/api/annotate/1").json()
    sent = {"key": item["key"], "labels": {}, "state": "open"}
    first = sent | {"heads": {"1": 2}, "version": "a", "known": item["known"]}
    second = sent | {"heads": {}, "version": "b", "known": [*item["known"], "a"]}
    assert client.post("/api/annotate/1", json=second).status_code == 200
    assert client.post("/api/annotate/1", json=first).status_code == 409
    assert client.get("/api/annotate/1").json()["heads"] == {}


def test_a_version_outlives_the_process(wordy: Parser, out: Path) -> None:
    seen: dict[str, Any] = {}
    for heads in ({"1": 2}, {"1": 2, "4": 2}):
        with annotation(wordy, out) as client:
            seen = seen or client.get("/api/annotate/1").json()
            decision = {"labels": {}, "state": "open", "heads": heads, "version": f"v{len(heads)}"}
            seen = {"key": seen["key"], "known": seen["known"]}
            answer = client.post("/api/annotate/1", json=seen | decision)
            assert answer.status_code == 200
            seen |= answer.json()


def test_no_label_is_no_label(client: TestClient, out: Path) -> None:
    """Of a model without relations every word has `_`."""
    blank = {"heads": {"1": 2}, "labels": {"1": "_"}, "state": "done"}
    assert post(client, 1, blank).json()["labels"] == {}
    assert client.get("/api/annotate/1").json()["labels"] == {}


@pytest.mark.parametrize("heads", [[2, 1, 0], [9, 9, 9]])
def test_heads_of_a_corpus_are_not_looked_at(model: Path, tmp_path: Path, heads: list[int]) -> None:
    corpus = tmp_path / "corpus.conllu"
    lines = (f"{n}\tw{n}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for n, head in enumerate(heads, 1))
    corpus.write_text("".join(lines) + "\n")
    out = tmp_path / "out.conllu"
    options = ("--model", model, "--out", out, "--share", "1")
    with start("annotate", corpus, *options) as service:
        service.decide(1, heads={3: 1})
    (written,) = read_conllu(out)
    assert (written.heads, written.deprels) == ([-1, -1, 1], ["_"] * 3)


def test_on_every_address_only_names_that_were_given_are_answered_to(
    model: Path, tmp_path: Path
) -> None:
    """A foreign page whose name points at this machine reads no corpus."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("Anna saw the garden .\n")
    options = ("--model", model, "--out", tmp_path / "out.conllu", "--host", "0.0.0.0")
    with start("annotate", corpus, *options, "--allow-host", "ours.example") as service:
        address = f"http://127.0.0.1:{service.port}/api/annotate"
        for name in ("ours.example", "192.0.2.7:8000", "[2001:db8::7]", "localhost"):
            request = urllib.request.Request(address, headers={"Host": name})
            with urllib.request.urlopen(request) as answer:
                assert answer.status == 200
        request = urllib.request.Request(address, headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(request)
        assert refusal.value.code == 400
        assert refusal.value.read().endswith(b"any address, and to others with --allow-host\n")
