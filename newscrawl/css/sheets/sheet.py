"""A style sheet as the rules that bear on how a text looks.

:func:`parse_sheet` never raises. It masks the text, then goes from kept rule to kept rule
(:mod:`~newscrawl.css.sheets.scan`). Conditions that do not hold on our screen leave nothing behind. Recovery from
errors follows CSS Syntax 3: a wrong rule or declaration is dropped alone, and counted.
"""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.css.selectors.rule_keys import END
from newscrawl.css.selectors.selectors import SelectorError, compile_list
from newscrawl.css.sheets import scanner
from newscrawl.css.sheets.import_rules import Import, parse_import
from newscrawl.css.sheets.nesting import parent_selector, selector_list
from newscrawl.css.sheets.scan import (
    DEEPEST,
    Frame,
    Rules,
    enters,
    item_at,
    joined,
    name_and_prelude,
)
from newscrawl.css.syntax.declarations import Declaration, block_declarations, is_interesting
from newscrawl.css.syntax.tokens import SPACE, block_end, hide_braces, rejoin

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 2
"""Version of :meth:`Sheet.to_plain`; sheets stored in another are parsed again."""

NESTED_SELECTORS = 2**22
"""Characters of selectors around and in nested rules, their parents written out, in a sheet."""


class Rule(NamedTuple):
    """A style rule. Its declarations are read when asked for: most rules match nothing."""

    #: complex selectors, nesting resolved
    selectors: Sequence[str]
    #: masked text of the declarations
    block: str
    #: full name of the cascade layer, dotted
    layer: str | None = None
    keep_all: bool = False

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """The kept declarations, in order."""
        return block_declarations(self.block, keep_all=self.keep_all)


class Property(NamedTuple):
    """A custom property registered with ``@property``."""

    name: str
    initial: str | None
    inherits: bool


@dataclass(slots=True)
class SheetCounts:
    """What a sheet held, and what was kept of it."""

    #: blocks, but not those of at-rules met; what such a block left out held counts
    rules: int = 0
    rules_kept: int = 0
    #: rules that are wrong; the declarations of the others are not looked at yet
    errors: int = 0


@dataclass(slots=True)
class Sheet:
    """A parsed style sheet.

    Rules are kept as columns of strings: an object for each of thousands would keep the garbage
    collector busy, and few are ever looked at.
    """

    #: selectors of each rule, :data:`~newscrawl.css.selectors.rule_keys.END` between them
    selectors: list[str] = field(default_factory=list)
    #: masked text of each rule's declarations
    blocks: list[str] = field(default_factory=list)
    #: full name of each rule's cascade layer
    rule_layers: list[str | None] = field(default_factory=list)
    #: whether the filter was off
    keep_all: bool = False
    #: sheets to import, those whose conditions do not hold left out
    imports: list[Import] = field(default_factory=list)
    #: full names of the layers in order of appearance; those without a name are "(1)", "(2)", ...
    layers: list[str] = field(default_factory=list)
    properties: list[Property] = field(default_factory=list)
    counts: SheetCounts = field(default_factory=SheetCounts)

    @property
    def rules(self) -> list[Rule]:
        """The rules, made anew each time."""
        return [self.rule(number) for number in range(len(self.blocks))]

    def rule(self, number: int) -> Rule:
        """Return the rule of a number."""
        selectors = self.selectors[number].split(END)
        return Rule(selectors, self.blocks[number], self.rule_layers[number], self.keep_all)

    @property
    def size(self) -> int:
        """Characters that it holds, roughly."""
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
            astuple(self.counts),
        ]

    @classmethod
    def from_plain(cls, plain: list[Any]) -> Sheet:
        """Return the sheet of :meth:`to_plain`.

        Raises:
            ValueError: it is of another version.

        """
        if not plain or plain[0] != FORMAT:
            raise ValueError(f"not a style sheet of format {FORMAT}")
        _, selectors, blocks, rule_layers, keep_all, imports, layers, properties, counts = plain
        return cls(
            selectors,
            blocks,
            rule_layers,
            keep_all,
            [Import(*item) for item in imports],
            layers,
            [Property(*item) for item in properties],
            SheetCounts(*counts),
        )


def parse_sheet(text: str, *, keep_all: bool = False) -> Sheet:
    """Return the rules of a style sheet that bear on text; with *keep_all* every rule.

    Time and memory are linear in the length of *text*.
    """
    return _SheetParser(scanner.separated(text.removeprefix("\ufeff")), keep_all=keep_all).parse()


_PIECE = re.compile(r"([^{}]*+)([{}]|\Z)")
_STAND_IN = ":where(*)"
_LAYER_NAME = re.compile(
    r"(?:-?[^\W\d]|--|\\.)(?:[\w-]|\\.)*(?:\.(?:-?[^\W\d]|--|\\.)(?:[\w-]|\\.)*)*"
)


class _SheetParser:
    """Walks over a separated text, a stack of open blocks at hand."""

    def __init__(self, text: str, *, keep_all: bool) -> None:
        self._text = text
        self._keep_all = keep_all
        self._position = 0
        self._frames = [Frame()]
        self._rules = Rules([], [], [])
        self._imports: list[Import] = []
        self._layers: dict[str, None] = {}
        self._properties: list[Property] = []
        self._errors = 0
        self._at_blocks = 0
        self._anonymous = 0
        self._first_block = self._text.find("{")
        self._imports_allowed = True
        self._nested_room = NESTED_SELECTORS

    def parse(self) -> Sheet:
        """Return the sheet."""
        while self._position < len(self._text):
            if self._frames[-1].selectors is None:
                self._take_rules()
            else:
                self._take_piece()
        blocks = self._text.count("{") - self._at_blocks
        counts = SheetCounts(blocks, len(self._rules.blocks), self._errors)
        layers, keep_all = list(self._layers), self._keep_all
        return Sheet(*self._rules, keep_all, self._imports, layers, self._properties, counts)

    def _take_rules(self) -> None:
        """Take rules without nested blocks, and the first thing that is something else."""
        self._position, errors, at_blocks = scanner.take_rules(
            self._text, self._position, self._rules, self._frames, keep_all=self._keep_all
        )
        self._errors += errors
        self._at_blocks += at_blocks
        if self._position < len(self._text):
            self._take_other(item_at(self._text, self._position, top=len(self._frames) == 1))

    def _take_other(self, item: re.Match[str]) -> None:
        """Take what is no rule without nested blocks."""
        plain, prelude, block, at_rule, at_end, head, end = item.groups()
        self._position = item.end() if block is None else item.start(3)
        if at_rule is not None:
            self._at_rule(at_rule, at_end)
        elif block is not None:
            self._open_rule(prelude if plain is None else plain)
        elif end == "{":
            self._open_rule(head[:-1])
        elif len(self._frames) > 1:
            self._frames.pop()
        elif end:
            self._skip_after_stray_brace()

    def _take_piece(self) -> None:
        """Take declarations in a style rule, and what begins or ends after them."""
        match = _PIECE.match(self._text, self._position)
        piece, end = match.groups()  # type: ignore[union-attr]  # matches anything
        self._position = match.end()  # type: ignore[union-attr]
        declarations, _, prelude = piece[:-1].rpartition(";") if end == "{" else (piece, "", "")
        if declarations:
            self._add_part(declarations)
        prelude = prelude.strip(SPACE)
        if end != "{":
            self._frames.pop()
        elif prelude.startswith("@"):
            self._at_rule(prelude[1:], ";{")
        elif prelude.startswith("--") and ":" in prelude:
            self._custom_property(prelude)
        else:
            self._open_rule(prelude)

    def _add_part(self, block: str) -> None:
        """Keep the part of a style rule that stands before, between or after nested ones."""
        frame = self._frames[-1]
        if frame.selectors is not None and (self._keep_all or is_interesting(block)):
            self._rules.selectors.append(joined(frame.selectors))
            self._rules.blocks.append(block)
            self._rules.layers.append(frame.layer)

    def _open_rule(self, prelude: str) -> None:
        """Enter a style rule that holds other blocks."""
        frame = self._frames[-1]
        open_to_rules = self._nested_room > 0 and self._may_hold_rules()
        selectors = selector_list(prelude, frame.parent) if open_to_rules else None
        if selectors is None:
            self._errors += 1
            self._skip_block()
        else:
            self._nested_room -= sum(map(len, selectors))
            nested = frame.parent is not None
            written = selector_list(prelude, _STAND_IN) or () if nested else selectors
            self._enter(Frame(frame.layer, selectors, parent_selector(selectors), written))

    def _may_hold_rules(self) -> bool:
        """Return whether the innermost rule is valid: a wrong selector drops what is nested, too.

        ``:is()``, which "&" becomes, would forgive it.
        """
        frame = self._frames[-1]
        if frame.valid is None:
            valid = not isinstance(compile_list(frame.written), SelectorError)
            frame = self._frames[-1] = frame._replace(valid=valid)
        return bool(frame.valid)

    def _enter(self, frame: Frame) -> None:
        if len(self._frames) < DEEPEST:
            self._frames.append(frame)
        else:
            self._errors += 1
            self._skip_block()

    def _custom_property(self, declared: str) -> None:
        """Take a custom property whose value holds braces."""
        start = end = self._position - 1
        while self._text.startswith("{", end):
            end = self._text.find(";", block_end(self._text, end + 1))
            end = len(self._text) if end < 0 else end
            self._position, end = end, end + 1
        value = rejoin(self._text[start : self._position])
        self._add_part(hide_braces(declared + value))

    def _skip_block(self) -> None:
        self._position = block_end(self._text, self._position)

    def _skip_after_stray_brace(self) -> None:
        """Leave out the rule that begins with a stray closing brace."""
        self._errors += 1
        start = self._text.find("{", self._position)
        self._position = block_end(self._text, start + 1) if start >= 0 else len(self._text)

    def _at_rule(self, rule: str, end: str) -> None:
        """Take an at-rule, given without its "@", up to what ended its prelude."""
        if end == ";{":
            self._at_blocks += 1
            self._at_block(rule)
        elif end == ";}" and len(self._frames) > 1:
            self._frames.pop()
        elif len(self._frames) == 1:
            self._statement(*name_and_prelude(rule))

    def _at_block(self, rule: str) -> None:
        """Enter the block of an at-rule, or leave it out."""
        entered = enters(rule)
        if entered:
            self._enter(self._frames[-1])
            return
        if entered is False:
            self._skip_block()
            return
        start = self._position
        name, prelude = name_and_prelude(rule)
        if name == "layer":
            self._layer_block(prelude)
        else:
            self._skip_block()
            self._register(prelude, self._text[start : self._position])

    def _layer_block(self, name: str) -> None:
        if name and not _LAYER_NAME.fullmatch(name):
            self._errors += 1
            self._skip_block()
            return
        self._enter(self._frames[-1]._replace(layer=self._layer(name)))

    def _layer(self, name: str) -> str:
        """Return the full name of a layer, listed with those around it."""
        if not name:
            self._anonymous += 1
            name = f"({self._anonymous})"
        around = self._frames[-1].layer
        full = name if around is None else f"{around}.{name}"
        self._layers.setdefault(full)
        return full

    def _statement(self, name: str, prelude: str) -> None:
        """Take an at-rule without a block, at the top of the sheet."""
        early = self._first_block < 0 or self._position <= self._first_block
        if name == "layer":
            self._imports_allowed &= not self._imports
            names = [item.strip(SPACE) for item in prelude.split(",")]
            if all(_LAYER_NAME.fullmatch(item) for item in names):
                for item in names:
                    self._layer(item)
        elif name == "import" and early and self._imports_allowed:
            self._import(prelude)

    def _import(self, prelude: str) -> None:
        """Take an import that applies."""
        found = parse_import(prelude)
        if found is None:
            return
        url, layer = found
        before = len(self._layers)
        full = None if layer is None else self._layer(layer)
        self._imports.append(Import(url, full, before))

    def _register(self, name: str, block: str) -> None:
        """Take a registered custom property (CSS Properties and Values 1, 2)."""
        found = block_declarations(hide_braces(block.removesuffix("}")), keep_all=True)
        values = {declaration.name: declaration.value for declaration in found}
        if {"syntax", "inherits"} <= values.keys() and name.startswith("--"):
            inherits = values["inherits"].lower() != "false"
            initial = values.get("initial-value")
            self._properties.append(Property(name, initial, inherits))
