"""Spider of articles and quotes for feeds on a full disk: the file ``room`` has its bytes."""

import errno
import io
import os
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO, Any

import scrapy
from itemadapter import ItemAdapter
from scrapy.extensions.feedexport import BlockingFeedStorage, ItemFilter
from scrapy.http import Response

from newscrawl.exporters import FeedFileStorage, JsonLinesItemExporter
from newscrawl.items import Article

ROOM = Path("room")


class FullFile(io.FileIO):
    """A file that can have as many bytes as :data:`ROOM` says."""

    def write(self, data: Any, /) -> int:
        """Write the part of *data* for which there is room."""
        room = int(ROOM.read_text()) - os.fstat(self.fileno()).st_size
        if room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data[:room])


class SmallDisk(FeedFileStorage):
    """Local files, ``small:NAME``, on a disk with little room."""

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri.removeprefix("small:"), feed_options=feed_options)

    def open(self, spider: scrapy.Spider) -> IO[bytes]:
        """Open the file."""
        file: Any = super().open(spider)
        file._file.close()
        file._file = FullFile(self.path, self.write_mode.replace("b", ""))
        return file  # type: ignore[no-any-return]


class UploadStorage(BlockingFeedStorage):
    """A storage that appends to ``upload:NAME`` at the end, which fails while the room is small."""

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        self.path = Path(uri.removeprefix("upload:"))

    def _store_in_thread(self, file: IO[bytes]) -> None:
        if int(ROOM.read_text()) < 1_000_000:
            raise ConnectionError("the server is down")
        file.seek(0)
        with self.path.open("ab") as target:
            target.write(file.read())


def _number(item: Any) -> int:
    return int(ItemAdapter(item)["url"].rpartition("/")[2])


class EveryThird(JsonLinesItemExporter):
    """An exporter that fails for every third article, within the line, while the room is small."""

    def export_item(self, item: Any) -> None:
        """Export *item*."""
        if _number(item) % 3 == 0 and int(ROOM.read_text()) < 1_000_000:
            self.file.write(b'{"url": "')
            raise TypeError("no number may be divisible by three")
        super().export_item(item)


class OddNumbers(ItemFilter):
    """Accepts articles with an odd number."""

    def accepts(self, item: Any) -> bool:
        """Return whether the number of *item* is odd."""
        return _number(item) % 2 == 1


class FeedSpider(scrapy.Spider):
    """Arguments: ``pages``, with one article each; ``items=1``: dictionaries in their place."""

    name = "feeds"
    pages = "0"
    items = ""
    custom_settings: dict[str, Any] = {  # noqa: RUF012
        "ADDONS": {"newscrawl.Addon": 500},
        "CONCURRENT_REQUESTS": 2,
        "DOWNLOADER_MIDDLEWARES": {"newscrawl.middlewares.SafetyMiddleware": None},
        "FEED_EXPORTERS": {"third": EveryThird},
        "FEED_STORAGES": {"small": SmallDisk, "upload": UploadStorage},
        "ITEM_PIPELINES": {"newscrawl.pipelines.NewsExtractPipeline": None},
        "LOG_LEVEL": "INFO",
        "NEWSCRAWL_CHECKPOINT": 0.05,
        "NEWSCRAWL_FRONTIER_ENABLED": True,
        "NEWSCRAWL_STATE": "state.sqlite",
    }

    async def start(self) -> AsyncIterator[Any]:
        """Yield the requests."""
        for number in range(int(self.pages)):
            yield scrapy.Request(f"data:,{number}")

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield an article, or a dictionary."""
        url = f"https://site.test/{response.text}"
        body = random.Random(response.text).randbytes(400).hex()  # as long when it is compressed
        if self.items:
            yield {"url": url, "text": body}
        else:
            yield Article(url=url, title="Straße", body=body)
