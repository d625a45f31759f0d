"""The papers' body algorithms: candidate generators, each callable as published."""

import newscrawl.compiled  # noqa: F401  # before the modules that may be compiled
