"""Figures as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.peers import score
from benchmarks.peers.tools import OURS, TOOLS
from newscrawl.corpora.tables import Table, figure, share
from newscrawl.evaluation import families
from newscrawl.evaluation.bootstrap import compare
from newscrawl.evaluation.families import ALL, FAILED, FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchmarks.peers.score import Result
    from benchmarks.peers.tools import Field
    from newscrawl.corpora.corpus import LabelledPage

    #: results by tool, the pages in the same order
    Results = Mapping[str, Sequence[Result]]


@dataclass(frozen=True, slots=True)
class Group:
    """Results on some of the pages."""

    name: str
    results: Results

    def of(self, field: Field) -> Results:
        """Return the results of the tools that give *field*."""
        return {name: found for name, found in self.results.items() if field in TOOLS[name].fields}


def family_groups(results: Results) -> list[Group]:
    """Return a group of each family of corpora, of their parts, and of all pages."""
    pages = [one.page for one in next(iter(results.values()))]
    return [_group(name, results, members) for name, members in families.groups(pages)]


def news_groups(results: Results) -> list[Group]:
    """Return a group of each corpus of news, and of all of them if there are several."""
    pages = [one.page for one in next(iter(results.values()))]
    members = {
        name: own
        for name in FAMILIES[0].corpora
        if (own := [page for page in pages if page.corpus == name])
    }
    if len(members) > 1:
        members[" + ".join(members)] = [page for own in members.values() for page in own]
    return [_group(name, results, own) for name, own in members.items()]


def _group(name: str, results: Results, pages: Sequence[LabelledPage]) -> Group:
    keys = {(page.corpus, page.id) for page in pages}
    return Group(
        name,
        {
            tool: [one for one in found if (one.page.corpus, one.page.id) in keys]
            for tool, found in results.items()
        },
    )


def tables(results: Results, fields: Sequence[Field]) -> Iterator[Table]:
    """Yield the tables: bodies and costs of each family, titles and days of the news."""
    whole = family_groups(results)
    news = news_groups(results)
    if "body" in fields:
        yield overview_table(whole)
        names = {ALL, *(family.name for family in FAMILIES)}
        yield from (body_table(group) for group in whole if group.name in names)
    if "title" in fields:
        yield from map(title_table, news)
    if "date" in fields:
        yield from map(date_table, news)
    yield from map(cost_table, (news[-1], whole[-1]))


def overview_table(groups: Sequence[Group]) -> Table:
    """Return the F1 of the body, a column each group."""
    found = {group.name: group.of("body") for group in groups}
    f1 = {
        group: {name: score.bodies(one).score.f1 for name, one in tools.items()}
        for group, tools in found.items()
    }
    rows = [
        [name, *(figure(tools[name]) for tools in f1.values())]
        for name in _ranked(found[ALL], lambda name: f1[ALL][name])
    ]
    return Table("Body F1 by family of corpora", ("tool", *f1), rows)


def title_table(group: Group) -> Table:
    """Return the figures of titles, by the nodes of the page and by the label as given."""
    found = group.of("title")
    in_nodes = {name: score.titles(one, score.in_nodes) for name, one in found.items()}
    labelled = {name: score.titles(one, score.as_labelled) for name, one in found.items()}
    rows = [
        [
            name,
            *map(figure, (in_nodes[name].f1, in_nodes[name].exact)),
            *map(figure, (labelled[name].f1, labelled[name].exact, labelled[name].given)),
            _against(found, name, _with_nodes, score.title_f1),
            _against(found, name, _with_nodes, score.title_exact),
        ]
        for name in _ranked(found, lambda name: in_nodes[name].f1)
    ]
    pages = _pages(one.pages for one in in_nodes.values())
    return Table(
        f"Title, {group.name}: {pages} pages with the title in text nodes, "
        f"{_pages(one.pages for one in labelled.values())} with a label",
        (
            "tool",
            "F1, nodes",
            "exact, nodes",
            "F1, label",
            "exact, label",
            "given",
            "ours - it, F1 of a page",
            "ours - it, exact",
        ),
        rows,
    )


def date_table(group: Group) -> Table:
    """Return the figures of days, with and without doubtful labels."""
    found = group.of("date")
    sound = {name: score.days(one, doubtful=False) for name, one in found.items()}
    every = {name: score.days(one, doubtful=True) for name, one in found.items()}
    rows = [
        [
            name,
            *map(figure, (sound[name].right, sound[name].right_or_modified)),
            *map(figure, (every[name].right, every[name].right_or_modified)),
            *map(figure, (sound[name].precision, sound[name].given)),
            _against(found, name, _with_sound_day, score.day),
            _against(found, name, _with_sound_day, score.day_or_modified),
        ]
        for name in _ranked(found, lambda name: sound[name].right)
    ]
    return Table(
        f"Day of publication, {group.name}: {_pages(one.pages for one in sound.values())} pages "
        f"without doubtful labels, {_pages(one.pages for one in every.values())} with them",
        (
            "tool",
            "right",
            "or modified",
            "right, all labels",
            "or modified, all labels",
            "right of given",
            "given",
            "ours - it",
            "ours - it, or modified",
        ),
        rows,
    )


def body_table(group: Group) -> Table:
    """Return the figures of bodies."""
    found = group.of("body")
    figures = {name: score.bodies(one) for name, one in found.items()}
    ranked = sorted(figures.items(), key=lambda item: -item[1].score.f1)
    rows = [
        [
            name,
            *map(figure, (of.score.f1, of.score.precision, of.score.recall)),
            *map(share, (of.below, of.given)),
            _against(found, name, _with_body, score.body_f1),
        ]
        for name, of in ranked
    ]
    return Table(
        f"Body, {group.name}: {_pages(one.pages for one in figures.values())} pages",
        ("tool", "F1", "P", "R", f"F1 < {FAILED}", "given", "ours - it"),
        rows,
    )


def cost_table(group: Group) -> Table:
    """Return what the tools cost, and on how many pages they failed."""
    costs = {name: score.cost(found) for name, found in group.results.items()}
    rows = [
        [
            name,
            " ".join(TOOLS[name].fields),
            f"{one.median:.1f}",
            f"{one.p95:.1f}",
            str(one.failures.total()),
            ", ".join(f"{kind} {count}" for kind, count in one.failures.most_common()),
        ]
        for name, one in sorted(costs.items(), key=lambda item: item[1].median)
    ]
    pages = _pages(len(found) for found in group.results.values())
    return Table(
        f"CPU time by lxml.html parsing of the same bytes, {group.name}: {pages} pages",
        ("tool", "gives", "median", "p95", "failed", "of what"),
        rows,
    )


def _against(
    found: Results, name: str, keep: Callable[[Result], bool], measure: Callable[[Result], float]
) -> str:
    """Return the mean of ours minus that of tool *name* and its interval; empty for ours."""
    if name == OURS or OURS not in found:
        return ""
    pairs = [
        (one.page.site, measure(one), measure(other))
        for one, other in zip(found[OURS], found[name], strict=True)
        if keep(one)
    ]
    if not pairs:
        return ""
    it = compare(pairs)
    return f"{it.difference:+.3f} [{it.low:+.3f}, {it.high:+.3f}]"


def _with_nodes(result: Result) -> bool:
    return bool(result.node_title)


def _with_sound_day(result: Result) -> bool:
    return result.page.day_counts


def _with_body(result: Result) -> bool:
    return result.page.body is not None


def _ranked(found: Results, value: Callable[[str], float]) -> list[str]:
    """Return the names of tools, the best first."""
    return sorted(found, key=lambda name: -value(name))


def _pages(counts: Iterable[int]) -> int:
    """Return the number of pages, which is that of any tool."""
    return max(counts, default=0)
