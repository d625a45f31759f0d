"""What the CoreEx paper prints of its own method: Table 1, and Figures 8 and 9."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import html as lxml_html

from newscrawl.body.coreex import (
    VARIANTS,
    CoreExParameters,
    coreex,
    count_terminals,
    find_title,
    recover_title,
)
from newscrawl.corpora.alignment import covered_nodes
from newscrawl.corpora.corpus import LabelledPage
from newscrawl.corpora.labels import align
from newscrawl.corpora.map_pages import map_pages
from newscrawl.corpora.metrics import Score, mean, mean_score, node_score, score_of
from newscrawl.corpora.tables import Table, figure, share
from newscrawl.document.document import TEXT, parse_document
from newscrawl.evaluation.xhtml import clean_xhtml
from newscrawl.text import tokens, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from newscrawl.corpora.map_pages import PageOutcome
    from newscrawl.document.document import Document

TODAY = "today"
"""The name of our constants and readings beside the paper's variants."""
CONFIGURATIONS = {
    "R1": "basic scoring",
    "R2": "weighted scoring",
    "R3": "R2, subset selection",
    "R4": "R3, ignoring forms",
    "R5": "R4, removing scripts",
    "R6": "R5, converting to XHTML",
    TODAY: "R5, constants of today",
}
PUBLISHED = {
    "R1": Score(0.8387, 0.0271, 0.053),
    "R2": Score(0.9562, 0.9088, 0.932),
    "R3": Score(0.9776, 0.9183, 0.947),
    "R4": Score(0.9783, 0.9541, 0.966),
    "R5": Score(0.9715, 0.9862, 0.979),
    "R6": Score(0.9685, 0.9868, 0.978),
}
"""Table 1: text-based precision, recall and F1 of core content, 1,120 pages of 27 sources."""
PUBLISHED_NODES = Score(0.9304, 0.9252, 0.928)
"""Node-based figures of R5 in the same table; the F1 is computed from them."""
PARTS = ("title", "date", "byline", "body")
RECALLED = 0.9
"""Share of a part's words that the output must hold for the part to be recalled correctly."""
MOST_BYLINE_WORDS = 20
"""Words of the longest text node that is taken for a byline: longer ones tell the story."""


class VariantResult(NamedTuple):
    """What one variant found on a page."""

    #: text-based (section 3.3, 2)
    weighted: Score
    node: Score
    #: whether each part that the page's nodes hold was recalled
    parts: dict[str, bool]
    #: whether the title was, the header of section 6.1 added; None where no node holds it
    title_recovered: bool | None
    #: whether it was with the header added that we would add
    title_found: bool | None
    #: CPU time as a multiple of parsing the page with lxml
    cost: float


@dataclass(frozen=True, slots=True)
class CoreExPage:
    """What the paper measures on a page, by variant."""

    variants: dict[str, VariantResult] = field(default_factory=dict)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CoreExPage:
        """Return the measures that :func:`measure_page` returned as *plain*."""
        found = {name: VariantResult(*values) for name, values in plain["variants"].items()}
        return cls(
            {
                name: one._replace(weighted=Score(*one.weighted), node=Score(*one.node))
                for name, one in found.items()
            }
        )


def failed(_: LabelledPage) -> CoreExPage:
    """Return what a page that gave nothing is worth."""
    zero = Score(0.0, 0.0, 0.0)
    nothing = VariantResult(
        zero, zero, dict.fromkeys(PARTS, False), title_recovered=False, title_found=False, cost=0.0
    )
    return CoreExPage(dict.fromkeys(variants(), nothing))


def variants() -> list[str]:
    """Return the variants that can be measured: R6 needs html5lib."""
    can_clean = find_spec("html5lib") is not None
    return [*VARIANTS, *(["R6"] if can_clean else []), TODAY]


def measure(
    pages: Sequence[LabelledPage],
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[PageOutcome[CoreExPage]]:
    """Return the measures of the *pages* whose title and body are labelled; failed ones are 0."""
    return map_pages(
        "newscrawl.evaluation.coreex_paper:measure_page",
        [page for page in pages if page.relevant_content is not None],
        CoreExPage.from_plain,
        failed,
        workers=workers,
        advance=advance,
    )


def measure_page(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Return the :class:`CoreExPage` of *page* as JSON values. Raises what parsing raises."""
    labelled = LabelledPage.from_plain(page)
    start = thread_time()
    lxml_html.document_fromstring(html)
    parse = thread_time() - start
    as_fetched = _Gold.of(parse_document(html, scripts=True), labelled)
    found = {}
    for name in variants():
        gold, preparation = as_fetched, 0.0
        if name == "R6":
            start = thread_time()
            clean = clean_xhtml(html)
            preparation = thread_time() - start
            gold = _Gold.of(parse_document(clean, scripts=True), labelled)
        found[name] = _measure(gold, name, preparation, parse)
    return asdict(CoreExPage(found))


def _measure(gold: _Gold, name: str, preparation: float, parse: float) -> VariantResult:
    document = gold.document
    parameters = VARIANTS.get("R5" if name == "R6" else name, CoreExParameters.TODAY)
    start = thread_time()
    forest = coreex(document, parameters)
    cost = (preparation + thread_time() - start) / parse
    output = core_content(document, forest, parameters)
    recovered, found = (
        gold.recalls("title", output | _text_rows(document, header))
        for header in (recover_title(document, forest), find_title(document, forest))
    )
    parts = {
        part: recalled for part in PARTS if (recalled := gold.recalls(part, output)) is not None
    }
    return VariantResult(
        gold.weighted_score(output), node_score(output, gold.rows), parts, recovered, found, cost
    )


def core_content(
    document: Document, forest: Iterable[int], parameters: CoreExParameters
) -> frozenset[int]:
    """Return the rows of the text nodes of *forest* that CoreEx counts, and of its links."""
    words_before = count_terminals(document, parameters).words
    rows: set[int] = set()
    for tree in forest:
        for row in range(tree, document.end[tree]):
            if words_before[row + 1] > words_before[row]:
                is_text = document.tag[row] == TEXT
                rows |= {row} if is_text else _text_rows(document, row)
    return frozenset(rows)


def _text_rows(document: Document, row: int | None) -> frozenset[int]:
    return frozenset() if row is None else frozenset(document.text_nodes(row))


@dataclass(frozen=True, slots=True)
class _Gold:
    """The text nodes of the labels: the core content is all of them."""

    document: Document
    parts: dict[str, frozenset[int]]

    @classmethod
    def of(cls, document: Document, page: LabelledPage) -> _Gold:
        labels = align(document, page)
        shown = list(document.text_nodes())
        nodes = [words(document.text[row]) for row in shown]
        body = frozenset(shown[place] for place in covered_nodes(nodes, words(page.body or "")))
        title = frozenset(labels.title)
        near = min(title or body, default=0)
        byline = {
            min(rows, key=lambda row: abs(row - near))
            for author in page.authors
            if (
                rows := [
                    row for row, node in zip(shown, nodes, strict=True) if _names(node, author)
                ]
            )
        }
        return cls(
            document,
            {
                "title": title,
                "date": frozenset(labels.date) - title,
                "byline": frozenset(byline) - title - body,
                "body": body - title,
            },
        )

    @property
    def rows(self) -> frozenset[int]:
        return frozenset().union(*self.parts.values())

    def size(self, rows: AbstractSet[int]) -> int:
        """Return the words of *rows*."""
        return sum(len(tokens(self.document.text[row])) for row in rows)

    def recalls(self, part: str, output: AbstractSet[int]) -> bool | None:
        """Return whether *output* holds the part; None where no node does."""
        rows = self.parts[part]
        return self.size(rows & output) >= RECALLED * self.size(rows) if rows else None

    def weighted_score(self, output: AbstractSet[int]) -> Score:
        """Return the text-based score of *output*."""
        rows = self.rows
        return score_of(self.size(output & rows), self.size(output), self.size(rows))


def _names(node: Sequence[str], author: str) -> bool:
    """Return whether the words *node* are few and hold the name."""
    name = words(author)
    if not name or len(node) > MOST_BYLINE_WORDS:
        return False
    return any(node[place : place + len(name)] == name for place in range(len(node)))


def summarise_coreex(outcomes: Sequence[PageOutcome[CoreExPage]]) -> dict[str, Any]:
    """Return the paper's figures over *outcomes* as plain JSON values."""
    names = list(outcomes[0].value.variants) if outcomes else []
    by_variant = {name: [one.value.variants[name] for one in outcomes] for name in names}
    return {
        "pages": len(outcomes),
        "sites": len({one.page.site for one in outcomes}),
        "variants": {name: _summary(found) for name, found in by_variant.items()},
    }


def _summary(found: Sequence[VariantResult]) -> dict[str, Any]:
    return {
        "weighted": mean_score([one.weighted for one in found])._asdict(),
        "node": mean_score([one.node for one in found])._asdict(),
        "cost": median(one.cost for one in found),
        "parts": {
            part: _share(one.parts[part] for one in found if part in one.parts) for part in PARTS
        },
        "title_recovered": _share(
            one.title_recovered for one in found if one.title_recovered is not None
        ),
        "title_found": _share(one.title_found for one in found if one.title_found is not None),
    }


def _share(recalled: Iterable[bool]) -> dict[str, float]:
    values = list(recalled)
    return {"pages": len(values), "share": mean(values)}


def coreex_tables(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Yield Table 1 and the figures; *columns* are summaries by corpus."""
    yield Table(
        "Table 1: text-based precision / recall / F1 of core content",
        ("", "configuration", "paper", *columns),
        [
            [name, CONFIGURATIONS[name], _cell(PUBLISHED.get(name)), *cells]
            for name, cells in _by_variant(columns, lambda one: _cell(Score(**one["weighted"])))
        ],
    )
    yield Table(
        "Table 1, node-based precision / recall / F1",
        ("", "paper", *columns),
        [
            [name, _cell(PUBLISHED_NODES if name == "R5" else None), *cells]
            for name, cells in _by_variant(columns, lambda one: _cell(Score(**one["node"])))
        ],
    )
    yield Table(
        "Figure 8: CPU time of a page in parses of it by lxml, median",
        ("", *columns),
        [[name, *cells] for name, cells in _by_variant(columns, lambda one: f"{one['cost']:.2f}")],
    )
    yield _parts_table(columns)


def _by_variant(
    columns: Mapping[str, Mapping[str, Any]], cell: Callable[[Mapping[str, Any]], str]
) -> Iterator[tuple[str, list[str]]]:
    names = dict.fromkeys(name for column in columns.values() for name in column["variants"])
    for name in names:
        yield name, [cell(column["variants"][name]) for column in columns.values()]


def _cell(score: Score | None) -> str:
    return " / ".join(map(figure, score)) if score else ""


_PART_ROWS = (
    ("title", "80 %", "title"),
    ("title_recovered", "92 %", "title, the header of section 6.1 added"),
    ("title_found", "", "title, the header added that we would add"),
    ("date", "", "date"),
    ("byline", "", "byline"),
    ("body", "over 99 %", "body"),
)


def _parts_table(columns: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the table of Figure 9, whose bars the text of the paper gives in part."""
    rows = [
        [name, shown, published if name == "R5" else "", *(_part(column, name, key) for column in columns.values())]
        for name in ("R5", TODAY)
        for key, published, shown in _PART_ROWS
    ]  # fmt: skip
    return Table(
        "Figure 9: parts of the article recalled, of the pages whose nodes hold them",
        ("", "part", "paper", *columns),
        rows,
    )


def _part(column: Mapping[str, Any], name: str, key: str) -> str:
    found = column["variants"][name]
    part = found["parts"].get(key) or found[key]
    return f"{share(part['share'])} of {part['pages']}"
