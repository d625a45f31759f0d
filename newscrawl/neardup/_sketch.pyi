from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from newscrawl.neardup.near_duplicate_options import Options
from newscrawl.neardup.sketch import SimilarityTuple, Sketch

def hash_text(
    text: str,
    plain: NDArray[np.uint16],
    fold: Callable[[str], str],
    *,
    shingle: int,
    scale: int,
    full_limit: int,
    start: int,
) -> tuple[NDArray[np.uint32], int, int, NDArray[np.uint32]]: ...
def anchors(hashes: NDArray[np.uint32], site: int) -> NDArray[np.uint32]: ...
def overlap(left: Sketch, right: Sketch) -> SimilarityTuple: ...
def matches(
    query: Sketch, others: Iterable[Sketch], options: Options
) -> list[SimilarityTuple | None]: ...
def without(hashes: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.uint32]: ...
