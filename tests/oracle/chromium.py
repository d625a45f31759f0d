"""Computed styles of the elements of a page, from Chromium without network access."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping

    from playwright.async_api import BrowserContext, Route

NUMBER = "data-nc"
"""Attribute with the row of an element, which aligns the two trees."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")
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
_VIEWPORT = {"width": 1280, "height": 800}
_PAGES_AT_ONCE = 4
_PAGE_MS = 120_000

# Relative colour syntax converts any colour to sRGB.
_SCRIPT = """
([attribute, rows]) => {
  const element = new Map(), number = e => e ? Number(e.getAttribute(attribute) ?? -2) : -1;
  for (const e of document.querySelectorAll(`[${attribute}]`)) element.set(number(e), e);
  const none = new Map();
  const gone = e => {
    if (!e) return false;
    if (!none.has(e)) none.set(e, getComputedStyle(e).display === 'none' || gone(e.parentElement));
    return none.get(e);
  };
  const styles = rows.map(row => {
    const e = element.get(row);
    const s = e && getComputedStyle(e);
    // Elements outside of the flat tree, as in <video>, have no style.
    if (!s?.fontSize) return null;
    return [s.fontSize, s.fontWeight, s.color, s.fontFamily, s.fontStyle, gone(e), s.visibility];
  });
  const around = {};
  for (const [row, e] of element)
    around[row] = [number(e.parentElement), number(e.previousElementSibling)];
  const probe = document.createElement('i'), srgb = {};
  document.documentElement.append(probe);
  for (const color of new Set(styles.filter(s => s && !s[2].startsWith('rgb')).map(s => s[2]))) {
    probe.style.color = `color(from ${color} srgb r g b / alpha)`;
    srgb[color] = getComputedStyle(probe).color;
  }
  return {styles, around, srgb};
}
"""


@dataclass(frozen=True, slots=True)
class Request:
    """A page to render, and the rows of the requested elements."""

    url: str
    #: UTF-8; each element has its row in the attribute :data:`NUMBER`
    html: bytes
    #: absolute URL -> bytes
    sheets: Mapping[str, bytes]
    rows: list[int]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page rendered by Chromium."""

    #: for each requested row: size, weight, colour, family, style, display none, visibility;
    #: None if Chromium's parser dropped the element or gives it no style (inside <video>)
    styles: list[list[Any] | None]
    #: row -> rows of the parent and of the previous sibling; -1 for none, -2 for elements that
    #: only Chromium's tree has
    around: dict[int, tuple[int, int]]
    #: colour in another notation than ``rgb()`` -> the same as ``color(srgb ...)``
    srgb: dict[str, str]


def executable() -> str | None:
    """Return the path of an installed Chromium, None if there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def missing() -> str | None:
    """Return the reason why the oracle cannot run on this machine, None if it can."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed: pip install -e '.[dev]'"
    if executable() is None:
        return f"no Chromium on this machine ({', '.join(_NAMES)}): apt-get install chromium"
    return None


def render(requests: Iterable[Request], done: Callable[[int, Rendered | Exception], None]) -> None:
    """Render pages, some in parallel, and call *done* with the index and result of each."""
    asyncio.run(_render(requests, done))


async def _render(
    requests: Iterable[Request], done: Callable[[int, Rendered | Exception], None]
) -> None:
    from playwright.async_api import Error  # may be missing

    indexed = enumerate(requests)

    async def work(context: BrowserContext) -> None:
        for index, request in indexed:
            try:
                rendered: Rendered | Exception = await _page(context, request)
            except Error as error:
                rendered = error
            done(index, rendered)

    async with browser_context() as context:
        await asyncio.gather(*(work(context) for _ in range(_PAGES_AT_ONCE)))


@asynccontextmanager
async def browser_context(*, images: bool = False) -> AsyncIterator[BrowserContext]:
    """Start Chromium with a screen of 1280 by 800 px for the duration of the context.

    JavaScript is off, so that a page is shown as crawled; ``page.evaluate`` still works.
    """
    from playwright.async_api import async_playwright  # may be missing

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable(),
            headless=True,
            args=[*_ARGUMENTS, f"--blink-settings={_SETTINGS}{str(images).lower()}"],
        )
        yield await browser.new_context(
            java_script_enabled=False, viewport=_VIEWPORT, service_workers="block"
        )
        await browser.close()


async def _page(context: BrowserContext, request: Request) -> Rendered:
    page = await context.new_page()
    page.set_default_timeout(_PAGE_MS)
    served = False

    async def answer(route: Route) -> None:
        nonlocal served
        requested = route.request
        if requested.is_navigation_request() and requested.frame == page.main_frame:
            # 204 ignores a <meta http-equiv=refresh>.
            fields = {"status": 204} if served else {"body": request.html}
            served = True
            await route.fulfill(content_type="text/html; charset=utf-8", **fields)
        elif (sheet := request.sheets.get(urldefrag(requested.url).url)) is not None:
            headers = {"access-control-allow-origin": "*"}
            await route.fulfill(body=sheet, content_type="text/css", headers=headers)
        else:
            await route.abort()

    try:
        await page.route("**/*", answer)
        # Without scripts, "domcontentloaded" fires before linked sheets apply.
        await page.goto(request.url, wait_until="load")
        result = await page.evaluate(_SCRIPT, [NUMBER, request.rows])
    finally:
        await page.close()
    around = {int(row): (parent, before) for row, (parent, before) in result["around"].items()}
    return Rendered(result["styles"], around, result["srgb"])
