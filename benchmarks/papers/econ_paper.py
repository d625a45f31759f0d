"""Experiments of the ECON paper: Tables II to V, ECON against CoreEx."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from statistics import fmean, median
from time import thread_time
from typing import TYPE_CHECKING, Any, Literal, get_args

from lxml import html as lxml_html

from newscrawl.body.coreex import CoreExParameters, coreex
from newscrawl.body.econ import EconParameters, backtrack, extract_news
from newscrawl.document.document import TEXT, parse_document
from newscrawl.document.rows import BLOCK_LEVEL
from newscrawl.extraction.render import render
from newscrawl.lab.corpora.alignment import covered_nodes
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.metrics import bag_score, mean
from newscrawl.lab.corpora.tables import Table, share
from newscrawl.text import weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.lab.corpora.map_pages import PageOutcome

Verdict = Literal["correctly", "wrongly", "missed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

COMPLETE_RECALL = 0.9
"""Minimum recall of the body's words for "the entire content" to be extracted."""
CLEAN_PRECISION = 0.9
"""Minimum precision, against body and title, for the output to be free of noise."""

SHORT_PAGE_LIMIT = 1200
"""Weighted characters of the body below which a page is a short-page."""
MIN_PIECES = 30
"""Minimum text nodes in the body of a pieces-page."""
MIN_INLINE_SHARE = 0.75
"""Minimum share of the text nodes in or next to an inline element, in a pieces-page."""

ALGORITHMS: Mapping[str, Callable[[Document], list[int]]] = {
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
"""Shares of pages extracted correctly, wrongly and missed, of 500, 100, 100 and 50 pages."""
NINE_LANGUAGES = {
    "ar": "Arabic", "en": "English", "fr": "French", "de": "German", "it": "Italian",
    "ja": "Japanese", "pt": "Portuguese", "ru": "Russian", "es": "Spanish",
}  # fmt: skip
"""The languages of Experiment 4."""
LANGUAGES = NINE_LANGUAGES | {"zh": "Chinese", "el": "Greek", "hi": "Hindi", "pl": "Polish"}
"""All languages of the table; Chinese is that of the other experiments."""
FEW_PAGES = 10
"""Number of pages below which the row of a language is marked."""

_TABLE_I = """
    163.com 21cbh.com ben.com.cn caixun.com china-cbn.com cnfol.com cnfund.cn cs.com.cn dfdaily.com
    eastmoney.com ftchinese.com fundschina.com gutx.com hexun.com i918.cn ifeng.com jrj.com.cn
    nbd.com.cn people.com.cn qianlong.com qq.com reuters.com secutimes.com sina.com.cn sohu.com
    stockstar.com wlstock.com wsj.com xinhuanet.com zhihuangjin.com
"""
TABLE_I = frozenset(_TABLE_I.split())
"""Registered domains of the 30 sites of Table I; of reuters.com and wsj.com the Chinese edition."""

PUBLISHED_STEPS = "2.7"
"""Mean number of backtracking steps on the pages of Experiment 1."""
STEPS: Mapping[str, EconParameters] = {
    "econ:literal": EconParameters.LITERAL,
    "econ": EconParameters.BEST,
}


@dataclass(frozen=True, slots=True)
class EconPage:
    """Verdicts on one page, by algorithm, and the groups that it belongs to."""

    verdicts: dict[str, Verdict] = field(
        default_factory=lambda: dict.fromkeys(ALGORITHMS, "missed")
    )
    short: bool = False
    pieces: bool = False
    language: str = ""
    #: steps from the snippet-node to the summary-node, by algorithm; empty if there is none
    steps: dict[str, int] = field(default_factory=dict)
    #: CPU time by algorithm, as a multiple of parsing the page with lxml
    costs: dict[str, float] = field(default_factory=dict)


def measure_page(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of :class:`EconPage` for a :class:`LabelledPage` given as JSON values.

    Raises the errors of :func:`parse_document`.
    """
    labelled = LabelledPage.from_plain(page)
    title, body = labelled.title or "", labelled.body or ""
    start = thread_time()
    lxml_html.document_fromstring(html)
    parse_time = thread_time() - start
    document = parse_document(html)
    verdicts: dict[str, Verdict] = {}
    costs = {}
    for name, find_body in ALGORITHMS.items():
        start = thread_time()
        forest = find_body(document)
        costs[name] = (thread_time() - start) / parse_time
        verdicts[name] = judge(render(document, forest), title, body)
    return asdict(
        EconPage(
            verdicts,
            short=weighted_length(body) < SHORT_PAGE_LIMIT,
            pieces=is_pieces_page(document, body),
            language=(labelled.language or document.root.get("lang") or "")[:2].lower(),
            steps=_steps(document),
            costs=costs,
        )
    )


def _steps(document: Document) -> dict[str, int]:
    """Return the number of nodes from the snippet-node up to the summary-node."""
    steps = {}
    for name, parameters in STEPS.items():
        if found := backtrack(document, parameters):
            trace = [found.snippet_node, *document.ancestors(found.snippet_node)]
            steps[name] = trace.index(found.summary_node)
    return steps


def judge(output: str, title: str, body: str) -> Verdict:
    """Return the verdict of the paper on *output*, which may hold the title or not.

    Correctly: the entire content without noise. Wrongly: the entire content with noise.
    Missed: only a part of the content, or none.
    """
    extracted, content = words(output), words(body)
    if bag_score(extracted, content).recall < COMPLETE_RECALL:
        return "missed"
    with_title = bag_score(extracted, content + words(title))
    return "correctly" if with_title.precision >= CLEAN_PRECISION else "wrongly"


def is_pieces_page(document: Document, body: str) -> bool:
    """Return whether links and fonts split the body of the page into many text nodes."""
    rows = list(document.text_nodes())
    nodes = [words(document.text[row]) for row in rows]
    pieces = [rows[index] for index in covered_nodes(nodes, words(body))]
    if len(pieces) < MIN_PIECES:
        return False
    return mean([_is_inline(document, row) for row in pieces]) >= MIN_INLINE_SHARE


def _is_inline(document: Document, row: int) -> bool:
    """Return whether a text node is in or next to an inline element."""
    parent = document.parent[row]
    if document.tag[parent] not in BLOCK_LEVEL:
        return True
    siblings = {document.tag[child] for child in document.children(parent)}
    return not siblings <= BLOCK_LEVEL | {TEXT, "br"}


def summarise_econ(outcomes: Sequence[PageOutcome[EconPage]]) -> dict[str, Any]:
    """Return the paper's figures over *outcomes* as plain JSON values."""
    values = [outcome.value for outcome in outcomes]
    groups = {
        "all": values,
        "pieces": [page for page in values if page.pieces],
        "short": [page for page in values if page.short],
        **{
            language: [page for page in values if page.language == language]
            for language in LANGUAGES
        },
        "nine": [page for page in values if page.language in NINE_LANGUAGES],
    }
    same_sites = [
        outcome
        for outcome in outcomes
        if outcome.page.site in TABLE_I and outcome.value.language == "zh"
    ]
    groups["same"] = [outcome.value for outcome in same_sites]
    return {
        "pages": len(values),
        "sites": len({outcome.page.site for outcome in outcomes}),
        "groups": {name: _verdicts(group) for name, group in groups.items()},
        "table_1": dict(Counter(outcome.page.site for outcome in same_sites)),
        "steps": {
            name: [page.steps[name] for page in values if name in page.steps] for name in STEPS
        },
        "costs": {
            name: median([page.costs[name] for page in values if page.costs] or [0.0])
            for name in ALGORITHMS
        },
    }


def _verdicts(pages: Sequence[EconPage]) -> dict[str, Any]:
    counts = {name: Counter(page.verdicts[name] for page in pages) for name in ALGORITHMS}
    return {
        "pages": len(pages),
        "verdicts": {
            name: {verdict: counts[name][verdict] for verdict in VERDICTS} for name in ALGORITHMS
        },
    }


def econ_tables(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Yield the tables of the experiments; *columns* are summaries by corpus."""
    for key, title in EXPERIMENTS.items():
        yield _experiment(title, key, columns)
    everything = list(columns.values())[-1]
    if everything["table_1"]:
        yield _same_sites(everything)
    yield _languages(columns)
    yield _steps_table(columns)
    yield Table(
        "CPU time of a page in parses of it by lxml, median",
        ("method", *columns),
        [
            [name, *(f"{column['costs'][name]:.2f}" for column in columns.values())]
            for name in ALGORITHMS
        ],
    )


def _experiment(title: str, key: str, columns: Mapping[str, Mapping[str, Any]]) -> Table:
    pages = [str(column["groups"][key]["pages"]) for column in columns.values()]
    rows = [["pages", "100" if key != "all" else "500", *pages]]
    for name in ALGORITHMS:
        published = PUBLISHED[key][name.partition(":")[0]]
        cells = (_cell(column["groups"][key], name) for column in columns.values())
        rows.append([name, " / ".join(map(share, published)), *cells])
    return Table(f"{title}, correctly / wrongly / missed", ("", "paper", *columns), rows)


def _same_sites(column: Mapping[str, Any]) -> Table:
    """Return Experiment 1 on the sites of Table I, and the number of pages of each."""
    group, sites = column["groups"]["same"], column["table_1"]
    published = PUBLISHED["all"]
    rows = [
        [name, " / ".join(map(share, published[name.partition(":")[0]])), _cell(group, name)]
        for name in ALGORITHMS
    ]
    rows.insert(0, ["pages", "500", str(group["pages"])])
    counts = ", ".join(f"{site} {pages}" for site, pages in sorted(sites.items()))
    rows.append([f"sites (Table I): {counts}", "30", str(len(sites))])
    title = "Experiment 1 on sites of Table I, 2011-12: correctly / wrongly / missed"
    return Table(title, ("", "paper", "today"), rows)


def _languages(columns: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the table of Experiment 4, of all corpora; the paper gives nine languages as one."""
    groups = list(columns.values())[-1]["groups"]
    published = PUBLISHED["languages"]
    rows = [
        ["nine languages, paper", "50", *(" / ".join(map(share, published[name.partition(":")[0]])) for name in ALGORITHMS)]
    ]  # fmt: skip
    shown = {"nine": "nine languages", **LANGUAGES}
    rows += [
        [_marked(shown[name], group["pages"]), str(group["pages"]),
         *(_cell(group, algorithm) for algorithm in ALGORITHMS)]
        for name in shown
        if (group := groups[name])["pages"] or name in NINE_LANGUAGES
    ]  # fmt: skip
    title = "Experiment 4 (Table V): other languages, correctly / wrongly / missed"
    return Table(title, ("language", "pages", *ALGORITHMS), rows)


def _marked(language: str, pages: int) -> str:
    if pages >= FEW_PAGES:
        return language
    return f"{language} (few pages)" if pages else f"{language} (no pages)"


def _steps_table(columns: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return mean, median and maximum of the backtracking steps."""
    rows = [
        [name, PUBLISHED_STEPS, *(_distribution(column["steps"][name]) for column in columns.values())]
        for name in STEPS
    ]  # fmt: skip
    return Table("Backtracking steps, mean / median / maximum", ("", "paper", *columns), rows)


def _distribution(steps: Sequence[int]) -> str:
    return f"{fmean(steps):.1f} / {median(steps):g} / {max(steps)}" if steps else ""


def _cell(group: Mapping[str, Any], name: str) -> str:
    counts = group["verdicts"][name]
    if not group["pages"]:
        return ""
    return " / ".join(share(counts[verdict] / group["pages"]) for verdict in VERDICTS)
