"""Packaging of newscrawl; the metadata is in pyproject.toml.

The entry points stand here because ``scrapyd-deploy`` builds its egg by
running this file: the ``scrapy`` group tells scrapyd where the settings are.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup


def extensions() -> list[Extension]:
    """Return the compiled modules, each the double of one in Python, which serves without it.

    None in eggs, which go to servers of other platforms, and none where Cython is missing.
    """
    if "bdist_egg" in sys.argv:
        return []
    try:
        import lxml  # noqa: PLC0415
        from Cython.Build import cythonize  # noqa: PLC0415
    except ImportError:
        return []
    modules = [
        Extension(
            ".".join(path.with_suffix("").parts), [str(path)], include_dirs=lxml.get_include()
        )
        for path in sorted(Path("newscrawl").rglob("*.pyx"))
    ]
    built: list[Extension] = cythonize(modules, build_dir="build")
    for extension in built:
        extension.optional = True  # cythonize forgets it
    return built


setup(
    packages=find_packages(include=["newscrawl", "newscrawl.*"]),
    ext_modules=extensions(),
    entry_points={
        "scrapy": ["settings = newscrawl.settings.base"],
        "scrapy.commands": [
            "cluster = newscrawl.commands.cluster_command:ClusterCommand",
            "extract = newscrawl.commands.extract_command:ExtractCommand",
            "evaluate = newscrawl.commands.evaluate_command:EvaluateCommand",
            "train = newscrawl.commands.train_command:TrainCommand",
        ],
    },
)
