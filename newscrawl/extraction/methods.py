"""The extraction methods by name: :data:`METHODS`.

Comments are removed in one of two ways. The default method hides the regions that
:func:`~newscrawl.body.comments.comment_rows` finds before it searches for anything, so that neither
body nor date comes from a comment. NCE has its own phase 2
(:func:`~newscrawl.body.nce.remove_comments`), with limits that the paper does not have; CoreEx and
ECON have no comment removal.
"""

from __future__ import annotations

from functools import cache

from newscrawl.extraction.default_method import find_by_models, load_default_models
from newscrawl.extraction.method import Method
from newscrawl.extraction.published_methods import (
    find_by_coreex,
    find_by_econ,
    find_by_nce,
    find_by_papers,
    find_in_metadata,
)
from newscrawl.fields import cardoso


class UnknownMethodError(ValueError):
    """No method has this name."""


DEFAULT_METHOD = "newscrawl"

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            DEFAULT_METHOD,
            find_by_models,
            load_models=load_default_models,
            hides_comments=True,
            reveals_hidden=True,
        ),
        Method("nce", find_by_nce),
        Method("coreex", find_by_coreex),
        Method("econ", find_by_econ),
        Method(
            "papers",
            find_by_papers,
            load_models=cardoso.load_models,
            needs_style=True,
            standalone=True,
        ),
        Method("metadata", find_in_metadata, standalone=True),
    )
}
"""Methods by name; ``newscrawl evaluate`` and ``NEWSCRAWL_METHOD`` use the same names."""


@cache
def _registered() -> dict[str, Method]:
    from importlib.metadata import entry_points  # noqa: PLC0415  # slow to import

    points = entry_points(group="newscrawl_methods")
    return {method.name: method for point in points for method in point.load()}


def available_methods() -> dict[str, Method]:
    """Return :data:`METHODS` and those that installed packages register, by name.

    An entry point of the group ``newscrawl_methods`` is an iterable of
    :class:`~newscrawl.extraction.method.Method`.
    """
    return METHODS | _registered()


def get_method(name: str) -> Method:
    """Return the method with this *name*. Raises :class:`UnknownMethodError`."""
    found = METHODS.get(name) or _registered().get(name)
    if found is None:
        known = ", ".join(sorted(available_methods()))
        raise UnknownMethodError(f"unknown method {name!r}; expected one of: {known}")
    return found
