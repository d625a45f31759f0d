"""Run tools on pages in worker processes, with a cache of their answers."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import lxml.html

from benchmarks.peers.tool_types import Output, PageInput
from benchmarks.peers.tools import OURS, TOOLS
from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.labels import align
from newscrawl.lab.corpora.map_pages import PageOutcome, map_pages
from newscrawl.lab.evaluation.out_of_fold import map_folds
from newscrawl.lab.evaluation.result_cache import ResultCache, page_key
from newscrawl.lab.training.bundle import fit_bundle, fit_default
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Answer:
    """Output of a tool on a page."""

    output: Output = field(default_factory=Output)
    error: str | None = None

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Answer:
        """Create an answer from the values of :meth:`to_plain`."""
        return cls(Output(**plain["output"]), plain["error"])

    def to_plain(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return {"output": self.output._asdict(), "error": self.error}


def run_tool(
    data: bytes, *, page: dict[str, Any], tool: str, models: str | None = None
) -> dict[str, Any]:
    """Return the :class:`Answer` of *tool* as JSON values; *page* is a plain :class:`LabelledPage`.

    Errors of the tool are raised.
    """
    run, run_modified = _load(tool, models)
    labelled = LabelledPage.from_plain(page)
    page_input = PageInput(
        data,
        data.decode("utf-8", "replace"),
        labelled.url,
        lxml.html.document_fromstring(data).get("lang"),
        labelled.fetched_at,
    )
    output = run(page_input)
    if run_modified is not None:
        output = output._replace(modified=run_modified(page_input))
    return Answer(output).to_plain()


@cache
def _load(
    name: str, models: str | None
) -> tuple[Callable[[PageInput], Output], Callable[[PageInput], str | None] | None]:
    """Return the function of a tool, and its function for the date of modification or None."""
    sys.addaudithook(_no_network)
    tool = TOOLS[name]
    run = tool.load(models) if tool.learned else tool.load()
    return run, tool.load_modified and tool.load_modified()


def _no_network(event: str, _arguments: object) -> None:
    """Audit hook that refuses network connections."""
    if event in {"socket.connect", "socket.getaddrinfo"}:
        raise ConnectionRefusedError("network access is disabled in the comparison")


def title_in_nodes(data: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Return ``{"title": ...}``: the text of the nodes aligned with the label, empty if none."""
    labelled = replace(LabelledPage.from_plain(page), date=None)  # aligning dates is slow
    document = parse_document(data)
    rows = align(document, labelled).title
    return {"title": " ".join(squeeze(document.text[row]) for row in rows)}


def gold_titles(pages: Sequence[LabelledPage], *, workers: int) -> list[str]:
    """Return the text of the title nodes of each page; empty if there are none."""
    outcomes = map_pages(
        "benchmarks.peers.run:title_in_nodes",
        pages,
        lambda plain: str(plain["title"]),
        lambda _: "",
        workers=workers,
    )
    return [outcome.value for outcome in outcomes]


def answers(
    name: str,
    pages: Sequence[LabelledPage],
    *,
    learn_from: Sequence[LabelledPage] | None = None,
    workers: int,
    cache_dir: Path | None = None,
) -> list[Answer]:
    """Return the answers of the tool *name* on *pages*, in order.

    Learned methods are fitted to *learn_from* (by default *pages*) without the fold of the page.
    With *cache_dir*, answers of the same version of a tool are read from there; answers of
    newscrawl are never cached.
    """
    tool = TOOLS[name]
    if tool.learned:
        return _merge(
            map_folds(
                pages,
                lambda members, models: _run(name, members, workers, models=str(models)),
                learn_from=learn_from,
                fit=fit_default if name == OURS else fit_bundle,
                workers=workers,
            )
        )
    if cache_dir is None or tool.package is None:
        return _merge(_run(name, pages, workers))
    cached = ResultCache(cache_dir / f"{name.replace(' ', '-')}-{tool.version}.jsonl")
    keys = [page_key(page) for page in pages]
    missing = {key: page for key, page in zip(keys, pages, strict=True) if key not in cached}
    computed = dict(zip(missing, _merge(_run(name, list(missing.values()), workers)), strict=True))
    # Failures are not cached, as the machine may have been too busy.
    cached.add((key, answer.to_plain()) for key, answer in computed.items() if answer.error is None)
    return [computed.get(key) or Answer.from_plain(cached[key]) for key in keys]


def _run(
    name: str, pages: Sequence[LabelledPage], workers: int, **plain: Any
) -> list[PageOutcome[Answer]]:
    return map_pages(
        "benchmarks.peers.run:run_tool",
        pages,
        Answer.from_plain,
        lambda _: Answer(),
        workers=workers,
        tool=name,
        **plain,
    )


def _merge(outcomes: Sequence[PageOutcome[Answer]]) -> list[Answer]:
    return [replace(outcome.value, error=outcome.error) for outcome in outcomes]
