"""The scan of a sheet's rules: from kept rule to kept rule.

In Python here, where one regular expression passes over rules that set nothing of interest (seven
in ten, thesis 3.1), and compiled in ``_scan.pyx``. Both take the same rules; this one is the
reference.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.css.selectors.rule_keys import END
from newscrawl.css.sheets.nesting import PLAIN, plain_list, selector_list
from newscrawl.css.sheets.supports import supported
from newscrawl.css.syntax.declarations import START
from newscrawl.css.syntax.media_queries import media_applies
from newscrawl.css.syntax.tokens import SPACE, block_end, unmask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


DEEPEST = 100
"""Blocks in one another; what is deeper is left out."""


class Frame(NamedTuple):
    """A block that is open: its layer, and in a style rule the selectors around."""

    layer: str | None = None
    selectors: list[str] | None = None
    #: what "&" stands for
    parent: str | None = None
    #: its selectors with a stand-in for "&"
    written: Sequence[str] = ()
    #: whether those are valid, None until a nested rule asks
    valid: bool | None = None


class Rules(NamedTuple):
    """The rules met, in columns as in :class:`~newscrawl.css.sheets.sheet.Sheet`."""

    selectors: list[str]
    blocks: list[str]
    layers: list[str | None]


class Taken(NamedTuple):
    """How far a scan came."""

    #: where something else begins, or the text ends
    position: int
    #: rules without valid selectors
    errors: int
    #: blocks of at-rules, entered or passed over
    at_blocks: int


# All of a separated text: there is a semicolon before each brace.
_S = rf"[{SPACE}]*+"
# Comment signs of HTML are nothing between the rules of a sheet, but not in a block.
_TOP_GAP, _BLOCK_GAP = rf"(?:[{SPACE}]++|<!--|-->)*+", _S


def _item(gap: str) -> str:
    """Return the pattern of the next rule, at-rule or other piece."""
    return (
        rf"{gap}(?:(?!@)(?:({PLAIN})|([^;]*+));\{{([^}}]*+)(?:\}}|\Z)"
        r"|@([^;]*+)(;[{}]?+|\Z)"
        r"|([^{}]*+)([{}]|\Z))"
    )


def _kept_item(gap: str) -> str:
    """Return the pattern of the next piece but rules that are of no interest."""
    dull = rf"(?:{gap}(?!@)[^;]*+;\{{(?:(?!\}}|{START})[^;]*+;(?!\{{))*+\}})*+"
    return dull + _item(gap)


_ITEM, _BLOCK_ITEM = re.compile(_item(_TOP_GAP)), re.compile(_item(_BLOCK_GAP))
_KEPT_ITEM, _KEPT_BLOCK_ITEM = re.compile(_kept_item(_TOP_GAP)), re.compile(_kept_item(_BLOCK_GAP))
_AT_NAME = re.compile(r"[\w-]*+")


def take_rules(
    text: str, position: int, rules: Rules, frames: list[Frame], *, keep_all: bool
) -> Taken:
    """Add the rules from *position* on to *rules*, as long as they hold no other blocks.

    *text* is a separated one (:func:`~newscrawl.css.syntax.tokens.separate`), *frames* are the blocks
    that are open, none of them a style rule's. Blocks of at-rules that :func:`enters` knows are
    entered, and left, or passed over.
    """
    add_selectors, add_block = rules.selectors.append, rules.blocks.append
    add_layer = rules.layers.append
    errors = at_blocks = 0
    match, layer = _next_item(frames, keep_all=keep_all)
    while position < len(text):
        item: Any = match(text, position)  # matches anything
        plain, prelude, block = item.group(1, 2, 3)
        if block is None:
            entered = enters(item[4]) if item[5] == ";{" else None
            if entered is False:
                at_blocks += 1
                position = block_end(text, item.end())
                continue
            if entered and len(frames) < DEEPEST:
                at_blocks += 1
                frames.append(frames[-1])
            elif item[7] == "}" and len(frames) > 1:
                frames.pop()
            else:
                return Taken(_start(item), errors, at_blocks)
            position = item.end()
            match, layer = _next_item(frames, keep_all=keep_all)
            continue
        if "{" in block:
            return Taken(_start(item), errors, at_blocks)
        position = item.end()
        selectors = any_list(prelude) if plain is None else plain_list(plain)
        if selectors:
            add_selectors(selectors)
            add_block(block)
            add_layer(layer)
        else:
            errors += 1
    return Taken(position, errors, at_blocks)


def _next_item(
    frames: list[Frame], *, keep_all: bool
) -> tuple[Callable[[str, int], re.Match[str] | None], str | None]:
    """Return what matches the next item in the innermost block, and the block's layer."""
    top = len(frames) == 1
    every, kept = (_ITEM, _KEPT_ITEM) if top else (_BLOCK_ITEM, _KEPT_BLOCK_ITEM)
    return (every if keep_all else kept).match, frames[-1].layer


def _start(item: re.Match[str]) -> int:
    """Return where *item* begins, what is passed over before it left out."""
    start = max(item.start(1), item.start(2), item.start(6))
    return item.start(4) - 1 if start < 0 else start


def item_at(text: str, position: int, *, top: bool) -> re.Match[str]:
    """Return the rule, at-rule or other piece that begins at *position*.

    Groups: prelude of a rule (``PLAIN``, or another) and its block up to the first ``}``; an
    at-rule without its "@" and what ends its prelude; another piece and the brace after it.
    """
    return (_ITEM if top else _BLOCK_ITEM).match(text, position)  # type: ignore[return-value]


def any_list(prelude: str) -> str:
    """Return the complex selectors of a prelude outside of style rules, as a sheet keeps them.

    "" where one is wrong.
    """
    return joined(selector_list(prelude))


def joined(selectors: Sequence[str] | None) -> str:
    """Return selectors as a sheet keeps them, "" for none."""
    return END.join(selectors or ())


def name_and_prelude(rule: str) -> tuple[str, str]:
    """Return the name of an at-rule, in lower case, and its prelude as it was written."""
    name = _AT_NAME.match(rule)[0]  # type: ignore[index]  # matches anything
    return name.lower(), unmask(rule[len(name) :].strip(SPACE))


@lru_cache(maxsize=1024)
def enters(rule: str) -> bool | None:
    """Return whether the rules in an at-rule's block apply; None where that is another question."""
    name, prelude = name_and_prelude(rule)
    if name == "media":
        return media_applies(prelude)
    if name == "supports":
        return supported(prelude)
    return None if name in {"layer", "property"} else False
