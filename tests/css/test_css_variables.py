"""Custom properties: substitution, scopes, registration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.css.syntax.variables import (
    RegisteredProperty,
    Variables,
    VariableScope,
    substitute,
)
from newscrawl.css.values.declared_values import (
    has_syntax,
)


class TestVariables:
    def test_substitutes_fallbacks(self):
        frame = Variables({"--a": "red", "--empty": ""})
        texts = ["var(--a)", "var(--b, blue)", "var(--b,var(--c,  1px))", "x var(--empty)y",
                 "var(--b,)", "rgb(var(--b, 1, 2, 3))", "VAR( --a , x)"]  # fmt: skip
        values = [substitute(text, frame.get) for text in texts]
        assert [" ".join((value or "").split()) for value in values] == [
            "red", "blue", "1px", "x y", "", "rgb( 1, 2, 3 )", "red",
        ]  # fmt: skip
        assert substitute("var(--b)", frame.get) is None
        assert substitute("env(safe-area-inset-top)", frame.get) == "0px"
        assert substitute("--var(--a)", frame.get) is None

    def test_ignores_references_in_strings(self):
        assert substitute('"var(--a)" x', Variables({"--a": "1"}).get) == '"var(--a)" x'

    def test_resolves_references_where_declared(self):
        root = Variables({"--base": "1px", "--size": "var(--base)"})
        child = root.child({"--base": "2px"})
        assert (child.get("--size"), child.get("--base"), root.child(None)) == ("1px", "2px", root)
        assert root.child({"--size": None}).get("--size") is None

    def test_rejects_cycles(self):
        """All properties of a cycle are invalid."""
        frame = Variables(
            {"--a": "var(--b)", "--b": "var(--a, 1)", "--c": "var(--a, 2)", "--d": "var(--d, 3)"}
        )
        assert [frame.get(name) for name in ("--c", "--a", "--b", "--d")] == ["2", None, None, None]

    def test_invalid_values_of_registered_properties_are_unset(self):
        scope = VariableScope(
            {
                "--x": RegisteredProperty("--x", "1px", False, "<length>"),
                "--y": RegisteredProperty("--y", "red", True, "<color>"),
            },
            has_syntax,
        )
        root = Variables({"--x": "5px", "--y": "blue", "--z": "12"}, scope=scope)
        child = root.child({"--x": "green", "--y": "var(--z)"})
        assert [root.get("--x"), root.get("--y")] == ["5px", "blue"]
        assert [child.get("--x"), child.get("--y")] == ["1px", "blue"]
        assert Variables({"--y": "12"}, scope=scope).get("--y") == "red"

    @pytest.mark.parametrize(
        ("text", "syntax", "expected"),
        [
            ("red", "<color>", True), ("1px", "<color>", False), ("1.5", "<number>", True),
            ("bold", "<number>", False), ("0", "<length>", True), ("12", "<length>", False),
            ("calc(1px + 2em)", "<length>", True), ("1deg", "<angle>", True),
            ("anything", "*", True), ("x", "<color>#", True),
        ],
    )  # fmt: skip
    def test_checks_syntaxes(self, text: str, syntax: str, expected: bool):
        assert has_syntax(text, syntax) is expected

    def test_applies_registered_properties(self):
        scope = VariableScope(
            {
                "--x": RegisteredProperty("--x", "1px", inherits=False),
                "--y": RegisteredProperty("--y", "2px", inherits=True),
            }
        )
        root = Variables({"--x": "3px", "--y": "4px"}, scope=scope)
        child = root.child(None)
        assert (root.get("--x"), child.get("--x"), child.get("--y")) == ("3px", "1px", "4px")
        assert Variables({}, scope=scope).get("--y") == "2px"

    def test_bounds_expansion(self):
        laughs = {f"--v{i}": f"var(--v{i + 1}) var(--v{i + 1})" for i in range(40)}
        assert Variables(laughs | {"--v40": "ha"}).get("--v0") is None
        path_id = {f"--v{i}": f"var(--v{i + 1})" for i in range(10_000)}
        assert Variables(path_id).get("--v0") is None
        deep = "var(--x," * 10_000
        assert substitute(deep, Variables({}).get) is None

    @given(st.text(alphabet="var(--a),env {}[]\"'\\x "))
    def test_never_raises(self, text: str):
        frame = Variables({"--a": text, "--": text})
        frame.get("--a")
        substitute(text, frame.get)
