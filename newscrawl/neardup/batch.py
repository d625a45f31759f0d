"""Near-duplicates of a whole collection: as the stream would find them, or better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.neardup.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from newscrawl.neardup.options import Options
    from newscrawl.neardup.story import Story, Verdict


def in_order(stories: Iterable[Story]) -> list[Story]:
    """Return stories as a replay takes them: by time, then by URL."""
    return sorted(stories, key=lambda story: (story.timestamp, story.url))


def replay(stories: Iterable[Story], options: Options | None = None) -> list[Verdict]:
    """Return the verdicts of a stream that the stories come in with, in the order of a replay."""
    with Index(None, options) as index:
        return index.add_many(in_order(stories))
