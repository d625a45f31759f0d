"""Colour spaces of CSS, converted through CIE XYZ (D65).

https://drafts.csswg.org/css-color-4/#color-conversion-code. Coordinates are those of the CSS
functions: RGB spaces 0..1; hsl and hwb in degrees, 0..100, 0..100; lab and lch with lightness
0..100; oklab and oklch with lightness 0..1. Coordinates may lie outside of the gamut.
"""

from __future__ import annotations

import colorsys
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

RGB_SPACES: dict[str, Matrix] = {
    "srgb-linear": (
        (0.41239080, 0.35758434, 0.18048079),
        (0.21263901, 0.71516868, 0.07219232),
        (0.01933082, 0.11919478, 0.95053215),
    ),
    "display-p3": (
        (0.48657095, 0.26566769, 0.19821729),
        (0.22897456, 0.69173852, 0.07928691),
        (0.00000000, 0.04511338, 1.04394437),
    ),
    "a98-rgb": (
        (0.57666904, 0.18555824, 0.18822865),
        (0.29734498, 0.62736357, 0.07529146),
        (0.02703136, 0.07068885, 0.99133754),
    ),
    "prophoto-rgb": (
        (0.75559074, 0.11271984, 0.08214534),
        (0.26832184, 0.71511525, 0.01656291),
        (0.00391597, -0.01293344, 1.09807562),
    ),
    "rec2020": (
        (0.63695805, 0.14461690, 0.16888098),
        (0.26270021, 0.67799807, 0.05930172),
        (0.00000000, 0.02807269, 1.06098506),
    ),
}
"""RGB space -> matrix from its linear light to XYZ with the white point D65."""

_LMS_OF_XYZ: Matrix = (
    (0.81902244, 0.36190626, -0.12887378),
    (0.03298367, 0.92928685, 0.03614467),
    (0.04817720, 0.26423953, 0.63354783),
)
_OKLAB_OF_LMS: Matrix = (
    (0.21045427, 0.79361777, -0.00407204),
    (1.97799850, -2.42859220, 0.45059371),
    (0.02590404, 0.78277177, -0.80867577),
)
_D50_OF_D65: Matrix = (
    (1.04792979, 0.02294687, -0.05019227),
    (0.02962781, 0.99043443, -0.01707382),
    (-0.00924304, 0.01505519, 0.75187429),
)
_D50 = (0.96429568, 1.0, 0.82510460)
_EPSILON, _KAPPA = 216 / 24389, 24389 / 27


def _multiply(matrix: Matrix, vector: Vector) -> Vector:
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def _inverse(matrix: Matrix) -> Matrix:
    (a, b, c), (d, e, f), (g, h, i) = matrix
    det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return (
        ((e * i - f * h) / det, (c * h - b * i) / det, (b * f - c * e) / det),
        ((f * g - d * i) / det, (a * i - c * g) / det, (c * d - a * f) / det),
        ((d * h - e * g) / det, (b * g - a * h) / det, (a * e - b * d) / det),
    )


_FROM_XYZ = {name: _inverse(matrix) for name, matrix in RGB_SPACES.items()}
_XYZ_OF_LMS, _LMS_OF_OKLAB = _inverse(_LMS_OF_XYZ), _inverse(_OKLAB_OF_LMS)
_D65_OF_D50 = _inverse(_D50_OF_D65)


def _odd(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return *function* extended to negative numbers by symmetry."""
    return lambda value: math.copysign(function(abs(value)), value)


def _srgb_decode(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _srgb_encode(value: float) -> float:
    return value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055


_REC2020_ALPHA, _REC2020_BETA = 1.09929682680944, 0.018053968510807


def _rec2020_decode(value: float) -> float:
    if value < _REC2020_BETA * 4.5:
        return value / 4.5
    return math.pow((value + _REC2020_ALPHA - 1) / _REC2020_ALPHA, 1 / 0.45)


def _rec2020_encode(value: float) -> float:
    if value <= _REC2020_BETA:
        return value * 4.5
    return _REC2020_ALPHA * math.pow(value, 0.45) - (_REC2020_ALPHA - 1)


#: RGB space -> functions to and from linear light
_TRANSFER: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "srgb": (_odd(_srgb_decode), _odd(_srgb_encode)),
    "display-p3": (_odd(_srgb_decode), _odd(_srgb_encode)),
    "a98-rgb": (_odd(lambda v: v ** (563 / 256)), _odd(lambda v: v ** (256 / 563))),
    "prophoto-rgb": (
        _odd(lambda v: v / 16 if v <= 16 / 512 else v**1.8),
        _odd(lambda v: v * 16 if v < 1 / 512 else v ** (1 / 1.8)),
    ),
    "rec2020": (_odd(_rec2020_decode), _odd(_rec2020_encode)),
    "srgb-linear": (float, float),
}


def _map(function: Callable[[float], float], vector: Vector) -> Vector:
    x, y, z = vector
    return function(x), function(y), function(z)


def _polar(lab: Vector) -> Vector:
    lightness, a, b = lab
    return lightness, math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360


def _cartesian(lch: Vector) -> Vector:
    lightness, chroma, hue = lch
    return (
        lightness,
        chroma * math.cos(math.radians(hue)),
        chroma * math.sin(math.radians(hue)),
    )


def _lab_to_xyz(lab: Vector) -> Vector:
    fy = (lab[0] + 16) / 116
    fx, fz = lab[1] / 500 + fy, fy - lab[2] / 200
    x = fx**3 if fx**3 > _EPSILON else (116 * fx - 16) / _KAPPA
    y = fy**3 if lab[0] > _KAPPA * _EPSILON else lab[0] / _KAPPA
    z = fz**3 if fz**3 > _EPSILON else (116 * fz - 16) / _KAPPA
    return _multiply(_D65_OF_D50, (x * _D50[0], y * _D50[1], z * _D50[2]))


def _xyz_to_lab(xyz: Vector) -> Vector:
    ratios = (value / white for value, white in zip(_multiply(_D50_OF_D65, xyz), _D50, strict=True))
    fx, fy, fz = (math.cbrt(r) if r > _EPSILON else (_KAPPA * r + 16) / 116 for r in ratios)
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def _oklab_to_xyz(lab: Vector) -> Vector:
    return _multiply(_XYZ_OF_LMS, _map(lambda v: v**3, _multiply(_LMS_OF_OKLAB, lab)))


def _xyz_to_oklab(xyz: Vector) -> Vector:
    return _multiply(_OKLAB_OF_LMS, _map(math.cbrt, _multiply(_LMS_OF_XYZ, xyz)))


def _hsl_to_srgb(hsl: Vector) -> Vector:
    hue, saturation, lightness = hsl
    return colorsys.hls_to_rgb(hue % 360 / 360, lightness / 100, max(0.0, saturation) / 100)


def _srgb_to_hsl(srgb: Vector) -> Vector:
    hue, lightness, saturation = colorsys.rgb_to_hls(*srgb)
    return hue * 360, saturation * 100, lightness * 100


def _hwb_to_srgb(hwb: Vector) -> Vector:
    hue, white, black = hwb[0], hwb[1] / 100, hwb[2] / 100
    if white + black >= 1:
        grey = white / (white + black)
        return grey, grey, grey
    return _map(lambda v: v * (1 - white - black) + white, _hsl_to_srgb((hue, 100, 50)))


def _srgb_to_hwb(srgb: Vector) -> Vector:
    return _srgb_to_hsl(srgb)[0], min(srgb) * 100, (1 - max(srgb)) * 100


def _to_xyz(space: str, vector: Vector) -> Vector:
    decode, _ = _TRANSFER[space]
    return _multiply(RGB_SPACES["srgb-linear" if space == "srgb" else space], _map(decode, vector))


def _of_xyz(space: str, xyz: Vector) -> Vector:
    _, encode = _TRANSFER[space]
    return _map(encode, _multiply(_FROM_XYZ["srgb-linear" if space == "srgb" else space], xyz))


#: other space -> functions to and from XYZ
_OTHERS: dict[str, tuple[Callable[[Vector], Vector], Callable[[Vector], Vector]]] = {
    "xyz": (lambda v: v, lambda v: v),
    "xyz-d65": (lambda v: v, lambda v: v),
    "xyz-d50": (lambda v: _multiply(_D65_OF_D50, v), lambda v: _multiply(_D50_OF_D65, v)),
    "lab": (_lab_to_xyz, _xyz_to_lab),
    "lch": (lambda v: _lab_to_xyz(_cartesian(v)), lambda v: _polar(_xyz_to_lab(v))),
    "oklab": (_oklab_to_xyz, _xyz_to_oklab),
    "oklch": (lambda v: _oklab_to_xyz(_cartesian(v)), lambda v: _polar(_xyz_to_oklab(v))),
}
#: space defined by sRGB -> functions to and from sRGB
_OF_SRGB: dict[str, tuple[Callable[[Vector], Vector], Callable[[Vector], Vector]]] = {
    "hsl": (_hsl_to_srgb, _srgb_to_hsl),
    "hwb": (_hwb_to_srgb, _srgb_to_hwb),
}
SPACES = frozenset((*_TRANSFER, *_OTHERS, *_OF_SRGB))
"""The supported colour spaces."""


def convert(vector: Vector, source: str, target: str) -> Vector:
    """Return the coordinates in *target* of a colour in *source*, both of :data:`SPACES`."""
    if source == target:
        return vector
    if source in _OF_SRGB:
        vector, source = _OF_SRGB[source][0](vector), "srgb"
    if target in _OF_SRGB:
        return _OF_SRGB[target][1](convert(vector, source, "srgb"))
    if source == target:
        return vector
    xyz = _OTHERS[source][0](vector) if source in _OTHERS else _to_xyz(source, vector)
    return _OTHERS[target][1](xyz) if target in _OTHERS else _of_xyz(target, xyz)
