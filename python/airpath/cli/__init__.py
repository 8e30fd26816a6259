"""The command ``airpath``: one file per command.

Exit status: 0 done, 1 a run that failed, 2 bad input, 130 after Ctrl-C, 141 when the reader of a
pipe went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from airpath.cli import check, listing, output, reproduce, run, solve, trace
from airpath.errors import AirpathError, RunError

__all__ = ["app", "main"]

FAILED, BAD_INPUT, INTERRUPTED, NO_READER = 1, 2, 130, 141

app = typer.Typer(
    name="airpath",
    help="What a transport connection gets over a wireless path, and what would get it more.",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("solve")(solve.solve)
app.command("reproduce")(reproduce.reproduce)
app.command("list")(listing.list_parts)
app.command("check")(check.check)
app.add_typer(trace.app, name="trace")


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=output.show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


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
    output.arguments = given
    try:
        status = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads any more. What is left in the buffer must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    return status


def _run(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        with command.make_context("airpath", arguments or ["--help"]) as context:
            return int(command.invoke(context) or 0)
    except typer.Exit as stop:
        return stop.exit_code
    except AirpathError as error:
        print(error, file=sys.stderr)
        return FAILED if isinstance(error, RunError) else BAD_INPUT
    except Exception as error:
        # Every version of typer has its own class for what the user typed wrong.
        if not hasattr(error, "format_message"):
            raise
        print(_usage(error.format_message(), arguments), file=sys.stderr)
        return BAD_INPUT


def _usage(message: str, arguments: Sequence[str]) -> str:
    words = [word for word in arguments[:2] if not word.startswith("-")]
    known = {command.name for command in app.registered_commands} | {"trace"}
    inside = words[0] if words and words[0] in known else ""
    if inside == "trace" and words[1:] and words[1] in trace.COMMANDS:
        inside = f"trace {words[1]}"
    place = f"airpath {inside}".strip()
    text = " ".join(message.split()).rstrip(".")
    return f"{place}: {text[:1].lower()}{text[1:]}. See {place} --help."
