"""The page of results of the removal of readers' comments."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from benchmarks.reader_comments.pages import WITHOUT
from benchmarks.reader_comments.tables import MAX_LOST, MIN_REMOVED
from newscrawl.lab.corpora.tables import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.reader_comments.measure import Scored
    from newscrawl.lab.corpora.tables import Table

CORPORA_CHECKED = ("news212", "fundus", "css-sites", "wcxb", "l3sgn1", "daniel", "dragnet")

_HEAD = """\
<!-- Written by `python -m benchmarks.reader_comments --out docs/results/comments.md`: do not edit. -->

# Readers' comments

    python -m benchmarks.reader_comments --out docs/results/comments.md

- **Generated pages**: {made} pages with comments in the markup of {systems} comment systems and CMSs, in
  {languages} languages, and {without} pages without comments whose bodies have their structure or tone (opinion,
  interviews, letters, live blogs). `benchmarks/reader_comments/systems.json` has the markup, after the public
  templates of the software; texts, labels and pages are ours, so these figures show coverage of markup, not a
  rate on the web.
- **Unseen systems**: no rule of the default method names a system, so every system is unseen in the sense of
  leaving one out. Thresholds and words were chosen on one half of the systems (*tune*) and on the corpora; the
  systems of the other half (*report*) were looked at only to score them. Both halves share the words of the
  labels ("Reply", "Comments") in each language.
- **Corpora**: the {real} pages of the corpora with comments in their markup. The labels
  (`benchmarks/comments.json`) are XPaths of sections found by their names and checked by the start and end of their text, so sections without
  a telling name are missing, and *newscrawl* does well on them by construction; *no names at all* does not.
- **Words removed**: mean over pages of the share of comment words (names, dates, buttons, headings and house rules
  included) in text nodes that the body does not contain. **Documents removed**: pages with at least
  {removed:.0%} of the words removed.
- **Body lost**: share of the label, in word trigrams, that the tool finds on the same page without the comments
  (for newscrawl also with the removal off), but not on the page. **Documents that lose**: more than {lost:.0%}.
  **Body kept**: recall of the label, whatever the reason of a loss.
- **newscrawl, no names at all**: the same pages without any class, id or microdata: structure, dates and words alone.
- trafilatura {trafilatura} and resiliparse {resiliparse} are called to leave comments out ({{doc}}`peers`).

Phase 2 of NCE changes {changed} of the pages: its limits keep it from cutting stories. Most of what `nce` removes, phase 1
leaves out with the rest of the page. It is no vote of the default method: on {left} pages newscrawl keeps more than
{kept:.0%} of the comments, and phase 2 changes {helped} of these. The NCE paper states that phase 2 removes the comments of "more than 70%" of the
documents that have some, and that relevant content is lost on "less than 4%"; it does not say from which share of the words
on. `nce:published` has its conditions without limits, `nce:ancestor` the cut of the thesis ({{doc}}`../internals/methods`).

"""


def write_document(
    pages: Sequence[Scored],
    tables: Sequence[Table],
    file: Path,
    *,
    changed: int,
    left: int,
    helped: int,
) -> None:
    """Write the page of results to *file*.

    Phase 2 of NCE has *changed* so many pages. On *left* pages newscrawl leaves comments; phase 2
    has changed *helped* of these.
    """
    made = [page for page in pages if page.half != "corpora" and page.system != WITHOUT]
    head = _HEAD.format(
        made=len(made),
        systems=len({page.system for page in made}),
        languages=len({page.language for page in made}),
        without=sum(page.system == WITHOUT for page in pages),
        real=sum(page.half == "corpora" for page in pages),
        changed=changed,
        left=left,
        helped=helped,
        kept=1 - MIN_REMOVED,
        removed=MIN_REMOVED,
        lost=MAX_LOST,
        trafilatura=version("trafilatura"),
        resiliparse=version("resiliparse"),
    )
    file.write_text(head + "\n".join(map(markdown, tables)), encoding="utf-8")
