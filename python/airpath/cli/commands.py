"""All commands together; each is imported when it is called, so that all answer at once."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup

from airpath.arguments import called_by_option
from airpath.cli import output
from airpath.cli.bash import use_own_script
from airpath.cli.examples import epilog
from airpath.errors import BadValueError

__all__ = ["app", "run_command"]

COMMANDS: Mapping[str, str] = {
    "run": "run",
    "emulate": "emulate",
    "solve": "solve",
    "compare": "compare",
    "reproduce": "reproduce",
    "report": "report",
    "sweep": "app",
    "list": "list_components",
    "check": "check",
    "example": "example",
    "phy": "app",
    "trace": "app",
}
"""What a command is called in its module; an `app` has commands of its own."""

MODULES: Mapping[str, str] = {"list": "listing"}
"""Modules in `airpath.cli` that are not called like their command."""

COMPLETE = "_AIRPATH_COMPLETE"
"""Set by a shell that asks how a command line may go on."""


class _Imported(Mapping[str, Any]):
    """The commands by name, each imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Imported()


use_own_script()
app = typer.Typer(
    name="airpath",
    cls=_Group,
    help="What a transport connection gets over a wireless path, and what would get it more.",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=output.show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


@cache
def _command(name: str) -> Any:
    attribute = COMMANDS[name]
    found = getattr(importlib.import_module(f"airpath.cli.{MODULES.get(name, name)}"), attribute)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name, epilog=epilog(name))(found)
        return typer.main.get_command(alone)
    group = typer.main.get_command(found)
    group.name = name
    return group


@cache
def _root() -> Any:
    return typer.main.get_command(app)


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
    try:
        if COMPLETE in os.environ:
            _root().main(list(arguments), "airpath", standalone_mode=False)
        with (
            output.warnings_as_notes(),
            called_by_option(option),
            _root().make_context("airpath", list(arguments) or ["--help"]) as context,
        ):
            return int(context.command.invoke(context) or 0)
    except typer.Exit as stop:
        return stop.exit_code
    except SystemExit as stop:  # what is said to a shell ends so
        return int(stop.code or 0)
    except Exception as error:
        # Every version of typer has its own class for what the user typed wrong.
        if not hasattr(error, "format_message"):
            raise
        raise BadValueError(_usage(error.format_message(), arguments)) from None


_OPTIONS: Mapping[str, str] = {
    "capture_to": "--out",
    "figure_formats": "--figure-format",
    "folder": "--out",
    "formats": "--format",
    "overrides": "--set",
    "replications": "--reps",
    "snr_db": "--snr",
}
"""Options that are not called like the argument that they become."""


def option(argument: str) -> str:
    """Return the option that becomes an argument of a function."""
    return _OPTIONS.get(argument) or f"--{argument.replace('_', '-')}"


_WRONG_TYPES = {
    r"(Invalid value for '[^']*': ).*\bvalid integer\b.*": "not an integer",
    r"(Invalid value for '[^']*': ).*\bvalid (?:float|number)\b.*": "not a number",
}
"""What releases of typer say in words of their own, and what is said here."""


def _usage(message: str, arguments: Sequence[str]) -> str:
    words = [word for word in arguments[:2] if not word.startswith("-")]
    inside = words[0] if words and words[0] in COMMANDS else ""
    if words[1:] and inside and words[1] in getattr(_command(inside), "commands", ()):
        inside = f"{inside} {words[1]}"
    place = f"airpath {inside}".strip()
    text = " ".join(message.split()).rstrip(".")
    for pattern, wrong in _WRONG_TYPES.items():
        text = re.sub(pattern, rf"\1{wrong}", text)
    end = "" if text.endswith("?") else "."
    return f"{place}: {text[:1].lower()}{text[1:]}{end} See {place} --help."
