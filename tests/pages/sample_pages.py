"""Pages of the sample sites as parameters of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samples import expected_pages

if TYPE_CHECKING:
    from samples import ExpectedPage

ARTICLES = [page for page in expected_pages() if page.kind == "article"]
LEGACY = {
    "/2026/11/17/library-roof-appeal.html": "windows-1252",
    "/articles/20261117a.html": "Shift_JIS",
}
"""Charsets of pages that are not in UTF-8."""


def label(page: ExpectedPage) -> str:
    return f"{page.site}{page.path}"
