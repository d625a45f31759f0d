"""Author names in texts: the labels before them, what separates them, and what is no name.

Words of languages are from :mod:`newscrawl.language_words`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.fields.dates.vocabulary import phrase, vocabulary
from newscrawl.language_words import words as words_of
from newscrawl.patterns import CJKPattern, lazy_regex
from newscrawl.text import count_digits
from newscrawl.text import words as words_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

Kind = Literal["person", "sign", "organization", "company", "role", "other"]
"""Kind of a name; a sign is that of an agency or an author ("dpa"), a company has a legal form."""

BOUNDARY = "\x1f"
"""Character between the texts of two elements: white space that separates names."""

# Before a name in Chinese, Japanese and Korean.
_CJK_LABEL = (
    r"(?:[\u4e00-\u9fff]{0,6}记者|(?:[\u4e00-\u9fff]{0,5}[社報網台]|特約|責任)?記者)"
    r"(?:\s*(?:[:：・·／/=＝|]|\s)\s*|(?=[\u4e00-\u9fff]{2,4}(?:[\s、，,）)／/|]|$)))"
    r"|(?:(?:见习|实习)编辑|作者|撰文|撰稿|采写|执笔|文字|取材・文|文・写真|執筆者?|著者|筆者|ライター|글쓴이|작성자|기자|글(?:[·/]사진)?)\s*(?:[:：・·／/=＝|｜]|\s)\s*"
    r"|文(?:\s*[:：・·／/=＝|｜]\s*|\s)"
)
_CJK_BY = CJKPattern(_CJK_LABEL)
# After names, or a list in brackets.
_NAME_BEFORE = CJKPattern(
    r"(?:(?:(?!사진|영상)\(?[가-힣]{1,6}\s?=(?:[가-힣]{2,8}\))?\s?)?[가-힣]{2,4}(?:\s?[,·/\s]\s?[가-힣]{2,4})*\s?[가-힣]{0,3}(?:기자|특파원)|[\u4e00-\u9fff々]{2,5}\s?[（(]?記者[)）]?)(?:\s*=|\s[\w.+-]{1,64}@[\w.-]{1,64})?"
    r"|【[\u4e00-\u9fff々]{3,5}(?:[、，・][\u4e00-\u9fff々]{2,5})+】"
)
_TOWN_BEFORE = CJKPattern(r"^\(?[가-힣]{1,6}\s?=(?:[가-힣]{2,8}\)|\s?(?=[가-힣]))")
_COLON = lazy_regex(r"\s?[:：՝\x1f]\s*")
_BRACKETS = lazy_regex(r"[(（\[【〔](.+)[)）\]】〕]\s*=?")
# Not inside a name: "Ada (Lou) Meyer".
_IN_BRACKETS = lazy_regex(r"\s?[(（\[【〔][^()（）\[\]]*(?:[)）\]】〕]|$)(?!\s[A-Z][^\s,]+$)")
_QUOTES = lazy_regex(r"(?:^|(?<=, ))['\"]|['\"](?=,|$)")
# Marks of punctuation that may be part of a name, or are read by the rules of their own.
_OF_NAMES = frozenset("՝'’‘ʼ`´.-‐‑–·・&@_©,،，、:：=/／״׳\"“”„#()（）[]【】〔〕|%{}<>")
# Marks between two letters are part of a name: "约翰·史密斯", "ジョン・スミス".
_SEPARATORS = CJKPattern(
    r"(\||(?<!\w)[·・/_=]{1,3}|[·・/]{1,3}(?!\w)|／)"
    r"|[\x1f、،]|(?<=[가-힣]),\s*(?=[가-힣]{2,4}(?:[\s,]|$))|(?<=[\u4e00-\u9fff]{2})，(?=[\u4e00-\u9fff]{2,4}(?:，|$))"
    r"|(?<=[\u4e00-\u9fff])・(?=[\u4e00-\u9fff])"
    # Joined to the next name; not in first names: وليد.
    r"|\sו-?(?=[א-ת]{2,9}\s)|\sو(?!(?:ليد|ائل|سام|فاء|سيم|جدي|حيد|داد|ديع)\s)(?=[\u0621-\u064a]{2,9}\s)"
)
# The sign of an author, "Ada Meyer (am)", an address, and "reporter" after a name.
_SIGN = CJKPattern(
    r"(?<=\S)\s*(?:[<][^()\s@]{0,99}@[^()\s]{0,99}[>]|\s[^\s@]{1,99}@\S{1,99}|\s?@\w+|\s?[가-힣]{0,3}(?:기자|특파원)|[（(]?[记記]者[)）]?"
    r"|\s?[／/]\s?[\u4e00-\u9fff]{2,6}|\s[\u4e00-\u9fff]{2,3}(?:報導|报道|報道))$"
)
_NO_NAME = lazy_regex(
    r"https?:|www\.|\S@\S|/|^[(@]|[{}<>%\[\]]|^(?!(?:[^\W\d_]\.){2,3}$)(?>\S*?\.)\S++$|\.(?:com|org|net)\b",
    re.IGNORECASE,
)
_LETTER = lazy_regex(r"[^\W\d_]")
# Of languages without blanks between words.
_UNSPACED_LABEL = lazy_regex(
    "记者|記者|作者|文|撰|采写|编辑|执笔|執筆|著者|筆者|ライター|글|작성자|기자|특파원|โดย|[【〔]"
)
_NUMBER_END = lazy_regex(r"(?<!\S)\S*\d.*$")
# Links and labels, alone or after a name.
_LINK = lazy_regex(
    r"(?<!\S)(?:view|read|about|follow|contact|visit|click|no author|author archives?|last (?:updated|modified)|guest author|not specified"
    r"|leave (?:a|your)|add (?:a|your)|share (?:on|this)|\d+ comments?|comments?|updated|published|posted)\b",
    re.IGNORECASE,
)
_POSITION = lazy_regex(r"(?:head|director|ceo|president|editor|founder) of\b", re.IGNORECASE)
_PARTS_OF_ACCOUNT = lazy_regex(r"[\s_-]+")
_HAN = CJKPattern(r"[\u4e00-\u9fff]+")
_MAX_HAN = 5
_MAX_CHINESE = 3  # of a surname of one character; Japanese ones may be a surname
_PARTICLES = frozenset(
    "van von vom de der den des del della degli dei di da das do dos du la le los las el al ul ur ibn bin bint abu"  # noqa: SIM905
    " zu zum zur ter ten te het 't op y e i a af av bar ben ap san st of".split()
)
# The frequent surnames: other Chinese texts in the place of an author are links and labels.
_CHINESE_NAME = CJKPattern(
    r"(?:欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|令狐|皇甫|[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高梁郑鄭罗羅宋谢謝唐韩韓曹许許邓鄧"
    r"萧蕭冯馮曾程蔡彭潘袁于董余苏蘇叶葉吕呂魏蒋蔣田杜丁沈姜范范江傅钟鐘卢盧汪戴崔任陆陸廖姚方金邱丘夏谭譚韦韋贾賈邹鄒石熊孟秦阎閻薛侯雷白龙龍段"
    r"郝孔邵史毛常万萬顾顧赖賴武康贺賀严嚴尹钱錢施牛洪龚龔汤湯陶黎温溫莫易樊乔喬文安殷颜顏庄莊章鲁魯倪庞龐邢俞翟蓝藍聂聶齐齊向申葛柴伍覃骆關关焦柳"
    r"欧歐祝纪紀尚毕畢耿芦左季管符辛苗詹曲靳祁路涂兰蘭甘裴余梅童翁霍游阮尤岳柯牟滕谷舒卜成饶饒宁寧凌盛查单單冉鲍鮑华華包屈房喻解蒲卫衛简簡时時连連])"
    r"·?[\u4e00-\u9fff]{1,2}"
)
_KOREAN_NAME = CJKPattern(
    "[김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원천방공현함변염추도소석선설마길][가-힣]{2}"
)
_MAX_LENGTH = 80
_MAX_NAME_WORDS = 7
_MAX_NAMES = 20
_MAX_PERSON_WORDS = 5
_MAX_BY = 25
_MAX_LABEL = 30
_MAX_LISTED_WORDS = 4
_MAX_SIGN = 5


class AuthorName(NamedTuple):
    """A name in a text and its kind."""

    text: str
    kind: Kind


class Names(NamedTuple):
    """The names in a text, and whether a label such as "By" introduces them."""

    names: list[AuthorName]
    labelled: bool


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@cache
def _by(language: str | None) -> re.Pattern[str]:
    """Return the pattern of "written by", with the words of *language* that are names in others."""
    by = words_of("by") | (words_of("local_by", language) if language else frozenset())
    return re.compile(
        rf"(?:(?:{_any_of(words_of('written'))})\s+){{0,4}}"
        rf"(?P<by>{_any_of(by)}|(?:เขียน)?โดย(?=\w))(?:\s*[:：]\s*|\s+[–-]\s+|\s+|(?<=โดย))"
        rf"(?P<our>(?:{_any_of(words_of('our'))})\s+)?",
        re.IGNORECASE,
    )


@cache
def _and(language: str | None) -> re.Pattern[str]:
    places = words_of("in", language) if language else frozenset()
    both, full = _any_of(words_of("and")), _any_of(words_of("and_full") - places)
    return re.compile(
        rf"(?:,|\s)\s*(?:{both})(?:\s+|$)|^(?:{both})\s+"
        rf"|,?\s+(?:{full})\s+(?=[^\W\da-z]\S*\s+(?:\S+\s+)?[^\W\da-z])"
    )


@cache
def credit() -> re.Pattern[str]:
    """Return the pattern of a credit of others than the authors: "Photos by", "编辑："."""
    return re.compile(
        rf"(?:^|[\s,.;|/／・·–\x1f-]{{1,4}})(?i:{_any_of(words_of('credits'))})"
        r"\s{0,2}(?:[:：/／|｜]|(?<=\w)\s(?=(?:by|von|par|di|av|por)\s)|(?<=[^\x00-\u02ff])\s|(?<=[^\x00-\u02ff])$)"
    )


def match_by(text: str, language: str | None = None) -> int:
    """Return the end of the label at the start of a byline in *text*, 0 if there is none."""
    if not text.isascii() and (found := _CJK_BY(text).match(text)):
        return found.end()
    colon = _COLON.search(text, 0, _MAX_LABEL)
    if colon and _is_label(text[: colon.start()]):
        return colon.end()
    found = _by(language).match(text)
    if found is None:
        return 0
    following = text[found.end() : found.end() + 1]
    is_free = found["by"].lower() == "by" or found["our"] is not None
    return found.end() if is_free or not (following and is_lower(following)) else 0


@lru_cache(maxsize=4096)  # the pages of a site have the same labels
def _is_label(head: str) -> bool:
    """Return whether a text before a colon announces an author: "About the author"."""
    parts = re.sub(r"['’]|\(s\)|/autor$", " ", head.casefold()).split()
    while len(parts) > 1 and parts[0] in words_of("fillers"):
        del parts[0]
    while len(parts) > 1 and parts[-1] in words_of("fillers"):
        del parts[-1]
    return len(parts) <= _MIN_NAMED and " ".join(parts) in words_of("labels")


@lru_cache(maxsize=4096)  # asked twice of a line; pages of a site share their menus
def may_have_label(text: str) -> bool:
    """Return whether *text* has a word of the labels of bylines: a quick test before the others."""
    if not text.isascii() and _UNSPACED_LABEL.search(text):
        return True
    return not _label_words().isdisjoint(words_in(text))


@cache
def _label_words() -> frozenset[str]:
    lists = ("by", "local_by", "labels")
    labels = (words_in(label) for name in lists for label in words_of(name))
    return frozenset(max(words, key=len) for words in labels if words)


def is_by(text: str, language: str | None = None) -> bool:
    """Return whether *text* only introduces a name: "By", "Author:", "3 May 2021, by"."""
    if len(text) > _MAX_BY + MAX_DATE or not may_have_label(text):
        return False
    text = _without_dates(text, language).strip("| ").rstrip(":：՝・|").rstrip()
    return 0 < len(text) <= _MAX_BY and match_by(f"{text}: X", language) > len(text)


def is_byline(text: str) -> bool:
    """Return whether *text* begins with "By", or ends with the label of a byline."""
    return may_have_label(text) and (match_by(text) > 0 or _ends_with_label(text))


def _ends_with_label(text: str) -> bool:
    """Return whether *text* ends with the label of a byline, "김철수 기자", or is in brackets."""
    return not text.isascii() and _NAME_BEFORE(text).fullmatch(text) is not None


def clean_names(texts: Iterable[str], not_people: Collection[str] = ()) -> list[str]:
    """Return the distinct names in *texts*, without "By", signs, addresses and *not_people*."""
    found = (name for text in texts for name in read_names(text, sites=not_people).names)
    return distinct(found)


def distinct(names: Iterable[AuthorName]) -> list[str]:
    """Return the distinct people among *names*, or else the organizations but companies."""
    found: dict[str, AuthorName] = {}
    for name in names:
        found.setdefault(name.text.casefold(), name)
    people = [name.text for name in found.values() if name.kind in {"person", "sign"}]
    houses = [name.text for name in found.values() if name.kind in {"organization", "role"}]
    has_person = any(" " in name or not name.isascii() for name in people)
    return list(islice(people if has_person or not houses else houses + people, _MAX_NAMES))


def read_names(
    text: str,
    language: str | None = None,
    *,
    sites: Collection[str] = (),
    marked: bool = False,
    labelled: bool = False,
    needs_label: bool = False,
) -> Names:
    """Return the names in *text*, of a page in *language* with the names *sites*.

    With *marked*, the text is in an element of authors: a label may be inside it; with
    *labelled*, a label is before the text; with *needs_label*, there are no names without one in
    it.
    """
    if text.isascii() and not any(map(str.isspace, text)) and _NO_NAME.search(text):
        return Names([], labelled=False)
    folded = {site.casefold() for site in sites}
    if not labelled and _is_plain(text):
        name = "" if needs_label else _shown(text, labelled=False)
        kind = kind_of(name, folded)
        return Names([AuthorName(name, kind)] if kind != "other" else [], labelled=False)
    base = (language or "").partition("-")[0] or None
    if text[:1] == "[" and text[-1:] == "]":  # a list: "['Ada Meyer', 'Jo Bond']"
        text = _QUOTES.sub("", text[1:-1])
    numbered = count_digits(text) > 0
    text = _plain_marks(_without_dates(text, language))
    text, has_label = _without_label(text, language, anywhere=marked or numbered)
    if needs_label and not has_label:
        return Names([], labelled=False)
    labelled = labelled or has_label
    if labelled:
        text = _TOWN_BEFORE(text).sub("", text.strip("= "))
        text = _DASH.split(text, maxsplit=1)[0] if " " in text[:_MAX_LENGTH] else text
    text = credit().split(text, maxsplit=1)[0]
    if not (text.isascii() and text.replace(" ", "").isalpha()):
        text = _without_sign(_IN_BRACKETS.sub(_bracket, text))
    names: list[AuthorName] = []
    for name, is_listed, is_after_mark in _parts(text, base, labelled=labelled):
        if is_after_mark and labelled and names:
            break
        kind = kind_of(name, folded)
        if names:
            is_after = is_listed and any(labelled or " " in it.text for it in names)
            kind = _listed_kind(name, kind, is_after=is_after)
        names.append(AuthorName(name, kind))
    return Names([name for name in names if name.kind != "other"], labelled)


def _is_plain(text: str) -> bool:
    """Return whether *text* has no labels, numbers and separators: the common case."""
    is_plain = text.isascii() and text.replace(" ", "").isalpha()
    return is_plain and _joining_words().isdisjoint(text.lower().split())


@cache
def _joining_words() -> frozenset[str]:
    return _label_words() | words_of("and") | words_of("and_full")


def _listed_kind(name: str, kind: Kind, *, is_after: bool) -> Kind:
    """Return the kind of a *name* of the *kind* after another one, not of an address or a claim."""
    if count_digits(name) or not (is_lower(name) or is_person(name)):
        return "other"
    if is_after and " " not in name and kind == "person" and name.lower() != name.upper():
        return "sign" if name.islower() and len(name) <= _MAX_SIGN else "other"  # or a place
    return kind


def kind_of(name: str, sites: Collection[str] = ()) -> Kind:
    """Return the kind of *name*, on a page with the folded names *sites*."""
    key = name.casefold()
    words = key.split()
    if not words or len(name) > _MAX_LENGTH or len(words) > _MAX_NAME_WORDS:
        return "other"
    if any(" ".join(words[-size:]) in words_of("firms") for size in (1, 2, 3)):
        return "company"
    if _LINK.match(name) or _is_placeholder(key) or is_by(name) or not _is_name(name):
        return "other"
    if len(words) == 1 and name.islower() and len(name) <= _MAX_SIGN:
        return "sign"
    if key in sites or is_organization(name):
        return "organization"
    return "role" if is_role(name) else "other" if ":" in name else "person"


def _is_placeholder(key: str) -> bool:
    """Return whether a folded name is of an account, a label or a role: "admin2", "your name"."""
    *before, last = _PARTS_OF_ACCOUNT.split(key.rstrip("0123456789 _-"))
    return last in words_of("placeholders") and words_of("before_placeholders").issuperset(before)


def is_organization(name: str) -> bool:
    """Return whether *name* looks like that of a publisher, an agency or an office."""
    words = re.split(r"[\s-]+", name.casefold())
    return (
        (words[0] == "the" and len(words) > 1)
        or not words_of("houses").isdisjoint((*words, " ".join(words[:2]), " ".join(words[-2:])))
        or (not name.isascii() and name.endswith(_cjk_houses()))
    )


@cache
def _cjk_houses() -> tuple[str, ...]:
    return tuple(word for word in words_of("houses") if word > "\u3000")


def is_role(text: str) -> bool:
    """Return whether *text* is the role of an author: "Transport Reporter"."""
    words = text.casefold().split()
    return not words_of("roles").isdisjoint((*words[:1], *words[-1:])) or bool(
        _POSITION.search(text)
    )


def is_person(name: str) -> bool:
    """Return whether a visible text looks like a name: a few capitalized words and particles."""
    parts = name.split()
    if _HAN(name).fullmatch(name) and len(name) > _MAX_HAN:
        return False
    return (
        1 <= len(parts) <= _MAX_PERSON_WORDS
        and not count_digits(name)
        and not any(is_lower(part) and not _is_particle(part) for part in parts)
        and not (is_lower(parts[0]) and "-" not in parts[0])
        and not (is_lower(parts[-1]) and "-" not in parts[-1])
        and all(_LETTER.search(part) for part in parts)
        and len(name) > 1
        and name[-1] not in "?!…»>，摄攝图圖"
        and not any(mark in name for mark in ":：【，。“\n")
    )


def is_full_name(name: str) -> bool:
    """Return whether *name* has the form of first name and surname, in a script with capitals."""
    parts = name.split()
    is_cased = name.lower() != name.upper()
    return (
        1 < len(parts) <= _MAX_LISTED_WORDS
        and is_cased
        and is_person(name)
        and kind_of(name) == "person"
        and not any(map(_is_placeholder, map(str.casefold, parts)))
    )


def is_lower(word: str) -> bool:
    """Return whether *word* begins with a small letter; Georgian names have no others."""
    return word[0] != word[0].title()


def _is_particle(word: str) -> bool:
    """Return whether *word* is part of a surname: "von", "al-Khatib", "d'Arc"."""
    first, mark, rest = re.sub(r"['’]", "-", word).partition("-")
    return word in _PARTICLES or (bool(mark) and len(first) <= 3 and rest != rest.lower())


def may_be_name(name: str, language: str | None) -> bool:
    """Return whether *name* may be one in *language* by its script: Chinese ones have surnames."""
    chinese = language is not None and language.startswith("zh")
    return not chinese or " " in name or _CHINESE_NAME(name).fullmatch(name) is not None


class _Marks(dict[int, str]):
    """Translation table of punctuation and signs to separators, except those within names."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_mark = unicodedata.category(character)[0] in "PS" and character not in _OF_NAMES
        self[code] = found = "|" if is_mark else character
        return found


_MARKS = _Marks()
_DASH = lazy_regex(r"\s[-–—]{1,2}\s|\s/\s?(?=[^\W\d_]+$)")


def _bracket(found: re.Match[str]) -> str:
    """Return the mark of no name for a credit in brackets, and nothing for other texts in them."""
    return "%" if found[0].strip("()（） ").casefold() in words_of("credits") else ""


def _plain_marks(text: str) -> str:
    return text if text.replace(" ", "").isalpha() else text.translate(_MARKS)


@lru_cache(maxsize=256)  # read again for each way to read a byline
def _without_dates(text: str, language: str | None) -> str:
    """Return *text* with a separator for each date and its weekday."""
    if not count_digits(text):
        return text
    for date in reversed(read_dates(text, language=language)):
        before = text[: date.start].rstrip(" ,.|" + BOUNDARY)
        *rest, last = before.rsplit(None, 1) or [""]
        if phrase(last) in vocabulary(language).weekdays:
            before = "".join(rest)
        text = f"{before} | {text[date.end :]}"
    return text


def _without_label(text: str, language: str | None, *, anywhere: bool) -> tuple[str, bool]:
    """Return *text* after the label of a byline, and whether it has one.

    With *anywhere*, the label may follow a separator or a number.
    """
    text = text.strip(" |–—-")
    if (inside := _BRACKETS.fullmatch(text)) and is_byline(inside[1]):
        text = inside[1]
    elif inside and _ends_with_label(text):
        return inside[1], True
    starts = [0, *(found.end() for found in _CJK_INSIDE.finditer(text))]
    if anywhere:
        starts += [found.end() for found in _MARK.finditer(text)]
        starts += [found.end() for found in [_AFTER_NUMBER.match(text)] if found]
    for start in starts:
        rest = text[start:].lstrip()
        if end := match_by(rest, language):
            text = rest[end:]
            while end := match_by(text, language):
                text = text[end:]
            return text, True
        if _ends_with_label(rest):
            return rest, True
    return text, False


_MARK = lazy_regex(r"[|\x1f·・/]|\s[-–—](?=\s)")
# After a source or a date.
_CJK_INSIDE = lazy_regex(r"^.{1,60}?\s(?=(?:作者|记者|記者|文|撰文)[:：])")
_AFTER_NUMBER = lazy_regex(
    r".{0,40}\d[^\W_]{0,20}+(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\s[A-Z]{2,4}\b)?[.,]?\s+"
)
MAX_DATE = 40
"""Characters of a date before the label of a byline."""


def _parts(text: str, language: str | None, *, labelled: bool) -> Iterator[tuple[str, bool, bool]]:
    """Yield the parts of *text*, and whether a mark but "and", and one of a line are before.

    Elements are joined by commas and "and"; the words after a name are no part of it if it is
    *labelled*.
    """
    joint = _and(language)
    text = _joined(text, joint)
    is_after_mark = False
    for number, piece in enumerate(_SEPARATORS(text).split(text)):
        if number % 2:
            is_after_mark = is_after_mark or piece is not None
            continue
        members = joint.split(piece)
        if labelled and any(map(_is_clause, members[1:])):
            return  # "Published by Port Games and released in May"
        for joined, member in enumerate(members):
            for place, listed in enumerate(_split_at_commas(_without_sign(member.strip()))):
                for name in _split_at_blanks(listed):
                    if shown := _shown(name, labelled=labelled):
                        yield shown, not joined or place > 0, is_after_mark
                        is_after_mark = False


def _is_clause(text: str) -> bool:
    words = text.split()
    known = words_of("houses") | words_of("roles") | words_of("in")
    return (
        len(words) > 1
        and is_lower(words[0])
        and not _is_particle(words[0])
        and words[0] not in known
    )


def _joined(text: str, joint: re.Pattern[str]) -> str:
    """Return *text* with a mark between two elements that no comma or "and" joins."""
    if BOUNDARY not in text:
        return text
    first, *others = [part.strip() for part in text.split(BOUNDARY)]
    for part in filter(None, others):
        is_joined = part[0] in ",;&" or first[-1:] in ",;&" or bool(joint.match(f" {part} X Y"))
        joints = joint.finditer(f"{first[-_MAX_LABEL:]} X Y")
        is_joined = is_joined or any(it.end() == len(first[-_MAX_LABEL:]) + 1 for it in joints)
        first_word = part.split()[0]
        is_part = first_word in words_of("in") or _is_particle(first_word)
        mark = BOUNDARY if is_joined else " " if is_part else "|"
        first += mark + part
    return first


def _shown(text: str, *, labelled: bool) -> str:
    """Return a name without its sign and what follows it: a role, a place, a link."""
    text = _NUMBER_END.sub("", _without_sign(text)) if " " in text and labelled else text
    words = text.strip(' ,;:-–—»«“”"=/').rstrip(")").split()
    while len(words) > _MIN_NAMED and words[0].casefold() in words_of("roles"):
        del words[0]
    shown = " ".join(words)
    link = _LINK.search(shown)
    last = shown[: link.start()].count(" ") if link else len(words)
    if not last:
        return ""
    if labelled and is_lower(words[0]) and not _is_particle(words[0]):
        return shown if text.islower() else ""
    for place, word in enumerate(words[1:], 1):
        is_tail = labelled and is_lower(word) and not _is_particle(word) and not text.islower()
        if is_tail and place == 1 and word not in words_of("in"):
            return ""  # of a sentence
        before = words[place - 1]
        is_sentence = labelled and before[-1] == "." and len(before) > _MAX_SHORT + 1
        if is_tail or is_sentence or place == last or (word == "The" and place > 1):
            words = words[:place]
            break
    if len(words[-1]) > _MAX_SHORT and "." not in words[-1][:-1]:
        words[-1] = words[-1].rstrip(".")
    return _without_sign(" ".join(_without_role(words) if labelled else words))


def _without_sign(text: str) -> str:
    return text if text.isascii() and "@" not in text else _SIGN(text).sub("", text)


def _without_role(words: list[str]) -> list[str]:
    """Return a name without the role after it: "Ada Meyer Political Reporter"."""
    if (
        words[-1].casefold() not in words_of("roles")
        or words[0].casefold() in words_of("ranks")
        or len(words) <= _MIN_NAMED
    ):
        return words
    end = 1
    while is_lower(words[end]) or words[end].endswith("."):
        end += 1
    return words[: end + 1] if end < len(words) - 1 else words


_MIN_NAMED = 2
# Characters of initials and of "Jr.".
_MAX_SHORT = 4


def _is_name(text: str) -> bool:
    if text.replace(" ", "").isalpha():
        return True
    return _NO_NAME.search(text) is None and _LETTER.search(text) is not None


def _split_at_blanks(text: str) -> list[str]:
    """Return the Chinese or Korean names in *text*, which blanks separate."""
    names = text.split()
    if len(names) < _MIN_NAMED or text.isascii():
        return [text]
    known = [
        name
        for name in names
        if _CHINESE_NAME(name).fullmatch(name) or _KOREAN_NAME(name).fullmatch(name)
    ]
    if not known:
        return [text]
    source = _HAN(names[0]).fullmatch(names[0])  # "财新 余聪"
    if known == names or (source and known == names[1:]):
        return known
    is_whole = len(known[0]) == _MAX_CHINESE or not any(
        _HAN(name).search(name) for name in names[1:]
    )
    return known[:1] if known[0] == names[0] and is_whole else [text]  # before a role


def _split_at_commas(text: str) -> list[str]:
    """Return the names in *text*. A capitalized word after a name is a title or a place."""
    if "," not in text:
        return [text]
    first, *parts = [part.strip() for part in text.rstrip(" ,").split(",")]
    is_word = bool(first) and " " not in first
    if is_word and len(parts) == 1 and parts[0][:1].isupper() and not parts[0].isupper():
        return [f"{parts[0]} {first}"]  # "Meyer, Ada"
    names = [first]
    for part in parts:
        count = len(part.split())
        if not words_of("roles").isdisjoint(part.casefold().split()[-1:]):
            continue
        if part.islower() and (count > 1 or len(part) > _MAX_SIGN):
            break  # a role
        if part.islower() or 1 < count <= _MAX_LISTED_WORDS:  # "dpa"
            names.append(part)
    return names
