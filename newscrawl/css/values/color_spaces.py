"""Conversions of the CSS colour spaces to sRGB.

https://drafts.csswg.org/css-color-4/#color-conversion-code. Coordinates are those of the CSS
functions: RGB spaces 0..1; hsl and hwb in degrees, 0..100, 0..100; lab and lch with lightness
0..100; oklab and oklch with lightness 0..1. Results may lie outside of 0..1.
"""

from __future__ import annotations

import colorsys
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

_LINEAR_SRGB_OF_P3: Matrix = (
    (1.22494018, -0.22494018, 0.0),
    (-0.04205695, 1.04205695, 0.0),
    (-0.01963755, -0.07863605, 1.09827360),
)
_LINEAR_SRGB_OF_XYZ_D50: Matrix = (
    (3.13413595, -1.61738600, -0.49066221),
    (-0.97879548, 1.91625436, 0.03344274),
    (0.07195537, -0.22897675, 1.40538617),
)
_LMS_OF_OKLAB: Matrix = (
    (1.0, 0.39633779, 0.21580376),
    (1.0, -0.10556134, -0.06385417),
    (1.0, -0.08948418, -1.29148554),
)
_LINEAR_SRGB_OF_LMS: Matrix = (
    (4.07674164, -3.30771154, 0.23096991),
    (-1.26843797, 2.60975735, -0.34131938),
    (-0.00419609, -0.70341861, 1.70761470),
)
_D50_WHITE = (0.96429568, 1.0, 0.82510460)
_EPSILON, _KAPPA = 216 / 24389, 24389 / 27


def _multiply(matrix: Matrix, vector: Vector) -> Vector:
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def _map(function: Callable[[float], float], vector: Vector) -> Vector:
    x, y, z = vector
    return function(x), function(y), function(z)


def _decode(value: float) -> float:
    """Return the linear light of an sRGB component; negative values by symmetry."""
    size = abs(value)
    linear = size / 12.92 if size <= 0.04045 else ((size + 0.055) / 1.055) ** 2.4
    return math.copysign(linear, value)


def _encode(value: float) -> float:
    size = abs(value)
    encoded = size * 12.92 if size <= 0.0031308 else 1.055 * size ** (1 / 2.4) - 0.055
    return math.copysign(encoded, value)


def _cartesian(lch: Vector) -> Vector:
    lightness, chroma, hue = lch
    return (
        lightness,
        chroma * math.cos(math.radians(hue)),
        chroma * math.sin(math.radians(hue)),
    )


def _lab(lab: Vector) -> Vector:
    fy = (lab[0] + 16) / 116
    fx, fz = lab[1] / 500 + fy, fy - lab[2] / 200
    ratios = (f**3 if f**3 > _EPSILON else (116 * f - 16) / _KAPPA for f in (fx, fy, fz))
    x, y, z = (ratio * white for ratio, white in zip(ratios, _D50_WHITE, strict=True))
    return _map(_encode, _multiply(_LINEAR_SRGB_OF_XYZ_D50, (x, y, z)))


def _oklab(lab: Vector) -> Vector:
    lms = _map(lambda value: value**3, _multiply(_LMS_OF_OKLAB, lab))
    return _map(_encode, _multiply(_LINEAR_SRGB_OF_LMS, lms))


def _hsl(hsl: Vector) -> Vector:
    hue, saturation, lightness = hsl
    return colorsys.hls_to_rgb(hue % 360 / 360, lightness / 100, max(0.0, saturation) / 100)


def _hwb(hwb: Vector) -> Vector:
    hue, white, black = hwb[0], hwb[1] / 100, hwb[2] / 100
    if white + black >= 1:
        grey = white / (white + black)
        return grey, grey, grey
    return _map(lambda v: v * (1 - white - black) + white, _hsl((hue, 100, 50)))


def _display_p3(rgb: Vector) -> Vector:
    return _map(_encode, _multiply(_LINEAR_SRGB_OF_P3, _map(_decode, rgb)))


TO_SRGB: dict[str, Callable[[Vector], Vector]] = {
    "srgb": lambda rgb: rgb,
    "srgb-linear": lambda rgb: _map(_encode, rgb),
    "display-p3": _display_p3,
    "hsl": _hsl,
    "hwb": _hwb,
    "lab": _lab,
    "lch": lambda lch: _lab(_cartesian(lch)),
    "oklab": _oklab,
    "oklch": lambda lch: _oklab(_cartesian(lch)),
}
"""Colour space -> conversion to sRGB."""
