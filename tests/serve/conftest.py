"""A small model with a segmenter, an application around it, and clients."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from starlette.testclient import TestClient

import treecrf
from tests.cli.conftest import Make, model, shared, treebank  # noqa: F401
from tests.segment.texts import trained
from tests.serve.browsing import Service, browser_here, open_page, start
from treecrf.parser import Parser
from treecrf.serve.app import create_app


@pytest.fixture(scope="session")
def folder(shared: Callable[[str, Make], Path], model: Path) -> Path:  # noqa: F811
    """A model that also cuts raw text."""

    def make(target: Path) -> None:
        shutil.copytree(model, target)
        trained().save(target)

    return shared("small-model-with-segmenter", make)


@pytest.fixture(scope="session")
def parser(folder: Path) -> Parser:
    return treecrf.load(folder, device="cpu")


@pytest.fixture(scope="session")
def wordy(model: Path) -> Parser:  # noqa: F811
    """A model without a segmenter."""
    return treecrf.load(model, device="cpu")


@pytest.fixture(scope="session")
def client(parser: Parser, wordy: Parser) -> Iterator[TestClient]:
    with TestClient(create_app({"english-small-1.0": parser, "de_words": wordy})) as client:
        yield client


@pytest.fixture(scope="module")
def service(model: Path) -> Iterator[Service]:  # noqa: F811
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
