"""Crawls from Python: ``newscrawl.crawl()``, ``acrawl()`` and ``urls()``.

The crawl runs in a process of its own, the command line with its feed on a pipe, since Twisted's
event loop can run once in a process, and not next to that of a notebook. It ends when its standard
input is closed: by the caller, or by the end of the caller's process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias, TypedDict, Unpack, cast

from newscrawl.cli.exit_codes import DONE, INTERRUPTED, NO_ARTICLE, USAGE
from newscrawl.defaults import unknown_settings
from newscrawl.items import Article, ListedArticle
from newscrawl.workers.fork_server import environment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Iterable, Mapping

    Sites: TypeAlias = str | Path | Iterable[str | Path]

_KEPT_LINES: Final = 20
_DESTINATION: Final = " written to standard output"
"""End of the last message, true of the command only."""

logger = logging.getLogger(__name__)

_END: Final = 5.0
"""Seconds for the active requests of a crawl that the caller ends; a state file survives it."""
# Each call is a crawl of its own, unlike in the folder of a command line. On Linux the measure of
# MEMUSAGE_LIMIT_MB includes the caller's memory, such as that of a notebook.
_SETTINGS: Final[dict[str, Any]] = {"NEWSCRAWL_STATE": "", "MEMUSAGE_LIMIT_MB": 0}


class CrawlOptions(TypedDict, total=False):
    """Options of :func:`crawl`."""

    limit: int | None
    since: date | str | None
    until: date | str | None
    settings: Mapping[str, Any] | None


class CrawlError(RuntimeError):
    """The crawl failed, or no site could be reached; the message has the reasons."""


def crawl(sites: Sites, **options: Unpack[CrawlOptions]) -> Generator[Article]:
    """Crawl *sites* in a process of its own and yield their newest articles as they are extracted.

    - *sites*: a URL or a file that lists sites, or several.
    - *limit*: number of articles after which the crawl ends.
    - *since*, *until*: the period of publication: days, instants, or ages such as ``"24h"``.
    - *settings*: of Scrapy and newscrawl. With ``NEWSCRAWL_PROGRESS_ENABLED`` the messages
      of the command, with its table, go to standard error; with a file in ``NEWSCRAWL_STATE``
      later crawls yield new and updated articles.

    Closing the iterator, or the end of this process, ends the crawl. Its warnings are logged.
    Raises ``ValueError`` for an invalid argument or setting, and :class:`CrawlError`.
    """
    process = _CrawlProcess("crawl", sites, **options)
    for row in process.rows():
        yield Article.from_dict(row)


async def acrawl(sites: Sites, **options: Unpack[CrawlOptions]) -> AsyncGenerator[Article]:
    """Yield the articles of :func:`crawl` without blocking the event loop."""
    process = _CrawlProcess("crawl", sites, **options)
    try:
        while (row := await asyncio.to_thread(process.next_row)) is not None:
            yield Article.from_dict(row)
    finally:
        await asyncio.to_thread(process.close)


def urls(sites: Sites, **options: Unpack[CrawlOptions]) -> Generator[ListedArticle]:
    """Yield the articles that *sites* list, unfetched; arguments as of :func:`crawl`."""
    process = _CrawlProcess("discover", sites, **options)
    for row in process.rows():
        yield ListedArticle(**row)


class _CrawlProcess:
    """A crawl by the subcommand *command*; raises ``ValueError`` for invalid arguments."""

    def __init__(
        self,
        command: str,
        sites: Sites,
        *,
        limit: int | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._command = command
        named = [sites] if isinstance(sites, str | Path) else list(sites)
        if not named:
            raise ValueError("no sites")
        if unknown := unknown_settings(settings or {}):
            raise ValueError("; ".join(unknown))
        if limit is not None and limit < 1:
            raise ValueError(f"limit: {limit} is less than 1")
        given = {
            f"NEWSCRAWL_{name.upper()}": value.isoformat() if isinstance(value, date) else value
            for name, value in {"limit": limit, "since": since, "until": until}.items()
            if value is not None
        }
        values = {**_SETTINGS, **(settings or {}), **given}
        arguments = [command, "--output=-:jsonl", "--", *map(str, named)]
        self._shown = bool(values.get("NEWSCRAWL_PROGRESS_ENABLED"))
        # Messages are read here; notebooks ask for colours.
        environ = {name: value for name, value in environment().items() if name != "FORCE_COLOR"}
        self._process = subprocess.Popen(  # noqa: S603  # a fixed command
            [sys.executable, "-u", "-P", "-m", __spec__.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            start_new_session=True,  # Ctrl-C only reaches the caller, which closes the pipe
        )
        self._input = cast("IO[bytes]", self._process.stdin)
        self._input.write(json.dumps([arguments, values], default=str).encode() + b"\n")
        self._input.flush()
        #: read at once, since a crawl with a full pipe would not serve its connections
        self._rows: SimpleQueue[bytes] = SimpleQueue()
        self._messages: list[str] = []
        self._listener = Thread(target=self._listen, daemon=True)
        for thread in (Thread(target=self._read, daemon=True), self._listener):
            thread.start()

    def _read(self) -> None:
        with cast("IO[bytes]", self._process.stdout) as pipe:
            for line in pipe:
                self._rows.put(line)
        self._rows.put(b"")

    def _listen(self) -> None:
        with cast("IO[bytes]", self._process.stderr) as pipe:
            for line in pipe:
                text = line.decode(errors="replace").rstrip().removesuffix(_DESTINATION)
                if self._shown:
                    sys.stderr.write(f"{text}\n")
                self._messages = [*self._messages[-_KEPT_LINES:], text]

    def rows(self) -> Generator[dict[str, Any]]:
        """Yield the items; end the process with the iteration."""
        try:
            while (row := self.next_row()) is not None:
                yield row
        finally:
            self.close()

    def next_row(self) -> dict[str, Any] | None:
        """Return the next item; after the last one, None, or raise the error of the crawl."""
        if line := self._rows.get():
            row: dict[str, Any] = json.loads(line)
            return row
        code = self._process.wait()
        self._listener.join()
        message = "\n".join(line for line in self._messages if line)
        message = message.removeprefix("newscrawl ").removeprefix(f"{self._command}: ")
        if code == USAGE:
            raise ValueError(message)
        if code not in (DONE, NO_ARTICLE, INTERRUPTED):
            raise CrawlError(message or f"the process of the crawl ended with exit code {code}")
        if not self._shown and code != INTERRUPTED:
            logger.log(logging.INFO if code == DONE else logging.WARNING, "%s", message)
        return None

    def close(self) -> None:
        """End the process, after its active requests."""
        self._input.close()
        self._process.wait()


def _main() -> None:
    """Crawl as standard input requests, until the crawl is done or standard input is closed."""
    from newscrawl.cli.main import cli, run  # noqa: PLC0415  # only in the process of the crawl
    from newscrawl.cli.shared_options import default_settings  # noqa: PLC0415

    line = b""
    while not line.endswith(b"\n"):
        line += os.read(0, 2**16)
    arguments, values = json.loads(line)
    settings = default_settings()
    settings.setdict(values, priority="cmdline")

    def wait_for_end() -> None:
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_END)
        os._exit(INTERRUPTED)

    Thread(target=wait_for_end, daemon=True).start()
    sys.exit(run(cli, arguments, "newscrawl", obj=settings))


if __name__ == "__main__":
    _main()
