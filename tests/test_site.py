"""The documentation as a site: it is built without a warning, is whole, and needs no other site."""

import os
import re
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from treecrf.parser import Config

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder; a link or an anchor that leads nowhere, or a page outside `nav`, is an error."""
    folder = tmp_path_factory.mktemp("site")
    # Not --quiet, with which --strict does not see the warnings.
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    pages = {page.name for page in site.glob("*.html")}
    assert {page.with_suffix(".html").name for page in DOCS.glob("*.md")} <= pages
    assert {"index.html", "start.html", "CHANGELOG.html", "CONTRIBUTING.html"} <= pages


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"""(?:\bsrc=|<link[^>]*\bhref=|url\(|@import)\s*["']?(?:https?:)?//""")
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        assert not loads.search(path.read_text(encoding="utf-8")), path


def test_pictures_are_found(site: Path) -> None:
    """Those in HTML too, which mkdocs does not look at."""
    found = set()
    for page in set(site.glob("*.html")) - {site / "404.html"}:  # which may stand for any page
        for source in re.findall(r'<img[^>]*\bsrc="([^"]+)"', page.read_text(encoding="utf-8")):
            assert (page.parent / source).is_file(), f"{page.name}: {source}"
            found.add(source)
    assert {
        "images/tree.svg",
        "images/spans.svg",
        "images/grand-spans.svg",
        "images/serve.png",
    } <= found


@pytest.mark.parametrize("name", ["treecrf", "derivations"])
def test_formulas_are_mathml(site: Path, name: str) -> None:
    source = FENCE.sub("", (DOCS / f"{name}.md").read_text(encoding="utf-8"))
    page = (site / f"{name}.html").read_text(encoding="utf-8")
    assert page.count("<math ") == len(FORMULA.findall(source)) > 0
    assert "arithmatex" not in page
    assert "merror" not in page


@pytest.mark.parametrize("part", ["", ".ops", ".parser", ".segment", ".struct", ".treebank"])
def test_the_reference_has_every_public_name(site: Path, part: str) -> None:
    """Of a package, on its page or where the same object is described."""
    text = "".join(page.read_text("utf-8") for page in (site / "reference").glob("*.html"))
    described = {name.rpartition(".")[2] for name in re.findall(r'<h2 id="(treecrf\.[^"]+)"', text)}
    public = set(import_module(f"treecrf{part}").__all__) - {"__version__"}
    assert public <= described


def test_the_reference_says_what_settings_are(site: Path) -> None:
    page = (site / "reference" / "parser.html").read_text(encoding="utf-8")
    for field in fields(Config):
        assert f'id="treecrf.parser.Config.{field.name}"' in page
    assert fields(Config)[0].metadata["text"] in page
    assert "setting(" not in page
