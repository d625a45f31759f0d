"""Charts of the results pages: scales, marks, colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from benchmarks.dots import Dot, dot_chart
from benchmarks.svg import linear, logarithmic

NAMESPACE = "{http://www.w3.org/2000/svg}"


def test_linear_scale_has_round_ticks_around_values():
    scale = linear([-0.034, 0.012], 100, 200)
    assert [shown for _, shown in scale.ticks] == [
        "-0.04",
        "-0.03",
        "-0.02",
        "-0.01",
        "0",
        "0.01",
        "0.02",
    ]
    assert scale.place(-0.04) == pytest.approx(100)
    assert scale.place(0.02) == pytest.approx(300)
    assert [shown for _, shown in linear([0.7, 1.0], 0, 1).ticks] == [
        "0",
        "0.2",
        "0.4",
        "0.6",
        "0.8",
        "1",
    ]
    assert len(linear([0.99], 0, 1).ticks) == 6
    assert linear([0.0], 0, 1).place(0.0) == 0


def test_logarithmic_scale_has_powers_of_ten():
    scale = logarithmic([0.03, 20], 0, 400)
    assert [shown for _, shown in scale.ticks] == ["0.01", "0.1", "1", "10", "100"]
    assert scale.place(1) == pytest.approx(200)
    assert logarithmic([1.0], 0, 1).place(1) == 0


def test_dot_chart_has_a_mark_and_an_interval_of_each_value():
    rows = {"a & b": {"x": Dot(0.5, 0.4, 0.6), "y": Dot(0.7)}, "c": {"y": Dot(0.1)}}
    root = ET.fromstring(dot_chart("Title", "axis", rows))  # our own
    texts = [element.text for element in root.iter(f"{NAMESPACE}text")]
    assert {"Title", "axis", "a & b", "c", "x", "y"} <= set(texts)
    assert len(list(root.iter(f"{NAMESPACE}circle"))) == 2  # x and its legend
    assert len(list(root.iter(f"{NAMESPACE}polygon"))) == 3
    lines = [path for path in root.iter(f"{NAMESPACE}path") if path.get("class") == "s0"]
    assert len(lines) == 1


def test_long_labels_are_shortened():
    chart = dot_chart("Title", "axis", {"label " * 20: {"x": Dot(1.0)}})
    (label,) = re.findall(r">(label[^<]*)<", chart)
    assert label.endswith("…")
    assert len(label) < 50


def test_charts_have_colours_for_both_themes():
    root = ET.fromstring(dot_chart("Title", "axis", {"a": {"x": Dot(0.5)}}))  # our own
    style = next(root.iter(f"{NAMESPACE}style")).text or ""
    light, dark = style.split("@media (prefers-color-scheme:dark)")
    used = {element.get("class") for element in root.iter() if element.get("class")}
    for name in used:
        assert f".{name}{{" in light
        assert f".{name}{{" in dark
