"""Settings of the pipelines, validated before the first request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

from newscrawl.body.parts import PARTS
from newscrawl.crawling.article_filters import ArticleFilters
from newscrawl.defaults import DEFAULTS, NoSettings, SettingError, check_settings, setting
from newscrawl.fields.kind.barriers import BARRIERS
from newscrawl.items import EXTRA_FIELDS, MAX_BODY, Article, ArticleKind
from newscrawl.near_duplicate_options import Options
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings

    from newscrawl.items import PageItem

PAGE_TASK = "newscrawl.workers.tasks:extract_page"
"""Function of the workers that extracts a page, with the arguments of :func:`page_arguments`."""
LOAD_TASK = "newscrawl.workers.tasks:load_models"
"""Function that loads what this needs."""

NOT_ARTICLE = "not_article"
TOO_SHORT = "too_short"
TOO_LONG = "too_long"

OUTPUTS = ("article", "fill", "zyte")
ARTICLE_FIELDS = tuple(field.name for field in fields(Article))


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """Values of the ``NEWSCRAWL_*`` settings of ``NewsExtractPipeline``."""

    body_parts: list[str]
    extra_fields: list[str]
    field_converters: dict[str, Callable[[Any], Any]]
    filters: ArticleFilters
    fields: dict[str, str | None]
    #: kind -> minimum confidence; None: the default
    keep: dict[str, float | None]
    metadata_only: bool
    method: str
    min_body: int
    output: str
    remove_html: bool
    #: absolute path of a folder of rules; "": none
    site_rules: str
    status_field: str

    def __post_init__(self) -> None:
        if self.site_rules:
            object.__setattr__(self, "site_rules", str(Path(self.site_rules).absolute()))

    @classmethod
    def read(cls, settings: BaseSettings | NoSettings) -> Self:
        """Return the options in *settings*; raise ``ValueError`` naming an invalid setting."""
        values = {
            field.name: setting(settings, f"NEWSCRAWL_{field.name.upper()}")
            for field in fields(cls)
            if field.name != "filters"
        }
        _check("NEWSCRAWL_EXTRA_FIELDS", values["extra_fields"], EXTRA_FIELDS)
        _check("NEWSCRAWL_BODY_PARTS", values["body_parts"], PARTS)
        _check("NEWSCRAWL_OUTPUT", [values["output"]], OUTPUTS)
        _check_method(values["method"])
        _check("NEWSCRAWL_FIELDS", values["fields"], (*ARTICLE_FIELDS, "encoding", "html"))
        if values["output"] == "zyte" and find_spec("zyte_common_items") is None:
            raise SettingError('NEWSCRAWL_OUTPUT: "zyte" requires: pip install "newscrawl[zyte]"')
        rendering = setting(settings, "NEWSCRAWL_RENDER")
        _check("NEWSCRAWL_RENDER", filter(None, [rendering]), ("auto",))
        if rendering and find_spec("scrapy_playwright") is None:
            raise SettingError('NEWSCRAWL_RENDER: "auto" requires: pip install "newscrawl[render]"')
        _check_feeds(settings, values["extra_fields"])
        folder = values["site_rules"]
        if folder and not Path(folder).is_dir():
            raise SettingError(f"NEWSCRAWL_SITE_RULES: {folder}: not a folder")
        computed = {
            "field_converters": field_converters(settings),
            "filters": ArticleFilters.read(settings),
            "keep": _kept_kinds(settings),
        }
        return cls(**values | computed)

    def field(self, name: str) -> str:
        """Return the item field that has *name* of a page: ``html``, ``url``, ..."""
        return self.fields.get(name) or name

    @property
    def task_arguments(self) -> dict[str, Any]:
        """Arguments of :data:`PAGE_TASK` for all pages."""
        return {
            "method": self.method,
            "parts": self.body_parts,
            "extra_fields": self.extra_fields,
            "article_threshold": self.keep.get("article"),
            "site_rules": self.site_rules,
        }

    def drop_reason(self, article: Article) -> str | None:
        """Return why *article* is dropped, None to keep it.

        :data:`NOT_ARTICLE`, one of :data:`~newscrawl.fields.kind.barriers.BARRIERS`,
        :data:`TOO_SHORT`, :data:`TOO_LONG`, or the reason of a filter
        (:meth:`~newscrawl.crawling.article_filters.ArticleFilters.reason`).
        """
        # The worker has compared the confidence of articles with the threshold.
        minimum = 0.0 if article.kind == "article" else self.keep.get(article.kind) or 0.0
        if article.kind not in self.keep or article.evidence["kind"].confidence < minimum:
            source = article.evidence["kind"].source
            return source if source in BARRIERS else NOT_ARTICLE
        if len(article.body) > MAX_BODY:
            return TOO_LONG
        if not self.metadata_only and weighted_length(article.body) < self.min_body:
            return TOO_SHORT
        return self.filters.reason(article)

    def trim(self, article: Article) -> None:
        """Remove the body of *article* after :meth:`drop_reason` if only metadata are wanted."""
        if self.metadata_only:
            article.remove_body()


def page_arguments(page: PageItem, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :data:`PAGE_TASK` for *page*, its bytes apart.

    *options* are :attr:`PipelineOptions.task_arguments`.
    """
    return {
        "url": page.url or None,
        "encoding": page.encoding,
        "fetched_at": page.fetched_at.isoformat() if page.fetched_at else None,
        "hints": page.hints,
        "truncated": page.truncated,
        **options,
    }


def field_converters(settings: BaseSettings | NoSettings) -> dict[str, Callable[[Any], Any]]:
    """Return ``NEWSCRAWL_FIELD_CONVERTERS``; raise ``ValueError`` if one cannot be imported."""
    name = "NEWSCRAWL_FIELD_CONVERTERS"
    converters = setting(settings, name)
    _check(name, converters, ARTICLE_FIELDS)
    for field, converter in converters.items():
        from scrapy.utils.misc import load_object  # noqa: PLC0415  # extraction works without

        try:
            converters[field] = load_object(converter)
        except (AttributeError, ImportError, NameError, TypeError, ValueError) as error:
            raise ValueError(f"{name}: {field}: {error}") from error
    return dict(converters)


def _kept_kinds(settings: BaseSettings | NoSettings) -> dict[str, float | None]:
    """Read ``NEWSCRAWL_KEEP``: a list of ``kind`` or ``kind:confidence``, or a mapping."""
    value = settings.get("NEWSCRAWL_KEEP")
    if isinstance(value, Mapping):
        kinds = {kind: str(minimum) for kind, minimum in value.items()}
    else:
        parts = (str(entry).partition(":") for entry in setting(settings, "NEWSCRAWL_KEEP"))
        kinds = {kind: minimum for kind, _, minimum in parts}
    _check("NEWSCRAWL_KEEP", kinds, get_args(ArticleKind))
    return {kind: _confidence(kind, text) if text else None for kind, text in kinds.items()}


def _confidence(kind: str, text: str) -> float:
    try:
        confidence = float(text)
    except ValueError:
        confidence = -1.0
    if not 0 <= confidence <= 1:
        raise SettingError(f"NEWSCRAWL_KEEP: confidence {text!r} of {kind} is not between 0 and 1")
    return confidence


def neardup_options(settings: BaseSettings) -> Options:
    """Return the near-duplicate options in *settings*; raise ``ValueError`` if invalid."""
    hours = setting(settings, "NEWSCRAWL_NEARDUP_WINDOW")
    containment = setting(settings, "NEWSCRAWL_NEARDUP_CONTAINMENT")
    changes = {"containment": containment} if containment else {}
    try:
        window = timedelta(hours=hours) if hours else None
        return Options(window=window, **changes)
    except (OverflowError, ValueError) as error:
        raise SettingError(f"NEWSCRAWL_NEARDUP_*: {error}") from error


def _check(name: str, values: Iterable[Any], allowed: Iterable[str]) -> None:
    for value in values:
        if value not in allowed:
            raise SettingError(f"{name}: {value!r} is not one of {', '.join(sorted(allowed))}")


def _check_method(name: str) -> None:
    if name != DEFAULTS["NEWSCRAWL_METHOD"]:
        # All of extraction, which only workers need.
        from newscrawl.extraction.methods import available_methods  # noqa: PLC0415

        _check("NEWSCRAWL_METHOD", [name], available_methods())


def _check_feeds(settings: BaseSettings | NoSettings, extra_fields: Iterable[str]) -> None:
    formats = {feed.get("format") for feed in settings.getdict("FEEDS").values()}
    if "markdown" in formats and "body_markdown" not in extra_fields:
        raise SettingError('FEEDS: markdown requires NEWSCRAWL_EXTRA_FIELDS = ["body_markdown"]')
    if "parquet" in formats and find_spec("pyarrow") is None:
        raise SettingError('FEEDS: parquet requires pyarrow: pip install "newscrawl[parquet]"')


def validate_settings(settings: BaseSettings) -> list[str]:
    """Return a warning for each unknown ``NEWSCRAWL_*`` setting and each feed that is replaced.

    Raises ``ValueError`` naming an invalid setting.
    """
    # They import Scrapy, which extraction does without.
    from newscrawl.crawling.logs import mask_secrets  # noqa: PLC0415
    from newscrawl.exporters.feed_files import is_replaced  # noqa: PLC0415
    from newscrawl.middlewares.opt_out import ROBOTS_DIRECTIVES  # noqa: PLC0415

    warnings = check_settings(settings)
    PipelineOptions.read(settings)
    directives = setting(settings, "NEWSCRAWL_ROBOTS_DIRECTIVES")
    _check("NEWSCRAWL_ROBOTS_DIRECTIVES", directives, ROBOTS_DIRECTIVES)
    neardup_options(settings)
    replaced = (
        f"FEEDS: each crawl replaces {mask_secrets(str(uri))}; add %(time)s to its name, or "
        '"overwrite": True if that is intended'
        for uri, feed in settings.getdict("FEEDS").items()
        if is_replaced(str(uri)) and "overwrite" not in feed
    )
    return [*warnings, *replaced]
