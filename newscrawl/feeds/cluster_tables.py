"""The articles of feeds with their clusters, without their texts: rows of two tables."""

from __future__ import annotations

from datetime import UTC
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.feeds.story_reader import StoryReader
from newscrawl.neardup import Index
from newscrawl.neardup.batch import two_pass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from newscrawl.neardup import Options, Story, Verdict

    Row = dict[str, Any]

AT_ONCE = 100
"""Articles in one transaction."""

FIELDS = ("url", "canonical_url", "title", "body", "date", "fetched_at")
"""What is read of an article."""

ARTICLE_COLUMNS = (
    ("url", "string"), ("title", "string"), ("site", "string"), ("when", "string"),
    ("cluster", "string"), ("cluster_then", "string"), ("size", "int64"), ("is_first", "bool"),
    ("similarity", "double"), ("near_duplicates", "list of string"), ("differs", "bool"),
)  # fmt: skip
"""Names and types. ``cluster`` is the name at the end; those after it are as of the arrival."""

CLUSTER_COLUMNS = (
    ("cluster", "string"), ("size", "int64"), ("sites", "int64"), ("first", "string"),
    ("title", "string"), ("from", "string"), ("until", "string"), ("articles", "list of string"),
)  # fmt: skip


class FeedArticle(NamedTuple):
    """An article as it comes from a feed."""

    story: Story
    title: str | None


class ArrivalReader:
    """Reads articles from the rows of feeds.

    *names* are those of the fields (``NEWSCRAWL_FIELDS``); what has no date is of *now*.
    """

    def __init__(self, names: Mapping[str, str | None], now: datetime) -> None:
        self._stories, self._now = StoryReader(names), now
        self._title = names.get("title") or "title"
        #: names of what is read of a row
        self.columns = [names.get(field) or field for field in FIELDS]

    def read(self, row: Row | None) -> FeedArticle | None:
        """Return the article of a row, None where it has no text or no URL."""
        story = self._stories.read(row, self._now) if row is not None else None
        if row is None or story is None:
            return None
        title = row.get(self._title)
        # Half a surrogate pair, which JSON can say, is not text that could be written.
        title = title.encode("utf-8", "replace").decode() if isinstance(title, str) else None
        return FeedArticle(story, title)


def as_streamed(
    arrivals: Iterable[FeedArticle], options: Options, advance: Callable[[int], object]
) -> list[Row]:
    """Return the articles as a crawl finds them, in their order; *advance* is told how many.

    The index is a temporary file: no texts stay in memory.
    """
    arrivals, rows = iter(arrivals), []
    with TemporaryDirectory() as folder, Index(Path(folder, "index.sqlite"), options) as index:
        while batch := list(islice(arrivals, AT_ONCE)):
            verdicts = index.add_many([one.story for one in batch])
            rows += [
                article_row(one, verdict) for one, verdict in zip(batch, verdicts, strict=True)
            ]
            advance(len(batch))
        return [row | {"cluster": index.resolve(row["cluster"])} for row in rows]


def at_once(
    arrivals: Iterable[FeedArticle], options: Options, advance: Callable[[int], object]
) -> list[Row]:
    """Return the articles, the last version of each, as the whole collection shows them."""
    last: dict[str, FeedArticle] = {}
    for arrival in arrivals:
        last[arrival.story.url] = arrival
        advance(1)
    found = two_pass([arrival.story for arrival in last.values()], options)
    differing = set(found.differing)
    return [
        article_row(last[story.url], verdict) | {"differs": story.url in differing}
        for story, verdict in zip(found.stories, found.verdicts, strict=True)
    ]


def article_row(arrival: FeedArticle, verdict: Verdict) -> Row:
    """Return the values of :data:`ARTICLE_COLUMNS`, as of the arrival."""
    story = arrival.story
    return {
        "url": story.url,
        "title": arrival.title,
        "site": story.site,
        "when": story.when.astimezone(UTC).isoformat(),
        "cluster": verdict.cluster,
        "cluster_then": verdict.cluster,
        "size": verdict.size,
        "is_first": verdict.is_first,
        "similarity": verdict.similarity,
        "near_duplicates": list(verdict.near_duplicates),
        "differs": None,
    }


def clusters(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the values of :data:`CLUSTER_COLUMNS`, the largest clusters first."""
    members: dict[str, dict[str, Row]] = {}
    for row in rows:
        members.setdefault(row["cluster"], {})[row["url"]] = row
    for name, by_url in sorted(members.items(), key=lambda one: -len(one[1])):
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
