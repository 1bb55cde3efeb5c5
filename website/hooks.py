"""What mkdocs is told when it builds the site: pages from outside docs/, and formulas as MathML."""

import html
import re
import sys
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # mkdocs runs this file without its package

from website.tour import tour_page  # noqa: E402

PAGES = ROOT / "website" / "pages"
# Files of the repository that are pages, or parts of them, under a name of their own.
ELSEWHERE = {
    "start.md": "README.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "LICENSE": "LICENSE",
    "english-card.md": "src/treecrf/models/en/README.md",
    "tour.md": "examples/tour.ipynb",
    "icon.svg": "src/treecrf/serve/static/icon.svg",
}

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
_JOINED = r"<mo>\1\2</mo>"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that only the site has, and those at the root of the repository."""
    sources = {
        path.relative_to(PAGES).as_posix(): path for path in PAGES.rglob("*") if path.is_file()
    }
    sources |= {name: ROOT / source for name, source in ELSEWHERE.items()}
    for name, source in sorted(sources.items()):
        if source.suffix == ".ipynb":
            files.append(File.generated(config, name, content=tour_page()))
        elif source.suffix == ".md":
            page = as_page(name, source.read_text(encoding="utf-8"))
            files.append(File.generated(config, name, content=page))
        else:
            files.append(File.generated(config, name, abs_src_path=str(source)))
    return files


def as_page(name: str, text: str) -> str:
    """The text with links from where the page is; of the README, all but its list of pages."""
    text = re.sub(r'(\]\(|src=")docs/', r"\1", text)
    text = text.replace("](examples/tour.ipynb)", "](tour.md)")
    if name == "start.md":
        text = text.replace("# treecrf\n", "# Quick start\n", 1).partition("\n## More\n")[0]
    return text


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links from docs/ to the rest of the repository lead to the pages that are made of it."""
    for name, source in ELSEWHERE.items():
        markdown = markdown.replace(f"](../{source})", f"]({name})")
    return markdown


def on_page_content(content: str, **_: object) -> str:
    """Formulas as MathML, which browsers draw without a script."""
    return _FORMULA.sub(lambda match: formula(match[2], block=match[1] == "div"), content)


def formula(escaped: str, *, block: bool) -> str:
    """MathML of TeX as it stands in HTML."""
    tex = html.unescape(escaped).strip()
    if block:
        tex = tex.replace(r"\sum_", r"\sum\limits_")
    mathml = convert(tex, display="block" if block else "inline")
    # A relation of two signs is one operator, and a function does not touch its argument.
    mathml = re.sub(r"<mo><mrow><mo>([^<]*)</mo></mrow></mo><mo>([^<]*)</mo>", _JOINED, mathml)
    return mathml.replace("<mi>log</mi>", '<mi>log</mi><mspace width="0.17em" />')
