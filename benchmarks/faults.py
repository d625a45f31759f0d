"""The fault suite: each faulty site in a crawl of its own, with healthy sites beside it.

``python -m benchmarks.faults`` (``make faults``) runs all cases, some fifteen minutes; names of
cases run these alone; ``--list`` names all; ``--out FILE`` keeps the table.
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

    from tests.servers.fault_web import Case

#: seconds of CPU time of the event loop's thread without a pause
STALL = 0.5
HEAD = (
    "| case | what is wrong | exit | outcome | stall, s | crawl, MB | worker, MB | healthy "
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


def run_case(name: str) -> tuple[str, list[str]]:
    """Crawl one case; return its row and what is wrong."""
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        run = crawl_cases(Path(folder), {name: case})
        row = check_case(name, case, run)
        problems = [*crawl_problems(run), *row.problems]
        stall, place = (run.crawl.stats[f"reactor/stall{end}"] for end in ("", "_place"))
        if stall > STALL:
            problems.append(f"stall {stall:.2f} s in {place}")
        if problems:
            keep = Path(tempfile.gettempdir(), f"fault-{name}.log")
            keep.write_text(run.crawl.output, encoding="utf-8")
        return line(case, row, run), problems


def run_cases(names: Iterable[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Crawl case by case, and print the table."""
    lines, failed = [], {}
    print(HEAD)
    for name in names:
        text, problems = run_case(name)
        lines.append(text)
        print(text, flush=True)
        if problems:
            failed[name] = problems
            print(f"  !! {'; '.join(problems)}", flush=True)
    return lines, failed


def main() -> int:
    """Run the suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="NAME", help="cases to run, all by default")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--out", type=Path, help="file for the table, in Markdown")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return 0
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    lines, failed = run_cases(options.cases or CASES)
    print(f"\n{len(lines)} cases, {len(failed)} not as they should be")
    if options.out:
        options.out.write_text("\n".join([HEAD, *lines, ""]), encoding="utf-8")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
