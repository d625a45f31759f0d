"""Ensembles of the decision trees that were fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from newscrawl.ensemble.ensemble import TreeEnsemble, check

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from newscrawl.ensemble.ensemble import Link


class Tree(NamedTuple):
    """One decision tree: arrays with one entry per node; children are counted from the root."""

    #: index of the feature that a node tests, :data:`~newscrawl.ensemble.ensemble.LEAF` for a leaf
    feature: NDArray[Any]
    #: rows with a feature up to this go left; compared as 32-bit floats
    threshold: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    #: of a leaf: probability of class 1; with link ``logistic``, summand of the log-odds
    value: NDArray[Any]


def ensemble_of(
    trees: Sequence[Tree],
    feature_names: Iterable[str],
    sites: Iterable[str] = (),
    *,
    link: Link = "mean",
    base: float = 0.0,
) -> TreeEnsemble:
    """Return the ensemble of *trees*. Raises ``ModelError`` if they are invalid."""
    sizes = [len(tree.feature) for tree in trees]
    offset = np.cumsum([0, *sizes], dtype=np.int32)
    columns = [np.concatenate(column) for column in zip(*trees, strict=True)]
    feature, threshold, left, right, value = columns
    shift = np.repeat(offset[:-1], sizes)
    ensemble = TreeEnsemble(
        tuple(feature_names),
        tuple(sorted(set(sites))),
        feature.astype(np.int16),
        _rounded_down(threshold),
        (left + shift).astype(np.int32),
        (right + shift).astype(np.int32),
        value.astype(np.float32),
        offset,
        link=link,
        base=base,
    )
    check(ensemble)
    return ensemble


def _rounded_down(threshold: NDArray[Any]) -> NDArray[np.float32]:
    """Return the largest 32-bit floats up to *threshold*: 32-bit values keep their branch."""
    rounded = threshold.astype(np.float32)
    return np.where(
        rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded
    ).astype(np.float32)
