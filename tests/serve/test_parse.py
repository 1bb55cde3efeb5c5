"""`/api/parse` says what the parser says, and refuses what cannot be parsed in one clear line."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from treecrf.parser import Parser
from treecrf.serve.parse.schemas import Models, ParsedSentence, ParseResponse

WORDS = ["Anna", "saw", "the", "garden", "."]
JSON = {"Content-Type": "application/json"}
TEXT = "Anna didn't see the garden. The dog slept!"


def parse(client: TestClient, **request: Any) -> list[ParsedSentence]:
    answer = client.post("/api/parse", json=request)
    assert answer.status_code == 200, answer.text
    sentences = ParseResponse.model_validate_json(answer.content, strict=True).sentences
    assert sentences is not None
    return sentences


def problem(client: TestClient, status: int, **request: Any) -> str:
    answer = client.post("/api/parse", json=request)
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["detail"]
    assert "\n" not in answer.json()["detail"]
    return str(answer.json()["detail"])


def test_words_get_the_trees_of_the_parser(client: TestClient, parser: Parser) -> None:
    sentences = [WORDS, ["It", "rained"]]
    answers = parse(client, tokens=sentences)
    for answer, expected in zip(answers, parser.parse_tokens(sentences), strict=True):
        assert [token.form for token in answer.tokens] == expected.forms
        assert [token.head for token in answer.tokens] == expected.heads
        assert [token.deprel for token in answer.tokens] == expected.deprels
        assert [token.prob for token in answer.tokens] == pytest.approx(expected.probs, abs=1e-5)
        assert [token.id for token in answer.tokens] == list(range(1, len(expected) + 1))
        relations = [token.deprel_prob for token in answer.tokens]
        assert relations == pytest.approx(expected.deprel_probs, abs=1e-5)
        tags = [token.upos_prob for token in answer.tokens]
        assert tags == pytest.approx(expected.upos_probs, abs=1e-5)
        assert all(token.start is None and not token.fixed for token in answer.tokens)
        assert answer.text == " ".join(expected.forms)
        assert f"# text = {answer.text}\n" in answer.conllu
        assert answer.marginals is None
        assert answer.best is None


def test_every_column_is_there(client: TestClient, parser: Parser) -> None:
    (answer,), (expected,) = parse(client, tokens=[WORDS]), parser.parse_tokens([WORDS])
    for token, word in zip(answer.tokens, expected.tokens, strict=True):
        assert (token.lemma, token.upos, token.xpos) == (word.lemma, word.upos, word.xpos)
        cells = [f"{name}={value}" for name, value in (token.feats or {}).items()]
        assert ("|".join(cells) or "_") == word.feats
    assert any(token.feats for token in answer.tokens)
    assert any(token.feats is None for token in answer.tokens)


def test_the_likely_relations_of_a_word_are_those_given_its_head(client: TestClient) -> None:
    (answer,) = parse(client, tokens=[WORDS], alternatives=100)
    for token in answer.tokens:
        probs = [other.prob for other in token.deprels]
        assert probs == sorted(probs, reverse=True)
        assert sum(probs) == pytest.approx(1, abs=1e-3)
        first = token.deprels[0]
        assert (first.deprel, first.prob) == (token.deprel, token.deprel_prob)
    (few,) = parse(client, tokens=[WORDS], alternatives=2)
    assert [token.deprels for token in few.tokens] == [t.deprels[:2] for t in answer.tokens]
    dependent = answer.tokens[3]
    head = next(h for h in range(1, 6) if h not in (4, dependent.head))
    (moved,) = parse(client, tokens=[WORDS], constraints=[{"4": head}])
    assert moved.tokens[3].deprels != dependent.deprels
    other = dependent.deprels[1].deprel
    (fixed,) = parse(client, tokens=[WORDS], labels=[{"4": other}])
    assert (fixed.tokens[3].deprel, fixed.tokens[3].deprel_prob) == (other, 1)
    assert fixed.tokens[3].deprels[0].deprel == dependent.deprel


def test_texts_have_a_document_each(client: TestClient) -> None:
    texts = [TEXT, "", "It rained.", " \n"]
    answer = client.post("/api/parse", json={"texts": texts})
    assert answer.status_code == 200
    assert list(answer.json()) == ["model", "documents"]
    documents = ParseResponse.model_validate_json(answer.content, strict=True).documents
    assert documents is not None
    assert [len(document.sentences) for document in documents] == [2, 0, 1, 0]
    for document, text in zip(documents, texts, strict=True):
        words = [(t.form, t.start, t.head) for s in document.sentences for t in s.tokens]
        alone = [(t.form, t.start, t.head) for s in parse(client, text=text) for t in s.tokens]
        assert words == alone
    assert client.post("/api/parse", json={"texts": []}).json()["documents"] == []
    constraints = [None, None, {"1": 0}]
    again = client.post("/api/parse", json={"texts": texts, "constraints": constraints}).json()
    assert again["documents"][2]["sentences"][0]["tokens"][0]["head"] == 0


def test_text_is_cut_and_words_know_their_places(client: TestClient, parser: Parser) -> None:
    answers = parse(client, text=TEXT)
    assert [a.text for a in answers] == ["Anna didn't see the garden.", "The dog slept!"]
    expected = parser.parse(TEXT)
    assert [[t.form for t in a.tokens] for a in answers] == [s.forms for s in expected]
    places = {TEXT[t.start : t.end] for a in answers for t in a.tokens}
    assert places == {"Anna", "didn't", "see", "the", "garden", ".", "The", "dog", "slept", "!"}


def test_without_a_segmenter_text_has_a_sentence_a_line(client: TestClient) -> None:
    text = "Anna  slept .\r\n\nIt rained"
    answers = parse(client, text=text, model="de_words")
    assert [answer.text for answer in answers] == ["Anna slept .", "It rained"]
    words = [token for answer in answers for token in answer.tokens]
    assert [text[token.start : token.end] for token in words] == [token.form for token in words]


def test_no_text_is_no_sentence(client: TestClient) -> None:
    for request in ({"text": ""}, {"text": " \n "}, {"tokens": []}):
        assert parse(client, **request) == []


def test_the_distribution_is_that_of_the_parser(client: TestClient, parser: Parser) -> None:
    (answer,) = parse(client, tokens=[WORDS], marginals=True, alternatives=2)
    crf = parser.distribution([WORDS])
    assert answer.marginals is not None
    for row, expected in zip(answer.marginals, crf.marginals[0].tolist(), strict=True):
        assert row == pytest.approx(expected, abs=1e-5)
    assert answer.entropy == pytest.approx(crf.entropy.item(), abs=1e-3)
    for token, row in zip(answer.tokens, answer.marginals[1:], strict=True):
        likely = sorted(enumerate(row), key=lambda pair: -pair[1])[:2]
        listed = [(head.head, head.prob) for head in token.heads]
        assert listed == [pair for pair in likely if pair[1] > 0]


def test_the_best_trees_are_listed(client: TestClient, parser: Parser) -> None:
    (answer,) = parse(client, tokens=[WORDS], topk=3)
    (ranked,) = parser.parse_best([WORDS], 3)
    assert answer.best is not None
    assert [(tree.heads, tree.deprels) for tree in answer.best] == [
        (tree.heads, tree.deprels) for tree in ranked
    ]
    log_probs = [tree.log_prob for tree in answer.best]
    assert log_probs == sorted(log_probs, reverse=True)
    heads = [token.head for token in answer.tokens]
    same = [tree.log_prob for tree in answer.best if tree.heads == heads]
    assert same == pytest.approx([answer.log_prob] * len(same), abs=1e-5)
    assert any(log_prob != round(log_prob, 4) for log_prob in log_probs if log_prob is not None)


def test_constraints_hold_and_null_frees(client: TestClient) -> None:
    (held, free) = parse(
        client,
        tokens=[WORDS, WORDS],
        constraints=[{"4": 1, "2": None}, None],
        labels=[{"4": "my:label"}, {}],
        topk=2,
    )
    assert (held.tokens[3].head, held.tokens[3].deprel, held.tokens[3].prob) == (1, "my:label", 1)
    assert [token.fixed for token in held.tokens] == [False, False, False, True, False]
    assert held.tokens[3].heads[0].head == 1
    assert held.best is not None
    assert {(tree.heads[3], tree.deprels[3]) for tree in held.best} == {(1, "my:label")}
    assert "\n4\tgarden\tgarden\tNOUN\tNN\tNumber=Sing\t1\tmy:label" in held.conllu
    (unconstrained,) = parse(client, tokens=[WORDS], topk=2)
    assert free == unconstrained


def test_constraints_that_cross_have_a_tree_all_the_same(client: TestClient) -> None:
    (answer,) = parse(client, tokens=[WORDS], constraints=[{"1": 3, "4": 2}], topk=3)
    assert (answer.tokens[0].head, answer.tokens[3].head) == (3, 2)
    assert answer.entropy is not None
    assert answer.log_prob is not None
    assert answer.best is not None
    assert len(answer.best) > 1
    assert all((tree.heads[0], tree.heads[3]) == (3, 2) for tree in answer.best)


@pytest.mark.parametrize(
    ("request_", "status", "expected"),
    [
        ({}, 422, "give `text`, `texts` or `tokens`"),
        ({"text": "a", "tokens": [["a"]]}, 422, "give `text`, `texts` or `tokens`"),
        ({"text": "a", "top": 3}, 422, "top: there is no such field; /docs lists"),
        ({"text": 3}, 422, "text: "),
        ({"tokens": [["a"], []]}, 422, "sentence 2 has no words"),
        ({"tokens": [["a", "b\tc"]]}, 422, "word 2 of sentence 1 is 'b\\tc'"),
        ({"tokens": [["a", " "]]}, 422, "word 2 of sentence 1 is ' '"),
        ({"tokens": [["a"]], "topk": 0}, 422, "topk: "),
        ({"tokens": [["a"]], "constraints": []}, 422, "`constraints` has 0 items for 1 sentences"),
        ({"tokens": [["a"]], "constraints": [{"2": 1}]}, 422, "sentence 1: a constraint on word 2"),
        ({"tokens": [["a"]], "constraints": [{"1": -1}]}, 422, "sentence 1: a constraint on word"),
        (
            {"tokens": [["a"]], "constraints": [{"1": 1}]},
            422,
            "sentence 1: word 1 cannot be its own",
        ),
        ({"tokens": [["a"]], "labels": [{"1": "b\n"}]}, 422, "sentence 1: the label of word 1"),
        ({"tokens": [["a"]], "labels": [{"9": "b"}]}, 422, "sentence 1: a label for word 9"),
        ({"tokens": [["a"]], "model": "nobody"}, 400, "there is no model 'nobody' here; there are"),
        ({"tokens": [["a"]], "model": "../../etc"}, 400, "there is no model '../../etc' here"),
    ],
)
def test_what_is_wrong_is_said(
    client: TestClient, request_: dict[str, Any], status: int, expected: str
) -> None:
    assert problem(client, status, **request_).startswith(expected)


def test_heads_that_no_tree_has_are_named(client: TestClient) -> None:
    circle = problem(client, 422, tokens=[WORDS], constraints=[{"1": 2, "2": 3, "3": 1}])
    assert circle == "sentence 1: the heads run in a circle (1 -> 2 -> 3 -> 1); free one of them"
    led = problem(client, 422, tokens=[WORDS], constraints=[{"5": 4, "1": 2, "2": 3, "3": 2}])
    assert led == "sentence 1: the heads run in a circle (2 -> 3 -> 2); free one of them"
    roots = problem(client, 422, tokens=[WORDS], constraints=[{"1": 0, "4": 0}])
    assert roots.startswith("sentence 1: words 1 and 4 are both to be the root")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (rb'{"text": "\ud800"}', "text: "),
        (rb'{"tokens": [["\udfff"]]}', "tokens.0.0: "),
        (rb'{"text": "a", "model": "\ud800"}', "model: "),
        (rb'{"tokens": [["a"]], "labels": [{"1": "\ud800"}]}', "labels.0.1: "),
    ],
)
def test_half_a_character_is_refused(client: TestClient, body: bytes, place: str) -> None:
    answer = client.post("/api/parse", content=body, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{place}character 1 is half a character (")


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        (b"", 422, "`Content-Type: application/json`; this is no object"),
        (b"{", 422, "the body is no JSON (character 1: Expecting property name"),
        (b"[]", 422, "send a JSON object as the body"),
        (b"\xff", 400, "the body is not UTF-8 (invalid start byte); for Latin-1: iconv -f latin1 "),
        ('{"text": "é"}'.encode("latin-1"), 400, "the body is not UTF-8 (invalid "),
        (b'{"text": NaN}', 422, "text: Input should be a valid string"),
        (rb'{"text": "a", "\ud800": 1}', 422, "unicode"),
        (b"[" * 100_000, 400, "the body has values that are nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused(
    client: TestClient, body: bytes, status: int, problem: str
) -> None:
    answer = client.post("/api/parse", content=body, headers=JSON)
    assert answer.status_code == status, answer.text
    assert problem in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_a_type_may_have_parameters(client: TestClient, kind: str) -> None:
    headers = {"Content-Type": kind}
    assert client.post("/api/parse", content=b'{"text": "a"}', headers=headers).status_code == 200
    answer = client.post("/api/parse", content=b"[]", headers=headers)
    assert answer.json()["detail"].endswith("; this is no object")


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        ({}, "no type"),
        ({"Content-Type": "text/plain"}, "the type text/plain"),
        # What curl -d sends.
        (
            {"Content-Type": "application/x-www-form-urlencoded"},
            "the type application/x-www-form-urlencoded",
        ),
    ],
)
def test_json_comes_with_its_type(client: TestClient, headers: dict[str, str], sent: str) -> None:
    answer = client.post("/api/parse", content=b'{"text": "a"}', headers=headers)
    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        "send a JSON object as the body, and the header `Content-Type: application/json`; this "
        f"has {sent}"
    )


def test_models_are_listed_with_labels(client: TestClient, parser: Parser) -> None:
    models = Models.model_validate_json(client.get("/api/models").content)
    assert models.default == "english-small-1.0"
    assert [(model.name, model.segmenter, model.language) for model in models.models] == [
        ("english-small-1.0", True, parser.language),
        ("de_words", False, ""),
    ]
    assert {"root", "nsubj", "obj"} <= set(models.models[0].labels)
    assert not any("|" in label or "↑" in label for label in models.models[0].labels)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/parse", "POST"),
        ("PUT", "/api/parse", "POST"),
        ("POST", "/api/models", "GET"),
        ("DELETE", "/process", "GET, POST"),
        ("PATCH", "/models", "GET, POST"),
        ("POST", "/healthz", "GET"),
        ("POST", "/metrics", "GET"),
        ("POST", "/docs", "GET"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("POST", "/index.html", "GET, HEAD"),
        ("POST", "/", "GET, HEAD"),
        ("POST", "/docs/swagger-ui.css", "GET, HEAD"),
    ],
)
def test_a_method_that_an_address_does_not_have_is_405(
    client: TestClient, method: str, path: str, allowed: str
) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json() == {"detail": f"there is no {method} here, but {allowed}"}


def test_an_address_that_is_not_there_is_404(client: TestClient) -> None:
    for method in ("GET", "POST"):
        for path in ("/api/nothing", "/nothing", "/docs/nothing"):
            assert client.request(method, path).status_code == 404
