"""Rules for the tree of a page: those of libxml2 2.14, which precede HTML5.

Found with all pairs of tags, and compared with that version of the parser by the tests. Older
versions have another tokenizer and build other trees of old markup.
"""

from __future__ import annotations

LIBXML_VERSION = (2, 14)
"""Version of libxml2 with the same rules."""

VOID = frozenset(
    {"area", "base", "basefont", "br", "col", "frame", "hr", "img", "input", "isindex", "link", "meta",
     "param"}
)  # fmt: skip
"""Elements without content."""

RCDATA = ("textarea", "title")
"""Elements that contain text and references."""

RAWTEXT = ("iframe", "noembed", "noframes", "style", "xmp")
"""Elements that contain text; so does ``script``, with rules of its own."""

OF_HEAD = ("base", "link", "meta", "script", "style", "title")
"""Elements that imply a ``head``."""

OF_FRAMESET = ("frame", "frameset", "noframes")
"""Elements that imply no ``body``."""

PRIORITIES = {
    "div": 150, "td": 160, "th": 160, "tr": 170, "thead": 180, "tbody": 180, "tfoot": 180,
    "table": 190, "head": 200, "body": 200, "html": 220,
}  # fmt: skip
"""An end tag closes elements up to its own priority; that of other elements is 100."""

BOOLEAN = frozenset(
    {"checked", "compact", "declare", "defer", "disabled", "ismap", "multiple", "nohref", "noresize",
     "noshade", "nowrap", "readonly", "selected"}
)  # fmt: skip
"""Attributes that have their name as the value if they are without one."""

_HEADING = "fieldset form li p table"
CLOSED_BY = {
    name: frozenset(others.split())
    for name, others in {
        "a": "a fieldset table td th",
        "address": "dd dl dt form li ul",
        "b": "center p td th",
        "big": "p",
        "caption": "col colgroup tbody tfoot thead tr",
        "colgroup": "colgroup tbody tfoot thead tr",
        "dd": "dt",
        "dir": "dd dl dt form ul",
        "dl": "form li",
        "dt": "dd dl",
        "font": "center td th",
        "form": "form",
        **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _HEADING),
        "head": (
            "a abbr acronym address b bdo big blockquote body br center cite code dd dfn dir div dl dt"
            " em fieldset font form frameset h1 h2 h3 h4 h5 h6 hr i iframe img kbd li listing map menu"
            " ol p pre q s samp small span strike strong sub sup table tt u ul var xmp"
        ),
        "i": "center p td th",
        "legend": "fieldset",
        "li": "li",
        "listing": "dd dl dt fieldset form li table ul",
        "menu": "dd dl dt form ul",
        "ol": "form",
        "option": "optgroup option",
        "p": (
            "address blockquote body caption center col colgroup dd dir div dl dt fieldset form frameset"
            " h1 h2 h3 h4 h5 h6 head hr li listing menu ol p pre table tbody td tfoot th title tr ul xmp"
        ),
        "pre": "dd dl dt fieldset form li table ul",
        "s": "p",
        "small": "p",
        "span": "td th",
        "strike": "p",
        "tbody": "tbody tfoot",
        "td": "tbody td tfoot th tr",
        "tfoot": "tbody",
        "th": "tbody td tfoot th tr",
        "thead": "tbody tfoot",
        "tr": "tbody tfoot tr",
        "tt": "p",
        "u": "p td th",
        "ul": "address form menu pre",
    }.items()
}
"""Element -> elements whose start tag closes it."""
