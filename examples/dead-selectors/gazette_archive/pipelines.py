"""Validation and storage."""

import json
from datetime import datetime
from pathlib import Path

from scrapy.exceptions import DropItem

REQUIRED = ("headline", "published_at", "text")


class RequiredFieldsPipeline:
    """Drops incomplete stories."""

    def process_item(self, item):
        missing = [name for name in REQUIRED if not item.get(name)]
        if missing:
            raise DropItem(f"no {', '.join(missing)}: {item['url']}")
        return item


class ArchivePipeline:
    """Writes each story to ``archive/<year>/<month>/<name>.json``."""

    def process_item(self, item):
        published = datetime.fromisoformat(item["published_at"])
        name = item["url"].rsplit("/", 1)[-1].removesuffix(".html")
        file = Path("archive", f"{published:%Y/%m}", f"{name}.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(dict(item), indent=1), encoding="utf-8")
        return item
