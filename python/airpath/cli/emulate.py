"""``airpath emulate``: kernel TCP, or any command, over a modelled link in real time."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from airpath.cli import options, output
from airpath.cli.live import watch
from airpath.cli.run import print_result
from airpath.errors import BadValueError, Interrupted
from airpath.files import not_left_empty, output_directory
from airpath.interrupts import interrupts_wait
from airpath.present.tables import Table
from airpath.present.terminal import print_table
from airpath.results import Result
from airpath.results.export import checked_formats
from airpath.results.overview import heading, tables
from airpath.results.save import Saving, check_places

__all__ = ["INVALID", "emulate"]

INVALID = 3
"""Exit status if all commands and runs succeeded, but the result is not valid."""

_OF_COMMANDS = ("Queues", "Links", "Validity")
"""Tables that are shown after a command."""


def emulate(
    scenario: Annotated[
        Path | None, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")
    ] = None,
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND ARG",
            help="Run it on the client's side. Default: the scenario's own flows.",
        ),
    ] = [],  # noqa: B006  (typer copies it)
    shell: Annotated[
        bool, typer.Option("--shell", help="An interactive shell instead of a command.")
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run it on the server's side; quoted as one word."),
    ] = None,
    set_: options.Set = [],  # noqa: B006
    reps: options.MaybeReps = None,
    seed: options.Seed = 1,
    out: options.Out = None,
    format_: options.Formats = None,
    json: options.Json = False,
    capture: Annotated[
        bool,
        typer.Option("--capture", help="Capture packets at both ends: pcapng files in --out."),
    ] = False,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="End the command then: 10s. Default: when it ends."),
    ] = None,
    host_network: Annotated[
        bool, typer.Option("--host-network", help="The server's side is the machine's own network.")
    ] = False,
    keep_privileges: Annotated[
        bool, typer.Option("--keep-privileges", help="Commands keep the privileges of who calls.")
    ] = False,
    live: Annotated[
        bool | None,
        typer.Option(
            "--live/--no-live", help="Show the state while it runs. Default: on a terminal."
        ),
    ] = None,
    plot: options.Plot = None,
    figure_format: options.FigureFormats = None,
    confidence: options.MaybeConfidence = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Print which requirements of emulation this machine meets; do not run."
        ),
    ] = False,
) -> int:
    """Put the kernel's TCP, or a command, on the link in real time."""
    if check:
        return _check(json)
    if scenario is None:
        raise BadValueError("airpath emulate: no scenario. Use its file, or --check.")
    words = _words(command, shell)
    formats = checked_formats("csv" if format_ is None else format_)
    others = {"format": format_ is not None, "capture": capture}
    kinds = output.figure_kinds(out, figure_format, plot, others=others)
    of_flows = {"plot": plot, "figure_format": figure_format, "live": live}
    _fit(words, json=json, reps=reps, confidence=confidence, **of_flows)
    of_command: dict[str, Any] = {"server": server, "duration": duration}
    of_command |= {"host_network": host_network, "keep_privileges": keep_privileges}
    _only_with_command(words, **of_command)
    from airpath import api

    chosen = api.load(scenario, output.load_options(set_))
    with not_left_empty(out):
        directory = _directory(out, chosen, formats)
        common: dict[str, Any] = {"seed": seed, "command": output.command_line()}
        common["capture_to"] = directory if capture else None
        if words:
            words = _with_prompt(words, chosen.name) if shell else words
            common |= {**of_command, "server": None if server is None else _split(server)}
            return _command(chosen, words, common, directory, formats)
        common |= {"reps": 1 if reps is None else reps}
        common |= {"confidence": 0.99 if confidence is None else confidence}
        kinds = [] if plot is False else kinds
        return _flows(chosen, common, directory, formats, kinds, json=json, live=live)


def _directory(out: str | None, scenario: Any, formats: Sequence[str]) -> Path | None:
    """Return the checked output directory; None if no files are written."""
    if out is None:
        return None
    directory = output_directory(out, "out")
    check_places(directory, scenario.record.series, formats)
    return directory


# --- the scenario's flows -------------------------------------------------------------------------


def _flows(
    scenario: Any,
    settings: dict[str, Any],
    directory: Path | None,
    formats: Sequence[str],
    figure_formats: Sequence[str],
    *,
    json: bool,
    live: bool | None,
) -> int:
    from airpath.emulation.api import emulate_with

    try:
        with watch(settings["reps"], live) as notify:
            result = emulate_with(scenario, listener=notify, **settings)
    except Interrupted as stopped:
        result = stopped.result
    if result.interrupted:
        done = f"{len(result.replications)} of {result.requested} replications"
        output.note(f"Interrupted: {done} have results, of the last one what there was.")
    for line in (*map(str, result.advisories), *result.kernel["problems"]):
        output.note(line)
    try:
        if directory is not None and result.replications:
            _save(result, directory, formats)
    finally:
        with interrupts_wait():
            if json:
                output.print_json(result.to_dict())
            else:
                print_result(result, output.console())
            sys.stdout.flush()
    if directory is not None and figure_formats and result.replications and not result.interrupted:
        output.written(result.plot.save(directory, figure_formats=figure_formats))
    if result.interrupted:
        return 130
    return 0 if result.valid else INVALID


def _save(result: Result, directory: Path, formats: Sequence[str]) -> None:
    saving = Saving(result, directory, formats)
    with interrupts_wait():
        output.written([*result.captures.values(), *saving.statistics()])
        output.removed(saving.removed)
        output.written(list(saving.recordings()))


# --- a command ------------------------------------------------------------------------------------


def _command(
    scenario: Any,
    words: Sequence[str],
    settings: dict[str, Any],
    directory: Path | None,
    formats: Sequence[str],
) -> int:
    from rich.console import Console
    from rich.markup import escape

    from airpath.emulation.api import run_command as run
    from airpath.present.terminal import WIDEST, print_table

    result = run(scenario, words, **settings)
    if _not_started(result, words):
        return int(result.ended["status"])  # The program has printed one line.
    # The command uses standard output.
    console = Console(stderr=True, width=None if sys.stderr.isatty() else WIDEST, highlight=False)
    if directory is not None:
        _save(result, directory, formats)
    console.print(f"[bold]{escape(result.title)}[/bold]")
    console.print(heading(result))
    for line in result.kernel["problems"]:
        if not _is_about_a_start(line):
            console.print(escape(line))
    for reason in result.invalid:
        console.print(f"[bold red]INVALID:[/bold red] {escape(reason)}")
    for table in tables(result, "--out"):
        if table.title in _OF_COMMANDS:
            print_table(table, console)
    return _status(result)


_NOT_STARTED = (126, 127)


def _is_about_a_start(line: str) -> bool:
    """Return whether the emulation program writes this line when a command cannot be started."""
    return not line.startswith(("the server's command ended", "the captures", "packets pass"))


def _not_started(result: Result, words: Sequence[str]) -> bool:
    """Return whether the client's command could not be started."""
    has_failed = any(line.startswith(f"{words[0]}: ") for line in result.kernel["problems"])
    return has_failed and result.ended["status"] in _NOT_STARTED


def _status(result: Result) -> int:
    """Return the command's exit status, unless the time limit ended the command."""
    status = result.ended["status"]
    if result.ended["reason"] == "signal":
        return int(status or 128 + (result.ended["signal"] or 2))
    if status and result.ended["reason"] != "duration":
        return int(status)
    return 0 if result.valid else INVALID


def _words(command: Sequence[str], shell: bool) -> list[str]:
    if not shell:
        return list(command)
    if command:
        raise BadValueError("--shell: conflicts with a command. Use one of them.")
    return [os.environ.get("SHELL") or "/bin/sh", "-i"]


def _with_prompt(words: Sequence[str], name: str) -> list[str]:
    """Return the command that starts a shell whose prompt begins with the name of a scenario."""
    # Shells expand special characters in a prompt.
    mark = f"[airpath: {re.sub(r'[^A-Za-z0-9 ,.:+-]', '_', name)}] "
    shell, interactive = words
    if Path(shell).name != "bash":
        return ["env", f"PS1={mark}$ ", shell, interactive]
    start = f'[ -f ~/.bashrc ] && . ~/.bashrc; PS1={shlex.quote(mark)}"$PS1"'
    call = f'exec "$0" --rcfile <(printf "%s\\n" "$1") {interactive}'
    return [shell, "-c", call, shell, start]


def _split(server: str) -> list[str]:
    try:
        words = shlex.split(server)
    except ValueError as error:
        raise BadValueError(f"--server: {error}. Quote it as in a shell.") from None
    if not words:
        raise BadValueError("--server: no command. Use one, for example --server 'iperf3 -s'.")
    return words


def _fit(words: Sequence[str], *, json: bool, **given: object) -> None:
    """Reject options that do not apply to a command."""
    lines = [
        f"--{name.replace('_', '-')}: has no effect on a command, which runs once. Remove it."
        for name, value in given.items()
        if value is not None
    ]
    if json:
        accepted = "Use --out DIR, where result.json has it"
        lines.append(f"--json: standard output is the command's. {accepted}.")
    if words and lines:
        raise BadValueError("\n".join(lines))


def _only_with_command(words: Sequence[str], **given: object) -> None:
    lines = [
        f"--{name.replace('_', '-')}: needs a command. Use -- COMMAND, or --shell."
        for name, value in given.items()
        if value not in (None, False)
    ]
    if lines and not words:
        raise BadValueError("\n".join(lines))


# --- requirements of emulation --------------------------------------------------------------------


def _check(json: bool) -> int:
    from airpath.emulation.api import check

    found = check()
    if json:
        output.print_json(found)
    else:
        rows = [
            [
                str(line.get("name", "")),
                str(line.get("found", "")),
                "yes" if line.get("ok") else "no",
                str(line.get("fix") or ""),
            ]
            for line in found.get("checks", ())
        ]
        columns = ["what", "found", "ok", "fix"]
        print_table(Table("Emulation", columns, rows), output.console())
    return 0 if found.get("ok", True) else 1
