"""The settings of the pipelines, read once and checked before the first request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self, get_args

from newscrawl.body.parts import PARTS
from newscrawl.defaults import setting
from newscrawl.extraction.methods import METHODS
from newscrawl.fields.kind.page_kind import KIND_THRESHOLD
from newscrawl.items import Article, ArticleKind
from newscrawl.neardup.near_duplicate_options import Options, SketchName
from newscrawl.pipelines.zyte import require_zyte

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings

OUTPUTS = ("article", "fill", "zyte")
ARTICLE_FIELDS = tuple(field.name for field in fields(Article))


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """Values of the ``NEWSCRAWL_*`` settings of the pipeline; ``docs/reference/settings.md`` has each."""

    body_parts: list[str]
    encoding_field: str
    fetched_at_field: str
    fields: dict[str, str | None]
    html_field: str
    #: kind -> least confidence; None: the default
    keep: dict[str, float | None]
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
        _check("NEWSCRAWL_FIELDS", values["fields"], ARTICLE_FIELDS)
        if values["output"] == "zyte":
            require_zyte()
        _check_feeds(settings)
        return cls(**values | {"keep": _kept_kinds(settings)})

    @property
    def article_threshold(self) -> float:
        """Probability from which a page is an article."""
        least = self.keep.get("article")
        return KIND_THRESHOLD if least is None else least

    def keeps(self, kind: str, confidence: float) -> bool:
        """Return whether pages of that *kind* are kept, with that *confidence*.

        What is an article has been decided with :attr:`article_threshold`.
        """
        return kind in self.keep and (kind == "article" or confidence >= (self.keep[kind] or 0.0))


def _kept_kinds(settings: BaseSettings) -> dict[str, float | None]:
    """Return the kinds that ``NEWSCRAWL_KEEP`` names: a list, or a mapping to confidences."""
    value = settings.get("NEWSCRAWL_KEEP")
    if isinstance(value, Mapping):
        named = [(kind, str(least)) for kind, least in value.items()]
    else:
        entries = setting(settings, "NEWSCRAWL_KEEP")
        named = [(kind, least) for kind, _, least in (str(one).partition(":") for one in entries)]
    _check("NEWSCRAWL_KEEP", [kind for kind, _ in named], get_args(ArticleKind))
    return {kind: _confidence(kind, least) if least else None for kind, least in named}


def _confidence(kind: str, text: str) -> float:
    try:
        least = float(text)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise ValueError(f"NEWSCRAWL_KEEP: {text!r} is no confidence of {kind}, from 0 to 1")
    return least


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
