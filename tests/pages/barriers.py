"""Pages that sites show in place of stories, in nine languages."""

from typing import Final

#: title, text, button of a request for consent; texts of a bot check, a login and a page without
#: scripts
TEXTS: Final[dict[str, dict[str, str]]] = {
    "en": {
        "title": "Your privacy",
        "consent": "We and our 214 partners store cookies on your device and use them to measure "
        "audiences and to show advertising. With your consent we may use precise data about your "
        "location. You can withdraw your consent at any time in the cookie settings.",
        "accept": "Accept all",
        "challenge": "One moment, please. We are checking whether you are a person.",
        "login": "Please log in to continue. Forgotten your password?",
        "scripts": "You need to enable JavaScript to run this app.",
    },
    "de": {
        "title": "Ihre Privatsphäre",
        "consent": "Wir und unsere 214 Partner speichern Cookies auf Ihrem Gerät, um Reichweiten zu "
        "messen und Werbung zu zeigen. Mit Ihrer Zustimmung verwenden wir genaue Daten über Ihren "
        "Standort. Ihre Einwilligung können Sie jederzeit in den Cookie-Einstellungen widerrufen.",
        "accept": "Alle akzeptieren",
        "challenge": "Einen Moment bitte. Wir prüfen, ob Sie ein Mensch sind.",
        "login": "Bitte melden Sie sich an. Passwort vergessen?",
        "scripts": "Bitte aktivieren Sie JavaScript, um diese Seite zu sehen.",
    },
    "fr": {
        "title": "Votre vie privée",
        "consent": "Nos 214 partenaires et nous déposons des cookies sur votre appareil pour mesurer "
        "l'audience et afficher des publicités. Avec votre consentement, nous utilisons des données de "
        "localisation. Vous pouvez retirer votre consentement à tout moment dans la gestion des cookies.",
        "accept": "Tout accepter",
        "challenge": "Un instant. Nous vérifions que vous êtes humain.",
        "login": "Connectez-vous pour continuer. Mot de passe oublié ?",
        "scripts": "Veuillez activer JavaScript pour afficher cette page.",
    },
    "es": {
        "title": "Su privacidad",
        "consent": "Nosotros y nuestros 214 socios guardamos cookies en su dispositivo para medir la "
        "audiencia y mostrar publicidad. Con su consentimiento usamos datos de localización precisa. "
        "Puede retirar su consentimiento en cualquier momento en la configuración de cookies.",
        "accept": "Aceptar todo",
        "challenge": "Un momento. Comprobamos que usted es humano.",
        "login": "Inicie sesión para continuar. ¿Ha olvidado su contraseña?",
        "scripts": "Active JavaScript para ver esta página.",
    },
    "pl": {
        "title": "Twoja prywatność",
        "consent": "My i nasi 214 partnerzy zapisujemy pliki cookie na Twoim urządzeniu, aby mierzyć "
        "oglądalność i wyświetlać reklamy. Za Twoją zgodą używamy dokładnych danych o położeniu. Zgodę "
        "możesz wycofać w każdej chwili w ustawieniach plików cookie.",
        "accept": "Akceptuję",
        "challenge": "Chwileczkę. Sprawdzamy, czy jesteś człowiekiem.",
        "login": "Zaloguj się, aby kontynuować. Nie pamiętasz hasła?",
        "scripts": "Włącz JavaScript, aby zobaczyć tę stronę.",
    },
    "ru": {
        "title": "Ваша конфиденциальность",
        "consent": "Мы и наши 214 партнёров сохраняем файлы cookie на вашем устройстве, чтобы измерять "
        "аудиторию и показывать рекламу. С вашего согласия мы используем точные данные о местоположении. "
        "Отозвать согласие можно в любое время в настройках cookie.",
        "accept": "Принять все",
        "challenge": "Один момент. Мы проверяем, что вы человек.",
        "login": "Войдите, чтобы продолжить. Забыли пароль?",
        "scripts": "Включите JavaScript, чтобы увидеть эту страницу.",
    },
    "ja": {
        "title": "プライバシーについて",
        "consent": "当社と214社のパートナーは、閲覧状況の測定や広告の表示のために、お使いの端末にクッキーを保存します。"
        "同意をいただいた場合は、正確な位置情報も利用します。同意はクッキーの設定からいつでも取り消すことができます。",
        "accept": "すべて同意する",
        "challenge": "少々お待ちください。人間であることを確認しています。",
        "login": "続けるにはログインしてください。パスワードをお忘れですか。",
        "scripts": "このページを表示するにはJavaScriptを有効にしてください。",
    },
    "tr": {
        "title": "Gizliliğiniz",
        "consent": "Biz ve 214 iş ortağımız cihazınızda çerez gibi bilgileri saklıyor ve kişisel "
        "verileri işliyoruz.",
        "accept": "Tümünü kabul et",
        "challenge": "Bir dakika lütfen. İnsan olup olmadığınızı kontrol ediyoruz.",
        "login": "Devam etmek için giriş yapın. Şifrenizi mi unuttunuz?",
        "scripts": "Bu sayfayı görmek için JavaScript'i etkinleştirin.",
    },
    "ar": {
        "title": "خصوصيتك",
        "consent": "نحن وشركاؤنا البالغ عددهم 214 نخزن ملفات تعريف الارتباط على جهازك لقياس الجمهور وعرض "
        "الإعلانات. بموافقتك قد نستخدم بيانات دقيقة عن موقعك. يمكنك سحب موافقتك في أي وقت من إعدادات ملفات "
        "تعريف الارتباط.",
        "accept": "قبول الكل",
        "challenge": "لحظة من فضلك. نتحقق من أنك إنسان.",
        "login": "يرجى تسجيل الدخول للمتابعة. هل نسيت كلمة المرور؟",
        "scripts": "يرجى تفعيل جافا سكريبت لعرض هذه الصفحة.",
    },
}

_HEAD = "<!DOCTYPE html><html lang={language}><head><title>{title}</title></head>"
_SMALL_MENU = "<p><a href=/imprint>Imprint</a> <a href=/terms>Terms</a></p>"

#: outcome -> name -> page
TEMPLATES: Final[dict[str, dict[str, str]]] = {
    "consent": {
        "own-form": "<body><main><h1>{title}</h1><p>{consent}</p><form action=/accept method=post>"
        "<button name=ok>{accept}</button></form></main>{menu}",
        "platform": "<body><div id=sp_message_container_1><h2>{title}</h2><p>{consent}</p>"
        "<button>{accept}</button></div>",
        "class": "<body class=page><div class='privacy-wall__text'><h1>{title}</h1><p>{consent}</p>"
        "<p>{consent}</p></div><div class=buttons><button>{accept}</button></div>{menu}",
        "frame": "<body><iframe src='https://cmp.site.example/index.html'></iframe>"
        "<script src='https://cdn.privacy-mgmt.com/unified/wrapperMessagingWithoutDetection.js'></script>",
        "pay-or-consent": "<body><h1>{title}</h1><section><p>{consent}</p><button>{accept}</button>"
        "</section><section><h2>Plus</h2><p>3,99 € / 30</p><a href=/abo>Plus</a></section>{menu}",
        "partners": "<body><h1>{title}</h1><p>{consent}</p><form><input type=submit value='{accept}'>"
        "</form><ul><li>Adform A/S<li>Criteo SA<li>Google<li>Index Exchange<li>Magnite</ul>",
        "dialog-only": "<body><div class='modal' role=dialog><div class='qc-cmp2-summary'>{consent}"
        "</div></div><button mode=primary>{accept}</button>",
        "inputs": "<body><h2>{title}</h2><p>{consent}</p><label><input type=checkbox name=a> A</label>"
        "<label><input type=checkbox name=b> B</label><button>{accept}</button>",
    },
    "challenge": {
        "cloudflare": "<body class=no-js><div class=main-wrapper><h1>site.example</h1><p>{challenge}</p>"
        "</div><script>window._cf_chl_opt={{cvId:'3',cZone:'site.example'}};</script>",
        "datadome": "<body style='margin:0'><p id=cmsg>{challenge}</p><script>var dd={{'rt':'c'}}</script>"
        "<script src='https://ct.captcha-delivery.com/c.js'></script>",
        "incapsula": "<body style='height:100%'><iframe id=main-iframe src='/_Incapsula_Resource?CWUDNSAI=9&"
        "incident_id=1-2'>{challenge}</iframe>",
        "perimeterx": "<body><h1>{challenge}</h1><div id=px-captcha></div><script>window._pxAppId='PX1'"
        "</script>",
        "akamai": "<body><div id=sec-if-cpt-container>{challenge}</div><script src='/akam/13/1'></script>",
        "hcaptcha": "<body><h1>{challenge}</h1><form method=post><div class=h-captcha data-sitekey=1>"
        "</div></form><script src='https://js.hcaptcha.com/1/api.js'></script>",
        "recaptcha": "<body><p>{challenge}</p><form id=captcha-form><div class=g-recaptcha></div></form>"
        "<script src='https://www.google.com/recaptcha/api.js'></script>",
        "aws": "<body><div id=challenge-container>{challenge}</div><script>AwsWafIntegration.getToken()"
        "</script>",
        "cookie": "<body><p>{challenge}</p><script>document.cookie='ok=1;path=/';location.reload();</script>",
    },
    "login": {
        "form": "<body><h1>Site</h1><p>{login}</p><form action=/session method=post><input name=user>"
        "<input type=password name=pass><button>OK</button></form>{menu}",
        "two-steps": "<body><p>{login}</p><form action='/auth/step1'><input type=email "
        "autocomplete=username name=mail><button>OK</button></form>",
        "table": "<body><table><tr><td>{login}<tr><td><form method=post><input type=text name=u>"
        "<input name=p type='password'></form></table>",
        "with-menu": "<body><nav><a href=/>Home</a> <a href=/sport/>Sport</a> <a href=/world/>World</a>"
        "</nav><div class=card><h2>{login}</h2><form><input name=a><input type=password></form></div>{menu}",
    },
    "needs_js": {
        "root": "<body><noscript>{scripts}</noscript><div id=root></div><script src=/main.js></script>",
        "no-notice": "<body><div id='__next'></div><script src=/_next/main.js></script>",
        "own-tag": "<body><app-root></app-root><script type=module src=main.js></script>",
        "shell": "<body><header><a href=/>Site</a> <a href=/sport>Sport</a></header><div id=app></div>"
        "<footer>© 2026 Site</footer><script src=/app.js></script>",
        "notice-only": "<body><div class=page></div><noscript><p>{scripts}</p></noscript>"
        "<script src=/bundle.js></script>",
        "loading": "<body><div id=app><div class=spinner>...</div></div><script src=/a.js></script>",
    },
}


def barrier_page(outcome: str, template: str, language: str) -> str:
    """Return the page of a *template* in a *language*."""
    values = TEXTS[language] | {"language": language, "menu": _SMALL_MENU}
    page = _HEAD + TEMPLATES[outcome][template] + "</body></html>"
    return page.format(**values)
