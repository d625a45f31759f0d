"""Experiments of the NCE paper (Laber et al., CIKM 2009)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any

from lxml import html as lxml_html

from benchmarks.dots import Dot, dot_chart
from benchmarks.papers.measured_pages import MIN_SITE_PAGES, by_site
from benchmarks.result_page import Figure
from newscrawl.body.nce import nce
from newscrawl.document.document import parse_document
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.metrics import ZERO, Score, bag_score, mean, mean_score
from newscrawl.lab.corpora.tables import Table, figure, share
from newscrawl.lab.evaluation.page_scores import relevant_output
from newscrawl.lab.evaluation.summary import means_of
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchmarks.result_page import Part
    from newscrawl.document.document import Document
    from newscrawl.lab.corpora.map_pages import PageOutcome

GAMMAS = (0.3, 0.5, 0.7, 1.0)
"""Values of γ, the link density limit of F_{u,γ}, that are tried."""

VERY_HIGH = 0.9
"""F1 that Assumption 1 calls "very high"; also the minimum recall of a retrieved title."""

KEPT = 0.9
"""Minimum recall of the body's words for a body that is not lost."""


@dataclass(frozen=True, slots=True)
class NcePage:
    """Measures of one page against its labelled relevant content."""

    #: all visible text of the page: its precision is the share of relevant content
    whole_page: Score = ZERO
    #: see :func:`best_separator_f1`
    separator_f1: float = 0.0
    with_phase_2: Score = ZERO
    without_phase_2: Score = ZERO
    #: the article's title, or a paragraph of its body, holds the labelled title
    title_retrieved: bool = False
    #: the same with the title of phase 3, which does not read metadata
    title_of_phase_3: bool = False
    #: recall of the words of the labelled body
    body_recall: float = 0.0
    #: CPU time of parsing and all phases, as a multiple of parsing the page with lxml
    cost: float = 0.0

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> NcePage:
        """Convert the result of :func:`measure_page`."""
        scores = ("whole_page", "with_phase_2", "without_phase_2")
        return cls(**{**plain, **{name: Score(*plain[name]) for name in scores}})


def measure_page(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of :class:`NcePage` for a :class:`LabelledPage` given as JSON values.

    Raises the errors of :func:`extract`.
    """
    labelled = LabelledPage.from_plain(page)
    start = thread_time()
    lxml_html.document_fromstring(html)
    parsed = thread_time()
    document = parse_document(html)
    nce(document)
    cost = (thread_time() - parsed) / (parsed - start)
    gold = words(labelled.relevant_content or "")
    article, with_comments = (
        extract(html, labelled.url, method="nce", options=ExtractOptions(remove_comments=remove))
        for remove in (True, False)
    )
    title = words(labelled.title or "")
    paragraphs = article.body.split("\n\n")
    return {
        "whole_page": bag_score(words(document.subtree_text(0)), gold),
        "separator_f1": best_separator_f1(document, gold),
        "with_phase_2": bag_score(words(relevant_output(article)), gold),
        "without_phase_2": bag_score(words(relevant_output(with_comments)), gold),
        "title_retrieved": _retrieved(title, [article.title or "", *paragraphs]),
        "title_of_phase_3": _retrieved(title, [_title_of_phase_3(document), *paragraphs]),
        "body_recall": bag_score(words(article.body), words(labelled.body or "")).recall,
        "cost": cost,
    }


def _retrieved(title: Sequence[str], texts: Iterable[str]) -> bool:
    """Return whether one of *texts* holds :data:`VERY_HIGH` of the words of *title*."""
    return any(bag_score(words(text), title).recall >= VERY_HIGH for text in texts)


def _title_of_phase_3(document: Document) -> str:
    row = nce(document).title
    if row is None:
        return ""
    return document.title if document.tag[row] == "title" else document.subtree_text(row)


def best_separator_f1(document: Document, gold: Sequence[str]) -> float:
    """Return the best F1 of F_{u,γ} over all nodes u and all of :data:`GAMMAS` (Assumption 1).

    The number of words of a forest bounds its F1, so the words of most forests are never counted.
    """
    page_words, before = _words_before(document)
    gold_counts = Counter(gold)
    best = 0.0

    def size(row: int) -> int:
        return before[document.end[row]] - before[row]

    for row in sorted(range(len(document)), key=lambda row: abs(size(row) - len(gold))):
        if _max_f1(min(size(row), len(gold)), len(gold)) <= best:
            continue
        for forest in _forests(document, row):
            if _max_f1(sum(map(size, forest)), len(gold)) > best:
                found: Counter[str] = Counter()
                for tree in forest:
                    found.update(page_words[before[tree] : before[document.end[tree]]])
                common = sum(min(found[word], count) for word, count in gold_counts.items())
                best = max(best, 2 * common / (found.total() + len(gold)))
    return best


def _words_before(document: Document) -> tuple[list[str], list[int]]:
    """Return the words of the visible text, and the number of words before each row."""
    page_words: list[str] = []
    before = [0] * (len(document) + 1)
    visible = set(document.text_nodes())
    for row in range(len(document)):
        if row in visible:
            page_words += words(document.text[row])
        before[row + 1] = len(page_words)
    return page_words, before


def _max_f1(size: int, gold: int) -> float:
    """Return the highest possible F1 of *size* words against *gold* words."""
    return 2 * min(size, gold) / (size + gold) if size else 0.0


def _forests(document: Document, row: int) -> Iterator[list[int]]:
    """Yield the distinct forests F_{u,γ} of *row*."""
    children = [(document.link_density(child), child) for child in document.children(row)]
    previous = 0
    for gamma in GAMMAS:
        forest = [child for density, child in children if density <= gamma]
        if len(forest) > previous:  # a larger γ keeps every child that a smaller one keeps
            yield forest
        previous = len(forest)


def summarise_nce(outcomes: Sequence[PageOutcome[NcePage]]) -> dict[str, Any]:
    """Return the paper's figures over *outcomes* as plain JSON values."""
    values = [outcome.value for outcome in outcomes]
    changes = [value.with_phase_2.f1 - value.without_phase_2.f1 for value in values]
    return {
        "pages": len(values),
        "relevant_share": mean([value.whole_page.precision for value in values]),
        "separator_exists": mean([value.separator_f1 >= VERY_HIGH for value in values]),
        "separator_f1": mean([value.separator_f1 for value in values]),
        "with_phase_2": means_of([(o.page.site, o.value.with_phase_2) for o in outcomes]),
        "without_phase_2": means_of([(o.page.site, o.value.without_phase_2) for o in outcomes]),
        "phase_2_better": sum(change > 0 for change in changes),
        "phase_2_worse": sum(change < 0 for change in changes),
        "titles_retrieved": mean([value.title_retrieved for value in values]),
        "titles_of_phase_3": mean([value.title_of_phase_3 for value in values]),
        "bodies_lost": mean([value.body_recall < KEPT for value in values]),
        "cost": median(value.cost for value in values),
        "sites": [_site(name, group) for name, group in by_site(outcomes).items()],
    }


def _site(name: str, outcomes: Sequence[PageOutcome[NcePage]]) -> dict[str, Any]:
    """Return the row of Table 1 of a site."""
    scores = [outcome.value.with_phase_2 for outcome in outcomes]
    return {
        "site": name,
        "corpora": ", ".join(dict.fromkeys(outcome.page.corpus for outcome in outcomes)),
        "pages": len(outcomes),
        "score": mean_score(scores)._asdict(),
        "relevant": mean([outcome.value.whole_page.precision for outcome in outcomes]),
    }


PUBLISHED = {
    "pages": "324 of 22 sites",
    "relevant_share": "36.6 %",
    "titles_retrieved": "95 %",
    "separator_exists": "97 % of 141",
    "site_precision": "88.5 %",
    "site_recall": "96.0 %",
    "site_f1": "90.7 %",
    "phase_2_better": "8 %",
    "bodies_lost": "< 4 %",
    "cost": "",
}
_MEANS = {
    "precision": "P", "recall": "R", "f1": "F1",
    "site_precision": "site P", "site_recall": "site R", "site_f1": "site F1",
}  # fmt: skip


def nce_tables(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Part]:
    """Yield the published and measured figures; *columns* are summaries by group of corpora.

    Table 1 and its chart have the sites of the last column.
    """
    yield _figures_table(columns)
    sites = sorted(list(columns.values())[-1]["sites"], key=lambda row: -row["score"]["f1"])
    if sites:
        yield _site_table(sites)
        yield Figure("nce-sites", "NCE by site: precision and recall", _site_chart(sites))


def _site_table(sites: Sequence[Mapping[str, Any]]) -> Table:
    """Return Table 1; the paper's figures by site are lost except for two."""
    measures = ("recall", "precision", "f1")
    means = {name: mean([row["score"][name] for row in sites]) for name in measures}
    relevant = mean([row["relevant"] for row in sites])
    rows = [
        [row["site"], row["corpora"], str(row["pages"]),
         *(share(row["score"][name]) for name in measures), share(row["relevant"])]
        for row in sites
    ]  # fmt: skip
    pages = str(sum(row["pages"] for row in sites))
    rows.append(
        [f"mean of {len(sites)} sites", "", pages, *map(share, means.values()), share(relevant)]
    )
    rows.append(["mean of 22 sites, paper", "", "324", "96.0 %", "88.5 %", "90.7 %", "36.6 %"])
    return Table(
        f"Table 1: sites with at least {MIN_SITE_PAGES} pages",
        ("site", "corpus", "pages", "Recall", "Precision", "F1", "relevant content"),
        rows,
    )


def _site_chart(sites: Sequence[Mapping[str, Any]]) -> str:
    rows = {
        row["site"]: {
            "precision": Dot(row["score"]["precision"]),
            "recall": Dot(row["score"]["recall"]),
            "relevant content of the page": Dot(row["relevant"]),
        }
        for row in sites
    }
    return dot_chart("NCE by site, in order of F1", "mean of the pages", rows)


def _figures_table(columns: Mapping[str, Mapping[str, Any]]) -> Table:
    rows = [
        _row("pages", "pages", columns, str),
        _row("relevant content in the page", "relevant_share", columns, share),
        _row("titles retrieved", "titles_retrieved", columns, share),
        _row("titles retrieved by phase 3 alone", "titles_of_phase_3", columns, share),
        _row("a separator with F1 >= .9 exists", "separator_exists", columns, share),
        _row("F1 of the best separator", "separator_f1", columns, figure),
    ]
    for key, label in (("with_phase_2", "with"), ("without_phase_2", "without")):
        for part, shown in _MEANS.items():
            published = PUBLISHED.get(part, "") if label == "with" else ""
            cells = (share(column[key][part]) for column in columns.values())
            rows.append([f"relevant content {label} phase 2: {shown}", published, *cells])
    rows += [
        _row(f"pages that phase 2 makes {word}", f"phase_2_{word}", columns, str)
        for word in ("better", "worse")
    ]
    rows += [
        _row("bodies that lose over 10 % of their words", "bodies_lost", columns, share),
        _row("CPU time of parsing and NCE, in parses by lxml", "cost", columns, "{:.2f}".format),
    ]
    return Table("Figures in the text", ("", "paper", *columns), rows)


def _row(
    label: str, key: str, columns: Mapping[str, Mapping[str, Any]], show: Callable[[Any], str]
) -> list[str]:
    cells = (show(column[key]) for column in columns.values())
    return [label, PUBLISHED.get(key, ""), *cells]
