"""No text of an article has control characters: ``cat feed.csv`` runs nothing."""

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from newscrawl.extraction.methods import available_methods
from newscrawl.items import EXTRA_FIELDS, Article
from newscrawl.workers.tasks import extract_page

CONTROLS = "\x07\x1bc\x7f\x80\x85\x9b31m\u202d\u202e"
RAW = f"A {CONTROLS} B"
REFERENCES = "A " + "".join(f"&#{ord(character)};" for character in CONTROLS) + " B"
URL = "https://news.example/2026/05/04/story.html"

#: fields that are not text of the page
NO_TEXT = {
    "date", "date_modified", "kind", "paywalled", "pages", "next_pages", "style_complete", "fetched_at",
    "evidence", "flags", "cluster", "rendered",
}  # fmt: skip


def page(text: str) -> bytes:
    """Return a page with *text* in each statement and in each part of the body."""
    data = {
        "@context": "https://schema.org",
        "@graph": [
            {
                "@type": "NewsArticle",
                "headline": f"Council headline {text}",
                "description": f"A long description of what the council has decided {text}",
                "articleSection": f"Politics {text}",
                "keywords": [f"budget {text}", f"harbour {text}"],
                "author": {"@type": "Person", "name": f"Jane {RAW} Doe", "jobTitle": f"Writer {text}"},
                "video": {"@type": "VideoObject", "url": "/v.mp4", "name": f"Video {text}"},
                "audio": {"@type": "AudioObject", "url": "/a.mp3", "name": f"Audio {text}"},
                "license": f"Licence {text}",
                "dateline": f"TOWN {text}",
                "contentLocation": {"@type": "Place", "name": f"Town {text}"},
                "commentCount": 1,
                "comment": {"@type": "Comment", "text": f"Well {text}", "dateCreated": text},
                "image": {"@type": "ImageObject", "url": "https://news.example/a.jpg",
                          "caption": f"Caption {text}", "creditText": f"Credit {text}"},
                "publisher": {"@type": "Organization", "name": f"Gazette {text}"},
            },
            {
                "@type": "BreadcrumbList",
                "itemListElement": [
                    {"@type": "ListItem", "position": n, "name": f"{name} {text}",
                     "item": f"https://news.example/{name}/"}
                    for n, name in enumerate(("home", "politics", "town"), 1)
                ],
            },
        ],
    }  # fmt: skip
    first, second, third, code = (
        f"The council {text} decided on the budget of the {place}, and on its {thing}. " * 4
        for place, thing in zip(
            ("town", "harbour", "county", "island"),
            ("roads", "cranes", "woods", "ferry"),
            strict=True,
        )
    )
    image = f'<img src=/b.jpg alt="Alt {text}">'
    return f"""<html lang=en><head><meta charset=utf-8><title>Council headline {text}</title>
<link rel=canonical href="{URL}?a={text}"><script type=application/ld+json>{json.dumps(data)}</script>
<link rel=amphtml href="/amp?a={text}"><link rel=alternate hreflang=fr href="/fr?a={text}">
<meta property=og:site_name content="Gazette {text}">
<meta name=news_keywords content="budget {text}, harbour {text}"></head><body><article>
<h1>Council headline {text}</h1><p class=byline>By Jane {text} Doe</p><p>{first}</p>
<time datetime="2026-05-04">4 May {text} 2026</time>
<p>{second} <a href="/a?b={text}">a link {text}</a></p><p>{third} {image}</p>
<figure>{image}<figcaption>Figure {text}</figcaption></figure><pre>{code}</pre>
</article></body></html>""".encode()


def texts(value: Any) -> Iterator[str]:
    """Yield all texts in *value*."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in (*value, *value.values()):
            yield from texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts(inner)


@pytest.mark.parametrize("text", [RAW, REFERENCES])
@pytest.mark.parametrize("method", available_methods())
def test_no_field_has_control_characters(method: str, text: str):
    plain = extract_page(
        page(text),
        url=URL,
        fetched_at="2026-05-05T00:00:00+00:00",
        method=method,
        extra_fields=EXTRA_FIELDS,
    )
    found = [
        value
        for value in texts(plain)
        for character in value
        if (unicodedata.category(character) == "Cc" and character not in "\t\n")
        or character in "\u202d\u202e"
    ]
    assert not found
    if method == "newscrawl":
        names = {field.name for field in fields(Article)} - NO_TEXT
        assert not [name for name in names if not plain[name]]
        assert plain["title"].startswith("Council headline A")
        assert plain["body"].count("decided on the budget") >= 12


def test_hints_have_no_control_characters():
    """Title and date of a feed entry are cleaned."""
    hints = {"title": f"Council {RAW}", "date": f"2026-05-04{CONTROLS[0]}"}
    fetched_at = "2026-05-05T00:00:00+00:00"
    html = f"<p>{'No title and no date here. ' * 30}</p>"
    plain = extract_page(html.encode(), fetched_at=fetched_at, hints=hints)
    assert plain["title"] == "Council A c31m B"
    assert plain["date"] == plain["date_raw"] == "2026-05-04"
