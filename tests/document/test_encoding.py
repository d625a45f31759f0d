"""Tests of decoding to UTF-8."""

import codecs
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

import newscrawl
from newscrawl.document.encoding import WHATWG_CODECS, to_utf8, whatwg_codec

JAPANESE = "港の新しい灯台は、三年の工事を終えて今週金曜日に点灯する。"
GREEK = "Το νέο λιμάνι άνοιξε την Παρασκευή μετά από τρία χρόνια εργασιών."
FRENCH = "L’été, la façade du vieux théâtre – «fermé» – coûte cher à Besançon."


def page(text: str, charset: str | None = None) -> str:
    meta = f'<meta charset="{charset}">' if charset else ""
    return f"<html><head>{meta}</head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize("charset", ["shift_jis", "euc-jp", "iso-2022-jp", "utf-8"])
def test_uses_the_charset_of_the_page(charset: str):
    decoded = to_utf8(page(JAPANESE, charset).encode(charset))
    assert JAPANESE in decoded.utf8.decode()
    assert not decoded.repaired


RUSSIAN = "Городской совет в понедельник вечером одобрил план ремонта моста через реку."
KOREAN = (
    "시의회는 월요일 밤 회의에서 강변 다리의 보수 계획을 찬성 열둘 반대 셋으로 통과시켰다고 밝혔다."
)
PORT_RUSSIAN = "Новый порт открыли в пятницу после трёх лет работ, сообщила мэрия города."
PORT_CHINESE = "新港口经过三年的施工，于本周五正式开放，市政府表示将继续投资。"
PORT_KOREAN = "새로운 항구가 삼년간의 공사를 마치고 금요일에 문을 열었다고 시가 밝혔다."


@pytest.mark.parametrize(
    ("text", "codec", "declared", "header"),
    [
        pytest.param(FRENCH * 4, "cp1252", "utf-8", "utf-8", id="windows-1252 declared as UTF-8"),
        pytest.param(RUSSIAN * 3, "cp1251", None, "iso-8859-1", id="Russian, a Latin-1 header"),
        pytest.param(KOREAN * 3, "cp949", None, "iso-8859-1", id="Korean, a Latin-1 header"),
        pytest.param(GREEK, "iso-8859-7", "iso-8859-7", "iso-8859-1", id="page before Latin-1"),
        pytest.param(GREEK, "iso-8859-7", "koi8-r", "iso-8859-7", id="header before the page"),
        pytest.param(JAPANESE * 8, "shift_jis", None, None, id="undeclared Japanese"),
        pytest.param(PORT_RUSSIAN * 8, "cp1251", None, None, id="undeclared Russian"),
        pytest.param(PORT_CHINESE * 8, "gbk", None, None, id="undeclared Chinese"),
        pytest.param(PORT_KOREAN * 8, "euc_kr", None, None, id="undeclared Korean"),
        pytest.param(FRENCH, "utf-16-le", None, None, id="UTF-16-LE without a mark"),
        pytest.param(FRENCH, "utf-16-be", None, None, id="UTF-16-BE without a mark"),
    ],
)
def test_finds_the_charset(text: str, codec: str, declared: str | None, header: str | None):
    assert text in to_utf8(page(text, declared).encode(codec), header).utf8.decode()


@pytest.mark.parametrize(
    "declared", ["gb2312", "shift_jis", "iso-8859-1", "windows-1251", "x-none"]
)
def test_valid_utf8_takes_precedence(declared: str):
    data = page(JAPANESE, declared).encode()
    assert to_utf8(data, declared) == (data, "utf-8", False)


def test_repairs_invalid_bytes_in_utf8():
    data = page(FRENCH).encode() + "caf\xe9".encode("latin-1") + b" and a long Latin tail"
    decoded = to_utf8(data)
    assert FRENCH in decoded.utf8.decode()
    assert "café" in decoded.utf8.decode()
    assert decoded.repaired


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_mark_takes_precedence(mark: str):
    decoded = to_utf8(page(FRENCH, "shift_jis").encode(mark), "koi8-r")
    assert decoded.utf8.decode() == page(FRENCH, "shift_jis")


def test_accepts_utf8_cut_in_a_character():
    decoded = to_utf8(page(JAPANESE).encode()[: page(JAPANESE).encode().index("点".encode()) + 1])
    assert decoded.encoding == "utf-8"
    assert decoded.repaired
    assert decoded.utf8.decode().endswith("今週金曜日に")


@given(st.binary(max_size=400), st.sampled_from([None, "utf-8", "shift_jis", "utf-16", "nonsense"]))
def test_always_returns_valid_utf8(data: bytes, charset: str | None):
    decoded = to_utf8(data, charset)
    decoded.utf8.decode()
    codecs.lookup(decoded.encoding)


PYTHON_CODECS = sorted({*aliases.values(), "idna", "punycode", "undefined", "unicode_escape"})


@pytest.mark.parametrize("codec", PYTHON_CODECS)
def test_no_codec_of_python_fails(codec: str):
    data = page(f"{FRENCH} \\ud800", codec).encode("cp1252")
    for charset in (None, codec):
        assert to_utf8(data, charset).encoding in WHATWG_CODECS
        assert newscrawl.extract(data, encoding=charset).body


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("UTF8", "utf-8"),
        ("latin1", "cp1252"),
        ("gb2312", "gb18030"),
        ("x-sjis", "cp932"),
        ("utf-16", "utf-16-le"),
        *((label, None) for label in ("punycode", "hex", "base64", "rot13", "idna", "utf-7")),
        *((label, None) for label in ("undefined", "unicode_escape", "utf-32", "cp037", "")),
    ],
)
def test_only_charsets_of_browsers_have_a_codec(label: str, codec: str | None):
    assert whatwg_codec(label) == codec


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("Rząd przyjął w środę".encode("cp1250"), "x-cp1250", "Rząd przyjął w środę"),
        ("Łódź, Świętość".encode("iso8859-2"), "iso88592", "Łódź, Świętość"),
        ("Un œuf à 5 €".encode("iso8859-15"), "iso885915", "Un œuf à 5 €"),
        ("①港の工事".encode("euc_jis_2004"), "x-euc-jp", "①港の工事"),
        (b"\x80" + "码头三百万".encode("gbk"), "gb_2312-80", "€码头三百万"),
        (b"\xa3\xe1" + "碼頭".encode("big5"), "x-x-big5", "€碼頭"),
        ("①①".encode("cp932"), "cp932", "①①"),
        ("Die Hälfte".encode("cp1252"), "utf-16", "Die Hälfte"),
    ],
)
def test_charsets_as_browsers_have_them(data: bytes, charset: str, text: str):
    """Labels and code points of the Encoding Standard that Python or w3lib do not have."""
    for page, header in ((data, charset), (b'<meta charset="%s">' % charset.encode() + data, None)):
        found = to_utf8(page, header).utf8.decode().rpartition(">")[2]
        assert found == text
