"""Report on near-duplicate detection: figures as JSON values, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.corpora.tables import Table, figure
from newscrawl.lab.evaluation.cluster_metrics import (
    adjusted_rand,
    b_cubed,
    pair_score,
    pair_score_of,
)
from newscrawl.lab.evaluation.near_duplicate_corpus import INPUTS, UNEDITED, stories
from newscrawl.lab.evaluation.near_duplicate_systems import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.evaluation.near_duplicate_corpus import Input, Member, Texts
    from newscrawl.lab.evaluation.near_duplicate_systems import Labels, System

DRAWS = 4
"""Runs with different hashes and orders; scores are means over runs, thresholds are tuned on the
first. F1 of single runs differs by up to .03."""

INPUT_NAMES: dict[Input, str] = {"page": "whole page", "body": "our body", "gold": "gold body"}
FIGURES = {
    "precision": "pair P", "recall": "R", "f1": "F1", "b_precision": "B-cubed P",
    "b_recall": "R", "b_f1": "F1", "ari": "ARI",
}  # fmt: skip


def score(members: Sequence[Member], labels: Labels) -> dict[str, Any]:
    """Return the figures of a clustering of *members*.

    ``kinds`` is the share of copies in the cluster of their original, by kind of edit.
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
    """Measure all systems on all inputs; *advance* is called after each combination."""
    results: dict[str, dict[str, Any]] = {}
    for source in INPUTS:
        for system in SYSTEMS:
            skipped = {"skipped": system.missing} if system.missing else None
            results.setdefault(source, {})[system.name] = skipped or measure(
                system, members, outcomes, source
            )
            if advance:
                advance()
    failed = [{"id": it.page.id, "error": it.error} for it in outcomes if it.error]
    return {"method": method, "pages": len(members), "failures": failed, "inputs": results}


def measure(
    system: System, members: Sequence[Member], outcomes: Sequence[PageOutcome[Texts]], source: Input
) -> dict[str, Any]:
    """Return the figures of *system* by half, with the threshold that is best on the tuning half.

    All pages are clustered together. Thresholds are compared by the F1 of pairs with at least one
    page of the tuning half; the figures of a half include only its own pages. Figures are means
    over :data:`DRAWS` runs.
    """
    cluster = system.cluster(stories(members, outcomes, source), 0)
    gold = [member.cluster for member in members]
    tune = [index for index, member in enumerate(members) if member.half == "tune"]
    threshold = max(
        system.thresholds, key=lambda value: pair_score_of(tune, cluster(value), gold).f1
    )
    runs = [
        _by_half(members, system.cluster(stories(members, outcomes, source, seed), seed)(threshold))
        for seed in range(DRAWS if system.drawn else 1)
    ]
    return {"threshold": threshold} | {half: _mean([run[half] for run in runs]) for half in runs[0]}


def _by_half(members: Sequence[Member], labels: Labels) -> dict[str, dict[str, Any]]:
    indices = {
        half: [index for index, member in enumerate(members) if member.half == half]
        for half in ("tune", "test")
    } | {"all": list(range(len(members)))}
    return {
        half: score([members[i] for i in chosen], [labels[i] for i in chosen])
        for half, chosen in indices.items()
    }


def _mean(scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of each figure."""
    kinds = {kind: mean([it["kinds"][kind] for it in scores]) for kind in scores[0]["kinds"]}
    return {name: mean([it[name] for it in scores]) for name in FIGURES} | {"kinds": kinds}


def tables_of(report: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of *report*: the test half, then all pages."""
    for half, pages in (("test", "test half"), ("all", "all pages")):
        rows = list(_rows(report, half))
        kinds = next((list(row["kinds"]) for _, _, row in rows), [])
        yield Table(
            f"Near-duplicates, {pages}",
            ("input", "system", "threshold", *FIGURES.values(), *kinds),
            [
                [INPUT_NAMES[source], name, f"{report['inputs'][source][name]['threshold']:.2f}",
                 *(figure(row[it]) for it in FIGURES), *(figure(row["kinds"][k]) for k in kinds)]
                for source, name, row in rows
            ],
        )  # fmt: skip
    skipped = {
        (name, found["skipped"])
        for systems in report["inputs"].values()
        for name, found in systems.items()
        if "skipped" in found
    }
    yield Table("Skipped", ("system", "reason"), sorted(map(list, skipped)))
    failures = [[it["id"], it["error"]] for it in report["failures"]]
    yield Table("Failed pages (treated as empty)", ("page", "error"), failures)


def _rows(report: Mapping[str, Any], half: str) -> Iterator[tuple[Input, str, Mapping[str, Any]]]:
    for source in INPUTS:
        for name, found in report["inputs"][source].items():
            if half in found:
                yield source, name, found[half]
