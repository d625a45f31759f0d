from collections.abc import Sequence

from newscrawl.ensemble.ensemble import Arrays

def walk(ensemble: Arrays, rows: Sequence[Sequence[float]]) -> list[float]: ...
