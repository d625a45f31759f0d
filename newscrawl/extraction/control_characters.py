"""Removal of control characters from the texts of an article."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from operator import is_
from typing import Any

from newscrawl.items import Article
from newscrawl.text import without_controls

_UNCHANGED = frozenset({"evidence", "body_markdown", "body_html"})
"""Names of sources, and markup, whose text is cleaned before it is escaped."""
_FIELDS = tuple(field.name for field in fields(Article) if field.name not in _UNCHANGED)


def remove_controls(article: Article) -> None:
    """Remove control characters from the text fields of *article*."""
    for name in _FIELDS:
        value = getattr(article, name)
        if value and (cleaned := _cleaned(value)) is not value:
            setattr(article, name, cleaned)


def _cleaned(value: Any) -> Any:
    """Return *value* with clean texts; itself if they are clean."""
    if isinstance(value, str):
        return value if value.isprintable() else without_controls(value)
    if isinstance(value, list | tuple):
        parts = list(map(_cleaned, value))
        unchanged = all(map(is_, parts, value))
        return value if unchanged else type(value)(parts)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for name in value.__dataclass_fields__:
            text = getattr(value, name)
            if text and (cleaned := _cleaned(text)) is not text:
                changed[name] = cleaned
        return replace(value, **changed) if changed else value
    return value
