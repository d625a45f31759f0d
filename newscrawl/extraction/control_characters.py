"""Removal of control characters from the texts of an article."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from newscrawl.text import without_controls

if TYPE_CHECKING:
    from newscrawl.items import Article

_UNCHANGED = frozenset({"url", "evidence", "body_markdown", "body_html"})
"""Fields that are not texts of the page, and markup, whose text is cleaned before it is escaped."""


def remove_controls(article: Article) -> None:
    """Remove control characters from the text fields of *article*."""
    for field in fields(article):
        if field.name not in _UNCHANGED:
            setattr(article, field.name, _cleaned(getattr(article, field.name)))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_cleaned, value))
    if is_dataclass(value) and not isinstance(value, type):
        texts = {field.name: _cleaned(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **texts)
    return value
