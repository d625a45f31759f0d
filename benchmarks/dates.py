"""How often the day of publication is right, how sure we are of it, and what it costs.

Pages of the corpora whose day is labelled, in halves by site. ``right``: the day is the label's;
``+ modified``: or our own date of modification is, as some labels hold the day of the last update.
``sure``: pages with a confidence of 0.9 and more. The cost is that of gathering and deciding, in
parses (``lxml.html``) of the same page. With ``--readers``, readers of date texts are compared on
the first short text node of each page that holds the numbers of the labelled day, at most 60 of a
language, and on text nodes that do not hold them (``other``: how many are read as some date).

    python benchmarks/dates.py [--corpora DIR] [--readers]
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from lxml import html

from newscrawl import clock
from newscrawl.body.nce import nce
from newscrawl.document import Document, parse_document
from newscrawl.evaluation.corpora import LabelledPage, load_corpus
from newscrawl.evaluation.metrics import mean, same_day
from newscrawl.fields.date import decide
from newscrawl.fields.datenames import fold
from newscrawl.fields.datetext import read_dates
from newscrawl.fields.evidence import DateEvidence, gather
from newscrawl.fields.metadata import Metadata, read_metadata
from newscrawl.fields.structured_date import day_of
from newscrawl.fields.title import choose_title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
NAMES = ("news212", "fundus")
_MOST_OF_A_LANGUAGE = 60
_MOST_OTHER = 400
_LONGEST_TEXT = 100


class Result(NamedTuple):
    """What became of a page's day."""

    page: LabelledPage
    right: bool
    right_or_modified: bool
    confidence: float
    parses: float


class Text(NamedTuple):
    """A text node, its page's language, and the day it should give, if any."""

    text: str
    language: str | None
    day: date | None


def read_page(page: LabelledPage) -> tuple[Document, Metadata, float]:
    """Return the page parsed, and the seconds that lxml alone takes for it."""
    data = page.html()
    start = perf_counter()
    html.fromstring(data)
    seconds = perf_counter() - start
    document = parse_document(data)
    return document, read_metadata(document.root, page.url, clock.now()), seconds


def measure(page: LabelledPage) -> Result:
    """Return what the evidence of *page* gives."""
    document, metadata, seconds = read_page(page)
    forest = nce(document).forest
    title = choose_title(document, metadata, page.url)
    start = perf_counter()
    row = title.row if title else None
    evidence = gather(document, metadata, forest, row, url=page.url, fetched_at=clock.now())
    modified = [DateEvidence(one.value, one.raw, one.source) for one in metadata.modified]
    dating, modification = decide(evidence, modified), decide(modified)
    parses = (perf_counter() - start) / seconds
    right, as_modified = (
        found is not None and page.date is not None and same_day(found.value, page.date)
        for found in (dating, modification)
    )
    confidence = dating.evidence.confidence if dating else 0.0
    return Result(page, right, right or as_modified, confidence, parses)


def print_days(results: Sequence[Result]) -> None:
    """Print the share of right days and of sure ones, by half, with and without doubtful labels."""
    print(
        f"{'half':6}{'labels':16}{'pages':>6}{'right':>8}{'+ modified':>12}{'sure':>8}{'right':>8}"
    )
    for half, doubtful in product(("tune", "test", "both"), (False, True)):
        found = [
            one
            for one in results
            if half in {one.page.half, "both"} and (doubtful or not one.page.date_doubtful)
        ]
        sure = [one for one in found if one.confidence >= 0.9]
        print(
            f"{half:6}{'all' if doubtful else 'not doubtful':16}{len(found):6}"
            f"{mean([one.right for one in found]):8.3f}"
            f"{mean([one.right_or_modified for one in found]):12.3f}"
            f"{len(sure) / len(found):8.3f}{mean([one.right_or_modified for one in sure]):8.3f}"
        )
    print(f"cost: {median(one.parses for one in results):.2f} parses of the page, median")


def texts_of(page: LabelledPage) -> Iterator[Text]:
    """Yield the first short text node that holds the numbers of the day, and those without."""
    assert page.date is not None
    day = day_of(page.date)
    years = {day.year, day.year % 100, day.year + 543}
    document, metadata, _ = read_page(page)
    found = False
    for row in document.text_nodes():
        text = " ".join(document.text[row].split())
        numbers = {int(number) for number in re.findall(r"\d{1,9}", fold(text))}
        if len(text) > _LONGEST_TEXT or not numbers:
            continue
        if day.day not in numbers or numbers.isdisjoint(years):
            yield Text(text, metadata.language, None)
        elif not found:
            found = True
            yield Text(text, metadata.language, day)


def ours(text: str, language: str | None) -> date | None:
    """Return the first date that newscrawl reads."""
    return next((found.day for found in read_dates(text, language=language)), None)


def by_dateparser(text: str, language: str | None) -> date | None:
    """Return the date that dateparser reads."""
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
    """Print the share of right, missing and wrong days of each reader."""
    counts: Counter[str] = Counter()
    dated = []
    for text in texts:
        if text.day:
            counts[language := (text.language or "")[:2]] += 1
            if counts[language] <= _MOST_OF_A_LANGUAGE:
                dated.append(text)
    others = [text for text in texts if text.day is None]
    others = others[:: max(1, len(others) // _MOST_OTHER)][:_MOST_OTHER]
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
    """Measure and print."""
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
    print_days([measure(page) for page in pages])
    if arguments.readers:
        warnings.simplefilter("ignore")  # dateparser's own
        print_readers([text for page in pages if page.day_counts for text in texts_of(page)])


if __name__ == "__main__":
    main()
