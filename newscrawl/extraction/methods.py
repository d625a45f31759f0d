"""The extraction methods by name: :data:`METHODS`.

Comments are removed in one of two ways. The default method hides the regions that
:func:`~newscrawl.body.comments.comment_rows` finds before it searches for anything, so that neither
body nor date comes from a comment. The published methods run as published: NCE has its own phase 2
(:func:`~newscrawl.body.nce.remove_comments`), which finds only comments that share most of their
words, and CoreEx and ECON have no comment removal.
"""

from __future__ import annotations

from functools import partial

from newscrawl.body.coreex import VARIANTS as COREEX_VARIANTS
from newscrawl.body.econ import EconParameters
from newscrawl.extraction.default_method import find_by_models, load_default_models
from newscrawl.extraction.method import Method
from newscrawl.extraction.published_methods import (
    ECON_LITERAL_CONFIDENCE,
    find_by_cardoso,
    find_by_coreex,
    find_by_econ,
    find_by_nce,
    find_by_v_wrapper,
    find_in_metadata,
)
from newscrawl.fields import cardoso
from newscrawl.visual.v_wrapper import load_visual_models


class UnknownMethodError(ValueError):
    """The name is not in :data:`METHODS`."""


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
        *(
            Method(
                f"coreex:{variant}",
                partial(find_by_coreex, parameters=parameters, variant=variant),
                needs_scripts=not parameters.remove_scripts,
                whole_subtrees=True,
            )
            for variant, parameters in COREEX_VARIANTS.items()
        ),
        Method("econ", find_by_econ),
        Method(
            "econ:literal",
            partial(
                find_by_econ,
                parameters=EconParameters.LITERAL,
                confidence=ECON_LITERAL_CONFIDENCE,
            ),
            whole_subtrees=True,
        ),
        Method(
            "cardoso",
            find_by_cardoso,
            load_models=cardoso.load_models,
            needs_style=True,
            standalone=True,
        ),
        Method("metadata", find_in_metadata, standalone=True),
        Method(
            "v-wrapper",
            find_by_v_wrapper,
            load_models=load_visual_models,
            needs_geometry=True,
            standalone=True,
        ),
    )
}
"""Methods by name; ``scrapy evaluate`` and ``NEWSCRAWL_METHOD`` use the same names."""

PAGE_METHODS = {name: method for name, method in METHODS.items() if not method.needs_geometry}
"""Methods that need the page alone, not rendered. Those that are trained have packaged models."""

TRAINED_METHODS = {
    name: method.load_models for name, method in METHODS.items() if method.load_models
}
"""Name -> function that loads the models, of the methods that have some. They are evaluated on sites
that the models have not seen."""


def get_method(name: str) -> Method:
    """Return the method with this *name*. Raises :class:`UnknownMethodError`."""
    try:
        return METHODS[name]
    except KeyError:
        known = ", ".join(sorted(METHODS))
        raise UnknownMethodError(f"unknown method {name!r}; expected one of: {known}") from None
