"""Pages that sites show in place of stories, in nine languages."""

import tomllib
from pathlib import Path

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: language -> name -> text: title, text and button of a request for consent; texts of a bot check,
#: a login and a page without scripts
TEXTS: dict[str, dict[str, str]] = _DATA["text"]
#: outcome -> name -> page
TEMPLATES: dict[str, dict[str, str]] = _DATA["template"]
_HEAD = "<!DOCTYPE html><html lang={language}><head><title>{title}</title></head>"
_SMALL_MENU = "<p><a href=/imprint>Imprint</a> <a href=/terms>Terms</a></p>"


def barrier_page(outcome: str, template: str, language: str) -> str:
    """Return the page of a *template* in a *language*."""
    values = TEXTS[language] | {"language": language, "menu": _SMALL_MENU}
    page = _HEAD + TEMPLATES[outcome][template] + "</body></html>"
    return page.format(**values)
