"""``scrapy`` commands in processes that are forked from one that has imported Scrapy and newscrawl.

Imports take as much time as a small crawl.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.context import ForkServerProcess

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "newscrawl.commands",
        "newscrawl.crawl.network.download_handler",
        "newscrawl.exporters.feed_files",
        "newscrawl.exporters.text_feeds",
        "newscrawl.extraction.extract",
        "newscrawl.pipelines.near_duplicates",
        "newscrawl.pipelines.news_extract",
        "newscrawl.spiders.sitelist",
        "scrapy.commands.crawl",
        "tests.helpers.crawls",
    ]
)


class ForkedScrapy:
    """A ``scrapy`` command in a session of its own, with the interface of ``subprocess.Popen``.

    Standard error is written to *log*, and standard output as well without a file *output*.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        log: Path,
        output: Path | None = None,
    ) -> None:
        given = (list(arguments), str(folder), dict(environment), str(log), str(output or ""))
        log.unlink(missing_ok=True)
        self._process: ForkServerProcess = _CONTEXT.Process(target=_run, args=given, daemon=True)
        self._process.start()
        self._arguments = given[0]
        self.pid: int = self._process.pid  # type: ignore[assignment]

    @property
    def returncode(self) -> int | None:
        """The exit code, None before the end."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, None before the end."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; kill the process if it lasts longer than *timeout* seconds."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            self._process.kill()
            raise subprocess.TimeoutExpired(self._arguments, timeout)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send signal *number*."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()


def scrapy(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a ``scrapy`` command in *folder*; return its exit code and output."""
    words = list(map(str, arguments))
    with TemporaryDirectory() as outputs:
        output, log = Path(outputs, "output"), Path(outputs, "log")
        status = ForkedScrapy(words, folder, os.environ, log, output).wait()
        texts = (output.read_text(encoding="utf-8"), log.read_text(encoding="utf-8"))
        return subprocess.CompletedProcess(words, status, *texts)


def _run(
    arguments: list[str], folder: str, environment: dict[str, str], log: str, output: str
) -> None:
    """Become the process of ``python -m scrapy`` in *folder*."""
    assert "twisted.internet.reactor" not in sys.modules
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, path in ((1, output or log), (2, log)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    sys.path[:0] = [folder, str(REPOSITORY)]
    sys.argv[:] = ["scrapy", *arguments]
    if "PYTHONWARNINGS" in environment:
        warnings.simplefilter("default")
    from scrapy.cmdline import execute

    execute()
