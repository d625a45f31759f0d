"""Pages of the sample sites as parameters of tests."""

from samples import ExpectedPage, expected_pages

ARTICLES = [page for page in expected_pages() if page.kind == "article"]
LEGACY = {
    "/2026/11/17/library-roof-appeal.html": "windows-1252",
    "/articles/20261117a.html": "Shift_JIS",
}
"""Charsets of pages that are not in UTF-8."""


def label(page: ExpectedPage) -> str:
    return f"{page.site}{page.path}"
