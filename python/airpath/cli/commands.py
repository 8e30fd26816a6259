"""Table of all commands. A command is imported only when it is called, for a fast start."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

from airpath.arguments import called_by_option
from airpath.cli import output
from airpath.cli.bash import use_own_script
from airpath.cli.examples import epilog
from airpath.errors import BadValueError

__all__ = ["app", "run_command"]


class Command(NamedTuple):
    """A command, before its module is imported.

    Parameters
    ----------
    function : str
        Name in the module; an `app` contains further commands.
    summary : str
        First sentence of the help text; fits next to the command's name in 80 columns.
    module : str
        Module in `airpath.cli`. Empty: the same name as the command.
    """

    function: str
    summary: str
    module: str = ""


COMMANDS: Mapping[str, Command] = {
    "run": Command("run", "Simulate a scenario: tables of its flows, queues and links."),
    "emulate": Command("emulate", "Put the kernel's TCP, or a command, on the link in real time."),
    "solve": Command("solve", "Solve the analytic model that matches a scenario."),
    "compare": Command("compare", "Compare simulation, emulation and model of one scenario."),
    "reproduce": Command(
        "reproduce", "Reproduce a paper's tables and figures, and compare the numbers."
    ),
    "report": Command("report", "Write one HTML file: verdict, figures, tables, provenance."),
    "sweep": Command("app", "Run many scenarios; the same command resumes them."),
    "list": Command(
        "list_components", "List what there is to choose from, one line each.", "listing"
    ),
    "check": Command("check", "Check a scenario and print every key, defaults included."),
    "example": Command("example", "List the example scenarios and sweeps, print one or write it."),
    "phy": Command("app", "Error rates of the physical layer: measured, and by formula."),
    "trace": Command("app", "Look at, convert and generate traces."),
}

COMPLETE = "_AIRPATH_COMPLETE"
"""Set by a shell that requests completions of a command line."""


class _Imported(Mapping[str, Any]):
    """Mapping from name to command; each command is imported on demand."""

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

    def format_commands(self, _context: Any, formatter: Any) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])


use_own_script()
app = typer.Typer(
    name="airpath",
    cls=_Group,
    help="Simulate, emulate and solve models of TCP over wireless links.",
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
    command = COMMANDS[name]
    module = importlib.import_module(f"airpath.cli.{command.module or name}")
    found = getattr(module, command.function)
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
        Arguments without the program's name.

    Raises
    ------
    AirpathError
        If the command has wrong arguments or bad input, or fails.
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
    except SystemExit as stop:  # raised after output for a shell
        return int(stop.code or 0)
    except Exception as error:
        # Each version of typer has a different class for usage errors.
        if not hasattr(error, "format_message"):
            raise
        raise BadValueError(_usage(error.format_message(), arguments)) from None


_OPTIONS: Mapping[str, str] = {
    "capture_to": "--out",
    "figure_formats": "--figure-format",
    "directory": "--out",
    "format": "--from",
    "formats": "--format",
    "overrides": "--set",
    "replications": "--reps",
    "snr_db": "--snr",
}
"""Maps an argument to its option, if their names differ."""


def option(argument: str) -> str:
    """Return the option for an argument of a function."""
    return _OPTIONS.get(argument) or f"--{argument.replace('_', '-')}"


_WRONG_TYPES = {
    r"(Invalid value for '[^']*': ).*\bvalid integer\b.*": "not an integer",
    r"(Invalid value for '[^']*': ).*\bvalid (?:float|number)\b.*": "not a number",
}
"""Patterns of messages of typer releases, and the text that replaces them."""


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
