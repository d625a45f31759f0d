"""Subcommands of ``newscrawl``. Ctrl-C ends them in one line, also during the imports."""

from __future__ import annotations

import os
import signal
import sys

from newscrawl.cli.exit_codes import INTERRUPTED, interruption


def start() -> None:
    """Run ``newscrawl`` with the arguments of the process: its entry point."""
    signal.signal(signal.SIGINT, _interrupt)  # crawls replace it by Scrapy's
    try:
        from newscrawl.cli.main import main  # noqa: PLC0415  # takes a tenth of a second

        main()
    except KeyboardInterrupt:
        _exit()
    except SystemExit as error:
        if error.code == INTERRUPTED:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # else it kills Python while that ends
        raise


def _interrupt(*_: object) -> None:
    """Raise ``KeyboardInterrupt``; the next Ctrl-C does not wait for what handles it."""
    import logging  # noqa: PLC0415  # the start is faster without

    signal.signal(signal.SIGINT, _exit)
    logging.getLogger("asyncio").disabled = True  # the task that this ends has not failed
    raise KeyboardInterrupt


def _exit(*_: object) -> None:
    os.write(2, interruption(" ".join(["newscrawl", *sys.argv[1:2]])).encode())
    os._exit(INTERRUPTED)
