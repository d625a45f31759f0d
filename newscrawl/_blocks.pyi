from newscrawl.document import Document

def split_text(
    document: Document, *, bounds: frozenset[str]
) -> tuple[list[int], list[list[int]]]: ...
def text_columns(
    texts: list[str],
    description: str,
    *,
    odd: str,
    stops: str,
    closing: str,
    most_looked_at: int,
    beginning: int,
    least_described: int,
    most_described: int,
) -> dict[str, list[float]]: ...
def longest_run(
    document: Document, *, inline: frozenset[str], least: float, alone: float
) -> float: ...
