"""All commands together, and what becomes of their errors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import typer

from airpath.cli import check, listing, output, phy, reproduce, run, solve, trace
from airpath.errors import BadValueError

__all__ = ["app", "run_command"]

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
app.add_typer(phy.app, name="phy")
app.add_typer(trace.app, name="trace")

GROUPS = {"phy": phy.COMMANDS, "trace": trace.COMMANDS}
"""Commands of commands."""


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=output.show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


def run_command(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str
        Without the program's name.

    Raises
    ------
    AirpathError
        If the command was typed wrong, has bad input or failed.
    """
    output.arguments = list(arguments)
    command = _command()
    try:
        with (
            output.warnings_as_notes(),
            command.make_context("airpath", list(arguments) or ["--help"]) as context,
        ):
            return int(command.invoke(context) or 0)
    except typer.Exit as stop:
        return stop.exit_code
    except Exception as error:
        # Every version of typer has its own class for what the user typed wrong.
        if not hasattr(error, "format_message"):
            raise
        raise BadValueError(_usage(error.format_message(), arguments)) from None


@cache
def _command() -> Any:
    return typer.main.get_command(app)


def _usage(message: str, arguments: Sequence[str]) -> str:
    words = [word for word in arguments[:2] if not word.startswith("-")]
    known = {command.name for command in app.registered_commands} | GROUPS.keys()
    inside = words[0] if words and words[0] in known else ""
    if words[1:] and words[1] in GROUPS.get(inside, ()):
        inside = f"{inside} {words[1]}"
    place = f"airpath {inside}".strip()
    text = " ".join(message.split()).rstrip(".")
    return f"{place}: {text[:1].lower()}{text[1:]}. See {place} --help."
