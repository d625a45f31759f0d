"""HTML pages for people: templates, with the style and the scripts that they share."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(
    template: str, *, scripts: tuple[str, ...], sources: str = "", **values: Any
) -> str:
    """Return the page of a *template*; all *values* are escaped.

    The page is self-contained. Its Content-Security-Policy allows the *scripts*, files of this
    package, no others, and the directives *sources*.
    """
    code = "".join(_read(name) for name in scripts)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = f"default-src 'none'; form-action 'none'; script-src 'sha256-{digest}'; "
    policy += sources or "style-src 'unsafe-inline'; img-src data:"
    return _environment().get_template(template).render(policy=policy, code=code, **values)


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import (  # noqa: PLC0415  # extraction does not need it
        Environment,
        FunctionLoader,
        StrictUndefined,
    )

    return Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
