"""What is not parsing: health, metrics, the description of the interface, headers."""

import re
import time

from starlette.testclient import TestClient

SAMPLE = re.compile(r'[a-z_]+(\{([a-z]+="[^"\n]*",?)+\})? [0-9.e+-]+')


def test_health(client: TestClient) -> None:
    assert (client.get("/healthz").status_code, client.get("/healthz").text) == (200, "ok\n")


def test_metrics_are_what_prometheus_reads(client: TestClient) -> None:
    client.post("/api/parse", json={"text": "It rained."})
    client.post("/api/parse", json={})
    client.get("/no/such/path")
    # A batch is counted just after it is answered.
    while "treecrf_batch_words_sum" not in (answer := client.get("/metrics")).text:
        time.sleep(0.01)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = [line for line in answer.text.splitlines() if not line.startswith("#")]
    assert all(SAMPLE.fullmatch(line) for line in samples)
    names = {line.partition("{")[0] for line in samples}
    assert {"treecrf_requests_total", "treecrf_queued_words", "treecrf_batch_words_sum"} <= names
    assert any('path="/api/parse",status="422"' in line for line in samples)
    assert any('path="other",status="404"' in line for line in samples)
    assert not any("no/such/path" in line for line in samples)
    for name in ("treecrf_request_seconds", "treecrf_batch_seconds"):
        buckets = [line for line in samples if line.startswith(f"{name}_bucket")]
        assert buckets[-1].partition('le="')[2].startswith("+Inf")


def test_the_interface_is_described_without_anything_from_elsewhere(client: TestClient) -> None:
    page = client.get("/docs").text
    linked = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert linked == ["docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "docs.js"]
    for path in (*linked, "openapi.json"):
        assert client.get(f"/{path}").status_code == 200
    assert "<script>" not in page
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/api/parse", "/api/models", "/process", "/models", "/healthz"} <= set(paths)


def test_pages_may_run_no_script_but_ours(client: TestClient) -> None:
    for path in ("/", "/docs", "/api/models", "/no/such/path"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'; ")
        assert "script-src" not in headers["content-security-policy"]
        assert ("unsafe-inline" in headers["content-security-policy"]) == (path == "/docs")
        assert headers["x-content-type-options"] == "nosniff"
