from collections.abc import Set as AbstractSet

from newscrawl.document import Document

def count_terminals(
    document: Document, skipped: bytearray, forms: AbstractSet[str], largest: float
) -> tuple[list[int], list[int], int]: ...
