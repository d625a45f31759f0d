"""Extraction of any number of files with any ``map``.

>>> from multiprocessing import Pool
>>> with Pool() as pool:
...     summary = Job("out").run(["archive/*.warc.gz"], pool.map)
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scrapy.settings import Settings

from newscrawl.archives.captures import Failure
from newscrawl.archives.output_folder import ArticleTables, OutputFolder, UnitRecord
from newscrawl.archives.sources import SPLIT, Unit, plan
from newscrawl.archives.unit_extraction import (
    UnitExtraction,
    UnreadableError,
    close_server,
    unit_worker,
)
from newscrawl.pipeline_options import PipelineOptions
from newscrawl.site_rules import SiteRules, problems
from newscrawl.workers.process import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Map = Callable[[Callable[[Unit], UnitRecord], list[Unit]], Iterable[UnitRecord]]

logger = logging.getLogger(__name__)

UNREADABLE: Final = "unreadable"
"""Reason of files that could not be read."""

_ATTEMPTS: Final = 2
"""Attempts to read a unit in one run."""


@dataclass(frozen=True, slots=True)
class Job:
    """Extraction of files into the folder *output*, in units that can run anywhere.

    A job can be interrupted and run again, also with more files: finished units are skipped.
    Raises ``ValueError`` naming an invalid setting.
    """

    output: str
    #: ``NEWSCRAWL_*`` settings
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: MB of a unit
    split: int = SPLIT
    #: registered domains, such as ``example.co.uk``, of the pages to extract; empty: all
    domains: frozenset[str] = frozenset()
    _pipeline: PipelineOptions = field(init=False, repr=False, compare=False)
    _limits: Limits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the settings once: a relative ``NEWSCRAWL_SINCE`` is the same for all units."""
        settings = Settings(dict(self.settings))
        object.__setattr__(self, "_pipeline", PipelineOptions.read(settings))
        object.__setattr__(self, "_limits", Limits.read(settings))

    def run(self, sources: Iterable[str], map_units: Map) -> dict[str, Any]:
        """Extract the unfinished units of *sources* with *map_units*; return the summary.

        Raises ``ValueError`` for an invalid source, or if the folder has the output of a job with
        other options; ``OSError`` if it cannot be written.
        """
        folder = self._pipeline.site_rules
        for rule in SiteRules(folder).read_all() if folder else ():
            for line in problems(rule):
                logger.warning("%s", line)
        units = plan(sources, self.split * 2**20)
        output = OutputFolder(self.output)
        if not output.claim(self._options()):
            raise ValueError(f"{self.output}: has the output of a job with other options")
        attempts: Counter[Unit] = Counter()
        records = output.records(units)
        try:
            while pending := _pending(units, records, attempts):
                output.remove_summary()
                attempts.update(pending)
                for _ in map_units(self.extract, pending):
                    pass
                records = output.records(units)
        finally:
            close_server()
        summary = summarise(units, records)
        output.write_summary(summary)
        return summary

    def _options(self) -> dict[str, Any]:
        return {
            "settings": {name: str(self.settings[name]) for name in sorted(self.settings)},
            "split": self.split,
            "domains": sorted(self.domains),
        }

    def extract(self, unit: Unit) -> UnitRecord:
        """Extract the pages of *unit*, in a worker process with deadline and memory limit."""
        tables, error = ArticleTables(self._pipeline.extra_fields), None
        extraction = UnitExtraction(
            unit,
            self._pipeline,
            self._limits,
            domains=self.domains,
            add=tables.add,
        )
        failures = extraction.failures
        worker = unit_worker(self._limits.deadline)
        try:
            extraction.run(worker)
        except UnreadableError as problem:
            error = str(problem)
            failures = [Failure("", UNREADABLE, error)]
        finally:
            worker.close()
        first, following, counts = extraction.first, extraction.next, dict(extraction.counts)
        record = UnitRecord(unit.name, first, following, counts, error=error)
        days = {} if error else tables.close()
        return OutputFolder(self.output).write_unit(unit, record, days, failures)


def _pending(
    units: list[Unit], records: Mapping[str, UnitRecord], attempts: Counter[Unit]
) -> list[Unit]:
    """Return the units that are unfinished or misread and may be tried once more."""
    pending = [unit for unit in units if unit.name not in records]
    pending += misread(units, records)
    return [unit for unit in pending if attempts[unit] < _ATTEMPTS]


def misread(units: Iterable[Unit], records: Mapping[str, UnitRecord]) -> list[Unit]:
    """Return units that did not begin where the one before ended, with the right offset.

    The body of a page may contain a record. A unit that starts within such a page reads it.
    """
    by_path = defaultdict(list)
    for unit in units:
        by_path[unit.path].append(unit)
    return [wrong for parts in by_path.values() if (wrong := _first_misread(parts, records))]


def _first_misread(parts: list[Unit], records: Mapping[str, UnitRecord]) -> Unit | None:
    expected = 0
    for unit in sorted(parts, key=lambda unit: unit.start):
        record = records.get(unit.name)
        if record is None:
            return None  # not finished: the next offset is unknown
        starts_later = unit.end is not None and expected >= unit.end
        if record.first is not None and (starts_later or record.first != expected):
            return Unit(unit.path, unit.start, unit.end, expected)
        expected = expected if record.next is None else record.next
    return None


def summarise(units: list[Unit], records: Mapping[str, UnitRecord]) -> dict[str, Any]:
    """Return the numbers of units and the counts of all pages."""
    counts: Counter[str] = Counter()
    for record in records.values():
        counts.update(record.counts)
    return {
        "units": len(units),
        "unfinished": len(units) - len(records),
        "counts": dict(counts.most_common()),
    }
