"""Tables of the removal of readers' comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.corpora.tables import Table, figure, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.reader_comments.measure import RemovalScore

MIN_REMOVED = 0.95
"""Share of comment words from which a page counts as one whose comments were removed."""
MAX_LOST = 0.01
"""Share of the body up to which a page counts as one that lost nothing."""

_GROUPS: dict[str, Callable[[RemovalScore], bool]] = {
    "generated, tune": lambda it: it.page.half == "tune" and bool(it.page.comments),
    "generated, report": lambda it: it.page.half == "report" and bool(it.page.comments),
    "generated, without comments": lambda it: not it.page.comments,
    "corpora": lambda it: it.page.half == "corpora",
}
Scores = dict[str, list["RemovalScore"]]


def tables(scores: Scores) -> Iterator[Table]:
    """Yield the tables of groups, systems, languages, kinds of bodies and corpora."""
    yield _group_table(scores)
    for title, attribute in (
        ("By system", "system"),
        ("By language", "language"),
        ("By kind of body", "kind"),
    ):
        yield _detail_table(title, scores, attribute, lambda it: it.page.half != "corpora")
    yield _detail_table("By corpus", scores, "system", _GROUPS["corpora"])


def _group_table(scores: Scores) -> Table:
    head = ("pages", "method", "number", "words removed", "documents removed", "body lost",
            "documents that lose", "body kept")  # fmt: skip
    rows = [
        [group, name, *_summary([it for it in found if belongs(it)])]
        for group, belongs in _GROUPS.items()
        for name, found in scores.items()
    ]
    return Table("All tools", head, rows)


def _summary(found: Sequence[RemovalScore]) -> list[str]:
    removed = [it.removed for it in found if it.removed is not None]
    return [
        str(len(found)),
        figure(mean(removed)) if removed else "-",
        share(mean([float(it >= MIN_REMOVED) for it in removed])) if removed else "-",
        figure(mean([it.lost for it in found])),
        share(mean([float(it.lost > MAX_LOST) for it in found])),
        figure(mean([it.kept for it in found])),
    ]


def _detail_table(
    title: str,
    scores: Mapping[str, Sequence[RemovalScore]],
    attribute: str,
    belongs: Callable[[RemovalScore], bool],
) -> Table:
    """Return the words removed by each tool, and the body lost by the first, by *attribute*."""
    rows = []
    first = next(iter(scores.values()))
    for value in sorted({getattr(it.page, attribute) for it in first if belongs(it)}):
        cells = []
        for found in scores.values():
            own = [it for it in found if belongs(it) and getattr(it.page, attribute) == value]
            removed = [it.removed for it in own if it.removed is not None]
            cells.append(figure(mean(removed)) if removed else "-")
        own = [it for it in first if belongs(it) and getattr(it.page, attribute) == value]
        rows.append([value, str(len(own)), *cells, figure(mean([it.lost for it in own]))])
    return Table(title, (attribute, "pages", *scores, "body lost by the first"), rows)
