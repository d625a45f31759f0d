"""Subcommand ``deliver``: delivers segments to S3-compatible storage, PostgreSQL or OpenSearch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from newscrawl.cli.exit_codes import DONE, FAILED
from newscrawl.cli.shared_options import progress, with_settings
from newscrawl.crawling.output.segments import SegmentError, list_unverified
from newscrawl.sinks.delivery import deliver
from newscrawl.sinks.sink import SinkUrlError, check_url

if TYPE_CHECKING:
    from scrapy.settings import Settings


@click.command(no_args_is_help=True)
@click.argument("segments", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "urls",
    metavar="URL",
    multiple=True,
    required=True,
    envvar="NEWSCRAWL_SINKS",
    help="s3://bucket/prefix, postgresql://user@host/database?table=articles or "
    "opensearch://user@host/index; may be repeated (default: the environment variable "
    "NEWSCRAWL_SINKS, separated by spaces)",
)
@click.option("--retry", is_flag=True, help="deliver segments with refused items again")
@with_settings
def command(settings: Settings, *, segments: Path, urls: tuple[str, ...], retry: bool) -> int:
    """Deliver SEGMENTS, a folder of segments, to sinks.

    Segments that a sink already holds are skipped. In a database, the newest version of each
    article is kept, by canonical URL.
    """
    problems = 0
    try:
        for url in urls:
            check_url(url)
        items = sum(segment.items for _, segment in list_unverified(segments))
        for url in urls:
            with progress("delivering", items) as advance:
                delivery = deliver(segments, url, settings, retry=retry, on_segment=advance)
            for line in (*delivery.problems, str(delivery)):
                click.echo(line, err=True)
            problems += len(delivery.problems)
    except SinkUrlError as error:
        raise click.UsageError(f"--to: {error}") from None
    except SegmentError as error:
        raise click.ClickException(str(error)) from error
    return FAILED if problems else DONE
