"""Articles in the embedded data of pages that show only their beginning."""

import json
from base64 import b64encode
from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from newscrawl.extraction.extract import extract

STORY = tuple(
    f"On day {n} the divers went down to the {n}. pier of the bridge, measured how far it had moved, and"
    f" wrote “{n} cm” into the book that the harbour master keeps."
    for n in range(12)
)


def prosemirror(text: str) -> dict[str, Any]:
    """Return a paragraph as nested nodes, with a link."""
    head, link, tail = text.partition("the book")
    return {
        "type": "paragraph",
        "content": [
            {"type": "text", "text": head},
            {"type": "link", "content": [{"type": "text", "text": link}]},
            {"type": "text", "text": tail},
        ],
    }


def htmlparser(text: str) -> dict[str, Any]:
    """Return a paragraph as a tree of HTML nodes."""
    return {"type": "tag", "name": "p", "children": [{"type": "text", "data": text}]}


FORMS = {
    "nodes": [*map(prosemirror, STORY), {"type": "ad", "content": []}],
    "tree of HTML": [*map(htmlparser, STORY)],
    "objects with HTML": [{"kind": "p", "text": f"<b>{text}</b>"} for text in STORY],
    "strings": list(STORY),
    "Gutenberg": [{"name": "core/paragraph", "attributes": {"content": text}} for text in STORY],
    "Editor.js": {"blocks": [{"type": "paragraph", "data": {"text": text}} for text in STORY]},
    "Draft.js": json.dumps(
        {"blocks": [{"key": "k", "text": text, "type": "unstyled"} for text in STORY]}
    ),
    "Ricos": [
        {"type": "PARAGRAPH", "nodes": [{"type": "TEXT", "nodes": [], "textData": {"text": text}}]}
        for text in STORY
    ],
    "DOM": [
        {"nodeName": "p", "childNodes": [{"nodeName": "#text", "value": text}]} for text in STORY
    ],
    "Arc": [{"type": "text", "_id": "X1", "content": text} for text in STORY],
    "HTML": "".join(f"<p>{text}</p>\n" for text in STORY),
}


def page(data: object, *, shown: int = 2) -> str:
    """Return a page that shows the first paragraphs, with *data* in a script."""
    paragraphs = "".join(f"<p>{text}</p>" for text in STORY[:shown])
    return (
        "<html><head><title>The piers of the bridge</title></head><body>"
        f"<article><h1>The piers of the bridge</h1>{paragraphs}</article><p>Subscribe to read on.</p>"
        f"<script type=application/json>{json.dumps({'props': {'story': data, 'menu': ['a', 'b']}})}</script>"
    )


@pytest.mark.parametrize("shown", [1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_extracts_the_full_article(form: str, shown: int):
    article = extract(page(FORMS[form], shown=shown))
    assert article.body.split("\n\n") == list(STORY)
    assert article.evidence["body"].source == "page-data"


@pytest.mark.parametrize(
    "html",
    [
        page(FORMS["nodes"], shown=12),
        page([{"text": text.replace("divers", "clerks")} for text in STORY]),
        page(FORMS["nodes"][:2]),
    ],
    ids=["all visible", "another story", "same length"],
)
def test_keeps_the_visible_body(html: str):
    """If the data contain no more of this article."""
    article = extract(html)
    assert article.evidence["body"].source == "blocks"
    assert article.body.startswith(STORY[0])


def test_limits_the_depth_of_data():
    deep: object = {"text": STORY[0]}
    for _ in range(300):
        deep = {"content": [deep, {"text": STORY[1]}]}
    assert extract(page(deep)).body


HTML = "".join(f"<p>{text}</p>" for text in STORY)
TITLE = "The piers of the bridge"
BLOCKS = [{"type": "text", "text": text} for text in STORY]
OTHERS = [
    {"title": f"Other story {n}", "url": f"/o{n}", "body": HTML.replace("divers", "clerks") * 2}
    for n in range(3)
]


def json_script(data: object, attributes: str = "type=application/json") -> str:
    return f"<script {attributes}>{json.dumps(data)}</script>"


def devalued() -> list[Any]:
    """Return the data of Nuxt 3: a flat list, with places instead of values."""
    return [
        ["ShallowReactive", 1], {"data": 2}, ["Reactive", 3], {"story": 4}, {"title": 5, "html": 6},
        TITLE, HTML,
    ]  # fmt: skip


def stream(html: str) -> str:
    """Return the scripts of a stream of Next.js."""
    rows = f'5:I[123,["a.js"],"default"]\n7:T{len(html.encode()):x},{html}'
    rows += '0:["$","main",null,{"story":' + json.dumps({"title": TITLE, "body": "$7"}) + "}]\n"
    half = len(rows) // 2
    return "".join(
        f"<script>self.__next_f.push([1,{json.dumps(part)}])</script>"
        for part in (rows[:half], rows[half:])
    )


def elements(heading: str | None = None, **properties: str) -> str:
    """Return a stream with the story as React elements, below a *heading*."""
    paragraphs = [["$", "p", str(n), {"children": text}] for n, text in enumerate(STORY)]
    title = [["$", "h1", None, {"children": heading}]] if heading else []
    menu = ["$", "nav", None, {"children": ["$", "a", None, {"href": "/", "children": "Home"}]}]
    story = ["$", "$L9", None, {**properties, "children": [*title, *paragraphs]}]
    row = f"2:{json.dumps(['$', 'main', None, {'children': [menu, story]}])}\n"
    return f"<script>(self.__next_f=self.__next_f||[]).push([1,{json.dumps(row)}])</script>"


def astro(value: object) -> object:
    """Return the properties of an island of Astro: each value after its type."""
    if isinstance(value, list):
        return [1, [astro(part) for part in value]]
    if isinstance(value, dict):
        return [0, {key: astro(part) for key, part in value.items()}]
    return [0, value]


NUXT_2 = (
    '<script>window.__NUXT__=(function(a,b,c){return {layout:"default",data:[{story:{title:a,'
    f'body:{json.dumps(HTML)},tags:[c],draft:b}}}}]}}}}({json.dumps(TITLE)},false,"x"));</script>'
)
SHAPES = {
    "Next.js": json_script({"props": {"pageProps": {"post": {"title": TITLE, "content": HTML}}}}),
    "Next.js blocks": json_script({"props": {"post": {"headline": TITLE, "blocks": BLOCKS}}}),
    "Next.js with others": json_script(
        {"props": {"latest": OTHERS, "post": {"title": TITLE, "body": HTML, "related": OTHERS}}}
    ),
    "stream": stream(HTML),
    "stream of elements": elements(title=TITLE),
    "stream of elements below a heading": elements(TITLE),
    "stream of elements without the title": "<meta property=og:title content='Divers measured how far the"
    f" pier of the bridge had moved'>{elements()}",
    "Astro": "<astro-island props='"
    + json.dumps({"headline": astro(TITLE), "parts": astro([{"kind": "p", "text": text} for text in STORY])}).replace("'", "&#39;")
    + "'></astro-island>",
    "keys in another language": json_script({"artikel": {"titel": TITLE, "inhalt": HTML}}),
    "Gatsby": json_script({"page": {"html": HTML, "frontmatter": {"title": TITLE}}}),
    "nodes with the heading": json_script(
        [{"type": "heading", "content": [{"type": "text", "text": TITLE}]}, *map(prosemirror, STORY)]
    ),
    "Nuxt 2": NUXT_2,
    "Nuxt 3": json_script(devalued(), "type=application/json id=__NUXT_DATA__"),
    "SvelteKit": json_script(
        {"status": 200, "body": json.dumps({"title": TITLE, "html": HTML})},
        "type=application/json data-sveltekit-fetched",
    ),
    "SvelteKit start": f"<script>kit.start(app, el, {{node_ids: [0, 2], data: [null, {{type:'data',"
    f"data:{{story:{{title:{json.dumps(TITLE)},html:{json.dumps(HTML)}}}}},uses:{{}}}}]}});</script>",
    "Fusion": "<script>window.Fusion=window.Fusion||{};Fusion.contextPath='/pf';Fusion.globalContent="
    + json.dumps({"headlines": {"basic": TITLE}, "content_elements": BLOCKS})
    + ";Fusion.layout='x';</script>",
    "Apollo": "<script>window.__APOLLO_STATE__ = "
    + json.dumps(
        {
            "ROOT_QUERY": {"story": {"__ref": "Story:1"}},
            "Story:1": {"title": TITLE, "body": [{"__ref": f"Part:{n}"} for n in range(len(STORY))]},
            **{f"Part:{n}": {"__typename": "Part", "text": text} for n, text in enumerate(STORY)},
        }
    )
    + ";</script>",
    "Apollo 2": json_script(
        {
            "ROOT_QUERY": {},
            "Story:1": {"title": TITLE, "parts": [{"type": "id", "id": f"$Story:1.{n}", "typename": "P"} for n in range(len(STORY))]},
            **{f"$Story:1.{n}": {"text": text} for n, text in enumerate(STORY)},
        }
    ),
    "Relay": json_script(
        {
            "client:root": {"__id": "client:root"},
            **{f"UGFydD{n}=": {"__id": f"UGFydD{n}=", "words": text} for n, text in enumerate(STORY)},
            "U3Rvcnk=": {"__id": "U3Rvcnk=", "title": TITLE, "parts": {"__refs": [f"UGFydD{n}=" for n in range(len(STORY))]}},
        }
    ),
    "JSON:API": json_script(
        {
            "data": {"attributes": {"title": TITLE}, "parts": {"data": [{"type": "p", "id": f"{n}"} for n in range(len(STORY))]}},
            "included": [
                {"type": "p", "id": f"{n}", "attributes": {"field_words": {"format": "plain", "source": text}}}
                for n, text in enumerate(STORY)
            ],
        }
    ),
    "Contentful": json_script(
        {
            "items": [{"fields": {"title": TITLE, "parts": [{"sys": {"type": "Link", "linkType": "Entry", "id": f"e{n}"}} for n in range(len(STORY))]}}],
            "includes": {"Entry": [{"sys": {"id": f"e{n}"}, "fields": {"words": text}} for n, text in enumerate(STORY)]},
        }
    ),
    "Qwik": json_script(
        {"objs": ["\x01", {"title": "2", "others": "1", "parts": "3"}, TITLE, list("456789abcdef"), *STORY]},
        "type=qwik/json",
    ),
    "FastBoot": json_script({"data": {"attributes": {"title": TITLE, "text": HTML}}}, "type=fastboot/shoebox"),
    "Seroval": f"<script>$R[0]=Promise.resolve($R[1]={{title:{json.dumps(TITLE)},parts:$R[2]={json.dumps(STORY)},tag:$R[3]=null}});</script>",
    "JsonML": json_script({"title": TITLE, "body": [["p", {"id": n}, text] for n, text in enumerate(STORY)]}),
    "Base64": f"<script>start(atob('{b64encode(json.dumps({'title': TITLE, 'html': HTML}).encode()).decode()}'))</script>",
    "Base64 of percent-encoded text in an attribute": "<div data-story="
    f"'{b64encode(quote(json.dumps({'title': TITLE, 'html': HTML})).encode()).decode()}'></div>",
    "JSON.parse": f"<script>window.S = JSON.parse({json.dumps(json.dumps({'title': TITLE, 'body': HTML}))})"
    "</script>",
    "percent-encoded": f"<script>window.S='{quote(json.dumps({'title': TITLE, 'body': HTML}))}';</script>",
    "Angular": "<script id=app-state type=application/json>"
    + json.dumps({"story": {"title": TITLE, "html": HTML}}).replace('"', "&q;").replace("<", "&l;")
    + "</script>",
    "WordPress": json_script({"post": {"title": {"rendered": TITLE}, "content": {"rendered": HTML}}}),
    "attribute": "<div data-page='"
    + json.dumps({"props": {"story": {"title": TITLE, "body": HTML}}}).replace("'", "&#39;")
    + "'></div>",
    "JSON-LD": json_script(
        {"@type": "NewsArticle", "headline": TITLE, "articleBody": "\n".join(STORY)},
        "type=application/ld+json",
    ),
    "JSON-LD escaped": json_script(
        {"@type": "NewsArticle", "headline": TITLE, "articleBody": HTML.replace("<", "&lt;").replace(">", "&gt;")},
        "type=application/ld+json",
    ),
    "JSON-LD escaped twice": json_script(
        {"@type": "NewsArticle", "headline": TITLE, "articleBody": escape(escape(HTML))},
        "type=application/ld+json",
    ),
    "text template": f"<script type='text/template'>{HTML}</script>",
    "noscript": f"<noscript>{HTML}</noscript>",
    "template": f"<template id=story>{HTML}</template>",
    "shadow root": f"<story-body><template shadowrootmode=open><slot></slot>{HTML}</template></story-body>",
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_extracts_an_article_that_is_not_shown(shape: str):
    html = f"<html><head><title>{TITLE} | Gazette</title><meta property=og:type content=article></head><body>"
    menu = "".join(f"<a href=/{n}>Section {n}</a> " for n in range(12))
    article = extract(f"{html}{menu}<div id=app></div>{SHAPES[shape]}")
    assert (article.body.split("\n\n"), article.kind) == (list(STORY), "article")


def test_extracts_an_article_after_many_other_data():
    """Values are read one by one: a new one may have the address of one that is gone."""
    others = [{"seo": {"title": TITLE, "padding": "-" * 400, "number": n}} for n in range(40)]
    data = [*others, {"story": {"title": TITLE, "text": "\n\n".join(STORY)}}]
    html = f"<title>{TITLE} | Gazette</title><div id=app>Loading</div>"
    html += "".join(map(json_script, data))
    assert extract(html).body == "\n\n".join(STORY)


@pytest.mark.parametrize(
    "data",
    [
        {"posts": OTHERS},
        {"story": {"title": TITLE, "comments": [{"text": text} for text in STORY]}},
        {"story": {"title": TITLE, "code": "function a(){return b;};var c={d:1};" * 40}},
        {"title": TITLE, "related": OTHERS},
        [story["body"] for story in OTHERS],
    ],
    ids=["other stories", "comments", "code", "related", "without titles"],
)
def test_leaves_out_data_of_something_else(data: object):
    html = f"<title>{TITLE} | Gazette</title><div id=app>Loading</div>{json_script(data)}"
    assert STORY[0][40:] not in extract(html).body
    assert "clerks" not in extract(html).body
    assert "function" not in extract(html).body


def test_keeps_a_short_complete_story():
    """Although the data have a longer list of stories that begins with it."""
    stories = [
        {"text": text} for text in (*STORY[:4], *(t.replace("divers", "clerks") for t in STORY))
    ]
    html = page({"all": stories, "story": {"title": TITLE, "parts": stories[:4]}}, shown=4)
    assert extract(html).body.split("\n\n") == list(STORY[:4])


@pytest.mark.parametrize(
    "written",
    [
        "<p>We use cookies to offer you a better experience and to analyse the traffic.</p>" * 8,
        b64encode(
            b"<p>The storm has hit the coast, and all the ferries stay in port.</p>" * 20
        ).decode(),
    ],
)
def test_writes_of_scripts_that_do_not_tell_the_story(written: str) -> None:
    page = (
        "<title>Storm hits the coast of Melby</title><div id=app></div>"
        f"<script>document.body.innerHTML = show('{written}');</script>"
    )
    assert extract(page.encode(), "https://www.site.example/2026/03/12/storm-hits").body == ""
