"""What a crawl leaves on disk, for each article: state, segments, raw pages, index of near-duplicates.

A crawl of real pages, replayed, with everything on; one worker. docs/guide/scaling.md plans with it.

    python -m benchmarks.crawl_sizes [--corpora DIR]
"""

from __future__ import annotations

import argparse
import gzip
import sqlite3
import tempfile
from pathlib import Path

from tests.conftest import CORPORA
from tests.helpers.crawls import crawl_sites
from tests.servers.replay import ReplayServer, load_pages, make_sites


def sizes(folder: Path) -> dict[str, float]:
    """Return bytes, by what they hold."""
    segments = list((folder / "segments").rglob("*.jsonl"))
    return {
        "state": (folder / "state.sqlite").stat().st_size,
        "segments": sum(path.stat().st_size for path in segments),
        "segments, gzip": sum(len(gzip.compress(path.read_bytes())) for path in segments),
        "WARC": sum(path.stat().st_size for path in (folder / "warc").glob("*.warc.gz")),
        "near-duplicates": (folder / "index.sqlite").stat().st_size,
    }


def rows(folder: Path) -> dict[str, int]:
    """Return the number of rows of each table of the state."""
    with sqlite3.connect(folder / "state.sqlite") as state:
        names = [
            name for (name,) in state.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        return {name: state.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}


def main() -> None:
    """Crawl, and print the sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    sites = make_sites(load_pages(parser.parse_args().corpora, "news212", "fundus"))
    with tempfile.TemporaryDirectory() as name, ReplayServer(sites) as server:
        folder = Path(name)
        crawl = crawl_sites(
            folder,
            [site.url for site in sites],
            server.proxy_environment(),
            CONCURRENT_REQUESTS_PER_DOMAIN=4,
            NEWSCRAWL_MAX_AGE=0,
            NEWSCRAWL_NEARDUP_ENABLED=True,
            NEWSCRAWL_NEARDUP_INDEX=folder / "index.sqlite",
            NEWSCRAWL_SEGMENTS=folder / "segments",
            NEWSCRAWL_WARC=folder / "warc",
            NEWSCRAWL_WORKERS=1,
        )
        if crawl.returncode:
            raise RuntimeError(crawl.output[-5000:])
        articles = len(crawl.items)
        print(f"{articles} articles, {crawl.stats['downloader/response_count']} responses")
        print(f"memory of the crawling process: {crawl.stats['process/memory'] / 2**20:.0f} MB")
        for what, size in sizes(folder).items():
            print(f"{what:>16}: {size / 1000 / articles:7.1f} KB an article")
        print(", ".join(f"{table}: {number}" for table, number in rows(folder).items()))


if __name__ == "__main__":
    main()
