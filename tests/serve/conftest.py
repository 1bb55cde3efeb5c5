"""An application around small models, its clients, and services with a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from starlette.testclient import TestClient

from tests.serve.annotating import LINES, Place, command
from tests.serve.browsing import NARROW, WIDE, Service, browser_here, open_page, start
from treecrf.parser import Parser
from treecrf.serve.app import create_app


@pytest.fixture(scope="session")
def client(parser: Parser, wordy: Parser) -> Iterator[TestClient]:
    with TestClient(create_app({"english-small-1.0": parser, "de_words": wordy})) as client:
        yield client


@pytest.fixture(scope="module")
def service(model: Path) -> Iterator[Service]:
    with start("serve", "--model", f"en={model}") as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browser_here() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    with open_page(browser) as page:
        page.goto(service.address)
        yield page


@pytest.fixture(
    params=[(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")],
    ids=["wide-light", "wide-dark", "narrow-light", "narrow-dark"],
)
def window(request: pytest.FixtureRequest, browser: Browser, service: Service) -> Iterator[Page]:
    """The page in a window of one of two widths, light or dark."""
    size, scheme = request.param
    with open_page(browser, viewport=size, color_scheme=scheme) as page:
        page.goto(service.address)
        yield page


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what is annotated."""
    return tmp_path_factory.mktemp("desk")


@pytest.fixture(scope="module")
def annotation(model: Path, desk: Path) -> Iterator[Service]:
    corpus = desk / "corpus.txt"
    corpus.write_text("".join(line + "\n" for line in LINES * 20), encoding="utf-8")
    with start(*command(model, corpus)) as service:
        yield service


@pytest.fixture
def place(browser: Browser, annotation: Service, desk: Path) -> Iterator[Place]:
    """A sentence that nobody has touched, on the page of annotation."""
    with open_page(browser) as page:
        place = Place(page, annotation, desk)
        yield place
    annotation.decide(place.number, state="skipped")  # the next test has the next one
