"""Tables of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.peers import score
from benchmarks.peers.tools import OURS, TOOLS
from newscrawl.lab.corpora.metadata_match import METADATA_FIELDS, metadata_means
from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.corpora.tables import Table, figure, share
from newscrawl.lab.evaluation import families
from newscrawl.lab.evaluation.bootstrap import compare
from newscrawl.lab.evaluation.families import ALL, FAILED, FAMILIES, FAMILY_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchmarks.peers.score import Result
    from benchmarks.peers.tool_types import Field
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.metadata_match import MetadataField

    #: tool -> results, all with the same pages in the same order
    Results = Mapping[str, Sequence[Result]]


ALL_CORPORA = "all corpora"


@dataclass(frozen=True, slots=True)
class Group:
    """Results on a group of pages."""

    name: str
    results: Results

    def of(self, field: Field) -> Results:
        """Return the results of the tools that extract *field*."""
        return {
            name: results for name, results in self.results.items() if field in TOOLS[name].fields
        }

    def has_label(self, field: Field) -> bool:
        """Return whether *field* is labelled on a page."""
        return any(
            getattr(result.page, field) for found in self.results.values() for result in found
        )


def family_groups(results: Results) -> list[Group]:
    """Return the groups of each family of corpora, of its parts, and of all families."""
    pages = [page for page in _pages_of(results) if page.corpus in FAMILY_OF]
    return [_group(name, results, members) for name, members in families.groups(pages)]


def news_groups(results: Results) -> list[Group]:
    """Return the groups of each news corpus, and of all of them if there are several."""
    pages = _pages_of(results)
    members = {
        name: own
        for name in FAMILIES[0].corpora
        if (own := [page for page in pages if page.corpus == name])
    }
    if len(members) > 1:
        members[" + ".join(members)] = [page for own in members.values() for page in own]
    return [_group(name, results, own) for name, own in members.items()]


def labelled_groups(results: Results, field: MetadataField) -> list[Group]:
    """Return the groups of pages on which *field* is labelled: of each corpus, and of all."""
    pages = [page for page in _pages_of(results) if getattr(page, field)]
    members = {
        name: [page for page in pages if page.corpus == name]
        for name in dict.fromkeys(page.corpus for page in pages)
    }
    if len(members) > 1:
        members[ALL_CORPORA] = pages
    return [_group(name, results, own) for name, own in members.items()]


def _pages_of(results: Results) -> list[LabelledPage]:
    return [result.page for result in next(iter(results.values()))]


def _group(name: str, results: Results, pages: Sequence[LabelledPage]) -> Group:
    keys = {(page.corpus, page.id) for page in pages}
    return Group(
        name,
        {
            tool: [result for result in found if (result.page.corpus, result.page.id) in keys]
            for tool, found in results.items()
        },
    )


def tables(results: Results, fields: Sequence[Field]) -> Iterator[Table]:
    """Yield the tables: bodies, titles and days of each family, and failures."""
    by_family = family_groups(results)
    news = news_groups(results)
    names = {ALL, *(family.name for family in FAMILIES)}
    shown = [group for group in by_family if group.name in names]
    corpora = [*news, *(group for group in shown if group.name not in {ALL, FAMILIES[0].name})]
    if "body" in fields:
        yield overview_table(by_family)
        yield from map(body_table, shown)
    if "title" in fields:
        yield from (title_table(group) for group in corpora if group.has_label("title"))
    if "date" in fields:
        yield from (date_table(group) for group in corpora if group.has_label("date"))
    yield from _metadata_tables(results, [name for name in METADATA_FIELDS if name in fields])
    yield failure_table(by_family[-1])


def overview_table(groups: Sequence[Group]) -> Table:
    """Return the body F1 of each tool, with a column per group."""
    by_group = {group.name: group.of("body") for group in groups}
    f1 = {
        group: {name: score.bodies(results).score.f1 for name, results in tools.items()}
        for group, tools in by_group.items()
    }
    rows = [
        [name, *(figure(tools[name]) for tools in f1.values())]
        for name in _ranked(by_group[ALL], lambda name: f1[ALL][name])
    ]
    return Table("Body F1 by family of corpora", ("tool", *f1), rows)


def _metadata_tables(results: Results, fields: Sequence[MetadataField]) -> Iterator[Table]:
    """Yield a table for each labelled field and corpus, and the share of pages with each field."""
    for field in fields:
        groups = labelled_groups(results, field)
        if len(groups) > 1:
            yield _right_table(field, groups)
        yield from (metadata_table(field, group) for group in groups)
    pages = [page for page in _pages_of(results) if page.metadata_labelled]
    if fields and pages:
        yield _given_table(fields, _group(ALL_CORPORA, results, pages))


def _right_table(field: MetadataField, groups: Sequence[Group]) -> Table:
    """Return the share of right pages of each tool, with a column per corpus."""
    right = {
        group.name: {name: _means(field, found)["right"] for name, found in group.of(field).items()}
        for group in groups
    }
    rows = [
        [name, *(figure(tools[name]) for tools in right.values())]
        for name in _ranked(groups[-1].of(field), right[groups[-1].name].__getitem__)
    ]
    return Table(f"{_shown(field)} right, by corpus", ("tool", *right), rows)


def metadata_table(field: MetadataField, group: Group) -> Table:
    """Return the scores of a metadata field."""
    tools = group.of(field)
    means = {name: _means(field, found) for name, found in tools.items()}
    parts = ("right", "site_right", "precision", "recall", "f1", "mean_f1")
    rows = [
        [
            name,
            *(figure(means[name][part]) for part in parts),
            share(means[name]["silent"]),
            _difference(tools, name, score.has_label(field), score.metadata(field)),
        ]
        for name in _ranked(tools, lambda name: means[name]["right"])
    ]
    return Table(
        f"{_shown(field)}, {group.name}: {_pages(found['pages'] for found in means.values())} pages",
        ("tool", "right", "site right", "P", "R", "F1", "mean F1", "silent", "ours - it"),
        rows,
    )


def _means(field: MetadataField, results: Sequence[Result]) -> dict[str, Any]:
    return metadata_means((result.page.site, result.metadata) for result in results)[field]


def _given_table(fields: Sequence[MetadataField], group: Group) -> Table:
    """Return the share of pages with each field, right or wrong."""
    tools = {name: found for field in fields for name, found in group.of(field).items()}
    rows = [
        [
            name,
            *(
                share(mean([bool(getattr(result.answer.output, field)) for result in found]))
                if field in TOOLS[name].fields
                else ""
                for field in fields
            ),
        ]
        for name, found in tools.items()
    ]
    pages = _pages(len(found) for found in tools.values())
    columns = [_shown(field).lower() for field in fields]
    return Table(f"Metadata given, right or wrong: {pages} pages", ("tool", *columns), rows)


def _shown(field: MetadataField) -> str:
    return field.replace("_", " ").capitalize()


def title_table(group: Group) -> Table:
    """Return the title scores against the title nodes and against the labels."""
    tools = group.of("title")
    in_nodes = {name: score.titles(found, score.in_nodes) for name, found in tools.items()}
    labelled = {name: score.titles(found, score.as_labelled) for name, found in tools.items()}
    rows = [
        [
            name,
            *map(figure, (in_nodes[name].f1, in_nodes[name].exact)),
            *map(figure, (labelled[name].f1, labelled[name].exact, labelled[name].given)),
            _difference(tools, name, _with_nodes, score.title_f1),
            _difference(tools, name, _with_nodes, score.title_exact),
        ]
        for name in _ranked(tools, lambda name: in_nodes[name].f1)
    ]
    pages = _pages(titles.pages for titles in in_nodes.values())
    return Table(
        f"Title, {group.name}: {pages} pages with the title in text nodes, "
        f"{_pages(titles.pages for titles in labelled.values())} with a label",
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
    """Return the scores of days, without and with doubtful labels."""
    tools = group.of("date")
    certain = {name: score.days(found, doubtful=False) for name, found in tools.items()}
    every = {name: score.days(found, doubtful=True) for name, found in tools.items()}
    rows = [
        [
            name,
            *map(figure, (certain[name].right, certain[name].right_or_modified)),
            *map(figure, (every[name].right, every[name].right_or_modified)),
            *map(figure, (certain[name].precision, certain[name].given)),
            _difference(tools, name, _with_certain_day, score.day),
            _difference(tools, name, _with_certain_day, score.day_or_modified),
        ]
        for name in _ranked(tools, lambda name: certain[name].right)
    ]
    return Table(
        f"Day of publication, {group.name}: {_pages(days.pages for days in certain.values())} pages "
        f"without doubtful labels, {_pages(days.pages for days in every.values())} with them",
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
    """Return the body scores."""
    tools = group.of("body")
    bodies = {name: score.bodies(found) for name, found in tools.items()}
    f1 = {name: found.score.f1 for name, found in bodies.items()}
    rows = [
        [
            name,
            *map(figure, (f1[name], bodies[name].score.precision, bodies[name].score.recall)),
            *map(share, (bodies[name].below, bodies[name].given)),
            _difference(tools, name, _with_body, score.body_f1),
        ]
        for name in _ranked(tools, f1.__getitem__)
    ]
    return Table(
        f"Body, {group.name}: {_pages(scores.pages for scores in bodies.values())} pages",
        ("tool", "F1", "P", "R", f"F1 < {FAILED}", "given", "ours - it"),
        rows,
    )


def failure_table(group: Group) -> Table:
    """Return the fields of the tools and their failures."""
    rows = []
    for name, found in group.results.items():
        failures = score.failures(found)
        kinds = ", ".join(f"{kind} {count}" for kind, count in failures.most_common())
        rows.append([name, " ".join(TOOLS[name].fields), str(failures.total()), kinds])
    pages = _pages(len(found) for found in group.results.values())
    return Table(
        f"Failures, {group.name}: {pages} pages", ("tool", "gives", "failed", "of what"), rows
    )


def _difference(
    results: Results, name: str, keep: Callable[[Result], bool], measure: Callable[[Result], float]
) -> str:
    """Return the mean difference of our score to that of *name*, with its interval.

    Empty for our own row.
    """
    if name == OURS or OURS not in results:
        return ""
    pairs = [
        (ours.page.site, measure(ours), measure(other))
        for ours, other in zip(results[OURS], results[name], strict=True)
        if keep(ours)
    ]
    if not pairs:
        return ""
    comparison = compare(pairs)
    return f"{comparison.difference:+.3f} [{comparison.low:+.3f}, {comparison.high:+.3f}]"


def _with_nodes(result: Result) -> bool:
    return bool(result.node_title)


def _with_certain_day(result: Result) -> bool:
    return result.page.day_counts


def _with_body(result: Result) -> bool:
    return result.page.body is not None


def _ranked(results: Results, value: Callable[[str], float]) -> list[str]:
    """Return the names of tools by descending *value*."""
    return sorted(results, key=lambda name: -value(name))


def _pages(counts: Iterable[int]) -> int:
    """Return the number of pages, which is the same for all tools."""
    return max(counts, default=0)
