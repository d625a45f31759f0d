"""Heads of WARC records and HTTP messages: a first line and headers, within limits."""

from __future__ import annotations

from typing import IO, Final

from newscrawl.text import without_controls

MAX_HEAD_SIZE: Final = 64 * 2**10
"""Maximum bytes of a head."""

MAX_HEAD_LINES: Final = 1000
"""Maximum lines of a head."""


class HeadTooLargeError(Exception):
    """A head exceeds a limit; ``lines`` are those before."""

    def __init__(self, lines: list[bytes]) -> None:
        super().__init__(f"more than {MAX_HEAD_SIZE} bytes or {MAX_HEAD_LINES} lines of headers")
        self.lines = lines


def read_lines(stream: IO[bytes]) -> tuple[list[bytes], bool]:
    """Return the lines of *stream* up to an empty one, and whether there is one.

    Empty lines before the first line are skipped. Raises :class:`HeadTooLargeError`.
    """
    lines: list[bytes] = []
    room = MAX_HEAD_SIZE
    for _ in range(MAX_HEAD_LINES + 1):
        line = stream.readline(room + 1)
        room -= len(line)
        if room < 0:
            break
        if not line.endswith(b"\n"):  # the end of the stream
            return [*lines, line] if line else lines, False
        if text := line.rstrip(b"\r\n"):
            lines.append(text)
        elif lines:
            return lines, True
    raise HeadTooLargeError(lines)


def parse_headers(lines: list[bytes]) -> list[tuple[str, str]]:
    """Return names and values of the headers in *lines*, without control characters.

    Lines without a name are left out.
    """
    headers: list[tuple[str, str]] = []
    is_header = False
    for line in lines:
        text = _decode(line)
        if text[:1] in {" ", "\t"}:  # continues the header before
            if is_header:
                name, value = headers[-1]
                headers[-1] = name, f"{value} {text.strip()}"
            continue
        name, colon, value = text.partition(":")
        is_header = bool(colon)
        if is_header:
            headers.append((name.rstrip(), value.strip()))
    return headers


def _decode(line: bytes) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode("latin-1")
    return without_controls(text.replace("\t", " "))
