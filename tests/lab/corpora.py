"""Small corpora, written as the commands and the evaluation read them."""

import gzip
import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

STORY = "".join(
    f"<p>Paragraph {n} tells what happened at the bridge that morning, and what the engineers of "
    "the city said about the work that had taken them the whole winter, day and night.</p>"
    for n in range(12)
)
# The last paragraph is no part of it, so that there is something to tell apart.
BODY = STORY.rpartition("<p>")[0].replace("<p>", "").replace("</p>", "\n")
PAGE = (
    "<html lang=en><title>{title} - Daily Harbour</title><body><nav><a href=/>News</a> "
    "<a href=/s>Sport</a></nav><div><div class=head><h1>{title}</h1>"
    "<p class=date>{day}, 10:15</p></div>{story}</div><footer><h1>Newsletter</h1>Contact us</footer>"
)


def write_corpus(folder: Path, pages: Iterable[tuple[str | bytes, dict[str, Any]]]) -> Path:
    """Write pages and their labels, which have at least ``site``; return *folder*."""
    (folder / "pages").mkdir(parents=True)
    rows = []
    for number, (html, labels) in enumerate(pages):
        name = labels.get("id", str(number))
        data = gzip.compress(html.encode() if isinstance(html, str) else html, mtime=0)
        (folder / "pages" / f"{name}.html.gz").write_bytes(data)
        rows.append({"id": name, "url": f"https://{labels['site']}/{name}", **labels})
    (folder / "truth.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def harbour_page(number: int, **labels: Any) -> tuple[str, dict[str, Any]]:
    """Return a page of a site of its own, with a label for each field."""
    title, day = f"Harbour bridge {number} reopens after repairs", date(2024, 5, number + 1)
    page = PAGE.format(title=title, day=f"{day:%B} {day.day}, {day.year}", story=STORY)
    known = {"site": f"{number}.example", "title": title, "date": day.isoformat(), "body": BODY}
    return page, known | labels
