"""Subcommand ``report``: a static site of one crawl, with drift against earlier crawls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
from scrapy import Request

from newscrawl.cli.crawl_process import send
from newscrawl.cli.exit_codes import ALARM, DONE
from newscrawl.cli.setting_options import with_settings
from newscrawl.defaults import setting
from newscrawl.reports.crawl_records import ReportError, as_time, read_crawls
from newscrawl.reports.drift import find_alarms
from newscrawl.reports.report_site import write_report
from newscrawl.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.settings import Settings

    from newscrawl.reports.drift import Alarm


@click.command(no_args_is_help=True)
@click.argument("inputs", metavar="STATE|FEED...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FOLDER", required=True, help="folder for the report")
@click.option(
    "--alarm-webhook",
    envvar="NEWSCRAWL_ALARM_WEBHOOK",
    metavar="URL",
    help="URL that alarms are sent to, by POST as JSON (default: NEWSCRAWL_ALARM_WEBHOOK)",
)
@with_settings
def command(
    settings: Settings, *, inputs: tuple[str, ...], output: str, alarm_webhook: str | None
) -> int:
    """Write a report of the last crawl in STATE, or in FEEDs, as a static site.

    It compares each site with the earlier crawls in the same inputs, and raises an alarm if a site
    changed or went silent: exit code 4.
    """
    if output.lower().endswith((".htm", ".html")):
        raise click.UsageError(f"{output}: -o names a folder")
    try:
        crawls = read_crawls(inputs)
    except ReportError as error:
        raise click.ClickException(str(error)) from error
    alarms = find_alarms(crawls)
    write_report(crawls, alarms, Path(output))
    for alarm in alarms:
        line = f"alarm: {alarm.site}: {alarm.measure}: {alarm.message}"
        click.echo(printable(line), err=True)
    click.echo(f"Wrote {Path(output, 'index.html')}", err=True)
    webhook = alarm_webhook or setting(settings, "NEWSCRAWL_ALARM_WEBHOOK")
    if alarms and webhook:
        _send(webhook, as_time(crawls[-1].ended).isoformat(timespec="seconds"), alarms, settings)
    return ALARM if alarms else DONE


def _send(webhook: str, crawl: str, alarms: Sequence[Alarm], settings: Settings) -> None:
    """Send the alarms; raises ``click.ClickException``, without the URL, which may be a secret."""
    lines = [f"{alarm.site}: {alarm.measure}: {alarm.message}" for alarm in alarms]
    body: dict[str, Any] = {
        "crawl": crawl,
        "text": "\n".join(lines),
        "alarms": [
            {
                "site": alarm.site,
                "measure": alarm.measure,
                "before": alarm.before,
                "after": alarm.after,
                "p_value": alarm.p_value,
                "message": alarm.message,
            }
            for alarm in alarms
        ],
    }
    settings.setdict(
        {"DOWNLOAD_DELAY": 0, "REDIRECT_ENABLED": False, "ROBOTSTXT_OBEY": False}, "cmdline"
    )
    try:
        request = Request(
            webhook,
            method="POST",
            body=json.dumps(body, ensure_ascii=False),
            headers={"Content-Type": "application/json"},
        )
        send(request, settings, name=f"webhook at {urlsplit(webhook).netloc.rpartition('@')[2]}")
    except ValueError as error:
        raise click.ClickException("NEWSCRAWL_ALARM_WEBHOOK is not a URL") from error
