"""``scrapy cluster``: finds near-duplicates among the articles of feeds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from newscrawl.commands.corpus_options import progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from newscrawl.feeds.cluster_tables import FeedArticle, Row


class ClusterCommand(ScrapyCommand):
    """Cluster the articles of feeds and write articles and clusters."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return the arguments of the command."""
        return "[options] FEED..."

    def short_desc(self) -> str:
        """Return a one-line description."""
        return "Find the near-duplicates among the articles of feeds"

    def long_desc(self) -> str:
        """Return the description."""
        return (
            "Group articles about the same story in FEEDs: JSON Lines (also gzipped), Parquet or "
            "folders of segments, in the given order, with the settings of NearDuplicatePipeline. "
            "Write a row for each article and for each cluster, as Parquet if the file name ends "
            "with .parquet, otherwise as JSON Lines."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--articles",
            metavar="FILE",
            default="-",
            help="output file of the articles (default: standard output, as JSON Lines)",
        )
        parser.add_argument("--clusters", metavar="FILE", help="output file of the clusters")
        parser.add_argument(
            "--sort",
            action="store_true",
            help="process articles in order of time and URL, not feed by feed",
        )
        parser.add_argument(
            "--two-pass",
            action="store_true",
            help="read all articles before clustering: more accurate, needs more memory",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Cluster the feeds in *args*."""
        if not args:
            raise UsageError("name at least one feed", print_help=False)
        if opts.two_pass and opts.sort:
            raise UsageError("--two-pass cannot be combined with --sort", print_help=False)
        try:
            rows = self._cluster(args, opts)
            _write(rows, opts)
        except OSError as error:
            raise UsageError(str(error), print_help=False) from error

    def _cluster(self, feeds: Sequence[str], opts: argparse.Namespace) -> list[Row]:
        from newscrawl.feeds.cluster_tables import cluster_one_pass, cluster_two_pass  # noqa: PLC0415
        from newscrawl.feeds.feed_rows import count_rows  # noqa: PLC0415
        from newscrawl.pipelines.pipeline_options import neardup_options  # noqa: PLC0415

        assert self.settings is not None  # noqa: S101  # set before run
        try:
            options = neardup_options(self.settings)
        except ValueError as error:
            raise UsageError(str(error), print_help=False) from error
        arrivals: Any = self._arrivals(feeds)
        if opts.sort:
            arrivals = sorted(arrivals, key=lambda it: (it.story.timestamp, it.story.url))
        with progress("clustering", sum(map(count_rows, feeds))) as advance:
            cluster = cluster_two_pass if opts.two_pass else cluster_one_pass
            return cluster(arrivals, options, advance)

    def _arrivals(self, feeds: Sequence[str]) -> Iterator[FeedArticle]:
        """Yield the articles of *feeds*; report skipped rows on standard error."""
        from newscrawl import clock  # noqa: PLC0415
        from newscrawl.defaults import setting  # noqa: PLC0415
        from newscrawl.feeds.cluster_tables import FeedArticleReader  # noqa: PLC0415
        from newscrawl.feeds.feed_rows import read_rows  # noqa: PLC0415

        assert self.settings is not None  # noqa: S101  # set before run
        reader = FeedArticleReader(setting(self.settings, "NEWSCRAWL_FIELDS"), clock.now())
        for feed in feeds:
            skipped = 0
            for arrival in map(reader.read, read_rows(feed, reader.columns)):
                if arrival is None:
                    skipped += 1
                else:
                    yield arrival
            if skipped:
                sys.stderr.write(f"{feed}: {skipped} rows without text or URL skipped\n")


def _write(rows: Sequence[Row], opts: argparse.Namespace) -> None:
    from newscrawl.feeds.cluster_tables import (  # noqa: PLC0415
        ARTICLE_COLUMNS,
        CLUSTER_COLUMNS,
        cluster_rows,
    )
    from newscrawl.feeds.feed_rows import write_rows  # noqa: PLC0415

    found = list(cluster_rows(rows))
    write_rows(opts.articles, rows, ARTICLE_COLUMNS)
    if opts.clusters:
        write_rows(opts.clusters, found, CLUSTER_COLUMNS)
    sizes = [cluster["size"] for cluster in found if cluster["size"] > 1]
    sys.stderr.write(
        f"{len(rows)} articles, {len(found)} clusters, {len(sizes)} with several articles "
        f"(at most {max(sizes, default=1)})\n"
    )
