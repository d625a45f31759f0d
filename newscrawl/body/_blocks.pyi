from collections.abc import Set as AbstractSet

from newscrawl.body.coreex import CoreExParameters, TerminalCounts
from newscrawl.body.render import Flow
from newscrawl.document.document import Document

def split_text(
    document: Document, *, bounds: frozenset[str]
) -> tuple[list[int], list[list[int]]]: ...
def text_columns(
    texts: list[str],
    description: str,
    *,
    most_looked_at: int,
    beginning: int,
    least_described: int,
    most_described: int,
) -> dict[str, list[float]]: ...
def longest_runs(
    document: Document, *, inline: frozenset[str], least: float, alone: float
) -> tuple[float, float]: ...
def find_main_content_node(
    document: Document, counts: TerminalCounts, parameters: CoreExParameters
) -> int | None: ...
def write_tree(
    flow: Flow, document: Document, root: int, skip: AbstractSet[int], *, breaks: dict[str, str]
) -> None: ...
