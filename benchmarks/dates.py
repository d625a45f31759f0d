"""Accuracy and confidence of publication dates.

The pages with a labelled date, extracted with models of other sites. ``right``: the date is the label;
``+ modified``: or the modification date is, as some labels are the day of the last update; ``sure``:
pages with a confidence of at least 0.9; ``error``: expected calibration error.

``fitted``: the confidences are fitted to the pages of other sites (three folds), of the corpora that
may be used for training: (right + 1) / (all + 2) of the pages with the same confidence. Labels that
are instants in UTC are not used, as they do not determine the day that a page shows.

``text alone``: visible dates without structured data, near the title and the body by NCE.

``--readers`` compares parsers of date texts on the first short text node of each page that contains
the numbers of the labelled date, at most 60 per language, and on text nodes that do not contain
them (``other``: share parsed as a date).

    python benchmarks/dates.py [--corpora DIR] [--workers N] [--packaged] [--readers]
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from newscrawl import clock
from newscrawl.body.nce import nce
from newscrawl.document.document import Document, parse_document
from newscrawl.extraction.extract import extract
from newscrawl.extraction.methods import DEFAULT_METHOD
from newscrawl.fields.dates.decide import CONFIDENCE, decide, site_zones
from newscrawl.fields.dates.evidence import gather, metadata_evidence
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.fields.dates.vocabulary import fold
from newscrawl.fields.metadata.metadata import Metadata, read_metadata
from newscrawl.fields.metadata.structured_date import day_of
from newscrawl.fields.titles.title import choose_title
from newscrawl.items import Article
from newscrawl.lab.corpora.calibration import calibration_error, confidence_bins
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.day_match import DayResult, day_result
from newscrawl.lab.corpora.folds import FOLDS, folds
from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.corpora.tables import Table, figure, print_tables
from newscrawl.lab.evaluation.families import MAY_TRAIN
from newscrawl.lab.evaluation.out_of_fold import evaluate_out_of_fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
NAMES = ("news212", "fundus", "fundus-history", "wcxb", "dragnet", "postlight", "css-sites")
TEXT_ALONE = ("news212", "fundus")
_MAX_PER_LANGUAGE = 60
_MAX_OTHER = 400
_MAX_TEXT_LENGTH = 100


class Result(NamedTuple):
    """Result of a page."""

    page: LabelledPage
    day: DayResult

    @property
    def is_fitted_to(self) -> bool:
        """Whether confidences may be fitted to this page."""
        label = self.page.date
        is_utc = (
            isinstance(label, datetime)
            and label.utcoffset() == timedelta(0)
            and label.time() != label.time().min
        )
        return self.day.returned and self.page.corpus in MAY_TRAIN and not is_utc


class Text(NamedTuple):
    """A text node with the language of its page and the expected date, if any."""

    text: str
    language: str | None
    day: date | None


def measure_packaged(pages: Sequence[LabelledPage]) -> list[Result]:
    """Return the results of *pages*, extracted with the packaged models."""
    days = (
        (page, day_result(page, extract(page.html(), page.url, fetched_at=_fetched_at(page))))
        for page in pages
    )
    return [Result(page, day) for page, day in days if day]


def measure(pages: Sequence[LabelledPage], *, workers: int) -> list[Result]:
    """Return the results of *pages*, extracted with models of other sites."""
    learn_from = [page for page in pages if page.corpus in MAY_TRAIN]
    outcomes = evaluate_out_of_fold(
        pages, DEFAULT_METHOD, "extra-site", learn_from=learn_from, nodes=False, workers=workers
    )
    return [Result(one.page, one.value.day) for one in outcomes if one.value.day]


def read_page(page: LabelledPage) -> tuple[Document, Metadata]:
    """Return document and metadata."""
    document = parse_document(page.html())
    return document, read_metadata(document, page.url, _fetched_at(page))


def _fetched_at(page: LabelledPage) -> datetime:
    return page.fetched_at or clock.now()


def measure_text(page: LabelledPage) -> Result:
    """Return the result of visible text alone."""
    document, metadata = read_page(page)
    title = choose_title(document, metadata, page.url)
    evidence = gather(
        document,
        replace(metadata, published=[], modified=[]),
        nce(document).forest,
        title.row if title else None,
        url=page.url,
        fetched_at=_fetched_at(page),
    )
    found = decide(evidence, site=site_zones(page.url, metadata.language))
    modified = decide(metadata_evidence(metadata.modified))
    article = Article(url=page.url, date_modified=modified.value if modified else None)
    if found is not None:
        article.date, article.evidence = found.value, {"date": found.evidence}
    day = day_result(page, article)
    assert day is not None
    return Result(page, day)


def fitted(results: Sequence[Result]) -> list[Result]:
    """Return *results* with their confidences fitted to the pages of other sites."""
    fold_of = folds([one.page for one in results], "extra-site")
    members = list(zip(fold_of, results, strict=True))
    rates = [
        rates_by_confidence([one for other, one in members if other != fold])
        for fold in range(FOLDS)
    ]
    return [
        one._replace(day=one.day._replace(confidence=rates[fold].get(one.day.confidence, 0.5)))
        if one.day.returned
        else one
        for fold, one in members
    ]


def rates_by_confidence(results: Sequence[Result]) -> dict[float, float]:
    """Return (right + 1) / (all + 2) by confidence."""
    days = [one.day for one in results if one.is_fitted_to]
    counts = Counter(day.confidence for day in days)
    right = Counter(day.confidence for day in days if day.right)
    return {value: (right[value] + 1) / (number + 2) for value, number in counts.items()}


def day_table(name: str, results: Sequence[Result]) -> Table:
    """Return a table of the shares of right and of confident dates by corpus."""
    pairs = list(zip(results, fitted(results), strict=True))
    rows = []
    for corpus in dict.fromkeys(one.page.corpus for one in results):
        chosen = [pair for pair in pairs if pair[0].page.corpus == corpus]
        days, others = ([one.day for one in column] for column in zip(*chosen, strict=True))
        rows.append(
            [
                corpus,
                str(len(days)),
                str(sum(not day.returned for day in days)),
                str(sum(day.correct for day in days)),
                figure(mean([day.correct for day in days])),
                figure(mean([day.right for day in days])),
                *_sure(days),
                figure(_error(days)),
                *_sure(others),
                figure(_error(others)),
            ]
        )
    columns = (
        *("corpus", "pages", "none", "right", "share", "+ modified"),
        *("sure", "right of these", "error"),
        *("fitted: sure", "right of these", "error"),
    )
    return Table(name, columns, rows)


def _error(days: Sequence[DayResult]) -> float:
    bounds = (0.0, *sorted(set(CONFIDENCE.values())), 1.0)
    cases = ((day.confidence, day.right) for day in days if day.returned)
    return calibration_error(confidence_bins(cases, bounds))


def _sure(days: Sequence[DayResult]) -> tuple[str, str]:
    sure = [day.right for day in days if day.confidence >= 0.9]
    return figure(len(sure) / len(days)), figure(mean(sure))


def confidence_table(name: str, results: Sequence[Result]) -> Table:
    """Return a table of the numbers of right and of all dates by support and corpus."""
    corpora = list(dict.fromkeys(one.page.corpus for one in results))
    rates = rates_by_confidence(results)
    rows = []
    for confidence in sorted(rates, reverse=True):
        support = ", ".join(name for name, value in CONFIDENCE.items() if value == confidence)
        row = [support, f"{confidence:.2f}", figure(rates[confidence])]
        for corpus in corpora:
            days = [
                one.day.right
                for one in results
                if one.page.corpus == corpus and one.day.confidence == confidence
            ]
            row.append(f"{sum(days)}/{len(days)}" if days else "")
        rows.append(row)
    return Table(name, ("support", "confidence", "fitted", *corpora), rows)


def texts_of(page: LabelledPage) -> Iterator[Text]:
    """Yield the first short text node with the numbers of the date, and those without."""
    assert page.date is not None
    day = day_of(page.date)
    years = {day.year, day.year % 100, day.year + 543}
    document, metadata = read_page(page)
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
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--packaged", action="store_true", help="do not train models")
    parser.add_argument("--readers", action="store_true")
    arguments = parser.parse_args()
    pages = [
        page
        for name in NAMES
        if (arguments.corpora / name).is_dir()
        for page in load_corpus(arguments.corpora / name).pages
        if page.day_counts
    ]
    if arguments.packaged:
        results = measure_packaged(pages)
    else:
        results = measure(pages, workers=arguments.workers)
    visible = [measure_text(page) for page in pages if page.corpus in TEXT_ALONE]
    tables = [
        table(name, days)
        for name, days in (("all evidence", results), ("text alone", visible))
        for table in (day_table, confidence_table)
    ]
    print_tables(tables, sys.stdout)
    if arguments.readers:
        warnings.simplefilter("ignore")  # dateparser's own
        print_readers([text for page in pages for text in texts_of(page)])


if __name__ == "__main__":
    main()
