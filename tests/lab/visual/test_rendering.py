"""Geometry of pages that Chromium renders offline."""

import gzip
import json
from pathlib import Path

import pytest

from newscrawl import optional
from newscrawl.document.document import Document, parse_document
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.rendering import geometry_path, read_geometry, render_pages
from newscrawl.lab.visual.geometry import GeometryError, PageGeometry
from newscrawl.optional import MissingPackageError
from tests.helpers.browser import needs_chromium

# A p that contains a div: our tree keeps it so, an HTML parser closes the p.
PAGE = """<!doctype html><html><head><title>Harbour</title>
<link rel=stylesheet href=/main.css><link rel=stylesheet href=/lost.css>
<script>document.body.innerHTML = ""</script></head><body>
<h1>The harbour reopens</h1>
<div id=story>The ferry sails <a href=/a>again</a> today.<p>One<div>Two</div>Three</p></div>
<p id=gone>Nothing to see</p><p id=faint>Not shown</p>
<img src=/a.png><table><tr><td>Cell</td></tr></table></body></html>"""
SHEET = """
body { margin: 0; background: #fff }
h1 { position: absolute; left: 100px; top: 50px; font: bold 40px/1 monospace; margin: 0; color: #900 }
#story { margin: 200px 0 0 300px; width: 600px; font: italic 20px/30px serif; background: #eef }
#story a { text-decoration: underline }
#gone { display: none }
#faint { visibility: hidden }
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> LabelledPage:
    """Return the only page of a corpus with one of its two style sheets."""
    folder = tmp_path_factory.mktemp("corpora") / "corpus"
    (folder / "pages").mkdir(parents=True)
    (folder / "css").mkdir()
    (folder / "pages" / "1.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    (folder / "css" / "a.gz").write_bytes(gzip.compress(SHEET.encode()))
    (folder / "stylesheets.json").write_text(json.dumps({"http://news.test/main.css": "a.gz"}))
    row = {
        "id": "1",
        "url": "http://news.test/1",
        "site": "news.test",
        "title": "The harbour reopens",
    }
    (folder / "truth.jsonl").write_text(json.dumps(row))
    return load_corpus(folder).pages[0]


@pytest.fixture(scope="module")
def rendered(page: LabelledPage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the geometry of the page."""
    folder = tmp_path_factory.mktemp("geometry")
    assert render_pages([page], folder) == []
    return folder


def row_of(document: Document, text: str) -> int:
    return next(row for row in document.text_rows if document.text[row] == text)


@needs_chromium
def test_geometry_of_a_page(page: LabelledPage, rendered: Path):
    """Boxes and looks follow the stored style sheet; hidden text has none; scripts do not run."""
    geometry = read_geometry(rendered, page)
    document = parse_document(page.html())
    geometry.check(document)
    title, story = row_of(document, "The harbour reopens"), row_of(document, "The ferry sails")
    assert geometry.boxes[document.parent[title]][:2] == (100, 50)
    assert geometry.boxes[document.parent[title]].height == 40
    assert geometry.boxes[title].left == 100
    assert geometry.looks[title][:4] == (40, 700, False, False)
    assert geometry.looks[title].color == "rgb(153, 0, 0)"
    assert geometry.looks[title].background == "rgb(255, 255, 255)"
    assert geometry.boxes[document.parent[story]][:3] == (300, 200, 600)
    assert geometry.boxes[story].left == 300
    assert geometry.looks[story][:3] == (20, 400, True)
    assert geometry.looks[story].background == "rgb(238, 238, 255)"
    link = row_of(document, "again")
    assert geometry.looks[link].underlined
    assert not geometry.looks[story].underlined
    assert document.parent[story] in geometry.blocks
    assert document.parent[link] not in geometry.blocks
    hidden = {row_of(document, text) for text in ("Nothing to see", "Not shown")}
    assert not hidden & geometry.boxes.keys()
    assert (geometry.width, geometry.missing_sheets) == (1280, 1)


@needs_chromium
def test_all_texts_are_aligned(page: LabelledPage, rendered: Path):
    """Each text is found in Chromium's tree, next to the same element."""
    geometry, document = read_geometry(rendered, page), parse_document(page.html())
    assert geometry.unmatched == 0
    tops = [geometry.boxes[row_of(document, text)].top for text in ("One", "Two", "Three", "Cell")]
    assert tops == sorted(tops)
    assert len(set(tops)) == 4


def test_missing_browser(page: LabelledPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The error names the extra; pages with geometry are not rendered again."""
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    with pytest.raises(
        MissingPackageError, match=r"playwright: pip install 'newscrawl\[browser\]'"
    ):
        render_pages([page], tmp_path)
    PageGeometry(1, 1, 1, {}, frozenset(), {}, 0, 0, 0).save(geometry_path(tmp_path, page))
    assert render_pages([page], tmp_path) == []


def test_wrong_geometry(page: LabelledPage, tmp_path: Path):
    path = geometry_path(tmp_path, page)
    with pytest.raises(GeometryError, match="no geometry of the rendered page: there is no file"):
        read_geometry(tmp_path, page)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"damaged")
    with pytest.raises(GeometryError, match="is not the geometry of a page"):
        read_geometry(tmp_path, page)
    PageGeometry(3, 1, 1, {}, frozenset(), {}, 0, 0, 0).save(path)
    with pytest.raises(GeometryError, match="that of another page: 3 rows instead of"):
        read_geometry(tmp_path, page).check(parse_document(page.html()))
