"""Tables of articles with their clusters, and of clusters, computed from feeds."""

from __future__ import annotations

from datetime import UTC
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.feeds.story_reader import read_story
from newscrawl.neardup import Index
from newscrawl.neardup.batch import two_pass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from newscrawl.neardup import Options, Story, Verdict

    Row = dict[str, Any]

BATCH_SIZE = 100
"""Articles in a transaction."""

FIELDS = ("url", "canonical_url", "title", "body", "date", "fetched_at")
"""Article fields that are read."""

ARTICLE_COLUMNS = (
    ("url", "string"), ("title", "string"), ("site", "string"), ("when", "string"),
    ("cluster", "string"), ("cluster_then", "string"), ("size", "int64"), ("is_first", "bool"),
    ("similarity", "double"), ("near_duplicates", "list of string"),
)  # fmt: skip
"""Names and types. ``cluster`` is the final cluster; the columns after it describe the state when
the article was added."""

CLUSTER_COLUMNS = (
    ("cluster", "string"), ("size", "int64"), ("sites", "int64"), ("first", "string"),
    ("title", "string"), ("from", "string"), ("until", "string"), ("articles", "list of string"),
)  # fmt: skip


class FeedArticle(NamedTuple):
    """An article read from a feed."""

    story: Story
    title: str | None


class FeedArticleReader:
    """Reads articles from the rows of feeds.

    *names* maps article fields to columns (``NEWSCRAWL_FIELDS``); *now* is the date of articles
    without a date.
    """

    def __init__(self, names: Mapping[str, str | None], now: datetime) -> None:
        self._names, self._now = names, now
        self._title = names.get("title") or "title"
        #: names of the columns that are read
        self.columns = [names.get(field) or field for field in FIELDS]

    def read(self, row: Row | None) -> FeedArticle | None:
        """Return the article in *row*, None if it has no text or no URL."""
        story = read_story(row, self._names, self._now) if row is not None else None
        if row is None or story is None:
            return None
        title = row.get(self._title)
        # Lone surrogates are valid in JSON but cannot be written as UTF-8.
        title = title.encode("utf-8", "replace").decode() if isinstance(title, str) else None
        return FeedArticle(story, title)


def cluster_one_pass(
    articles: Iterable[FeedArticle], options: Options, advance: Callable[[int], object]
) -> list[Row]:
    """Cluster *articles* in their order, as in a crawl; return their rows.

    Calls *advance* with numbers of processed articles. The index is a temporary file, so that the
    texts are not held in memory.
    """
    articles = iter(articles)
    rows: list[Row] = []
    with TemporaryDirectory() as folder, Index(Path(folder, "index.sqlite"), options) as index:
        while batch := list(islice(articles, BATCH_SIZE)):
            verdicts = index.add_many([article.story for article in batch])
            rows += map(article_row, batch, verdicts)
            advance(len(batch))
        return [row | {"cluster": index.resolve(row["cluster"])} for row in rows]


def cluster_two_pass(
    articles: Iterable[FeedArticle], options: Options, advance: Callable[[int], object]
) -> list[Row]:
    """Cluster the last versions of *articles*, independent of their order; return their rows."""
    last: dict[str, FeedArticle] = {}
    for article in articles:
        last[article.story.url] = article
        advance(1)
    found = two_pass([article.story for article in last.values()], options)
    return [
        article_row(last[story.url], verdict)
        for story, verdict in zip(found.stories, found.verdicts, strict=True)
    ]


def article_row(article: FeedArticle, verdict: Verdict) -> Row:
    """Return the values of :data:`ARTICLE_COLUMNS` when *article* is added."""
    story = article.story
    return {
        "url": story.url,
        "title": article.title,
        "site": story.site,
        "when": story.when.astimezone(UTC).isoformat(),
        "cluster": verdict.cluster,
        "cluster_then": verdict.cluster,
        "size": verdict.size,
        "is_first": verdict.is_first,
        "similarity": verdict.similarity,
        "near_duplicates": list(verdict.near_duplicates),
    }


def summary_line(articles: int, clusters: int, several: int, largest: int) -> str:
    """Return the numbers of articles, clusters and clusters with *several* articles as a line."""
    return (
        f"{articles} articles, {clusters} clusters, {several} with several articles "
        f"(at most {max(largest, 1)})\n"
    )


def cluster_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the values of :data:`CLUSTER_COLUMNS` for article *rows*, the largest cluster first."""
    members: dict[str, dict[str, Row]] = {}
    for row in rows:
        members.setdefault(row["cluster"], {})[row["url"]] = row
    for name, by_url in sorted(members.items(), key=lambda item: -len(item[1])):
        articles = list(by_url.values())
        first = next((row for row in articles if row["is_first"]), articles[0])
        times = sorted(row["when"] for row in articles)
        yield {
            "cluster": name,
            "size": len(articles),
            "sites": len({row["site"] for row in articles}),
            "first": first["url"],
            "title": first["title"],
            "from": times[0],
            "until": times[-1],
            "articles": list(by_url),
        }
