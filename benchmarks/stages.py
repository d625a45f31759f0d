"""CPU time and Python calls of ``extract()`` by stage and by corpus, next to other tools.

The same pages of each corpus, by default fifty, are extracted, each once in a process that has seen
eighty others, as in a crawl. CPU times are multiples of that of `lxml.html` parsing of the same
bytes in the same process, and the smallest of several processes. The tools, and with ``--against``
another commit of newscrawl, take turns at each corpus, so that they meet the same state of the
machine. A stage is counted without the stages that it calls. Calls are those of Python functions,
which a profiler counts in another process.

    python -m benchmarks.stages [--corpora DIR] [--tools NAME,...] [--against COMMIT] [--limit N]
        [--rounds N] [--out FILE.md]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.result_page import write_page
from benchmarks.results import REPOSITORY, git
from benchmarks.timed_tool import REST, STAGES
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.tables import Table, print_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage

CORPORA = ("news212", "fundus", "wcxb", "l3sgn1", "daniel", "dragnet", "mkwebs", "postlight")
TOOLS = ("newscrawl", "newscrawl in Python", "trafilatura", "resiliparse", "readability-lxml")
OURS = TOOLS[0]
ALL, SLOWEST = "all", "slowest tenth"
_OTHERS = 10
"""Pages of a corpus that a process sees before those that count."""


class Cost(NamedTuple):
    """Cost of a page: CPU seconds, or Python calls."""

    parse: float
    own: dict[str, float]

    @property
    def total(self) -> float:
        """That of all stages."""
        return sum(self.own.values())

    @property
    def parses(self) -> float:
        """The CPU time as a multiple of parsing."""
        return self.total / self.parse


class Measured(NamedTuple):
    """Costs of a tool on the pages, in order; None where it failed."""

    times: list[Cost | None]
    #: none if they are not counted
    calls: list[Cost | None]


class Child:
    """A process of :mod:`benchmarks.timed_tool`."""

    def __init__(self, tool: str, root: Path, unit: str) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        if tool.endswith(" in Python"):
            environment["NEWSCRAWL_NO_EXTENSIONS"] = "1"
        script = REPOSITORY / "benchmarks" / "timed_tool.py"
        tool = tool.removesuffix(" in Python") if tool in TOOLS else OURS
        command = [sys.executable, str(script), tool, unit]
        self.process = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, line: str) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def measure(self, page: LabelledPage) -> Cost | None:
        """Return the cost of *page*, None if the tool failed."""
        assert self.process.stdout is not None
        self.send(json.dumps([str(page.path.resolve()), page.url]))
        answer = json.loads(self.process.stdout.readline())
        return Cost(**answer) if answer else None


def choose_pages(folder: Path, limit: int) -> tuple[list[LabelledPage], list[LabelledPage]]:
    """Return *limit* pages of each corpus in *folder*, evenly spread, and some others."""
    chosen: list[LabelledPage] = []
    others: list[LabelledPage] = []
    for name in CORPORA:
        if (folder / name).is_dir():
            pages = load_corpus(folder / name).pages
            numbers = {number * len(pages) // limit for number in range(limit)}
            rest = [page for number, page in enumerate(pages) if number not in numbers]
            chosen += [pages[number] for number in sorted(numbers)]
            others += rest[:: max(1, len(rest) // _OTHERS)][:_OTHERS]
    return chosen, others


def measure(
    roots: dict[str, Path],
    pages: Sequence[LabelledPage],
    others: Sequence[LabelledPage],
    rounds: int,
) -> dict[str, Measured]:
    """Return the costs by the name in *roots*: a tool or a commit, and its folder."""
    ours = {name: root for name, root in roots.items() if name not in TOOLS[1:]}
    times = [_one_round(roots, pages, others, "seconds") for _ in range(rounds)]
    calls = _one_round(ours, pages, others, "calls")
    return {
        name: Measured(list(map(_least, *(one[name] for one in times))), calls.get(name, []))
        for name in roots
    }


def _one_round(
    roots: dict[str, Path], pages: Sequence[LabelledPage], others: Sequence[LabelledPage], unit: str
) -> dict[str, list[Cost | None]]:
    costs: dict[str, list[Cost | None]] = {name: [] for name in roots}
    with ExitStack() as stack:
        children = {name: Child(name, root, unit) for name, root in roots.items()}
        for child in children.values():
            stack.enter_context(child.process)
            for page in others:
                child.measure(page)
            child.send("")
        for _, members in groupby(pages, key=lambda page: page.corpus):
            corpus = list(members)
            for name, child in children.items():
                costs[name] += map(child.measure, corpus)
    return costs


def _least(*costs: Cost | None) -> Cost | None:
    """Return the least cost of a page in several rounds."""
    made = [cost for cost in costs if cost]
    if not made:
        return None
    best = min(made, key=lambda cost: cost.total)
    return Cost(min(cost.parse for cost in made), best.own)


def check_out(commit: str) -> Path:
    """Return the folder with *commit* and its compiled modules; they are kept in ``.bench``."""
    folder = REPOSITORY / ".bench" / git("rev-parse", "--short", commit)
    if not folder.exists():
        git("worktree", "add", "--quiet", "--detach", str(folder), commit)
    build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(build, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def _groups(pages: Sequence[LabelledPage]) -> dict[str, list[int]]:
    """Return the numbers of the pages by corpus, and of all."""
    numbers = groupby(range(len(pages)), key=lambda number: pages[number].corpus)
    return {**{name: list(members) for name, members in numbers}, ALL: [*range(len(pages))]}


def _slowest(measured: Measured) -> list[int]:
    """Return the numbers of the tenth of pages that take the most parses, the slowest first."""
    times = {number: cost.parses for number, cost in enumerate(measured.times) if cost}
    return sorted(times, key=times.__getitem__, reverse=True)[: max(1, len(times) // 10)]


def tables(results: dict[str, Measured], pages: Sequence[LabelledPage]) -> Iterator[Table]:
    """Yield the tables: by family, and by stage for each newscrawl."""
    groups = _groups(pages)
    ours = {name: measured for name, measured in results.items() if measured.calls}
    rows = [
        [
            group,
            str(len(numbers)),
            *(_parses(_costs(measured.times, numbers)) for measured in results.values()),
            *(_calls(_costs(measured.calls, numbers)) for measured in ours.values()),
        ]
        for group, numbers in groups.items()
    ]
    columns = ("corpus", "pages", *results, *(f"calls, {name}" for name in ours))
    yield Table("By family: parses in the median / of the sums", columns, rows)
    for name, measured in ours.items():
        yield _by_stage(name, measured, groups)


def _costs(costs: Sequence[Cost | None], numbers: Sequence[int]) -> list[Cost]:
    return [cost for number in numbers if (cost := costs[number])]


def _parses(costs: Sequence[Cost]) -> str:
    if not costs:
        return ""
    total = sum(cost.total for cost in costs) / sum(cost.parse for cost in costs)
    return f"{median(cost.parses for cost in costs):.2f} / {total:.2f}"


def _calls(costs: Sequence[Cost]) -> str:
    return f"{sum(cost.total for cost in costs) / max(1, len(costs)):,.0f}"


def _by_stage(name: str, measured: Measured, groups: dict[str, list[int]]) -> Table:
    groups = {**groups, SLOWEST: _slowest(measured)}
    calls = list(filter(None, measured.calls))
    rows = []
    for stage in (*STAGES, REST):
        shares = []
        for numbers in groups.values():
            costs = _costs(measured.times, numbers)
            parse = sum(cost.parse for cost in costs) or float("nan")
            shares.append(f"{sum(cost.own.get(stage, 0) for cost in costs) / parse:.2f}")
        mean = sum(cost.own.get(stage, 0) for cost in calls) / max(1, len(calls))
        rows.append([stage, *shares, f"{mean:,.0f}"])
    return Table(f"By stage, {name}: parses of the sums", ("stage", *groups, "calls"), rows)


def slowest_pages(measured: Measured, pages: Sequence[LabelledPage]) -> Table:
    """Return the slowest tenth of pages with their costliest stages."""
    rows = []
    for number in _slowest(measured):
        cost = measured.times[number]
        assert cost is not None
        costliest = sorted(cost.own, key=cost.own.__getitem__, reverse=True)[:4]
        shares = ", ".join(f"{stage} {cost.own[stage] / cost.parse:.2f}" for stage in costliest)
        page = f"{pages[number].corpus}/{pages[number].id}"
        rows.append([page, f"{1000 * cost.parse:.1f}", f"{cost.parses:.1f}", shares])
    return Table("Slowest tenth", ("page", "ms of parsing", "parses", "stages"), rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    default = REPOSITORY.parent / "shared" / "corpora"
    parser.add_argument("--corpora", type=Path, default=default, metavar="DIR")
    parser.add_argument("--tools", default=",".join(TOOLS), help="default: %(default)s")
    parser.add_argument("--against", metavar="COMMIT", help="measure another commit in turn")
    parser.add_argument("--limit", type=int, default=50, help="pages of a corpus")
    parser.add_argument("--rounds", type=int, default=3, help="processes of a tool")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a page")
    options = parser.parse_args(arguments)
    roots = dict.fromkeys(options.tools.split(","), REPOSITORY)
    if options.against:
        roots[options.against] = check_out(options.against)
    pages, others = choose_pages(options.corpora, options.limit)
    if not pages:
        sys.exit(f"{options.corpora} holds none of {', '.join(CORPORA)}")
    results = measure(roots, pages, others, options.rounds)
    ready = list(tables(results, pages))
    if options.out is None:
        print_tables([*ready, slowest_pages(results[OURS], pages)], sys.stdout)
        return
    start = (__doc__ or "").partition("    python")[0].replace("``", "`")
    heading = f"# Speed\n\n{start}"
    write_page(options.out, "make results ARGS=stages", heading, ready, {})


if __name__ == "__main__":
    main()
