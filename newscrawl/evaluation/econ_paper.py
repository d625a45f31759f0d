"""What the ECON paper prints of its own method: Tables II to V, against CoreEx."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any, Literal, get_args

from lxml import html as lxml_html

from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.body.econ import EconParameters, extract_news
from newscrawl.body.render import BLOCK_LEVEL, render
from newscrawl.corpora.alignment import covered_nodes
from newscrawl.corpora.corpus import LabelledPage
from newscrawl.corpora.map_pages import map_pages
from newscrawl.corpora.metrics import bag_score, mean
from newscrawl.corpora.tables import Table, share
from newscrawl.document.document import TEXT, parse_document
from newscrawl.text import weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from newscrawl.corpora.map_pages import PageOutcome
    from newscrawl.document.document import Document

Verdict = Literal["correctly", "wrongly", "missed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

ENTIRE = 0.9
"""Recall of the body's words from which "the entire content" counts as extracted."""
ONLY = 0.9
"""Precision, of words of the body or the title, from which nothing else counts as extracted."""

SHORT = 1200
"""Weighted characters of the longest body of a short-page; the median body has 4,300."""
LEAST_PIECES = 30
"""Text nodes of the body of a pieces-page, at least."""
BROKEN = 0.75
"""Share of them that is in an inline element or beside one, in a pieces-page, at least."""

READINGS: Mapping[str, Callable[[Document], list[int]]] = {
    "econ:literal": lambda document: extract_news(document, EconParameters.LITERAL),
    "econ": extract_news,
    "coreex:R5": lambda document: coreex(document, CoreExParameters.PUBLISHED),
    "coreex": coreex,
}
EXPERIMENTS = {
    "all": "Experiment 1 (Table II): all pages",
    "pieces": "Experiment 2 (Table III): pieces-pages",
    "short": "Experiment 3 (Table IV): short-pages",
}
PUBLISHED = {
    "all": {"econ": (0.937, 0.056, 0.007), "coreex": (0.826, 0.099, 0.075)},
    "pieces": {"econ": (0.91, 0.06, 0.03), "coreex": (0.51, 0.17, 0.32)},
    "short": {"econ": (0.41, 0.07, 0.52), "coreex": (0.34, 0.15, 0.51)},
    "languages": {"econ": (0.90, 0.06, 0.04), "coreex": (0.92, 0.02, 0.06)},
}
"""Shares extracted correctly, wrongly and missed: 500, 100, 100 and 50 pages, judged by hand."""
LANGUAGES = {
    "zh": "Chinese", "en": "English", "fr": "French", "de": "German", "it": "Italian",
    "ja": "Japanese", "pt": "Portuguese", "ru": "Russian", "es": "Spanish", "ar": "Arabic",
    "hi": "Hindi",
}  # fmt: skip
"""The languages of the paper, and Hindi for Devanagari."""


@dataclass(frozen=True, slots=True)
class EconPage:
    """What the paper judges of a page."""

    verdicts: dict[str, Verdict] = field(default_factory=lambda: dict.fromkeys(READINGS, "missed"))
    short: bool = False
    pieces: bool = False
    language: str = ""
    #: CPU time of each reading as a multiple of parsing the page with lxml
    costs: dict[str, float] = field(default_factory=dict)


def measure(
    pages: Sequence[LabelledPage],
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[PageOutcome[EconPage]]:
    """Return the verdicts on the *pages* whose title and body are labelled; failed ones are missed."""
    return map_pages(
        "newscrawl.evaluation.econ_paper:measure_page",
        [page for page in pages if page.relevant_content is not None],
        lambda plain: EconPage(**plain),
        lambda _: EconPage(),
        workers=workers,
        advance=advance,
    )


def measure_page(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Return the :class:`EconPage` of *page* as JSON values. Raises what parsing raises."""
    labelled = LabelledPage.from_plain(page)
    start = thread_time()
    lxml_html.document_fromstring(html)
    parse = thread_time() - start
    document = parse_document(html)
    verdicts: dict[str, Verdict] = {}
    costs = {}
    for name, reading in READINGS.items():
        start = thread_time()
        forest = reading(document)
        costs[name] = (thread_time() - start) / parse
        verdicts[name] = judge(render(document, forest), labelled.title or "", labelled.body or "")
    return asdict(
        EconPage(
            verdicts,
            short=weighted_length(labelled.body or "") < SHORT,
            pieces=is_pieces_page(document, labelled.body or ""),
            language=(document.root.get("lang") or "")[:2].lower(),
            costs=costs,
        )
    )


def judge(output: str, title: str, body: str) -> Verdict:
    """Return the paper's class of *output*; whether it holds the title does not matter.

    Correctly: the entire content and nothing else. Wrongly: the entire content, and noise.
    Missed: a part of the content, or none.
    """
    extracted, content = words(output), words(body)
    if bag_score(extracted, content).recall < ENTIRE:
        return "missed"
    with_title = bag_score(extracted, content + words(title))
    return "correctly" if with_title.precision >= ONLY else "wrongly"


def is_pieces_page(document: Document, body: str) -> bool:
    """Return whether links and fonts break the body of the page into pieces."""
    rows = list(document.text_nodes())
    nodes = [words(document.text[row]) for row in rows]
    pieces = [rows[place] for place in covered_nodes(nodes, words(body))]
    if len(pieces) < LEAST_PIECES:
        return False
    return mean([_is_broken_off(document, row) for row in pieces]) >= BROKEN


def _is_broken_off(document: Document, row: int) -> bool:
    parent = document.parent[row]
    if document.tag[parent] not in BLOCK_LEVEL:
        return True
    beside = {document.tag[child] for child in document.children(parent)}
    return not beside <= BLOCK_LEVEL | {TEXT, "br"}


def summarise_econ(outcomes: Sequence[PageOutcome[EconPage]]) -> dict[str, Any]:
    """Return the paper's figures over *outcomes* as plain JSON values."""
    values = [outcome.value for outcome in outcomes]
    groups = {
        "all": values,
        "pieces": [one for one in values if one.pieces],
        "short": [one for one in values if one.short],
        **{language: [one for one in values if one.language == language] for language in LANGUAGES},
    }
    return {
        "pages": len(values),
        "sites": len({outcome.page.site for outcome in outcomes}),
        "groups": {name: _verdicts(group) for name, group in groups.items()},
        "costs": {
            name: median([one.costs[name] for one in values if one.costs] or [0.0])
            for name in READINGS
        },
    }


def _verdicts(pages: Sequence[EconPage]) -> dict[str, Any]:
    counts = {name: Counter(one.verdicts[name] for one in pages) for name in READINGS}
    return {
        "pages": len(pages),
        "verdicts": {
            name: {verdict: counts[name][verdict] for verdict in VERDICTS} for name in READINGS
        },
    }


def econ_tables(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Yield the tables of the experiments; *columns* are summaries by corpus."""
    for key, title in EXPERIMENTS.items():
        yield _experiment(title, key, columns)
    yield _languages(columns)
    yield Table(
        "CPU time of a page in parses of it by lxml, median",
        ("method", *columns),
        [
            [name, *(f"{column['costs'][name]:.2f}" for column in columns.values())]
            for name in READINGS
        ],
    )


def _experiment(title: str, key: str, columns: Mapping[str, Mapping[str, Any]]) -> Table:
    pages = [str(column["groups"][key]["pages"]) for column in columns.values()]
    rows = [["pages", "100" if key != "all" else "500", *pages]]
    for name in READINGS:
        published = PUBLISHED[key][name.partition(":")[0]]
        cells = (_cell(column["groups"][key], name) for column in columns.values())
        rows.append([name, " / ".join(map(share, published)), *cells])
    return Table(f"{title}, correctly / wrongly / missed", ("", "paper", *columns), rows)


def _languages(columns: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the table of Experiment 4; the paper's 50 pages are of nine languages together."""
    together = list(columns.values())[-1]["groups"]
    published = PUBLISHED["languages"]
    rows = [
        ["nine languages, paper", "50", *(" / ".join(map(share, published[name.partition(":")[0]])) for name in READINGS)]
    ]  # fmt: skip
    rows += [
        [shown, str(group["pages"]), *(_cell(group, name) for name in READINGS)]
        for language, shown in LANGUAGES.items()
        if (group := together[language])["pages"]
    ]
    title = "Experiment 4 (Table V): other languages, correctly / wrongly / missed"
    return Table(title, ("language", "pages", *READINGS), rows)


def _cell(group: Mapping[str, Any], name: str) -> str:
    counts = group["verdicts"][name]
    if not group["pages"]:
        return ""
    return " / ".join(share(counts[verdict] / group["pages"]) for verdict in VERDICTS)
