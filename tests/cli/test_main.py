"""Command ``newscrawl``: the table of subcommands, errors in one line, exit codes."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

from newscrawl.cli import main
from tests.conftest import run_python


def command_of(callback: Callable[[], Any]) -> click.Command:
    return click.Command("example", callback=callback, params=[click.Option(["--known"])])


def raising(error: BaseException) -> Callable[[], Any]:
    def callback(**_: Any) -> None:
        raise error

    return callback


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (click.UsageError("name a file"), 2, "newscrawl: name a file\n"),
        (click.ClickException("two\nlines"), 1, "newscrawl: two lines\n"),
        (click.ClickException("\x1b[2J\x9b1m\u202e"), 1, "newscrawl: \\x1b[2J\\x9b1m\\u202e\n"),
        (FileNotFoundError(2, "No such file", "x"), 1, "newscrawl: x: No such file\n"),
        (click.exceptions.Exit(3), 3, ""),
        (KeyboardInterrupt(), 130, "newscrawl: interrupted\n"),
        (click.Abort(), 130, "newscrawl: interrupted\n"),
    ],
)
def test_errors(error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]):
    """Each kind of error has its exit code and is printed in one line."""
    assert main.run(command_of(raising(error)), [], "newscrawl") == code
    assert capsys.readouterr().err.replace("\n\n", "\n").lstrip("\n") == message


def test_unknown_option(capsys: pytest.CaptureFixture[str]):
    """An unknown option is named, with exit code 2."""
    assert main.run(command_of(lambda **_: None), ["--unknown"], "newscrawl") == 2
    assert "--unknown" in capsys.readouterr().err


def test_done():
    """A command that returns nothing has exit code 0, one that returns a number has that."""
    assert main.run(command_of(lambda **_: None), [], "newscrawl") == 0
    assert main.run(command_of(lambda **_: 3), [], "newscrawl") == 3


def test_help_imports_no_subcommand():
    """The help lists all subcommands without importing one of them, or Scrapy."""
    code = (
        "import sys, json; from newscrawl.cli.main import cli, run, COMMANDS; "
        "run(cli, ['--help'], 'newscrawl'); "
        "print(json.dumps(sorted({m for m in sys.modules if m == 'scrapy' or 'lxml' in m "
        "or m.startswith('newscrawl.cli.')})))"
    )
    *listing, loaded = run_python(code).splitlines()
    assert json.loads(loaded) == ["newscrawl.cli.exit_codes", "newscrawl.cli.main"]
    assert all(any(name in line for line in listing) for name in main.COMMANDS)


@pytest.mark.parametrize("name", main.COMMANDS)
def test_subcommands(name: str, capsys: pytest.CaptureFixture[str]):
    """Each subcommand of the table exists and has a help text."""
    assert main.run(main.cli, [name, "--help"], "newscrawl") == 0
    assert capsys.readouterr().out.startswith(f"Usage: newscrawl {name} ")


def test_runs_as_a_module():
    command = [sys.executable, "-m", "newscrawl", "extrakt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "newscrawl: no command 'extrakt'; did you mean extract?\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [("crwal", "did you mean crawl?"), ("Extract", "did you mean extract?"), ("x", "use crawl, ")],
)
def test_unknown_command(name: str, message: str, capsys: pytest.CaptureFixture[str]):
    assert main.run(main.cli, [name, "page.html"], "newscrawl") == 2
    assert capsys.readouterr().err.startswith(f"newscrawl: no command {name!r}; {message}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("newscrawl ex", ["plain,extract"]),
        ("newscrawl c", ["plain,crawl", "plain,cluster"]),
        ("newscrawl cluster --tw", ["plain,--two-pass"]),
        ("newscrawl extract --format ma", ["plain,markdown"]),
        ("newscrawl extract --method ne", ["plain,newscrawl"]),
        ("newscrawl extract --parts code,ta", ["plain,code,tables"]),
        ("newscrawl crawl -s NEWSCRAWL_SITE_LI", ["plain,NEWSCRAWL_SITE_LIMIT="]),
    ],
)
def test_shell_completion(words: str, expected: list[str]):
    """Subcommands, options and values."""
    output = run_python(
        "from newscrawl.cli.main import main; main()",
        _NEWSCRAWL_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert output.splitlines() == expected
