"""Simplified CSS parser: the computed style of the text on a page, without a browser."""

from __future__ import annotations

from newscrawl.css.parser import Sheet, decode_sheet, parse_sheet
from newscrawl.css.sheet_links import sheet_url, sheet_urls
from newscrawl.css.sheet_store import SheetStore, sheet_hash, stored_file
from newscrawl.css.style import INITIAL_STYLE, ComputedStyle, Stylesheets

__all__ = [
    "INITIAL_STYLE",
    "ComputedStyle",
    "Sheet",
    "SheetStore",
    "Stylesheets",
    "decode_sheet",
    "parse_sheet",
    "sheet_hash",
    "sheet_url",
    "sheet_urls",
    "stored_file",
]
