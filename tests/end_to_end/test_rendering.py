"""Sites that show nothing without scripts, rendered in Chromium: useful and hostile ones."""

import json
import socket
from base64 import b64encode
from pathlib import Path

import pytest

from newscrawl.crawling.network.page_rendering import MAX_REQUESTS, find_chromium
from newscrawl.lab.corpora import chromium
from tests.conftest import skip_missing
from tests.helpers.crawls import Crawl
from tests.helpers.foreign_projects import require_package
from tests.servers.pages import article_page, paragraphs, title
from tests.servers.site import INTERNAL, Answer, SiteServer, html, redirect, text

APP = "<body><div id=root></div><script src=/app.js></script>"
"""Page of an application: each address has it."""
# Reads the article of the address from an interface, and the front page's list.
SCRIPT = """
const root = document.getElementById('root');
const path = location.pathname;
fetch('/api' + (path === '/' ? '/index' : path), {headers: {'X-Edition': 'day'}})
  .then(answer => answer.json())
  .then(page => setTimeout(() => {
    document.title = page.title;
    root.innerHTML = page.html;
  }, 300));
"""


def story(number: int) -> str:
    return f"/news/2026/11/{10 + number}/a-story-of-the-day-{number}.html"


def shown(number: int) -> str:
    """Return the content of a story, as the interface has it."""
    return article_page(number).partition("<body>")[2].partition("</body>")[0]


def put_app(web: SiteServer, numbers: range) -> None:
    """Serve an application with stories and a front page that lists them."""
    links = "".join(f"<p><a href='{story(n)}'>A story of the day {n}</a></p>" for n in numbers)
    pages = {"/index": ("Courier", links)} | {story(n): (title(n), shown(n)) for n in numbers}
    web.put("127.0.0.1/", html(APP, ETag='"1"'))
    web.put(
        "127.0.0.1/app.js", Answer(SCRIPT.encode(), headers={"Content-Type": "text/javascript"})
    )
    for path, (name, body) in pages.items():
        data = json.dumps({"title": name, "html": body}).encode()
        web.put(f"127.0.0.1/api{path}", Answer(data, headers={"Content-Type": "application/json"}))
        if path != "/index":
            web.put(f"127.0.0.1{path}", html(APP))


@pytest.fixture(autouse=True)
def browser() -> None:
    require_package("scrapy_playwright")
    if reason := chromium.missing():
        skip_missing(reason)


def crawl(tmp_path: Path, web: SiteServer, **settings: object) -> Crawl:
    return web.crawl(tmp_path, RETRY_ENABLED=False, NEWSCRAWL_RENDER="auto", **settings)


# In each page after its story is shown; INNER is an address that the crawl must not reach.
HOSTILE = {
    "connections": """
      for (const path of ['INNER/x', '/hop']) fetch(path, {mode: 'no-cors'}).catch(() => {});
      navigator.sendBeacon('INNER/beacon', 'x');
      new WebSocket('ws://INNER_HOST/socket');
      new EventSource('INNER/events');
      new Image().src = 'INNER/x.png';
      import('INNER/module.js').catch(() => {});
      new Worker(URL.createObjectURL(new Blob(["fetch('INNER/worker'); importScripts('INNER/w.js')"])));
      for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'preload', 'stylesheet', 'icon']) {
        const link = document.head.appendChild(document.createElement('link'));
        link.rel = rel; link.as = 'script'; link.href = 'INNER/' + rel;
      }
      for (const name of ['iframe', 'embed', 'video', 'script'])
        document.body.appendChild(document.createElement(name)).src = 'INNER/' + name;
      const call = new RTCPeerConnection({iceServers: [{urls: 'stun:UDP_HOST'}]});
      call.createDataChannel('x');
      call.createOffer().then(offer => call.setLocalDescription(offer));
      const form = document.body.appendChild(document.createElement('form'));
      form.method = 'post'; form.action = 'INNER/form'; form.submit();""",
    "files": """
      fetch('file:///etc/passwd').catch(() => {});
      document.body.appendChild(document.createElement('iframe')).src = 'file:///etc/passwd';
      location.href = 'file:///etc/passwd';""",
    "downloads": """
      const link = document.body.appendChild(document.createElement('a'));
      link.download = 'x.bin';
      link.href = URL.createObjectURL(new Blob(['x'.repeat(1e6)])); link.click();
      link.href = '/large.zip'; link.click();
      location.href = '/large.zip';""",
    "windows": """
      onbeforeunload = event => { event.preventDefault(); return 'stay'; };
      for (let n = 0; n < 20; n++) { open('/other.html'); alert(n); prompt(confirm(n)); }
      location.replace('/other.html');""",
    "foreign": """
      fetch('OTHER/secret').then(answer => answer.text()).then(found => document.body.append(found));""",
    "robots": "fetch('/private/x.json').catch(() => {}); new Worker('/private/worker.js');",
    "requests": "setInterval(() => fetch('/poll?' + Math.random()).catch(() => {}), 20);",
}
ENDLESS = (
    "while (true) {}",
    """const grow = () => document.body.insertAdjacentHTML('beforeend', '<p>x</p>'.repeat(99999));
    setInterval(grow, 20);""",
)


def acting_page(number: int, script: str) -> Answer:
    """Return a page that shows its story, for browsers only, before it runs *script*."""
    story_bytes = f"Uint8Array.from(atob('{b64encode(shown(number).encode()).decode()}'), c => c.charCodeAt(0))"
    show = f"document.body.innerHTML = new TextDecoder().decode({story_bytes});"
    return html(
        f"<body><div id=root></div><script>{show} setTimeout(() => {{ {script} }});</script>"
    )


@pytest.mark.slow
def test_site_of_applications(tmp_path: Path) -> None:
    """Front page and stories are rendered, hostile ones too, up to the budget of the site."""
    good = range(3)
    hostile = dict(enumerate(HOSTILE.values(), len(good)))
    pages = len(good) + len(hostile)
    with (
        SiteServer() as web,
        SiteServer({"127.0.0.1/secret": text("secret")}) as other,
        SiteServer(address=INTERNAL) as inner,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
    ):
        udp.bind((INTERNAL, 0))
        udp.setblocking(False)
        put_app(web, range(pages))
        web.put("127.0.0.1/robots.txt", text("User-agent: *\nDisallow: /private/"))
        web.put("127.0.0.1/hop", redirect(f"{inner.url}/hop"))
        for number, script in hostile.items():
            act = script.replace("INNER_HOST", f"{INTERNAL}:{inner.port}")
            act = act.replace("INNER", inner.url).replace("OTHER", other.url)
            act = act.replace("UDP_HOST", f"{INTERNAL}:{udp.getsockname()[1]}")
            web.put(f"127.0.0.1{story(number)}", acting_page(number, act))
        # One of the pages is the front page, so that a story is left.
        found = crawl(tmp_path, web, NEWSCRAWL_RENDER_PAGES=pages)
        site = found.site_counts(web.site)
        requested = [url.removeprefix("127.0.0.1") for url in web.requested]
        with pytest.raises(BlockingIOError):
            udp.recv(1)
    assert found.errors() == [], found.output
    assert (inner.connections, inner.requested) == (0, [])
    assert requested.count("/app.js") == 1
    assert {"/large.zip", "/other.html", "/private/x.json", "/private/worker.js"}.isdisjoint(
        requested
    )
    assert sum(path.startswith("/poll") for path in requested) <= MAX_REQUESTS
    assert len(found.items) == pages - 1
    numbers = [int(item["url"].rpartition("-")[2].removesuffix(".html")) for item in found.items]
    # Pages are rendered in any order: the page that hops may be the one over the budget.
    assert "/hop" in requested or len(good) not in numbers
    for number, item in zip(numbers, found.items, strict=True):
        assert item["rendered"]
        assert "secret" not in item["body"]
        assert item["title"] == title(number)
        assert set(paragraphs(number)) <= set(item["body"].split("\n\n"))
    assert site["rendering_count/rendered"] == pages
    assert site["rendering_count/over_budget"] == 1
    assert f"rendering: 1 over_budget, {pages} rendered" in found.output


@pytest.mark.slow
def test_killed_while_rendering(tmp_path: Path) -> None:
    """The next run renders the page, next to pages that never end; without a browser none is."""
    killer = tmp_path / "chromium"
    killer.write_text("#!/bin/sh\nkill -9 $(ps -o ppid= -p $PPID)\n")
    killer.chmod(0o755)
    results = []
    with SiteServer() as web:
        put_app(web, range(1))
        links = "".join(f"<p><a href='{story(n)}'>A story of the day</a></p>" for n in range(3))
        web.put("127.0.0.1/", html(links))
        for number, script in enumerate(ENDLESS, 1):
            web.put(f"127.0.0.1{story(number)}", acting_page(number, script))
        for browser in (killer, find_chromium(), "/nowhere"):
            launch = json.dumps({"executable_path": str(browser)})
            state = tmp_path / f"{browser == '/nowhere'}.sqlite"
            options = {"PLAYWRIGHT_LAUNCH_OPTIONS": launch, "NEWSCRAWL_STATE": state}
            results.append(crawl(tmp_path, web, NEWSCRAWL_RENDER_TIMEOUT=5, **options))
        site = results[1].site_counts(web.site)
    assert [result.returncode for result in results] == [-9, 0, 0]
    assert results[1].errors() == [], results[1].output
    assert [item["title"] for item in results[1].items] == [title(0)]
    # On a busy machine it takes too long to count its elements.
    assert site["rendering_count/timeout"] + site["rendering_count/too_large"] == 2
    assert "Not rendered (error): " in results[2].output
    assert "executable doesn't exist at /nowhere" in results[2].output
    assert results[2].errors() == []
    assert results[2].items == []
