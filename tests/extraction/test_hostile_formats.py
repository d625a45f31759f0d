"""Markdown and HTML of hostile pages, checked by a sanitiser: words of the text, nothing active."""

from random import Random

import pytest

from newscrawl.body.parts import PARTS
from newscrawl.document.document import DocumentError
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.items import Article
from newscrawl.text import squeeze, words
from samples import expected_pages
from tests.helpers.formats_read_back import FORMATS, URL, is_inactive, rendered, words_of

PAGES = [page.file.read_bytes() for page in expected_pages()]
OPTIONS = ExtractOptions(parts=frozenset(PARTS), extra_fields=FORMATS)
SNIPPETS = [
    # scripts and styles
    "<script>alert(1)</script>", "<script>", "</script>", "<SCRIPT/SRC=//evil.example/x.js>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>", "<style>@import 'javascript:x'</style>", "<style>", "</style>",
    "<link rel=stylesheet href=//evil.example>", "<base href='javascript:alert(1)//'>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", "<p style='background:url(javascript:x)'>",
    # event handlers
    "<img src=x onerror=alert(1)>", "<img src='/a.jpg' alt='\" onerror=alert(1) x=\"'>", "<p onclick=alert(1)>",
    "<details open ontoggle=alert(1)>", "<body onload=alert(1)>", '"><svg onload=alert(1)>', "<b onmouseover\x00=x()>",
    "<a href='/a' onfocus=alert(1) autofocus>focus</a>", "<marquee onstart=alert(1)>", "' onerror='alert(1)",
    # URLs
    "<a href='javascript:alert(1)'>one</a>", "<a href='JaVaScRiPt:alert(1)'>two</a>",
    "<a href='java\tscript:alert(1)'>three</a>", "<a href='&#106;avascript&colon;alert(1)'>four</a>",
    "<a href='\x01javascript:alert(1)'>five</a>", "<a href='java&#x0A;script:alert(1)'>six</a>",
    "<a href='vbscript:msgbox(1)'>seven</a>", "<a href='data:text/html,<script>alert(1)</script>'>eight</a>",
    "<a href='//javascript:alert(1)'>nine</a>", "<a href='https://a.example/\"><script>alert(1)</script>'>ten</a>",
    "<a href='http://a b.example/'>space</a>", "<a href='http://a.example:99999/'>port</a>", "<a href='//%00'>zero</a>",
    "<a href='https://a.example/)](javascript:alert(1))'>bracket</a>", "<a href='https:javascript:alert(1)'>scheme</a>",
    "<img src='javascript:alert(1)' data-src='data:image/svg+xml,<svg onload=x()>'>",
    "<img srcset='javascript:alert(1) 1x, data:x 2x' src='/b.jpg'>", "<img src='/c.jpg\n' alt='](javascript:alert(1))'>",
    "<video src='javascript:alert(1)'></video>", "<iframe allowfullscreen src='data:text/html,x'></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>' allowfullscreen src='//a.example/v'></iframe>",
    "<object data='javascript:alert(1)'><embed src='javascript:alert(1)'></object>",
    "<form action='javascript:alert(1)'><button formaction='javascript:alert(1)'>go</button><input autofocus onfocus=x()>",
    # foreign content and mutations of the parser
    "<svg><a xlink:href='javascript:alert(1)'><text>svg</text></a></svg>", "<svg><style><img src=x onerror=alert(1)>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>", "<template><script>alert(1)</script></template>",
    "<form><math><mtext></form><form><mglyph><svg><mtext><style><path id='</style><img onerror=alert(1) src>'>",
    "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>", "<select><option><style></select><img src=x onerror=x()>",
    "<textarea><img src=x onerror=alert(1)></textarea>", "<xmp><img src=x onerror=alert(1)></xmp>", "<plaintext>", "<xmp>",
    "<title><img src=x onerror=alert(1)></title>", "<h1>a<img src=x onerror=alert(1)>&lt;script&gt;alert(1)&lt;/script&gt;</h1>",
    "<!--", "-->", "<!--><img src=x onerror=alert(1)>-->", "<![CDATA[<img src=x onerror=alert(1)>]]>", "<?php x ?>",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&amp;lt;script&amp;gt;alert(1)&amp;lt;/script&amp;gt;", "<img alt='&lt;script>' src=/d>",
    # Markdown
    "[a](javascript:alert(1))", "![a](javascript:alert(1))", "&lt;javascript:alert(1)&gt;", "[a]: javascript:alert(1)",
    "[a][b]", "\n```\n&lt;script&gt;alert(1)&lt;/script&gt;\n```\n", "`&lt;img src=x onerror=alert(1)&gt;`", "\\", "\\`", "**", "_",
    "<pre>```\n&lt;script&gt;alert(1)&lt;/script&gt;</pre>", "<code>`</code>", "<code>``&lt;img src=x onerror=alert(1)></code>",
    "<table><tr><td>|<td>&lt;script>|</table>", "\n    &lt;script&gt;\n", "<br>&lt;!--<br>", "\n\n&lt;svg onload=alert(1)&gt;\n\n",
    # elements without their ends
    "<p>", "</p>", "<ul><li>", "</ul>", "<ol>", "<blockquote>", "</blockquote>", "<pre>", "</pre>", "<b>", "</b>", "<i>", "<code>",
    "<a href=/>", "</a>", "<table><tr><td>", "</table>", "<figure>", "<figcaption>", "<h2>", "</h2>", "<br>", "<sub>", "<", ">", '"', "'",
    # characters
    "\x00", "\x0b", "\x1b", "\xa0", "\u00ad", "\u200b", "\u2028", "\u202e", "\ufeff", "\ufffe", "\U000e0001",
]  # fmt: skip


def mutated(random: Random) -> bytes:
    """Return a sample page with snippets, mostly in its text, and without some parts."""
    page = random.choice(PAGES)
    ends = [i + 1 for i in range(len(page)) if page[i] == ord(">")]
    for _ in range(random.randint(1, 40)):
        place = random.choice(ends) if random.random() < 0.7 else random.randrange(len(page))
        cut = random.randrange(30) if random.random() < 0.1 else 0
        page = page[:place] + random.choice(SNIPPETS).encode() + page[place + cut :]
    return page


def assert_harmless(article: Article) -> None:
    expected = words(article.body)
    assert words_of(article.body_html or "") == expected
    assert words_of(rendered(article.body_markdown or "")) == expected
    title = words(squeeze(article.title or ""))
    for markup in (article.to_html(), rendered(article.to_markdown())):
        assert words_of(markup) == title + expected
        assert is_inactive(markup)


@pytest.mark.parametrize("seed", range(300))
def test_hostile_pages_have_nothing_active(seed: int):
    try:
        article = extract(mutated(Random(seed)), URL, options=OPTIONS)
    except DocumentError:
        return
    assert_harmless(article)
