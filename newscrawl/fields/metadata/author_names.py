"""Author names in bylines and structured data."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from newscrawl.patterns import CJKPattern, lazy_regex
from newscrawl.text import count_digits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_BYLINE = (
    r"(?:(?:view all |all |an? |(?:this )?(?:article|story|post) (?:was )?)?(?:written|submitted|posted|published|reported|reporting|words|text|story"
    r"|articles?|created|updated|contributed|compiled|guest post|analysis|column|commentary|essay|interview|opinion|review"
    r"|(?:posted|published) on .{5,40})\s+|(?:view )?all posts\s+)?by(?:\s+|:\s*)"
    # nouns before a colon, also "About the author"
    r"|(?:about (?:the |our )?|über (?:die |den |das )?|à propos de l['’]|sobre (?:el |la |o |a )?|over de |o |sull['’]|om |об? )?"
    r"(?:authors?|auteur(?:e|rice)?s?|a[uv]to[rř][^\W\d_]{0,3}(?:\(s\)|[/*:]in|/autor)?|protokoll|authored by|(?:(?:foto)?re)?porter(?:zy|is)?s?|interview"
    r"|te(?:xt[eo]?|kst(?:[ios]|as)?)|szöveg|besedilo|words|writer|författaren?|skribent|forfatter|kirjoitta(?:ja|nut)|toimittaja"
    r"|journalist[ea]?|reportagem|reportage|redacción|redazione|írta|szerző|piš[eu]|napísala?|napsala?|napisa[olł]a?"
    r"|opracowała?|yazar|(?:haberi )?yazan|haber|muhabir|penulis|oleh|tác giả|người viết|bài(?: viết)?"
    r"|(?:автор(?:ка|[еыи])?|корреспондент|журналист|журналіст|текст)(?: (?:стать[ия]|статті|материала|текста))?"
    r"|müəllif|höfundur|egilea|mwandishi|shkruan|toimetaja|а[уў]т[оа]ре?|пиш(?:е|ува)|ავტორი|հեղինակ|συντάκτης"
    r"|συντάκτρια|κείμενο|δημοσιογράφος|خبرنگار|إعداد|المؤلف|تقرير|تحریر|כתב[הת]?|रिपोर्टर?|রচনা|எழுதியவர்|เรื่อง"
    r"|redaktor|redakteur(?:in)?|redacteur)\s*[:：՝]\s*"
    # words before a name, in languages without capitals
    r"|(?:بقلم|كتبه?|كتبت|الكاتب|به قلم|نوشته|نویسند(?:ه|گان)|מאת|(?:เขียน)?โดย|ผู้เขียน|द्वारा|लेखक|লেখক|লিখেছেন)\s*(?:[:：–-]\s*|\s)"
)
# Without case, which makes large ranges slow to compile.
_CHINESE_BYLINE = (
    r"(?:[\u4e00-\u9fff]{0,6}记者|(?:[\u4e00-\u9fff]{0,5}[社報網台]|特約|責任)?記者)"
    r"(?:\s*(?:[:：・·／/=＝|]|\s)\s*|(?=[\u4e00-\u9fff]{2,4}(?:[\s、，,）)／/]|$)))"
    r"|(?:(?:见习|实习)编辑|作者|撰文|撰稿|采写|执笔|文字|取材・文|執筆者?|著者|筆者|ライター|글쓴이|작성자|기자|글(?:[·/]사진)?)\s*(?:[:：・·／/=＝|｜]|\s)\s*"
    r"|文(?:\s*[:：・·／/=＝|｜]\s*|\s)"
)
# These words also occur inside names, but not at their start.
_FOREIGN_BYLINE = (
    r"(?:(?:(?:[Ee]ine? \w+|(?:[Gg]ast)?[Bb]eitrag|[Kk]ommentar|[Aa]nalyse|[Kk]olumne|[Rr]eportage|[Ee]rstellt|[Gg]eschrieben|[Vv]erfasst|[Ii]nterview|[Tt]ext[eo]?|[Tt]esto|[ÉEée]crit"
    r"|[RrPp](?:édig|ubli)é|[Ee]scrito|[Pp]ub(?:b?lica[dt]o|licer(?:ad|et)|lisert)|[Rr]edactado|[Ss]critto|[Gg]eschreven"
    r"|[Ss]kriv?et|[Ss]kriv[ae]n|[Aa]rticolo|[Ss]krevet|[Pp]ropos recueillis|[Uu]n article|[Dd]itulis|[Vv]iết|[Пп]убликувано) )?"
    r"(?:[Vv]on|[Pp]ar|[Pp]or|[Dd]oor|[Dd]i|[Dd]a|[Aa]v|[Aa]f|[Oo]leh|[Γγ]ράφει (?:ο|η)|[Ττ]ου|[Ττ]ης|[Αα]πό(?: τ(?:ον?|ην?))?"
    r"|[Aa] cura di|[Bb]ởi|[Ττ]ων|[Оо]т)"
    r"|[Aa]us [^\W\d_]+ berichte[nt]|(?:[Ss]cris|[Pp]ublicat|[Tt]exto|[Rr]eportagem) de|[Tt]eksti?|[Kk]irjoittanut|[Tt]oimittaja|[Jj]ournalist|[Pp]arengė|[Пп]одготовил[аи]?|[Nn]ap(?:s|ís)ala?|[Pp]iše|Írta|[Aa]utor|[Аа]втор|[Oo]prac\.)"
    r"(?::\s*|\s+)(?=[^\W\d_a-zß-ÿа-яα-ω])"
    # "Von unserer Korrespondentin Ada Meyer", "Par notre envoyé spécial ..."
    r"|(?:[Vv]on unser\w{1,2}|(?:[Pp]ar|[Dd]e) notre|[Pp]or nuestr[oa]|[Dd]al(?:la)? nostr[oa]|(?:[Vv]an|[Dd]oor) onze|[Bb]y our)"
    r"(?: [^\W\d_]+){1,3}?\s+(?=[^\W\d_a-zß-ÿ]\w+ [^\W\d_])"
)
_BY = CJKPattern(f"(?i:{_BYLINE})|{_CHINESE_BYLINE}|{_FOREIGN_BYLINE}")
# Without "by", a colon and other letters than ASCII, the other patterns do not match.
_FOREIGN_BY = lazy_regex(_FOREIGN_BYLINE)
# Capitalized words, in which nothing separates names.
_PLAIN_NAME = lazy_regex(
    r"[A-Z][a-z]+(?: (?!(?:Reporter|Editor|Writer|Correspondent)$)[A-Z](?:\.|[a-z]+(?:-[A-Z][a-z]+)?)){1,3}"
)
_NAME_BEFORE = CJKPattern(
    r"(?:(?:(?!사진|영상)\(?[가-힣]{1,6}\s?=(?:[가-힣]{2,8}\))?\s?)?[가-힣]{2,4}(?:\s?[,·/\s]\s?[가-힣]{2,4})*\s?[가-힣]{0,3}(?:기자|특파원)|[\u4e00-\u9fff々]{2,5}\s?[（(]?記者[)）]?)(?:\s*=)?"
    r"|【[\u4e00-\u9fff々]{3,5}(?:[、，・][\u4e00-\u9fff々]{2,5})+】"
)

_NO_NAME = lazy_regex(
    r"https?:|www\.|\S@\S|/|^[(@]|[{}<>%\[\]]|\([Ff]otos?\)|^(?!(?:[^\W\d_]\.){2,3}$)(?>\S*?\.)\S++$|\.(?:com|org|net)\b",
    re.IGNORECASE,
)
_LETTER = lazy_regex(r"[^\W\d_]")
_SEPARATOR = CJKPattern(
    r"\s*[;|•、،]\s*|(?<=[가-힣]),\s*(?=[가-힣]{2,4}(?:[\s,]|$))|(?<=[\u4e00-\u9fff]{2})，(?=[\u4e00-\u9fff]{2,4}(?:，|$))|\s{3,}|\s+/\s+|\s*[·](?=\s|[^\u4e00-\u9fff])\s*|(?<=[\u4e00-\u9fff])・(?=[\u4e00-\u9fff])"
    r"|,?\s+(?:and|und|et|og|och|en|ve|dan|và|ja|és|și|şi|oraz|та|και|و|और|एवं|และ|和|与|與|及|&)\s+|\s+ו-?(?=[א-ת]{2,}\s)"
    # not in first names: وليد
    r"|\s+و(?!(?:ليد|ائل|سام|فاء|سيم|جدي|حيد|داد|ديع)\s)(?=[\u0621-\u064a]{2,}\s)"
    # These letters are also inside names: "Ortega y Gasset".
    r"|,?\s+(?:y|e|i|и|й|і)\s+(?=\S+\s+\S)|,?\s+(?:a|ir|un|with|avec)\s+(?=[^\W\da-z][^\s,]*\s+[^\W\da-z])"
)
# The sign of an author, "Ada Meyer (am)", an address, a role, and "reporter" after a name.
_SIGN = CJKPattern(
    r"(?<=\S)\s*(?:[(<\[][^()\s@]{0,99}@[^()\s]{0,99}[)>\]]|\s[^\s@]{1,99}@\S{1,99}|\s?@\w+|\s?[가-힣]{0,3}(?:기자|특파원)|[（(]?[记記]者[)）]?"
    r"|\s\((?:[a-zß-ÿ]{1,5}\.?|[Tt]e(?:xto?|ksti?)|(?:avec|con|mit|with|aus|in|en|à) [^()]*|[^(),]{1,40},[^()]{1,40}|AP|AFP|Reuters)\)|\s?(?:[／/]\s?[\u4e00-\u9fff]{2,6}|\s[\u4e00-\u9fff]{2,3}(?:報導|报道|報道))"
    r"|\s(?:Staff|Senior|Special|Chief|Contributing)\s[\w ]{0,30}(?:Reporter|Editor|Writer|Correspondent))$"
)
# "Ada Meyer Political Reporter"
_NAME_AND_ROLE = lazy_regex(
    r"(?!(?:Chief|Local|Our|Senior|Special|Staff|The) )([^\W\d_]\S* (?:(?:\S\.?|[a-z]{2,}) )*[^\W\d_]\S+)(?: [A-Z]\S*){1,3}"
    r" (?:Reporter|Editor|Writer|Correspondent|Columnist)"
)
IN_PLACE = lazy_regex(
    r"\s(?:in|at|aus|à|en)\s[^\W\d_a-z][\w.-]*(?:\s[^\W\d_a-z][\w.-]*)?(?=,?\s(?:and|und|et|y)\s|,|$)"
)
"""The place of an author, after the name: "Ada Meyer in Oslo"."""
# What follows a name in a byline: a role, a newspaper, a place.
_AFTER_NAME = lazy_regex(
    r"\s[-–—]{1,2}\s|[|•]\s?(?=[^\W\d_][a-zß-ÿ]{1,20}$)|(?:\s(?:avec|with|mit|con))?\s(?=(?:AP|AFP|Associated Press|Reuters)(?:\s|$))|/\s?(?=[a-z]{2,5}$|[A-ZÇÉÈİÖÜÑŞ]{2,20}$)|\s(?:for|in|at|on|from|für|aus|pour|à|para)\s(?=(?:the )?[^\W\d_a-z])|\sof the\s|\s(?=(?:Updated|Published|Posted)\b)"
)
CREDIT = lazy_regex(
    r"(?:^|[\s,.;|/／・·–-]{1,4})(?i:photo(?:graph)?(?:s|y)?|pictures?|images?|video|fotos?|bild(?:er)?|beeld|kuvat?|zdjęci[ae]|kamera"
    r"|фото|φωτο\w{0,9}|fotoğraf|ảnh|gambar|صور|تصوير|צילום|사진|영상|图|圖|写真|撮影|摄影|攝影|编辑|編輯|责编|editor|edit(?:ed|ing)"
    r"|(?:\w{1,12} )?(?:reviewed|checked)|(?:sponsor|power|host|present|translat|illustrat)ed)"
    r"\s{0,2}(?:[:：/／|｜]|(?<=\w)\s(?=(?:by|von|par|di|av|por)\s)|(?<=[^\x00-\u02ff])\s|(?<=[^\x00-\u02ff])$)"
)
"""Start of a credit of others than the authors: "Photos by", "编辑：", after a name or alone."""
_TOWN_BEFORE = CJKPattern(r"^\(?[가-힣]{1,6}\s?=(?:[가-힣]{2,8}\)|\s?(?=[가-힣]))")
_QUOTES = lazy_regex(r"(?:^|(?<=, ))['\"]|['\"](?=,|$)")
_BRACKETS = lazy_regex(r"[(（\[【〔](.+)[)）\]】〕]\s*=?")
AFTER_DATE = lazy_regex(
    r".{0,40}\d[^\W_]{0,20}+(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\s[A-Z]{2,4}\b)?[.,]?\s+"
)
"""A text up to its last number."""
MAX_DATE = 40
"""Characters of a date before the label of a byline."""
# Names of accounts, labels and roles without a name: "admin2", "Staff Reporter", "Your Name".
_NOBODY = lazy_regex(
    r"(?:(?:our|your|author|the|an?|own|unknown|guest|staff|special|super|senior|site|web|wp|first|full)[\s_-])*"
    r"(?:(?:web|wp)?admin(?:istrator)?|web-?master|author|autor|auteur|unknown|anonym(?:ous)?|guest|user|root|name|staff"
    r"|reporter|correspondent|contributor|editor|writer|test|website|array|object object|true|false|null|none|undefined"
    r"|n/a|updated|posted|published|by|von|par|por|share|print|comments|follow|subscribe|search|menu|login|home|news"
    r"|sponsored|e-?mail|related|articles?|stor(?:y|ies)|press|tools|top|text|links|services?|school|university"
    r"|daily|united|international|add|no|read|view|increase|bios?)[\s_-]?\d{0,6}",
    re.IGNORECASE,
)
_LABEL = lazy_regex(
    r"(?:view|read|about|follow|contact|visit|click|no author|author archives?|last (?:updated|modified)|guest author|not specified)\b",
    re.IGNORECASE,
)
_ROLE = lazy_regex(
    r"(?:reporter|editor|writer|correspondent|journalist|columnist|producer|contributor|photographer"
    r"|redakteur(?:in)?|korrespondent(?:in)?|journalist(?:in|e)|journaliste|rédact(?:eur|rice)|correspondante?"
    r"|envoyée? spéciale?|redactora?|periodista|corresponsal|giornalista|inviat[oa]|redattor[ei]|jornalista"
    r"|repórter|journalista|verslaggever|redacteur|correspondente?|reporterin|корреспондент|журналист"
    r"|dziennikarz|muhabir|muhabiri|officer)s?",
    re.IGNORECASE,
)
# Beside the names of people.
_ORGANIZATION = lazy_regex(
    r"\b(?:(?:news(?:room)?|times|tribune|journal|magazine|media|network|gazette|herald|chronicle|report|digital|agency"
    r"|(?:associated|canadian) press)$|special to\b)",
    re.IGNORECASE,
)
_POSITION = lazy_regex(r"(?:head|director|ceo|president|editor|founder) of\b", re.IGNORECASE)
_HAN = CJKPattern(r"[\u4e00-\u9fff]+")
_MAX_HAN = 5
_PARTICLES = frozenset(
    "van von vom de der den des del della degli dei di da das do dos du la le los las el al ul ur ibn bin bint abu"  # noqa: SIM905
    " zu zum zur ter ten te het 't op y e i a af av bar ben ap san st of".split()
)
# The frequent surnames: other Chinese texts in the place of an author are links and labels.
_CHINESE_NAME = CJKPattern(
    r"(?:欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|令狐|皇甫|[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高梁郑鄭罗羅宋谢謝唐韩韓曹许許邓鄧"
    r"萧蕭冯馮曾程蔡彭潘袁于董余苏蘇叶葉吕呂魏蒋蔣田杜丁沈姜范范江傅钟鐘卢盧汪戴崔任陆陸廖姚方金邱丘夏谭譚韦韋贾賈邹鄒石熊孟秦阎閻薛侯雷白龙龍段"
    r"郝孔邵史毛常万萬顾顧赖賴武康贺賀严嚴尹钱錢施牛洪龚龔汤湯陶黎温溫莫易樊乔喬文安殷颜顏庄莊章鲁鲁倪庞龐邢俞翟蓝藍聂聶齐齊向申葛柴伍覃骆关關焦柳"
    r"欧歐祝纪紀尚毕畢耿芦左季管符辛苗詹曲靳祁路涂兰蘭甘裴梅童翁霍游阮尤岳柯牟滕谷舒卜成饶饒宁寧凌盛查单單冉鲍鮑华華包屈房喻解蒲卫衛简簡时時连連])"
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
_MAX_JOINT = 5
_MAX_LISTED_WORDS = 4


def clean_names(texts: Iterable[str], not_people: Collection[str] = ()) -> list[str]:
    """Return the distinct names in *texts*, without "By", signs, URLs, addresses and *not_people*."""
    excluded = {name.casefold() for name in not_people}
    names: dict[str, str] = {}
    for text in texts:
        for name in _names(text):
            key = name.casefold()
            is_short = len(name) <= _MAX_LENGTH and len(name.split()) <= _MAX_NAME_WORDS
            if not (name and is_short) or key in names or key in excluded:
                continue
            is_label = _LABEL.match(name) or _NOBODY.fullmatch(name) or is_by(name)
            if not is_label and _is_name(name):
                names[key] = name
    people = [name for name in names.values() if not is_role(name)]
    if any(" " in name and not is_organization(name) for name in people):
        people = [name for name in people if not is_organization(name)]
    return list(islice(people or names.values(), _MAX_NAMES))


def is_person(name: str) -> bool:
    """Return whether a visible text looks like a name: a few capitalized words and particles."""
    parts = name.split()
    if _HAN(name).fullmatch(name):
        return len(name) <= _MAX_HAN and name[-1] not in "摄攝图圖"
    return (
        1 <= len(parts) <= _MAX_PERSON_WORDS
        and not count_digits(name)
        and not any(is_lower(part) and part not in _PARTICLES for part in parts)
        and not (is_lower(parts[0]) or is_lower(parts[-1]))
        and all(_LETTER.search(part) for part in parts)
        and len(name) > 1
        and name[-1] not in "?!…»>，"
        and not any(mark in name for mark in ":：【，。“\n")
    )


def is_full_name(name: str) -> bool:
    """Return whether *name* has the form of first name and surname, in a script with capitals."""
    parts = name.split()
    is_other = is_organization(name) or is_role(name) or any(map(_NOBODY.fullmatch, parts))
    is_cased = name.lower() != name.upper()
    return 1 < len(parts) <= _MAX_LISTED_WORDS and is_cased and is_person(name) and not is_other


def is_lower(word: str) -> bool:
    """Return whether *word* begins with a small letter; Georgian names have no others."""
    return word[0] != word[0].title()


def may_be_name(name: str, language: str | None) -> bool:
    """Return whether *name* may be one in *language*, by its script: Chinese names have surnames."""
    chinese = language is not None and language.startswith("zh")
    return not chinese or " " in name or _CHINESE_NAME(name).fullmatch(name) is not None


def without_brackets(text: str) -> str:
    """Return *text* without the brackets around a byline: "（记者 王小明）"."""
    text = text.strip()
    inside = _BRACKETS.fullmatch(text)
    return inside[1] if inside and is_byline(inside[1]) else text


def match_by(text: str) -> re.Match[str] | None:
    """Return the start of a byline at the start of *text*, if any."""
    is_plain = ":" not in text and text.isascii() and "by" not in text.lower()
    return _FOREIGN_BY.match(text) if is_plain else _BY(text).match(text)


def is_by(text: str) -> bool:
    """Return whether *text* only introduces a name: "By", "Author:"."""
    if len(text) > _MAX_BY + MAX_DATE:
        return False
    text = text.strip().rstrip(":：՝・").rstrip()
    if count_digits(text) and (dated := AFTER_DATE.match(text)):
        text = text[dated.end() :]
    return len(text) <= _MAX_BY and _is_label(text)


@lru_cache(maxsize=4096)  # the pages of a site have the same menus and labels
def _is_label(text: str) -> bool:
    label = match_by(f"{text}: X")
    return label is not None and label.end() > len(text)


def is_byline(text: str) -> bool:
    """Return whether *text* begins with "By", or ends with the label of a byline."""
    return match_by(text) is not None or ends_with_label(text)


def ends_with_label(text: str) -> bool:
    """Return whether *text* ends with the label of a byline, "김철수 기자", or is a list in brackets."""
    return not text.isascii() and _NAME_BEFORE(text).fullmatch(text) is not None


def is_joint(text: str) -> bool:
    """Return whether *text* only separates two names: "and", ","."""
    if text.strip() in {"|", "•", "with"}:
        return False
    if text.strip() in {",", "，", "،"}:
        return True
    text = f" {text.strip(',')} "
    joint = _SEPARATOR(text).match(f"{text}X Y") if len(text) <= _MAX_JOINT + 2 else None
    return joint is not None and joint.end() == len(text)


def _is_name(text: str) -> bool:
    if text.replace(" ", "").isalpha():
        return True
    return _NO_NAME.search(text) is None and _LETTER.search(text) is not None


def _names(text: str) -> Iterator[str]:
    if _PLAIN_NAME.fullmatch(text) and not match_by(text):  # the common case
        yield text
        return
    if text[:1] == "[" and text[-1:] == "]":  # a list: "['Ada Meyer', 'Max Roth']"
        text = _QUOTES.sub("", text[1:-1])
    text = without_brackets(text)
    is_byline = ends_with_label(text)
    while byline := match_by(text):
        text, is_byline = text[byline.end() :], True
    if is_byline:
        text = _TOWN_BEFORE(text).sub("", text.strip("= "))
        text = CREDIT.split(IN_PLACE.sub("", text), maxsplit=1)[0]
        name = _AFTER_NAME.split(text, maxsplit=1)[0]
        text = name if " " in name else text
        if named := _NAME_AND_ROLE.fullmatch(text):
            text = named[1]
    for part in _SEPARATOR(text).split(text):
        for listed in _split_at_commas(_SIGN(text).sub("", part.strip())):
            for name in _split_at_blanks(listed):
                shown = " ".join(name.strip(" ,;:-–—|»【】").rstrip(" /").split())
                yield _SIGN(text).sub("", shown)


def is_organization(name: str) -> bool:
    """Return whether *name* looks like that of a publisher or an agency."""
    return _ORGANIZATION.search(name) is not None


def is_role(text: str) -> bool:
    """Return whether *text* is the role of an author: "Transport Reporter"."""
    last = text.rpartition(" ")[2]
    words = last, text.partition(" ")[0]
    return any(map(_ROLE.fullmatch, words)) or _POSITION.search(text) is not None


def _split_at_blanks(text: str) -> list[str]:
    """Return the Chinese or Korean names in *text*, which blanks separate."""
    names = text.split()
    known = all(
        _CHINESE_NAME(name).fullmatch(name) or _KOREAN_NAME(name).fullmatch(name) for name in names
    )
    return names if len(names) > 1 and known else [text]


def _may_be_another(part: str) -> bool:
    """Return whether *part*, after a comma, is a name; agencies have signs such as "dpa"."""
    count = len(part.split())
    if part.islower():
        return count == 1  # the sign of an agency; more words are a role
    return 2 <= count <= _MAX_LISTED_WORDS


def _split_at_commas(text: str) -> list[str]:
    """Return the names in *text*. A capitalized word after a name is a title or a place."""
    if "," not in text:
        return [text]
    parts = [part.strip() for part in text.strip(" ,").split(",")]
    if len(parts) == 2 and " " not in parts[0] and not parts[1].isupper():
        return [f"{parts[1]} {parts[0]}"]  # "Meyer, Ada"
    return [parts[0], *(part for part in parts[1:] if _may_be_another(part))]
