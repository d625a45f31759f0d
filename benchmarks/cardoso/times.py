"""Table 3 of DocEng 2011: cost of title extraction, and savings of the restriction.

The time of a step is the minimum CPU time of interleaved rounds. ``cached``: the process has used
the page's style sheets before; ``new process``: empty caches. Chromium's time is that of its
process tree for loading the page and reading the style of its text, plus the classifier as in the
paper.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import struct
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urldefrag

import lxml.html
import psutil

from benchmarks.cardoso.looks import corpus_bytes, oracle_page, without_author_styles
from benchmarks.cardoso.readings import spread
from newscrawl.body.nce import nce
from newscrawl.css import INITIAL_STYLE, Sheet, SheetStore, Stylesheets, decode_sheet, sheet_hash
from newscrawl.css.style import stacks
from newscrawl.document.document import parse_document
from newscrawl.fields.cardoso import TextNodes, evaluated_rows, find_date, find_title, load_models
from newscrawl.lab.corpora.chromium import NUMBER, browser_context
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.evaluation.bootstrap import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from playwright.async_api import Page as Tab
    from playwright.async_api import Route

    from benchmarks.cardoso.looks import Source
    from newscrawl.document.document import Document
    from newscrawl.lab.corpora.corpus import LabelledPage
    from tests.oracle.pages import Page

SAVING = "35 to 40 %"
"""Share of the time saved by the restriction in DocEng 2011, section 4."""
ROUNDS = 3

PARSE = "lxml.html"
HEAD_TITLE = "title element"
STRUCTURAL = "structural"
CACHED, NEW = "cached", "new process"
PLAIN_BROWSER, IMAGE_BROWSER = "Chromium, no images", "Chromium, images"
CLASSIFY = "the classifier"
TAG_STYLES = "style of the tags"


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


class Step(NamedTuple):
    """Extraction step whose cost depends on the caches."""

    name: str
    whole: bool = False
    date: bool = False


VISUAL = Step("structural + visual")
WHOLE_VISUAL = Step("structural + visual, whole tree", whole=True)
BOTH = Step("title and date", date=True)
WHOLE_BOTH = Step("title and date, whole tree", whole=True, date=True)
STYLES = Step("style alone")
STEPS = VISUAL, WHOLE_VISUAL, BOTH, WHOLE_BOTH

PUBLISHED = {
    HEAD_TITLE: "0.40",
    STRUCTURAL: "1.00",
    VISUAL.name: "1.77",
    WHOLE_VISUAL.name: "3.01",
    PLAIN_BROWSER: "10.80",
    IMAGE_BROWSER: "39.16",
}
"""Table 3: times relative to the structural approach; the browser was WebKit."""


class LinkedSheets(Mapping[str, Sheet]):
    """Sheets of a site by URL, from a store or parsed lazily."""

    def __init__(self, texts: Mapping[str, tuple[str, str]], store: SheetStore) -> None:
        #: URL -> hash and text
        self._texts = texts
        self._store = store

    def __getitem__(self, url: str) -> Sheet:
        key, text = self._texts[url]
        return self._store.get(key) or self._store.parsed(text)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def forget() -> None:
    """Clear the caches of selectors, values and pages; parse the default style sheet again."""
    for name, module in list(sys.modules.items()):
        if name.startswith("newscrawl.css."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
    stacks.clear()
    Stylesheets(parse_document(b"<p>x"))


class Timed:
    """A page and the minimum CPU time of each step, in seconds."""

    def __init__(self, page: LabelledPage, group: str) -> None:
        self.group = group
        self.page = oracle_page(page)
        self._texts = _decoded(page.path.parent.parent)
        self._models = load_models()
        self.times: dict[str, float] = {}

    def measure(self) -> None:
        """Time all steps and keep the minimum of each."""
        html, models = self.page.html, self._models
        self._take(PARSE, lambda: lxml.html.document_fromstring(html))
        self._take(HEAD_TITLE, lambda: parse_document(html).title)
        self._take(STRUCTURAL, lambda: find_title(_plain_nodes(parse_document(html)), models.title))
        document = parse_document(html)
        nodes = _plain_nodes(document)
        self._take(CLASSIFY, lambda: find_title(nodes, models.title))
        bare = without_author_styles(html)
        self._take(TAG_STYLES, lambda: self._style(bare, nodes.rows, {}))
        self._measure_visual(document, nodes.rows)

    def _measure_visual(self, document: Document, rows: Sequence[int]) -> None:
        store = SheetStore()
        self._extract(WHOLE_BOTH, store)
        for state in (CACHED, NEW):
            for step in STEPS:
                store = self._before(state, store)
                self._take(named(step, state), partial(self._extract, step, store))
            store = self._before(state, store)
            sheets = LinkedSheets(self._texts, store)
            action = partial(self._style, document, rows, sheets, store)
            self._take(named(STYLES, state), action)

    def _before(self, state: str, store: SheetStore) -> SheetStore:
        """Prepare the caches for *state* and return the style sheet store to use."""
        if state == CACHED:
            return store
        forget()
        return SheetStore()

    def _extract(self, step: Step, store: SheetStore) -> None:
        document = parse_document(self.page.html)
        rows = evaluated_rows(document, () if step.whole else nce(document).forest)
        sheets = LinkedSheets(self._texts, store)
        styles = Stylesheets(document, sheets, base_url=self.page.url, store=store)
        nodes = TextNodes.of(document, rows, styles.style_of)
        title, _ = find_title(nodes, self._models.title)
        if step.date:
            find_date(nodes, self._models, title)

    def _style(
        self,
        document: Document,
        rows: Sequence[int],
        sheets: Mapping[str, Sheet],
        store: SheetStore | None = None,
    ) -> None:
        styles = Stylesheets(document, sheets, base_url=self.page.url, store=store)
        for row in rows:
            styles.style_of(row)

    def _take(self, name: str, step: Callable[[], object]) -> None:
        start = time.process_time()
        step()
        taken = time.process_time() - start
        self.times[name] = min(taken, self.times.get(name, taken))


def named(step: Step, state: str) -> str:
    """Return the name of a step in a state."""
    return f"{step.name}, {state}"


@cache
def _decoded(corpus: Path) -> dict[str, tuple[str, str]]:
    """Return the hash and the text of each sheet of a corpus."""
    texts = {url: decode_sheet(data) for url, data in corpus_bytes(corpus).items()}
    return {url: (sheet_hash(text), text) for url, text in texts.items()}


def _plain_nodes(document: Document) -> TextNodes:
    """Return the classified nodes, all with the initial style."""
    rows = evaluated_rows(document, nce(document).forest)
    return TextNodes.of(document, rows, lambda _row: INITIAL_STYLE)


def time_pages(pages: Iterable[tuple[LabelledPage, str]], browser_pages: int) -> list[Timed]:
    """Return the times of (page, group); Chromium loads at most *browser_pages* of each group."""
    subjects = [Timed(page, group) for page, group in pages]
    for subject in subjects:
        for _ in range(ROUNDS):
            subject.measure()
    for group in groups_of(subjects):
        members = spread([it for it in subjects if it.group == group], browser_pages)
        for name, images in ((PLAIN_BROWSER, False), (IMAGE_BROWSER, True)):
            loaded = [subject.page for subject in members]
            costs = browser_costs(loaded, images=images) if members else []
            for subject, cost in zip(members, costs, strict=True):
                if cost is not None:
                    subject.times[name] = cost.cpu
    return subjects


def groups_of(subjects: Iterable[Timed]) -> list[str]:
    """Return the groups of the timed pages."""
    return list(dict.fromkeys(subject.group for subject in subjects))


def time_tables(subjects: Sequence[Timed]) -> Iterator[Table]:
    """Yield Table 3 and the savings of the restriction to relevant nodes."""
    yield table_3(subjects)
    yield saving_table(subjects)


def table_3(subjects: Sequence[Timed]) -> Table:
    """Return the times of title extraction, relative to the structural approach and to parsing."""
    groups = groups_of(subjects)
    names = [PARSE, HEAD_TITLE, STRUCTURAL]
    names += [named(step, state) for step in (VISUAL, WHOLE_VISUAL) for state in (CACHED, NEW)]
    rows = []
    for name in [*names, PLAIN_BROWSER, IMAGE_BROWSER]:
        timed = [[it.times for it in subjects if it.group == group] for group in groups]
        cells = [cell for times in timed for cell in _relative(times, name)]
        rows.append([name, PUBLISHED.get(_without_state(name), ""), *cells])
    columns = ["", "RCD4, paper"]
    for group in groups:
        columns += [f"{group}: by structural", "by lxml.html, median"]
    return Table("Table 3: time of title extraction", columns, rows)


def _without_state(name: str) -> str:
    return name.removesuffix(f", {CACHED}").removesuffix(f", {NEW}")


def _relative(times: Iterable[Mapping[str, float]], name: str) -> list[str]:
    """Return the total relative to the structural approach, and the median relative to parsing."""
    timed = [page for page in times if name in page]
    if not timed:
        return ["", ""]
    # the paper adds the classifier to the time of the browser
    is_browser = name in (PLAIN_BROWSER, IMAGE_BROWSER)
    seconds = [page[name] + (page[CLASSIFY] if is_browser else 0) for page in timed]
    ratio = sum(seconds) / sum(page[STRUCTURAL] for page in timed)
    median = statistics.median(
        total / page[PARSE] for total, page in zip(seconds, timed, strict=True)
    )
    return [f"{ratio:.2f}", f"{median:.2f}"]


def saving_table(subjects: Sequence[Timed]) -> Table:
    """Return the share of the time of the whole tree that the relevant nodes save."""
    rows = []
    for group in groups_of(subjects):
        timed = [it.times for it in subjects if it.group == group]
        for part, full in ((VISUAL, WHOLE_VISUAL), (BOTH, WHOLE_BOTH)):
            shares = (
                1 - sum(page[named(part, state)] for page in timed)
                / sum(page[named(full, state)] for page in timed)
                for state in (CACHED, NEW)
            )  # fmt: skip
            rows.append([group, part.name, *(f"{100 * share:.0f} %" for share in shares), SAVING])
    columns = ("pages", "step", CACHED, NEW, "paper")
    return Table("Time saved by the restriction to relevant nodes", columns, rows)


def style_costs(subjects: Sequence[Timed]) -> dict[tuple[str, Source], str]:
    """Return the cost of each source of style, in parses: median and 95th percentile."""
    found: dict[tuple[str, Source], str] = {}
    for group in groups_of(subjects):
        timed = [it.times for it in subjects if it.group == group]
        new = _parses(timed, named(STYLES, NEW))
        found[group, "none"] = "0"
        found[group, "tags"] = _parses(timed, TAG_STYLES)
        found[group, "ours"] = f"{_parses(timed, named(STYLES, CACHED))}; new process {new}"
        found[group, "chromium"] = _parses(timed, PLAIN_BROWSER)
    return found


def _parses(timed: Iterable[Mapping[str, float]], name: str) -> str:
    ratios = sorted(times[name] / times[PARSE] for times in timed if name in times)
    if not ratios:
        return ""
    return f"{statistics.median(ratios):.1f} ({percentile(ratios, 0.95):.1f})"


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
