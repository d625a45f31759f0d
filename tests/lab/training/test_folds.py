"""Folds of labelled pages."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.folds import FOLDS, extra_site, site_names

SITES = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz")), min_size=1, max_size=40
)


def pages_of(sites: list[tuple[str, str]]) -> list[LabelledPage]:
    """Return a page for each (publisher, domain)."""
    return [
        LabelledPage("c", str(n), Path(), f"https://www.{domain}.example/{n}", site, "tune")
        for n, (site, domain) in enumerate(sites)
    ]


@given(sites=SITES)
def test_extra_site_folds_share_no_site_name(sites: list[tuple[str, str]]):
    pages = pages_of(sites)
    names: list[set[str]] = [set() for _ in range(FOLDS)]
    for page, fold in zip(pages, extra_site(pages), strict=True):
        names[fold].update(site_names(page))
    assert not names[0] & names[1] | names[0] & names[2] | names[1] & names[2]


@given(sites=SITES, data=st.data())
def test_folds_are_independent_of_order(sites: list[tuple[str, str]], data: st.DataObject):
    pages = pages_of(sites)
    shuffled = data.draw(st.permutations(pages))
    one = dict(zip(pages, extra_site(pages), strict=True))
    assert one == dict(zip(shuffled, extra_site(shuffled), strict=True))


def test_extra_site_folds_have_similar_size():
    pages = pages_of([("abcdef"[n % 6], "uvwxyz"[n % 6]) for n in range(60)])
    sizes = [extra_site(pages).count(fold) for fold in range(FOLDS)]
    assert sizes == [20, 20, 20]
