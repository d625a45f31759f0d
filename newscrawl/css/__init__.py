"""CSS engine: the computed style of the text on a page, without a browser."""

from __future__ import annotations

from newscrawl.css.cascade.computed_values import ComputedStyle
from newscrawl.css.cascade.style import Stylesheets
from newscrawl.css.values.colors import Color

__all__ = ["Color", "ComputedStyle", "Stylesheets"]
