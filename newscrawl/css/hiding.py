"""Rules that may hide text, found without parsing: mostly, no style is needed to exclude it."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from newscrawl.css.parser import SPACE, Sheet
from newscrawl.css.selectors import (
    MAX_SELECTOR_LENGTH,
    MAX_STEPS,
    Selector,
    StyleTree,
    compile_selector,
    index_rules,
    names_of,
)
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from newscrawl.css.parser import Rule, RuleIndex
    from newscrawl.css.sheet_store import SheetStore
    from newscrawl.document.document import Document

# A colon between the last letters of a property, or a space, and a value that hides. The first
# two tests reject most; other properties with these values are rare.
_HIDING = lazy_regex(
    rf":(?<=[yteph{SPACE}]:)(?=[{SPACE}]*+[nhcvri01.-])(?:"
    # display, visibility
    rf"(?<=[aty{SPACE}][y{SPACE}]:)(?=[{SPACE}]*+(?:none|hidden|collapse|var\())"
    # left, top, text-indent, clip, clip-path
    rf"|(?=[{SPACE}]*+(?:-\d{{3}}|(?:rect|inset|circle)\())"
    # font, font-size
    rf"|(?<=[nzte{SPACE}][te{SPACE}]:)(?<!ne:)"
    rf"(?=[{SPACE}]*+(?:0?\.\d++|[01])(?:px)?[{SPACE}]*+(?:[;!/}}]|$))"
    # opacity, height
    rf"|(?<=[ty{SPACE}][y{SPACE}]:)(?=[{SPACE}]*+0(?![.\d])[^{{}}]{{0,200}}height[{SPACE}]*+:[{SPACE}]*+0)"
    rf"|(?<=[ht{SPACE}][t{SPACE}]:)(?=[{SPACE}]*+0[^{{}}]{{0,200}}opacity[{SPACE}]*+:[{SPACE}]*+0(?![.\d])))"
)
_COMMENT = lazy_regex(r"/\*.*?(?:\*/|\Z)", re.DOTALL)


def _rules_in(css: str) -> Iterator[Rule]:
    """Yield selectors of the rules of a sheet that have a hiding declaration."""
    last = 0
    for place in map(re.Match.start, _HIDING.finditer(css)):
        opened, closed = css.rfind("{", last, place), css.rfind("}", last, place)
        if opened < 0 and closed < 0:
            continue  # another declaration of the same rule
        last = place
        first = max(0, opened - MAX_SELECTOR_LENGTH)
        start = max(css.rfind(mark, first, opened) for mark in "{};")
        prelude = css[start + 1 : opened]
        if prelude.rfind("/*") > prelude.rfind("*/"):
            continue  # in a comment
        selectors = _COMMENT.sub("", prelude).rpartition("*/")[2]
        selectors = selectors.replace("&", "").strip(SPACE + ">+~")
        is_plain = closed <= opened and selectors[:1] != "@"  # not after or in a nested rule
        yield selectors if is_plain and selectors else "*", "", ""


def hiding_selectors(sheet: Sheet | str) -> RuleIndex:
    """Return the selectors of *sheet* that may hide text, by a name of their subject."""
    if isinstance(sheet, str):
        return _selectors_in(sheet)
    if sheet.hiding is None:
        rules = (f"{selectors}{{{block}}}" for selectors, block, _ in sheet.rules)
        sheet.hiding = _selectors_in("".join(rules))
    return sheet.hiding


@lru_cache(128)  # pages of a site share most of theirs
def _selectors_in(css: str) -> RuleIndex:
    return index_rules(list(_rules_in(css)))


class _NamesTree(StyleTree):
    """The elements by tag, id and classes."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._ids, self._classes = document.attributes["id"], document.attributes["class"]

    def names_of(self, row: int) -> frozenset[str]:
        found = self.names.get(row)
        if found is None:
            own = self.tag[row], self._ids.get(row), self._classes.get(row)
            found = self.names[row] = names_of(*own, (), row == 0)
        return found

    def selector(self, text: str) -> Selector | None:
        """Return the selector *text* if it may match, by its names. One with attributes does not.

        They are of images and controls, states of panels, or of text hidden by an attribute.
        """
        selector = None if "[" in text else compile_selector(text)
        self.steps += len(text) >> 4
        return selector if selector and selector.required <= self._page_names else None

    @cached_property
    def _page_names(self) -> frozenset[str]:
        """The names of all elements."""
        ids, classes = set(self._ids.values()), " ".join(set(self._classes.values()))
        named = [f"#{name}" for name in ids] + [f".{name}" for name in set(classes.split())]
        return frozenset([*set(self.tag), *named, ":root"])


def may_hide(
    document: Document, sheets: Iterable[Sheet | str], rows: Iterable[int], store: SheetStore
) -> bool:
    """Return whether a rule of *sheets* may hide one of the elements *rows*.

    A sheet is only parsed if one of its rules matches, which may be for another medium.
    """
    sheets = [sheet for sheet in sheets if hiding_selectors(sheet)]
    if not sheets:
        return False
    tree, alike = _NamesTree(document), defaultdict(list)
    named: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        alike[tree.names_of(row)].append(row)
    for names, found in alike.items():
        for name in (*names, "*"):
            named[name] += found
    return any(
        _hides(sheet, named, tree)
        and (isinstance(sheet, Sheet) or _hides(store.parsed(sheet), named, tree))
        for sheet in sheets
    )


def _hides(sheet: Sheet | str, named: Mapping[str, Sequence[int]], tree: _NamesTree) -> bool:
    selectors = hiding_selectors(sheet)
    return any(
        tree.steps > MAX_STEPS or selector.matches(row, tree)
        for name in selectors.keys() & named.keys()
        for text, _ in selectors[name]
        if (selector := tree.selector(text)) is not None
        for row in named[name]
    )
