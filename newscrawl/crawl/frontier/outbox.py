"""The outbox: items that a crawl has made and not yet delivered."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy.utils.serialize import ScrapyJSONEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    item TEXT
);
"""
"""*id* gives the order. Who has delivered an item sets *item* to NULL, and leaves its *key*: a
request that is made again after a crash must not bring it again. The keys go with the crawl that
they belong to, when that has finished."""

INSERT: Final = "INSERT OR IGNORE INTO outbox (key, kind, item) VALUES (?, ?, ?)"
CLEAR: Final = "DELETE FROM outbox WHERE item IS NULL"

#: fields that differ each time a page is fetched
_VOLATILE: Final = ("fetched_at", "cluster", "newscrawl_status")

_encode = ScrapyJSONEncoder().encode


def outbox_row(item: Any) -> tuple[bytes, str, str]:
    """Return key, class and JSON of *item*.

    Raises ``TypeError`` or ``ValueError`` for what JSON cannot hold.
    """
    plain = item.to_dict() if hasattr(item, "to_dict") else ItemAdapter(item).asdict()
    kind = f"{type(item).__module__}.{type(item).__qualname__}"
    return item_key(plain), kind, _encode(plain)


def item_key(plain: Mapping[str, Any]) -> bytes:
    """Return what is the same for an item of the same page with the same content.

    Of an article it is the canonical URL, where the page names one, and the body; of any other
    item all that does not differ each time a page is fetched.
    """
    if plain.get("url") and plain.get("body"):
        text = f"{plain.get('canonical_url') or plain['url']}\n{plain['body']}"
    else:
        steady = {name: value for name, value in plain.items() if name not in _VOLATILE}
        text = json.dumps(steady, sort_keys=True, default=_encode)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
