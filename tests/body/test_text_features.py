"""Features of texts: words of furniture."""

import pytest

from newscrawl.body.text_features import text_columns


def furniture(text: str) -> tuple[float, float]:
    columns = text_columns([text], "")
    return columns["furniture"][0], columns["furniture_share"][0]


@pytest.mark.parametrize(
    "text",
    [
        "Sign up for our newsletter", "Inscrivez-vous à la newsletter du Courrier",
        "Abonniere den Newsletter", "Подпишитесь на рассылку", "اشترك في النشرة البريدية",
        "메일 뉴스레터 구독", "订阅我们的公众号", "Đăng ký nhận bản tin",
    ],
)  # fmt: skip
def test_sign_ups_have_rare_words(text: str):
    rare, share = furniture(text)
    assert rare >= 1
    assert share >= 0.1


@pytest.mark.parametrize(
    "text",
    [
        "The miller learned the trade in Brittany and will grind wheat twice a week.",
        "Die Seilbahn soll im Herbst wieder auf den Hausberg fahren.",
        "港町の岬に立つ古い灯台に日曜日の夜、十五年ぶりに明かりがともった。",
        "",
    ],
)
def test_stories_have_none(text: str):
    assert furniture(text) == (0.0, 0.0)
