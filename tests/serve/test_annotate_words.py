"""Corrected tags and tokens, comments and flags of a sentence that is annotated."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.serve.teams import decide, team
from treecrf.parser import Parser
from treecrf.serve.annotate.decisions import Annotations, Record
from treecrf.serve.annotate.words import (
    BoundaryError,
    WrittenToken,
    spans,
    tokens_of,
    with_tokens,
)
from treecrf.treebank import Sentence, TreebankError, read_conllu

TEXT = """\
# sent_id = a
# text = They don't see New York.
1\tThey\tthey\tPRON\t_\tCase=Nom\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
4\tsee\tsee\tVERB\t_\t_\t0\troot\t_\t_
5\tNew\tNew\tPROPN\t_\t_\t4\tobj\t_\t_
5.1\tnode\t_\t_\t_\t_\t_\t_\t_\t_
6\tYork.\tYork\tPROPN\t_\t_\t5\tflat\t_\tSpaceAfter=No

"""
GIVEN = ("They", ("don't", "do", "n't"), "see", "New", "York.")


def sentence() -> Sentence:
    (read,) = read_conllu(io.BytesIO(TEXT.encode()))
    return read


def written(*tokens: str | tuple[str, ...]) -> tuple[WrittenToken, ...]:
    """Tokens, those of several words as a tuple of the form and the words."""
    return tuple(
        WrittenToken(token) if isinstance(token, str) else WrittenToken(token[0], token[1:])
        for token in tokens
    )


def test_the_tokens_of_the_text_are_read() -> None:
    assert tokens_of(sentence()) == written(*GIVEN)
    assert spans(sentence()) == [
        (0, 4, 0),
        (5, 10, 0),
        (5, 10, 1),
        (11, 14, 0),
        (15, 18, 0),
        (19, 24, 0),
    ]


def test_a_token_is_split_and_others_are_joined() -> None:
    changed = with_tokens(sentence(), written("They", "don't", "see", "New York", "."))
    assert changed.forms == ["They", "don't", "see", "New York", "."]
    assert changed.multiwords == []
    assert changed.empty_nodes == []
    assert changed.column("upos") == ["PRON", "_", "VERB", "_", "_"]
    assert changed.column("feats") == ["Case=Nom", "_", "_", "_", "_"]
    assert changed.column("misc") == ["_", "_", "_", "SpaceAfter=No", "SpaceAfter=No"]
    assert set(changed.heads) == {-1}
    assert changed.text == "They don't see New York."
    assert read_back(changed).forms == changed.forms


def test_a_token_is_made_of_words() -> None:
    tokens = written("They", ("don't", "do", "not"), "see", ("New", "Ne", "w"), "York", ".")
    changed = with_tokens(sentence(), tokens)
    assert changed.forms == ["They", "do", "not", "see", "Ne", "w", "York", "."]
    assert [(each.first, each.last, each.form) for each in changed.multiwords] == [
        (2, 3, "don't"),
        (5, 6, "New"),
    ]
    assert tokens_of(read_back(changed)) == tokens


def read_back(changed: Sentence) -> Sentence:
    (again,) = read_conllu(io.BytesIO(changed.to_conllu().encode()))
    return again


@pytest.mark.parametrize(
    ("tokens", "problem"),
    [
        (written("They", "do"), "the tokens end before"),
        (written("They", "did", "not"), 'goes on with "don\'t see New York."'),
        (written("They "), "starts and ends with text"),
        (written("They", ("don't", "don't")), "has one word"),
        (written(*GIVEN, "more"), "the text goes on with ''"),
        ((), "the tokens end before"),
    ],
)
def test_tokens_of_another_text_are_refused(tokens: tuple[WrittenToken, ...], problem: str) -> None:
    with pytest.raises(BoundaryError, match=problem.replace(".", r"\.")):
        with_tokens(sentence(), tokens)


RECORD = Record(
    {1: 3, 3: 0},
    {1: "nsubj", 3: "root"},
    "open",
    tags={2: "AUX", 4: "X"},
    tokens=written("They", "don't", "see", "New York", "."),
    comment="one token? ask",
    flag=True,
)


def test_all_that_is_said_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    with Annotations(path) as annotations:
        annotations.put(7, sentence(), RECORD)
    (saved,) = read_conllu(path)
    assert saved.column("upos") == ["PRON", "AUX", "VERB", "X", "_"]
    assert saved.heads == [3, -1, 0, -1, -1]
    assert saved.comments == [
        "# sent_id = a",
        "# text = They don't see New York.",
        "# annotate_tags = 2 4",
        '# annotate_words = ["They", "do", "n\'t", "see", "New", "York."]',
        "# annotate_comment = one token? ask",
        "# annotate_flag = yes",
        "# annotate = 7 open",
    ]
    with Annotations(path) as again:
        assert again[7] == RECORD
        again.check(7, sentence())
        again.check_all_found()
    with Annotations(path) as again, pytest.raises(TreebankError, match="not that of the corpus"):
        again.check(7, saved)  # other words of the same text are another corpus


def test_a_broken_comment_is_said(tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    for comment in ("tags = 99", "tags = -1", "words = [1", "words = " + "[" * 100_000):
        path.write_text(f"# annotate_{comment}\n# annotate = 1 open\n1\ta" + "\t_" * 8 + "\n\n")
        with pytest.raises(TreebankError, match="not as it was written"):
            Annotations(path)


def test_a_number_of_many_digits_is_none(tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    path.write_text(f"# annotate = {'9' * 5000} open\n1\ta" + "\t_" * 8 + "\n\n")
    with pytest.raises(TreebankError, match="no comment `# annotate ="):
        Annotations(path)


def test_corrected_tokens_have_the_text_of_the_corpus(tmp_path: Path) -> None:
    """Else the page that compares annotators would fail, and their export."""
    path = tmp_path / "out.conllu"
    word = "1\tAna" + "\t_" * 8
    path.write_text(f'# annotate_words = ["Anna"]\n# annotate = 1 done\n{word}\n\n')
    with (
        Annotations(path) as annotations,
        pytest.raises(TreebankError, match="sentence 1 has other text than the corpus: token 1"),
    ):
        annotations.check(1, Sentence(["Anna"]))


@pytest.fixture
def client(parser: Parser, tmp_path: Path) -> Iterator[TestClient]:
    sentences = [sentence(), Sentence(["Anna", "slept", "."])]
    with team(parser, tmp_path / "out.conllu", sentences, names=[""]) as client:
        yield client


def test_tokens_are_corrected_and_parsed_again(client: TestClient, tmp_path: Path) -> None:
    item = client.get("/api/annotate/1").json()
    assert item["written"] == item["original"]
    assert item["written"][1] == {"form": "don't", "words": ["do", "n't"]}
    tokens = [{"form": form} for form in ("They", "don't", "see", "New York", ".")]
    answer = decide(client, 1, heads={4: 3}, labels={4: "obj"}, tokens=tokens).json()
    assert [token["form"] for token in answer["sentence"]["tokens"]] == [
        "They",
        "don't",
        "see",
        "New York",
        ".",
    ]
    item = client.get("/api/annotate/1").json()
    assert [token["form"] for token in item["written"]] == [token["form"] for token in tokens]
    assert item["original"][1]["words"] == ["do", "n't"]
    assert max(item["asked"]) <= 5
    # A new word has the tag that the model predicts, the others those of the corpus.
    tags = [token["upos"] for token in item["sentence"]["tokens"]]
    assert tags[0] == "PRON"
    assert None not in tags
    (saved,) = read_conllu(tmp_path / "out.conllu")
    assert (saved.forms[3], saved.heads[3], saved.deprels[3]) == ("New York", 3, "obj")
    assert decide(client, 1, heads={}, labels={}, tokens=None).json()["tokens"] is None
    as_before = [{"form": t["form"], "words": t["words"]} for t in item["original"]]
    assert decide(client, 1, tokens=as_before).json()["tokens"] is None
    (saved,) = read_conllu(tmp_path / "out.conllu")
    assert saved.forms == sentence().forms


@pytest.mark.parametrize(
    ("decision", "problem"),
    [
        ({"tokens": [{"form": "They"}]}, "the tokens end before"),
        ({"tokens": [{"form": "They", "words": ["a\tb", "c"]}]}, "a word has no tabs"),
        ({"tags": {"99": "X"}}, "a tag for word 99"),
        ({"tags": {"1": "a\nb"}}, "a tag has no tabs"),
        ({"comment": "a\x00b"}, "a comment has no tabs"),
        ({"comment": "a" * 2001}, "2000"),
        ({"tags": {"1": "a" * 201}}, "200"),
        ({"heads": {"1": 2}, "labels": {"1": "a" * 201}}, "200"),
        ({"tokens": [{"form": "They", "words": ["a"] * 101}]}, "100"),
        ({"heads": {"6": 1}, "tokens": [{"form": TEXT.split("\n")[1][9:]}]}, "has 1 word"),
    ],
)
def test_what_cannot_be_is_not_saved(
    client: TestClient, tmp_path: Path, decision: dict[str, object], problem: str
) -> None:
    answer = decide(client, 1, **decision)
    assert answer.status_code == 422, answer.text
    assert problem in answer.json()["detail"]
    assert not (tmp_path / "out.conllu").exists()


def test_tags_of_a_corpus_without_any(client: TestClient, tmp_path: Path) -> None:
    """One is corrected; the others stay those of the model, on the page and not in the file."""
    before = client.get("/api/annotate/2").json()["sentence"]["tokens"]
    answer = decide(client, 2, tags={2: "X"}, comment=" look \n again ", flag=True).json()
    tokens = answer["sentence"]["tokens"]
    assert [token["upos"] for token in tokens] == [before[0]["upos"], "X", before[2]["upos"]]
    assert (answer["comment"], answer["flag"], answer["tags"]) == ("look again", True, {"2": "X"})
    (saved,) = read_conllu(tmp_path / "out.conllu")
    assert saved.column("upos") == ["_", "X", "_"]
    assert decide(client, 2, tags={}, comment="", flag=False).json()["tags"] == {}
    (saved,) = read_conllu(tmp_path / "out.conllu")
    assert saved.column("upos") == ["_", "_", "_"]
    assert saved.comments == ["# annotate = 2 open"]
