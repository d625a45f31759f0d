"""The settings of the pipelines, read once and checked before the first request."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self, get_args

from newscrawl.body.parts import PARTS
from newscrawl.items import Article, ArticleKind
from newscrawl.methods import METHODS
from newscrawl.neardup.options import Options, SketchName
from newscrawl.pipelines.zyte import require_zyte
from newscrawl.settings.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings

OUTPUTS = ("article", "fill", "zyte")
ARTICLE_FIELDS = tuple(field.name for field in fields(Article))


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """Values of the ``NEWSCRAWL_*`` settings of the pipeline; ``docs/settings.rst`` has each."""

    body_parts: list[str]
    encoding_field: str
    fetched_at_field: str
    fields: dict[str, str | None]
    html_field: str
    keep: frozenset[str]
    method: str
    min_body: int
    output: str
    remove_html: bool
    status_field: str
    url_field: str

    @classmethod
    def read(cls, settings: BaseSettings) -> Self:
        """Return the options that *settings* give; raise ``ValueError`` naming what is wrong."""
        values = {
            field.name: setting(settings, f"NEWSCRAWL_{field.name.upper()}")
            for field in fields(cls)
        }
        _check("NEWSCRAWL_BODY_PARTS", values["body_parts"], PARTS)
        _check("NEWSCRAWL_OUTPUT", [values["output"]], OUTPUTS)
        _check("NEWSCRAWL_METHOD", [values["method"]], METHODS)
        _check("NEWSCRAWL_KEEP", values["keep"], get_args(ArticleKind))
        _check("NEWSCRAWL_FIELDS", values["fields"], ARTICLE_FIELDS)
        if values["output"] == "zyte":
            require_zyte()
        _check_feeds(settings)
        return cls(**values | {"keep": frozenset(values["keep"])})


def neardup_options(settings: BaseSettings) -> Options:
    """Return the options of near-duplicates that *settings* give; raise ``ValueError``."""
    sketch = setting(settings, "NEWSCRAWL_NEARDUP_SKETCH")
    _check("NEWSCRAWL_NEARDUP_SKETCH", [sketch], get_args(SketchName))
    hours = setting(settings, "NEWSCRAWL_NEARDUP_WINDOW")
    containment = setting(settings, "NEWSCRAWL_NEARDUP_CONTAINMENT")
    changes = {"containment": containment} if containment else {}
    try:
        window = timedelta(hours=hours) if hours else None
        return Options.of(sketch, window=window, **changes)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"NEWSCRAWL_NEARDUP_*: {error}") from error


def _check(name: str, values: Iterable[Any], allowed: Iterable[str]) -> None:
    for value in values:
        if value not in allowed:
            raise ValueError(f"{name}: {value!r} is not one of {', '.join(sorted(allowed))}")


def _check_feeds(settings: BaseSettings) -> None:
    formats = {feed.get("format") for feed in settings.getdict("FEEDS").values()}
    if "parquet" in formats and find_spec("pyarrow") is None:
        raise ValueError('FEEDS: parquet needs pyarrow: pip install "newscrawl[parquet]"')
