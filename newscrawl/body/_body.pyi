from collections.abc import Sequence

from newscrawl.body.econ import EconParameters
from newscrawl.document.document import Document

def count_terminals(
    document: Document, skipped: bytearray, forms: frozenset[str], largest: float
) -> tuple[list[int], list[int], int]: ...
def read_text(document: Document, parameters: EconParameters) -> tuple[list[int], bytearray]: ...
def find_text_node_sets(
    document: Document,
    parameters: EconParameters,
    marks_before: Sequence[int],
    fathers: bytearray,
    *,
    big_tags: frozenset[str],
    block_level: frozenset[str],
) -> tuple[list[int], list[int]]: ...
