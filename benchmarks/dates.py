"""Accuracy, confidence and cost of publication dates.

Scored are pages with a labelled date, by half, with all evidence and with visible text alone.
``right``: the date is the label; ``+ modified``: or the modification date is, as some labels are
the day of the last update; ``sure``: pages with a confidence of at least 0.9. The cost is that of
collecting evidence and deciding, in ``lxml.html`` parses of the page.

``fitted``: the same with confidences fitted to the pages of other sites (three folds, all labels):
(right + 1) / (all + 2) of the pages with the same confidence. ``error``: expected calibration error
of the fitted confidences.

``--readers`` compares parsers of date texts on the first short text node of each page that contains
the numbers of the labelled date, at most 60 per language, and on text nodes that do not contain
them (``other``: share parsed as a date).

    python benchmarks/dates.py [--corpora DIR] [--readers]
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from lxml import html

from newscrawl import clock
from newscrawl.body.nce import nce
from newscrawl.corpora.calibration import calibration_error, confidence_bins
from newscrawl.corpora.corpus import LabelledPage, load_corpus
from newscrawl.corpora.day_match import DayResult, day_result
from newscrawl.corpora.folds import FOLDS, folds
from newscrawl.corpora.metrics import mean
from newscrawl.document.document import Document, parse_document
from newscrawl.fields.dates.decide import CONFIDENCE, PublicationDate, decide
from newscrawl.fields.dates.evidence import DateEvidence, gather
from newscrawl.fields.dates.local_zone import site_zones
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.fields.dates.vocabulary import fold
from newscrawl.fields.metadata.metadata import Metadata, read_metadata
from newscrawl.fields.metadata.structured_date import day_of
from newscrawl.fields.titles.title import choose_title
from newscrawl.items import Article

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date, datetime

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
NAMES = ("news212", "fundus")
_MAX_PER_LANGUAGE = 60
_MAX_OTHER = 400
_MAX_TEXT_LENGTH = 100


class Result(NamedTuple):
    """Result of a page, with the cost in parses."""

    page: LabelledPage
    day: DayResult
    parses: float = 0.0


class Text(NamedTuple):
    """A text node with the language of its page and the expected date, if any."""

    text: str
    language: str | None
    day: date | None


def read_page(page: LabelledPage) -> tuple[Document, Metadata, float]:
    """Return document, metadata and the seconds of parsing with lxml."""
    data = page.html()
    start = perf_counter()
    html.fromstring(data)
    seconds = perf_counter() - start
    document = parse_document(data)
    return document, read_metadata(document, page.url, _fetched_at(page)), seconds


def _fetched_at(page: LabelledPage) -> datetime:
    return page.fetched_at or clock.now()


def measure(page: LabelledPage) -> tuple[Result, Result]:
    """Return the results of all evidence and of visible text alone."""
    document, metadata, seconds = read_page(page)
    forest = nce(document).forest
    title = choose_title(document, metadata, page.url)
    row = title.row if title else None
    start = perf_counter()
    dating, modification = _decide(page, document, metadata, forest, row)
    parses = (perf_counter() - start) / seconds
    no_metadata = replace(metadata, published=[], modified=[])
    visible, _ = _decide(page, document, no_metadata, forest, row)
    return (
        Result(page, _day(page, dating, modification), parses),
        Result(page, _day(page, visible, modification)),
    )


def _decide(
    page: LabelledPage,
    document: Document,
    metadata: Metadata,
    forest: Sequence[int],
    row: int | None,
) -> tuple[PublicationDate | None, PublicationDate | None]:
    """Return the publication and the modification date."""
    now = _fetched_at(page)
    evidence = gather(document, metadata, forest, row, url=page.url, fetched_at=now)
    modified = [DateEvidence(one.value, one.raw, one.source) for one in metadata.modified]
    zones = site_zones(page.url, metadata.language)
    return decide(evidence, modified, zones), decide(modified)


def _day(
    page: LabelledPage, dating: PublicationDate | None, modification: PublicationDate | None
) -> DayResult:
    article = Article(
        url=page.url,
        date=dating.value if dating else None,
        date_modified=modification.value if modification else None,
        evidence={"date": dating.evidence} if dating else {},
    )
    day = day_result(page, article)
    assert day is not None
    return day


def fitted(results: Sequence[Result]) -> list[Result]:
    """Return *results* with their confidences fitted to the pages of other sites."""
    fold_of = folds([one.page for one in results], "extra-site")
    counts: Counter[tuple[int, float, bool]] = Counter(
        (fold, one.day.confidence, one.day.right)
        for fold, one in zip(fold_of, results, strict=True)
    )

    def rate(fold: int, confidence: float) -> float:
        right, wrong = (
            sum(counts[other, confidence, good] for other in range(FOLDS) if other != fold)
            for good in (True, False)
        )
        return (right + 1) / (right + wrong + 2)

    return [
        one._replace(day=one.day._replace(confidence=rate(fold, one.day.confidence)))
        if one.day.returned
        else one
        for fold, one in zip(fold_of, results, strict=True)
    ]


def print_days(name: str, results: Sequence[Result]) -> None:
    """Print the shares of right and of confident dates, by half, with and without doubtful labels."""
    print(
        f"{name:20}{'labels':16}{'pages':>6}{'none':>6}{'right':>8}{'+ modified':>12}{'sure':>8}"
        f"{'right':>8}{'fitted: sure':>14}{'right':>8}{'error':>8}"
    )
    pairs = list(zip(results, fitted(results), strict=True))
    for half, doubtful in product(("tune", "test", "both"), (False, True)):
        chosen = [
            pair
            for pair in pairs
            if half in {pair[0].page.half, "both"} and (doubtful or not pair[0].page.date_doubtful)
        ]
        if not chosen:
            continue
        days, others = ([one.day for one in column] for column in zip(*chosen, strict=True))
        print(
            f"{half:20}{'all' if doubtful else 'not doubtful':16}{len(days):6}"
            f"{sum(not day.returned for day in days):6}{mean([day.correct for day in days]):8.3f}"
            f"{mean([day.right for day in days]):12.3f}{_sure(days)}{_sure(others, 14)}"
            f"{_calibration_error(others):8.3f}"
        )


def _calibration_error(days: Sequence[DayResult]) -> float:
    cases = ((day.confidence, day.right) for day in days if day.returned)
    return calibration_error(confidence_bins(cases))


def _sure(days: Sequence[DayResult], width: int = 8) -> str:
    sure = [day.right for day in days if day.confidence >= 0.9]
    return f"{len(sure) / len(days):{width}.3f}{mean(sure):8.3f}"


def print_confidences(results: Sequence[Result]) -> None:
    """Print the number of right dates by the supporting evidence."""
    print(f"\n{'support':22}{'stated':>8}{'pages':>7}{'right':>7}{'fitted to all':>15}")
    for confidence in sorted(set(CONFIDENCE.values()), reverse=True):
        names = ", ".join(name for name, value in CONFIDENCE.items() if value == confidence)
        right = [one.day.right for one in results if one.day.confidence == confidence]
        rate = (sum(right) + 1) / (len(right) + 2)
        if right:
            print(f"{names:22}{confidence:8.2f}{len(right):7}{sum(right):7}{rate:15.3f}")


def texts_of(page: LabelledPage) -> Iterator[Text]:
    """Yield the first short text node with the numbers of the date, and those without."""
    assert page.date is not None
    day = day_of(page.date)
    years = {day.year, day.year % 100, day.year + 543}
    document, metadata, _ = read_page(page)
    found = False
    for row in document.text_nodes():
        text = " ".join(document.text[row].split())
        numbers = {int(number) for number in re.findall(r"\d{1,9}", fold(text))}
        if len(text) > _MAX_TEXT_LENGTH or not numbers:
            continue
        if day.day not in numbers or numbers.isdisjoint(years):
            yield Text(text, metadata.language, None)
        elif not found:
            found = True
            yield Text(text, metadata.language, day)


def ours(text: str, language: str | None) -> date | None:
    """Return the first date that newscrawl finds."""
    return next((found.day for found in read_dates(text, language=language)), None)


def by_dateparser(text: str, language: str | None) -> date | None:
    """Return the date that dateparser finds."""
    import dateparser  # noqa: PLC0415  # slow to import

    try:
        found = dateparser.parse(text, languages=[language.split("-")[0]] if language else None)
    except ValueError:  # a language it does not know
        found = dateparser.parse(text)
    return found.date() if found else None


def by_dateutil(text: str, language: str | None) -> date | None:  # noqa: ARG001  # knows English only
    """Return the date that dateutil finds."""
    from dateutil import parser  # noqa: PLC0415

    try:
        return parser.parse(text, fuzzy=True).date()
    except (ValueError, OverflowError):
        return None


def print_readers(texts: Sequence[Text]) -> None:
    """Print the shares of right, missing and wrong dates of each parser."""
    counts: Counter[str] = Counter()
    dated = []
    for text in texts:
        if text.day:
            counts[language := (text.language or "")[:2]] += 1
            if counts[language] <= _MAX_PER_LANGUAGE:
                dated.append(text)
    others = [text for text in texts if text.day is None]
    others = others[:: max(1, len(others) // _MAX_OTHER)][:_MAX_OTHER]
    print(f"\n{len(dated)} texts in {len(counts)} languages")
    print(f"{'reader':12}{'right':>8}{'none':>8}{'wrong':>8}{'ms a text':>11}{'other':>8}")
    reader: Callable[[str, str | None], date | None]
    for name, reader in (("ours", ours), ("dateparser", by_dateparser), ("dateutil", by_dateutil)):
        start = perf_counter()
        days = [reader(text.text, text.language) for text in dated]
        milliseconds = (perf_counter() - start) / len(dated) * 1000
        right = mean([day == text.day for day, text in zip(days, dated, strict=True)])
        none = mean([day is None for day in days])
        other = mean([reader(text.text, text.language) is not None for text in others])
        print(
            f"{name:12}{right:8.3f}{none:8.3f}{1 - right - none:8.3f}{milliseconds:11.2f}{other:8.3f}"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--readers", action="store_true")
    arguments = parser.parse_args()
    pages = [
        page
        for name in NAMES
        for page in load_corpus(arguments.corpora / name).pages
        if page.date is not None
    ]
    results, visible = zip(*map(measure, pages), strict=True)
    print_days("all evidence", results)
    print_confidences(results)
    print(f"cost: {median(one.parses for one in results):.2f} parses of the page, median\n")
    print_days("text alone", visible)
    print_confidences(visible)
    if arguments.readers:
        warnings.simplefilter("ignore")  # dateparser's own
        print_readers([text for page in pages if page.day_counts for text in texts_of(page)])


if __name__ == "__main__":
    main()
