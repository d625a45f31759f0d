"""Renders labelled pages offline in Chromium and stores their geometry.

Chromium gets the tree of our parser, not the bytes of the page, so that the two trees agree; a text
node is identified by the element before it, or by its parent, and by its text.
"""

from __future__ import annotations

import asyncio
import zlib
from typing import TYPE_CHECKING, Any

from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.chromium import (
    NUMBER,
    browser_context,
    numbered_html,
    open_page,
    require_chromium,
)
from newscrawl.lab.corpora.corpus_sheets import corpus_sheets
from newscrawl.lab.visual.geometry import Box, Look, PageGeometry, text_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from playwright.async_api import BrowserContext

    from newscrawl.document.document import Document
    from newscrawl.lab.corpora.corpus import LabelledPage

_PAGES_AT_ONCE = 4
_NO_URL = "http://page.invalid/"

# Texts by place, see text_places(); a text may be several nodes, as the parser splits long ones.
GEOMETRY_SCRIPT = """
attribute => {
  const number = e => Number(e.getAttribute(attribute) ?? NaN);
  const round = values => values.map(value => Math.round(value * 10) / 10);
  const inline = e => /^(inline|contents|ruby)/.test(getComputedStyle(e).display);
  const elements = [], blocks = [], texts = new Map();
  for (const e of document.querySelectorAll(`[${attribute}]`)) {
    const {left, top, width, height} = e.getBoundingClientRect();
    if (width || height)
      elements.push([number(e), ...round([left + scrollX, top + scrollY, width, height])]);
    if (!inline(e)) blocks.push(number(e));
  }
  const opaque = color => color !== 'rgba(0, 0, 0, 0)';
  const background = e => {
    while (e && !opaque(getComputedStyle(e).backgroundColor)) e = e.parentElement;
    return e ? getComputedStyle(e).backgroundColor : 'rgb(255, 255, 255)';
  };
  const underlined = e => {
    for (; e; e = e.parentElement) {
      if (getComputedStyle(e).textDecorationLine.includes('underline')) return true;
      if (!inline(e)) return false;
    }
    return false;
  };
  const looks = new Map();
  const look = e => {
    if (!looks.has(e)) {
      const s = getComputedStyle(e);
      looks.set(e, [parseFloat(s.fontSize), Number(s.fontWeight), s.fontStyle !== 'normal',
                    underlined(e), s.color, s.fontFamily.split(',')[0], background(e)]);
    }
    return looks.get(e);
  };
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let text; (text = walker.nextNode()); ) {
    const parent = text.parentElement;
    if (!text.data.trim() || !parent) continue;
    let before = text.previousSibling;
    while (before && before.nodeType !== Node.ELEMENT_NODE) before = before.previousSibling;
    const place = before ? number(before) : ~number(parent);
    if (Number.isNaN(place)) continue;
    const found = texts.get(place) ?? {text: '', rects: [], look: null};
    texts.set(place, found);
    found.text += text.data;
    if (!parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    range.selectNodeContents(text);
    const rects = [...range.getClientRects()].filter(rect => rect.width && rect.height);
    found.rects.push(...rects.map(
      r => [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY]));
    found.look ??= look(parent);
  }
  return {
    elements, blocks,
    texts: [...texts].map(([place, {text, rects, look}]) => {
      if (!rects.length) return [place, text, null, null];
      const [left, top] = [0, 1].map(i => Math.min(...rects.map(r => r[i])));
      const [right, bottom] = [2, 3].map(i => Math.max(...rects.map(r => r[i])));
      return [place, text, round([left, top, right - left, bottom - top]), look];
    }),
    width: document.documentElement.scrollWidth,
    height: document.documentElement.scrollHeight,
  };
}
"""


def geometry_path(folder: Path, page: LabelledPage) -> Path:
    """Return the file of the geometry of *page* in *folder*."""
    checksum = zlib.crc32(page.path.read_bytes())
    return folder / page.corpus / f"{page.id}-{checksum:08x}.json.gz"


def read_geometry(folder: Path, page: LabelledPage) -> PageGeometry:
    """Return the stored geometry of *page*. Raises ``GeometryError``."""
    return PageGeometry.load(geometry_path(folder, page))


def render_pages(
    pages: Sequence[LabelledPage],
    folder: Path,
    *,
    advance: Callable[[], object] | None = None,
) -> list[tuple[LabelledPage, str]]:
    """Store the geometry of those *pages* that have none in *folder*; return pages with errors.

    Raises :class:`~newscrawl.optional.MissingPackageError` if there is something to render but no
    Chromium, or the extra ``browser`` is missing.
    """
    unrendered = [page for page in pages if not geometry_path(folder, page).is_file()]
    if not unrendered:
        return []
    require_chromium()
    return asyncio.run(_render(unrendered, folder, advance or (lambda: None)))


async def _render(
    pages: Iterable[LabelledPage], folder: Path, advance: Callable[[], object]
) -> list[tuple[LabelledPage, str]]:
    from playwright.async_api import Error  # noqa: PLC0415  # an extra

    waiting = iter(pages)
    failed: list[tuple[LabelledPage, str]] = []

    async def work(context: BrowserContext) -> None:
        for page in waiting:
            try:
                geometry = await render(
                    context, page.html(), page.url, corpus_sheets(page.path.parent.parent).content
                )
                geometry.save(geometry_path(folder, page))
            except (Error, ValueError, OSError, EOFError, zlib.error) as error:
                failed.append((page, str(error)))
            advance()

    async with browser_context() as context:
        await asyncio.gather(*(work(context) for _ in range(_PAGES_AT_ONCE)))
    return failed


async def render(
    context: BrowserContext,
    html: bytes,
    url: str | None,
    sheet_of: Callable[[str], bytes | None],
) -> PageGeometry:
    """Return the geometry of the page *html* in a tab of *context*.

    *sheet_of* returns the style sheet of a URL, None if it is missing. Raises the errors of
    Playwright and of :func:`~newscrawl.document.document.parse_document`.
    """
    document = parse_document(html)
    numbered = numbered_html(document, html)
    async with open_page(context, url or _NO_URL, numbered, sheet_of) as (tab, missing):
        rendered: dict[str, Any] = await tab.evaluate(GEOMETRY_SCRIPT, NUMBER)
    return _geometry(document, rendered, len(missing))


def _geometry(document: Document, rendered: Mapping[str, Any], missing: int) -> PageGeometry:
    places = text_places(document)
    shown = set(document.text_nodes())
    boxes = {row: Box(*box) for row, *box in rendered["elements"]}
    looks: dict[int, Look] = {}
    matched = 0
    for place, text, box, look in rendered["texts"]:
        row = places.get(place)
        if row is None or "".join(text.split()) != "".join(document.text[row].split()):
            continue
        matched += row in shown
        if box is not None:
            boxes[row], looks[row] = Box(*box), Look(*look)
    return PageGeometry(
        len(document),
        rendered["width"],
        rendered["height"],
        boxes,
        frozenset(rendered["blocks"]),
        looks,
        matched,
        len(shown) - matched,
        missing,
    )
