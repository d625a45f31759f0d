"""Random pages of newer CSS: colour functions, form states, registered properties, media ranges.

Values are built from the grammar of CSS Color 5 and CSS Values 5, with a fixed seed for each page.
"""

from __future__ import annotations

from random import Random

from tests.oracle.pages import Page

_NAMES = (
    "red",
    "#369",
    "#12345680",
    "navy",
    "white",
    "black",
    "gray",
    "transparent",
    "currentcolor",
)
# The hue of a grey is noise in browsers.
_CHROMATIC = ("red", "#369", "#12345680", "navy", "orange", "rgb(10 200 30)")
_FUNCTIONS = {
    "rgb": ("r g b", "255", "80%"),
    "hsl": ("h s l", "70", "40%"),
    "hwb": ("h w b", "30", "20%"),
    "lab": ("l a b", "50", "30%"),
    "lch": ("l c h", "60", "40"),
    "oklab": ("l a b", ".5", "10%"),
    "oklch": ("l c h", ".6", ".1"),
}
_RGB_SPACES = ("srgb", "srgb-linear", "display-p3", "a98-rgb", "rec2020")
_XYZ_SPACES = ("xyz", "xyz-d50", "xyz-d65")
_HUE_SPACES = ("hsl", "hwb", "lch", "oklch")
_HUES = ("", " shorter hue", " longer hue", " increasing hue", " decreasing hue")
_STATES = (
    "required", "optional", "read-only", "read-write", "placeholder-shown", "valid", "invalid",
    "indeterminate", "checked", "default", "disabled", "enabled",
)  # fmt: skip
_FIELDS = (
    '<input type="{type}"{attributes}>', '<input{attributes}>', "<textarea{attributes}>{text}</textarea>",
    "<progress{attributes}></progress>", "<button{attributes}></button>",
    "<select{attributes}><option>a</option><option value=b>b</option></select>",
)  # fmt: skip
_TYPES = (
    "text",
    "number",
    "date",
    "checkbox",
    "range",
    "submit",
    "hidden",
    "file",
    "search",
)
_ATTRIBUTES = (
    "required",
    "readonly",
    "disabled",
    'placeholder="x"',
    "checked",
    'value="3"',
    'min="1"',
)
_LENGTHS = ("1280px", "80em", "calc(1000px + 280px)", "calc(10em * 2)", "min(90em, 100vw)", "5px")
_SYNTAXES = {
    "<color>": ("red", "10px", "#zzz", "rgb(from navy r g b)"),
    "<length>": ("20px", "1.5rem", "red", "12", "calc(10px + 5px)"),
    "<number>": ("300", "bold", "calc(300 + 400)"),
    "*": ("22px", "green"),
}
_INITIAL = {"<color>": "olive", "<length>": "31px", "<number>": "800", "*": "13px"}


def modern_pages(number: int, start: int = 0) -> list[Page]:
    """Return *number* pages, with the seeds from *start* on."""
    return [_page(seed) for seed in range(start, start + number)]


def _page(seed: int) -> Page:
    rng = Random(f"modern {seed}")
    rules, elements = [], []
    for index in range(40):
        rules.append(f".c{index} {{ color: {_color(rng, 3)} }}")
        elements.append(f'<p class="c{index}">color</p>')
    for index in range(10):
        condition = _media(rng)
        rules.append(f"@media {condition} {{ .m{index} {{ color: green }} }}")
        elements.append(f'<p class="m{index}">media</p>')
    for index, state in enumerate(rng.choices(_STATES, k=10)):
        negated = f":not(:{state})" if rng.random() < 0.3 else f":{state}"
        rules.append(f"{negated} + .s{index} {{ font-weight: {300 + index} }}")
        elements += [
            f'{_field(rng)}<span id="f{index}-{number}" class="s{index}">state</span>'
            for number in range(5)
        ]
    for index, syntax in enumerate(rng.choices(list(_SYNTAXES), k=8)):
        rules += _registered(rng, index, syntax)
        elements.append(f'<div class="r{index}"><b class="v{index}">registered</b></div>')
    sizes = (f"calc(progress({rng.randint(0, 9)}, 1, 5) * 20px)" for _ in range(3))
    for index, size in enumerate(sizes):
        rules.append(f".n{index} {{ font-size: {size} }}")
        elements.append(f'<p class="n{index}">progress</p>')
    styles, body = "\n".join(rules), "\n".join(elements)
    html = (
        f"<!doctype html><html><head><title>{seed}</title><style>body {{ color: #a52 }}\n{styles}"
        f"</style></head><body>{body}</body></html>"
    )
    return Page("modern", str(seed), f"http://modern.test/{seed}", html.encode())


def _color(rng: Random, depth: int) -> str:
    kind = rng.random()
    if not depth or kind < 0.1:
        return rng.choice(_NAMES)
    inner = _color(rng, depth - 1)
    if kind < 0.35:
        method = _method(rng)
        colors = [inner, _color(rng, depth - 1)]
        if method.partition(" ")[0] in _HUE_SPACES:
            colors = rng.choices(_CHROMATIC, k=2)
        return f"color-mix(in {method}, {', '.join(color + _share(rng) for color in colors)})"
    if kind < 0.4:
        return f"contrast-color({inner})"
    if kind < 0.45:
        return f"light-dark({inner}, red)"
    origin = f"from {inner} " if rng.random() < 0.6 else ""
    if kind < 0.6:
        space = rng.choice((*_RGB_SPACES, *_XYZ_SPACES))
        names = "x y z" if space in _XYZ_SPACES else "r g b"
        return f"color({origin}{space} {_components(rng, names, '.4', '60%', origin)})"
    function = rng.choice(list(_FUNCTIONS))
    if origin and function in _HUE_SPACES:
        origin = f"from {rng.choice(_CHROMATIC)} "
    return f"{function}({origin}{_components(rng, *_FUNCTIONS[function], origin)})"


def _method(rng: Random) -> str:
    space = rng.choice((*_RGB_SPACES, *_XYZ_SPACES, *_HUE_SPACES, "lab", "oklab", "oklab"))
    return space + (rng.choice(_HUES) if space in _HUE_SPACES else "")


def _share(rng: Random) -> str:
    return rng.choice(("", "", " 30%", " 80%"))


def _components(rng: Random, names: str, number: str, percentage: str, origin: str) -> str:
    found = []
    for name in names.split():
        values = [number if name == "h" else percentage, number]
        if origin:
            values += [name, name, name, f"calc({name} * .8)", f"calc({name} + {number} / 10)"]
        found.append(rng.choice(values))
    alpha = rng.choice(("", "", " / .5", " / 40%", " / alpha" if origin else ""))
    return " ".join(found) + alpha


def _media(rng: Random) -> str:
    length, sign = rng.choice(_LENGTHS), rng.choice(("<", "<=", ">", ">=", "="))
    return rng.choice(
        (
            f"(width {sign} {length})",
            f"({length} {sign} width)",
            f"(min-width: {length})",
            f"(5px < width <= {length})",
            f"({length} >= width >= calc(2px * 4))",
        )
    )


def _field(rng: Random) -> str:
    attributes = "".join(f" {name}" for name in rng.sample(_ATTRIBUTES, rng.randint(0, 3)))
    text = rng.choice(("", "text"))
    return rng.choice(_FIELDS).format(type=rng.choice(_TYPES), attributes=attributes, text=text)


def _registered(rng: Random, index: int, syntax: str) -> list[str]:
    inherits = rng.choice(("true", "false"))
    prop = {"<color>": "color", "<number>": "font-weight"}.get(syntax, "font-size")
    value = rng.choice(_SYNTAXES[syntax])
    place = rng.choice((f".r{index}", f".v{index}"))
    registration = f"syntax: '{syntax}'; inherits: {inherits}; initial-value: {_INITIAL[syntax]}"
    return [
        f"@property --p{index} {{ {registration} }}",
        f"{place} {{ --p{index}: {value} }}",
        f".v{index} {{ {prop}: var(--p{index}) }}",
    ]
