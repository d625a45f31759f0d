"""Extraction of the pages of the sample sites."""

import pytest

from newscrawl.extraction.extract import extract
from newscrawl.items import Article
from samples import ExpectedPage, expected_pages
from samples.expected import Check
from tests.pages.sample_pages import ARTICLES, LEGACY, label


def extracted(page: ExpectedPage) -> Article:
    return extract(
        page.file.read_bytes().replace(b"{{base}}", b"http://127.0.0.1"),
        f"http://127.0.0.1{page.path}",
        encoding=LEGACY.get(page.path, "utf-8"),
    )


@pytest.mark.parametrize("page", ARTICLES, ids=label)
def test_article_has_the_expected_fields(page: ExpectedPage):
    """Modification date and authors may be missing, but not wrong."""
    article = extracted(page)
    assert Check(page, article).faults() == []
    assert article.date_modified in {page.date_modified, None}
    assert article.language == page.language
    assert set(article.authors) <= set(page.authors)


@pytest.mark.parametrize(
    "page", [page for page in expected_pages() if not page.is_article], ids=label
)
def test_other_page_is_not_an_article_or_has_low_confidence(page: ExpectedPage):
    article = extracted(page)
    is_article = article.kind == "article" and len(article.body) >= 100
    assert not is_article or article.evidence["kind"].confidence < 0.7
