"""Ways of sending parameters to UDPipe's routes: queries, forms, and pages from elsewhere."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from treecrf.parser import Parser
from treecrf.serve.app import create_app


def test_every_way_of_sending_gives_the_same(client: TestClient) -> None:
    parameters = {"data": "Anna saw Zoë .", "input": "horizontal", "parser": ""}
    parts: Any = {name: (None, value) for name, value in parameters.items()}
    lines = [
        f'--b\nContent-Disposition: form-data; name="{name}"\n\n{value}\n'
        for name, value in parameters.items()
    ]
    answers = [
        client.get("/process", params=parameters),
        client.post("/process", data=parameters),
        client.post("/process", files=parts),
        client.post("/process", params=parameters),
        client.post("/process", files=parts | {"data": ("a.txt", parameters["data"])}),
        client.post(
            "/process",
            content="".join([*lines, "--b--\n"]).encode(),
            headers={"Content-Type": "multipart/form-data; boundary=b"},
        ),
    ]
    assert [answer.status_code for answer in answers] == [200] * 6
    assert len({answer.text for answer in answers}) == 1
    assert "\tZoë\t" in answers[0].json()["result"]


def test_names_of_types_may_be_in_capitals(client: TestClient) -> None:
    part = b'--B\r\nContent-Disposition: form-data; name="data"\r\n\r\n\r\n--B--\r\n'
    for kind, body in (
        ("Multipart/Form-Data; boundary=B", part),
        ("Application/X-WWW-Form-URLencoded; charset=utf-8", b"data="),
    ):
        answer = client.post("/process", content=body, headers={"Content-Type": kind})
        assert answer.status_code == 200


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"data=a"),
        ("multipart/form-data; boundary=b", b"--c\r\n\r\n--c--"),
        ("multipart/form-data; boundary=b", b'--b\nContent-Disposition: form-data; name="data"\n'),
        ("application/x-www-form-urlencoded", b"data=\xff"),
        ("application/x-www-form-urlencoded", b"data=%ff"),
    ],
)
def test_bodies_that_are_no_forms_are_refused(client: TestClient, kind: str, body: bytes) -> None:
    answer = client.post("/process", content=body, headers={"Content-Type": kind})
    assert answer.status_code in (200, 400)
    assert answer.status_code == 400 or body.endswith(b'"data"\n')


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            b'--b\nContent-Disposition: form-data; name="data"\n\na\n' * 51 + b"--b--\n",
            "the body has more than 50 parameters",
        ),
        (b"--b\r\n\r\n" * 100_000, "the body is not multipart/form-data: Field name not found"),
        (b"--b\r\n" + b"A: b\r\n" * 100_000, "Maximum header count exceeded"),
        (b"--b\r\nA: " + b"b" * 1_000_000, "Maximum header size exceeded"),
        (b"--b\r\nContent-Disposition: form-data; name=data\r\n\r\n\xff\r\n--b--", "is not UTF-8"),
    ],
)
def test_forms_of_too_much_are_refused_at_once(
    client: TestClient, body: bytes, problem: str
) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = client.post("/process", content=body, headers=headers)
    assert answer.status_code == 400
    assert problem in answer.text
    pairs = "&".join(["data=a"] * 51)
    assert client.get(f"/process?{pairs}").text == "the query has more than 50 parameters\n"


def test_parts_are_taken_as_they_are(client: TestClient) -> None:
    """What looks like a boundary inside a line, or like a form inside a part, is text."""
    text = "a --b\n--bc d\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ne"
    head = 'Content-Disposition: form-data; name="{}"\r\nContent-Type: multipart/mixed; boundary=c'
    parts = [("data", text), ("input", "horizontal"), ("output", "horizontal")]
    body = "".join(f"--b\r\n{head.format(name)}\r\n\r\n{value}\r\n" for name, value in parts)
    answer = client.post(
        "/process",
        content=body + "--b--\r\n",
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    lines = [line for line in text.splitlines() if line]
    assert answer.json()["result"].splitlines() == lines


def test_pages_from_elsewhere_may_ask_where_they_were_let(
    client: TestClient, parser: Parser
) -> None:
    page = {"Origin": "https://page.example", "Sec-Fetch-Site": "cross-site"}
    form = {"data": "a", "input": "horizontal"}
    for headers in (page, {"Origin": page["Origin"]}, {"Sec-Fetch-Site": "same-site"}):
        for answer in (
            client.post("/process", data=form, headers=headers),
            client.get("/process", params=form, headers=headers),
            client.get("/models", headers=headers),
        ):
            assert answer.status_code == 403
            assert answer.text.endswith("start it with --allow-origin to let them\n")
            assert "access-control-allow-origin" not in answer.headers
    own = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    for headers in ({}, own, {"Origin": own["Origin"]}):
        answer = client.post("/process", data=form, headers=headers)
        assert answer.status_code == 200
        assert "access-control-allow-origin" not in answer.headers
    for allowed, expected in (
        ({"https://page.example"}, "https://page.example"),
        ({"*"}, "*"),
        ({"https://other.example"}, None),
    ):
        app = create_app({"small": parser}, allowed_origins=allowed)
        with TestClient(app) as other:
            answer = other.post("/process", data=form, headers=page)
            assert answer.headers.get("access-control-allow-origin") == expected
            assert answer.status_code == (200 if expected else 403)
