"""Tree ensembles: prediction against scikit-learn, and validation of model files."""

import json
import zipfile
from array import array
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import newscrawl
from newscrawl.ensemble.ensemble import (
    LEAF,
    ModelError,
    TreeEnsemble,
    check,
    probabilities,
    schema_hash,
)
from newscrawl.lab.training.model_writer import save_ensemble
from newscrawl.lab.training.trees import Tree, ensemble_of
from tests.helpers.compiled import assert_equal_in_python

MODELS = Path(newscrawl.__file__).parent / "models"
NAMES = ("length", "digits", "size")


def columns(*rows: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """Return *rows* as columns."""
    return dict(zip(NAMES, zip(*rows, strict=True), strict=True))


def stump(threshold: float, low: float, high: float, feature: int = 0) -> Tree:
    """Return a tree with one inner node."""
    return Tree(
        np.array([feature, LEAF, LEAF]),
        np.array([threshold, 0.0, 0.0]),
        np.array([1, -1, -1]),
        np.array([2, -1, -1]),
        np.array([0.5, low, high]),
    )


@pytest.fixture
def ensemble() -> TreeEnsemble:
    """An ensemble of two stumps."""
    return ensemble_of(
        [stump(1.5, 0.0, 1.0), stump(10, 0.25, 0.75, feature=2)], NAMES, ["b.example", "a.example"]
    )


def test_predicts_the_mean_of_the_leaves(ensemble: TreeEnsemble):
    """A value at the threshold goes left."""
    table = columns((1.5, 0, 10), (1.6, 0, 10), (1.6, 0, 11))
    assert ensemble.predict(table) == [0.125, 0.625, 0.875]


def test_finds_its_features_by_name(ensemble: TreeEnsemble):
    table = {"size": [10, 11], "other": [0], "digits": [0, 0], "length": array("d", [1.5, 1.6])}
    assert ensemble.predict(table) == [0.125, 0.875]


@pytest.mark.parametrize("table", [{}, dict.fromkeys(NAMES, ())])
def test_predicts_nothing_for_no_rows(ensemble: TreeEnsemble, table: dict[str, tuple[()]]):
    assert ensemble.predict(table) == []


def test_rejects_missing_columns_and_values(ensemble: TreeEnsemble):
    with pytest.raises(KeyError, match="size"):
        ensemble.predict({"length": [1.0], "digits": [2.0]})
    with pytest.raises(ValueError, match="columns of equal length"):
        ensemble.predict({"length": [1.0], "digits": [2.0], "size": [1.0, 2.0]})


def test_file_keeps_ensemble_features_and_sites(ensemble: TreeEnsemble, tmp_path: Path):
    save_ensemble(ensemble, path := tmp_path / "model.npz")
    loaded = TreeEnsemble.load(path, schema=schema_hash(NAMES))
    assert loaded.feature_names == NAMES
    assert loaded.sites == ("a.example", "b.example")
    assert loaded.schema_hash == ensemble.schema_hash
    table = columns((2, 0, 11))
    assert loaded.predict(table) == ensemble.predict(table)


def test_file_does_not_depend_on_the_time(ensemble: TreeEnsemble, tmp_path: Path):
    save_ensemble(ensemble, first := tmp_path / "first.npz")
    save_ensemble(TreeEnsemble.load(first), second := tmp_path / "second.npz")
    assert first.read_bytes() == second.read_bytes()
    times = {info.date_time for info in zipfile.ZipFile(first).infolist()}
    assert times == {(1980, 1, 1, 0, 0, 0)}


def test_rejects_a_model_for_other_features(ensemble: TreeEnsemble, tmp_path: Path):
    save_ensemble(ensemble, path := tmp_path / "model.npz")
    with pytest.raises(ModelError, match="other features: length, digits, size"):
        TreeEnsemble.load(path, schema=schema_hash(("size", "digits", "length")))


def test_missing_file_is_not_a_damaged_one(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        TreeEnsemble.load(tmp_path / "model.npz")


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"<html>", b"\x80\x04K\x01.", b"\x93NUMPY\x01\x00v\x00"]
)
def test_rejects_files_of_other_formats(tmp_path: Path, data: bytes):
    (path := tmp_path / "model.npz").write_bytes(data)
    with pytest.raises(ModelError, match="not a model file"):
        TreeEnsemble.load(path)


def test_does_not_unpickle(tmp_path: Path):
    np.savez(path := tmp_path / "model.npz", about=np.array([object()], dtype=object))
    with pytest.raises(ModelError, match=r"'about' has dtype \|O"):
        TreeEnsemble.load(path)


def rewritten(ensemble: TreeEnsemble, path: Path, **changed: Any) -> Path:
    """Write *ensemble* with changed arrays."""
    save_ensemble(ensemble, path)
    with np.load(path) as arrays:
        np.savez(path, **{**arrays, **changed})
    return path


@pytest.mark.parametrize(
    "changed",
    [
        {"left": np.array([0, 0, 0, 4, 0, 0], dtype=np.int32)},  # a node that is its own child
        {"right": np.array([2, 0, 0, 9, 0, 0], dtype=np.int32)},  # a child beyond the last node
        {"left": np.array([4, 0, 0, 4, 0, 0], dtype=np.int32)},  # a child in another tree
        {"feature": np.array([3, -1, -1, 0, -1, -1], dtype=np.int16)},
        {"feature": np.array([0, -2, -1, 0, -1, -1], dtype=np.int16)},
        {"value": np.array([0, 0, np.nan, 0, 0, 0], dtype=np.float32)},
        {"value": np.array([0, 0, 1], dtype=np.float32)},
        {"value": np.zeros(6)},
        {"offset": np.array([0, 3], dtype=np.int32)},
        {"offset": np.array([0, 3, 3, 6], dtype=np.int32)},
        {"offset": np.array([], dtype=np.int32)},
        {"about": np.array("{}")},
        {"about": np.array("not JSON")},
        {"about": np.array(json.dumps({"format": "another"}))},
        {
            "about": np.array(
                json.dumps(
                    {"format": "newscrawl forest 1", "features": NAMES, "schema": "0", "sites": []}
                )
            )
        },
    ],
)
def test_rejects_invalid_trees(ensemble: TreeEnsemble, tmp_path: Path, changed: dict[str, Any]):
    """Their paths would be endless or out of bounds."""
    path = rewritten(ensemble, tmp_path / "model.npz", **changed)
    with pytest.raises(ModelError):
        TreeEnsemble.load(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_rejects_a_changed_byte_or_predicts_the_same(
    ensemble: TreeEnsemble, tmp_path: Path, data: st.DataObject
):
    save_ensemble(ensemble, path := tmp_path / "model.npz")
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    table = columns((1.5, 0, 10), (2, 0, 11))
    try:
        loaded = TreeEnsemble.load(path)
    except ModelError:
        return
    assert loaded.predict(table) == ensemble.predict(table)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(length=st.integers(0))
def test_rejects_a_truncated_file(ensemble: TreeEnsemble, tmp_path: Path, length: int):
    save_ensemble(ensemble, path := tmp_path / "model.npz")
    content = path.read_bytes()
    path.write_bytes(content[: length % len(content)])
    with pytest.raises(ModelError):
        TreeEnsemble.load(path)


@pytest.mark.parametrize("nodes", [1 << 16, (1 << 16) + 1])
def test_rejects_more_nodes_than_a_compiled_tree_can_have(ensemble: TreeEnsemble, nodes: int):
    leaves = np.full(nodes, LEAF), *np.zeros((4, nodes))
    names = ("feature", "threshold", "left", "right", "value")
    large = replace(ensemble, offset=np.array([0, nodes]), **dict(zip(names, leaves, strict=True)))
    if nodes <= 1 << 16:
        check(large)
        return
    with pytest.raises(ModelError, match="too many nodes"):
        check(large)


def test_rejects_an_empty_archive(tmp_path: Path):
    with zipfile.ZipFile(data := BytesIO(), "w"):
        pass
    (path := tmp_path / "model.npz").write_bytes(data.getvalue())
    with pytest.raises(ModelError):
        TreeEnsemble.load(path)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**16),
    trees=st.integers(1, 20),
    features=st.integers(1, 12),
    depth=st.one_of(st.none(), st.integers(1, 6)),
    whole=st.booleans(),
)
def test_predicts_as_scikit_learn(
    seed: int, trees: int, features: int, depth: int | None, whole: bool
):
    """Random ensembles, with values at thresholds and far from them."""
    pytest.importorskip("sklearn")
    from sklearn.ensemble import RandomForestClassifier

    from newscrawl.lab.training.fit import to_ensemble

    random = np.random.default_rng(seed)
    known = random.normal(scale=100, size=(80, features))
    known = known.round() if whole else known
    truth = (known.sum(axis=1) + random.normal(scale=50, size=80) > 0).astype(int)
    truth[0], truth[1] = 0, 1
    model = RandomForestClassifier(trees, max_depth=depth, random_state=seed).fit(known, truth)
    ensemble = to_ensemble(model, [str(name) for name in range(features)])
    thresholds = [tree.tree_.threshold for tree in model.estimators_]
    asked = np.concatenate(
        [known, known * 1e6, random.choice(np.concatenate(thresholds), size=(50, features))]
    )
    expected = model.predict_proba(asked)[:, 1]
    values = [array("d", column) for column in asked.T.tolist()]
    named = dict(zip(ensemble.feature_names, values, strict=True))
    assert np.abs(np.array(ensemble.predict(named)) - expected).max() < 1e-6
    assert_equal_in_python(probabilities, ensemble, values)


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.npz")), ids=lambda path: path.stem)
def test_models_of_the_package_are_valid(path: Path):
    """They are loaded without this check."""
    TreeEnsemble.load(path)
