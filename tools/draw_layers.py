"""Draw the layers of the package and its imports: docs/internals/architecture.svg.

``python -m tools.draw_layers`` writes the diagram (``make diagram``). A line means that a package
imports from another one. Imports that follow from others (A from B, B from C, so A from C) are not
drawn, nor are modules without a package.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.dots import INVERTED
from tests.test_layout import LAYERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "internals" / "architecture.svg"
CAPTIONS = (
    "basics",
    "page, models, exporters",
    "extraction core",
    "extract()",
    "workers",
    "crawl",
    "middlewares, archives",
    "pipelines, spiders",
    "add-on, settings",
    "commands",
    "research",
)
WIDTH, ROW, BOX, GAP, LEFT = 860, 84, 34, 18, 150
CHARACTER = 8.4

Graph = dict[str, set[str]]


def package_imports(package: Path) -> Graph:
    """Return the packages that each package imports, itself excluded."""
    names = (name for layer in LAYERS for name in layer)
    graph: Graph = {name: set() for name in names if (package / name).is_dir()}
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).parts[0].partition(".")[0]
        if name in graph:
            found = {module.split(".")[1] for module in _modules(file) if "." in module}
            graph[name] |= (found & graph.keys()) - {name}
    return graph


def _modules(file: Path) -> Iterator[str]:
    """Yield the modules of the package that *file* imports, without those for typing only."""
    for node in _runtime_nodes(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("newscrawl."))
        elif isinstance(node, ast.ImportFrom) and node.module == "newscrawl":
            yield from (f"newscrawl.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("newscrawl."):
            yield node.module or ""


def _runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _runtime_nodes(child)


def reduce(graph: Graph) -> Graph:
    """Return *graph* without the edges that follow from others."""

    def reachable(start: str, seen: set[str]) -> set[str]:
        for name in graph[start] - seen:
            seen.add(name)
            reachable(name, seen)
        return seen

    indirect = {
        name: set().union(*(reachable(other, set()) for other in others))
        for name, others in graph.items()
    }
    return {name: others - indirect[name] for name, others in graph.items()}


def arrange(graph: Graph) -> dict[str, tuple[float, float, float]]:
    """Return x, y and width of each box: layers from bottom to top, few crossings."""
    boxes: dict[str, tuple[float, float, float]] = {}
    for number, layer in enumerate(LAYERS):
        y = (len(LAYERS) - 1 - number) * ROW + 24
        names = sorted(layer & graph.keys(), key=lambda name: (_centre(name, graph, boxes), name))
        widths = {name: len(name) * CHARACTER + 24 for name in names}
        total = sum(widths.values()) + GAP * (len(names) - 1)
        x: float = LEFT + (WIDTH - LEFT - total) / 2
        for name in names:
            boxes[name] = (x, y, widths[name])
            x += widths[name] + GAP
    return boxes


def _centre(name: str, graph: Graph, boxes: Mapping[str, tuple[float, float, float]]) -> float:
    """Return the mean x of the boxes that *name* imports."""
    below = [boxes[other][0] + boxes[other][2] / 2 for other in graph[name] if other in boxes]
    return sum(below) / len(below) if below else WIDTH / 2


def draw(graph: Graph) -> str:
    """Return the diagram of a reduced graph as SVG."""
    boxes = arrange(graph)
    height = len(LAYERS) * ROW + 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
    lines = [
        f'{head} font-family="sans-serif" font-size="14">',
        "<title>Layers of newscrawl and their imports</title>",
        INVERTED,
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for number, caption in enumerate(CAPTIONS[: len(LAYERS)]):
        y = (len(LAYERS) - 1 - number) * ROW + 8
        shade = "#f6f7f9" if number % 2 else "#eceff3"
        lines.append(f'<rect y="{y}" width="{WIDTH}" height="{ROW - 10}" fill="{shade}"/>')
        text = f'<text x="8" y="{y + 22}" fill="#444" font-size="11">{number + 1}  {caption}</text>'
        lines.append(text)
    lines += [_edge(boxes, one, two) for one in sorted(graph) for two in sorted(graph[one])]
    for name, (x, y, width) in sorted(boxes.items()):
        lines.append(
            f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="5" fill="#fff" '
            'stroke="#345"/>'
        )
        middle = f'x="{x + width / 2:.0f}" y="{y + 22}" text-anchor="middle"'
        lines.append(f'<text {middle} fill="#123">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _edge(boxes: Mapping[str, tuple[float, float, float]], one: str, two: str) -> str:
    """Return the line from a package to one that it imports."""
    (x, y, width), (to_x, to_y, to_width) = boxes[one], boxes[two]
    start, end = x + width / 2, to_x + to_width / 2
    if y == to_y:  # of one layer
        path = f"M{start:.0f} {y + BOX} Q{(start + end) / 2:.0f} {y + BOX + 26} {end:.0f} {y + BOX}"
    else:
        path = (
            f"M{start:.0f} {y + BOX} C{start:.0f} {y + BOX + 30} {end:.0f} {to_y - 30} "
            f"{end:.0f} {to_y}"
        )
    return f'<path d="{path}" fill="none" stroke="#78a" stroke-width="1.2"/>'


def diagram() -> str:
    """Return the diagram of the package as it is."""
    return draw(reduce(package_imports(ROOT / "newscrawl")))


def main() -> None:
    """Write the diagram."""
    TARGET.write_text(diagram(), encoding="utf-8")


if __name__ == "__main__":
    main()
