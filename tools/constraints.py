"""Pin what the container installs: deploy/constraints.txt.

``python -m tools.constraints`` (``make constraints``) writes the newest versions of the
dependencies, with all extras for one machine, that pip finds for the running Python.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "deploy" / "constraints.txt"
HEAD = "# What the container installs, written by `make constraints`.\n"


def resolve(requirement: str) -> dict[str, str]:
    """Return the version of each package that pip would install for *requirement*."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        options = ("--quiet", "--dry-run", "--ignore-installed", "--report", str(report))
        command = [sys.executable, "-m", "pip", "install", *options, requirement]
        subprocess.run(command, check=True)  # noqa: S603  # our own command
        packages = [package["metadata"] for package in json.loads(report.read_text())["install"]]
    return {package["name"]: package["version"] for package in packages}


def main() -> None:
    """Write the file."""
    versions = resolve(f"{ROOT}[all]")
    del versions["newscrawl"]
    lines = [f"{name}=={versions[name]}\n" for name in sorted(versions, key=str.lower)]
    TARGET.write_text(HEAD + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
