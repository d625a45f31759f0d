"""Connections that a page shown by ``newscrawl inspect`` makes, counted at local ports."""

import json
import selectors
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page

from newscrawl.crawling.network.page_rendering import find_chromium
from newscrawl.inspection.inspect_page import inspect_page
from tests.helpers.browser import needs_chromium

#: markup of a page, with the address of a server in place of A; those with "shown" are assets
CONNECTING = {
    **{
        f"rel {rel}": f'<link rel="{rel}" href="A/x" as=script crossorigin>'
        for rel in (
            "preconnect", "icon preconnect", "stylesheet preconnect", "ICON\tPreConnect\n",
            "dns-prefetch", "preload", "modulepreload", "prefetch", "prerender", "manifest",
            "apple-touch-icon", "shortcut icon", "pingback canonical next",
        )
    },
    "preload of images": '<link rel=preload as=image href="A/x" imagesrcset="A/y 1x">',
    "sheet (shown)": '<link rel="StyleSheet" href="A/x.css">',
    "import (shown)": "<style>@import 'A/x.css';</style>",
    "style (shown)": "<p style=\"background: url('A/x.png')\">text</p>",
    "image (shown)": '<img src="A/x.png" attributionsrc="A/y" referrerpolicy="unsafe-url">',
    "srcset (shown)": '<picture><source srcset="A/a.png"><img srcset="A/x.png 1x"></picture>',
    "image input (shown)": '<input type=image src="A/x.png">',
    "poster (shown)": '<video poster="A/x.png" src="A/x.mp4" preload autoplay></video>',
    "audio (shown)": '<audio src="A/x.mp3" preload=auto><track default src="A/x.vtt"></audio>',
    "background (shown)": '<table background="A/x.png"><tr><td>cell</table>',
    "svg image (shown)": '<svg><image href="A/x.png" width=9 height=9 /></svg>',
    "svg filter (shown)": '<svg><filter id=f><feImage href="A/y.png"/></filter></svg>',
    "svg use": '<svg><use href="A/x.svg#a" /></svg>',
    "refresh": '<meta http-equiv="Refresh" content="0; url=A/x">',
    "frames": '<iframe src="A/x"></iframe><object data="A/y"></object><embed src="A/z">',
    "speculation rules": '<script type=speculationrules>{"prefetch": [{"urls": ["A/x"]}]}</script>',
    "in a comment": '<!--><link rel=preconnect href="A/x">-->',
    "in a comment, closed": '<!-- --!><link rel=preconnect href="A/x">-->',
    "in an svg style": '<svg><style><p><link rel=preconnect href="A/x"></p></style></svg>',
    "in a math style": '<math><style><img><link rel=preconnect href="A/x"></style></math>',
    "in noscript": '<noscript><link rel=preconnect href="A/x"></noscript>',
    **{
        f"in {tag}": f'<{tag}><b title="</{tag}><link rel=preconnect href=A/x>">b</b></{tag}>'
        for tag in ("noembed", "noframes", "noscript", "plaintext", "textarea", "title", "xmp")
    },
    "in a template": '<template shadowrootmode=open><link rel=preconnect href="A/x"></template>',
    "in a doctype": "DOCTYPE",
    "in an instruction": '<?x <link rel=preconnect href="A/x"> ?>',
    "prefetch control": '<meta http-equiv="x-dns-prefetch-control" content="on"><a href="A/x">l</a>',
}  # fmt: skip
PROSE = (
    "<p>The harbour board decided on Tuesday that the ferry sails all winter, every day.</p>" * 9
)


class Ports:
    """Listening sockets, one for each name, and the names that were connected to."""

    def __init__(self, names: list[str]) -> None:
        self._sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in names}

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self._sockets[name].getsockname()[1]}"

    def connected(self) -> set[str]:
        selector = selectors.DefaultSelector()
        for name, listening in self._sockets.items():
            selector.register(listening, selectors.EVENT_READ, name)
        found = {key.data for key, _ in selector.select(timeout=0)}
        for listening in self._sockets.values():
            listening.close()
        return found


def connections(folder: Path, *, assets: bool) -> set[str]:
    """Return the names of CONNECTING for which Chromium connects."""
    ports = Ports(list(CONNECTING))
    # Each in a page of its own: some end the head, or hide what follows.
    for number, (name, markup) in enumerate(CONNECTING.items()):
        head = markup.replace("A/", f"{ports.address(name)}/")
        doctype = "<!DOCTYPE html>"
        if markup == "DOCTYPE":
            url, head = ports.address(name), ""
            doctype = f"<!DOCTYPE html SYSTEM 'x\"><link rel=preconnect href={url}/x>'>"
        page = f"{doctype}<head>{head}<title>The ferry sails</title></head><body>{head}{PROSE}"
        shown = inspect_page(page, "https://news.example/1.html", assets=assets)
        (folder / f"{number}.html").write_text(shown, encoding="utf-8")
    with predicting_browser(folder / "profile") as page:
        for number in range(len(CONNECTING)):
            page.goto((folder / f"{number}.html").as_uri(), wait_until="domcontentloaded")
            page.wait_for_timeout(200)
        page.wait_for_timeout(1000)
        return ports.connected()


@contextmanager
def predicting_browser(profile: Path) -> Iterator[Page]:
    """Yield a page of Chromium with network prediction, which preconnections need."""
    from playwright.sync_api import sync_playwright  # may be missing

    (profile / "Default").mkdir(parents=True)
    preferences = {"net": {"network_prediction_options": 0}}
    (profile / "Default/Preferences").write_text(json.dumps(preferences), encoding="utf-8")
    arguments = ["--no-sandbox", "--disable-gpu"]
    arguments.append("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=find_chromium(), args=arguments
        )
        yield context.new_page()
        context.close()


@pytest.mark.slow
@needs_chromium
def test_browser_preconnects(tmp_path: Path):
    """Else the tests below would see no preconnection of any page."""
    ports = Ports(["x"])
    with predicting_browser(tmp_path / "profile") as page:
        path = tmp_path / "plain.html"
        path.write_text(f"<link rel=preconnect href={ports.address('x')}>", encoding="utf-8")
        page.goto(path.as_uri())
        page.wait_for_timeout(1000)
    assert ports.connected() == {"x"}


@pytest.mark.slow
@needs_chromium
def test_no_connection_without_assets(tmp_path: Path):
    assert connections(tmp_path, assets=False) == set()


@pytest.mark.slow
@needs_chromium
def test_assets_are_loaded_and_nothing_else(tmp_path: Path):
    """No preconnections, prefetches, icons and frames."""
    found = connections(tmp_path, assets=True)
    assert {name for name in found if "(shown)" not in name} <= {"rel stylesheet preconnect"}
    assert {"sheet (shown)", "image (shown)", "srcset (shown)", "background (shown)"} <= found


@pytest.mark.parametrize("assets", [True, False])
def test_page_sets_no_policy_of_its_own(assets: bool):
    """No referrer policy, no base address, no client hints, no links but style sheets."""
    page = f"""<!DOCTYPE html><head><base href="https://other.example/"><title>The ferry</title>
    <meta NAME=Referrer content=unsafe-url><meta http-equiv=Delegate-CH content=x>
    <link rel=preconnect href=//cdn.example><link rel="next stylesheet" href=/a.css></head>
    <body>{PROSE}<a href=/x referrerpolicy=unsafe-url ping=/y>link</a>"""
    shown = inspect_page(page, "https://news.example/1.html", assets=assets).lower()
    assert "unsafe-url" not in shown
    assert "delegate-ch" not in shown
    assert "cdn.example" not in shown
    assert "ping=" not in shown
    assert ("a.css" in shown) is assets
