"""Default style sheet of Chromium, and presentational hints of HTML attributes.

https://html.spec.whatwg.org/multipage/rendering.html
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from newscrawl.css.values.colors import parse_legacy_color
from newscrawl.css.values.fonts import FontSize, parse_families

if TYPE_CHECKING:
    from lxml import etree

    from newscrawl.css.values.declared_values import Value

UA_SHEET = """
area, audio:not([controls]), base, basefont, datalist, dialog:not([open]), head, link, meta,
noembed, noframes, noscript, param, rp, script, style, template, title, input[type="hidden" i] {
  display: none
}
address, cite, dfn, em, i, var { font-style: italic }
b, strong { font-weight: bolder }
th, h1, h2, h3, h4, h5, h6 { font-weight: bold }
h1 { font-size: 2em }
h2 { font-size: 1.5em }
h3 { font-size: 1.17em }
h5 { font-size: .83em }
h6 { font-size: .67em }
code, kbd, listing, plaintext, pre, samp, tt, xmp { font-family: monospace }
big { font-size: larger }
small, sub, sup { font-size: smaller }
ruby > rt { font-size: 50% }
a:any-link, area:any-link { color: -webkit-link }
mark { color: marktext }
dialog { color: canvastext }
hr { color: gray }
button, input, select, textarea { font: -webkit-small-control; color: fieldtext }
button { color: buttontext }
textarea { font-family: monospace }
input:disabled, textarea:disabled { color: #545454 }
select:disabled, optgroup:disabled,
select:is([multiple], [size]:not([size=""], [size="0"], [size="1"])) option:disabled {
  color: graytext
}
button:disabled, input:is([type="submit" i], [type="reset" i], [type="button" i]):disabled {
  color: rgba(16, 16, 16, .3)
}
optgroup { font-weight: bolder }
option { font-weight: normal }
"""

QUIRKS_SHEET = """
table { font-weight: normal; font-size: medium; font-style: normal }
"""
"""Additional rules in quirks mode."""

_SIZE = re.compile(r"[ \t\n\f\r]*([+-]?)(\d+)")

Hints = tuple[tuple[str, "Value"], ...]
"""(property, value) of presentational hints: author declarations before all sheets."""


def presentational_hints(tag: str, element: etree._Element) -> Hints:
    """Return the presentational hints of *element*."""
    hints: list[tuple[str, Value]] = []
    if tag == "font":
        hints += _font(element)
    elif tag == "body" and (color := parse_legacy_color(element.get("text", ""))):
        hints.append(("color", color))
    hidden = element.get("hidden")
    if (hidden is not None and hidden.lower() != "until-found") or _closed_popover(element):
        hints.append(("display", True))
    return tuple(hints)


def _closed_popover(element: etree._Element) -> bool:
    return element.get("popover") is not None and element.get("open") is None


def _font(element: etree._Element) -> list[tuple[str, Value]]:
    hints: list[tuple[str, Value]] = []
    if (color := parse_legacy_color(element.get("color", ""))) is not None:
        hints.append(("color", color))
    if (size := legacy_font_size(element.get("size", ""))) is not None:
        hints.append(("font-size", size))
    if (families := parse_families(element.get("face", ""))) is not None:
        hints.append(("font-family", families))
    return hints


def legacy_font_size(text: str) -> FontSize | None:
    """Return the size of ``<font size>``: seven steps, of which the third is medium.

    https://html.spec.whatwg.org/#rules-for-parsing-a-legacy-font-size
    """
    found = _SIZE.match(text)
    if found is None:
        return None
    step = min(int(found[2][:9]), 99)
    if found[1]:
        step = 3 + step if found[1] == "+" else 3 - step
    return FontSize("keyword", max(1, min(7, step)))
