"""``scrapy evaluate --task near-duplicates``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from newscrawl.cli.shared_options import check_method, progress
from newscrawl.lab.commands.corpora_option import require_training, save_text
from newscrawl.lab.paper_methods import TRAINED_METHODS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from newscrawl.lab.corpora.tables import Table
    from newscrawl.lab.evaluation.near_duplicate_corpus import Member

_HEAD = """\
# Near-duplicates: results

Scores on generated clusters: real stories inserted into real pages of other sites, complete
(*verbatim*), cut (*trim*), with a box inside (*boiler*), with 5 % of the words changed (*edit*),
with other paragraphs (*update*) and heavily edited (*heavy*), among unchanged pages. The inputs and
columns are described in {doc}`../internals/evaluation`.
"""


def evaluate_near_duplicates(args: Sequence[str], opts: argparse.Namespace) -> None:
    """Score near-duplicate detection on the corpus in *args* and print the report."""
    members = _members(args, opts)
    report = _report(members, opts)
    from newscrawl.lab.corpora.tables import print_tables  # noqa: PLC0415
    from newscrawl.lab.evaluation.near_duplicate_report import tables_of  # noqa: PLC0415

    tables = list(tables_of(report))
    if opts.page:
        save_text(Path(opts.page), _page(args, opts, tables))
    text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
    if opts.json == "-":
        sys.stdout.write(text)
        return
    if opts.json:
        save_text(Path(opts.json), text)
    print_tables(tables, sys.stdout)


def _members(args: Sequence[str], opts: argparse.Namespace) -> list[Member]:
    from newscrawl.lab.corpora.corpus import CorpusError  # noqa: PLC0415
    from newscrawl.lab.evaluation.near_duplicate_corpus import load_members  # noqa: PLC0415

    if len(args) != 1:
        raise click.UsageError("name one corpus of clusters")
    check_method(opts.method)
    require_training(opts.method)
    try:
        return load_members(Path(args[0]))[: opts.limit]
    except (CorpusError, OSError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from error


def _report(members: Sequence[Member], opts: argparse.Namespace) -> dict[str, Any]:
    from newscrawl.lab.evaluation.near_duplicate_corpus import (  # noqa: PLC0415
        INPUTS,
        extract_texts,
        neighbours,
    )
    from newscrawl.lab.evaluation.near_duplicate_report import build_report  # noqa: PLC0415
    from newscrawl.lab.evaluation.near_duplicate_systems import SYSTEMS  # noqa: PLC0415
    from newscrawl.lab.training.training_errors import TooFewPagesError  # noqa: PLC0415

    learned = len(neighbours(members)) if opts.method in TRAINED_METHODS else 0
    try:
        with progress(opts.method, learned + len(members)) as advance:
            outcomes = extract_texts(members, opts.method, workers=opts.workers, advance=advance)
    except TooFewPagesError as error:
        raise click.UsageError(f"{error}: name another --method") from error
    with progress("clusters", len(INPUTS) * len(SYSTEMS)) as advance:
        return build_report(opts.method, members, outcomes, advance=advance)


def _page(args: Sequence[str], opts: argparse.Namespace, tables: Iterable[Table]) -> str:
    from newscrawl.lab.corpora.tables import markdown  # noqa: PLC0415

    command = f"scrapy evaluate --task near-duplicates {args[0]} --page {opts.page}"
    written = f"<!-- Written by `{command}`: do not edit. -->"
    shown = [markdown(table) for table in tables if table.rows]
    return "\n".join([written, "", _HEAD, f"    {command}", "", *shown])
