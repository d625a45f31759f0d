"""Counts of loop iterations and of the elements that C functions read, by place in the source.

:func:`install` makes packages count when they are imported: each function call and loop iteration
is one operation, and a slice, ``in``, concatenation or call of a C function one for each element
that it reads. C code itself is not seen. Run in a process that has not imported the packages yet:
``python -m tests.helpers.loop_counter MODULE:FUNCTION SIZE...`` writes the places that grow too
fast in the cases that the function returns.
"""

import ast
import builtins
import importlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from itertools import pairwise
from types import CodeType
from typing import Any, ClassVar

PACKAGES = ("newscrawl", "protego", "w3lib")
MAX_GROWTH = 2.5
"""Growth of the operations of a place with twice the input; n log n takes up to 2.3."""
MIN_OPERATIONS = 16
"""Operations for each repetition below which a place is not compared."""

_PREFIX = "_loop_counter_"
_CONSTANT_TIME = frozenset(
    """__init__ __new__ accumulate add append appendleft attrgetter bisect bisect_left bisect_right bool
    cache_clear callable cast chain clear close cycle debug discard dropwhile end endswith enumerate
    filter finditer from_iterable get getLogger getattr group hasattr heappop heappush id info isinstance
    islice issubclass item itemgetter items iter iterdecode keys len lru_cache map memoryview next object
    pairwise partial popitem popleft property range repeat reversed scanner send setattr setdefault span
    start startswith starmap super takewhile throw type values warning zip""".split()  # noqa: SIM905
)
"""Names of functions in C that do not depend on the length of their arguments, or are lazy."""
_ADDITIONS = frozenset({"extend", "update", "join"})
_SCANS = frozenset({"find", "index", "count"})
_MATCHES = frozenset({"match", "fullmatch", "search"})
_C_TYPES = (type(len), type("".join), type(str.join), type(dict.__dict__["fromkeys"]), type)
_SIZED = (str, bytes, bytearray, list, tuple, set, frozenset, dict, range)

_sites: list[str] = []
_totals: list[int] = []


class _Instrumenter(ast.NodeTransformer):
    def __init__(self, module: str) -> None:
        self._module = module
        self._function = "<module>"

    def visit(self, node: ast.AST) -> Any:
        """Return *node* with calls that count."""
        for types, method in self._METHODS.items():
            if isinstance(node, types):
                return method(self, node)
        return self.generic_visit(node)

    def _site(self, node: ast.AST, kind: str) -> ast.Constant:
        _sites.append(f"{self._module}:{self._function}:{getattr(node, 'lineno', 0)} {kind}")
        _totals.append(0)
        return ast.Constant(len(_sites) - 1)

    def _counted(self, node: ast.expr, kind: str, function: str, *arguments: ast.expr) -> ast.Call:
        name = ast.Name(_PREFIX + function, ast.Load())
        return ast.copy_location(ast.Call(name, [self._site(node, kind), *arguments], []), node)

    def _visit_function(self, node: Any) -> Any:
        outer, self._function = self._function, node.name
        node.body = [self.visit(statement) for statement in node.body]
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        documented = ast.get_docstring(node, clean=False) is not None
        node.body.insert(documented, ast.Expr(self._counted(node, "function", "tick")))
        self._function = outer
        return node

    def _visit_annotated(self, node: ast.AnnAssign) -> Any:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def _visit_loop(self, node: Any) -> Any:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(self._counted(node, "loop", "tick")))
        return node

    def _visit_comprehension(self, node: ast.comprehension) -> Any:
        self.generic_visit(node)
        node.ifs.insert(0, self._counted(node.target, "comprehension", "tick"))
        return node

    def _visit_call(self, node: ast.Call) -> Any:
        called = ast.unparse(node.func)
        self.generic_visit(node)
        name = called.rpartition(".")[2]
        if name in _CONSTANT_TIME or called in {"super", "locals", "vars", "dir"}:
            return node
        counted = self._counted(node, f"call {called[:40]}", "call", node.func, *node.args)
        counted.keywords = node.keywords
        return counted

    def _visit_subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
            return self._counted(node, "slice", "result", node)
        return node

    def _visit_comparison(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            found = self._counted(node, "in", "contains", node.left, node.comparators[0])
            if isinstance(node.ops[0], ast.In):
                return found
            return ast.copy_location(ast.UnaryOp(ast.Not(), found), node)
        return node

    def _visit_display(self, node: Any) -> Any:
        self.generic_visit(node)
        is_starred = any(isinstance(element, ast.Starred) for element in node.elts)
        if is_starred and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return self._counted(node, "display", "result", node)
        return node

    def _visit_operator(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.BitOr | ast.Sub | ast.BitAnd):
            return self._counted(node, "operator", "result", node)
        return node

    _METHODS: ClassVar[dict[Any, Callable[[Any, Any], Any]]] = {
        (ast.FunctionDef, ast.AsyncFunctionDef): _visit_function,
        (ast.For, ast.AsyncFor, ast.While): _visit_loop,
        (ast.List, ast.Tuple, ast.Set): _visit_display,
        ast.AnnAssign: _visit_annotated,
        ast.BinOp: _visit_operator,
        ast.Call: _visit_call,
        ast.Compare: _visit_comparison,
        ast.Subscript: _visit_subscript,
        ast.comprehension: _visit_comprehension,
    }


def _is_sized(value: object) -> bool:
    return type(value) in _SIZED


def _tick(site: int) -> bool:
    _totals[site] += 1
    return True


def _result(site: int, value: Any) -> Any:
    if _is_sized(value):
        _totals[site] += len(value)
    return value


def _contains(site: int, element: Any, container: Any) -> bool:
    found = element in container
    kind = type(container)
    if kind in (list, tuple):
        _totals[site] += 1 + (container.index(element) if found else len(container))
    elif kind in (str, bytes):
        _totals[site] += 1 + (container.find(element) if found else len(container))
    else:
        _totals[site] += 1
    return found


def _call(site: int, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    result = function(*args, **kwargs)
    if isinstance(function, _C_TYPES) and function.__name__ not in _CONSTANT_TIME:
        owner = getattr(function, "__self__", None)
        if isinstance(owner, re.Pattern):
            _totals[site] += _matched(function.__name__, args, result)
        elif isinstance(owner, str | bytes) and function.__name__ in _SCANS:
            start, end, _ = slice(*(*args[1:], None, None)[:2]).indices(len(owner))
            is_found = function.__name__ != "count" and result >= 0
            _totals[site] += 1 + max(0, (result if is_found else end) - start)
        elif function.__name__ == "pop":
            _totals[site] += len(owner) if args and isinstance(owner, list) else 1
        elif function.__name__ == "isdisjoint":
            _totals[site] += 1 + (min(len(owner), len(args[0])) if _is_sized(args[0]) else 0)
        else:
            read = args if function.__name__ in _ADDITIONS else (owner, *args)
            sized = [value for value in read if _is_sized(value)]
            _totals[site] += 1 + sum(map(len, sized))
    return result


def _matched(name: str, args: Sequence[Any], result: Any) -> int:
    """Return the characters that a pattern has read: up to the end of the match, or all."""
    if name not in _MATCHES:
        return 1 + sum(len(value) for value in args if type(value) in (str, bytes))
    start = args[1] if len(args) > 1 else 0
    if result is not None:
        return 1 + int(result.end()) - start
    return 1 + (min([len(args[0]), *args[2:3]]) - start if name == "search" else 0)


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        tree = ast.fix_missing_locations(_Instrumenter(fullname).visit(tree))
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code


class _Finder(MetaPathFinder):
    def __init__(self, packages: Iterable[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self._packages:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def install(packages: Iterable[str]) -> None:
    """Count in the modules of *packages* that are imported from now on."""
    functions = {"tick": _tick, "result": _result, "contains": _contains, "call": _call}
    for name, function in functions.items():
        setattr(builtins, _PREFIX + name, function)
    sys.meta_path.insert(0, _Finder(packages))


def count(work: Callable[[], object]) -> list[int]:
    """Return the operations of *work*, by number of the place."""
    _totals[:] = [0] * len(_totals)
    work()
    return list(_totals)


def growing_places(work: Callable[[int], object], sizes: Sequence[int]) -> dict[str, list[int]]:
    """Return the operations of the places that grow too fast at each of the last two doublings."""
    work(2)  # imports and caches
    runs = [count(lambda size=size: work(size)) for size in sizes]  # type: ignore[misc]
    found = {}
    for number, values in enumerate(zip(*runs, strict=False)):
        if values[-1] >= MIN_OPERATIONS * sizes[-1] and all(
            later > MAX_GROWTH * earlier for earlier, later in pairwise(values)
        ):
            found[_sites[number]] = list(values)
    return found


def main(cases: str, sizes: Iterable[str]) -> None:
    """Write the places that grow too fast in each of *cases*, a ``module:function``, as JSON."""
    module, _, function = cases.partition(":")
    install([*PACKAGES, module])
    found = getattr(importlib.import_module(module), function)()
    numbers = [int(size) for size in sizes]
    json.dump({name: growing_places(work, numbers) for name, work in found}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
