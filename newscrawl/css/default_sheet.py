"""Default style sheet of browsers, as far as it affects text.

https://html.spec.whatwg.org/multipage/rendering.html
"""

DEFAULT_SHEET = """
area, base, datalist, dialog:not([open]), head, link, meta, noembed, noframes, noscript, param, rp,
script, style, template, title, input[type="hidden"], [hidden] { display: none }
b, strong { font-weight: bolder }
th, h1, h2, h3, h4, h5, h6 { font-weight: bold }
h1 { font-size: 2em }
h2 { font-size: 1.5em }
h3 { font-size: 1.17em }
h5 { font-size: .83em }
h6 { font-size: .67em }
code, kbd, pre, samp, tt { font-family: monospace }
big { font-size: larger }
small, sub, sup { font-size: smaller }
a:any-link, area:any-link { color: #0000ee }
button, input, select, textarea { font: 13.3333px arial; color: black }
option { font-weight: normal }
"""
