"""Pages of ``docs/results``: runs the benchmarks that write them; each has commit and day.

    python -m benchmarks.results [PAGE ...] [--corpora DIR] [--out DIR]

Without names, all pages but those for the night: at most an hour on two idle cores.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPOSITORY = Path(__file__).resolve().parents[1]
_STAMP = re.compile(r"^Measured at commit [^\n]*\n(?:[^\n]+\n)*\n", re.MULTILINE)
_HEADING = re.compile(r"^# .*\n\n", re.MULTILINE)


class Run(NamedTuple):
    """A benchmark and the pages that it writes."""

    #: on two idle cores
    minutes: int
    #: arguments of Python
    command: str
    #: page -> the tables of a paper that it repeats, if any
    pages: Mapping[str, str]
    #: only run by name
    night: bool = False


RUNS = (
    Run(6, "benchmarks.stages --corpora {corpora} --out {out}/stages.md", {"stages": ""}),
    Run(
        6,
        "benchmarks.papers --corpora {corpora} --out {out}",
        {
            "nce": "Table 1 and the figures in the text of Laber and others (CIKM 2009)",
            "coreex": "Table 1 and Figures 8 to 10 of Prasad and Paepcke (2008)",
            "econ": "Tables I to V of Guo and others (2010)",
        },
    ),
    Run(
        20,
        "benchmarks.cardoso --corpora {corpora} --out {out}",
        {
            "cardoso": "Tables 1, 2 and 4 to 7 of Cardoso and others (DocEng 2011)",
            "thesis": "Sections 3.2 and 3.4.3 of the thesis of Cardoso",
            "styles": "Table 3 of Cardoso and others (DocEng 2011)",
        },
    ),
    Run(
        8,
        "benchmarks.reader_comments --corpora {corpora} --out {out}/comments.md",
        {"comments": "The documents cleaned of comments (70 %) of Laber and others (CIKM 2009)"},
    ),
    Run(
        8,
        "scrapy evaluate --task near-duplicates {corpora}/near-duplicates "
        "--page {out}/near-duplicates.md",
        {"near-duplicates": ""},
    ),
    Run(5, "benchmarks.site_rules --out {out}/site-rules.md", {"site-rules": ""}),
    Run(90, "benchmarks.peers --corpora {corpora} --out {out}/peers.md", {"peers": ""}, night=True),
    Run(
        120,
        "benchmarks.speed.crawl --corpora {corpora} --rounds 3 --out {out}/crawl-benchmark.md",
        {"crawl-benchmark": ""},
        night=True,
    ),
    Run(
        30,
        "benchmarks.speed.archive --corpora {corpora} --out {out}/archive-benchmark.md",
        {"archive-benchmark": ""},
        night=True,
    ),
    Run(15, "benchmarks.faults --out {out}/faults.inc", {"faults": ""}, night=True),
    Run(
        5,
        "benchmarks.newsworld --out {out}/scheduled-crawls.md",
        {"scheduled-crawls": ""},
        night=True,
    ),
    *(
        Run(
            5,
            f"benchmarks.newsworld --world {name} --out {{out}}/{name}.md",
            {name: ""},
            night=True,
        )
        for name in ("agencies", "weeklies")
    ),
)


def stamped(text: str, commit: str, day: str, tables: str = "") -> str:
    """Return the page *text* with commit, day and paper below its heading."""
    line = f"Measured at commit `{commit}` on {day}."
    if tables:
        line += f" {tables}; tables without such a number are not in the paper."
    return _HEADING.sub(lambda match: f"{match[0]}{line}\n\n", _STAMP.sub("", text), count=1)


def current_commit() -> str:
    """Return the commit, marked if the package differs from it."""
    commit = git("rev-parse", "--short", "HEAD")
    changed = git("status", "--porcelain", "--", "newscrawl", "benchmarks")
    return f"{commit}-dirty" if changed else commit


def git(*arguments: str) -> str:
    """Return what git prints in this repository."""
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages; return 1 if a benchmark failed."""
    known = [page for run in RUNS for page in run.pages]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=", ".join(known))
    parser.add_argument("--corpora", type=Path, default=REPOSITORY.parent / "shared" / "corpora")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "results")
    options = parser.parse_args(arguments)
    if unknown := set(options.pages) - set(known):
        parser.error(f"unknown page: {', '.join(sorted(unknown))}")
    chosen = [
        run for run in RUNS
        if not run.pages.keys().isdisjoint(options.pages) or not (options.pages or run.night)
    ]  # fmt: skip
    commit, day = current_commit(), datetime.now(UTC).date().isoformat()
    failed = []
    for run in chosen:
        # Pages quote their command: the paths are those of the repository, not of this machine.
        corpora, out = (
            os.path.relpath(path, REPOSITORY) for path in (options.corpora, options.out)
        )
        command = run.command.format(corpora=corpora, out=out)
        sys.stderr.write(f"{command}: about {run.minutes} minutes\n")
        start = monotonic()
        done = subprocess.run(
            [sys.executable, "-m", *command.split()],
            cwd=REPOSITORY,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=False,
        )
        sys.stderr.write(f"{(monotonic() - start) / 60:.1f} minutes, exit {done.returncode}\n")
        if done.returncode:
            failed.append(command)
            continue
        for page, tables in run.pages.items():
            file = options.out / f"{page}.md"
            file.write_text(stamped(file.read_text("utf-8"), commit, day, tables), "utf-8")
    for command in failed:
        sys.stderr.write(f"failed: {command}\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
