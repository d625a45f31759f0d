"""Chromium without network access (extra ``browser``): shows a page as stored, without scripts."""

from __future__ import annotations

import importlib.util
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from lxml import etree

from newscrawl.crawling.network.page_rendering import CHROMIUM, find_chromium
from newscrawl.document.document import TEXT
from newscrawl.optional import MissingPackageError, require

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from playwright.async_api import BrowserContext, Page, Route

    from newscrawl.document.document import Document

NUMBER = "data-nc"
"""Attribute with the row of an element, which aligns the two trees."""

# A headless browser has no mouse: set "hover: hover" (2) and "pointer: fine" (4).
_SETTINGS = (
    "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4,"
    "imagesEnabled="
)
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    # A scroll bar would reduce vw and the width for media queries by 15 px.
    "--hide-scrollbars",
)
_PAGE_MS = 120_000

# A doctype after white space, comments and processing instructions.
_DOCTYPE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?>\s|<!--.*?-->|<\?[^>]*+>)*+(<!doctype[^>]*>)", re.IGNORECASE | re.DOTALL
)


def missing() -> str | None:
    """Return the reason why Chromium cannot be used on this machine, None if it can."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed: pip install 'newscrawl[browser]'"
    if find_chromium() is None:
        return f"no Chromium on this machine ({', '.join(CHROMIUM)}): apt-get install chromium"
    return None


def require_chromium() -> None:
    """Raise ``MissingPackageError`` if Chromium or the extra ``browser`` is missing."""
    require("playwright", "playwright", "browser")
    if reason := missing():
        raise MissingPackageError(reason)


def numbered_html(document: Document, html: bytes) -> bytes:
    """Return the tree of *document* as HTML in UTF-8, with the doctype of *html*.

    Each element has its row in the attribute :data:`NUMBER`, also in the tree of *document*.
    """
    for row, tag in enumerate(document.tag):
        if tag != TEXT:
            document.element(row).set(NUMBER, str(row))
    doctype = _DOCTYPE.match(html)
    tree = etree.tostring(document.root, method="html", encoding="utf-8", with_tail=False)
    return (doctype[1] if doctype else b"") + tree


@asynccontextmanager
async def browser_context(*, images: bool = False) -> AsyncIterator[BrowserContext]:
    """Start Chromium with a screen of 1280 by 800 px for the duration of the context.

    JavaScript is off, so that a page is shown as crawled; ``page.evaluate`` still works.
    """
    from playwright.async_api import async_playwright  # noqa: PLC0415  # an extra

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(),
            headless=True,
            args=[*_ARGUMENTS, f"--blink-settings={_SETTINGS}{str(images).lower()}"],
        )
        yield await browser.new_context(
            java_script_enabled=False,
            viewport={"width": 1280, "height": 800},
            service_workers="block",
        )
        await browser.close()


@asynccontextmanager
async def open_page(
    context: BrowserContext, url: str, html: bytes, sheet_of: Callable[[str], bytes | None]
) -> AsyncIterator[tuple[Page, list[str]]]:
    """Open *html*, in UTF-8, as the page of *url* in a tab; yield it with the missing style sheets.

    *sheet_of* returns the style sheet of an absolute URL. Raises the errors of Playwright.
    """
    page = await context.new_page()
    page.set_default_timeout(_PAGE_MS)
    served = False
    not_stored: list[str] = []

    async def answer(route: Route) -> None:
        nonlocal served
        requested = route.request
        if requested.is_navigation_request() and requested.frame == page.main_frame:
            # 204 ignores a <meta http-equiv=refresh>.
            fields = {"status": 204} if served else {"body": html}
            served = True
            await route.fulfill(content_type="text/html; charset=utf-8", **fields)
        elif (sheet := sheet_of(urldefrag(requested.url).url)) is not None:
            headers = {"access-control-allow-origin": "*"}
            await route.fulfill(body=sheet, content_type="text/css", headers=headers)
        else:
            if requested.resource_type == "stylesheet":
                not_stored.append(requested.url)
            await route.abort()

    try:
        await page.route("**/*", answer)
        # Without scripts, "domcontentloaded" fires before linked sheets apply.
        await page.goto(url, wait_until="load")
        yield page, not_stored
    finally:
        await page.close()
