"""Training of the block classifier, and the F1 of its models."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newscrawl.body.block_features import CONTEXT_FEATURES, FEATURES
from newscrawl.body.classifier import (
    BlockChoice,
    BodyModels,
    CandidateBlocks,
    choose_blocks,
    load_body_models,
)
from newscrawl.document.document import parse_document
from newscrawl.ensemble.ensemble import ModelError, TreeEnsemble
from newscrawl.extraction import default_method
from newscrawl.extraction.extract import extract
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.training.block_training import (
    BodyExample,
    Labelled,
    body_example,
    fit_body_models,
    predict_in_folds,
    variant_examples,
)
from newscrawl.lab.training.boosting import boosted_ensemble
from newscrawl.lab.training.model_writer import save_ensemble, save_models
from newscrawl.lab.training.training_errors import TooFewPagesError
from tests.body.test_block_classifier import NOISE, STORY, page


def boosted(seed: int = 0) -> tuple[object, np.ndarray, TreeEnsemble]:
    """Return a fitted model, rows, and the model as an ensemble."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(400, 5)).astype(np.float32)
    truth = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8).fit(rows, truth)
    return model, rows, boosted_ensemble(model, "abcde", {"b.example", "a.example"})


def test_boosted_ensemble_predicts_as_scikit_learn(tmp_path: Path):
    model, rows, ensemble = boosted()
    expected = model.predict_proba(rows)[:, 1]  # type: ignore[attr-defined]
    save_ensemble(ensemble, tmp_path / "boosted.npz")
    for one in (ensemble, TreeEnsemble.load(tmp_path / "boosted.npz")):
        for count in (len(rows), 3):
            columns = dict(zip("abcde", rows[:count].T.tolist(), strict=True))
            assert one.predict(columns) == pytest.approx(expected[:count], abs=1e-6)
        assert one.link == "logistic"


@pytest.mark.parametrize(
    "change", [{"link": "probit"}, {"base": math.nan}, {"value": None}, {"link": "mean"}]
)
def test_rejects_damaged_boosted_ensembles(tmp_path: Path, change: dict[str, object]):
    _, _, ensemble = boosted()
    if "value" in change:
        change = {"value": np.full_like(ensemble.value, np.inf)}
    save_ensemble(replace(ensemble, **change), tmp_path / "damaged.npz")
    with pytest.raises(ModelError):
        TreeEnsemble.load(tmp_path / "damaged.npz")


def labelled_pages(count: int) -> list[Labelled]:
    """Return *count* pages of as many sites, in three templates."""
    found = []
    for number in range(count):
        noise = list(NOISE.values())[number % len(NOISE)]
        story = tuple(f"{text} {number}." for text in STORY * (1 + number % 3))
        html = page(after=noise, inside="<h2>Costs</h2>" * (number % 2), story=story)
        where = LabelledPage(
            "made", str(number), Path(), f"https://s{number}.example/a", f"s{number}.example", "tune",
            body="\n".join(story),
        )  # fmt: skip
        found.append(Labelled(where, body_example(parse_document(html), where.body or "")))
    return found


@pytest.mark.slow
def test_training_is_deterministic_and_records_the_sites(tmp_path: Path):
    pages = labelled_pages(12)
    assert all(any(one.example.labels) for one in pages)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        save_models(fit_body_models(pages), tmp_path / name)
    one, two = (load_body_models(tmp_path / name) for name in ("one", "two"))
    for file in ("body.npz", "body-context.npz"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert one.sites == two.sites
    assert "s0.example" in one.sites
    assert one.blocks.ensemble.feature_names == FEATURES
    assert one.context.ensemble.feature_names == CONTEXT_FEATURES


@pytest.mark.parametrize("cause", [*NOISE, "hidden article"])
def test_training_and_extraction_compute_the_same_features(
    monkeypatch: pytest.MonkeyPatch, cause: str
):
    html = page(after=NOISE.get(cause, ""), story=STORY * 2)
    if cause == "hidden article":
        html = html.replace("<article>", "<article hidden>")
    seen: list[CandidateBlocks] = []

    def choose(candidates: CandidateBlocks, models: BodyModels, _url: str | None) -> BlockChoice:
        seen.append(candidates)
        return choose_blocks(candidates, models)

    monkeypatch.setattr(default_method, "choose_blocks", choose)
    extract(html)
    learned = body_example(parse_document(html), "\n".join(STORY))
    (used,) = [one.features for one in seen]
    assert {name: list(column) for name, column in used.items()} == learned.features
    assert [one.chars for one in seen] == [learned.chars]


def test_training_rejects_pages_without_trusted_labels():
    with pytest.raises(TooFewPagesError):
        fit_body_models([])
    doubted = [one._replace(page=replace(one.page, body_suspect=True)) for one in labelled_pages(3)]
    with pytest.raises(TooFewPagesError):
        fit_body_models(doubted)


def test_f1_counts_label_words_outside_of_candidates():
    example = BodyExample({}, [9.0] * 3, [4, 4, 2], [True, True, False], 2, 8)
    assert example.f1([0, 1]) == pytest.approx(2 * 8 / (8 + 10))
    assert example.f1([0, 2]) == pytest.approx(2 * 4 / (6 + 10))
    assert example.f1([]) == 0
    assert (
        BodyExample.from_plain(
            {"features": {}, "chars": [], "words": [], "labels": [], "missing": 0, "found": 0}
        ).f1([])
        == 1
    )


@pytest.fixture(scope="module")
def f1_of_pages(corpus_dir: Path) -> dict[str, list[tuple[float, bool]]]:
    """F1 out of fold and whether the label is doubtful, of each page by corpus."""
    pages = [
        Labelled(one, body_example(parse_document(html), one.body), variant_examples(one, html))
        for name in ("news212", "fundus", "css-sites")
        for one in load_corpus(corpus_dir / name).pages
        if one.body and (html := one.html())
    ]
    found: dict[str, list[tuple[float, bool]]] = {"news212": [], "fundus": [], "css-sites": []}
    scores = {one.labelled.page: one.f1 for one in predict_in_folds(pages)}
    for one in pages:
        found[one.page.corpus].append((scores.get(one.page, 0.0), one.page.body_suspect))
    return found


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize(
    ("corpus", "everything", "trusted", "failed"),
    [("news212", 0.935, 0.965, 0.038), ("fundus", 0.968, 0.975, 0.008)],
)
def test_reaches_the_f1_of_the_release(
    f1_of_pages: dict[str, list[tuple[float, bool]]],
    corpus: str,
    everything: float,
    trusted: float,
    failed: float,
):
    """Mean F1 of all pages and of those with trusted labels, and the share of pages below 0.5.

    The labels of 10 pages of news212 are truncated, so every correct body fails there.
    """
    scores = [f1 for f1, _ in f1_of_pages[corpus]]
    assert mean(scores) >= everything
    assert mean([f1 for f1, suspect in f1_of_pages[corpus] if not suspect]) >= trusted
    assert mean([float(f1 < 0.5) for f1 in scores]) <= failed
