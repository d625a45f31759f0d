"""Scores of near-duplicates: one JSON-able dict, and the tables that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.corpora.metrics import mean
from newscrawl.corpora.tables import Table, figure
from newscrawl.evaluation.cluster_metrics import adjusted_rand, b_cubed, pair_score, pair_score_of
from newscrawl.evaluation.near_duplicate_corpus import INPUTS, UNEDITED, stories
from newscrawl.evaluation.near_duplicate_systems import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from newscrawl.corpora.map_pages import PageOutcome
    from newscrawl.evaluation.near_duplicate_corpus import Input, Member, Texts
    from newscrawl.evaluation.near_duplicate_systems import Labels, System

DRAWS = 4
"""Draws of the hashes and of the order of arrival that scores are means over; the first is tuned on.
One draw alone is worth little: the F1 of two of them differs by up to .03."""

INPUT_NAMES: dict[Input, str] = {"page": "whole page", "body": "our body", "gold": "gold body"}
FIGURES = {
    "precision": "pair P", "recall": "R", "f1": "F1", "b_precision": "B-cubed P",
    "b_recall": "R", "b_f1": "F1", "ari": "ARI",
}  # fmt: skip


def score(members: Sequence[Member], labels: Labels) -> dict[str, Any]:
    """Return the figures of a clustering of *members*.

    ``kinds`` has for each kind of edit the share of copies that are in their original's cluster.
    """
    gold = [member.cluster for member in members]
    pairs, cubed = pair_score(labels, gold), b_cubed(labels, gold)
    return {
        **pairs._asdict(),
        **{f"b_{name}": value for name, value in cubed._asdict().items()},
        "ari": adjusted_rand(labels, gold),
        "kinds": _kinds(members, labels),
    }


def _kinds(members: Sequence[Member], labels: Labels) -> dict[str, float]:
    original = {
        member.cluster: label
        for member, label in zip(members, labels, strict=True)
        if member.kind == "original"
    }
    found: dict[str, list[bool]] = {}
    for member, label in zip(members, labels, strict=True):
        if member.kind not in UNEDITED and member.cluster in original:
            found.setdefault(member.kind, []).append(label == original[member.cluster])
    return {kind: mean(found[kind]) for kind in sorted(found)}


def build_report(
    method: str,
    members: Sequence[Member],
    outcomes: Sequence[PageOutcome[Texts]],
    *,
    advance: Callable[[], object] | None = None,
) -> dict[str, Any]:
    """Return what every system finds in every input; *advance* is called after each of these."""
    results: dict[str, dict[str, Any]] = {}
    for source in INPUTS:
        for system in SYSTEMS:
            found = {"skipped": system.missing} if system.missing else None
            results.setdefault(source, {})[system.name] = found or measure(
                system, members, outcomes, source
            )
            if advance:
                advance()
    failed = [{"id": one.page.id, "error": one.error} for one in outcomes if one.error]
    return {"method": method, "pages": len(members), "failures": failed, "inputs": results}


def measure(
    system: System, members: Sequence[Member], outcomes: Sequence[PageOutcome[Texts]], source: Input
) -> dict[str, Any]:
    """Return the figures of *system* by half at the threshold that is best on the half to tune on.

    All pages are clustered together. Best is the F1 of the pairs with a page of that half, those
    with a page of the other one included, which are all wrong. A half's figures leave the pages of
    the other out. They are means over :data:`DRAWS` of hashes and orders of arrival.
    """
    cluster = system.cluster(stories(members, outcomes, source), 0)
    gold = [member.cluster for member in members]
    tune = [place for place, member in enumerate(members) if member.half == "tune"]
    threshold = max(
        system.thresholds, key=lambda least: pair_score_of(tune, cluster(least), gold).f1
    )
    runs = [
        _by_half(members, system.cluster(stories(members, outcomes, source, seed), seed)(threshold))
        for seed in range(DRAWS if system.drawn else 1)
    ]
    return {"threshold": threshold} | {half: _mean([run[half] for run in runs]) for half in runs[0]}


def _by_half(members: Sequence[Member], labels: Labels) -> dict[str, dict[str, Any]]:
    places = {
        half: [place for place, member in enumerate(members) if member.half == half]
        for half in ("tune", "test")
    } | {"all": list(range(len(members)))}
    return {
        half: score([members[i] for i in chosen], [labels[i] for i in chosen])
        for half, chosen in places.items()
    }


def _mean(scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of each figure."""
    kinds = {kind: mean([one["kinds"][kind] for one in scores]) for kind in scores[0]["kinds"]}
    return {name: mean([one[name] for one in scores]) for name in FIGURES} | {"kinds": kinds}


def tables_of(report: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables that show *report*: the half that only reports, then all pages."""
    for half, pages in (("test", "the clusters that nothing was tuned on"), ("all", "all pages")):
        rows = list(_rows(report, half))
        kinds = next((list(row["kinds"]) for _, _, row in rows), [])
        yield Table(
            f"Near-duplicates, {pages}",
            ("input", "found by", "from", *FIGURES.values(), *kinds),
            [
                [INPUT_NAMES[source], name, f"{report['inputs'][source][name]['threshold']:.2f}",
                 *(figure(row[one]) for one in FIGURES), *(figure(row["kinds"][k]) for k in kinds)]
                for source, name, row in rows
            ],
        )  # fmt: skip
    skipped = {
        (name, found["skipped"])
        for systems in report["inputs"].values()
        for name, found in systems.items()
        if "skipped" in found
    }
    yield Table("Left out", ("found by", "because"), sorted(map(list, skipped)))
    failures = [[one["id"], one["error"]] for one in report["failures"]]
    yield Table("Failed pages, compared as empty ones", ("page", "error"), failures)


def _rows(report: Mapping[str, Any], half: str) -> Iterator[tuple[Input, str, Mapping[str, Any]]]:
    for source in INPUTS:
        for name, found in report["inputs"][source].items():
            if half in found:
                yield source, name, found[half]
