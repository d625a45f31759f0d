"""Fault suite: crawls each faulty site together with healthy sites.

``python -m benchmarks.faults`` (``make faults``) runs all cases in about fifteen minutes, or the
cases named as arguments; ``--list`` prints the names, ``--out FILE`` writes the table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.helpers.fault_suite import MB, CaseResult, Run, check_case, crawl_cases, crawl_problems
from tests.servers.fault_cases import CASES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.servers.faulty_pages import Case

#: maximum CPU seconds of the event loop thread without a pause
MAX_STALL = 0.5
HEAD = (
    "| case | fault | exit | outcome | stall, s | crawl, MB | worker, MB | healthy "
    "| requests | inside |\n|---|---|---:|---|---:|---:|---:|---:|---:|---:|"
)


def line(case: Case, row: CaseResult, run: Run) -> str:
    """Return the row of the table."""
    stats = run.crawl.stats
    cells = [
        row.name,
        case.description.replace("|", "\\|"),
        run.crawl.returncode,
        ", ".join(row.outcomes),
        f"{stats['reactor/stall']:.2f}",
        f"{stats['process/memory'] / MB:.0f}",
        f"{stats['worker/memory'] / MB:.0f}",
        f"{row.extracted}/{row.healthy}",
        row.requests,
        run.forbidden,
    ]
    return f"| {' | '.join(map(str, cells))} |"


def run_case(name: str, killed_after: int = 0) -> tuple[str, list[str]]:
    """Crawl one case, resumed after a kill if *killed_after*; return its row and its problems."""
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        run = crawl_cases(Path(folder), {name: case}, killed_after=killed_after)
        row = check_case(name, case, run)
        problems = [*crawl_problems(run), *row.problems]
        for crawl in filter(None, (run.killed, run.crawl)):
            stall, place = (crawl.stats[f"reactor/stall{end}"] for end in ("", "_place"))
            if stall > MAX_STALL:
                problems.append(f"stall {stall:.2f} s in {place}")
        if problems:
            log = Path(tempfile.gettempdir(), f"fault-{name}.log")
            log.write_text(run.crawl.output, encoding="utf-8")
        return line(case, row, run), problems


def run_cases(names: Iterable[str], killed_after: int) -> tuple[list[str], dict[str, list[str]]]:
    """Crawl the cases one by one and print the table."""
    lines, failed = [], {}
    print(HEAD)
    for name in names:
        text, problems = run_case(name, killed_after)
        lines.append(text)
        print(text, flush=True)
        if problems:
            failed[name] = problems
            print(f"  !! {'; '.join(problems)}", flush=True)
    return lines, failed


def main() -> int:
    """Run the suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="NAME", help="cases to run (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument(
        "--killed-after", type=int, default=0, metavar="N", help="responses, then kill and resume"
    )
    parser.add_argument("--out", type=Path, help="write the table to a Markdown file")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return 0
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"unknown case: {', '.join(sorted(unknown))}")
    lines, failed = run_cases(options.cases or CASES, options.killed_after)
    print(f"\n{len(lines)} cases, {len(failed)} failed")
    if options.out:
        options.out.write_text("\n".join([HEAD, *lines, ""]), encoding="utf-8")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
