"""Pages made of labelled ones, and the classifiers fitted to them."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from newscrawl.document.document import parse_document
from newscrawl.fields.kind.kind_features import KIND_FEATURES, PAGE_FEATURES
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.labels import align
from newscrawl.lab.training.kind_training import (
    KindExample,
    KindPage,
    calibration_curve,
    fit_kind_models,
    predict_in_folds,
    read_kind_page,
)
from newscrawl.lab.training.made_pages import made_articles, made_indexes
from newscrawl.lab.training.page_templates import stories_of
from newscrawl.lab.training.title_pages import made_title_pages

PARAGRAPHS = [
    f"The council met for the {n}th time, and did not decide about the bridge." for n in range(9)
]
DATA = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
HTML = (
    f"<html><head><title>No decision</title>{DATA}</head><body><header><a href=/>Gazette</a></header>"
    f"<article><h1>Council does not decide</h1><time>May 17, 2026</time>"
    f"{''.join(f'<p>{one}</p>' for one in PARAGRAPHS)}</article></body></html>"
).encode()


def labelled(number: int, **labels: str) -> LabelledPage:
    values = {"title": "Council does not decide", "body": "\n".join(PARAGRAPHS), **labels}
    site = f"site{number}.example"
    return LabelledPage(
        "corpus", str(number), Path(), f"https://{site}/{number}", site, "tune", **values
    )  # type: ignore[arg-type]


def made(page: LabelledPage) -> dict[str, list[str]]:
    others = "\n".join(f"Story {number} of another site is told here." for number in range(5))
    stories = stories_of([labelled(99, title="Another headline of the day", body=others)])
    found: dict[str, list[str]] = {}
    for group, html in [*made_articles(page, HTML, stories), *made_indexes(page, HTML, stories)]:
        found.setdefault(group, []).append(html.decode())
    return found


def test_made_pages_are_deterministic():
    assert made(labelled(1)) == made(labelled(1))
    assert made(labelled(1)) != made(labelled(2))  # nor is it always the same


@pytest.mark.parametrize("number", range(12))
def test_made_pages_keep_or_replace_the_body(number: int):
    """Articles keep their beginning without structured data; indexes lose the body."""
    pages = made(labelled(number))
    for html in (*pages["made article"], *pages["old style"], *pages["undated"]):
        assert PARAGRAPHS[0] in html
        assert "ld+json" not in html
    assert "May 17" not in pages["undated"][0]
    for html in pages["index in place"]:
        document = parse_document(html)
        assert "Gazette" in document.subtree_text(0)
        assert PARAGRAPHS[-1] not in document.subtree_text(0)
    (section,) = pages["made section"]
    assert "/s/0" in section
    assert PARAGRAPHS[-1] not in section
    assert "Council does not decide" not in section


def test_kind_examples_of_a_page(tmp_path: Path):
    """A labelled page also has examples of made pages; typed pages have one."""
    folder = tmp_path / "corpus"
    (folder / "pages").mkdir(parents=True)
    (folder / "pages" / "1.html.gz").write_bytes(gzip.compress(HTML))
    (folder / "truth.jsonl").write_text(
        '{"id": "1", "url": null, "site": "a.example", "title": "Council does not decide", "body": "'
        + "\\n".join(PARAGRAPHS)
        + '"}\n'
    )
    page = replace(labelled(1), path=folder / "pages" / "1.html.gz")
    examples = read_kind_page(HTML, page=page.to_plain(), models=None)["examples"]
    groups = [one["group"] for one in examples]
    assert groups[0] == "article"
    assert {"made article", "old style", "undated", "made index", "made other"} <= set(groups)
    assert all(one["features"].keys() >= set(KIND_FEATURES) for one in examples)
    typed = replace(page, page_type="listing")
    (one,) = read_kind_page(HTML, page=typed.to_plain(), models=None)["examples"]
    assert one["group"] == "list"


def test_kind_models_separate_articles_and_lists():
    """Also on other sites; calibration is monotonic."""
    pytest.importorskip("sklearn")
    pages = [
        KindPage(
            labelled(number),
            [
                KindExample("article", dict.fromkeys(KIND_FEATURES, float(number % 7))),
                KindExample("list", dict.fromkeys(KIND_FEATURES, 20.0 + number % 5)),
            ],
        )
        for number in range(40)
    ]
    models = fit_kind_models(pages)
    for model, features in ((models.whole, KIND_FEATURES), (models.page, PAGE_FEATURES)):
        article, index = model.ensemble.predict(dict.fromkeys(features, (3.0, 22.0)))
        assert article > 0.9 > 0.1 > index
        assert model.ensemble.calibrated(article) > model.ensemble.calibrated(index)
    curve = calibration_curve(predict_in_folds(pages))
    assert list(curve) == sorted(curve)


def test_title_pages_keep_the_title_and_lose_structured_data():
    page = labelled(1)
    stories = stories_of([page, labelled(2, title="Another headline of the day")])
    pages = made_title_pages(page, HTML, stories)
    assert pages == made_title_pages(page, HTML, stories)
    assert len(set(pages)) == 3
    assert not any(b"NewsArticle" in html for html in pages)
    assert all(align(parse_document(html), page).title for html in pages)
    assert made_title_pages(page, HTML, []) == []
