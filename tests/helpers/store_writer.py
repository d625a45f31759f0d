"""Process that writes to a crawl store until killed: ``... tests.helpers.store_writer FILE``."""

import asyncio
import sys
from itertools import count
from pathlib import Path

from newscrawl.crawling.crawl_store import CrawlStore, state_tables

state_tables("CREATE TABLE IF NOT EXISTS a (n INTEGER); CREATE TABLE IF NOT EXISTS b (n INTEGER);")


async def write(path: Path) -> None:
    """Write n = 0, 1, ... to both tables; print every 50th n once it is committed."""
    store = CrawlStore(path, checkpoint=0.005)
    store.open()
    for n in count():
        store.write("INSERT INTO a VALUES (?)", [(n,)])
        store.write("INSERT INTO b VALUES (?)", [(n,)])
        await asyncio.sleep(0)
        if n % 50 == 0:
            await store.commit()
            print(n, flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1])))
