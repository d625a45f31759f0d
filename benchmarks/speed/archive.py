"""Extraction of one WARC archive by newscrawl and by other tools, on one core and on two.

Pages a second, CPU time, memory and quality of the bodies. A finished run is kept in ``--runs``: an
interrupted benchmark continues there. The archive is made once, in the folder of ``--runs``.

    python -m benchmarks.speed.archive [--pages 10000] [--rounds 1] [--only NAME ...] [--out PAGE]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections import Counter
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.speed.archive_report import write_report
from benchmarks.speed.measured_process import FailedRunError, measure
from benchmarks.speed.pages import choose_pages, quality
from benchmarks.speed.report_parts import run_line
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
        # One core: in this process. More: the first process reads and writes.
        jobs = 0 if cores == 1 else cores
        options = ["-o", str(items), "--jobs", str(jobs)]
        return [sys.executable, "-c", _NEWSCRAWL, "extract", str(archive), *options]
    tool = [sys.executable, "-m", "benchmarks.speed.archive_tools", name]
    return [*tool, str(archive), str(items), str(cores)]


def run(
    name: str, cores: int, *, pages: Sequence[SitePage], archive: Path, folder: Path
) -> dict[str, Any]:
    """Run a tool once on *cores* cores; return its figures."""
    items, log = folder / f"{name}-{cores}.jsonl", folder / f"{name}.log"
    items.unlink(missing_ok=True)
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    command = command_of(name, archive, items, cores)
    measured = measure(command, environment(), log, cores=allowed)
    if measured.returncode or not items.exists():
        raise FailedRunError.of(name, log)
    with items.open(encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    bodies = {f"/{item['url'].split('/', 3)[3]}": item.get("body") or "" for item in found}
    return {
        "pages": len(pages),
        "cores": cores,
        "articles": len(found),
        **measured.to_plain(),
        **asdict(quality(pages, bodies)),
    }


def run_rounds(
    pages: Sequence[SitePage],
    names: Sequence[str],
    rounds: int,
    log: RunLog,
    *,
    archive: Path,
) -> None:
    """Run each of *names* on one core and on two, once per round; add the figures to *log*."""
    key = pages_key(pages)
    with TemporaryDirectory() as folder:
        tools = partial(run, pages=pages, archive=archive, folder=Path(folder))
        for number in range(1, rounds + 1):
            for name, cores in product(names if number % 2 else names[::-1], (1, 2)):
                title = f"{name}, {cores}"
                if log.find(key, title, number) is not None:
                    continue
                try:
                    figures = tools(name, cores)
                except FailedRunError as error:
                    print(f"round {number}: {error}", file=sys.stderr, flush=True)
                    continue
                log.add(key, title, number, figures)
                print(f"round {number}: {title:>15} {run_line(figures)}", flush=True)


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
    archive = options.runs.parent / f"pages-{pages_key(pages)}.warc.gz"
    if not archive.exists():
        print(f"writing {archive} ...", file=sys.stderr, flush=True)
        make_archive(archive, pages)
    log = RunLog(options.runs)
    run_rounds(pages, options.only, options.rounds, log, archive=archive)
    write_report(
        {
            (name, cores): found
            for name in TOOLS
            for cores in (1, 2)
            if (found := log.runs(pages_key(pages), f"{name}, {cores}"))
        },
        pages=Counter(page.labels.corpus for page in pages),
        megabytes=archive.stat().st_size / 2**20,
        out=options.out,
    )


if __name__ == "__main__":
    main()
