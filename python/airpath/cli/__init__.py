"""The command ``airpath``: one file per command, put together in `airpath.cli.commands`.

Exit status: 0 done, 1 a run that failed, 2 bad input, 130 after Ctrl-C, 141 when the reader of a
pipe went away.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airpath.cli.commands import app

__all__ = ["app", "main"]

INTERRUPTED, NO_READER = 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name. Default: those of the process.

    Returns
    -------
    status : int
        The exit status.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # File names may hold bytes that are no text, and a terminal may not know every sign.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        # Imported here, so that Ctrl-C is answered from the first moment on.
        from airpath.cli.commands import run_command

        status = run_command(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads any more. What is left in the buffer must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    return status


def __getattr__(name: str) -> Any:
    if name == "app":
        from airpath.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
