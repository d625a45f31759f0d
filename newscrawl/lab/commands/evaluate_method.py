"""Subcommand ``evaluate``: precision, recall and F1 of a method on labelled pages."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from newscrawl.cli.shared_options import COUNT, check_method, progress, report
from newscrawl.extraction.methods import DEFAULT_METHOD
from newscrawl.lab.commands.corpora_option import (
    jobs_option,
    load_corpora,
    require_training,
    save_text,
)
from newscrawl.lab.commands.evaluate_families import evaluate_families
from newscrawl.lab.commands.evaluate_near_duplicates import evaluate_near_duplicates
from newscrawl.lab.paper_methods import TRAINED_METHODS, V_WRAPPER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.evaluation.page_scores import PageScores

T = TypeVar("T")


@click.command()
@click.argument("corpora", metavar="CORPUS...", nargs=-1, required=True)
@click.option(
    "--task",
    type=click.Choice(("articles", "families", "near-duplicates")),
    default="articles",
    show_default=True,
    help="articles: extracted fields; families: the same by family of corpora, compared with "
    "trafilatura; near-duplicates: clusters found in whole pages, extracted bodies and labelled "
    "bodies",
)
@click.option("--method", default=DEFAULT_METHOD, show_default=True, help="method to score")
@click.option(
    "--models",
    metavar="DIR",
    help="use the models in DIR, trained on other sites, instead of training in folds",
)
@click.option(
    "--geometry",
    metavar="DIR",
    help="v-wrapper: folder of the geometry of rendered pages; missing pages are rendered in "
    "Chromium, offline (extra browser)",
)
@click.option(
    "--limit", type=COUNT, metavar="N", help="score only the first N pages of each corpus"
)
@jobs_option
@click.option(
    "--page", metavar="FILE", help="near-duplicates: also write the tables to FILE as Markdown"
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="families: compare with the report in FILE, written by --json; the exit code is 1 if a "
    "family got worse by more than its noise",
)
@click.option(
    "--json",
    metavar="FILE",
    help="write all figures to FILE; '-': print them instead of the tables",
)
def command(corpora: tuple[str, ...], **options: Any) -> int:
    """Score an extraction method on folders of labelled pages.

    Extracts the labelled pages of each CORPUS, a folder with truth.jsonl and pages/, and prints
    precision, recall and F1 of relevant content, body, title, date, authors and other metadata.
    With --task families, CORPUS is the folder that contains all corpora.
    """
    opts = argparse.Namespace(**options)
    if opts.method == V_WRAPPER and opts.task != "articles":
        raise click.UsageError(f"method {opts.method} requires --task articles")
    if opts.page and opts.task != "near-duplicates":
        raise click.UsageError("--page requires --task near-duplicates")
    if opts.task == "near-duplicates":
        evaluate_near_duplicates(corpora, opts)
    elif opts.task == "families":
        return int(not evaluate_families(corpora, opts))
    else:
        _evaluate_articles(corpora, opts)
    return 0


def _evaluate_articles(folders: Sequence[str], opts: argparse.Namespace) -> None:
    if opts.method != V_WRAPPER:
        check_method(opts.method)
    corpora = load_corpora(folders)
    pages = [page for corpus in corpora for page in corpus.pages[: opts.limit]]
    if not pages:
        raise click.ClickException("no labelled page to score")
    if not opts.models:
        require_training(opts.method)
    if opts.method == V_WRAPPER:
        _render(pages, opts)
    from newscrawl.lab.evaluation.evaluation_report import build_report  # noqa: PLC0415

    _write(build_report(opts.method, corpora, _score(pages, opts)), opts)


def _render(pages: Sequence[LabelledPage], opts: argparse.Namespace) -> None:
    """Render the pages that have no geometry yet; report those that cannot be rendered."""
    from newscrawl.lab.corpora.rendering import render_pages  # noqa: PLC0415

    if not opts.geometry:
        raise click.UsageError(f"method {V_WRAPPER} requires --geometry DIR")
    with progress("render", len(pages)) as advance:
        failed = render_pages(pages, Path(opts.geometry), advance=advance)
    for page, error in failed:
        report(f"could not render {page.corpus}/{page.id}: {error}")


def _score(
    pages: Sequence[LabelledPage], opts: argparse.Namespace
) -> list[PageOutcome[PageScores]]:
    from newscrawl.lab.evaluation.page_scores import evaluate  # noqa: PLC0415

    method = opts.method
    if method not in TRAINED_METHODS:
        return _with_progress(evaluate, pages, method, opts, method=method)
    geometry = Path(opts.geometry) if opts.geometry else None
    if opts.models:
        folder = Path(opts.models)
        _check_training_sites(pages, method, folder)
        return _with_progress(
            evaluate, pages, method, opts, method=method, models=folder, geometry=geometry
        )
    from newscrawl.lab.evaluation.out_of_fold import evaluate_out_of_fold  # noqa: PLC0415
    from newscrawl.lab.training.training_errors import TooFewPagesError  # noqa: PLC0415

    try:
        return _with_progress(
            evaluate_out_of_fold,
            pages,
            method,
            opts,
            steps=2,
            method=method,
            geometry=geometry,
        )
    except TooFewPagesError as error:
        raise click.ClickException(
            f"{error}: the models of method {method} are trained on other pages than those "
            "scored; use --models or another --method"
        ) from error


def _with_progress(
    function: Callable[..., list[T]],
    pages: Sequence[LabelledPage],
    label: str,
    opts: argparse.Namespace,
    *,
    steps: int = 1,
    **arguments: Any,
) -> list[T]:
    """Call *function* with a progress bar; it advances *steps* times for each page."""
    with progress(label, steps * len(pages)) as advance:
        return function(pages, workers=opts.workers, advance=advance, **arguments)


def _check_training_sites(pages: Sequence[LabelledPage], method: str, folder: Path) -> None:
    """Raise ``click.UsageError`` if the models in *folder* were trained on sites of *pages*."""
    from newscrawl.ensemble.ensemble import ModelError  # noqa: PLC0415
    from newscrawl.lab.evaluation.out_of_fold import seen  # noqa: PLC0415

    try:
        trained_on = seen(pages, TRAINED_METHODS[method](folder))
    except (ModelError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if trained_on:
        raise click.UsageError(
            f"the models in {folder} were trained on the sites of {len(trained_on)} of the "
            f"{len(pages)} pages, such as {trained_on[0].site}; omit --models to train in folds"
        )


def _write(report: dict[str, Any], opts: argparse.Namespace) -> None:
    if opts.json:
        text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
        if opts.json == "-":
            sys.stdout.write(text)
            return
        save_text(Path(opts.json), text)
    from newscrawl.lab.corpora.tables import print_tables  # noqa: PLC0415
    from newscrawl.lab.evaluation.evaluation_report import tables_of  # noqa: PLC0415

    print_tables(tables_of(report), sys.stdout)
