"""The effect of style sheets on the title of the default method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.cardoso.scoring import ALL, Pair, by_group, figure
from newscrawl.corpora.folds import FOLDS, folds
from newscrawl.corpora.metrics import mean
from newscrawl.corpora.tables import Table
from newscrawl.fields.titles.title_model import title_text
from newscrawl.training.title_training import fit_title_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.cardoso.effect import Groups, Pool
    from benchmarks.cardoso.looks import Source

TITLE = "Effect of style sheets on the title of method newscrawl, extra-site"


def default_title_table(pool: Pool, names: Mapping[Source, str], groups: Groups) -> Table:
    """Return the quality of the default's title on the pages with all sheets, by source of style."""
    rows = []
    for source in pool.examples:
        pairs = [pair for pair in find_titles(pool, source) if groups.complete(pair.page)]
        for group, scores in by_group(pairs, groups).items():
            exact = [pair.exact for pair in pairs if group in (ALL, groups(pair.page))]
            scored = (figure(scores.micro.f1), figure(scores.macro), figure(mean(exact)))
            rows.append([group, names[source], str(len(exact)), *scored])
    rows.sort(key=lambda row: (row[0] == ALL, row[0]))
    return Table(TITLE, ("pages", "style from", "titles", "F1", "F1 over pages", "exact"), rows)


def find_titles(pool: Pool, source: Source) -> Iterator[Pair]:
    """Yield the titles that models find which were fitted to other sites."""
    examples = pool.examples[source]
    place = folds(pool.pages, "extra-site")
    for fold in range(FOLDS):
        others = [i for i, other in enumerate(place) if other != fold]
        model = fit_title_model([pool.pages[i] for i in others], [examples[i] for i in others])
        for page, one, other in zip(pool.pages, examples, place, strict=True):
            if other == fold and one.title:
                yield Pair(page, title_text(one.candidates, model), one.title)
