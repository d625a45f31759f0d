"""Links to the rest of a story on several pages: its next page, or a view of the whole story.

The address decides, independent of the language: it is that of the page itself but for the number
of the page. The link must say so too: ``rel=next``, the number as its text, a class name, an arrow
or a word, close to the text of the story.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urljoin, urlsplit

from newscrawl.document.document import rows_between
from newscrawl.language_words import pattern
from newscrawl.patterns import lazy_regex
from newscrawl.text import unescape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

    #: path and parameters without the number of the page
    Address = tuple[str, tuple[tuple[str, str], ...]]
    Readings = dict[Address, int | None]
    #: address, text, and whether it is named as the next page
    Link = tuple[str, str, bool]

_TEXTS_BEFORE: Final = 40
_TEXTS_AFTER: Final = 80
"""Texts before and after a story among which its page numbers are."""
_MAX_LABEL: Final = 40

# Parameters that number pictures, comments and list pages.
_OTHER: Final = lazy_regex(
    r"(?:c|comments?|replies|reply)[-_]?(?:page|p)?|(?:image|img|photo|foto|pic|picture|slide|bild|galler[yi]|galerie"
    r"|diapo|video|ad|v|ver|lang|id|sort|order|size)\w*",
    re.IGNORECASE,
)
_LABEL_NUMBER: Final = lazy_regex(r"\d+")
_PAGE_NUMBER: Final = lazy_regex(r"\d(?<!\d\d)\d?(?!\d)")
_NUMBERED_PATH: Final = lazy_regex(
    r"(?P<base>/.*[^/])[-_/,.](?P<word>[a-z]{0,8})[-_=]?(?P<number>\d{1,2})(?P<end>\.\w{2,5})?",
    re.IGNORECASE,
)
_NAME_END: Final = lazy_regex(
    r"(?:(?:[-_,.][a-z]{0,8}[-_=]?)?\d{1,2})?(?:\.\w{2,5})?$", re.IGNORECASE
)
_OPTION: Final = lazy_regex(
    rb"<(?:option|OPTION)\b[^<>]{0,300}?\s(?:value|VALUE)=[\"']?([^\"'<>\s]{1,500})"
)
_MIN_STEM: Final = 4
_ABSOLUTE: Final = ("/", "#", "https:", "http:")
_ELSEWHERE: Final = lazy_regex(r"\s*(?:[/#]|[a-z][a-z\d+.-]*:)", re.IGNORECASE)
"""Start of an address that does not depend on the path of the page, or does not leave the page."""
_LAST_WORD: Final = lazy_regex(r"[-_/,.]([^\W\d_]{1,8})$")
_OTHER_WORD: Final = lazy_regex(
    r"comments?|image|photo|foto|slide|bild|gallery|galerie", re.IGNORECASE
)
_WHOLE_VALUE: Final = lazy_regex(
    r"all|alle|alles|full|fulltext|whole|complete|komplett\w*|single\w*|one-?page|tout|todo|print",
    re.IGNORECASE,
)
_WHOLE_PATH: Final = lazy_regex(
    r"/(?:all|full|single(?:-?page)?|one-?page|complete|komplett(?:ansicht)?|view-?all|seite-alles|print)$",
    re.IGNORECASE,
)
_NEXT_NAME: Final = lazy_regex(
    r"(?:^|[\s_-])(?:next|forward)(?:$|[\s_-])|(?<![a-z])nextpage", re.IGNORECASE
)


def find_further_pages(document: Document, roots: Sequence[int], url: str) -> tuple[str, ...]:
    """Return the URLs at which the story at *url* may continue, in the order of trial.

    *roots* are those of its body. A view of the whole story comes first, then the next page;
    nothing without a next page.
    """
    links = document.statements if document.rows_of("base") else ()
    bases = (link.get("href") for link in links if link.tag == "base")
    try:
        stem = _stem(url)
        numbered = list(_links(document, roots, stem, numbered=True))
        if not numbered:  # the common case
            return ()
        base, host, own = urljoin(url, next(bases, "")), urlsplit(url).netloc, _splits(url)
    except ValueError:  # no address, or one with too many parameters
        return ()

    def targets(links: Iterable[Link]) -> Iterator[tuple[str, Readings, str, bool]]:
        """Yield address, readings and label of *links* on the host, and whether they are named."""
        for href, label, is_next in links:
            with suppress(ValueError):
                target = urljoin(base, href)
                if urlsplit(target).netloc == host:
                    yield target, _splits(target), label, is_next

    for following, splits, label, is_next in targets(numbered):
        if _follows(own, splits, label, is_next=is_next):
            others = targets(_links(document, roots, stem, numbered=False))
            whole = (it for it, _, _, is_next in others if not is_next and _is_whole(url, it))
            return tuple(dict.fromkeys([*islice(whole, 1), following]))
    return ()


def further_pages(urls: Iterable[str]) -> dict[str, str]:
    """Return those of *urls* that may be further pages of stories, with the URLs of these.

    Only the addresses are compared: a story may also be named like another one with a number.
    """
    first: dict[tuple[str, Address], str] = {}
    later: dict[str, list[tuple[str, Address]]] = {}
    for url in urls:
        try:
            host, splits = urlsplit(url).netloc, _splits(url)
        except ValueError:
            continue
        for address, number in splits.items():
            if number is None or (number == 1 and (host, address) not in first):
                first[host, address] = url
            if number is not None:
                later.setdefault(url, []).append((host, address))
    found = {
        url: next((first[address] for address in addresses if address in first), url)
        for url, addresses in later.items()
    }
    return {url: story for url, story in found.items() if story != url}


def _stem(url: str) -> str:
    """Return the start of the last part of the path of *url*, which its further pages have too.

    It is empty if the part may be a number only.
    """
    name = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    stem = _NAME_END.sub("", name)
    return stem if len(stem) >= _MIN_STEM and "%" not in stem else ""


def _links(
    document: Document, roots: Sequence[int], stem: str, *, numbered: bool
) -> Iterator[Link]:
    """Yield the links and options that may lead to a page of the story.

    Links with a path that lacks *stem* are left out; with *numbered*, those without a number, too,
    and those of which neither name nor text says that they are a page of the story.
    """
    related = [link for link in document.statements if "rel" in link.attributes]
    following = [link for link in related if "next" in link.get("rel").lower().split()]
    yield from ((link.get("href"), "", True) for link in following if link.tag == "link")
    named = {link.row for link in following if link.tag == "a"}
    texts = document.text_rows
    first, last = min(roots), max(map(document.end.__getitem__, roots))
    before = rows_between(texts, 0, first)[-_TEXTS_BEFORE:]
    after = rows_between(texts, last, len(document))[:_TEXTS_AFTER]
    start, stop = min(before, default=first), max(after, default=last)
    address_of = document.attributes["href"].get
    marks = document.attributes["class"], document.attributes["id"]
    rows = rows_between(document.rows_of("a"), start, stop + 2)
    links = [(row, href) for row in rows if (href := address_of(row)) is not None]
    if stem:  # most links lead elsewhere
        links = [it for it in links if stem in it[1] or not it[1].startswith(_ABSOLUTE)]
    for row, href in links:
        if numbered and not _PAGE_NUMBER.search(href):
            continue
        if stem not in href and _ELSEWHERE.match(href):
            continue
        label = document.shown_text(row)
        if not label and (href.startswith("?") or (stem and stem in href)):
            images = rows_between(document.rows_of("img"), row, document.end[row])
            label = next((document.attributes_of(it).get("alt", "") for it in images), "")
        names = [names.get(it, "") for names in marks for it in (row, document.parent[row])]
        is_named = row in named or _NEXT_NAME.search(" ".join(names)) is not None
        says_page = not numbered or is_named or len(_LABEL_NUMBER.findall(label)) == 1
        if is_named or (0 < len(label) <= _MAX_LABEL and (says_page or _says_next(label))):
            yield href.strip(), label, is_named
    if rows_between(document.rows_of("option"), start, stop + 2):
        yield from _options(document, stem)


def _options(document: Document, stem: str) -> Iterator[Link]:
    """Yield the addresses of a menu, and the last number of each as its text, which is not kept."""
    for value in _OPTION.findall(document.source):
        address = unescape(value.decode(errors="replace"))
        if not address.isalnum() and (stem in address or not _ELSEWHERE.match(address)):
            yield address, "".join(_LABEL_NUMBER.findall(address)[-1:]), False


def _splits(url: str) -> Readings:
    """Return the readings of *url* as the page of a story, with its number, None without one."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    pairs = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=20)
    query = tuple(sorted(pairs))
    splits: Readings = {(path, query): None}
    for place, (name, value) in enumerate(query):
        if value.isdecimal() and len(value) <= 2 and not _OTHER.fullmatch(name):
            splits[path, query[:place] + query[place + 1 :]] = int(value)
    if found := _NUMBERED_PATH.fullmatch(path):
        base, end = found["base"], found["end"] or ""
        word = _LAST_WORD.search(base)
        if not _OTHER_WORD.search(f"{found['word']} {word[1] if word else ''}"):
            # Also without a word for "page".
            word_only = path[: found.start("number")].rstrip("-_=/,.")  # index.html, index2.html
            for path_of_story in (base, _LAST_WORD.sub("", base), word_only):
                splits[path_of_story + end, query] = int(found["number"])
    return splits


def _says_next(label: str) -> bool:
    return not label.strip("»›→>▶⟩") or pattern("next_pages").search(label.lower()) is not None


def _follows(
    own: Readings,
    other: Readings,
    label: str,
    *,
    is_next: bool,
) -> bool:
    is_named = is_next or _says_next(label)
    numbers = _LABEL_NUMBER.findall(label)
    for address in own.keys() & other.keys():
        here, there = own[address], other[address]
        number = 2 if here is None else here + 1
        if there == number and (is_named or numbers == [str(number)]):
            return True
        # Pages are counted from zero.
        if not here and there == 1 and (is_named or numbers == ["2"]):
            return True
    return False


def _is_whole(url: str, target: str) -> bool:
    own, other = urlsplit(url), urlsplit(target)
    rest = other.path.rstrip("/").removeprefix(own.path.rstrip("/"))
    if rest:
        return _WHOLE_PATH.fullmatch(rest) is not None
    here, there = (set(parse_qsl(it.query, max_num_fields=20)) for it in (own, other))
    values = [value for _, value in there - here]
    return len(values) == 1 and _WHOLE_VALUE.fullmatch(values[0]) is not None
