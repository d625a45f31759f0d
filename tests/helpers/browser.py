"""HTML pages of newscrawl in Chromium, without network access."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from newscrawl.crawling.network.page_rendering import find_chromium
from newscrawl.lab.corpora.chromium import missing

needs_chromium = pytest.mark.skipif(missing() is not None, reason=str(missing()))
DESKTOP, PHONE = 1280, 390
"""Widths in pixels."""
SCHEMES = ("light", "dark")
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND")

# Elements with text of their own, their contrast by WCAG 2.2, and the first words.
_CONTRASTS = """
() => {
  const channels = color => color.match(/[\\d.]+/g).map(Number);
  const linear = value => value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = channels(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!own || !element.getClientRects().length || element.closest('script, style')) continue;
    const style = getComputedStyle(element);
    const text = element instanceof SVGElement ? style.fill : style.color;
    const pair = [luminance(channels(text)), luminance(ground(element))];
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    found.push([contrast, element.textContent.trim().slice(0, 30)]);
  }
  return found;
}
"""


@contextmanager
def browse(
    path: Path, *, scheme: str = "light", width: int = DESKTOP
) -> Iterator[tuple[Page, list[str]]]:
    """Open a file; yield the page and the list of its console messages, errors and dialogs."""
    from playwright.sync_api import sync_playwright  # may be missing

    messages: list[str] = []

    def dismiss(dialog: Any) -> None:
        messages.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(_ARGUMENTS))
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", dismiss)
        page.goto(path.as_uri())
        yield page, messages
        browser.close()


def low_contrasts(page: Page) -> list[Any]:
    """Return the texts with less contrast than WCAG 2.2 AA requires."""
    return [found for found in page.evaluate(_CONTRASTS) if found[0] < 4.5]


def overflow(page: Page) -> int:
    """Return the pixels by which the page is wider than its window."""
    pixels: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return pixels


def tab_stops(page: Page, limit: int = 60) -> list[str]:
    """Press Tab from the start of the page; return the name of each element that gets the focus."""
    stops: list[str] = []
    for _ in range(limit):
        page.keyboard.press("Tab")
        name = page.evaluate(
            """() => {
              const e = document.activeElement, label = e.closest('label');
              const shown = getComputedStyle(e).outlineStyle !== 'none' || e.tagName === 'IFRAME';
              if (e === document.body) return null;
              return (shown ? '' : 'no outline: ') + (e.title || (label ?? e).textContent.trim().split(/\\s+/).join(' '));
            }"""
        )
        if name is None or (stops and name == stops[0]):
            break
        stops.append(name)
    return stops
