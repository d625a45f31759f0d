"""Bodies extracted by trafilatura, for comparison."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.map_pages import map_pages
from newscrawl.lab.evaluation.result_cache import ResultCache, page_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from newscrawl.lab.corpora.corpus import LabelledPage

PACKAGE = "trafilatura"
MODES = {"trafilatura": False, "trafilatura fast": True}
"""Names of the two modes, with the value of the option ``fast``."""


def peer_version() -> str | None:
    """Return the version of trafilatura, None if it is not installed."""
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
    """Return the bodies of *pages* in order; empty if extraction fails.

    Results are cached in *cache_dir* by version and mode. *advance* is called for each page.
    """
    cache = ResultCache(cache_dir / f"{mode.replace(' ', '-')}-{peer_version()}-body.jsonl")
    keys = [page_key(page) for page in pages]
    missing = {key: page for key, page in zip(keys, pages, strict=True) if key not in cache}
    for _ in range(len(pages) - len(missing)):
        if advance:
            advance()
    outcomes = map_pages(
        "newscrawl.lab.evaluation.trafilatura_bodies:read_body",
        list(missing.values()),
        lambda plain: str(plain["body"]),
        lambda _: "",
        workers=workers,
        advance=advance,
        fast=MODES[mode],
    )
    # failures are not cached: they may be timeouts on a busy machine
    done = zip(missing, outcomes, strict=True)
    cache.add((key, outcome.value) for key, outcome in done if outcome.error is None)
    return [cache.get(key, "") for key in keys]


def read_body(html: bytes, *, page: dict[str, Any], fast: bool) -> dict[str, str]:
    """Return ``{"body": ...}``, the body of *html* or an empty string."""
    from trafilatura import bare_extraction  # noqa: PLC0415  # installed with the extra `peers`

    found = bare_extraction(html, url=page["url"], include_comments=False, fast=fast)
    return {"body": (found.text if found else None) or ""}
