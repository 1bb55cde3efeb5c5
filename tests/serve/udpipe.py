"""Requests as UDPipe's clients make them, for tests."""

from starlette.testclient import TestClient

CONLLU = """# sent_id = s1
# my = comment
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVB\tA=B\t_\t_\t_\t_
2\tn't\tnot\tPART\t_\t_\t_\t_\t_\tX=Y
3\tgo\tgo\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No

"""


def result(client: TestClient, **parameters: str) -> str:
    answer = client.post("/process", data=parameters)
    assert answer.status_code == 200, answer.text
    assert list(answer.json()) == ["model", "acknowledgements", "result"]
    return str(answer.json()["result"])


def problem(client: TestClient, **parameters: str) -> str:
    answer = client.post("/process", data=parameters)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    return answer.text
