"""Names of Universal Dependencies on the pages mean what `treecrf.explain` says."""

import pytest
from playwright.sync_api import Page
from starlette.testclient import TestClient

import treecrf
from tests.serve.browsing import Service
from treecrf.treebank.glossary import MEANINGS

pytestmark = [pytest.mark.browser, pytest.mark.service]

OTHERS = [
    *("nsubj:caus", "obl:a:b", "obl:", "NOUN:x", "zzz", "", ":", "Case:x"),
    *("Number[psor]=Plur", "Case=Acc,Dat", "Case=Zzz", "Zzz=Yes", "Typo=Yes", "Case=", "=", "=Nom"),
]

EXPLAIN = """async (names) => {
  const { explain, explained, loadGlossary } = await import("./glossary.js");
  await loadGlossary();
  return names.map((name) => [explain(name), explained(name)]);
}"""


def test_the_service_gives_all_meanings(client: TestClient) -> None:
    assert client.get("/api/glossary").json() == MEANINGS
    assert MEANINGS["nsubj"] == "nominal subject"


def test_pages_explain_as_the_library_does(page: Page) -> None:
    names = [*MEANINGS, *OTHERS]
    for name, (meaning, shown) in zip(names, page.evaluate(EXPLAIN, names), strict=True):
        assert meaning == treecrf.explain(name), name
        assert shown == (name if meaning is None else f"{name}: {meaning}")


def test_without_meanings_names_stay(page: Page, service: Service) -> None:
    page.route("**/api/glossary", lambda route: route.abort())
    page.goto(service.address)
    assert page.evaluate(EXPLAIN, ["nsubj"]) == [[None, "nsubj"]]
