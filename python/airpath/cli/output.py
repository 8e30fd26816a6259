"""Shared functions of the commands: checks of options, console output, JSON output."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from airpath import _airpath
from airpath.errors import AirpathWarning, BadValueError, Problem, ScenarioError, one_line

if TYPE_CHECKING:
    from rich.console import Console


__all__ = [
    "command_line",
    "console",
    "figure_kinds",
    "load_options",
    "load_parts",
    "note",
    "print_json",
    "removed",
    "show_version",
    "warnings_as_notes",
    "written",
]


def command_line() -> str:
    """Return the command line, quoted for a shell."""
    text = shlex.join(["airpath", *arguments])
    # A file name may contain invalid UTF-8; the command is written into files of all kinds.
    return text.encode("utf-8", "backslashreplace").decode()


arguments: list[str] = []
"""Arguments of `airpath.cli.main`, without the program's name."""


def show_version(wanted: bool) -> None:
    """Print the version and stop, for the option ``--version``."""
    if wanted:
        print(f"airpath {_airpath.version()} ({_airpath.commit()})")
        raise typer.Exit


def load_options(settings: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of ``--set key=value``.

    Raises
    ------
    BadValueError
        If settings lack ``=``; the message names all of them.
    """
    bad = [text for text in settings if "=" not in text]
    if bad:
        raise BadValueError(
            "\n".join(
                f"--set {one_line(text)}: no value. "
                "Use --set key=value, for example flows.0.count=8."
                for text in bad
            )
        )
    pairs = (text.partition("=") for text in settings)
    return [(key.strip(), value.strip()) for key, _, value in pairs]


def load_parts(paths: Sequence[Path]) -> None:
    """Register the parts in the files of ``--parts``.

    Raises
    ------
    ScenarioError
        If a file cannot be read or executed, or contains no part; the message names all of them.
    """
    if not paths:
        return
    from pydantic_core import PydanticCustomError

    from airpath.scenario.part_files import load_part_file

    problems = []
    for path in paths:
        try:
            load_part_file(path)
        except PydanticCustomError as error:
            context = error.context or {}
            problems.append(Problem("--parts", (), str(path), context["what"], context["accepted"]))
    if problems:
        raise ScenarioError(problems)


def only_with_out(
    out: str | None, what: str = "a directory. Use --out DIR", /, **given: bool
) -> None:
    """Reject options that need ``--out`` if ``--out`` is not set.

    Parameters
    ----------
    out : str or None
        The value of ``--out``.
    what : str
        Description of the missing option, and its syntax.
    given : bool
        Whether each of these options is set, by name with underscores.

    Raises
    ------
    BadValueError
        With one line for each option that is set, if `out` is None.
    """
    problems = [
        f"--{name.replace('_', '-')}: needs {what} as well." for name in given if given[name]
    ]
    if problems and out is None:
        raise BadValueError("\n".join(problems))


def figure_kinds(
    out: str | None,
    figure_format: str | None,
    plot: bool | None = None,
    *,
    usual: str = "png",
    needs: str = "a directory. Use --out DIR",
    others: Mapping[str, bool] | None = None,
) -> list[str]:
    """Return the formats of the figures that are written.

    Parameters
    ----------
    out, figure_format : str or None
        The values of ``--out`` and ``--figure-format``.
    plot : bool, optional
        The value of ``--plot`` or ``--no-plot``. Default: neither.
    usual : str
        Formats if the option is not set. Default ``png``.
    needs : str
        Description of the missing option, if there is no ``--out``.
    others : mapping of str to bool, optional
        Whether each of the other options that need ``--out`` is set, as for `only_with_out`.

    Raises
    ------
    BadValueError
        If a format is unknown, has no effect without ``--out``, or conflicts with ``--no-plot``.
    """
    from airpath.present.figure_files import checked_formats

    kinds = checked_formats(usual if figure_format is None else figure_format)
    given = {"plot": bool(plot), "figure_format": figure_format is not None, **(others or {})}
    only_with_out(out, needs, **given)
    if plot is False and figure_format is not None:
        raise BadValueError(
            "--figure-format and --no-plot: contradict each other. Use one of them."
        )
    return kinds


def console() -> Console:
    """Return a console on standard output. If the output is a pipe, lines are not wrapped."""
    from rich.console import Console

    from airpath.present.terminal import WIDEST

    return Console(width=None if sys.stdout.isatty() else WIDEST, highlight=False)


def print_json(document: Mapping[str, Any]) -> None:
    """Print the JSON document of ``--json``."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def note(text: str) -> None:
    """Print a note for the user on standard error."""
    print(text, file=sys.stderr)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print each warning of Airpath as one line on standard error, while the block runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", AirpathWarning)
        shown = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], *place: Any, **named: Any
        ) -> None:
            if issubclass(category, AirpathWarning):
                note(f"warning: {one_line(str(message))}")
            else:
                shown(message, category, *place, **named)

        warnings.showwarning = show
        yield


def written(paths: Sequence[Path]) -> None:
    """Print the names of written files."""
    for path in paths:
        note(f"written: {path}")


def removed(paths: Sequence[Path]) -> None:
    """Print the names of removed files of an earlier run."""
    for path in paths:
        note(f"removed: {path} (of an earlier run)")
