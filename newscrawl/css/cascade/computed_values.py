"""Computed values of an element, from its cascaded values and the style of its parent.

https://drafts.csswg.org/css-cascade-5/#computed
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from newscrawl.css.syntax.variables import Variables, VariableScope, substitute
from newscrawl.css.values.colors import BLACK, Color, parse_color
from newscrawl.css.values.declared_values import (
    INHERITED,
    DependentColor,
    PendingValue,
    Value,
    WideKeyword,
    parse_value,
    parse_wide_keyword,
)
from newscrawl.css.values.fonts import (
    INITIAL_SIZE,
    ComputedFontSize,
    FontFamilies,
    FontSize,
    adapt_to_family,
    compute_font_size,
    relative_weight,
)

if TYPE_CHECKING:
    from newscrawl.css.cascade.cascaded_values import CascadedValues

BOLD = 600
"""Minimum weight of bold text."""

MAX_CACHED_LENGTH = 512
"""Maximum length of a cached value with substituted variables."""

INITIAL_FAMILIES = FontFamilies(("times new roman",))
_WHITE = Color(255, 255, 255)
_cached_value = lru_cache(4096)(parse_value)


@dataclass(frozen=True, slots=True)
class ComputedStyle:
    """The computed style of an element's text."""

    #: in px
    font_size: float
    #: 1..1000, 400 is normal
    font_weight: float
    #: names in lower case, by preference
    font_family: tuple[str, ...]
    #: ``normal``, ``italic`` or ``oblique``
    font_style: str
    color: Color
    #: whether ``display`` is ``none`` for the element or an ancestor
    display_none: bool
    #: whether ``visibility`` is ``visible``
    visible: bool

    @property
    def bold(self) -> bool:
        """Whether the weight is 600 or more."""
        return self.font_weight >= BOLD


class ElementStyle:
    """The computed style of an element, with the state that only its children depend on."""

    __slots__ = ("children", "dark", "families", "size", "style", "variables")

    def __init__(
        self,
        style: ComputedStyle,
        *,
        size: ComputedFontSize,
        families: FontFamilies,
        variables: Variables,
        dark: bool,
    ) -> None:
        self.style = style
        self.size = size
        self.families = families
        self.variables = variables
        self.dark = dark
        #: id of cascaded values -> style of children that only the rules of sheets affect
        self.children: dict[int, ElementStyle] = {}


INITIAL_STYLE = ComputedStyle(
    font_size=INITIAL_SIZE.pixels,
    font_weight=400,
    font_family=INITIAL_FAMILIES.names,
    font_style="normal",
    color=BLACK,
    display_none=False,
    visible=True,
)


def initial_element_style(scope: VariableScope) -> ElementStyle:
    """Return the style that the root element inherits."""
    return ElementStyle(
        INITIAL_STYLE,
        size=INITIAL_SIZE,
        families=INITIAL_FAMILIES,
        variables=Variables({}, scope=scope),
        dark=False,
    )


@dataclass(frozen=True, slots=True)
class PageDefaults:
    """Defaults of a whole page."""

    quirks: bool = False
    #: colour of links from the ``link`` attribute of ``body``
    link: Color | None = None


def compute(
    cascaded: CascadedValues, parent: ElementStyle, page: PageDefaults, rem: float | None
) -> ElementStyle:
    """Return the computed style of an element.

    *rem* is the font size of the root element in px, None for the root element itself.
    """
    if not cascaded.values and not cascaded.variables and parent.variables.scope.all_inherit:
        return parent  # all properties but display are inherited
    return _StyleComputation(cascaded, parent, page, rem).computed()


class _StyleComputation:
    """Computation of the style of one element."""

    def __init__(
        self, cascaded: CascadedValues, parent: ElementStyle, page: PageDefaults, rem: float | None
    ) -> None:
        self._values = cascaded.values
        self._parent = parent
        self._page = page
        self._rem = rem
        self._variables = parent.variables.child(cascaded.variables)

    def computed(self) -> ElementStyle:
        parent = self._parent.style
        families, size = self._families_and_size()
        dark = self._dark()
        style = ComputedStyle(
            font_size=size.rendered,
            font_weight=self._weight(),
            font_family=families.names,
            font_style=self._get("font-style", parent.font_style, "normal"),
            color=self._color(dark=dark),
            display_none=parent.display_none
            # with "inherit" the parent is displayed, or this is not reached
            or self._get("display", inherited=False, initial=False),
            visible=self._visible() if "visibility" in self._values else parent.visible,
        )
        return ElementStyle(
            style, size=size, families=families, variables=self._variables, dark=dark
        )

    def _get(self, name: str, inherited: Value, initial: Value) -> Value:
        """Return the cascaded value of a property, with keywords and variables resolved."""
        if name not in self._values:
            return inherited if name in INHERITED else initial
        value = self._values[name]
        if isinstance(value, PendingValue):
            value = self._substitute(name, value)
        if not isinstance(value, WideKeyword):
            return value
        if value is WideKeyword.INITIAL or (
            value is not WideKeyword.INHERIT and name not in INHERITED
        ):
            return initial
        return inherited

    def _substitute(self, name: str, pending: PendingValue) -> Value:
        """Return the value with variables substituted; unset if it is invalid then."""
        text = substitute(pending.text, self._variables.get)
        if text is None:
            return WideKeyword.UNSET
        if (keyword := parse_wide_keyword(text)) is not None:
            reverts = (WideKeyword.REVERT, WideKeyword.REVERT_LAYER)
            return WideKeyword.UNSET if keyword in reverts else keyword
        shorthand = "font" if pending.shorthand else name
        parse = _cached_value if len(text) <= MAX_CACHED_LENGTH else parse_value
        found = dict(parse(shorthand, text, quirks=self._page.quirks))
        return found.get(name, WideKeyword.UNSET)

    def _families_and_size(self) -> tuple[FontFamilies, ComputedFontSize]:
        parent, values = self._parent, self._values
        if "font-family" not in values and "font-size" not in values:
            return parent.families, parent.size
        families: FontFamilies = self._get("font-family", parent.families, INITIAL_FAMILIES)
        declared = self._get("font-size", parent.size, INITIAL_SIZE)
        size: ComputedFontSize = declared
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
        if "color" not in self._values:
            return inherited
        color: Color | DependentColor = self._get("color", inherited, initial)
        if not isinstance(color, DependentColor):
            return color
        if color.text.lower() == "-webkit-link" and self._page.link is not None:
            return self._page.link
        found = parse_color(color.text, current=inherited, quirks=self._page.quirks, dark=dark)
        return inherited if found is None else found

    def _visible(self) -> bool:
        inherited = "visible" if self._parent.style.visible else "hidden"
        return bool(self._get("visibility", inherited, "visible") == "visible")
