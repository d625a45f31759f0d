"""Subcommand ``report``: a static site of one crawl, with drift against earlier crawls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
from scrapy import Request

from newscrawl import clock
from newscrawl.cli.crawl_process import send
from newscrawl.cli.exit_codes import ALARM, DONE, UNREACHABLE
from newscrawl.cli.shared_options import check_folder, with_settings
from newscrawl.defaults import setting
from newscrawl.reports.alarms import AlarmBook
from newscrawl.reports.crawl_records import ReportError, as_time, last_query, read_crawls
from newscrawl.reports.drift import ALL_SITES, find_alarms
from newscrawl.reports.report_site import write_report
from newscrawl.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.settings import Settings

    from newscrawl.reports.alarms import Changes
    from newscrawl.reports.drift import Alarm

_SENT = ("site", "measure", "message", "before", "after", "p_value")
"""Attributes of an alarm that are sent to a webhook."""


@click.command(no_args_is_help=True)
@click.argument("inputs", metavar="STATE|FEED...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    required=True,
    callback=check_folder,
    help="folder for the report",
)
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

    If that crawl found nothing new, the report is about the last one before it that did. It compares
    the last day with the week before it, in the same inputs and for the same query, and raises an
    alarm if a site changed, broke or went silent: exit code 4, and 5 if no site was reached. A state
    file remembers alarms: each is reported once, and once more when it is closed.
    """
    try:
        crawls = last_query(read_crawls(inputs))
    except ReportError as error:
        raise click.ClickException(str(error)) from error
    ended = crawls[-1].ended
    with AlarmBook(inputs, crawls[-1].query) as book:
        alarms = find_alarms(crawls, book.past)
        changes = book.update(alarms, ended)
        write_report(crawls, alarms, Path(output))
        for line in _lines(alarms, changes):
            click.echo(printable(line), err=True)
        click.echo(f"Wrote {Path(output, 'index.html')}", err=True)
        webhook = alarm_webhook or setting(settings, "NEWSCRAWL_ALARM_WEBHOOK")
        if webhook and any(changes):
            _send(webhook, ended, alarms, changes, settings)
        book.mark_sent(clock.now().timestamp())
    if any(alarm.site == ALL_SITES for alarm in alarms):
        return UNREACHABLE
    # A listing that rolls over does so until the schedule changes: it must not hide other alarms.
    return ALARM if any(alarm.measure != "rolled_over" for alarm in alarms) else DONE


def _lines(alarms: Sequence[Alarm], changes: Changes) -> Iterator[str]:
    """Yield a line for each alarm: new ones, those that were reported before, and closed ones."""
    new = {alarm.key for alarm in changes.opened}
    for alarm in alarms:
        is_new = alarm.key in new or not alarm.since
        state = "" if is_new else f" open since {_iso(alarm.since)}"
        yield f"alarm{state}: {alarm.site}: {alarm.measure}: {alarm.message}"
    for past in changes.closed:
        yield f"closed: {past.site}: {past.measure}, open since {_iso(past.since)}"


def _iso(seconds: float) -> str:
    return as_time(seconds).isoformat(timespec="seconds")


def _send(
    webhook: str, ended: float, alarms: Sequence[Alarm], changes: Changes, settings: Settings
) -> None:
    """Send the changes; raises ``click.ClickException``, without the URL, which may be a secret."""
    new = {alarm.key for alarm in changes.opened}
    opened = [alarm for alarm in alarms if alarm.key in new]
    body: dict[str, Any] = {
        "crawl": _iso(ended),
        "text": "\n".join(_lines(opened, changes)),
        "alarms": [{name: getattr(alarm, name) for name in _SENT} for alarm in opened],
        "closed": [
            {"site": past.site, "measure": past.measure, "since": _iso(past.since)}
            for past in changes.closed
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
