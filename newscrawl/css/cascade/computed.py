"""Computed values: from what was declared for an element and its parent's style to its own.

https://drafts.csswg.org/css-cascade-5/#computed
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from newscrawl.css.syntax.variables import Scope, Variables, substitute
from newscrawl.css.values.colors import BLACK, Color, parse_color
from newscrawl.css.values.fonts import (
    INITIAL_SIZE,
    Families,
    FontSize,
    UsedSize,
    adapt_to_family,
    compute_font_size,
    relative_weight,
)
from newscrawl.css.values.values import (
    INHERITED,
    Named,
    PendingValue,
    Value,
    Wide,
    parse_value,
    parse_wide,
)

if TYPE_CHECKING:
    from newscrawl.css.cascade.cascade import Declared

BOLD = 600
"""Weights from here on are bold."""

INITIAL_FAMILIES = Families(("times new roman",))
_WHITE = Color(255, 255, 255)


@dataclass(frozen=True, slots=True)
class ComputedStyle:
    """How a text looks."""

    #: size of the font in px
    font_size: float
    #: 1..1000, 400 is normal
    font_weight: float
    #: names in lower case, the first choice first
    font_family: tuple[str, ...]
    #: ``normal``, ``italic`` or ``oblique``
    font_style: str
    #: of the text
    color: Color
    #: whether the element or one around it is not displayed at all
    display_none: bool
    #: ``visibility``
    visible: bool

    @property
    def bold(self) -> bool:
        """Whether the weight is 600 or more."""
        return self.font_weight >= BOLD


class Computed:
    """The computed values of an element, with what only its children's depend on."""

    __slots__ = ("children", "dark", "families", "size", "style", "variables")

    def __init__(
        self,
        style: ComputedStyle,
        *,
        size: UsedSize,
        families: Families,
        variables: Variables,
        dark: bool,
    ) -> None:
        self.style = style
        self.size = size
        self.families = families
        self.variables = variables
        self.dark = dark
        #: of elements below that nothing but rules of sheets tells of, by the id of what is declared
        self.children: dict[int, Computed] = {}


INITIAL_STYLE = ComputedStyle(
    font_size=INITIAL_SIZE.pixels,
    font_weight=400,
    font_family=INITIAL_FAMILIES.names,
    font_style="normal",
    color=BLACK,
    display_none=False,
    visible=True,
)


def initial(scope: Scope) -> Computed:
    """Return what the root element of a page inherits."""
    return Computed(
        INITIAL_STYLE,
        size=INITIAL_SIZE,
        families=INITIAL_FAMILIES,
        variables=Variables({}, scope=scope),
        dark=False,
    )


@dataclass(frozen=True, slots=True)
class PageDefaults:
    """What holds for a whole page."""

    quirks: bool = False
    #: of links, where the ``body`` element says
    link: Color | None = None


def compute(
    declared: Declared, parent: Computed, page: PageDefaults, rem: float | None
) -> Computed:
    """Return the computed style of an element.

    *rem* is the root element's font size in px, None for the root element.
    """
    if not declared.values and not declared.variables and parent.variables.scope.all_inherit:
        return parent  # all that is kept is inherited, but for display
    return _Element(declared, parent, page, rem).computed()


class _Element:
    """One computation."""

    def __init__(
        self, declared: Declared, parent: Computed, page: PageDefaults, rem: float | None
    ) -> None:
        self._values = declared.values
        self._parent = parent
        self._page = page
        self._rem = rem
        self._variables = parent.variables.below(declared.variables)

    def computed(self) -> Computed:
        families, size = self._families_and_size()
        dark = self._dark()
        style = ComputedStyle(
            font_size=size.shown,
            font_weight=self._weight(),
            font_family=families.names,
            font_style=self._get("font-style", self._parent.style.font_style, "normal"),
            color=self._color(dark=dark),
            display_none=self._parent.style.display_none
            # "inherit" can only say that the parent is displayed
            or self._get("display", inherited=False, initial=False),
            visible=self._visible(),
        )
        return Computed(style, size=size, families=families, variables=self._variables, dark=dark)

    def _get(self, name: str, inherited: Value, initial: Value) -> Value:
        """Return the declared value of a property, keywords and variables resolved."""
        if name not in self._values:
            return inherited if name in INHERITED else initial
        value = self._values[name]
        if isinstance(value, PendingValue):
            value = self._substituted(name, value)
        if not isinstance(value, Wide):
            return value
        if value is Wide.INITIAL or (value is not Wide.INHERIT and name not in INHERITED):
            return initial
        return inherited

    def _substituted(self, name: str, pending: PendingValue) -> Value:
        """Return the value with its variables in place; what is invalid now is unset."""
        text = substitute(pending.text, self._variables.get)
        if text is None:
            return Wide.UNSET
        if (wide := parse_wide(text)) is not None:
            return Wide.UNSET if wide in (Wide.REVERT, Wide.REVERT_LAYER) else wide
        shorthand = "font" if pending.shorthand else name
        found = dict(parse_value(shorthand, text, quirks=self._page.quirks))
        return found.get(name, Wide.UNSET)

    def _families_and_size(self) -> tuple[Families, UsedSize]:
        parent = self._parent
        families: Families = self._get("font-family", parent.families, INITIAL_FAMILIES)
        declared = self._get("font-size", parent.size, INITIAL_SIZE)
        size: UsedSize = declared
        if isinstance(declared, FontSize):
            rem = INITIAL_SIZE.pixels if self._rem is None else self._rem
            size = compute_font_size(declared, parent.size, rem)
        return families, adapt_to_family(
            size,
            monospace=families.monospace,
            parent_monospace=parent.families.monospace,
            quirks=self._page.quirks,
        )

    def _weight(self) -> float:
        inherited = self._parent.style.font_weight
        weight: float | str = self._get("font-weight", inherited, 400)
        return relative_weight(weight, inherited) if isinstance(weight, str) else weight

    def _dark(self) -> bool:
        return bool(self._get("color-scheme", self._parent.dark, initial=False))

    def _color(self, *, dark: bool) -> Color:
        initial = _WHITE if dark else BLACK
        inherited = self._parent.style.color if self._rem is not None else initial
        color: Color | Named = self._get("color", inherited, initial)
        if not isinstance(color, Named):
            return color
        if color.text.lower() == "-webkit-link" and self._page.link is not None:
            return self._page.link
        found = parse_color(color.text, current=inherited, quirks=self._page.quirks, dark=dark)
        return inherited if found is None else found

    def _visible(self) -> bool:
        inherited = "visible" if self._parent.style.visible else "hidden"
        return bool(self._get("visibility", inherited, "visible") == "visible")
