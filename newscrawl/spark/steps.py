"""What the workers of the Spark job do: the steps of two passes, on Arrow record batches.

Each step takes the batches of a partition and gives those of the next table. Pages are sketched,
compared and clustered by the functions that do it on one machine, so clusters are the same.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from itertools import groupby, islice
from math import ceil
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from newscrawl.feeds.cluster_tables import (
    ARTICLE_COLUMNS,
    CLUSTER_COLUMNS,
    FeedArticle,
    FeedArticleReader,
    article_row,
    cluster_rows,
)
from newscrawl.feeds.feed_rows import arrow_schema, parse_line
from newscrawl.neardup.batch import verdicts
from newscrawl.neardup.clusters import agglomerate
from newscrawl.neardup.pairs import Pair, StoryPage, comparable, learn, matching
from newscrawl.neardup.sketch import Similarity, Sketch, sketch
from newscrawl.neardup.story import Story

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from newscrawl.neardup.near_duplicate_options import Options

    Row = dict[str, Any]
    Batches = Iterator[pa.RecordBatch]

ROWS: Final = 1000
"""Rows of a batch that a step gives."""

FILE, BLOCK, LINE = "_newscrawl_file", "_newscrawl_block", "_newscrawl_line"
"""Columns beside those of a feed: the row's file, the block of it, and, of JSON Lines, the row."""

_SKETCH = [
    ("scale", pa.int32()), ("words", pa.int32()), ("numbers", pa.binary()), ("hashes", pa.binary()),
    ("opening", pa.binary()),
]  # fmt: skip
_SIMILARITY = [
    ("shared", pa.int64()), ("containment", pa.float64()), ("jaccard", pa.float64()),
]  # fmt: skip
_NEAR = pa.struct([("one", pa.int64()), *_SIMILARITY])

_ORDER = pa.struct(
    [("feed", pa.int32()), ("file", pa.string()), ("block", pa.int64()), ("row", pa.int64())]
)
ARRIVALS: Final = pa.schema(
    [("order", _ORDER), ("lost", pa.int32()), ("url", pa.string()), ("site", pa.string()),
     ("title", pa.string()), ("when", pa.string()), ("at", pa.int64()), *_SKETCH]
)  # fmt: skip
"""Articles in the order of the feeds; of a row that is none, ``lost`` is the number of its feed."""

LEARNED: Final = pa.schema(
    [("place", pa.int64()), ("at", pa.int64()), ("site", pa.string()), *_SKETCH,
     ("known", pa.bool_()), ("versions", pa.list_(_NEAR))]
)  # fmt: skip
"""Pages without what their sites repeat; ``versions`` on the same site are earlier pages.

A version that is no near-duplicate has no similarity. ``known`` tells that what the site repeats
shows on its pages.
"""

POSTINGS: Final = pa.schema([("hash", pa.int32()), ("bucket", pa.int64()), ("place", pa.int64())])
"""A hash of a page; pages in the window of one another are in the same bucket or the next."""

PAIRS: Final = pa.schema([("one", pa.int64()), ("other", pa.int64()), *_SIMILARITY])
"""Near-duplicates by their places, the earlier one first."""

_PLACED = [("component", pa.int64()), ("place", pa.int64())]
ARTICLES: Final = pa.schema([*_PLACED, *arrow_schema(ARTICLE_COLUMNS)])
CLUSTERS: Final = pa.schema([("place", pa.int64()), *arrow_schema(CLUSTER_COLUMNS)])
"""The tables of ``scrapy cluster``; ``place`` of a cluster is that of its first article."""


def read(
    batches: Batches, feed: int, names: Mapping[str, str | None], now: datetime, options: Options
) -> Batches:
    """Give :data:`ARRIVALS` of a part of feed number *feed*; see :class:`FeedArticleReader`."""
    reader = FeedArticleReader(names, now)

    def arrivals() -> Iterator[Row]:
        for number, row in enumerate(_rows(batches)):
            order = {"feed": feed, "file": row[FILE], "block": row[BLOCK], "row": number}
            if LINE in row and not row[LINE].strip():
                continue
            found = reader.read(parse_line(row[LINE]) if LINE in row else row)
            yield {"order": order} | (_arrival(found, options) if found else {"lost": feed})

    return _batches(arrivals(), ARRIVALS)


def _arrival(arrival: FeedArticle, options: Options) -> Row:
    story = arrival.story
    return {
        "url": story.url,
        "site": story.site,
        "title": arrival.title,
        "when": story.when.astimezone(UTC).isoformat(),
        "at": story.timestamp,
        **_plain(sketch(story.text, options)),
    }


def learned(batches: Batches, options: Options) -> Batches:
    """Give :data:`LEARNED` of pages that are sorted by site and place."""

    def pages() -> Iterator[Row]:
        for _, own in groupby(_rows(batches), key=itemgetter("site")):
            yield from _learned(list(own), options)

    return _batches(pages(), LEARNED)


def _learned(rows: list[Row], options: Options) -> Iterator[Row]:
    """Yield the pages of one site."""
    pages = [_page(row) for row in rows]
    site = learn(pages, options)
    near = matching(pages, site.versions, options)
    similarities = {(pair.one, pair.other): pair.similarity for pair in near}
    versions: dict[int, list[Row]] = defaultdict(list)
    for one, other in site.versions:
        similarity = similarities.get((one, other))
        found = similarity._asdict() if similarity else {}
        versions[other].append({"one": rows[one]["place"], **found})
    for number, (row, rest) in enumerate(zip(rows, site.effective, strict=True)):
        yield row | _plain(rest) | {"known": site.known, "versions": versions[number]}


def postings(batches: Batches, options: Options) -> Batches:
    """Give :data:`POSTINGS` of pages."""
    width = max(1, ceil(options.window.total_seconds())) if options.window is not None else 0
    for batch in batches:
        rows = batch.select(["place", "at", "hashes"]).to_pylist()
        hashes = [np.frombuffer(row["hashes"], "<i4") for row in rows]
        sizes = [one.size for one in hashes]
        buckets = [row["at"] // width if width else 0 for row in rows]
        columns = [
            np.concatenate([np.empty(0, np.int32), *hashes]),
            np.repeat(np.array(buckets, np.int64), sizes),
            np.repeat(np.array([row["place"] for row in rows], np.int64), sizes),
        ]
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=POSTINGS)


def verified(batches: Batches, options: Options) -> Batches:
    """Give :data:`PAIRS` of candidates: places ``one`` and ``other``, pages ``left`` and ``right``."""
    for batch in batches:
        rows = batch.to_pylist()
        sides = [row[side] for side in ("left", "right") for row in rows]
        pages = [_page(side) for side in sides]
        known = {side["site"] for side in sides if side["known"]}
        places = [(number, number + len(rows)) for number in range(len(rows))]
        compared = (
            (one, other)
            for one, other in places
            if comparable(pages[one], pages[other], known, options)
        )
        found = [
            {"one": rows[one]["one"], "other": rows[one]["other"], **similarity._asdict()}
            for one, _, similarity in matching(pages, compared, options)
        ]
        yield pa.RecordBatch.from_pylist(found, PAIRS)


def clustered(batches: Batches, options: Options) -> Batches:
    """Give :data:`ARTICLES` of pages that are sorted by component and place.

    ``near`` of a page are its near-duplicates among the earlier ones of the component.
    """

    def articles() -> Iterator[Row]:
        for _, group in groupby(_rows(batches), key=itemgetter("component")):
            yield from _clustered(list(group), options)

    return _batches(articles(), ARTICLES)


def _clustered(rows: list[Row], options: Options) -> Iterator[Row]:
    """Yield the articles of one component."""
    number = {row["place"]: number for number, row in enumerate(rows)}
    pairs = [
        Pair(
            number[near["one"]],
            number[row["place"]],
            Similarity(*map(near.get, Similarity._fields)),
        )
        for row in rows
        for near in row["near"] or ()
    ]
    stories = [
        Story(row["url"], "", datetime.fromisoformat(row["when"]), row["site"]) for row in rows
    ]
    cluster = agglomerate([story.timestamp for story in stories], pairs, options)
    for row, story, verdict in zip(rows, stories, verdicts(stories, cluster, pairs), strict=True):
        places = {name: row[name] for name in ("component", "place")}
        yield places | article_row(FeedArticle(story, row["title"]), verdict)


def gathered(batches: Batches) -> Batches:
    """Give :data:`CLUSTERS` of articles that are sorted by component and place."""

    def rows() -> Iterator[Row]:
        for _, group in groupby(_rows(batches), key=itemgetter("component")):
            articles = list(group)
            place = {row["url"]: row["place"] for row in articles}
            yield from ({"place": place[one["first"]], **one} for one in cluster_rows(articles))

    return _batches(rows(), CLUSTERS)


def _page(row: Row) -> StoryPage:
    return StoryPage(
        row["at"],
        row["site"],
        Sketch(
            hashes=np.frombuffer(row["hashes"], "<u4"),
            scale=row["scale"],
            words=row["words"],
            numbers=np.frombuffer(row["numbers"], "<u2"),
            opening=np.frombuffer(row["opening"], "<u4"),
        ),
    )


def _plain(made: Sketch) -> Row:
    """Return the columns of a sketch."""
    return {
        "scale": made.scale,
        "words": made.words,
        "numbers": made.numbers.astype("<u2").tobytes(),
        "hashes": made.hashes.astype("<u4").tobytes(),
        "opening": made.opening.astype("<u4").tobytes(),
    }


def _rows(batches: Batches) -> Iterator[Row]:
    for batch in batches:
        yield from batch.to_pylist()


def _batches(rows: Iterator[Row], schema: Any) -> Batches:
    while chunk := list(islice(rows, ROWS)):
        yield pa.RecordBatch.from_pylist(chunk, schema)
