"""Fitted models, the method that uses them, and the commands that train and score."""

import gzip
import json
import subprocess
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest

from newscrawl.css import Stylesheets
from newscrawl.document.document import parse_document
from newscrawl.ensemble.ensemble import ModelError, TreeEnsemble
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.fields.cardoso import MAX_DATE_LENGTH, Models, TextNodes, classify, load_models
from newscrawl.fields.titles.title_model import title_text
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.corpus_sheets import CorpusSheets
from newscrawl.lab.corpora.folds import extra_site
from newscrawl.lab.corpora.labels import Coverage, Labels, align
from newscrawl.lab.corpora.title_match import TitleMatch, match_means
from newscrawl.lab.training.example_types import Example, without_style
from newscrawl.lab.training.examples import example, read_examples
from newscrawl.lab.training.model_writer import save_ensemble
from newscrawl.lab.training.title_training import fit_title_model
from newscrawl.lab.training.training_errors import TooFewPagesError
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import scrapy

# --- the papers' rules after the classifiers


def forest(feature: str, threshold: float) -> TreeEnsemble:
    """Return a tree that says yes above *threshold*."""
    import numpy as np

    from newscrawl.ensemble.ensemble import LEAF
    from newscrawl.lab.training.trees import Tree, ensemble_of

    tree = Tree(
        np.array([0, LEAF, LEAF]),
        np.array([threshold, 0, 0]),
        np.array([1, -1, -1]),
        np.array([2, -1, -1]),
        np.array([0, 0, 1]),
    )
    return ensemble_of([tree], [feature])


BIG_IS_TITLE = Models(title=forest("font_size", 20), date=forest("digits", 3.5))
"""Whatever is larger than 20 px is a title, whatever has four digits a date."""


def found_in(html: str) -> tuple[str | None, list[str]]:
    """Return the texts of title and date."""
    document = parse_document(html)
    style_of = Stylesheets(document).style_of
    nodes = TextNodes.of(document, list(document.text_nodes()), style_of)
    found = classify(nodes, BIG_IS_TITLE)
    title = None if found.title is None else nodes.texts[found.title]
    return title, [nodes.texts[place] for place in found.date]


def test_classify_returns_first_title():
    assert found_in("<p>x</p><h1>One</h1><h1>Two</h1>")[0] == "One"


def test_classify_returns_date_cluster_nearest_to_title():
    """At most two other nodes between the nodes of a cluster."""
    page = (
        "<p>1999</p><p>a</p><p>b</p><p>c</p><h1>T</h1><p>a</p><p>b</p><p>2001</p><p>a</p><p>b</p>"
        "<p>2002</p><p>a</p><p>b</p><p>c</p><p>2003</p>"
    )
    assert found_in(page) == ("T", ["2001", "2002"])


def test_classify_returns_all_dates_without_title():
    page = "<p>1999</p><p>a</p><p>b</p><p>c</p><p>d</p><p>2001</p>"
    assert found_in(page) == (None, ["1999", "2001"])


def test_classify_ignores_long_dates():
    assert found_in(f"<h1>T</h1><p>2001</p><p>2002 {'x' * MAX_DATE_LENGTH}</p>") == ("T", ["2001"])


def test_classify_without_dates():
    assert found_in("<h1>T</h1><p>a</p>") == ("T", [])


# --- examples, models and the method


STORY = "".join(
    f"<p>Paragraph {n} tells what happened at the bridge that morning, and what the engineers of "
    "the city said about the work that had taken them the whole winter, day and night.</p>"
    for n in range(12)
)
# The last paragraph is no part of it, so that there is something to tell apart.
BODY = STORY.rpartition("<p>")[0].replace("<p>", "").replace("</p>", "\n")
PAGE = (
    "<html lang=en><title>{title} - Daily Harbour</title><body><nav><a href=/>News</a> "
    "<a href=/s>Sport</a></nav><div><div class=head><h1>{title}</h1>"
    "<p class=date>{day}, 10:15</p></div>{story}</div><footer><h1>Newsletter</h1>Contact us</footer>"
)


def write_corpus(folder: Path, sites: int = 9) -> Path:
    """Write a corpus of a site a page."""
    (folder / "pages").mkdir(parents=True)
    lines = []
    for n in range(sites):
        title, day = f"Harbour bridge {n} reopens after repairs", date(2024, 5, n + 1)
        page = PAGE.format(title=title, day=f"{day:%B} {day.day}, {day.year}", story=STORY)
        (folder / "pages" / f"{n}.html.gz").write_bytes(gzip.compress(page.encode()))
        row = {
            "id": str(n), "url": f"https://{n}.example/x", "site": f"{n}.example",
            "title": title, "date": day.isoformat(), "body": BODY,
        }  # fmt: skip
        lines.append(json.dumps(row))
    (folder / "truth.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small corpus."""
    return write_corpus(tmp_path_factory.mktemp("corpora") / "small")


def test_example_round_trip(corpus: Path):
    page = load_corpus(corpus).pages[0]
    one = example(parse_document(page.html()), page)
    sent = json.dumps(one.to_plain())
    again = Example.from_plain(json.loads(sent))
    assert json.dumps(again.to_plain()) == sent
    assert again.labels == one.labels
    assert (one.title, one.date) == (page.title, "May 1, 2024, 10:15")


def test_read_examples_reports_failed_pages(corpus: Path):
    pages = load_corpus(corpus).pages
    broken = LabelledPage.from_plain({**pages[0].to_plain(), "path": str(corpus / "none.gz")})
    read = read_examples([broken, *pages[1:3]], workers=0)
    assert [page.id for page in read.pages] == ["1", "2"]
    assert [page.id for page, _ in read.failed] == ["0"]


def test_corpus_sheets_by_url(tmp_path: Path):
    (tmp_path / "css").mkdir()
    (tmp_path / "css" / "1.css.gz").write_bytes(gzip.compress(b"h1 { font-size: 50px }"))
    index = {"https://a.example/a.css": "1.css.gz"}
    (tmp_path / "stylesheets.json").write_text(json.dumps(index))
    sheets = CorpusSheets(tmp_path)
    document = parse_document("<link rel=stylesheet href=a.css><h1>T</h1>")
    styles = Stylesheets(document, sheets, base_url="https://a.example/")
    assert styles.style_of(document.text_nodes()[0]).font_size == 50
    assert list(sheets) == ["https://a.example/a.css"]
    assert len(CorpusSheets(tmp_path / "css")) == 0


def small(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command with models of few trees."""
    return scrapy(REPOSITORY, *arguments, program="tests.helpers.small_models:main")


@pytest.fixture(scope="module")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of models trained on the corpus, and what was printed."""
    pytest.importorskip("sklearn")
    out = tmp_path_factory.mktemp("models")
    done = small("train", corpus, "-o", out, "--jobs", 0)
    assert done.returncode == 0, done.stderr
    (out / "printed.txt").write_text(done.stdout)
    return out


@pytest.mark.slow
def test_train_prints_tables(trained: Path):
    """Coverage of labels and files."""
    printed = (trained / "printed.txt").read_text()
    assert "Labels found in text nodes" in printed
    assert {"cardoso-title.npz", "cardoso-date.npz", "title.npz"} <= set(printed.split())


@pytest.mark.slow
def test_train_is_deterministic(trained: Path, corpus: Path, tmp_path: Path):
    done = small("train", corpus, "-o", tmp_path, "--jobs", 0)
    assert done.returncode == 0, done.stderr
    for name in ("cardoso-title.npz", "cardoso-date.npz", "title.npz"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes()


@pytest.mark.slow
def test_extracts_with_own_models(trained: Path):
    page = PAGE.format(title="Mayor resigns over ferry deal", day="June 7, 2024", story=STORY)
    options = ExtractOptions(models=trained)
    article = extract(page, "https://other.example/", method="papers", options=options)
    assert article.title == "Mayor resigns over ferry deal"
    assert article.date == datetime(2024, 6, 7, 10, 15)  # noqa: DTZ001  # the page names no zone
    assert article.date_raw == "June 7, 2024, 10:15"
    assert article.body.startswith("Paragraph 0 tells")
    assert len(article.body.split("\n\n")) == 12
    assert article.evidence["title"].source == "papers"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["papers", "newscrawl"])
def test_evaluate_trains_in_folds(corpus: Path, tmp_path: Path, method: str):
    pytest.importorskip("sklearn")
    out = tmp_path / "scores.json"
    done = small("evaluate", corpus, "--method", method, "--json", out, "--jobs", 0)
    assert done.returncode == 0, done.stderr
    scores = json.loads(out.read_text())["corpora"]["small"]["scores"]["all"]
    assert scores["title"]["bag"]["f1"] == 1
    assert scores["date"]["trusted"]["correct"] == 9


@pytest.mark.slow
@pytest.mark.parametrize("method", ["papers", "newscrawl"])
def test_evaluate_rejects_models_trained_on_scored_sites(trained: Path, corpus: Path, method: str):
    done = scrapy(REPOSITORY, "evaluate", corpus, "--method", method, "--models", trained)
    assert done.returncode == 2
    assert "were trained on the sites of 9 of the 9 pages" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (2, ["train", "CORPUS"], "'-o'"),
        (1, ["train", "CORPUS", "-o", "nowhere"], "no folder nowhere"),
        (2, ["train", "-o", "."], "'CORPUS...'"),
        (1, ["train", "nowhere", "-o", "."], "no corpus at nowhere"),
        (2, ["train", "CORPUS", "-o", ".", "--jobs", "-1"], "'--jobs': -1 is not in"),
        (1, ["evaluate", "CORPUS", "--method", "papers", "--models", "nowhere"], "nowhere"),
    ],
)
def test_train_reports_errors(corpus: Path, code: int, arguments: list[str], message: str):
    done = scrapy(REPOSITORY, *[str(corpus) if one == "CORPUS" else one for one in arguments])
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


# --- the models in the package


def test_packaged_models_load():
    models = load_models()
    assert models.independent_date is None
    assert "bbc.co.uk" in models.sites or len(models.sites) > 300
    assert models is load_models()


def test_load_models_names_damaged_file(tmp_path: Path):
    models = load_models()
    save_ensemble(models.date, tmp_path / "cardoso-title.npz")
    save_ensemble(models.date, tmp_path / "cardoso-date.npz")
    with pytest.raises(ModelError, match=r"cardoso-title\.npz .* other features"):
        load_models(tmp_path)


def test_cardoso_method_starts_body_after_title():
    page = PAGE.format(title="Mayor resigns over ferry deal", day="June 7, 2024", story=STORY)
    article = extract(page, "https://other.example/", method="papers")
    assert article.title == "Mayor resigns over ferry deal"
    assert article.date == datetime(2024, 6, 7, 10, 15)  # noqa: DTZ001  # the page names no zone
    assert article.body.startswith("Paragraph 0 tells")
    assert "Contact" not in article.body


def test_falls_back_to_title_element():
    article = extract("<title>Only here</title><p>x</p>", method="papers")
    assert article.title == "Only here"
    assert article.evidence["title"].source == "title"
    assert extract("<p>x</p>", method="papers").title is None


@pytest.mark.corpus
def test_coverage_of_the_corpora(corpus_dir: Path):
    """97.9 % of titles in one node, 84 % of dates."""
    found = [
        align(parse_document(page.html()), page)
        for page in load_corpus(corpus_dir / "news212").pages
        if page.title and page.day_counts
    ]
    title, date = Coverage.of(found, "title"), Coverage.of(found, "date")
    assert title.one_node / title.labelled > 0.95
    assert (title.one_node + title.joined) / title.labelled > 0.98
    assert (date.one_node + date.joined) / date.labelled > 0.9


# --- the default's title


def test_rejects_too_few_pages(corpus: Path):
    pytest.importorskip("sklearn")
    page = load_corpus(corpus).pages[0]
    bare = replace(example(parse_document(page.html()), page), labels=Labels())
    with pytest.raises(TooFewPagesError):
        fit_title_model([page], [bare])


def test_candidates_without_title_are_negatives(corpus: Path):
    page = load_corpus(corpus).pages[0]
    one = example(parse_document(page.html()), page)
    texts = [span.text for span in one.candidates.spans]
    assert texts[:2] == [page.title, "Newsletter"]
    assert [span.text for span in one.wrong.spans] == texts[1:]


def test_title_model_of_one_site_is_uncalibrated(corpus: Path):
    pytest.importorskip("sklearn")
    page = load_corpus(corpus).pages[0]
    one = example(parse_document(page.html()), page)
    model = fit_title_model([page], [one])
    assert model.ensemble.calibration == ()
    assert model.ensemble.calibrated(0.3) == 0.3


@pytest.mark.corpus
@pytest.mark.slow
def test_title_model_on_other_sites(corpus_dir: Path):
    """Micro F1 and exact titles against text nodes."""
    pytest.importorskip("sklearn")
    pages = [
        page
        for name in ("news212", "fundus")
        for page in load_corpus(corpus_dir / name).pages
        if page.title
    ]
    read = read_examples(pages, workers=2)
    place = extra_site(read.pages)
    bundle = list(zip(read.pages, read.examples, place, strict=True))
    matches = []
    for fold in set(place):
        others = [(page, one) for page, one, other in bundle if other != fold]
        model = fit_title_model(*map(list, zip(*others, strict=True)))
        matches += [
            TitleMatch.of(title_text(without_style(one.candidates), model), one.title)
            for _, one, other in bundle
            if other == fold and one.title
        ]
    means = match_means(matches)
    assert means["pages"] > 640
    assert means["micro_f1"] >= 0.98
    assert means["exact"] >= 0.94
