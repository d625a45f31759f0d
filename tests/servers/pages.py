"""Generated article pages in the layout of a local newspaper."""

from datetime import UTC, datetime
from html import escape

#: publication date on every page of this module
PUBLISHED = datetime(2026, 3, 14, 8, 30, tzinfo=UTC)

_PLACES = ("Köln-Mülheim", "Görlitz", "Würzburg", "Lüneburg", "Tübingen", "Fürth", "Döbeln")
_SUBJECTS = ("Brücke", "Mühle", "Straßenbahn", "Bücherei", "Fähre", "Schäferei", "Gärtnerei")

#: one paragraph per line, with umlauts, quotes and dashes that cp1252 has and latin-1 lacks
_PARAGRAPHS = """\
Die {subject} in {place} öffnet nach fünf Jahren wieder für alle. \
Der Stadtrat stimmte am späten Donnerstagabend mit großer Mehrheit für den Plan, \
über den seit dem Frühjahr {year} gestritten worden war.
„Wir hätten früher fertig sein müssen“, sagte Bürgermeisterin Jördis Löffler nach der Sitzung. \
Die Verzögerung habe die Stadt rund {cost} Millionen Euro gekostet – \
mehr als der ganze Umbau der Hauptstraße vor zwölf Jahren.
Für die Anwohner ändert sich zunächst wenig: Der Verkehr läuft bis zum Herbst über die Nebenstrecke, \
die Busse fahren weiter alle zwanzig Minuten. \
Erst wenn die Prüfer des Landes zustimmen, können die Absperrungen verschwinden.
Kritik kam von der Opposition. Ihr Sprecher Günther Größler nannte den Beschluß „mutlos und teuer“; \
die Stadt übernehme Risiken, die der Betreiber tragen müßte, \
und erhalte dafür nicht einmal ein Rückgaberecht.
Der Betreiber selbst wollte sich auf Anfrage nicht äußern. \
In einem früheren Schreiben an die Verwaltung hieß es, man prüfe „sämtliche Möglichkeiten“, \
schließe aber höhere Gebühren für Gäste von außerhalb nicht aus.
Über die endgültige Fassung des Vertrags entscheidet der Ausschuß Anfang nächsten Monats. \
Danach können Bürgerinnen und Bürger drei Wochen lang schriftlich Einwände erheben, \
auch in den Büros der Ortsteile {place} und Süd.
"""

_JAPANESE = """\
市は木曜日の夜、五年間閉鎖されていた古い橋を来月から再び開通させると発表した。\
市議会は長い議論の末、賛成多数で計画を承認した。
市長は記者会見で「もっと早く終わらせるべきだった」と述べ、工事の遅れについて住民に謝罪した。\
費用は当初の見積もりを大きく上回り、約十二億円に達したという。
住民の間では歓迎の声が多い。\
橋の近くで食堂を営む女性は「客足が戻ることを期待している」と話し、春の祭りに間に合うことを喜んだ。
一方で、安全性を心配する意見もある。\
市は専門家による検査を秋まで続け、結果をすべて公開するとしている。
"""


def title(number: int) -> str:
    """Return the headline of the article with this *number*."""
    subject, place = _SUBJECTS[number % 7], _PLACES[number // 7 % 7]
    return f"{place}: Wie es mit der {subject} weitergeht, Teil {number}"


def paragraphs(number: int) -> list[str]:
    """Return the body of the article with this *number*."""
    values = {
        "subject": _SUBJECTS[number % 7],
        "place": _PLACES[number // 7 % 7],
        "year": 2000 + number % 25,
        "cost": 3 + number,
    }
    return _PARAGRAPHS.format(**values).splitlines()


def article_page(number: int, *, meta_charset: str | None = "utf-8") -> str:
    """Return the HTML page of the article with this *number*."""
    return dress(title(number), paragraphs(number), meta_charset=meta_charset)


def japanese_page(*, meta_charset: str) -> str:
    """Return an article page in Japanese."""
    return dress(
        "古い橋が五年ぶりに開通へ", japanese_paragraphs(), lang="ja", meta_charset=meta_charset
    )


def japanese_paragraphs() -> list[str]:
    """Return the body of :func:`japanese_page`."""
    return _JAPANESE.splitlines()


def dress(headline: str, body: list[str], *, lang: str = "de", meta_charset: str | None) -> str:
    """Return a page with *headline*, the paragraphs *body*, and the navigation of a site."""
    charset = f'<meta charset="{meta_charset}">' if meta_charset else ""
    text = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in body)
    teasers = "\n".join(
        f'<li><a href="/2026/03/{10 + n}/{n}-kurz-notiert.html">Kurz notiert {n}</a></li>'
        for n in range(6)
    )
    return f"""<!DOCTYPE html>
<html lang="{lang}">
<head>{charset}<title>{escape(headline)} | Der Tagesbote</title>
<meta property="og:type" content="article">
<meta property="article:published_time" content="{PUBLISHED.isoformat()}">
</head>
<body>
<header><a href="/">Der Tagesbote</a>
<nav><ul><li><a href="/politik/">Politik</a></li><li><a href="/sport/">Sport</a></li>
<li><a href="/lokales/">Lokales</a></li></ul></nav></header>
<main><article><h1>{escape(headline)}</h1>
<p class="meta"><time datetime="{PUBLISHED.isoformat()}">14. 3. 2026, 9:30</time></p>
<div class="text">
{text}
</div></article>
<aside><h2>Mehr</h2><ul>{teasers}</ul></aside></main>
<footer><a href="/impressum/">Impressum</a> <a href="/datenschutz/">Datenschutz</a></footer>
</body>
</html>
"""
