"""Tables of results: rich tables on a terminal, otherwise aligned text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TextIO

from rich.console import Console
from rich.table import Table as RichTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Table(NamedTuple):
    """A table of text cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def print_tables(tables: Iterable[Table], stream: TextIO) -> None:
    """Print the *tables* that have rows to *stream*."""
    show = _print_rich if stream.isatty() else _print_plain
    for table in tables:
        if table.rows:
            show(table, stream)


def markdown(table: Table, *, level: int = 2) -> str:
    """Return *table* as Markdown under a heading of the given *level*."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return f"{'#' * level} {table.title}\n\n" + "".join(
        f"| {' | '.join(line)} |\n" for line in lines
    )


def figure(value: float) -> str:
    """Return *value* with three decimals."""
    return f"{value:.3f}"


def share(value: float) -> str:
    """Return *value* as a percentage."""
    return f"{100 * value:.1f} %"


def _print_rich(table: Table, stream: TextIO) -> None:
    grid = RichTable(title=table.title, title_justify="left", title_style="bold")
    for index, column in enumerate(table.columns):
        grid.add_column(column, justify="right" if _is_numeric(table, index) else "left")
    for row in table.rows:
        grid.add_row(*row)
    Console(file=stream, markup=False).print(grid)


def _print_plain(table: Table, stream: TextIO) -> None:
    lines = [table.columns, *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = [_is_numeric(table, index) for index in range(len(widths))]
    stream.write(f"{table.title}\n")
    for line in lines:
        cells = (
            cell.rjust(width) if numeric else cell.ljust(width)
            for cell, width, numeric in zip(line, widths, right, strict=True)
        )
        stream.write(f"  {'  '.join(cells)}".rstrip() + "\n")
    stream.write("\n")


def _is_numeric(table: Table, index: int) -> bool:
    return all(not cell or cell[0] in "+-0123456789" for cell in (row[index] for row in table.rows))
