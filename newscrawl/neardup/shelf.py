"""The tables of the index: what is read and written, one statement each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from newscrawl.neardup.sketch import Sketch
from newscrawl.neardup.story import Verdict

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from newscrawl.neardup.story import Story

ANCHORED: Final = 32
"""Stories, the last ones, that are looked up of an anchor."""

POSTED: Final = 128
"""Stories, the last ones in the file and the last ones in memory, that are looked up of a hash.

Phrases that everybody uses ("at the end of") would else cost the more the more stories there are.
"""

_SIGNED = "<i4"
_COLUMNS = "id, at, site, lineage, cluster, scale, words, numbers, hashes"


def digest(text: str, size: int = 16) -> bytes:
    """Return a digest of *text*."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def signed(hashes: NDArray[np.uint32]) -> list[int]:
    """Return hashes as SQLite stores them best: in four bytes."""
    values: list[int] = hashes.view(np.int32).tolist()
    return values


def unsigned(values: Iterable[int]) -> NDArray[np.uint32]:
    """Return hashes from what SQLite stores, sorted."""
    return np.sort(np.fromiter(values, np.int32).view(np.uint32))


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A story of the index."""

    id: int
    #: seconds since 1970
    at: int
    site: int
    #: the first version of the story on its site
    lineage: int
    cluster: int
    sketch: Sketch


def _record(row: tuple[int, int, int, int, int, int, int, bytes, bytes]) -> Record:
    number, at, site, lineage, cluster, scale, words, numbers, hashes = row
    sketch = Sketch(np.frombuffer(hashes, "<u4"), scale, words, np.frombuffer(numbers, "<u2"))
    return Record(number, at, site, lineage, cluster, sketch)


class Shelf:
    """Reads and writes the tables; who calls it opens and commits the transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany
        #: the last story whose postings are in the file
        self._posted = 0

    def site(self, name: str) -> int:
        """Return the number of a site."""
        row = self._execute("SELECT id FROM site WHERE name = ?", (name,)).fetchone()
        if row is None:
            return self._execute("INSERT INTO site (name) VALUES (?)", (name,)).lastrowid or 0
        return int(row[0])

    def stories(self, site: int) -> int:
        """Return how many stories of a site, versions not counted, there have been."""
        row = self._execute("SELECT stories FROM site WHERE id = ?", (site,)).fetchone()
        return int(row[0])

    def count_story(self, site: int) -> None:
        """Count a story of a site."""
        self._execute("UPDATE site SET stories = stories + 1 WHERE id = ?", (site,))

    def count(self) -> int:
        """Return the number of stories."""
        return int(self._execute("SELECT count(*) FROM story").fetchone()[0])

    def find(self, key: bytes) -> tuple[int, bytes] | None:
        """Return number and digests of the texts of the story of a URL."""
        row = self._execute("SELECT id, texts FROM story WHERE key = ?", (key,)).fetchone()
        return None if row is None else (row[0], row[1])

    def postings(self, hashes: NDArray[np.uint32]) -> list[tuple[int, int, int]]:
        """Return (hash, site, story) of the last stories that have any of *hashes*."""
        rows: list[tuple[int, int, int]] = []
        wanted = json.dumps(signed(hashes))
        for table in ("posting", "fresh_posting"):
            rows += self._execute(
                "SELECT hash, site, story FROM json_each(?) CROSS JOIN"  # noqa: S608
                f" {table} ON hash = value AND story > coalesce((SELECT story FROM {table}"
                " WHERE hash = value ORDER BY story DESC LIMIT 1 OFFSET ?), 0)",
                (wanted, POSTED),
            )
        return rows

    def anchored(self, anchors: NDArray[np.uint32]) -> set[int]:
        """Return the last stories that have any of *anchors*."""
        return {
            story
            for anchor in signed(anchors)
            for table in ("fresh_anchor", "anchor")
            for (story,) in self._execute(
                f"SELECT story FROM {table} WHERE hash = ? ORDER BY story DESC LIMIT ?",  # noqa: S608
                (anchor, ANCHORED),
            )
        }

    def record(self, story: int) -> Record:
        """Return a story."""
        row = self._execute(f"SELECT {_COLUMNS} FROM story WHERE id = ?", (story,)).fetchone()  # noqa: S608
        return _record(row)

    def records(self, stories: Iterable[int]) -> list[Record]:
        """Return stories, in the order in which they came in."""
        rows = self._execute(
            f"SELECT {_COLUMNS} FROM story"  # noqa: S608
            " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps(sorted(stories)),),
        )
        return [_record(row) for row in rows]

    def lineages(self, stories: Iterable[int]) -> dict[int, int]:
        """Return the lineages of stories."""
        return dict(
            self._execute(
                "SELECT id, lineage FROM story WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(sorted(stories)),),
            ).fetchall()
        )

    def urls(self, stories: Sequence[int]) -> tuple[str, ...]:
        """Return the URLs of stories, in their order."""
        return tuple(
            self._execute("SELECT url FROM story WHERE id = ?", (story,)).fetchone()[0]
            for story in stories
        )

    def boilerplate(self, site: int) -> NDArray[np.uint32]:
        """Return the hashes that a site repeats."""
        rows = self._execute("SELECT hash FROM boilerplate WHERE site = ?", (site,))
        return unsigned(value for (value,) in rows)

    def suppress(self, site: int, hashes: Iterable[int]) -> None:
        """Note hashes that a site repeats; its stories are no longer found by them."""
        rows = [(site, value) for value in hashes]
        self._executemany("INSERT OR IGNORE INTO boilerplate VALUES (?, ?)", rows)
        for table in ("posting", "fresh_posting"):
            self._executemany(f"DELETE FROM {table} WHERE site = ? AND hash = ?", rows)  # noqa: S608

    def new_cluster(self, name: str) -> int:
        """Return the number of a new, empty cluster."""
        return (
            self._execute("INSERT INTO cluster (name, size) VALUES (?, 0)", (name,)).lastrowid or 0
        )

    def cluster(self, number: int) -> tuple[str, int]:
        """Return name and size of a cluster."""
        row = self._execute("SELECT name, size FROM cluster WHERE id = ?", (number,)).fetchone()
        return row[0], row[1]

    def taken(self, name: str) -> bool:
        """Return True for the name of a cluster or of a former one."""
        known = "SELECT 1 FROM cluster WHERE name = ? UNION SELECT 1 FROM alias WHERE name = ?"
        return self._execute(known, (name, name)).fetchone() is not None

    def resolve(self, name: str) -> str:
        """Return the name of the cluster that a cluster has become part of, or its own."""
        while row := self._execute("SELECT cluster FROM alias WHERE name = ?", (name,)).fetchone():
            name = row[0]
        return name

    def members(self, cluster: int, since: int, until: int) -> list[int]:
        """Return the stories of a cluster from *since* to *until*, in order."""
        rows = self._execute(
            "SELECT id FROM story WHERE cluster = ? AND at BETWEEN ? AND ? ORDER BY id",
            (cluster, since, until),
        )
        return [story for (story,) in rows]

    def grow(self, cluster: int, by: int = 1) -> None:
        """Count stories to a cluster."""
        self._execute("UPDATE cluster SET size = size + ? WHERE id = ?", (by, cluster))

    def merge(self, cluster: int, into: int) -> str:
        """Make a cluster part of another; return the name that is an alias now."""
        name, size = self.cluster(cluster)
        self._execute("UPDATE story SET cluster = ? WHERE cluster = ?", (into, cluster))
        self._execute("DELETE FROM cluster WHERE id = ?", (cluster,))
        self._execute("INSERT INTO alias VALUES (?, ?)", (name, self.cluster(into)[0]))
        self.grow(into, size)
        return name

    def new_story(self, story: Story, key: bytes, site: int) -> int:
        """Return the number of a new story, which has nothing yet but a URL and a site."""
        row = (key, story.url, b"", story.timestamp, site, 0, 0, 0, 0, b"", b"", None)
        cursor = self._execute(
            "INSERT INTO story (key, url, texts, at, site, lineage, cluster, scale, words, numbers,"
            " hashes, verdict) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        return cursor.lastrowid or 0

    def fill(self, record: Record, texts: bytes, verdict: Verdict) -> None:
        """Store what is known of a story."""
        sketch = record.sketch
        self._execute(
            "UPDATE story SET texts = ?, at = ?, site = ?, lineage = ?, cluster = ?, scale = ?,"
            " words = ?, numbers = ?, hashes = ?, verdict = ? WHERE id = ?",
            (
                texts,
                record.at,
                record.site,
                record.lineage,
                record.cluster,
                sketch.scale,
                sketch.words,
                sketch.numbers.astype("<u2").tobytes(),
                sketch.hashes.astype("<u4").tobytes(),
                _stored(verdict),
                record.id,
            ),
        )

    def post(
        self, story: int, site: int, hashes: NDArray[np.uint32], anchors: NDArray[np.uint32]
    ) -> None:
        """Make a story found by its hashes."""
        fresh = "fresh_" if story > self._posted else ""
        # One statement for all rows: a third of the time of as many.
        self._execute(
            f"INSERT INTO {fresh}posting SELECT value, ?, ? FROM json_each(?)",  # noqa: S608
            (story, site, json.dumps(signed(hashes))),
        )
        self._execute(
            f"INSERT OR IGNORE INTO {fresh}anchor SELECT value, ? FROM json_each(?)",  # noqa: S608
            (story, json.dumps(signed(anchors))),
        )

    def unpost(self, story: int, hashes: NDArray[np.uint32], anchors: NDArray[np.uint32]) -> None:
        """Make a story no longer found."""
        fresh = "fresh_" if story > self._posted else ""
        self._executemany(
            f"DELETE FROM {fresh}posting WHERE hash = ? AND story = ?",  # noqa: S608
            [(value, story) for value in signed(hashes)],
        )
        self._executemany(
            f"DELETE FROM {fresh}anchor WHERE hash = ? AND story = ?",  # noqa: S608
            [(value, story) for value in signed(anchors)],
        )

    def settle(self, story: int) -> None:
        """Write the postings in memory into the file: of all stories up to this one."""
        for table in ("posting", "anchor"):
            # In the order of the table: a page is written once for all that goes into it.
            self._execute(f"INSERT INTO {table} SELECT * FROM fresh_{table} ORDER BY hash")  # noqa: S608
            self._execute(f"DELETE FROM fresh_{table}")  # noqa: S608
        self._execute("UPDATE meta SET value = ? WHERE name = 'posted'", (str(story),))
        self._posted = story

    def recall(self) -> None:
        """Read which postings are in the file: where what was written has been undone."""
        row = self._execute("SELECT value FROM meta WHERE name = 'posted'").fetchone()
        self._posted = int(row[0])

    def unsettled(self) -> list[Record]:
        """Return the stories whose postings are not in the file."""
        self.recall()
        rows = self._execute(f"SELECT {_COLUMNS} FROM story WHERE id > ?", (self._posted,))  # noqa: S608
        return [_record(row) for row in rows]

    def newest(self, rank: int) -> int:
        """Return when the story is from that *rank* stories are newer than."""
        row = self._execute(
            "SELECT at FROM story ORDER BY at DESC LIMIT 1 OFFSET ?", (rank,)
        ).fetchone()
        return -(2**62) if row is None else int(row[0])

    def before(self, story: int, at: int) -> list[Record]:
        """Return the stories that came in before *story* and are from before *at*."""
        rows = self._execute(
            f"SELECT {_COLUMNS} FROM story WHERE at < ? AND id < ?",  # noqa: S608
            (at, story),
        )
        return [_record(row) for row in rows]

    def forget(self, record: Record) -> None:
        """Delete a story that is no longer found, and its cluster with the last one."""
        self._execute("DELETE FROM story WHERE id = ?", (record.id,))
        self._execute(
            "DELETE FROM cluster WHERE id = ?"
            " AND NOT EXISTS (SELECT 1 FROM story WHERE story.cluster = cluster.id)",
            (record.cluster,),
        )

    def verdict(self, story: int) -> Verdict:
        """Return what was said of a story when it came in."""
        row = self._execute("SELECT verdict FROM story WHERE id = ?", (story,)).fetchone()
        cluster, size, is_first, similarity, near, merged = json.loads(row[0])
        return Verdict(cluster, size, is_first, similarity, tuple(near), tuple(merged))


def _stored(verdict: Verdict) -> str:
    return json.dumps(
        (
            verdict.cluster,
            verdict.size,
            verdict.is_first,
            verdict.similarity,
            verdict.near_duplicates,
            verdict.merged,
        ),
        ensure_ascii=False,
        separators=(",", ":"),
    )
