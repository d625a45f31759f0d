"""``scrapy evaluate --task families``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from newscrawl.cli.shared_options import check_method, progress
from newscrawl.lab.commands.corpora_option import load_corpora, require_training, save_text
from newscrawl.lab.paper_methods import TRAINED_METHODS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.evaluation.families import FamilyPage
    from newscrawl.lab.evaluation.page_scores import PageScores


def evaluate_families(args: Sequence[str], opts: argparse.Namespace) -> bool:
    """Score all families of the corpora in the folder *args* and print the report.

    Returns False if a family got worse than the baseline by more than its noise.
    """
    from newscrawl.lab.corpora.tables import print_tables  # noqa: PLC0415
    from newscrawl.lab.evaluation.families import build_report, is_worse  # noqa: PLC0415
    from newscrawl.lab.evaluation.family_tables import family_tables  # noqa: PLC0415
    from newscrawl.lab.evaluation.trafilatura_bodies import peer_version  # noqa: PLC0415

    _check(args, opts)
    baseline = _read_baseline(Path(opts.baseline)) if opts.baseline else None
    scored, training = _load(Path(args[0]), opts)
    require_training(opts.method)
    pages = _measure(scored, training, opts)
    report = build_report(opts.method, pages, peer=peer_version(), baseline=baseline)
    text = json.dumps(report, ensure_ascii=False) + "\n"
    if opts.json == "-":
        sys.stdout.write(text)
    else:
        if opts.json:
            save_text(Path(opts.json), text)
        print_tables(family_tables(report), sys.stdout)
    return not is_worse(report)


def _check(args: Sequence[str], opts: argparse.Namespace) -> None:
    if len(args) != 1:
        raise click.UsageError("name one folder that contains the corpora")
    check_method(opts.method)


def _read_baseline(path: Path) -> list[FamilyPage]:
    from newscrawl.lab.evaluation.families import FamilyPage  # noqa: PLC0415

    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return [FamilyPage.from_plain(row) for row in report["pages"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{path} is not a report written by --task families --json: {error}"
        raise click.ClickException(message) from error


def _load(folder: Path, opts: argparse.Namespace) -> tuple[list[LabelledPage], list[LabelledPage]]:
    """Return the pages to score and the pages for training."""
    from newscrawl.lab.evaluation.families import FAMILY_OF, MAY_TRAIN  # noqa: PLC0415

    names = [*FAMILY_OF, *sorted(MAY_TRAIN - FAMILY_OF.keys())]
    missing = [name for name in names if not (folder / name).is_dir()]
    if missing == names:
        message = f"no corpus in {folder}; supported: {', '.join(names)}"
        raise click.ClickException(message)
    if missing:
        sys.stderr.write(f"not in {folder}, skipped: {', '.join(missing)}\n")
    present = [str(folder / name) for name in names if name not in missing]
    pages = [page for corpus in load_corpora(present) for page in corpus.pages[: opts.limit]]
    scored = [page for page in pages if page.corpus in FAMILY_OF]
    if not scored:
        raise click.ClickException("no labelled page to score")
    return scored, [page for page in pages if page.corpus in MAY_TRAIN]


def _measure(
    pages: Sequence[LabelledPage], training: Sequence[LabelledPage], opts: argparse.Namespace
) -> list[FamilyPage]:
    from newscrawl.lab.evaluation.families import FamilyPage, with_peers  # noqa: PLC0415
    from newscrawl.lab.evaluation.trafilatura_bodies import MODES, peer_version  # noqa: PLC0415

    results = list(map(FamilyPage.of, _score(pages, training, opts)))
    if peer_version() is None:
        sys.stderr.write("trafilatura is not installed: no comparison (use `make families`)\n")
        return results
    bodies = {mode: _peer_bodies(pages, mode, opts) for mode in MODES}
    return with_peers(results, pages, bodies)


def _score(
    pages: Sequence[LabelledPage], training: Sequence[LabelledPage], opts: argparse.Namespace
) -> list[PageOutcome[PageScores]]:
    from newscrawl.lab.evaluation.out_of_fold import evaluate_out_of_fold  # noqa: PLC0415
    from newscrawl.lab.evaluation.page_scores import evaluate  # noqa: PLC0415
    from newscrawl.lab.training.training_errors import TooFewPagesError  # noqa: PLC0415

    options: dict[str, Any] = {"workers": opts.workers, "nodes": False}
    learned = opts.method in TRAINED_METHODS
    with progress(opts.method, len(pages) + learned * len(training)) as advance:
        if not learned:
            return evaluate(pages, opts.method, advance=advance, **options)
        try:
            return evaluate_out_of_fold(
                pages, opts.method, learn_from=training, advance=advance, **options
            )
        except TooFewPagesError as error:
            raise click.UsageError(f"{error}: name another --method") from error


def _peer_bodies(pages: Sequence[LabelledPage], mode: str, opts: argparse.Namespace) -> list[str]:
    from newscrawl.lab.evaluation.result_cache import default_cache_dir  # noqa: PLC0415
    from newscrawl.lab.evaluation.trafilatura_bodies import peer_bodies  # noqa: PLC0415

    with progress(mode, len(pages)) as advance:
        return peer_bodies(pages, mode, default_cache_dir(), workers=opts.workers, advance=advance)
