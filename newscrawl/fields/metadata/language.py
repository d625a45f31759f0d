"""Language of a text, detected with py3langid (extra ``newscrawl[language]``)."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from newscrawl.items import Evidence
from newscrawl.text import weighted_length

DETECTED = "detected"
"""Source of a detected language."""

_MIN_CHARS = 100
_MAX_CHARS = 500
_MIN_PROBABILITY = 0.9


def detect_language(text: str) -> tuple[str, Evidence] | None:
    """Return the language of *text*, an ISO 639-1 code, and the evidence with its probability.

    None for a short or ambiguous text, and if py3langid is not installed.
    """
    start = text[:_MAX_CHARS]
    if weighted_length(start) < _MIN_CHARS:
        return None
    classifier = _classifier()
    if classifier is None:
        return None
    language, probability = classifier.classify(start)
    if probability < _MIN_PROBABILITY:
        return None
    return language, Evidence(DETECTED, float(probability))


@cache
def _classifier() -> Any:
    """Return the classifier, which is loaded for the first text; None if it is not installed."""
    if find_spec("py3langid") is None:
        return None
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415  # optional, slow

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
