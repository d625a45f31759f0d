"""Steps of the Spark job on Arrow record batches.

Each step converts the batches of a partition to those of the next table. The steps call the
functions of the single-machine implementation, so that the clusters are the same.
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

from newscrawl.feeds import cluster_tables
from newscrawl.feeds.cluster_tables import (
    ARTICLE_COLUMNS,
    CLUSTER_COLUMNS,
    FeedArticle,
    FeedArticleReader,
    article_row,
)
from newscrawl.feeds.feed_rows import arrow_schema, parse_line
from newscrawl.neardup.batch import verdicts
from newscrawl.neardup.clusters import agglomerate, without_parts
from newscrawl.neardup.pairs import (
    Pair,
    StoryPage,
    are_comparable,
    learn,
    matched_versions,
    matching,
)
from newscrawl.neardup.sketch import SKETCH_COLUMNS, Similarity, Sketch, sketch
from newscrawl.neardup.story import Story

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from newscrawl.near_duplicate_options import Options

    Row = dict[str, Any]
    Batches = Iterator[pa.RecordBatch]

BATCH_ROWS: Final = 1000
"""Maximum rows of an output batch."""

FILE, BLOCK, LINE = "_newscrawl_file", "_newscrawl_block", "_newscrawl_line"
"""Additional columns of a feed: the file of a row, its block, and the line in JSON Lines."""

_SKETCH = list(zip(SKETCH_COLUMNS, [pa.int32()] * 2 + [pa.binary()] * 4, strict=True))
_SIMILARITY = [
    ("shared", pa.int64()), ("containment", pa.float64()), ("jaccard", pa.float64()),
]  # fmt: skip
_NEAR = pa.struct([("first", pa.int64()), *_SIMILARITY])

_ORDER = pa.struct(
    [("feed", pa.int32()), ("file", pa.string()), ("block", pa.int64()), ("row", pa.int64())]
)
ARRIVALS: Final = pa.schema(
    [("order", _ORDER), ("skipped", pa.int32()), ("url", pa.string()), ("site", pa.string()),
     ("title", pa.string()), ("when", pa.string()), ("at", pa.int64()), *_SKETCH]
)  # fmt: skip
"""Articles in the order of the feeds; ``skipped`` is the feed number of a row without article."""

PAGES: Final = pa.schema(
    [("position", pa.int64()), ("at", pa.int64()), ("site", pa.string()), *_SKETCH,
     ("is_learned", pa.bool_()), ("versions", pa.list_(_NEAR))]
)  # fmt: skip
"""Pages without boilerplate; ``versions`` are earlier pages of the site.

``is_learned`` states that the site has enough pages to know its boilerplate.
"""

POSTINGS: Final = pa.schema(
    [("hash", pa.int32()), ("bucket", pa.int64()), ("position", pa.int64())]
)
"""Hashes of pages. Pages within the window are in the same bucket or in adjacent ones."""

PAIRS: Final = pa.schema(
    [("first", pa.int64()), ("second", pa.int64()), *_SIMILARITY, ("is_version", pa.bool_())]
)
"""Near-duplicates by their positions, the earlier one first."""

ARTICLES: Final = pa.schema(
    [("component", pa.int64()), ("position", pa.int64()), *arrow_schema(ARTICLE_COLUMNS)]
)
CLUSTERS: Final = pa.schema([("position", pa.int64()), *arrow_schema(CLUSTER_COLUMNS)])
"""Tables of ``scrapy cluster``; the ``position`` of a cluster is that of its first article."""


def read_arrivals(
    batches: Batches, feed: int, names: Mapping[str, str | None], now: datetime, options: Options
) -> Batches:
    """Return :data:`ARRIVALS` of a part of feed number *feed*; see :class:`FeedArticleReader`."""
    reader = FeedArticleReader(names, now)

    def arrivals() -> Iterator[Row]:
        for number, row in enumerate(_rows(batches)):
            order = {"feed": feed, "file": row[FILE], "block": row[BLOCK], "row": number}
            if LINE in row and not row[LINE].strip():
                continue
            found = reader.read(parse_line(row[LINE]) if LINE in row else row)
            yield {"order": order} | (_arrival(found, options) if found else {"skipped": feed})

    return _batches(arrivals(), ARRIVALS)


def _arrival(arrival: FeedArticle, options: Options) -> Row:
    story = arrival.story
    return {
        "url": story.url,
        "site": story.site,
        "title": arrival.title,
        "when": story.when.astimezone(UTC).isoformat(),
        "at": story.timestamp,
        **_sketch_columns(sketch(story.text, options)),
    }


def remove_boilerplate(batches: Batches, options: Options) -> Batches:
    """Return :data:`PAGES` of pages sorted by site and position."""

    def pages() -> Iterator[Row]:
        for _, rows in groupby(_rows(batches), key=itemgetter("site")):
            yield from _site_pages(list(rows), options)

    return _batches(pages(), PAGES)


def _site_pages(rows: list[Row], options: Options) -> Iterator[Row]:
    pages = [_page(row) for row in rows]
    site = learn(pages, options)
    versions: dict[int, list[Row]] = defaultdict(list)
    for first, second, similarity, _ in matched_versions(pages, site.versions):
        versions[second].append({"first": rows[first]["position"], **similarity._asdict()})
    for number, (row, made) in enumerate(zip(rows, site.sketches, strict=True)):
        learned = {"is_learned": site.is_learned, "versions": versions[number]}
        yield row | _sketch_columns(made) | learned


def postings(batches: Batches, options: Options) -> Batches:
    """Return :data:`POSTINGS` of pages."""
    width = max(1, ceil(options.window.total_seconds())) if options.window is not None else 0
    for batch in batches:
        rows = batch.select(["position", "at", "hashes"]).to_pylist()
        hashes = [np.frombuffer(row["hashes"], "<i4") for row in rows]
        sizes = [values.size for values in hashes]
        buckets = [row["at"] // width if width else 0 for row in rows]
        columns = [
            np.concatenate([np.empty(0, np.int32), *hashes]),
            np.repeat(np.array(buckets, np.int64), sizes),
            np.repeat(np.array([row["position"] for row in rows], np.int64), sizes),
        ]
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=POSTINGS)


def match_candidates(batches: Batches, options: Options) -> Batches:
    """Return the :data:`PAIRS` among candidates.

    Columns: positions ``first`` and ``second``, pages ``left`` and ``right``.
    """
    for batch in batches:
        rows = batch.to_pylist()
        sides = [row[side] for side in ("left", "right") for row in rows]
        pages = [_page(side) for side in sides]
        learned_sites = {side["site"] for side in sides if side["is_learned"]}
        compared = (
            (left, left + len(rows))
            for left in range(len(rows))
            if are_comparable(pages[left], pages[left + len(rows)], learned_sites, options)
        )
        pairs = [
            {
                "first": rows[left]["first"],
                "second": rows[left]["second"],
                **similarity._asdict(),
                "is_version": False,
            }
            for left, _, similarity, _ in matching(pages, compared, options)
        ]
        yield pa.RecordBatch.from_pylist(pairs, PAIRS)


def cluster_articles(batches: Batches, options: Options) -> Batches:
    """Return :data:`ARTICLES` of pages sorted by component and position.

    ``near`` of a page are its near-duplicates among the earlier pages of the component.
    """

    def articles() -> Iterator[Row]:
        for _, group in groupby(_rows(batches), key=itemgetter("component")):
            yield from _component_articles(list(group), options)

    return _batches(articles(), ARTICLES)


def _component_articles(rows: list[Row], options: Options) -> Iterator[Row]:
    number = {row["position"]: number for number, row in enumerate(rows)}
    pairs = [
        Pair(
            number[near["first"]],
            number[row["position"]],
            Similarity(*map(near.get, Similarity._fields)),
            near["is_version"],
        )
        for row in rows
        for near in row["near"] or ()
    ]
    stories = [
        Story(row["url"], "", datetime.fromisoformat(row["when"]), row["site"]) for row in rows
    ]
    pairs = without_parts(list(map(_sketch, rows)), pairs)
    cluster = agglomerate([story.timestamp for story in stories], pairs, options)
    for row, story, verdict in zip(rows, stories, verdicts(stories, cluster, pairs), strict=True):
        keys = {name: row[name] for name in ("component", "position")}
        yield keys | article_row(FeedArticle(story, row["title"]), verdict)


def cluster_rows(batches: Batches) -> Batches:
    """Return :data:`CLUSTERS` of articles sorted by component and position."""

    def rows() -> Iterator[Row]:
        for _, group in groupby(_rows(batches), key=itemgetter("component")):
            articles = list(group)
            position = {row["url"]: row["position"] for row in articles}
            for row in cluster_tables.cluster_rows(articles):
                yield {"position": position[row["first"]], **row}

    return _batches(rows(), CLUSTERS)


def _page(row: Row) -> StoryPage:
    return StoryPage(row["at"], row["site"], _sketch(row))


def _sketch(row: Row) -> Sketch:
    return Sketch.from_columns(*(row[name] for name in SKETCH_COLUMNS))


def _sketch_columns(made: Sketch) -> Row:
    return dict(zip(SKETCH_COLUMNS, made.to_columns(), strict=True))


def _rows(batches: Batches) -> Iterator[Row]:
    for batch in batches:
        yield from batch.to_pylist()


def _batches(rows: Iterator[Row], schema: Any) -> Batches:
    while chunk := list(islice(rows, BATCH_ROWS)):
        yield pa.RecordBatch.from_pylist(chunk, schema)
