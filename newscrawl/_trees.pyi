from collections.abc import Sequence

from newscrawl.forest import Arrays

def walk(forest: Arrays, row: Sequence[float]) -> float: ...
