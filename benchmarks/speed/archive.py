"""Extraction of one WARC archive by newscrawl and by other tools, on one core and on two.

Pages a second, CPU time, memory and quality of the bodies. A finished run is kept in ``--runs``: an
interrupted benchmark continues there. The archive is made once, in the folder of ``--runs``.

    python -m benchmarks.speed.archive [--pages 10000] [--rounds 1] [--only NAME ...] [--out PAGE]
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.speed.archive_report import write_report
from benchmarks.speed.measured_process import FailedRunError, measure
from benchmarks.speed.pages import choose_pages, figures
from benchmarks.speed.run_log import CORPORA, RunLog, environment, pages_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.speed.pages import SitePage

TOOLS = ("newscrawl", "resiliparse", "trafilatura")
_DATE = "2026-11-20T12:00:00Z"
_NEWSCRAWL = "from newscrawl.cli.main import main; main()"


def make_archive(path: Path, pages: Sequence[SitePage]) -> None:
    """Write *pages* to the archive *path*, as Common Crawl does: decompressed, a member each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for page in pages:
            html = page.labels.html()
            http = StatusAndHeaders("200 OK", [("Content-Type", _content_type(html))], "HTTP/1.1")
            record = writer.create_warc_record(
                page.url(),
                "response",
                payload=io.BytesIO(html),
                http_headers=http,
                warc_headers_dict={"WARC-Date": _DATE},
            )
            writer.write_record(record)
            record.raw_stream.close()
    part.rename(path)


def _content_type(html: bytes) -> str:
    try:
        html.decode()
    except UnicodeDecodeError:
        return "text/html"
    return "text/html; charset=utf-8"


def command_of(name: str, archive: Path, items: Path, cores: int) -> list[str]:
    """Return the command that extracts *archive* to *items*."""
    if name == "newscrawl":
        options = ["-o", str(items), "--jobs", str(cores)]
        return [sys.executable, "-c", _NEWSCRAWL, "extract", str(archive), *options]
    tool = [sys.executable, "-m", "benchmarks.speed.archive_tools", name]
    return [*tool, str(archive), str(items), str(cores)]


def run(title: str, *, pages: Sequence[SitePage], archive: Path, folder: Path) -> dict[str, Any]:
    """Run a tool once, *title* has its name and number of cores; return its figures."""
    name, cores = title.split(", ", maxsplit=1)[0], int(title[-1])
    items, log = folder / f"{name}-{cores}.jsonl", folder / f"{name}.log"
    items.unlink(missing_ok=True)
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    command = command_of(name, archive, items, cores)
    measured = measure(command, environment(), log, cores=allowed)
    if measured.returncode or not items.exists():
        raise FailedRunError.of(name, log)
    return {"cores": cores, **figures(pages, items, measured)}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=TOOLS, default=TOOLS)
    parser.add_argument("--runs", type=Path, default=Path(".bench/archive.jsonl"))
    parser.add_argument("--out", type=Path, help="page to write, with its plot next to it")
    options = parser.parse_args()
    pages = choose_pages(options.corpora, options.pages)
    key = pages_key(pages)
    archive = options.runs.parent / f"pages-{key}.warc.gz"
    if not archive.exists():
        print(f"writing {archive} ...", file=sys.stderr, flush=True)
        make_archive(archive, pages)
    log = RunLog(options.runs)
    titles = [f"{name}, {cores}" for name in options.only for cores in (1, 2)]
    with TemporaryDirectory() as folder:
        contest = partial(run, pages=pages, archive=archive, folder=Path(folder))
        log.run_rounds(key, titles, options.rounds, contest)
    write_report(
        {
            (name, cores): found
            for name in TOOLS
            for cores in (1, 2)
            if (found := log.runs(key, f"{name}, {cores}"))
        },
        pages=Counter(page.labels.corpus for page in pages),
        megabytes=archive.stat().st_size / 2**20,
        out=options.out,
    )


if __name__ == "__main__":
    main()
