"""Outbox: scraped items that are not delivered yet."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy.utils.serialize import ScrapyJSONEncoder

from newscrawl.crawl.frontier.crawl_store import state_tables
from newscrawl.sqlite import checksum

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA: Final = state_tables("""
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    item TEXT,
    checksum INTEGER NOT NULL,
    error TEXT
);
""")
"""Items in the order of *id*. A delivered item has NULL as *item* and keeps its *key* until the
crawl finishes, so that a request repeated after a crash does not add it again. An item with an
*error* cannot be delivered: it is kept, but not tried again."""

INSERT: Final = "INSERT OR IGNORE INTO outbox (key, item, checksum) VALUES (?, ?, ?)"
SET_ASIDE: Final = "UPDATE outbox SET error = ? WHERE id = ?"
DELETE_DELIVERED: Final = "DELETE FROM outbox WHERE item IS NULL"

#: fields that differ between two fetches of a page
_VOLATILE_FIELDS: Final = ("fetched_at", "cluster", "newscrawl_status")

_encode = ScrapyJSONEncoder().encode


def outbox_row(item: Any) -> tuple[bytes, str, int]:
    """Return the key and JSON of *item*, and the checksum of the latter.

    Raises ``TypeError`` or ``ValueError`` if it cannot be serialized as JSON.
    """
    fields = item.to_dict() if hasattr(item, "to_dict") else ItemAdapter(item).asdict()
    text = _encode(fields)
    return item_key(fields), text, checksum(text)


def item_key(fields: Mapping[str, Any]) -> bytes:
    """Return a key that is the same for all items of a page with the same content.

    It covers canonical URL (or URL) and body of an article, and all but the volatile fields of
    other items.
    """
    if fields.get("url") and fields.get("body"):
        text = f"{fields.get('canonical_url') or fields['url']}\n{fields['body']}"
    else:
        stable = {name: value for name, value in fields.items() if name not in _VOLATILE_FIELDS}
        text = json.dumps(stable, sort_keys=True, default=_encode)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
