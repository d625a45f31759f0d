from collections.abc import Iterable, Sequence

from newscrawl.forest import Arrays

def walk(forest: Arrays, rows: Iterable[Sequence[float]]) -> list[float]: ...
