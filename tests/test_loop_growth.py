"""No loop that reads downloaded bytes takes quadratic time.

Each reader gets inputs of many shapes, with a unit repeated n, 2n and 4n times. The operations are
counted by place in the source, in Python code where a module is also compiled.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from newscrawl.document.document import MAX_DEPTH
from tests.conftest import REPOSITORY


def growing_places(cases: str, *sizes: int, **environment: str) -> dict[str, Any]:
    """Return the places that grow too fast by case, counted in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.loop_counter", cases, *map(str, sizes)],
        cwd=REPOSITORY,
        env={**os.environ, "NEWSCRAWL_NO_EXTENSIONS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found
    return {case: places for case, places in found.items() if places}


def test_no_place_grows_too_fast():
    assert growing_places("tests.helpers.input_shapes:cases", 30, 60, 120) == {}


@pytest.mark.slow
def test_no_place_grows_too_fast_on_long_inputs():
    assert growing_places("tests.helpers.input_shapes:cases", 100, 200, 400) == {}
    sizes = (MAX_DEPTH // 2, MAX_DEPTH, 2 * MAX_DEPTH)
    assert growing_places("tests.helpers.input_shapes:deep_cases", *sizes) == {}


QUADRATIC = {
    "loop": "[a for a in items for b in items]",
    "pairs": "sum(1 for n, _ in enumerate(items) for _ in items[:n])",
    "membership": "[a for a in items if -1 in items]",
    "slices": "[items[n:] for n in range(len(items))]",
    "concatenation": "reduce(lambda text, a: text + str(a), items, '')",
    "count": "[text.count('b', 0) for a in items]",
    "find": "[text.find('b', n) for n in items]",
    "search": "[PATTERN.search(text, n) for n in items]",
    "insertion": "reduce(lambda known, a: known.insert(0, a) or known, items, [])",
    "sums": "[sum(items) for a in items]",
}
LINEAR = {
    "slice": "[items[n : n + 3] for n in items]",
    "search": "[PATTERN.match(text, n) for n in items]",
    "set": "[a for a in items if -1 in keys]",
    "sort": "sorted(items)",
    "join": "''.join([str(a) for a in items])",
}


@pytest.mark.parametrize(("works", "grow"), [(QUADRATIC, True), (LINEAR, False)])
def test_finds_quadratic_places(tmp_path: Path, works: dict[str, str], grow: bool):
    lines = [f"{name!r}: lambda items, keys, text: {code}," for name, code in works.items()]
    source = f"""\
        import re
        from functools import partial, reduce

        PATTERN = re.compile("b")
        WORKS = {{
            {"".join(lines)}
        }}

        def run(work, size):
            work(list(range(size)), set(range(size)), "a" * size)

        def cases():
            return [(name, partial(run, work)) for name, work in WORKS.items()]
        """
    (tmp_path / "planted.py").write_text(textwrap.dedent(source), encoding="utf-8")
    path = os.pathsep.join([str(REPOSITORY), str(tmp_path)])
    found = growing_places("planted:cases", 40, 80, 160, PYTHONPATH=path)
    assert found.keys() == (works.keys() if grow else set())
