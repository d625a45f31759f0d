"""V-Wrapper: features of known geometry, folds by site, errors."""

import gzip
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from scrapy.settings import Settings

from newscrawl.document.document import TEXT, Document, parse_document
from newscrawl.ensemble.ensemble import ModelError
from newscrawl.extraction.extract import UnknownMethodError, extract
from newscrawl.lab.commands.evaluate_method import command
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.folds import site_names
from newscrawl.lab.corpora.map_pages import PageOutcome
from newscrawl.lab.corpora.rendering import geometry_path
from newscrawl.lab.evaluation.out_of_fold import map_folds
from newscrawl.lab.evaluation.page_scores import PageScores, evaluate
from newscrawl.lab.evaluation.visual_training import fit_visual_models, read_visual_examples
from newscrawl.lab.paper_methods import v_wrapper
from newscrawl.lab.visual.geometry import Box, GeometryError, Look, PageGeometry
from newscrawl.lab.visual.v_wrapper import load_visual_models
from newscrawl.lab.visual.visual_features import (
    BASIC_FEATURES,
    EXTENDED_FEATURES,
    INNER_FEATURES,
    VisualBlocks,
)
from newscrawl.pipeline_options import PipelineOptions

SITES = ("alpha.example", "www.beta.example", "gamma.example", "delta.example")
PAGES_PER_SITE = 4
SENTENCE = (
    "The council of the harbour town voted on Thursday to rebuild pier {n} before the winter. "
)
HTML = """<html><body><div><a href=/n>News of the day</a><a href=/s>Sport and games</a></div>
<div><h1>{title}</h1><div>{story}</div></div>
<div><p>All rights reserved by the paper</p><a href=/1>Another old story</a></div></body></html>"""
BODY_WIDTH, SIDE = 600, 100


def drawn(document: Document) -> PageGeometry:
    """Return a geometry: one text below the other, the story's to the right of the others."""
    boxes, looks, top = {}, {}, 0.0
    for row in range(len(document)):
        if document.tag[row] != TEXT:
            continue
        parent = document.tag[document.parent[row]]
        left = SIDE if parent in {"h1", "div"} or len(document.text[row]) > 80 else 0
        size = 40.0 if parent == "h1" else 16.0
        boxes[row] = Box(left, top, BODY_WIDTH if left else 80, size + 10)
        looks[row] = Look(size, 700 if size > 16 else 400, False, False, "black", "serif", "white")
        top += size + 20
    blocks = [r for r, tag in enumerate(document.tag) if tag in {"body", "div", "h1", "p"}]
    for row in reversed(blocks):
        inside = [boxes[r] for r in range(row + 1, document.end[row]) if r in boxes]
        left, above = min(b.left for b in inside), min(b.top for b in inside)
        right, below = (max(b[i] + b[i + 2] for b in inside) for i in (0, 1))
        boxes[row] = Box(left, above, right - left, below - above)
    return PageGeometry(len(document), 800, top, boxes, frozenset(blocks), looks, 9, 0, 0)


def rows_of(columns: dict[str, list[float]]) -> list[dict[str, float]]:
    """Return name -> value for each row of *columns*."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.fixture(scope="module")
def geometry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("geometry")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, geometry: Path) -> list[LabelledPage]:
    """Return the pages of a corpus of four sites, with drawn geometry."""
    folder = tmp_path_factory.mktemp("corpora") / "small"
    (folder / "pages").mkdir(parents=True)
    rows = []
    for n, site in enumerate(SITES * PAGES_PER_SITE):
        paragraphs = [SENTENCE.format(n=10 * n + k) * (1 + k % 3) for k in range(6)]
        title = f"Harbour bridge {n} reopens after long repairs"
        html = HTML.format(title=title, story="".join(f"<p>{text}</p>" for text in paragraphs))
        (folder / "pages" / f"{n}.html.gz").write_bytes(gzip.compress(html.encode()))
        rows.append({"id": str(n), "url": f"https://{site}/{n}", "site": site, "title": title,
                     "body": "\n".join(paragraphs)})  # fmt: skip
    (folder / "truth.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = load_corpus(folder).pages
    for page in found:
        drawn(parse_document(page.html())).save(geometry_path(geometry, page))
    return found


def test_features_of_known_geometry():
    html = "<body><h1>Title</h1><div><p>12345678 <a href=/>12</a></p><p>1234567890</p></div></body>"
    document = parse_document(html.encode())
    title, first, link, second = document.text_nodes()
    div, body = document.parent[document.parent[first]], document.parent[document.parent[title]]
    black = Look(20, 400, False, False, "black", "serif", "white")
    boxes = {
        body: Box(0, 0, 1000, 400),
        document.parent[title]: Box(0, 0, 1000, 50),
        div: Box(200, 100, 500, 200),
        document.parent[first]: Box(200, 100, 500, 80),
        document.parent[second]: Box(200, 200, 500, 80),
        title: Box(0, 0, 300, 50),
        first: Box(200, 100, 250, 20),
        link: Box(450, 100, 50, 20),
        second: Box(200, 200, 500, 20),
    }
    looks = {title: black._replace(font_size=40, font_weight=700), first: black, second: black}
    looks[link] = black._replace(underlined=True, color="blue")
    blocks = frozenset(boxes) - looks.keys()
    found = VisualBlocks.of(
        document, PageGeometry(len(document), 1000, 400, boxes, blocks, looks, 4, 0, 0)
    )
    assert found.features.keys() == set(BASIC_FEATURES)
    headline, text, anchor, other = rows_of(found.features)
    assert (headline["font_ratio"], headline["font_share"], headline["larger_fonts"]) == (2, 1, 0)
    assert (text["font_ratio"], text["font_share"], text["larger_fonts"]) == (1, 0.5, 1)
    assert (text["left_share"], text["top_share"], text["width_share"]) == (0.2, 0.25, 0.25)
    assert text["center"] == pytest.approx(0.175)
    assert (anchor["is_link"], anchor["underlined"], anchor["common_color"]) == (1, 1, 0)
    assert anchor["paragraph_leaves"] == 2
    assert anchor["paragraph_link_density"] == pytest.approx(0.2)
    assert (text["father_leaves"], text["father_links"]) == (3, 1)
    assert (other["rel_left"], other["rel_top"], other["rel_bottom"]) == (0, 100, 100)
    assert other["rel_chars"] == 0.5
    assert found.inner_features.keys() == set(INNER_FEATURES)
    story = rows_of(found.inner_features)[2]
    assert (story["leaves"], story["rel_left"], story["rel_width"]) == (3, 200, 0.5)
    assert (story["largest_font"], story["largest_child"]) == (0.5, 0.5)
    probabilities = [0.1, 0.2, 0.9, 0.3, 0.3]
    columns = found.extended_features(probabilities)
    assert columns.keys() == found.extended_features([]).keys() == set(EXTENDED_FEATURES)
    extended = rows_of(columns)
    assert [row["inside"] for row in extended] == [0, 1, 1, 1]
    assert (extended[0]["main_rel_top"], extended[0]["main_overlap"]) == (
        -100,
        pytest.approx(1 / 3),
    )
    assert (extended[0]["main_font_ratio"], extended[1]["paragraph_main"]) == (2, 0.3)


@pytest.mark.slow
def test_title_and_body_of_unknown_sites(pages: list[LabelledPage], geometry: Path):
    """The models that score a page were trained on other sites."""
    pytest.importorskip("sklearn")
    trained: set[str] = set()

    def measure(members: Sequence[LabelledPage], models: Path) -> list[PageOutcome[PageScores]]:
        sites = load_visual_models(models).sites
        assert sites.isdisjoint(name for page in members for name in site_names(page))
        trained.update(sites)
        return evaluate(members, "v-wrapper", workers=0, models=models, geometry=geometry)

    read = partial(read_visual_examples, geometry=geometry)
    outcomes = map_folds(pages, measure, fit=fit_visual_models, read=read, workers=0)
    assert trained == {name for page in pages for name in site_names(page)}
    for page, outcome in zip(pages, outcomes, strict=True):
        assert (outcome.page, outcome.error) == (page, None)
        for field in ("title", "body"):
            assert outcome.value.scores[field]["bag"].f1 > 0.95, (page.id, field)


def test_extract_without_geometry_or_models():
    html = b"<html><body><p>Text</p></body></html>"
    with pytest.raises(GeometryError, match=r"requires the geometry.* evaluate .*--geometry DIR"):
        extract(html, method=v_wrapper())
    with pytest.raises(ModelError, match="has no packaged models"):
        extract(html, method=v_wrapper(drawn(parse_document(html))))
    with pytest.raises(UnknownMethodError, match="'v-wrapper'"):
        extract(html, method="v-wrapper")


def test_command_without_geometry(pages: list[LabelledPage]):
    """Each error is one line."""
    corpus = str(pages[0].path.parent.parent)
    for arguments, message in (
        ((), "method v-wrapper requires --geometry DIR"),
        (("--task", "families"), "method v-wrapper requires --task articles"),
    ):
        done = CliRunner().invoke(command, [corpus, "--method", "v-wrapper", *arguments])
        assert done.exit_code == 2
        assert done.output.splitlines()[-1] == f"Error: {message}"


def test_setting_refuses_the_method():
    with pytest.raises(ValueError, match=r"NEWSCRAWL_METHOD: 'v-wrapper' is not one of"):
        PipelineOptions.read(Settings({"NEWSCRAWL_METHOD": "v-wrapper"}))
