"""Families of corpora: who may train, figures by group, trafilatura's cache, runs compared."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from newscrawl.extraction.methods import DEFAULT_METHOD, METHODS
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.folds import site_names
from newscrawl.lab.corpora.map_pages import PageOutcome
from newscrawl.lab.corpora.metrics import Score
from newscrawl.lab.evaluation import trafilatura_bodies as peer
from newscrawl.lab.evaluation.families import (
    ALL,
    FAMILIES,
    FAMILY_OF,
    MAY_TRAIN,
    FamilyPage,
    build_report,
    groups,
    is_worse,
    with_peers,
)
from newscrawl.lab.evaluation.family_tables import family_tables
from newscrawl.lab.evaluation.out_of_fold import map_folds, seen
from newscrawl.lab.paper_methods import TRAINED_METHODS
from newscrawl.lab.training.bundle import fit_default
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import scrapy
from tests.lab.training.test_training import BODY, PAGE, STORY

LABELS: dict[str, Any] = {
    "language": None,
    "body_suspect": False,
    "title_f1": None,
    "title_exact": None,
    "day": None,
    "error": None,
}


def scored(
    corpus: str, number: int, f1: float, confidence: float | None, **labels: Any
) -> FamilyPage:
    """Return results on a page of a site of its own."""
    return FamilyPage(
        corpus=corpus,
        id=str(number),
        site=f"{number}.example",
        body=Score(f1, f1, f1),
        confidence=confidence,
        **{**LABELS, **labels},
    )


PAGES = [
    scored("news212", 1, 1.0, 0.98, title_f1=1.0, title_exact=True, day=True),
    scored("fundus", 2, 0.9, 0.92, title_f1=0.5, title_exact=False, day=False),
    scored("fundus", 3, 0.3, 0.6, body_suspect=True),
    scored("daniel", 4, 0.8, 0.92, language="el"),
    scored("daniel", 5, 0.0, None, language="zh"),
]


def test_scored_corpora_are_not_for_training():
    assert {"l3sgn1", "daniel", "dragnet", "mkwebs"} == FAMILY_OF.keys() - MAY_TRAIN
    assert {"news212", "fundus", "wcxb", "css-sites", "fundus-history", "postlight"} == MAY_TRAIN


def test_groups_by_family_language_and_trusted_labels():
    """Languages are groups if a family has several."""
    found = {name: [page.id for page in members] for name, members in groups(PAGES)}
    assert found == {
        "news": ["1", "2", "3"],
        "news, without suspects": ["1", "2"],
        "daniel": ["4", "5"],
        "daniel, el": ["4"],
        "daniel, zh": ["5"],
        ALL: ["1", "2", "3", "4", "5"],
    }


def test_figures_of_a_family():
    """Means, failed pages, pages without a body; title and date only if labelled."""
    report = build_report("nce", PAGES, peer=None)
    news, daniel = report["groups"]["news"], report["groups"]["daniel"]
    assert (news["pages"], news["sites"], news["empty"]) == (3, 3, 0)
    assert news["f1"] == pytest.approx(2.2 / 3)
    assert news["below"] == pytest.approx(1 / 3)
    assert (news["titles"], news["title_f1"], news["title_exact"]) == (2, 0.75, 0.5)
    assert (news["days"], news["day_right"]) == (2, 0.5)
    assert (daniel["empty"], daniel["below"], daniel["titles"], daniel["days"]) == (1, 0.5, 0, 0)


def test_loss_and_calibration_by_confidence():
    """Empty bodies count as loss but not in the calibration."""
    groups_ = build_report("nce", PAGES, peer=None)["groups"]
    bins = groups_["daniel"]["bins"]
    assert [(one["from"], one["to"], one["pages"]) for one in bins] == [(0, 0, 1), (0.9, 0.95, 1)]
    assert [one["loss"] for one in bins] == pytest.approx([1 / 1.2, 0.2 / 1.2])
    assert groups_["daniel"]["calibration_error"] == pytest.approx(0.12)
    for of in groups_.values():
        assert sum(one["share"] for one in of["bins"]) == pytest.approx(1)
        assert sum(one["loss"] for one in of["bins"]) == pytest.approx(1)


def test_compares_better_mode_of_trafilatura():
    """Pages without a labelled body have no figure."""
    pages = [labelled(page, "one two three four") for page in PAGES]
    bodies = {"trafilatura": ["one two three four"] * 5, "trafilatura fast": ["one"] * 5}
    results = with_peers(PAGES, pages, bodies)
    report = build_report("nce", results, peer="2.0")
    peer_ = report["groups"]["news"]["peer"]
    assert (peer_["best"], peer_["f1"], peer_["below"]) == ("trafilatura", 1, 0)
    assert peer_["difference"] == pytest.approx(2.2 / 3 - 1)
    assert peer_["losses"] == 2
    assert results[0].peers["trafilatura fast"] == pytest.approx(0.4)


def labelled(page: FamilyPage, body: str) -> LabelledPage:
    return LabelledPage(page.corpus, page.id, Path("x"), None, page.site, "tune", body=body)


def test_tables_have_a_cell_for_each_column():
    """With and without trafilatura and a baseline."""
    pages = [replace(page, peers={"trafilatura": 0.5}) for page in PAGES]
    for report in (
        build_report("nce", PAGES, peer=None),
        build_report("nce", pages, peer="2.0", baseline=PAGES),
    ):
        for table in family_tables(report):
            assert {len(row) for row in table.rows} <= {len(table.columns)}


def better_by(gain: Callable[[int], float], count: int = 30) -> tuple[list[FamilyPage], ...]:
    """Return pages of a run and of its baseline."""
    before = [scored("wcxb", number, 0.5, 0.9) for number in range(count)]
    after = [scored("wcxb", n, 0.5 + gain(n), 0.9) for n in range(count)]
    return after, before


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [
        (lambda n: 0.1 + n / 1000, "better"),
        (lambda n: -0.1 - n / 1000, "worse"),
        (lambda n: 0.1 if n % 2 else -0.1, "within noise"),
        (lambda _: 0.0, "same"),
    ],
)
def test_verdict_depends_on_noise(gain: Callable[[int], float], verdict: str):
    """Only a loss beyond the noise is worse."""
    after, before = better_by(gain)
    report = build_report("nce", after, peer=None, baseline=before)
    rows = [row for row in report["changes"] if row["group"] == "wcxb"]
    assert [(row["field"], row["verdict"], row["pages"]) for row in rows] == [("body", verdict, 30)]
    assert is_worse(report) == (verdict == "worse")


def test_compares_only_pages_of_the_baseline():
    """Pages without the label are ignored."""
    report = build_report("nce", PAGES, peer=None, baseline=PAGES[1:3])
    pages = {(row["group"], row["field"]): row["pages"] for row in report["changes"]}
    assert pages[ALL, "body"] == 2
    assert pages["news", "title"] == 1
    assert ("daniel", "body") not in pages


def test_family_page_round_trip():
    report = build_report("nce", PAGES, peer=None)
    again = [FamilyPage.from_plain(row) for row in json.loads(json.dumps(report))["pages"]]
    assert again == PAGES


# --- trafilatura


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Put a module in trafilatura's place; return the addresses of the pages that it reads."""
    found: list[str | None] = []

    def bare_extraction(
        html: bytes, *, url: str | None, include_comments: bool, fast: bool
    ) -> object:
        assert not include_comments
        found.append(url)
        if b"broken" in html:
            raise ValueError("broken")
        return None if b"empty" in html else SimpleNamespace(text=f"{fast} {html.decode()}")

    module = ModuleType("trafilatura")
    module.bare_extraction = bare_extraction  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "trafilatura", module)
    monkeypatch.setattr(peer, "peer_version", lambda: "9.9")
    return found


def write_pages(folder: Path, texts: Sequence[str]) -> list[LabelledPage]:
    pages = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.html.gz"
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
        pages.append(LabelledPage("c", str(number), path, f"https://a/{number}", "a", "tune"))
    return pages


def test_caches_bodies_of_trafilatura(tmp_path: Path, reads: list[str | None]):
    """By mode, page and bytes; failed pages are read again."""
    cache = tmp_path / "cache"
    pages = write_pages(tmp_path, ["one", "empty", "broken"])
    bodies = ["False one", "", ""]
    assert peer.peer_bodies(pages, "trafilatura", cache, workers=0) == bodies
    assert len(reads) == 3
    assert peer.peer_bodies(pages, "trafilatura", cache, workers=0) == bodies
    assert reads[3:] == ["https://a/2"]
    assert peer.peer_bodies(pages[:1], "trafilatura fast", cache, workers=0) == ["True one"]
    changed = write_pages(tmp_path, ["other", "empty"])
    assert peer.peer_bodies(changed, "trafilatura", cache, workers=0) == ["False other", ""]
    assert reads[-1] == "https://a/0"


# --- folds and the command


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three small corpora; a measured and a training one share a domain."""
    folder = tmp_path_factory.mktemp("corpora")
    write_corpus(folder / "news212", [f"{n}.example" for n in range(9)])
    write_corpus(folder / "l3sgn1", ["www.0.example", "other.example"], date=None)
    languages = {"language": "el"}, {"language": "zh"}
    write_corpus(folder / "daniel", ["a.example", "b.example"], languages, date=None, url=None)
    return folder


def write_corpus(
    folder: Path, sites: Sequence[str], more: Sequence[dict[str, Any]] = (), **labels: Any
) -> None:
    (folder / "pages").mkdir(parents=True)
    rows = []
    for n, site in enumerate(sites):
        title, day = f"Harbour bridge {n} reopens after repairs", f"2024-05-{n + 1:02}"
        page = PAGE.format(title=title, day=f"May {n + 1}, 2024", story=STORY)
        (folder / "pages" / f"{n}.html.gz").write_bytes(gzip.compress(page.encode()))
        row = {"id": str(n), "url": f"https://{site}/{n}", "site": site, "title": title}
        row |= {"body": BODY, "date": day, **(more[n] if more else {}), **labels}
        rows.append(row)
    (folder / "truth.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


@pytest.mark.slow
def test_scores_with_models_of_other_domains(corpora: Path):
    """Scored corpora share the folds and are not used for training."""
    pytest.importorskip("sklearn")
    news, *measured = (
        load_corpus(corpora / name).pages for name in ("news212", "l3sgn1", "daniel")
    )
    training_sites = {name for page in news for name in site_names(page)}

    def measure(members: Sequence[LabelledPage], models: Path) -> list[PageOutcome[None]]:
        trained = TRAINED_METHODS[DEFAULT_METHOD](models)
        assert seen(members, trained) == []
        assert trained.sites < training_sites
        return [PageOutcome(page, None) for page in members]

    pages = [*news, *measured[0], *measured[1]]
    found = map_folds(pages, measure, learn_from=news, fit=fit_default, workers=0)
    assert [one.page for one in found] == pages


def evaluate(*arguments: object) -> subprocess.CompletedProcess[str]:
    return scrapy(REPOSITORY, "evaluate", "--task", "families", *arguments)


@pytest.mark.slow
def test_command_compares_with_baseline(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The exit code is 1 if a family got worse."""
    pytest.importorskip("sklearn")
    figures = tmp_path / "figures.json"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = evaluate(corpora, "--json", figures, "--jobs", 0)
    assert done.returncode == 0, done.stderr
    assert (
        "skipped: fundus, wcxb, dragnet, mkwebs, css-sites, fundus-history, postlight"
        in done.stderr
    )
    if peer.peer_version() is None:
        assert "trafilatura is not installed" in done.stderr
    report = json.loads(figures.read_text())
    assert list(report["groups"]) == ["news", "l3sgn1", "daniel", "daniel, el", "daniel, zh", ALL]
    assert report["groups"]["news"]["title_exact"] == report["groups"]["news"]["day_right"] == 1
    assert report["groups"]["l3sgn1"]["days"] == 0

    for page in report["pages"]:
        page["body"][2] += 0.1
    figures.write_text(json.dumps(report))
    done = evaluate(corpora, "--baseline", figures, "--method", "nce", "--jobs", 0)
    assert done.returncode == 1
    assert "Change since the baseline" in done.stdout
    assert "worse" in done.stdout


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (2, [], "'CORPUS...'"),
        (2, ["nowhere", "nowhere"], "name one folder that contains the corpora"),
        (1, ["nowhere"], "no corpus in nowhere; supported: news212, "),
        (2, ["nowhere", "--method", "magic"], "unknown method 'magic'"),
        (1, ["nowhere", "--baseline", "nowhere.json"], "is not a report"),
    ],
)
def test_command_reports_errors(code: int, arguments: list[str], message: str):
    done = evaluate(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.corpus
def test_packaged_models_were_trained_on_training_corpora(corpus_dir: Path):
    pages = [page for name in MAY_TRAIN for page in load_corpus(corpus_dir / name).pages]
    known = {name for page in pages for name in site_names(page)}
    for method in TRAINED_METHODS.keys() & METHODS.keys():
        assert TRAINED_METHODS[method](None).sites <= known, method


@pytest.mark.corpus
@pytest.mark.slow
def test_families_of_real_pages(corpus_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All families have figures, on a few pages of each corpus."""
    pytest.importorskip("sklearn")
    figures = tmp_path / "figures.json"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = evaluate(corpus_dir, "--limit", 12, "--jobs", 1, "--json", figures)
    assert done.returncode == 0, done.stderr
    groups_ = json.loads(figures.read_text())["groups"]
    assert {family.name for family in FAMILIES} < groups_.keys()
    assert min(groups_[family.name]["f1"] for family in FAMILIES) > 0.8
