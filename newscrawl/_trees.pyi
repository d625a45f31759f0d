from collections.abc import Sequence

from newscrawl.forest import Arrays

def walk(forest: Arrays, rows: Sequence[Sequence[float]]) -> list[float]: ...
