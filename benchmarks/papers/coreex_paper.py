"""Experiments of the CoreEx paper: Table 1, Figures 8 to 10."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import html as lxml_html

from benchmarks.papers.measured_pages import by_site
from newscrawl.body.coreex import CoreExParameters, coreex, count_terminals, find_title
from newscrawl.document.document import TEXT, parse_document
from newscrawl.document.encoding import to_utf8
from newscrawl.document.rows import HEADINGS
from newscrawl.lab.corpora.alignment import covered_nodes
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.labels import align
from newscrawl.lab.corpora.metrics import ZERO, Score, mean, mean_score, node_score, score_of
from newscrawl.lab.paper_methods import COREEX_VARIANTS
from newscrawl.text import tokens, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from newscrawl.document.document import Document
    from newscrawl.lab.corpora.map_pages import PageOutcome

# R5 removes scripts by a regular expression before the page is parsed (section 3.2, 2).
_SCRIPT = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
TODAY = "today"
"""Name of today's parameters among the variants of the paper."""
SECOND_LADDER = {
    f"{name}'": replace(COREEX_VARIANTS[name], remove_scripts=True) for name in ("R1", "R2", "R3")
}
"""R1 to R3 without scripts; R4 without scripts is R5."""
CONFIGURATIONS = {
    "R1": "basic scoring",
    "R2": "weighted scoring",
    "R3": "R2, subset selection",
    "R4": "R3, ignoring forms",
    "R5": "R4, removing scripts",
    "R6": "R5, converting to XHTML",
    **{name: f"{name[:-1]}, removing scripts" for name in SECOND_LADDER},
    "R4'": "R4, removing scripts: R5",
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
"""Minimum share of a part's words in the output for the part to count as recalled."""
MAX_BYLINE_WORDS = 20
"""Maximum words of a byline; longer text nodes that name an author are part of the story."""


class VariantResult(NamedTuple):
    """Measures of one variant on one page."""

    #: text-based (section 3.3, 2)
    weighted: Score
    node: Score
    #: part -> recalled, for the parts found in text nodes
    parts: dict[str, bool]
    #: title recalled with the header of section 6.1 added; None if no node holds the title
    title_recovered: bool | None
    #: title recalled with the header of :func:`find_title` added
    title_found: bool | None
    #: CPU time, as a multiple of parsing the page with lxml
    cost: float


@dataclass(frozen=True, slots=True)
class CoreExPage:
    """Measures of one page, by variant."""

    variants: dict[str, VariantResult] = field(default_factory=dict)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CoreExPage:
        """Convert the result of :func:`measure_page`."""
        return cls(
            {
                name: VariantResult(Score(*weighted), Score(*node), *rest)
                for name, (weighted, node, *rest) in plain["variants"].items()
            }
        )


def failed(_: LabelledPage) -> CoreExPage:
    """Return the measures of a page that could not be parsed."""
    result = VariantResult(
        ZERO, ZERO, dict.fromkeys(PARTS, False), title_recovered=False, title_found=False, cost=0.0
    )
    return CoreExPage(dict.fromkeys(variants(), result))


def variants() -> list[str]:
    """Return the names of the variants, without R6 unless html5lib is installed."""
    has_html5lib = find_spec("html5lib") is not None
    return [*COREEX_VARIANTS, *(["R6"] if has_html5lib else []), *SECOND_LADDER, TODAY]


def measure_page(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of :class:`CoreExPage` for a :class:`LabelledPage` given as JSON values.

    Raises the errors of :func:`parse_document`.
    """
    labelled = LabelledPage.from_plain(page)
    start = thread_time()
    lxml_html.document_fromstring(html)
    parse_time = thread_time() - start
    gold = _Gold.of(parse_document(html, scripts=True), labelled)
    results = {}
    for name in variants():
        if name == "R6":
            start = thread_time()
            clean = clean_xhtml(html)
            clean_time = thread_time() - start
            clean_gold = _Gold.of(parse_document(clean, scripts=True), labelled)
            results[name] = _measure(clean_gold, "R5", clean_time, parse_time)
        else:
            results[name] = _measure(gold, name, 0.0, parse_time)
    return asdict(CoreExPage(results))


def clean_xhtml(html: bytes) -> str:
    """Return the page without scripts, parsed and serialised with all tags closed (section 3.2, 3).

    The paper used TagSoup, html5lib is in the extra ``train``.
    """
    import html5lib  # noqa: PLC0415  # in an extra

    utf8, _, _ = to_utf8(html, None)
    page = _SCRIPT.sub(" ", utf8.decode(errors="replace"))
    tree = html5lib.parse(page, treebuilder="etree", namespaceHTMLElements=False)
    clean: str = html5lib.serialize(
        tree, tree="etree", omit_optional_tags=False, quote_attr_values="always"
    )
    return clean


def _measure(gold: _Gold, name: str, clean_time: float, parse_time: float) -> VariantResult:
    document = gold.document
    parameters = (COREEX_VARIANTS | SECOND_LADDER).get(name, CoreExParameters.TODAY)
    start = thread_time()
    forest = coreex(document, parameters)
    cost = (clean_time + thread_time() - start) / parse_time
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


def recover_title(document: Document, roots: Sequence[int]) -> int | None:
    """Return the closest heading among the previous siblings of the parent of S (section 6.1)."""
    parent = document.parent[roots[0]] if roots else -1
    if parent <= 0:
        return None
    before = [row for row in document.children(document.parent[parent]) if row < parent]
    return next(
        (row for row in reversed(before) if document.tag[row] in HEADINGS and document.chars(row)),
        None,
    )


def core_content(
    document: Document, forest: Iterable[int], parameters: CoreExParameters
) -> frozenset[int]:
    """Return the rows of the text nodes that CoreEx counts in *forest*, text of links included."""
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
    """Text nodes of the labelled parts, which together are the core content."""

    document: Document
    parts: dict[str, frozenset[int]]

    @classmethod
    def of(cls, document: Document, page: LabelledPage) -> _Gold:
        labels = align(document, page)
        visible = list(document.text_nodes())
        nodes = [words(document.text[row]) for row in visible]
        body = frozenset(visible[index] for index in covered_nodes(nodes, words(page.body or "")))
        title = frozenset(labels.title)
        title_row = min(title or body, default=0)
        byline = set()
        for author in page.authors:
            rows = [row for row, node in zip(visible, nodes, strict=True) if _names(node, author)]
            if rows:
                byline.add(min(rows, key=lambda row: abs(row - title_row)))
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
        """Return the number of words in *rows*."""
        return sum(len(tokens(self.document.text[row])) for row in rows)

    def recalls(self, part: str, output: AbstractSet[int]) -> bool | None:
        """Return whether *output* holds the part, None if no text node of the page does."""
        rows = self.parts[part]
        return self.size(rows & output) >= RECALLED * self.size(rows) if rows else None

    def weighted_score(self, output: AbstractSet[int]) -> Score:
        """Return the text-based score of *output*."""
        rows = self.rows
        return score_of(self.size(output & rows), self.size(output), self.size(rows))


def _names(node: Sequence[str], author: str) -> bool:
    """Return whether a short text node, given as words, contains the name *author*."""
    name = words(author)
    if not name or len(node) > MAX_BYLINE_WORDS:
        return False
    return any(node[start : start + len(name)] == name for start in range(len(node)))


def summarise_coreex(outcomes: Sequence[PageOutcome[CoreExPage]]) -> dict[str, Any]:
    """Return the paper's figures over *outcomes* as plain JSON values."""
    names = list(outcomes[0].value.variants) if outcomes else []
    return {
        "pages": len(outcomes),
        "sites": len({outcome.page.site for outcome in outcomes}),
        "variants": {
            name: _summary([outcome.value.variants[name] for outcome in outcomes]) for name in names
        },
        "by_site": [_site(name, group) for name, group in by_site(outcomes).items()],
    }


def _site(name: str, outcomes: Sequence[PageOutcome[CoreExPage]]) -> dict[str, Any]:
    """Return the scores of Figure 10 of a source."""
    return {
        "site": name,
        "corpora": ", ".join(dict.fromkeys(outcome.page.corpus for outcome in outcomes)),
        "pages": len(outcomes),
        "scores": {
            variant: mean_score(
                [outcome.value.variants[variant].weighted for outcome in outcomes]
            )._asdict()
            for variant in ("R5", TODAY)
        },
    }


def _summary(results: Sequence[VariantResult]) -> dict[str, Any]:
    return {
        "weighted": mean_score([result.weighted for result in results])._asdict(),
        "node": mean_score([result.node for result in results])._asdict(),
        "cost": median(result.cost for result in results),
        "parts": {part: _share(result.parts.get(part) for result in results) for part in PARTS},
        "title_recovered": _share(result.title_recovered for result in results),
        "title_found": _share(result.title_found for result in results),
    }


def _share(recalled: Iterable[bool | None]) -> dict[str, float]:
    values = [value for value in recalled if value is not None]
    return {"pages": len(values), "share": mean(values)}
