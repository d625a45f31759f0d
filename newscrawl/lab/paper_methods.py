"""Methods for the tables of the papers: CoreEx, ECON and NCE as printed, and V-Wrapper.

The entry point ``newscrawl_methods`` registers :data:`VARIANTS`, so that ``extract()`` and the
commands know them by name. V-Wrapper needs the geometry of the rendered page, which only
``newscrawl evaluate`` has.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from newscrawl.body.blocks import find_roots
from newscrawl.body.coreex import CoreExParameters
from newscrawl.body.econ import EconParameters
from newscrawl.body.nce import NceParameters
from newscrawl.extraction.method import Method, MethodResult
from newscrawl.extraction.methods import available_methods, get_method
from newscrawl.extraction.published_methods import find_by_coreex, find_by_econ, find_by_nce
from newscrawl.fields.titles.title import Headline
from newscrawl.items import Evidence
from newscrawl.lab.visual.geometry import GeometryError
from newscrawl.lab.visual.v_wrapper import classify_leaves, load_visual_models
from newscrawl.lab.visual.visual_features import VisualBlocks
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from newscrawl.extraction.method import ExtractOptions, PageContext, TrainedModels
    from newscrawl.lab.visual.geometry import PageGeometry

_R4 = replace(CoreExParameters.PUBLISHED, remove_scripts=False)
_R3 = replace(_R4, ignore_forms=False)
_R2 = replace(_R3, subset=False)

COREEX_VARIANTS: Final = {
    "R1": replace(_R2, weight_text=0.0),
    "R2": _R2,
    "R3": _R3,
    "R4": _R4,
    "R5": CoreExParameters.PUBLISHED,
}
"""Configurations of Table 1 of CoreEx. R6 is R5 on a page converted to XHTML by
``benchmarks.papers.coreex_paper``."""

_COREEX_CONFIDENCE: Final = {"R1": 0.0, "R2": 0.21, "R3": 0.23, "R4": 0.23, "R5": 0.57}
_ECON_LITERAL_CONFIDENCE: Final = 0.77
_V_WRAPPER_CONFIDENCE: Final = 0.93
# Mean F1 of the body on news212 and fundus; of V-Wrapper on pages with all their style sheets.

VARIANTS: Final[tuple[Method, ...]] = (
    *(
        Method(
            f"coreex:{name}",
            partial(find_by_coreex, parameters=parameters, confidence=_COREEX_CONFIDENCE[name]),
            needs_scripts=not parameters.remove_scripts,
            whole_subtrees=True,
        )
        for name, parameters in COREEX_VARIANTS.items()
    ),
    Method(
        "econ:literal",
        partial(
            find_by_econ, parameters=EconParameters.LITERAL, confidence=_ECON_LITERAL_CONFIDENCE
        ),
        whole_subtrees=True,
    ),
    Method(
        "nce:published",
        partial(find_by_nce, parameters=NceParameters.PUBLISHED),
        whole_subtrees=True,
    ),
    Method(
        "nce:ancestor",
        partial(find_by_nce, parameters=replace(NceParameters.PUBLISHED, common_ancestor=True)),
        whole_subtrees=True,
    ),
)
"""Methods that need the page alone."""

V_WRAPPER: Final = "v-wrapper"


def v_wrapper(geometry: PageGeometry | None = None) -> Method:
    """Return the method V-Wrapper for the page with this *geometry*."""
    return Method(
        V_WRAPPER,
        partial(_find_by_v_wrapper, geometry=geometry),
        load_models=load_visual_models,
        standalone=True,
    )


def _find_by_v_wrapper(
    page: PageContext, options: ExtractOptions, *, geometry: PageGeometry | None
) -> MethodResult:
    """Classify the leaves of the rendered page as title, body or other."""
    if geometry is None:
        raise GeometryError(
            "method v-wrapper requires the geometry of the rendered page: "
            "newscrawl evaluate --method v-wrapper --geometry DIR"
        )
    document = page.document
    found = classify_leaves(VisualBlocks.of(document, geometry), load_visual_models(options.models))
    title = None
    if found.title:
        text = squeeze(" ".join(document.text[row] for row in found.title))
        title = Headline(text, Evidence(V_WRAPPER, found.probability), found.title[0])
    roots = find_roots(document, found.body)
    return MethodResult(roots, Evidence(V_WRAPPER, _V_WRAPPER_CONFIDENCE), title)


def evaluated_method(name: str) -> Method:
    """Return the method *name*, V-Wrapper included.

    Raises :class:`~newscrawl.extraction.methods.UnknownMethodError`.
    """
    return v_wrapper() if name == V_WRAPPER else get_method(name)


TRAINED_METHODS: Final[dict[str, Callable[[Path | None], TrainedModels]]] = {
    method.name: method.load_models
    for method in (*available_methods().values(), v_wrapper())
    if method.load_models
}
"""Name -> function that loads the models, of the methods that have some.

They are evaluated on sites that the models have not seen."""
