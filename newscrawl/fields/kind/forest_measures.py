"""Measures of the body, a forest of subtrees, for the page kind classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.compiled import compiled
from newscrawl.document.repeats import prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.document.document import Document


@compiled("newscrawl.fields.kind._text_measures")
def measure_forest(
    document: Document, forest: Sequence[int]
) -> tuple[int, float, float, float, float, float]:
    """Return measures of the body, the trees in *forest*.

    Number of texts, then weighted characters: of all texts, of the longest, outside of links, of the
    largest group of trees with the same parent, and in list items.
    """
    end, before = document.end, document.chars_before
    sizes = [before[row + 1] - before[row] for root in forest for row in document.text_nodes(root)]
    own = sum(prose(document, root, end[root]) for root in forest)
    group, in_items = _largest_group(document, forest), _chars_in_items(document, forest)
    return len(sizes), sum(sizes), max(sizes, default=0.0), own, group, in_items


def _largest_group(document: Document, forest: Iterable[int]) -> float:
    """Return the weighted characters of the largest group of trees with the same parent."""
    groups: dict[int, float] = {}
    for root in forest:
        parent = document.parent[root]
        groups[parent] = groups.get(parent, 0.0) + document.chars(root)
    return max(groups.values())


def _chars_in_items(document: Document, forest: Iterable[int]) -> float:
    """Return the weighted characters of the trees in list items."""
    tag, parent = document.tag, document.parent
    known = {-1: False}

    def is_in_item(row: int) -> bool:
        path = []
        while row not in known:
            path.append(row)
            if tag[row] == "li":
                known[row] = True
                break
            row = parent[row]
        known.update(dict.fromkeys(path, known[row]))
        return known[row]

    return sum(document.chars(root) for root in forest if is_in_item(root))
