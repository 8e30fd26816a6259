"""``airpath phy ser``: symbol error rates over flat fading."""

from __future__ import annotations

import json as json_text
from typing import Annotated, Any, cast

import numpy as np
import typer

from airpath.arguments import problem_line
from airpath.cli import completion, options, output
from airpath.errors import BadValueError
from airpath.files import not_left_empty, output_directory, output_file, write_file
from airpath.phy.measure import table_file
from airpath.phy.settings import SNR_EXAMPLE, snrs_db_of
from airpath.phy.symbol_errors import symbol_error_rate
from airpath.present.figure_files import save
from airpath.present.tables import Table
from airpath.present.terminal import print_table
from airpath.results.provenance import build

__all__ = ["ser"]

_FILE_NAME = "ser.json"
_LARGEST_DB = 200.0


def ser(
    snr: Annotated[
        str,
        typer.Option(metavar="DB", help="Mean SNR of a receiving antenna, dB: 0:30:2 or 10,12.5."),
    ],
    modulation: Annotated[
        str,
        typer.Option(
            help="Modulation: bpsk, qpsk, 8psk, …, 64qam.", autocompletion=completion.modulations
        ),
    ] = "bpsk",
    tx: Annotated[int, typer.Option(help="Transmitting antennas, 1 or 2.")] = 1,
    rx: Annotated[int, typer.Option(help="Receiving antennas, 1 to 8.")] = 1,
    fading: Annotated[
        str,
        typer.Option(
            help="Fading: rayleigh, rician or nakagami.",
            autocompletion=completion.amplitude_fadings,
        ),
    ] = "rayleigh",
    k_factor_db: Annotated[
        float | None, typer.Option(metavar="DB", help="K of rician fading, dB.")
    ] = None,
    m: Annotated[float | None, typer.Option(help="Shape m of nakagami fading.")] = None,
    method: Annotated[
        str,
        typer.Option(
            help="Method: exact, closed-form or integral.", autocompletion=completion.ser_methods
        ),
    ] = "exact",
    out: options.OutFile = None,
    figure_format: options.FigureFormats = None,
    json: options.Json = False,
) -> int:
    """Calculate symbol error rates over flat fading with several antennas."""
    settings: dict[str, Any] = {"modulation": modulation, "tx": tx, "rx": rx, "fading": fading}
    settings |= {"k_factor_db": k_factor_db, "m": m, "method": method}
    snrs_db, rates = _calculated(snr, settings)
    file = "a file. Use --out FILE.json"
    kinds = output.figure_kinds(out, figure_format, needs=file)
    points = [{"snr_db": snr_db, "ser": rate} for snr_db, rate in zip(snrs_db, rates, strict=True)]
    given = {key: value for key, value in settings.items() if value is not None}
    about = {**build(), "command": output.command_line()}
    document = {"provenance": about, "settings": given, "points": points}
    if out is not None:
        _write(document, out, kinds)
    if json:
        output.print_json(document)
        return 0
    heading = output.console()
    heading.print(f"[bold]Symbol error rates: {title(given)}[/bold]")
    rows = [[f"{point['snr_db']:g} dB", f"{point['ser']:.4e}"] for point in points]
    print_table(Table(f"{len(rows)} points", ["SNR", "error rate"], rows), heading)
    return 0


def title(settings: dict[str, Any]) -> str:
    """Return the title of a document."""
    fading = settings["fading"]
    if "k_factor_db" in settings:
        fading += f", K {settings['k_factor_db']:g} dB"
    if "m" in settings:
        fading += f", m {settings['m']:g}"
    antennas = f"{settings['tx']}×{settings['rx']} antennas"
    by = "" if settings["method"] == "exact" else f", {settings['method']}"
    return f"{settings['modulation']}, {antennas}, {fading}{by}"


def _calculated(snr: str, settings: dict[str, Any]) -> tuple[tuple[float, ...], list[float]]:
    """Return SNRs and error rates; one exception reports all problems."""
    problems: list[str] = []
    snrs_db: tuple[float, ...] = (0.0,)
    try:
        found = snrs_db_of("snr_db", snr)
        if min(found) < -_LARGEST_DB or max(found) > _LARGEST_DB:
            accepted = f"Use dB from {-_LARGEST_DB:g} to {_LARGEST_DB:g}"
            raise BadValueError(problem_line("snr_db", snr, "out of range", accepted, SNR_EXAMPLE))
        snrs_db = found
    except BadValueError as error:
        problems.append(str(error))
    try:
        rates = cast(Any, symbol_error_rate)(np.array(snrs_db), **settings)
    except BadValueError as error:
        problems.append(str(error))
    if problems:
        raise BadValueError("\n".join(problems))
    return snrs_db, [float(rate) for rate in rates]


def _write(document: dict[str, Any], out: str, kinds: list[str]) -> None:
    file = table_file(out, _FILE_NAME)
    with not_left_empty(file.parent):
        output_directory(file.parent, "out")
        output_file(file)
        from airpath.phy.figure import ser_figure

        write_file(file, (json_text.dumps(document, indent=1) + "\n").encode())
        output.written([file])
        figure = ser_figure(document, title(document["settings"]))
        source = output.command_line()
        output.written(save(figure, file.parent, file.stem, file.name, source, kinds))
