"""Subcommand ``report``: a static site of one crawl, with drift against earlier crawls."""

from __future__ import annotations

import json
import os
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
from newscrawl.reports.open_metrics import write_metrics
from newscrawl.reports.report_site import write_report
from newscrawl.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.settings import Settings

    from newscrawl.reports.alarms import Changes
    from newscrawl.reports.drift import Alarm

_SENT = ("site", "measure", "message", "before", "after")
"""Attributes of an alarm that are sent to a webhook."""
_WEBHOOK = "NEWSCRAWL_ALARM_WEBHOOK"
_TEAMS_PATH = "/triggers/manual/paths/invoke"
"""End of the path of webhooks of Microsoft Teams, which are workflows of Power Automate."""


@click.command(no_args_is_help=True)
@click.argument("state", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    required=True,
    callback=check_folder,
    help="folder for the report",
)
@click.option(
    "--metrics",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="also write figures of the last crawl and open alarms to FILE, for Prometheus",
)
@with_settings
def command(
    settings: Settings,
    *,
    state: str,
    output: str,
    metrics: Path | None,
) -> int:
    """Write a report of the last crawl in the state file STATE, as a static site.

    If that crawl found nothing new, the report is about the last one before it that did. It
    compares the last day with the week before it, for the same query, and raises an alarm if a site
    changed, broke or went silent: exit code 4, and 5 if no site was reached. The state file
    remembers alarms: each is reported once, and once more when it is closed.
    """
    try:
        crawls = last_query(read_crawls(state))
    except ReportError as error:
        raise click.ClickException(str(error)) from error
    ended = crawls[-1].ended
    with AlarmBook(state, crawls[-1].query) as book:
        alarms = find_alarms(crawls, book.past)
        changes = book.update(alarms, ended)
        write_report(crawls, alarms, Path(output))
        if metrics:
            write_metrics(crawls, alarms, metrics)
        for line in _lines(alarms, changes):
            click.echo(printable(line), err=True)
        click.echo(f"Wrote {Path(output, 'index.html')}", err=True)
        webhook = setting(settings, _WEBHOOK) or os.environ.get(_WEBHOOK)
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
    settings.setdict(
        {"DOWNLOAD_DELAY": 0, "REDIRECT_ENABLED": False, "ROBOTSTXT_OBEY": False}, "cmdline"
    )
    try:
        address = urlsplit(webhook)
        message = _card if address.path.endswith(_TEAMS_PATH) else _message
        request = Request(
            webhook,
            method="POST",
            body=json.dumps(message(ended, opened, changes), ensure_ascii=False),
            headers={"Content-Type": "application/json"},
        )
        send(request, settings, name=f"webhook at {address.netloc.rpartition('@')[2]}")
    except ValueError as error:
        raise click.ClickException(f"{_WEBHOOK} is not a URL") from error


def _message(ended: float, opened: Sequence[Alarm], changes: Changes) -> dict[str, Any]:
    """Return the message for programs; Slack and Mattermost show its ``text``."""
    return {
        "crawl": _iso(ended),
        "text": "\n".join(_lines(opened, changes)),
        "alarms": [{name: getattr(alarm, name) for name in _SENT} for alarm in opened],
        "closed": [
            {"site": past.site, "measure": past.measure, "since": _iso(past.since)}
            for past in changes.closed
        ],
    }


def _card(ended: float, opened: Sequence[Alarm], changes: Changes) -> dict[str, Any]:
    """Return the message for Teams, an Adaptive Card with a block for each line."""
    lines = (f"newscrawl, {_iso(ended)}", *_lines(opened, changes))
    card = {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": line, "wrap": True} for line in lines],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}
