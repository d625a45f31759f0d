"""Sites on loopback addresses 127.0.1.N, one fault each: server.py [PORT]. Requests are printed. sites.jsonl has what a crawl should give."""
import sys, gzip, json, threading, time
sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent))
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit, parse_qs
from site_faults_stories import *
ALL = [BRIDGE, FISH, LIBRARY, TRAM, ORCHARD, MUSEUM]
PORT = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 8911
LOG = sys.stdout
DAYS = ["2026-05-%02d" % d for d in range(10, 19)]
def story(s, extra_head="", pre="", post="", date=None, lang="en", site="The Melby Courier", k=None, body=None):
    d = f"<script type='application/ld+json'>{json.dumps({'@context':'https://schema.org','@type':'NewsArticle','headline':s['title'],'datePublished':date})}</script>" if date else ""
    body = body if body is not None else "".join(f"<p>{p}</p>" for p in [s["lead"]] + s["paras"])
    return f"<!DOCTYPE html><html lang={lang}><head><meta charset=utf-8><title>{s['title']} | {site}</title>{d}{extra_head}</head><body><header><a href=/>{site}</a><nav><a href=/news/>News</a></nav></header><main><article><h1>{s['title']}</h1>{pre}{body}</article>{post}</main><footer>© 2026 {site}</footer></body></html>"
def home(links, head="", base=""):
    return f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>The Melby Courier</title>{head}</head><body><header><a href=/>The Melby Courier</a></header><main>" + "".join(f"<div class=teaser><h2><a href='{u}'>{t}</a></h2></div>" for u, t in links) + "</main><footer>© 2026</footer></body></html>"
SITES = {}
def site(n, issue, text):
    def deco(f):
        SITES[f"127.0.1.{n}"] = (f, issue, text); return f
    return deco
def T(i): return ALL[i]["title"]
XML = "application/xml"
def sitemap(urls, extra=lambda i: "", esc=True, lastmod=True):
    return '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">' + "".join(f"<url><loc>{u.replace('&', '&amp;') if esc else u}</loc>" + (f"<lastmod>{DAYS[i % 9]}T08:00:00Z</lastmod>" if lastmod else "") + extra(i) + "</url>" for i, u in enumerate(urls)) + "</urlset>"
# each handler: (path, query string, headers, base) -> (status, headers, body)
OK = lambda body, ct="text/html; charset=utf-8", h=None, st=200: (st, {"Content-Type": ct, **(h or {})}, body if isinstance(body, bytes) else body.encode())
NF = OK("<html><title>404</title><h1>Not found</h1></html>", st=404)
def robots(text): return OK(text, "text/plain")
def idx(path): 
    try: return int(path.rstrip("/").rsplit("-", 1)[1].split(".")[0].split("/")[0])
    except Exception: return None
def plain(paths, robots_txt="User-agent: *\nDisallow:\n", head="", story_kw=lambda i: {}, links=True, sm=None):
    """A usual site with stories at *paths*."""
    def f(path, q, h, base):
        if path == "/robots.txt": return OK(robots_txt(base) if callable(robots_txt) else robots_txt, "text/plain")
        if path == "/sitemap.xml" and sm: return sm(base)
        if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(paths)] if links else [], head))
        full = path + (f"?{q}" if q else "")
        if full in paths: return OK(story(ALL[paths.index(full)], **story_kw(paths.index(full))))
        return None
    return f
P = [f"/news/2026/05/{12+i}/a-long-slug-of-the-story-number-{i}" for i in range(6)]
PR = [p.replace("/news/", "/private/") if i >= 3 else p for i, p in enumerate(P)]
def robots_site(body):
    def f(path, q, h, base):
        if path == "/robots.txt": return OK(body, "text/plain")
        if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(PR)]))
        if path in PR: return OK(story(ALL[PR.index(path)], date=DAYS[PR.index(path)]))
    return f
site(1, "scrapy/scrapy#6195", "robots.txt with BOM: first group ignored")(robots_site("\ufeffUser-agent: *\nDisallow: /private/\n"))
site(2, "scrapy/scrapy#6292", "robots.txt in Latin-1")(robots_site("# große Straße\nUser-agent: *\nDisallow: /private/\n".encode("latin-1")))
site(3, "rejifald/movar#434", "group with two user agents, * first")(robots_site("User-agent: *\nUser-agent: Googlebot\nDisallow: /private/\n"))
site(4, "crawler-commons/crawler-commons#240", "robots.txt with CR line ends")(robots_site("User-agent: *\rDisallow: /private/\r"))
site(5, "scrapy/protego#29", "wildcards in robots.txt")(robots_site("User-agent: *\nDisallow: */a-long-slug*number-3$\nDisallow: /*/2026/05/16\nDisallow: *number-5\n"))
site(6, "scrapy/scrapy#6292", "robots.txt in UTF-16")(robots_site("User-agent: *\nDisallow: /private/\n".encode("utf-16")))
@site(7, "scrapy/scrapy#2389", "sitemap.xml.gz sent with Content-Encoding gzip")
def s7(path, q, h, base):
    if path == "/robots.txt": return robots(f"Sitemap: {base}/sm.xml.gz\n")
    if path == "/sm.xml.gz": return OK(gzip.compress(gzip.compress(sitemap([base + p for p in P]).encode())), "application/x-gzip", {"Content-Encoding": "gzip"})
    if path == "/": return OK(home([]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[P.index(path)]))
Q8 = [f"/article.php?yyyy=2026&mm=05&dd={12+i}&id=4711{i}" for i in range(6)]
@site(8, "crawler-commons/crawler-commons#148", "sitemap with unescaped ampersands")
def s8(path, q, h, base):
    if path == "/robots.txt": return robots(f"Sitemap: {base}/sm.xml\n")
    if path == "/sm.xml": return OK(sitemap([base + p for p in Q8], esc=False), XML)
    if path == "/": return OK(home([]))
    if path + "?" + q in Q8: return OK(story(ALL[Q8.index(path + "?" + q)], date=DAYS[1]))
Q9 = [f"/modules.php?name=News&file=article&sid=471{i}" for i in range(6)]
@site(9, "webrecorder/browsertrix-crawler#490", "stories told apart by the parameter sid")
def s9(path, q, h, base):
    if path == "/robots.txt": return robots(f"Sitemap: {base}/sm.xml\n")
    if path == "/sm.xml": return OK(sitemap([base + p for p in Q9]), XML)
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(Q9)]))
    if path + "?" + q in Q9: return OK(story(ALL[Q9.index(path + "?" + q)], date=DAYS[1]))
def feed(base, links, ct="application/rss+xml", date="Mon, 11 May 2026 08:00:00 GMT", dates=None):
    return OK('<?xml version="1.0"?><rss version="2.0"><channel><title>x</title><link>/</link>' + "".join(f"<item><title>{T(i)}</title><link>{(base + l).replace('&', '&amp;')}</link><pubDate>{(dates or [date]*9)[i]}</pubDate></item>" for i, l in enumerate(links)) + "</channel></rss>", ct)
FH = "<link rel=alternate type='application/rss+xml' href='/feed'>"
Q10 = [f"/index.php?/politics/a-story-of-the-day-471{i}/" for i in range(3)] + [f"/story?471{i}" for i in range(3, 6)]
@site(10, "scrapy/scrapy#1982", "feed links with utm_source on queries without values")
def s10(path, q, h, base):
    if path == "/": return OK(home([], FH))
    if path == "/feed": return feed(base, [l + "&utm_source=rss" for l in Q10])
    u = (path + "?" + q).removesuffix("&utm_source=rss")
    if u in Q10: return OK(story(ALL[Q10.index(u)], date=DAYS[1]))
@site(11, "RSS content type", "feed sent as text/html")
def s11(path, q, h, base):
    if path == "/": return OK(home([], FH))
    if path == "/feed": return feed(base, P, "text/html")
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
P12 = [f"/stories/a-long-slug-of-the-story-number-{i}" for i in range(6)]
@site(12, "emacs-elfeed/elfeed#345", "dates of a feed in other orders; pages without a date")
def s12(path, q, h, base):
    if path == "/": return OK(home([], FH))
    if path == "/feed": return feed(base, P12, dates=["11-05-2026 15:30", "2026/05/11 15:30:00", "2026.05.11 15:30", "1778500800", "Mo, 11 Mai 2026 15:30:00", "Mon, 11 May 2026 15:30:00 GMT"])
    if path in P12: return OK(story(ALL[P12.index(path)]))
SL = [f"/noticia/Z59BAEC38-ADF2-2475-07830E240D31D863/202605/{s['title'].lower().replace(' ', '-').replace(',', '')}" for s in ALL]
@site(13, "commoncrawl/news-crawl#44", "same id with any slug gives the same story")
def s13(path, q, h, base):
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(SL)]))
    if path in SL: return OK(story(BRIDGE, date=DAYS[1]))
@site(14, "Norconex/crawler#533", "six links redirect to one story")
def s14(path, q, h, base):
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P[1:]: return (302, {"Location": P[0]}, b"")
    if path == P[0]: return OK(story(BRIDGE, date=DAYS[1]))
@site(15, "Norconex/crawler#111", "canonical of every story is the home page")
def s15(path, q, h, base):
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P: return OK(story(ALL[P.index(path)], extra_head=f"<link rel=canonical href='{base}/'>", date=DAYS[1]))
@site(16, "cookie wall", "redirect to itself that sets a cookie")
def s16(path, q, h, base):
    if path == "/robots.txt": return NF
    if "seen=1" not in (h.get("Cookie") or ""): return (302, {"Location": path, "Set-Cookie": "seen=1; Path=/"}, b"")
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(17, "cookie wall", "redirect to /cookiecheck and back")
def s17(path, q, h, base):
    if path == "/robots.txt": return NF
    if path == "/cookiecheck": return (302, {"Location": parse_qs(q).get("next", ["/"])[0], "Set-Cookie": "ok=1; Path=/"}, b"")
    if "ok=1" not in (h.get("Cookie") or ""): return (302, {"Location": f"/cookiecheck?next={path}"}, b"")
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(18, "mozilla/readability#897", "story on three pages (rel=next)")
def s18(path, q, h, base):
    if path == "/": return OK(home([(P[0], T(0))]))
    if path == P[0]:
        n = int(parse_qs(q).get("page", ["1"])[0]); ps = [BRIDGE["lead"]] + BRIDGE["paras"]
        part = ps[(n - 1) * 3:n * 3]
        nx = f"<link rel=next href='{base}{P[0]}?page={n+1}'>" if n < 3 else ""
        pager = "<div class=pager>" + "".join(f"<a href='{P[0]}?page={k}'>{k}</a> " for k in (1, 2, 3)) + (f"<a href='{P[0]}?page={n+1}'>Next page</a>" if n < 3 else "") + "</div>"
        return OK(story(BRIDGE, extra_head=nx, body="".join(f"<p>{p}</p>" for p in part) + pager, date=DAYS[1])) if part else NF
@site(19, "Norconex/crawler#646", "canonical in the Link header only")
def s19(path, q, h, base):
    if path == "/": return OK(home([(p + "?view=full", T(i)) for i, p in enumerate(P)]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]), h={"Link": f'<{base}/logo.png>; rel="image_src", <{base}{path}>; rel="canonical"'})
@site(20, "content type", "stories sent with other content types")
def s20(path, q, h, base):
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P:
        ct = ["text/plain", "application/octet-stream", "application/xhtml+xml", "", "text/html;charset=", "TEXT/HTML ; Charset=\"UTF-8\""][P.index(path)]
        return OK(story(ALL[P.index(path)], date=DAYS[1]), ct)
@site(21, "scrapy/scrapy#1564", "links relative to base href")
def s21(path, q, h, base):
    if path == "/": return OK(home([(p.removeprefix("/news/"), T(i)) for i, p in enumerate(P)], "<base href='/news/'>"))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(22, "commoncrawl/news-crawl#22", "nested indexes, last one gzipped, relative locs")
def s22(path, q, h, base):
    ix = lambda *u: '<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' + "".join(f"<sitemap><loc>{x}</loc></sitemap>" for x in u) + "</sitemapindex>"
    if path == "/robots.txt": return robots("Sitemap: /index.xml?type=all\n")
    if path == "/index.xml": return OK(ix("/idx/2026.xml", base + "/idx/2025.xml"), XML)
    if path == "/idx/2026.xml": return OK(ix(base + "/maps/05.xml.gz"), XML)
    if path == "/maps/05.xml.gz": return OK(gzip.compress(sitemap([base + p for p in P]).encode()), "application/octet-stream")
    if path == "/": return OK(home([]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(23, "extractus/article-extractor#400", "text only in JSON-LD; in a news sitemap")
def s23(path, q, h, base):
    if path == "/robots.txt": return robots(f"Sitemap: {base}/sm.xml\n")
    if path == "/sm.xml": return OK(sitemap([base + p for p in P], lambda i: f"<news:news><news:publication_date>2026-05-11</news:publication_date><news:title>{T(i)}</news:title></news:news>"), XML)
    if path == "/": return OK(home([]))
    if path in P:
        s = ALL[P.index(path)]
        return OK(f"<!DOCTYPE html><html lang=en><head><title>{s['title']}</title><script type='application/ld+json'>{json.dumps({'@type':'NewsArticle','headline':s['title'],'datePublished':'2026-05-11','articleBody':chr(10).join(s['paras'])})}</script></head><body><div id=root></div></body></html>")
@site(24, "apache/stormcrawler soft 404", "removed stories answer 200 with a not-found page")
def s24(path, q, h, base):
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P[:3]: return OK(story(ALL[P.index(path)], date=DAYS[1]))
    return OK("<!DOCTYPE html><html lang=en><head><title>The Melby Courier</title></head><body><h1>Sorry, this page is gone</h1><p>The story that you are looking for has been moved or removed. Use the search or go to our front page, where you find the latest news of the day.</p></body></html>")
@site(25, "Norconex/crawler#761", "sitemap lists sub-sitemaps as url; stories as .html.xml")
def s25(path, q, h, base):
    if path == "/robots.txt": return robots(f"Sitemap: {base}/sm.xml\n")
    if path == "/sm.xml": return OK(sitemap([base + "/sub-2026-05.xml"]), XML)
    if path == "/sub-2026-05.xml": return OK(sitemap([base + p for p in P]), XML)
    if path == "/": return OK(home([]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(26, "SEO plugin", "only /sitemap_index.xml or /news-sitemap.xml, not in robots.txt")
def s26(path, q, h, base):
    if path == "/sitemap_index.xml": return OK('<sitemapindex><sitemap><loc>' + base + '/post-sitemap.xml</loc></sitemap></sitemapindex>', XML)
    if path == "/post-sitemap.xml": return OK(sitemap([base + p for p in P]), XML)
    if path == "/": return OK(home([]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(27, "adbar/trafilatura#147", "unclosed <a name=top> on every page")
def s27(path, q, h, base):
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]).replace("<main>", "<a name='top'><main>"))
@site(28, "extractus/article-extractor#147", "beginning shown, rest in __NEXT_DATA__, no JSON-LD")
def s28(path, q, h, base):
    if path == "/": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P:
        s = ALL[P.index(path)]
        return OK(story(s, body=f"<p>{s['lead']}</p>", post="<script id=__NEXT_DATA__ type='application/json'>" + json.dumps({"props": {"pageProps": {"article": {"title": s["title"], "body": "".join(f"<p>{p}</p>" for p in [s["lead"]] + s["paras"])}}}}) + "</script>"))
@site(29, "scrapy/scrapy#6195", "Sitemap line after a BOM")
def s29(path, q, h, base):
    if path == "/robots.txt": return robots(f"\ufeffSitemap: {base}/hidden-map.xml\n")
    if path == "/hidden-map.xml": return OK(sitemap([base + p for p in P]), XML)
    if path == "/": return OK(home([]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(30, "scrapy/scrapy#951", "gzip sitemap of two members")
def s30(path, q, h, base):
    if path == "/robots.txt": return robots(f"Sitemap: {base}/sm.xml.gz\n")
    x = sitemap([base + p for p in P]).encode(); m = x.find(b"<url>", len(x) // 2)
    if path == "/sm.xml.gz": return OK(gzip.compress(x[:m]) + gzip.compress(x[m:]), "application/gzip")
    if path == "/": return OK(home([]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
def linked(head, feed_path, answer, extra=""):
    """A site whose stories only a feed lists."""
    def f(path, q, h, base):
        if path == "/": return OK(home([], head(base)).replace("</main>", extra + "</main>"))
        if path == feed_path: return answer(base)
        if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
    return f
def rss(base): return feed(base, P)[2].decode()
site(31, "own", "feed in UTF-16, sent as text/plain")(linked(lambda b: FH, "/feed", lambda b: OK(rss(b).replace("?>", " encoding='utf-16'?>", 1).encode("utf-16"), "text/plain")))
def atom(base):
    entries = "".join(f"<entry xml:base='05/'><title>{T(i)}</title><link href='{p.removeprefix('/news/2026/05/')}'/></entry>" for i, p in enumerate(P))
    return OK(f"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/news/2026/'><title>x</title>{entries}</feed>", "application/atom+xml")
site(32, "own", "Atom with xml:base")(linked(lambda b: FH, "/feed", atom))
site(33, "own", "JSON Feed linked as application/json")(linked(lambda b: FH.replace("rss+xml", "json"), "/feed", lambda b: OK(json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [{"id": str(i), "url": p} for i, p in enumerate(P)]}), "application/json")))
site(34, "own", "feed linked by an image only")(linked(lambda b: "", "/rss.xml", lambda b: feed(b, P), "<a href=/rss.xml><img src=rss.png></a>"))
site(35, "own", "feed: scheme")(linked(lambda b: FH.replace("/feed", f"feed:{b}/feed"), "/feed", lambda b: feed(b, P)))
@site(36, "own", "links with a raw query in GBK")
def s36(path, q, h, base):
    if path == "/": return OK(("<meta charset=gbk>" + "".join(f"<h2><a href='/show?t=中国{i}&id=4711{i}'>{T(i)}</a></h2>" for i in range(6))).encode("gbk"), "text/html")
    for i in range(6):
        if q == f"t=%D6%D0%B9%FA{i}&id=4711{i}": return OK(story(ALL[i], date=DAYS[1]))
@site(37, "own", "Refresh header")
def s37(path, q, h, base):
    if path == "/": return OK("<html></html>", h={"Refresh": "0; url=/start.html"})
    if path == "/start.html": return OK(home([(p, T(i)) for i, p in enumerate(P)]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
def usual(paths, front, more=lambda path, base: None, tell=lambda i, base: OK(story(ALL[i], date=DAYS[i]))):
    """A site with *front* as its front page, *more* pages and stories at *paths*."""
    def f(path, q, h, base):
        if path == "/": return OK(front(base))
        return more(path, base) or (tell(paths.index(path), base) if path in paths else None)
    return f
LINKS = [(p, T(i)) for i, p in enumerate(P)]
site(38, "own", "canonical of every story is the first one")(usual(P, lambda b: home(LINKS), tell=lambda i, b: OK(story(ALL[i], extra_head=f"<link rel=canonical href='{b}{P[0]}'>", date=DAYS[i]))))
GO = [f"/go/a-long-slug-of-the-story-number-{i}" for i in range(6)]
def s39(path, b):
    if path == "/en/": return OK(home([(p, T(i)) for i, p in enumerate(GO)]))
    if path in GO: return OK(f"<script>location.replace('{P[GO.index(path)]}')</script><noscript><a href='{P[GO.index(path)]}'>Continue</a></noscript>")
site(39, "own", "script redirects of the front page and of stories")(usual(P, lambda b: "<title>x</title><script type='text/javascript'>window.location.href = '/en/';</script>", s39))
def s40(path, b):
    if path == "/rss/": return OK(f"<title>Feeds</title><ul><li><a href='/rss/politics.xml'>Politics</a><li><a href='feed://{b[7:]}/rss/culture'>Culture</a></ul>")
    if path == "/rss/politics.xml": return feed(b, P[:3])
    if path == "/rss/culture": return OK(f"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>" + "".join(f"<item rdf:about='{b}{p}'><title>{T(i + 3)}</title></item>" for i, p in enumerate(P[3:])) + "</rdf:RDF>", "text/xml")
site(40, "own", "page of feeds, one with feed://, items with rdf:about only")(usual(P, lambda b: home([], "").replace("</main>", "<a href=/rss/>RSS</a></main>"), s40))
site(41, "own", "list of stories in an iframe")(usual(P, lambda b: "<title>x</title><iframe src=/latest.html></iframe>", lambda path, b: OK(home(LINKS)) if path == "/latest.html" else None))
def s42(i, base):
    status, headers, body = OK(story(ALL[i], date=DAYS[i]))
    return status, {**headers, "Content-Length": str(len(body) + 100)}, body[:-300] if i == 5 else body
site(42, "own", "length too long; the last story is cut")(usual(P, lambda b: home(LINKS), tell=s42))
@site(43, "own", "button that loads the second half, then that half again")
def s43(path, q, h, base):
    if path == "/": return OK(home(LINKS[:3]).replace("</main>", "<button data-next='/more?page=2'>More</button></main>"))
    if path == "/more": return OK(home(LINKS[3:]).replace("</main>", f"<a rel=next href='/more?page={int(q[5:]) + 1}'>Older stories</a></main>"))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(44, "own", "feeds in pages: atom:link rel=next, next_url")
def s44(path, q, h, base):
    if path == "/": return OK(home([], FH + FH.replace("'/feed'", "'/feed.json'").replace("rss+xml", "feed+json")))
    if path == "/feed": return OK(feed(base, P[1:3] if q else P[:1])[2].replace(b"<item>", b"<link xmlns='http://www.w3.org/2005/Atom' rel='next' href='/feed?paged=2'/><item>", 1), XML)
    if path == "/feed.json": return OK(json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [{"id": p, "url": p} for p in (P[4:] if q else P[3:4])], **({} if q else {"next_url": f"{base}/feed.json?page=2"})}), "application/json")
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(45, "own", "front page links to an archive only: year, months, stories")
def s45(path, q, h, base):
    pages = {"/": [("/archive/2026/", "Archive")], "/archive/2026/": [("/archive/2026/04/", "April"), ("/archive/2026/05/", "May")], "/archive/2026/04/": LINKS[:3], "/archive/2026/05/": LINKS[3:]}
    if path in pages: return OK(home(pages[path]))
    if path in P: return OK(story(ALL[P.index(path)], date=DAYS[1]))
@site(46, "own", "XHTML as text/xml, sections in a select, redirects that robots.txt forbids")
def s46(path, q, h, base):
    xhtml = lambda text: OK("<?xml version='1.0'?><!DOCTYPE html>" + text.removeprefix("<!DOCTYPE html>"), "text/xml")
    if path == "/robots.txt": return robots("User-agent: *\nDisallow: /go/")
    if path == "/": return xhtml("<html><title>x</title><select><option>Choose</option><option value='/news/'>News</option></select></html>")
    if path == "/news/": return OK(home([(f"/go/?to={base}{p}", t) for p, t in LINKS]))
    if path in P: return xhtml(story(ALL[P.index(path)], date=DAYS[1]))
@site(47, "own", "stories told apart by ref, the rest loaded as JSON with markup")
def s47(path, q, h, base):
    links = [(f"/read?ref={4711 + i}", f"{T(i)}, a report in two parts") for i in range(6)]
    if path == "/": return OK(home(links[:3]).replace("</main>", "<button data-endpoint='/api?offset=3&amp;limit=3'>More</button></main>"))
    if path == "/api": return OK(json.dumps({"html": home(links[3:]) if q == "offset=3&limit=3" else ""}), "application/json")
    if path == "/read": return OK(story(ALL[int(q[4:]) - 4711], date=DAYS[1]))
site(48, "own", "a feed that no page names; one behind a link without a name lists no page")(usual(P, lambda b: home([("/syndication", "")]), lambda path, b: feed(b, []) if path == "/syndication" else feed(b, P) if path == "/feed/" else None))
def s49(path, b):
    if path == "/robots.txt": return robots(f"Sitemap: {b}/gone.xml")
    if path == "/sitemap.xml": return OK(sitemap([b + p for p in P[:3]]), XML)
    if path == "/feeds": return OK(f"<?xml version='1.0'?><opml version='2.0'><body><outline text='Town'><outline type='rss' xmlUrl='{b}/xml?nr=1&amp;k=2'/></outline></body></opml>", "text/x-opml")
    if path == "/xml": return feed(b, P[3:])
site(49, "own", "a named sitemap that is gone, feeds in OPML")(usual(P, lambda b: home([], "<link rel=outline type='text/x-opml' href='/feeds'>"), s49))
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        host = self.headers.get("Host", "").split(":")[0]
        parts = urlsplit(self.path)
        f = SITES.get(host, (None,))[0]
        r = f(parts.path, parts.query, self.headers, f"http://{host}:{PORT}") if f else None
        if r is None: r = NF
        st, hd, body = r
        LOG.write(f"{host} {st} {self.path} cookie={self.headers.get('Cookie')}\n")
        self.send_response(st)
        for k, v in hd.items():
            if v != "": self.send_header(k, v)
        if "Content-Length" in hd: self.close_connection = True
        else: self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
if __name__ == "__main__":
    ThreadingHTTPServer(("0.0.0.0", PORT), Handler).serve_forever()
