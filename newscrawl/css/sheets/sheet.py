"""Parser of style sheets; keeps the rules that affect the appearance of text.

:func:`parse_sheet` never raises. It masks the text and scans its rules
(:mod:`~newscrawl.css.sheets.rule_scanner`). Rules under media or feature conditions that are false
are dropped. Error recovery follows CSS Syntax 3: only the invalid rule or declaration is dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.css.selectors.rule_keys import SELECTOR_SEPARATOR
from newscrawl.css.selectors.selector_compiler import SelectorError, compile_list
from newscrawl.css.sheets import scanner
from newscrawl.css.sheets.import_rules import Import, parse_import
from newscrawl.css.sheets.nesting import parent_selector, selector_list
from newscrawl.css.sheets.rule_scanner import (
    MAX_OPEN_BLOCKS,
    OpenBlock,
    RuleColumns,
    block_applies,
    item_at,
    join_selectors,
    name_and_prelude,
)
from newscrawl.css.syntax.declarations import (
    Declaration,
    block_declarations,
    has_relevant_declarations,
)
from newscrawl.css.syntax.masking import SPACE, block_end, hide_braces, rejoin_braces
from newscrawl.css.syntax.variables import RegisteredProperty

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 4
"""Version of :meth:`Sheet.to_plain`; sheets stored in another version are parsed again."""

MAX_NESTED_SELECTOR_LENGTH = 2**22
"""Maximum number of characters of expanded nested selectors in a sheet."""


class Rule(NamedTuple):
    """A style rule. Its declarations are parsed lazily, as most rules match nothing."""

    #: complex selectors, nesting resolved
    selectors: Sequence[str]
    #: masked text of the declarations
    block: str
    #: full name of the cascade layer, dotted
    layer: str | None = None
    keep_all: bool = False

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """The relevant declarations, in order."""
        return block_declarations(self.block, keep_all=self.keep_all)


@dataclass(slots=True)
class Sheet:
    """A parsed style sheet.

    Rules are stored as columns of strings: thousands of objects would burden the garbage
    collector, and few of them are ever used.
    """

    #: selectors of each rule, joined by
    #: :data:`~newscrawl.css.selectors.rule_keys.SELECTOR_SEPARATOR`
    selectors: list[str] = field(default_factory=list)
    #: masked text of each rule's declarations
    blocks: list[str] = field(default_factory=list)
    #: full name of each rule's cascade layer
    rule_layers: list[str | None] = field(default_factory=list)
    #: whether rules without relevant declarations are included
    keep_all: bool = False
    #: imports whose conditions are true
    imports: list[Import] = field(default_factory=list)
    #: full names of the layers in order of appearance; anonymous ones are "(1)", "(2)", ...
    layers: list[str] = field(default_factory=list)
    properties: list[RegisteredProperty] = field(default_factory=list)

    @property
    def rules(self) -> list[Rule]:
        """The rules, as new objects."""
        return [self.rule(number) for number in range(len(self.blocks))]

    def rule(self, number: int) -> Rule:
        """Return the rule with this index."""
        selectors = self.selectors[number].split(SELECTOR_SEPARATOR)
        return Rule(selectors, self.blocks[number], self.rule_layers[number], self.keep_all)

    @property
    def size(self) -> int:
        """Approximate number of characters held in memory."""
        return sum(map(len, self.selectors)) + sum(map(len, self.blocks))

    def to_plain(self) -> list[Any]:
        """Return the sheet as lists, strings and numbers, for JSON."""
        return [
            FORMAT,
            self.selectors,
            self.blocks,
            self.rule_layers,
            self.keep_all,
            self.imports,
            self.layers,
            self.properties,
        ]

    @classmethod
    def from_plain(cls, plain: list[Any]) -> Sheet:
        """Return the sheet from the result of :meth:`to_plain`.

        Raises ValueError if it has another version.
        """
        if not plain or plain[0] != FORMAT:
            raise ValueError(f"not a style sheet of format {FORMAT}")
        _, selectors, blocks, rule_layers, keep_all, imports, layers, properties = plain
        return cls(
            selectors,
            blocks,
            rule_layers,
            keep_all,
            [Import(*item) for item in imports],
            layers,
            [RegisteredProperty(*item) for item in properties],
        )


def parse_sheet(text: str, *, keep_all: bool = False) -> Sheet:
    """Return the rules of a style sheet that affect text; with *keep_all* every rule.

    Time and memory are linear in the length of *text*.
    """
    mask = scanner.mask_and_separate if keep_all else scanner.mask_relevant
    return _SheetParser(mask(text.removeprefix("\ufeff")), keep_all=keep_all).parse()


_PIECE = re.compile(r"([^{}]*+)([{}]|\Z)")
_PARENT_PLACEHOLDER = ":where(*)"
_LAYER_NAME = re.compile(
    r"(?:-?[^\W\d]|--|\\.)(?:[\w-]|\\.)*(?:\.(?:-?[^\W\d]|--|\\.)(?:[\w-]|\\.)*)*"
)


class _SheetParser:
    """Parser of a separated text, with a stack of open blocks."""

    def __init__(self, text: str, *, keep_all: bool) -> None:
        self._text = text
        self._keep_all = keep_all
        self._position = 0
        self._open_blocks = [OpenBlock()]
        self._rules = RuleColumns([], [], [])
        self._imports: list[Import] = []
        self._layers: dict[str, None] = {}
        self._properties: list[RegisteredProperty] = []
        self._anonymous = 0
        self._first_block = self._text.find("{")
        self._imports_allowed = True
        self._nested_budget = MAX_NESTED_SELECTOR_LENGTH

    def parse(self) -> Sheet:
        """Return the sheet."""
        while self._position < len(self._text):
            if self._open_blocks[-1].selectors is None:
                self._parse_rules()
            else:
                self._parse_block_content()
        layers, keep_all = list(self._layers), self._keep_all
        return Sheet(*self._rules, keep_all, self._imports, layers, self._properties)

    def _parse_rules(self) -> None:
        """Parse rules without nested blocks, and the item that follows them."""
        self._position = scanner.scan_rules(
            self._text, self._position, self._rules, self._open_blocks, keep_all=self._keep_all
        )
        if self._position < len(self._text):
            self._parse_item(item_at(self._text, self._position, top=len(self._open_blocks) == 1))

    def _parse_item(self, item: re.Match[str]) -> None:
        """Parse an item that :func:`~newscrawl.css.sheets.scanner.scan_rules` does not handle."""
        plain, prelude, block, at_rule, at_end, head, end = item.groups()
        self._position = item.end() if block is None else item.start(3)
        if at_rule is not None:
            self._parse_at_rule(at_rule, at_end)
        elif block is not None:
            self._open_rule(prelude if plain is None else plain)
        elif end == "{":
            self._open_rule(head[:-1])
        elif len(self._open_blocks) > 1:
            self._open_blocks.pop()
        elif end:
            self._skip_after_stray_brace()

    def _parse_block_content(self) -> None:
        """Parse declarations in a style rule, and the start or end of a block after them."""
        match = _PIECE.match(self._text, self._position)
        piece, end = match.groups()  # type: ignore[union-attr]  # matches anything
        self._position = match.end()  # type: ignore[union-attr]
        declarations, _, prelude = piece[:-1].rpartition(";") if end == "{" else (piece, "", "")
        if declarations:
            self._add_declarations(declarations)
        prelude = prelude.strip(SPACE)
        if end != "{":
            self._open_blocks.pop()
        elif prelude.startswith("@"):
            self._parse_at_rule(prelude[1:], ";{")
        elif prelude.startswith("--") and ":" in prelude:
            self._parse_custom_property(prelude)
        else:
            self._open_rule(prelude)

    def _add_declarations(self, block: str) -> None:
        """Add the declarations of a style rule before, between or after nested rules."""
        current = self._open_blocks[-1]
        if current.selectors is not None and (self._keep_all or has_relevant_declarations(block)):
            self._rules.selectors.append(join_selectors(current.selectors))
            self._rules.blocks.append(block)
            self._rules.layers.append(current.layer)

    def _open_rule(self, prelude: str) -> None:
        """Enter a style rule that contains other blocks."""
        current = self._open_blocks[-1]
        may_nest = self._nested_budget > 0 and self._is_rule_valid()
        selectors = selector_list(prelude, current.parent) if may_nest else None
        if selectors is None:
            self._skip_block()
        else:
            self._nested_budget -= sum(map(len, selectors))
            nested = current.parent is not None
            written = selector_list(prelude, _PARENT_PLACEHOLDER) or () if nested else selectors
            self._enter(OpenBlock(current.layer, selectors, parent_selector(selectors), written))

    def _is_rule_valid(self) -> bool:
        """Return whether the innermost rule is valid; an invalid one drops its nested rules.

        This needs a check of its own, as ``:is()``, which replaces "&", is forgiving.
        """
        current = self._open_blocks[-1]
        if current.valid is None:
            valid = not isinstance(compile_list(current.written), SelectorError)
            current = self._open_blocks[-1] = current._replace(valid=valid)
        return bool(current.valid)

    def _enter(self, block: OpenBlock) -> None:
        if len(self._open_blocks) < MAX_OPEN_BLOCKS:
            self._open_blocks.append(block)
        else:
            self._skip_block()

    def _parse_custom_property(self, declared: str) -> None:
        """Parse a custom property whose value contains braces."""
        start = end = self._position - 1
        while self._text.startswith("{", end):
            end = self._text.find(";", block_end(self._text, end + 1))
            end = len(self._text) if end < 0 else end
            self._position, end = end, end + 1
        value = rejoin_braces(self._text[start : self._position])
        self._add_declarations(hide_braces(declared + value))

    def _skip_block(self) -> None:
        self._position = block_end(self._text, self._position)

    def _skip_after_stray_brace(self) -> None:
        """Skip the rule that begins with a stray closing brace."""
        start = self._text.find("{", self._position)
        self._position = block_end(self._text, start + 1) if start >= 0 else len(self._text)

    def _parse_at_rule(self, rule: str, end: str) -> None:
        """Parse an at-rule, given without its "@", whose prelude ended with *end*."""
        if end == ";{":
            self._parse_at_block(rule)
        elif end == ";}" and len(self._open_blocks) > 1:
            self._open_blocks.pop()
        elif len(self._open_blocks) == 1:
            self._parse_statement(*name_and_prelude(rule))

    def _parse_at_block(self, rule: str) -> None:
        """Enter or skip the block of an at-rule."""
        applies = block_applies(rule)
        if applies:
            self._enter(self._open_blocks[-1])
            return
        if applies is False:
            self._skip_block()
            return
        start = self._position
        name, prelude = name_and_prelude(rule)
        if name == "layer":
            self._open_layer(prelude)
        else:
            self._skip_block()
            self._register_property(prelude, self._text[start : self._position])

    def _open_layer(self, name: str) -> None:
        if name and not _LAYER_NAME.fullmatch(name):
            self._skip_block()
            return
        self._enter(self._open_blocks[-1]._replace(layer=self._register_layer(name)))

    def _register_layer(self, name: str) -> str:
        """Register a layer inside the current one and return its full name."""
        if not name:
            self._anonymous += 1
            name = f"({self._anonymous})"
        outer = self._open_blocks[-1].layer
        full_name = name if outer is None else f"{outer}.{name}"
        self._layers.setdefault(full_name)
        return full_name

    def _parse_statement(self, name: str, prelude: str) -> None:
        """Parse an at-rule without a block at the top level of the sheet."""
        before_rules = self._first_block < 0 or self._position <= self._first_block
        if name == "layer":
            self._imports_allowed &= not self._imports
            names = [item.strip(SPACE) for item in prelude.split(",")]
            if all(_LAYER_NAME.fullmatch(item) for item in names):
                for item in names:
                    self._register_layer(item)
        elif name == "import" and before_rules and self._imports_allowed:
            self._register_import(prelude)

    def _register_import(self, prelude: str) -> None:
        """Register an import if it applies."""
        found = parse_import(prelude)
        if found is None:
            return
        url, layer = found
        before = len(self._layers)
        full_name = None if layer is None else self._register_layer(layer)
        self._imports.append(Import(url, full_name, before))

    def _register_property(self, name: str, block: str) -> None:
        """Register a custom property of ``@property`` (CSS Properties and Values 1, 2)."""
        found = block_declarations(hide_braces(block.removesuffix("}")), keep_all=True)
        values = {declaration.name: declaration.value for declaration in found}
        if {"syntax", "inherits"} <= values.keys() and name.startswith("--"):
            inherits = values["inherits"].lower() != "false"
            initial = values.get("initial-value")
            syntax = values["syntax"].strip("\"' ")
            self._properties.append(RegisteredProperty(name, initial, inherits, syntax))
