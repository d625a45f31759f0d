"""Computed styles of the elements of a page, from Chromium without network access."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from playwright.async_api import BrowserContext

from newscrawl.lab.corpora.chromium import NUMBER, browser_context, open_page

_PAGES_AT_ONCE = 4

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
    return [s.fontSize, s.fontWeight, s.color, s.fontFamily, gone(e), s.visibility];
  });
  const around = {};
  for (const [row, e] of element)
    around[row] = [number(e.parentElement), number(e.previousElementSibling)];
  return {styles, around};
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

    #: for each requested row: size, weight, colour, family, display none, visibility;
    #: None if Chromium's parser dropped the element or gives it no style (inside <video>)
    styles: list[list[Any] | None]
    #: row -> rows of the parent and of the previous sibling; -1 for none, -2 for elements that
    #: only Chromium's tree has
    around: dict[int, tuple[int, int]]


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


async def _page(context: BrowserContext, request: Request) -> Rendered:
    async with open_page(context, request.url, request.html, request.sheets.get) as (page, _):
        result = await page.evaluate(_SCRIPT, [NUMBER, request.rows])
    around = {int(row): (parent, before) for row, (parent, before) in result["around"].items()}
    return Rendered(result["styles"], around)
