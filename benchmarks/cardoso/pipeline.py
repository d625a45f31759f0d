"""Figure 1 of DocEng 2011 (Figure 3.1 of the thesis): the pipeline, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.svg import document, label

if TYPE_CHECKING:
    from collections.abc import Iterator

_STEPS = (
    ("page", "HTML, parsed to a DOM tree", ""),
    ("relevant content", "NCE: separator node, without links and comments", "section 3.4.1"),
    ("style of its text nodes, and of all before", "simplified CSS, without layout", "3.1"),
    ("attributes 1 to 9", "length, digits, style, distance and similarity to the title", "3.2"),
    ("title", "decision trees; the first node, else the title element", "3.4.2, 3.4.3"),
    ("date", "decision trees; the cluster closest to the title", "3.4.2, 3.4.3"),
    ("body", "all other relevant nodes after the title", "3.4.3"),
)
"""Steps with their methods, and the sections of the thesis."""
_WIDTH, _LEFT, _BOX, _HEIGHT, _GAP, _TOP = 760, 20, 270, 34, 18, 44


def pipeline_chart() -> str:
    """Return the steps from top to bottom."""
    height = _TOP + len(_STEPS) * (_HEIGHT + _GAP)
    title = label(10, 20, "Pipeline of DocEng 2011, with the sections of the thesis", weight="bold")
    return document(_WIDTH, height, [title, *_boxes()])


def _boxes() -> Iterator[str]:
    middle = _LEFT + _BOX / 2
    for place, (name, method, section) in enumerate(_STEPS):
        top = _TOP + place * (_HEIGHT + _GAP)
        yield (
            f'<rect class="s0" x="{_LEFT}" y="{top}" width="{_BOX}" height="{_HEIGHT}" rx="4" '
            'fill-opacity="0.12"/>'
        )
        text = top + _HEIGHT / 2 + 4
        yield label(middle, text, name, anchor="middle", weight="bold")
        yield label(_LEFT + _BOX + 20, text, method)
        yield label(_WIDTH - 20, text, section, anchor="end")
        if place:
            start, end = top - _GAP, top - 5
            yield f'<path class="s0" d="M{middle} {start}V{end}" stroke-width="1.5"/>'
            yield f'<polygon class="s0" points="{middle - 4},{end} {middle + 4},{end} {middle},{top}"/>'
