"""``extract()``: the one place where the steps are put in order."""

from __future__ import annotations
