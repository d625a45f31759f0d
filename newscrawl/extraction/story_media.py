"""Images and players of a story: in its body, above it, and after its last paragraph."""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING

from newscrawl.document.rows import INVISIBLE, WIDGET
from newscrawl.extraction.web_addresses import PLAYER_TAGS, PageLinks
from newscrawl.fields import StoryPlaces, shown_caption, whole_number
from newscrawl.items import Media
from newscrawl.patterns import lazy_regex
from newscrawl.text import squeeze, without_controls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from newscrawl.document.document import Document
    from newscrawl.extraction.method import MethodResult
    from newscrawl.items import Article

_AUDIO = lazy_regex(r"soundcloud|spotify|podcast|podigee|[./]audio|\.(?:mp3|m4a|ogg)\b")
_MAX_MEDIA = 500
_MAX_CAPTION = 1000
_SEPARATE_TAGS = frozenset({"aside", "button", "footer", "form", "header", "nav"})


def set_story_media(
    article: Article, document: Document, result: MethodResult, names: AbstractSet[str]
) -> None:
    """Set the fields *names* of *article*: images, videos and recordings in the page's order."""
    found: dict[str, list[Media]] = {
        name: [] for name in ("images", "videos", "audio") if name in names
    }
    links = PageLinks(document, article.url)
    for row in islice(_rows(document, result), _MAX_MEDIA) if found else ():
        tag = document.tag[row]
        image = links.image(row) if tag == "img" else None
        url = image[0] if image else tag in PLAYER_TAGS and links.player(row)
        if not url:
            continue
        name = "images" if image else "audio" if tag == "audio" or _AUDIO.search(url) else "videos"
        if name in found:
            attributes = document.attributes_of(row)
            caption, credit = (it[:_MAX_CAPTION] or None for it in shown_caption(document, row))
            title = squeeze(without_controls(attributes.get("title", "")[:_MAX_CAPTION]))
            width, alt = whole_number(attributes.get("width")), image[1] if image else None
            caption = caption or (None if image else title or None)
            found[name].append(Media(url, caption, credit, alt or None, width))
    for name, media in found.items():
        setattr(article, name, media)


def _rows(document: Document, result: MethodResult) -> Iterator[int]:
    """Yield the rows of images and players from the title to the end of the story's container."""
    roots = sorted(result.roots)
    if not roots:
        return
    title = result.title.row if result.title is not None else None
    start = roots[0] if title is None else min(title, roots[0])
    last = max(document.end[root] for root in roots)
    top = next(it for it in (roots[0], *document.ancestors(roots[0])) if document.end[it] >= last)
    if top == roots[0] and document.tag[top] == "p":
        top = document.parent[top]
    places = StoryPlaces.of(document, title)
    media = sorted(row for tag in ("img", *PLAYER_TAGS) for row in document.rows_of(tag))
    for row in media[bisect_right(media, start) :]:
        if row >= document.end[top]:
            return
        place = bisect_right(roots, row)
        if document.hidden[document.parent[row]] in {INVISIBLE, WIDGET}:
            continue
        if place and row < document.end[roots[place - 1]]:
            is_left_out = any(
                above in result.skipped and document.tag[above] != "figure"
                for above in document.ancestors(row)
            )
        else:
            after = place == len(roots)
            around = (
                roots[place - 1] if place else start,
                len(document) if after else roots[place],
            )
            is_image = document.tag[row] == "img"
            is_left_out = places.place_of(row) != "story" or (
                is_image and not is_separate(document, row, *around, needs_figure=not place)
            )
        if not is_left_out:
            yield row


def is_separate(
    document: Document, row: int, previous: int, following: int, *, needs_figure: bool = False
) -> bool:
    """Return whether the block of the medium *row* has no text except a caption.

    The block is between the rows *previous* and *following*. With *needs_figure*, it is in one.
    """
    in_figure, in_link, caption = False, False, 0.0
    for above in (row, *document.ancestors(row)):
        if above <= previous or document.end[above] > following:
            break
        tag, chars = document.tag[above], document.chars(above)
        if tag in _SEPARATE_TAGS or (above != row and document.hidden[above]):
            return False
        in_link = in_link or tag == "a"
        if tag == "figure":
            in_figure, caption = True, chars
        if tag != "figcaption" and chars > caption:
            return False
    return in_figure or not (in_link or needs_figure)
