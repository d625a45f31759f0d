"""The tables of the index: what is read and written, one statement each."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from newscrawl.neardup.sketch import Sketch
from newscrawl.neardup.story import Verdict

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from numpy.typing import NDArray


_COLUMNS = "id, url, at, site, lineage, cluster, scale, words, numbers, hashes, opening"


def digest(text: str, size: int = 16) -> bytes:
    """Return a digest of *text*."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


class StoryRecord(NamedTuple):
    """A story of the index."""

    id: int
    url: str
    #: seconds since 1970
    at: int
    site: int
    #: the first version of the story on its site
    lineage: int
    cluster: int
    sketch: Sketch


def _record(row: tuple[int, str, int, int, int, int, int, int, bytes, bytes, bytes]) -> StoryRecord:
    number, url, at, site, lineage, cluster, scale, words, numbers, hashes, opening = row
    sketch = Sketch(
        np.frombuffer(hashes, "<u4"),
        scale,
        words,
        np.frombuffer(numbers, "<u2"),
        np.frombuffer(opening, "<u4"),
    )
    return StoryRecord(number, url, at, site, lineage, cluster, sketch)


class Shelf:
    """Reads and writes the tables; who calls it opens and commits the transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany

    def site(self, name: str) -> int:
        """Return the number of a site."""
        row = self._execute("SELECT id FROM site WHERE name = ?", (name,)).fetchone()
        if row is None:
            return self._execute("INSERT INTO site (name) VALUES (?)", (name,)).lastrowid or 0
        return int(row[0])

    def count(self) -> int:
        """Return the number of stories."""
        return int(self._execute("SELECT count(*) FROM story").fetchone()[0])

    def find(self, key: bytes) -> tuple[int, bytes] | None:
        """Return number and digests of the texts of the story of a URL."""
        row = self._execute("SELECT id, texts FROM story WHERE key = ?", (key,)).fetchone()
        return None if row is None else (row[0], row[1])

    def newest(self) -> int:
        """Return the number of the last story; 0 where there is none."""
        return int(self._execute("SELECT coalesce(max(id), 0) FROM story").fetchone()[0])

    def record(self, story: int) -> StoryRecord:
        """Return a story."""
        row = self._execute(f"SELECT {_COLUMNS} FROM story WHERE id = ?", (story,)).fetchone()  # noqa: S608
        return _record(row)

    def records(self, stories: Iterable[int]) -> list[StoryRecord]:
        """Return those of *stories* that are in the index, in the order in which they came in."""
        rows = self._execute(
            f"SELECT {_COLUMNS} FROM story"  # noqa: S608
            " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps(sorted(stories)),),
        )
        return [_record(row) for row in rows]

    def after(self, story: int) -> list[StoryRecord]:
        """Return the stories that came in after this one, in their order."""
        rows = self._execute(f"SELECT {_COLUMNS} FROM story WHERE id > ? ORDER BY id", (story,))  # noqa: S608
        return [_record(row) for row in rows]

    def pages(self, site: int, count: int) -> list[StoryRecord]:
        """Return the last stories of a site, in their order."""
        rows = self._execute(
            f"SELECT {_COLUMNS} FROM story WHERE site = ? ORDER BY id DESC LIMIT ?",  # noqa: S608
            (site, count),
        ).fetchall()
        return [_record(row) for row in reversed(rows)]

    def boilerplate(self, site: int, until: int = 2**62) -> NDArray[np.uint32]:
        """Return the hashes that a site repeats, sorted: those known when story *until* was in."""
        rows = self._execute(
            "SELECT hash FROM boilerplate WHERE site = ? AND since <= ?", (site, until)
        )
        return np.sort(np.fromiter((value for (value,) in rows), np.int32).view(np.uint32))

    def suppress(self, site: int, hashes: NDArray[np.uint32], since: int) -> None:
        """Note hashes that a site repeats, as story *since* tells."""
        # As SQLite stores them best: in four bytes.
        rows = [(site, value, since) for value in hashes.view(np.int32).tolist()]
        self._executemany("INSERT INTO boilerplate VALUES (?, ?, ?)", rows)

    def new_cluster(self, name: str) -> int:
        """Return the number of a new, empty cluster."""
        return (
            self._execute("INSERT INTO cluster (name, size) VALUES (?, 1)", (name,)).lastrowid or 0
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

    def members(self, cluster: int, since: int, until: int, count: int) -> list[int]:
        """Return the last stories of a cluster that are from *since* to *until*, in order."""
        rows = self._execute(
            "SELECT id FROM story WHERE cluster = ? AND at BETWEEN ? AND ?"
            " ORDER BY id DESC LIMIT ?",
            (cluster, since, until, count),
        ).fetchall()
        return [story for (story,) in reversed(rows)]

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

    def put(self, record: StoryRecord, key: bytes, texts: bytes, verdict: Verdict) -> None:
        """Store a new story."""
        sketch = record.sketch
        self._execute(
            "INSERT INTO story VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.id,
                key,
                record.url,
                texts,
                record.at,
                record.site,
                record.lineage,
                record.cluster,
                sketch.scale,
                sketch.words,
                sketch.numbers.astype("<u2").tobytes(),
                sketch.hashes.astype("<u4").tobytes(),
                sketch.opening.astype("<u4").tobytes(),
                _stored(verdict),
            ),
        )

    def newest_time(self, rank: int) -> int:
        """Return when the story is from that *rank* stories are newer than."""
        row = self._execute(
            "SELECT at FROM story ORDER BY at DESC LIMIT 1 OFFSET ?", (rank,)
        ).fetchone()
        return -(2**62) if row is None else int(row[0])

    def before(self, story: int, at: int) -> list[StoryRecord]:
        """Return the stories that came in before *story* and are from before *at*."""
        rows = self._execute(
            f"SELECT {_COLUMNS} FROM story WHERE at < ? AND id < ?",  # noqa: S608
            (at, story),
        )
        return [_record(row) for row in rows]

    def remove(self, story: int) -> None:
        """Delete a story."""
        self._execute("DELETE FROM story WHERE id = ?", (story,))

    def close_cluster(self, cluster: int) -> None:
        """Delete a cluster that has no story any more."""
        self._execute(
            "DELETE FROM cluster WHERE id = ?"
            " AND NOT EXISTS (SELECT 1 FROM story WHERE story.cluster = cluster.id)",
            (cluster,),
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
