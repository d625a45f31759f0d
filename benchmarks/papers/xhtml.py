"""Conversion of pages to clean XHTML: the preprocessing of CoreEx R6 (section 3.2, 3)."""

from __future__ import annotations

import re

from newscrawl.document.encoding import to_utf8

# R5 removes scripts by a regular expression before the page is parsed (section 3.2, 2).
_SCRIPT = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


def clean_xhtml(html: bytes) -> str:
    """Return the page without scripts, parsed and serialised by html5lib with all tags closed.

    The paper used TagSoup. Needs the extra ``train``.
    """
    import html5lib  # noqa: PLC0415  # in an extra

    utf8, _, _ = to_utf8(html, None)
    page = _SCRIPT.sub(" ", utf8.decode(errors="replace"))
    tree = html5lib.parse(page, treebuilder="etree", namespaceHTMLElements=False)
    clean: str = html5lib.serialize(
        tree, tree="etree", omit_optional_tags=False, quote_attr_values="always"
    )
    return clean
