"""Scanner of the rules in a style sheet.

One regular expression skips rules without relevant declarations, most of a sheet (thesis 3.1).
This is the reference implementation of ``_rule_scanner.pyx``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.css.selectors.rule_keys import SELECTOR_SEPARATOR
from newscrawl.css.sheets.nesting import PLAIN, plain_selector_list, selector_list
from newscrawl.css.sheets.supports import condition_supported
from newscrawl.css.syntax.declarations import RELEVANT_START
from newscrawl.css.syntax.masking import SPACE, block_end, unmask
from newscrawl.css.syntax.media_queries import media_applies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_OPEN_BLOCKS = 100
"""Maximum nesting of blocks; deeper ones are skipped."""


class OpenBlock(NamedTuple):
    """An open block: its layer and, for a style rule, its selectors."""

    layer: str | None = None
    selectors: list[str] | None = None
    #: replacement of "&" in nested rules
    parent: str | None = None
    #: the rule's own selectors, with a placeholder for "&"
    written: Sequence[str] = ()
    #: whether those are valid, None until a nested rule needs it
    valid: bool | None = None


class RuleColumns(NamedTuple):
    """Scanned rules, in columns as in :class:`~newscrawl.css.sheets.sheet.Sheet`."""

    selectors: list[str]
    blocks: list[str]
    layers: list[str | None]


# These patterns match separated text: there is a semicolon before each brace.
_S = rf"[{SPACE}]*+"
# HTML comment delimiters are ignored between the rules of a sheet, but not inside a block.
_TOP_GAP, _BLOCK_GAP = rf"(?:[{SPACE}]++|<!--|-->)*+", _S


def _item(gap: str) -> str:
    """Return the pattern of the next rule, at-rule or other construct."""
    return (
        rf"{gap}(?:(?!@)(?:({PLAIN})|([^;]*+));\{{([^}}]*+)(?:\}}|\Z)"
        r"|@([^;]*+)(;[{}]?+|\Z)"
        r"|([^{}]*+)([{}]|\Z))"
    )


def _relevant_item(gap: str) -> str:
    """Return the pattern of the next item after rules without relevant declarations."""
    irrelevant = rf"(?:{gap}(?!@)[^;]*+;\{{(?:(?!\}}|{RELEVANT_START})[^;]*+;(?!\{{))*+\}})*+"
    return irrelevant + _item(gap)


_ITEM, _BLOCK_ITEM = re.compile(_item(_TOP_GAP)), re.compile(_item(_BLOCK_GAP))
_RELEVANT_ITEM = re.compile(_relevant_item(_TOP_GAP))
_RELEVANT_BLOCK_ITEM = re.compile(_relevant_item(_BLOCK_GAP))
_AT_NAME = re.compile(r"[\w-]*+")


def scan_rules(
    text: str, position: int, rules: RuleColumns, open_blocks: list[OpenBlock], *, keep_all: bool
) -> int:
    """Add the rules from *position* on to *rules*, up to a rule with nested blocks.

    *text* must be separated (:func:`~newscrawl.css.syntax.masking.separate_braces`); none of
    *open_blocks* is that of a style rule. Blocks of at-rules that :func:`block_applies` can decide
    are entered or skipped.

    Return the start of the first item left to the caller, or the end of the text.
    """
    add_selectors, add_block = rules.selectors.append, rules.blocks.append
    add_layer = rules.layers.append
    match, layer = _next_item(open_blocks, keep_all=keep_all)
    while position < len(text):
        item: Any = match(text, position)  # matches anything
        plain, prelude, block = item.group(1, 2, 3)
        if block is None:
            applies = block_applies(item[4]) if item[5] == ";{" else None
            if applies is False:
                position = block_end(text, item.end())
                continue
            if applies and len(open_blocks) < MAX_OPEN_BLOCKS:
                open_blocks.append(open_blocks[-1])
            elif item[7] == "}" and len(open_blocks) > 1:
                open_blocks.pop()
            else:
                return _start(item)
            position = item.end()
            match, layer = _next_item(open_blocks, keep_all=keep_all)
            continue
        if "{" in block:
            return _start(item)
        position = item.end()
        selectors = masked_selector_list(prelude) if plain is None else plain_selector_list(plain)
        if selectors:
            add_selectors(selectors)
            add_block(block)
            add_layer(layer)
    return position


def _next_item(
    open_blocks: list[OpenBlock], *, keep_all: bool
) -> tuple[Callable[[str, int], re.Match[str] | None], str | None]:
    """Return the matcher of the next item in the innermost block, and the block's layer."""
    top = len(open_blocks) == 1
    every, relevant = (_ITEM, _RELEVANT_ITEM) if top else (_BLOCK_ITEM, _RELEVANT_BLOCK_ITEM)
    return (every if keep_all else relevant).match, open_blocks[-1].layer


def _start(item: re.Match[str]) -> int:
    """Return the start of *item*, without the skipped text before it."""
    start = max(item.start(1), item.start(2), item.start(6))
    return item.start(4) - 1 if start < 0 else start


def item_at(text: str, position: int, *, top: bool) -> re.Match[str]:
    """Return the match of the item that begins at *position*.

    Groups: prelude of a rule (1: ``PLAIN``, 2: any other), 3: its block up to the first ``}``;
    4: an at-rule without its "@", 5: the end of its prelude; 6: other text, 7: the brace after it.
    """
    return (_ITEM if top else _BLOCK_ITEM).match(text, position)  # type: ignore[return-value]


def masked_selector_list(prelude: str) -> str:
    """Return the joined selectors of a prelude outside of style rules, "" if one is invalid."""
    return join_selectors(selector_list(prelude))


def join_selectors(selectors: Sequence[str] | None) -> str:
    """Return selectors joined for storage in a sheet, "" for none."""
    return SELECTOR_SEPARATOR.join(selectors or ())


def name_and_prelude(rule: str) -> tuple[str, str]:
    """Return the name of an at-rule in lower case, and its unmasked prelude."""
    name = _AT_NAME.match(rule)[0]  # type: ignore[index]  # matches anything
    return name.lower(), unmask(rule[len(name) :].strip(SPACE))


@lru_cache(maxsize=1024)
def block_applies(rule: str) -> bool | None:
    """Return whether the rules in an at-rule apply, None for rules that need the parser."""
    name, prelude = name_and_prelude(rule)
    if name == "media":
        return media_applies(prelude)
    if name == "supports":
        return condition_supported(prelude)
    return None if name in {"layer", "property"} else False
