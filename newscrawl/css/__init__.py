"""Computed style of a page's text, without a browser."""

from __future__ import annotations

from newscrawl.css.cascade.computed import ComputedStyle
from newscrawl.css.cascade.style import Stylesheets
from newscrawl.css.values.colors import Color

__all__ = ["Color", "ComputedStyle", "Stylesheets"]
