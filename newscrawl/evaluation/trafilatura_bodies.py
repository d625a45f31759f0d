"""Bodies of trafilatura, which the families of corpora are compared with."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from newscrawl.corpora.map_pages import map_pages
from newscrawl.evaluation.result_cache import ResultCache, page_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from newscrawl.corpora.corpus import LabelledPage

PACKAGE = "trafilatura"
MODES = {"trafilatura": False, "trafilatura fast": True}
"""Names of its two modes, and the value of its option ``fast``."""


def peer_version() -> str | None:
    """Return the version of trafilatura; None if it is not installed."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return None


def peer_bodies(
    pages: Sequence[LabelledPage],
    mode: str,
    cache_dir: Path,
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[str]:
    """Return the bodies that *mode* finds in each of *pages*, in order; empty where it fails.

    What this version found before is read from *cache_dir*. *advance* is called for each page.
    """
    cache = ResultCache(cache_dir / f"{mode.replace(' ', '-')}-{peer_version()}-body.jsonl")
    keys = [page_key(page) for page in pages]
    missing = {key: page for key, page in zip(keys, pages, strict=True) if key not in cache}
    for _ in range(len(pages) - len(missing)):
        if advance:
            advance()
    outcomes = map_pages(
        "newscrawl.evaluation.trafilatura_bodies:read_body",
        list(missing.values()),
        lambda plain: str(plain["body"]),
        lambda _: "",
        workers=workers,
        advance=advance,
        fast=MODES[mode],
    )
    # A page that failed is tried again by the next run: the machine may have been too busy.
    done = zip(missing, outcomes, strict=True)
    cache.add((key, outcome.value) for key, outcome in done if outcome.error is None)
    return [cache.get(key, "") for key in keys]


def read_body(html: bytes, *, page: dict[str, Any], fast: bool) -> dict[str, str]:
    """Return ``{"body": ...}``, the body that trafilatura finds in *html*, empty if none."""
    from trafilatura import bare_extraction  # noqa: PLC0415  # installed with the extra `peers`

    found = bare_extraction(html, url=page["url"], include_comments=False, fast=fast)
    return {"body": (found.text if found else None) or ""}
