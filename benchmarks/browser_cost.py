"""Cost of loading a page in Chromium and reading the computed style of its text.

Measured is the CPU time of the whole process tree: browser, renderers, utilities.
"""

from __future__ import annotations

import asyncio
import random
import struct
import time
import zlib
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urldefrag

import psutil

from newscrawl.lab.corpora.chromium import NUMBER, browser_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.async_api import Page as Tab
    from playwright.async_api import Route

    from tests.oracle.pages import Page

_SCRIPT = """
() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), parents = new Set();
  for (let text; (text = texts.nextNode()); ) if (text.data.trim()) parents.add(text.parentElement);
  return [...parents].map(e => {
    const s = getComputedStyle(e);
    return [s.fontSize, s.fontWeight, s.color, s.fontFamily, s.display];
  }).length;
}
"""
_IMAGE_SIZE = 800, 450


class Cost(NamedTuple):
    """Seconds for one page."""

    cpu: float
    wall: float


def browser_costs(pages: Sequence[Page], *, images: bool) -> list[Cost | None]:
    """Return the cost of each page in one tab of one browser, None if it failed.

    The corpora contain no images. With *images* each image request is answered with a generated
    photograph of 800 by 450 pixels, otherwise images are not requested.
    """
    return asyncio.run(_costs(pages, images=images))


async def _costs(pages: Sequence[Page], *, images: bool) -> list[Cost | None]:
    from playwright.async_api import Error  # noqa: PLC0415  # may be missing

    found: list[Cost | None] = []
    picture = _png() if images else b""
    others = set(psutil.Process().children())
    async with browser_context(images=images) as context:
        (driver,) = set(psutil.Process().children()) - others
        tab = await context.new_page()
        await tab.goto("about:blank")
        for page in pages:
            try:
                found.append(await _cost(tab, page, picture, driver))
            except Error:
                found.append(None)
    return found


async def _cost(tab: Tab, page: Page, picture: bytes, driver: psutil.Process) -> Cost:
    async def answer(route: Route) -> None:
        request = route.request
        if request.is_navigation_request() and request.frame == tab.main_frame:
            await route.fulfill(body=page.html, content_type="text/html")
        elif (sheet := page.sheets.get(urldefrag(request.url).url)) is not None:
            await route.fulfill(body=sheet, content_type="text/css")
        elif request.resource_type == "image" and picture:
            await route.fulfill(body=picture, content_type="image/png")
        else:
            await route.abort()

    await tab.unroute_all()
    await tab.route("**/*", answer)
    cpu, wall = _cpu_seconds(driver), time.perf_counter()
    await tab.goto(page.url, wait_until="load")
    await tab.evaluate(_SCRIPT, NUMBER)
    return Cost(_cpu_seconds(driver) - cpu, time.perf_counter() - wall)


def _cpu_seconds(driver: psutil.Process) -> float:
    """Return the CPU seconds of the processes of Playwright's *driver*, with finished children."""
    used = 0.0
    for process in driver.children(recursive=True):
        try:
            used += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return used


def _png() -> bytes:
    """Return an image that compresses like a photograph: gradients with noise."""
    width, height = _IMAGE_SIZE
    noise = random.Random(1)  # the same picture in every run
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            grain = noise.getrandbits(3)
            rows += bytes((x * 200 // width + grain, y * 200 // height + grain, 90 + grain))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
