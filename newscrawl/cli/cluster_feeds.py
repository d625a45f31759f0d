"""Subcommand ``cluster``: finds near-duplicates among the articles of feeds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from newscrawl import clock
from newscrawl.cli.exit_codes import DONE, NO_ARTICLE
from newscrawl.cli.shared_options import progress, suffix_of, with_settings
from newscrawl.defaults import setting
from newscrawl.feeds.cluster_tables import (
    ARTICLE_COLUMNS,
    CLUSTER_COLUMNS,
    FeedArticleReader,
    cluster_one_pass,
    cluster_rows,
    cluster_two_pass,
    summary_line,
)
from newscrawl.feeds.feed_rows import read_rows, write_rows
from newscrawl.pipeline_options import neardup_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

    from newscrawl.feeds.cluster_tables import FeedArticle


@click.command()
@click.argument("feeds", metavar="FEED...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "articles",
    metavar="FILE",
    default="-",
    help="output file of the articles (default: standard output, as JSON Lines)",
)
@click.option("--clusters", metavar="FILE", help="output file of the clusters")
@click.option(
    "--two-pass",
    is_flag=True,
    help="read all articles before clustering: more accurate, needs more memory",
)
@with_settings
def command(
    settings: BaseSettings,
    feeds: tuple[str, ...],
    articles: str,
    clusters: str | None,
    *,
    two_pass: bool,
) -> int:
    """Find the near-duplicates among the articles of feeds.

    Groups articles about the same story in FEEDs: JSON Lines (also gzipped), Parquet or folders of
    segments, in the given order, with the settings of NearDuplicatePipeline. Writes a row for each
    article and for each cluster, as Parquet if the file name ends with .parquet, otherwise as JSON
    Lines.
    """
    for path in filter(None, (articles, clusters)):
        suffix_of(path, (".jl", ".json", ".jsonl", ".parquet"))
    try:
        options = neardup_options(settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    with progress("clustering") as advance:
        cluster = cluster_two_pass if two_pass else cluster_one_pass
        rows = cluster(_arrivals(feeds, settings), options, advance)
    found = list(cluster_rows(rows))
    write_rows(articles, rows, ARTICLE_COLUMNS)
    if clusters:
        write_rows(clusters, found, CLUSTER_COLUMNS)
    sizes = [row["size"] for row in found if row["size"] > 1]
    sys.stderr.write(summary_line(len(rows), len(found), len(sizes), max(sizes, default=1)))
    return DONE if rows else NO_ARTICLE


def _arrivals(feeds: Sequence[str], settings: BaseSettings) -> Iterator[FeedArticle]:
    """Yield the articles of *feeds*; report skipped rows on standard error."""
    reader = FeedArticleReader(setting(settings, "NEWSCRAWL_FIELDS"), clock.now())
    for feed in feeds:
        skipped = 0
        for arrival in map(reader.read, read_rows(feed, reader.columns)):
            if arrival is None:
                skipped += 1
            else:
                yield arrival
        if skipped:
            sys.stderr.write(f"{feed}: {skipped} rows without text or URL skipped\n")
