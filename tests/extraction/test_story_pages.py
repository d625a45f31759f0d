"""Stories on several pages: links to further pages, and what is joined."""

import asyncio

import pytest

from newscrawl import Article, extract
from newscrawl.extraction.story_pages import MAX_PAGES, join_pages
from tests.servers.pages import paragraphs, title

HOST = "https://site.example"
STORY = f"{HOST}/news/a-long-story"


def page(
    number: int, pager: str, *, head: str = "", name: str | None = None, menu: str = ""
) -> str:
    """Return a page of a story; *number* selects its text."""
    name = title(0) if name is None else name
    text = "".join(f"<p>{text}</p>" for text in paragraphs(number)[2 * number : 2 * number + 2])
    return (
        f"<html lang=de><head><title>{name}</title>{head}</head><body>{menu}<main><article><h1>{name}</h1>"
        f"<p>24.11.2026</p>{text}{pager}</article></main><aside><a href=/other>Andere</a></aside></body></html>"
    )


@pytest.mark.parametrize(
    ("url", "head", "pager", "following"),
    [
        (STORY, "<link rel=next href='/news/a-long-story?page=2'>", "", f"{STORY}?page=2"),
        (STORY, "", "<a rel=next href='?page=2'>Weiter</a>", f"{STORY}?page=2"),
        (STORY, "", "<b>1</b> <a href='?page=2'>2</a> <a href='?page=3'>3</a>", f"{STORY}?page=2"),
        (STORY, "", "<a href='?page=1'>2</a> <a href='?page=2'>3</a>", f"{STORY}?page=1"),
        (f"{STORY}/", "", "<ul><li>1<li><a href='2/'>2</a></ul>", f"{STORY}/2/"),
        (STORY, "", "<a class='pager-next' href='/news/a-long-story/page/2'>x</a>", f"{STORY}/page/2"),
        (STORY, "", "<a href='/news/a-long-story/seite-2'>nächste Seite</a>", f"{STORY}/seite-2"),
        (STORY, "", "<a href='/news/a-long-story/2'>»</a>", f"{STORY}/2"),
        (f"{STORY}.html", "", "<a href='a-long-story-2.html'>2</a>", f"{STORY}-2.html"),
        (f"{STORY}.html", "", "<a href='a-long-story_2.html'>Page 2 : next</a>", f"{STORY}_2.html"),
        (f"{STORY}.html", "", "<a href='a-long-story,2.html'>下一页</a>", f"{STORY},2.html"),
        (f"{STORY}-p1.html", "", "<a href='a-long-story-p2.html'>2</a>", f"{STORY}-p2.html"),
        (f"{STORY}?id=4711", "", "<a href='?id=4711&p=2'>次のページへ</a>", f"{STORY}?id=4711&p=2"),
        (f"{STORY}?p=2", "", "<a href='?p=1'>1</a> 2 <a href='?p=3'>3</a>", f"{STORY}?p=3"),
        (f"{STORY}/3", "", "<a href='2'>2</a> 3 <a href='4'>التالي</a>", f"{STORY}/4"),
        (STORY, "<base href='/news/x/'>", "<a href='../a-long-story?s=2'>Suite &gt;</a>", f"{STORY}?s=2"),
        (STORY, "", "<p class=next><a href='?seite=2'>Teil 2</a></p>", f"{STORY}?seite=2"),
        (STORY, "", "<select><option value='?s=1'>1<option value='?s=2'>2. The masons</select>", f"{STORY}?s=2"),
        (STORY, "", "<a href='?s=2'><img src=/n.gif alt='Next page'></a>", f"{STORY}?s=2"),
        (f"{STORY}/index.html", "", "<a href='index2.html'>2</a>", f"{STORY}/index2.html"),
        (f"{STORY}/index2.html", "", "2 <a href='index3.html'>3</a>", f"{STORY}/index3.html"),
        (STORY, "", "<a href='?page=2'>2</a> <a href='?page=all'>Auf einer Seite</a>", f"{STORY}?page=all"),
        (STORY, "", "<a href='/news/a-long-story/2'>2</a><a href='/news/a-long-story/komplettansicht'>alles</a>",
         f"{STORY}/komplettansicht"),
        (STORY, "", "<a href='/news/a-long-story/single-page'>x</a><a rel=next href='?page=2'>x</a>",
         f"{STORY}/single-page"),
    ],
)  # fmt: skip
def test_finds_further_pages(url: str, head: str, pager: str, following: str):
    assert extract(page(0, pager, head=head), url).next_pages[:1] == (following,)


@pytest.mark.parametrize(
    ("url", "pager"),
    [
        (STORY, "<a rel=next href='/news/the-next-story'>Next story</a>"),
        (f"{HOST}/story-4", "<a href='/story-5'>The mayor of Melby resigns after two years</a>"),
        (STORY, "<a href='?image=2'>2</a> <a class=next href='?slide=2'>Next</a>"),
        (
            STORY,
            "<div id=comments><a href='/news/a-long-story/comment-page-2/#comments'>2</a></div>",
        ),
        (STORY, "<a href='?cpage=2'>2</a> <a href='?comments_page=2'>2</a>"),
        (STORY, "<a href='https://other.example/news/a-long-story?page=2'>2</a>"),
        (STORY, "<a href='?page=all'>Print</a>"),
        (STORY, "<a href='/news/?page=2'>2</a> <a href='/news/2'>»</a>"),
        (f"{HOST}/news/2026/11/24", "<a href='/news/2026/11/25'>next day</a>" * 0),
        (STORY, "<a href='?page=7'>7</a> <select><option value='?sort=2'>2</select>"),
        (f"{STORY}/", "<select><option value=1>One<option value=2>Two</select>"),
    ],
)
def test_follows_no_other_links(url: str, pager: str):
    assert extract(page(0, pager), url).next_pages == ()


def join(pages: dict[str, str], url: str = STORY) -> tuple[Article, list[str]]:
    """Return the joined article, and the URLs that were read."""
    requested = []

    async def read(url: str) -> Article | None:
        requested.append(url)
        return extract(pages[url], url) if url in pages else None

    article = extract(pages[url], url)
    asyncio.run(join_pages(article, read))
    return article, requested


def pager(number: int, last: int) -> str:
    return " ".join(f"<a href='?page={n}'>{n}</a>" for n in range(1, last + 1) if n != number)


def test_joins_in_order_without_repetitions():
    lead = f"<p>{paragraphs(0)[5]}</p>"
    pages = {STORY: page(0, lead + pager(1, 3))}
    pages |= {f"{STORY}?page={n + 1}": page(n, lead + pager(n + 1, 3)) for n in (1, 2)}
    article, requested = join(pages)
    expected = [*paragraphs(0)[:2], paragraphs(0)[5], *paragraphs(1)[2:4], *paragraphs(2)[4:6]]
    assert article.body.split("\n\n") == [*dict.fromkeys(expected)]
    assert (article.pages, article.next_pages, len(requested)) == (3, (), 2)


def test_prefers_the_whole_story():
    text = "".join(f"<p>{text}</p>" for text in paragraphs(0))
    links = pager(1, 2) + "<a href='?page=all'>Alles</a>"
    whole = f"<title>{title(0)}</title><main><article><h1>{title(0)}</h1>{text}</article></main>"
    second = page(1, pager(2, 2))
    article, requested = join(
        {STORY: page(0, links), f"{STORY}?page=all": whole, f"{STORY}?page=2": second}
    )
    assert article.body.split("\n\n") == paragraphs(0)
    assert (article.pages, requested) == (1, [f"{STORY}?page=all"])

    article, requested = join({STORY: page(0, links), f"{STORY}?page=2": second})
    assert (article.pages, requested) == (2, [f"{STORY}?page=all", f"{STORY}?page=2"])


def test_joins_no_other_page():
    """Another story, the same page again, and a page that cannot be read, whose URL is kept."""
    first = page(0, pager(1, 2))
    for second in (page(1, "", name="Rathaus: Neue Öffnungszeiten ab Januar"), first):
        article, _ = join({STORY: first, f"{STORY}?page=2": second})
        assert (article.pages, article.next_pages) == (1, ())
        assert article.body.split("\n\n") == paragraphs(0)[:2]
    article, _ = join({STORY: first})
    assert (article.pages, article.next_pages) == (1, (f"{STORY}?page=2",))


def test_endless_pages():
    pages = {STORY: page(0, pager(1, 40))}
    for n in range(2, 41):
        text = f"<p>{' '.join(f'Wort{n}x{word}' for word in range(60))}</p>"
        pages[f"{STORY}?page={n}"] = page(0, text + pager(n, 40))
    article, requested = join(pages)
    assert (article.pages, len(requested)) == (MAX_PAGES, MAX_PAGES - 1)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("//[", STORY),  # no address
        ("", f"{STORY}?" + "&".join(f"a{n}={n}" for n in range(30))),
    ],
)
def test_odd_addresses_lead_nowhere(base: str, url: str) -> None:
    link = '<a rel="next" href="http://[">Next page</a>'
    html = f"<base href='{base}'><body><h1>Harbour opens</h1><p>{'Ships wait. ' * 60}</p>{link}"
    article = extract(html, url)
    assert "Ships wait." in article.body
    assert article.next_pages == ()
