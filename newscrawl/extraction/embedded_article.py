"""Full article text in the data of a page, for pages that show only its beginning or nothing.

The article is the text whose object names the headline, or that continues what the page shows.
"""

from __future__ import annotations

import html
import json
import re
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from newscrawl.body.boilerplate import boilerplate
from newscrawl.body.text_features import ending
from newscrawl.document.document import DocumentError, parse_document
from newscrawl.extraction.render import render
from newscrawl.extraction.script_data import (
    encoded_texts,
    expanded,
    nested_values,
    resolve_references,
    script_values,
    written_texts,
)
from newscrawl.patterns import lazy_regex
from newscrawl.text import WIDE_WEIGHT, char_weight, letter_overlap, squeeze, weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields import Metadata

MAX_SHOWN_CHARS = 2500
"""Maximum weighted characters of a body that may be incomplete."""
MIN_LENGTH_RATIO = 1.5
"""Minimum length of the embedded article relative to the visible body that it continues."""
MAX_OTHER_CHARS = 400
"""Maximum weighted characters of a body that the embedded article does not contain."""
MIN_OTHER_RATIO = 3.0
"""Minimum length of the embedded article relative to such a body."""
MIN_CHARS = 250
"""Minimum weighted characters of an embedded article."""
_MAX_VALUES = 100_000
# Levels of objects and lists around the text of a paragraph.
_MAX_DEPTH = 12
_MAX_TEXTS = 200  # that are compared with the page
# Start of the longest visible text to take the search string from, and its minimum length.
_PROBE_RANGE, _MIN_PROBE = 200, 12
_MIN_HEADLINE = 10
_MAX_HEADLINE = 400
_MAX_START = 4000  # characters of HTML that are compared with a description
_MAX_MESSAGE = 120  # of a page that shows no story; longer text is a teaser
_PARENTS = 4
_MAX_REST, _MIN_WHOLE = 0.15, 0.8
_SEARCHED = 24
_MIN_SHARED = 0.4  # of the shingles of a headline, in the story below it

# Keys of texts and of nested objects in the rich text of Arc, Contentful, Draft.js, Editor.js,
# Gutenberg, htmlparser2, Portable Text, ProseMirror and Slate.
_TEXT_KEYS = (
    "text", "value", "html", "content", "rendered", "innerHTML", "data", "body", "paragraph", "basic",
    "articleBody", "children", "nodes", "blocks", "paragraphs", "items", "list_items", "content_elements",
    "components", "elements", "attributes", "attrs", "props", "model", "fields", "document", "json", "root",
    "childNodes", "textData",
)  # fmt: skip
_NO_TEXT = lazy_regex(
    r"^(?:.*(?:image|img|photo|picture|video|gallery|embed|iframe|related|teaser|advert|promo|newsletter"
    r"|caption|interstitial|script|footer|(?<!un)style|figure|player|divider).*|ads?|aside|media|nav)$",
    re.IGNORECASE,
)
_BLOCK = lazy_regex(
    r"^(?:p|h[1-6]|li|d[dt]|t[dh]|blockquote)$|head|para|list|block$", re.IGNORECASE
)
_OTHER_STORIES = lazy_regex(
    r"descri|excerpt|summary|abstract|standfirst|synopsis|comment|repl(?:y|ies)|related|recommend|trending|most_?(?:read|popular)|teaser|biograph|footer|menu"
    r"|navigation|legal|privacy|disclaimer|i18n|locale|translation|config|settings|newsletter|^bio$",
    re.IGNORECASE,
)
_TITLE_KEY = lazy_regex(r"title|headline|heading", re.IGNORECASE)
_ADDRESS_KEYS = frozenset(
    {"url", "slug", "link", "href", "path", "uri", "permalink", "canonical_url", "website_url"}
)
# Of stores of objects: Apollo, Relay, JSON:API, Contentful.
_STORE_KEYS = frozenset({"ROOT_QUERY", "client:root", "included", "includes"})
_ESCAPED_TAG = lazy_regex(r"&(?:amp;)*+lt;/?[a-z]", re.IGNORECASE)
_TAG = lazy_regex(r"</?[a-z][^<>]*>", re.IGNORECASE)
_SEPARATOR = lazy_regex(r"(?<=\S)\s++[-|–—:·•«»]\s+")  # of headline and site
_SHORTCODE = lazy_regex(r"\[[a-z][\w-]*\s[^\[\]=]*+=[^\[\]]*+\]|\[/[a-z][\w-]*\]")  # of WordPress
_CODE = lazy_regex(r"[{}<>=;\\|_[](?:(?<!\[)|\w++-)")  # begins with a set, for speed
_MAX_WORD = 100
_BASE64_SIGNS = str.maketrans("", "", "+/=_-")
_MAX_CODE_SHARE = 0.02
# Text that is never escaped in JSON.
_UNESCAPED = lazy_regex(r"[^\"\\/<>&\s\u2010-\u2026]+(?: [^\"\\/<>&\s\u2010-\u2026]+)*")


def find_embedded_article(
    document: Document, rows: Sequence[int], metadata: Metadata, title: str, url: str | None
) -> str | None:
    """Return the full text of the article that the text nodes *rows* show a part of, or None.

    Its data name a headline or URL of the page, or it begins like the page or a description.
    Paragraphs are separated by blank lines. The text in JSON-LD is read first.
    """
    before = document.chars_before
    shown = sum([before[row + 1] - before[row] for row in rows])
    if shown > MAX_SHOWN_CHARS:
        return None
    longest = max(map(document.text.__getitem__, rows), key=len, default="")
    probe = _search_string(longest[:_PROBE_RANGE])
    titles = (*(it.text for it in metadata.titles), document.title, title)
    headlines = list(dict.fromkeys(titles))
    descriptions = [it.text for it in metadata.descriptions]
    page = _PageTexts(
        probe if len(probe) >= _MIN_PROBE else "",
        [key for text in headlines if len(key := _key(text)) >= _MIN_HEADLINE],
        [key[:60] for text in descriptions if len(key := _key(text)) >= _MIN_HEADLINE],
        [
            path
            for it in (url, metadata.canonical_url)
            if it and len(path := _path(it)) >= _MIN_HEADLINE
        ],
    )
    wanted = _forms(
        [page.probe]
        if shown > MAX_OTHER_CHARS
        else [page.probe, *(path.rpartition("/")[2] for path in page.paths)]
        + [
            _search_string(part)[:_SEARCHED]
            for text in headlines + descriptions
            for part in _SEPARATOR.split(text[:_PROBE_RANGE])
        ],
        # Looking for one long text is faster.
        encoded=shown > MAX_OTHER_CHARS or b"%22%3A" in document.source,
    )
    if not wanted and shown > MAX_OTHER_CHARS:
        return None
    last = next((document.text[row] for row in reversed(rows) if len(document.text[row]) > 40), "")
    # Text that the page shows all of counts, too.
    min_chars = max(MIN_CHARS / WIDE_WEIGHT, _MIN_WHOLE * shown / char_weight(longest))
    best, best_score = None, (0, 0.0)
    values = chain([metadata.article_body], script_values(document, wanted, min_chars))
    least_agreement = _CONTINUES if shown > MAX_OTHER_CHARS else _DESCRIBED
    for text, agreement in _DataReader(page, least_agreement).articles(values):
        size = weighted_length(text)
        if last and size >= _MIN_WHOLE * shown and _ends_with(text, last):
            if 2 * weighted_length(longest) < shown:
                return None  # the page shows all of it
            continue  # or one paragraph, which may be a teaser
        continues = agreement >= _CONTINUES
        if size < max(MIN_CHARS, (MIN_LENGTH_RATIO if continues else MIN_OTHER_RATIO) * shown):
            continue
        if (agreement, size) > best_score:
            best, best_score = text, (agreement, size)
    if best is None and shown <= MAX_OTHER_CHARS and weighted_length(longest) <= _MAX_MESSAGE:
        values = chain(
            written_texts(document),
            script_values(document, ("",), MIN_CHARS),
            encoded_texts(document),
        )
        least = max(MAX_OTHER_CHARS, MIN_OTHER_RATIO * shown)
        shares = {
            text: page.share_in(text) + (agreement >= _NAMED)
            for text, agreement in _DataReader(page, 0).articles(values)
            if weighted_length(text) >= least
        }
        best = max(shares, key=lambda text: (shares[text], len(text)), default=None)
        return best if best is not None and shares[best] >= _MIN_SHARED else None
    return best


_DESCRIBED, _NAMED, _CONTINUES = 1, 2, 4
"""Agreement of a text with the page; sums are possible."""


def _ends_with(text: str, last: str) -> bool:
    """Return whether *text* has little after *last*."""
    key, end = _key(text), _key(last)[-40:]
    place = key.rfind(end)
    return place >= 0 and len(key) - place - len(end) <= _MAX_REST * len(key)


class _PageTexts(NamedTuple):
    """Texts of the page that identify its article."""

    probe: str
    headlines: list[str]
    descriptions: list[str]
    paths: list[str]

    def share_in(self, text: str) -> float:
        """Return the share of a headline, a description or an address that is in *text*."""
        slugs = [_key(path.rpartition("/")[2]) for path in self.paths]
        names = [*self.headlines, *self.descriptions, *slugs]
        return max(
            (letter_overlap(it, text) for it in names if len(it) >= _MIN_HEADLINE), default=0.0
        )


def _search_string(text: str) -> str:
    return max(_UNESCAPED.findall(text), key=len, default="")


def _forms(texts: Iterable[str], *, encoded: bool) -> frozenset[str]:
    """Return *texts* as they are in JSON, in JSON in a string, and if *encoded* percent-encoded."""
    kept = [text for text in texts if weighted_length(text) >= _MIN_HEADLINE]
    escaped = [json.dumps(text)[1:-1] for text in kept]
    nested = [json.dumps(text)[1:-1] for text in escaped]
    return frozenset([*kept, *escaped, *nested, *(map(quote, kept) if encoded else ())])


def _key(text: str) -> str:
    return "".join(words(text))


def _path(url: str) -> str:
    return url.partition("//")[2].partition("/")[2].partition("?")[0].partition("#")[0].strip("/")


class _DataReader:
    """Walks the data of a page for texts with an agreement of *least* or more."""

    def __init__(self, page: _PageTexts, least: int) -> None:
        self._page = page
        self._least = least
        #: texts with their values by id of the value and depth; references make cycles
        self._texts: dict[tuple[int, int], tuple[Any, str]] = {}
        #: whether an object names the page, by its id and whether it is nested
        self._named: dict[tuple[int, bool], bool] = {}

    def articles(self, values: Iterable[Any]) -> Iterator[tuple[str, int]]:
        """Yield texts that agree with the page, with their agreement, without the headline."""
        seen: dict[int, Any] = {}  # with the values, whose ids must not be used again
        texts = 0
        pending: list[tuple[Any, tuple[dict[str, Any], ...]]] = []
        remaining = iter(values)
        is_resolved = False
        for _ in range(_MAX_VALUES):
            if not pending:
                pending += ((value, ()) for value in islice(remaining, 1))
                is_resolved = False
            if not pending or texts >= _MAX_TEXTS:
                return
            value, parents = pending.pop()
            value = expanded(value)
            if isinstance(value, (dict, list)):
                if id(value) in seen:
                    continue
                seen[id(value)] = value
                if isinstance(value, dict) and not (is_resolved or _STORE_KEYS.isdisjoint(value)):
                    resolve_references(value)
                    is_resolved = True
            inside = (value, *parents)[:_PARENTS] if isinstance(value, dict) else parents
            parts = self._parts(value)
            pending += [(part, inside) for part in parts]
            if not _may_be_article(value) or (isinstance(value, str) and parts):
                continue
            agreement = _CONTINUES * self._continues(value)
            if agreement or self._least < _CONTINUES:
                agreement += self._agreement(value, parents)
            if agreement >= self._least and (text := self.article_text(value)):
                texts += 1
                first, _, rest = text.partition("\n\n")
                yield rest if self._is_headline(first) else text, agreement

    def _parts(self, value: Any) -> Sequence[Any]:
        """Return the values in *value* that may contain the article, last first."""
        if isinstance(value, dict):
            items = [it for it in reversed(value.items()) if _may_hold_text(it[1])]
            return [part for key, part in items if not _names_other_stories(key)]
        if isinstance(value, list):
            return list(filter(_may_hold_text, reversed(value)))
        return nested_values(value) if isinstance(value, str) else ()

    def _continues(self, value: Any) -> bool:
        probe = self._page.probe
        return bool(probe) and probe in (value if isinstance(value, str) else self._text(value))

    def _agreement(self, value: Any, parents: Sequence[dict[str, Any]]) -> int:
        page = self._page
        for depth, parent in enumerate(parents):
            key = id(parent), not depth
            if key not in self._named:
                self._named[key] = self._names_page(parent, nested=not depth)
            if self._named[key]:
                return _NAMED
            if any(parent[key] for key in parent if _names_title(key)):
                break  # another story
        text = _plain(self._text(value)[:_MAX_START])[:1000]
        if self._is_headline(text.partition("\n")[0]):
            return _NAMED
        start = _key(text)
        return _DESCRIBED if any(key in start for key in page.descriptions) else 0

    def _names_page(self, value: dict[str, Any], *, nested: bool) -> bool:
        """Return whether a string of *value*, with any key, is a headline, or one an address."""
        for key, part in value.items():
            texts: Iterable[Any] = (part,)
            if isinstance(part, (dict, list)) and (
                nested or key == "attributes" or _names_title(key)
            ):
                texts = part.values() if isinstance(part, dict) else part
            if any(map(self._is_headline, texts)):
                return True
            if key in _ADDRESS_KEYS and isinstance(part, str) and self._is_address(part):
                return True
        return False

    def _is_address(self, text: str) -> bool:
        path = _path(text) or text.strip("/")
        return len(path) >= _MIN_HEADLINE and any(path in own for own in self._page.paths)

    def _is_headline(self, value: Any) -> bool:
        if not isinstance(value, str) or not _MIN_HEADLINE <= len(value) <= _MAX_HEADLINE:
            return False
        key = _key(_plain(value))
        return len(key) >= _MIN_HEADLINE and any(
            key in headline or (headline in key and len(key) < 2 * len(headline))
            for headline in self._page.headlines
        )

    def article_text(self, value: Any) -> str:
        """Return the paragraphs of *value*; none if it is code."""
        parts = value if isinstance(value, list) else [value]
        paragraphs = [text for part in parts if (text := _plain(self._text(part)))]
        text = "\n\n".join(paragraphs)
        is_code = text.startswith('{"') or len(_CODE.findall(text)) > _MAX_CODE_SHARE * len(text)
        return "" if is_code or _is_encoded(max(text.split(), key=len, default="")) else text

    def _text(self, value: Any, depth: int = _MAX_DEPTH) -> str:
        """Return the text of a rich text value: a string, an object or a list of either."""
        if isinstance(value, str):
            return value
        if not (depth and isinstance(value, (dict, list))):
            return ""
        key = (id(value), depth)
        if key not in self._texts:
            self._texts[key] = (value, self._text_of(value, depth))
        return self._texts[key][1]

    def _text_of(self, value: dict[str, Any] | list[Any], depth: int) -> str:
        if isinstance(value, list):
            if not (len(value) > 2 and isinstance(value[0], str) and isinstance(value[1], dict)):
                return _joined([self._text(part, depth - 1) for part in value])
            value = {"type": value[0], "children": value[2:]}  # JsonML
        kind = (
            value.get("type")
            or value.get("_type")
            or value.get("blockName")
            or value.get("__typename")
        )
        edge = _edge(kind) if isinstance(kind, str) else ""
        if edge is None:
            return ""
        for key in filter(value.get, _TEXT_KEYS):
            if (text := self._text(value[key], depth - 1)).strip():
                return edge + text + edge
        sentences = list(filter(_is_sentence, value.values()))
        if not sentences:
            inner = [
                part
                for key, part in value.items()
                if isinstance(part, dict) and _edge(key) is not None
            ]
            sentences = [part for it in inner for part in it.values() if _is_sentence(part)]
        return max(sentences, key=len, default="")


def _is_encoded(word: str) -> bool:
    return len(word) > _MAX_WORD and word.isascii() and word.translate(_BASE64_SIGNS).isalnum()


@lru_cache(maxsize=4096)
def _edge(kind: str) -> str | None:
    """Return the break around the text of an object of this *kind*, None if it has no text."""
    return None if _NO_TEXT.match(kind) else "\n" if _BLOCK.match(kind) else ""


@lru_cache(maxsize=4096)
def _names_title(key: str) -> bool:
    return _TITLE_KEY.search(key) is not None


@lru_cache(maxsize=4096)
def _names_other_stories(key: str) -> bool:
    return _OTHER_STORIES.search(key) is not None


def _is_sentence(value: Any) -> bool:
    return (
        isinstance(value, str)
        and (len(value) >= 40 or (len(value) >= 16 and weighted_length(value) >= 40))
        and " " in value.strip()
    )


def _may_be_article(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) > 1 and not _are_stories(value)
    return isinstance(value, str) and _may_hold_text(value)


def _may_hold_text(value: Any) -> bool:
    return (
        len(value) >= MIN_CHARS / 3 if isinstance(value, str) else isinstance(value, (dict, list))
    )


def _are_stories(values: Sequence[Any]) -> bool:
    """Return whether the objects *values* are stories with a title and an address each."""
    stories = sum(
        isinstance(value, dict)
        and not _ADDRESS_KEYS.isdisjoint(value)
        and any(map(_names_title, value))
        for value in values
    )
    return 2 * stories >= len(values)


def _joined(texts: Iterable[str]) -> str:
    """Join the texts of a list: runs of a paragraph, or paragraphs, which end like sentences."""
    joined = ""
    for text in texts:
        ends = joined and ending(joined) and not text[:1].isspace()
        joined += f"\n\n{text}" if ends and text else text
    return joined


def _plain(text: str) -> str:
    """Return the plain text of HTML, escaped HTML or text, paragraphs separated by blank lines."""
    for _ in range(3):  # escaped more than once
        if not _ESCAPED_TAG.search(text) or _TAG.search(text):
            break
        text = html.unescape(text)
    if _TAG.search(text):
        try:
            document = parse_document(f"<body>{text}</body>")
        except DocumentError:
            return ""
        return render(document, [0], boilerplate(document, [0], None))
    text = _SHORTCODE.sub("", html.unescape(text) if "&" in text else text)
    return "\n\n".join(line for line in map(squeeze, text.splitlines()) if line)
