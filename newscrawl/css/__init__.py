"""Computed style of a page's text, without a browser."""

from __future__ import annotations

from newscrawl.css.colors import Color
from newscrawl.css.computed import ComputedStyle
from newscrawl.css.style import Stylesheets

__all__ = ["Color", "ComputedStyle", "Stylesheets"]
