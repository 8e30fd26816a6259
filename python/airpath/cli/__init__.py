"""The command ``airpath``: one file per command; `airpath.cli.commands` combines them.

Exit status: 0 success, 1 failed run or results that could not be written, 2 bad input, 130 after
Ctrl-C, 141 closed output pipe.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from traceback import print_exception
from typing import TYPE_CHECKING, Any

from airpath.cli.streams import OutputLostError, guarded_streams
from airpath.errors import AirpathError, RunError

if TYPE_CHECKING:
    from airpath.cli.commands import app

__all__ = ["app", "guarded", "main"]

FAILED, BAD_INPUT, INTERRUPTED, NO_READER = 1, 2, 130, 141

NO_MEMORY = (
    "out of memory: run fewer replications, record fewer series, or give the process more memory."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments without the program's name. Default: the arguments of the process.

    Returns
    -------
    status : int
        The exit status.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: _run(given))


def guarded(program: Callable[[], int]) -> int:
    """Return the exit status of a program; an exception becomes one line of output, or none.

    Parameters
    ----------
    program : callable
        Function that returns the exit status.
    """
    with guarded_streams():
        try:
            try:
                return _status(program)
            finally:
                sys.stdout.flush()
        except OutputLostError as lost:
            if lost.reader_left:
                return NO_READER
            print(lost, file=sys.stderr)
            return FAILED
        except KeyboardInterrupt:
            return INTERRUPTED


def _status(program: Callable[[], int]) -> int:
    try:
        return program()
    except AirpathError as error:
        if isinstance(error, RunError) and error.__cause__ is not None:
            print_exception(error.__cause__, chain=False)  # Raised by a part in Python.
        print(error, file=sys.stderr)
        return FAILED if isinstance(error, RunError) else BAD_INPUT
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        print(NO_MEMORY, file=sys.stderr)
        return FAILED


def _run(given: Sequence[str]) -> int:
    # Imported here, so that Ctrl-C is handled also during the import.
    from airpath.cli.commands import run_command

    return run_command(given)


def __getattr__(name: str) -> Any:
    if name == "app":
        from airpath.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
