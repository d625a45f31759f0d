"""Single HTTP requests of the command line, under the safety rules of crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings
from scrapy.spidermiddlewares.httperror import HttpError

from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.secrets import mask_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from scrapy import Request
    from scrapy.http import Response
    from twisted.python.failure import Failure

_SETTINGS: dict[str, Any] = {
    # One request needs neither the state of a crawl nor its reports.
    "EXTENSIONS": {"newscrawl.crawl.network.secrets.HideSecrets": 0},
    "ITEM_PIPELINES": {},
    "LOG_ENABLED": False,
    "NEWSCRAWL_CSS_ENABLED": False,
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "SPIDER_MIDDLEWARES": {},
}


class _RequestSpider(Spider):
    """Sends one request and appends the response, or the exception, to ``outcome``."""

    name = "request"

    def __init__(self, request: Request, outcome: list[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.request = request.replace(callback=self.parse, errback=self.fail, dont_filter=True)
        self.outcome = outcome

    async def start(self) -> AsyncIterator[Any]:
        """Yield the request."""
        yield self.request

    def parse(self, response: Response, **_: Any) -> None:
        """Store the response."""
        self.outcome.append(response)

    def fail(self, failure: Failure) -> None:
        """Store the exception."""
        self.outcome.append(failure.value)


def request_settings(assignments: Iterable[str] = ()) -> Settings:
    """Return the settings of a crawl for one request, with ``NAME=VALUE`` *assignments*.

    Raises ``click.UsageError`` for another form.
    """
    settings = Settings()
    settings.setmodule("newscrawl.settings.base", priority="project")
    settings.setdict(_SETTINGS, priority="cmdline")
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        if not separator:
            raise click.UsageError(f"-s {assignment}: expected NAME=VALUE")
        settings.set(name, value, priority="cmdline")
    return settings


def send(request: Request, settings: Settings, *, name: str | None = None) -> Response:
    """Send *request* and return the response.

    Raises ``click.ClickException``, which has the URL, or *name* instead.

    It can be called once in a process, because it runs Twisted's reactor.
    """
    outcome: list[Any] = []
    process = AsyncCrawlerProcess(settings)
    process.crawl(_RequestSpider, request=request, outcome=outcome)
    process.start()
    result = outcome[0] if outcome else None
    if result is None or isinstance(result, BaseException):
        raise click.ClickException(f"{name or mask_secrets(request.url)}: {_reason(result)}")
    response: Response = result
    return response


def _reason(error: BaseException | None) -> str:
    if isinstance(error, HttpError):
        return f"HTTP status {error.response.status}"
    if isinstance(error, RefusedError):
        return f"refused ({error.reason}): only public web addresses are requested"
    return "no response" if error is None else (str(error) or type(error).__name__)
