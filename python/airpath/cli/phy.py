"""``airpath phy``: error rates of the physical layer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from airpath.cli import completion, options, output
from airpath.cli.examples import epilog
from airpath.cli.symbol_errors import ser
from airpath.errors import BadValueError
from airpath.interrupts import interrupts_wait
from airpath.phy.measure import measure_with, table_file
from airpath.phy.settings import MeasurementSettings
from airpath.phy.tables import CONFIDENCE, PerTable, rates
from airpath.present.figure_files import save
from airpath.present.progress import terminal_bar
from airpath.present.tables import Table
from airpath.present.terminal import print_table
from airpath.results.provenance import build
from airpath.scenario.units import Size

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["app"]

app = typer.Typer(
    help="Error rates of the physical layer: measured, and by formula.",
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Error rates of the physical layer: measured, and by formula."""


app.command("ser", epilog=epilog("phy ser"))(ser)


@app.command("per", epilog=epilog("phy per"))
def per(
    channel: Annotated[
        str,
        typer.Option(
            help="Fading channel; airpath list fading has the names.",
            autocompletion=completion.channels,
        ),
    ],
    snr: Annotated[str, typer.Option(metavar="DB", help="Mean Es/N0, dB: 14:40:2 or 10,12.5.")],
    mcs: Annotated[
        str,
        typer.Option(
            help="Schemes by number, name or label; airpath list mcs has them.",
            autocompletion=completion.schemes,
        ),
    ] = "all",
    mapping: Annotated[
        str,
        typer.Option(help="Mapping of symbols to subcarriers.", autocompletion=completion.mappings),
    ] = "random",
    errors: Annotated[str, typer.Option(help="End a point with as many blocks in error,")] = (
        "400"
    ),
    blocks: Annotated[str, typer.Option(help="or after as many blocks.")] = "1e7",
    iterations: Annotated[int, typer.Option(help="Most iterations of the decoder.")] = 10,
    algorithm: Annotated[
        str,
        typer.Option(help="Decoder: max-log or linear-log.", autocompletion=completion.algorithms),
    ] = "max-log",
    demapper: Annotated[
        str,
        typer.Option(help="Demapper: max-log or linear-log.", autocompletion=completion.demappers),
    ] = "max-log",
    skip_rule: Annotated[
        bool,
        typer.Option(
            "--skip-rule", help="Do not decode blocks whose channel has capacity to spare."
        ),
    ] = False,
    stop_at_zero_errors: Annotated[
        bool,
        typer.Option(
            "--stop-at-zero-errors", help="A curve ends with the first point without an error."
        ),
    ] = False,
    packet: Annotated[str, typer.Option(help="Size of the packet of the PER.")] = "1500 B",
    seed: options.Seed = 1,
    threads: options.Threads = None,
    out: options.OutFile = None,
    figure_format: options.FigureFormats = None,
    json: options.Json = False,
) -> int:
    """Measure error rates by coding and decoding.

    With --out, finished points are kept.
    """
    given: dict[str, Any] = {}
    given |= {"channel": channel, "snr_db": snr, "mcs": mcs, "mapping": mapping, "errors": errors}
    given |= {"blocks": blocks, "iterations": iterations, "algorithm": algorithm, "seed": seed}
    given |= {
        "demapper": demapper,
        "skip_rule": skip_rule,
        "stop_at_zero_errors": stop_at_zero_errors,
    }
    settings = MeasurementSettings.checked(given)
    size = _packet(packet)
    file = "a file. Use --out FILE.json"
    kinds = output.figure_kinds(out, figure_format, needs=file)
    return _measured(settings, size, threads, out, kinds, json=json)


def _measured(
    settings: MeasurementSettings,
    size: Size,
    threads: int | None,
    out: str | None,
    kinds: Sequence[str],
    *,
    json: bool,
) -> int:
    """Measure, print the table and write the figure; return the exit status."""
    with terminal_bar() as notify:
        table = measure_with(settings, threads=threads, out=out, progress=notify, note=output.note)
    if table.interrupted:
        output.note(f"Interrupted: {table.count} of {settings.count} points were finished.")
    try:
        try:
            with interrupts_wait():
                if json:
                    output.print_json(_document(table, size))
                else:
                    _print(table, size, output.console())
                sys.stdout.flush()
        finally:
            if out is not None and table.count:
                _write_figure(table, size, out, kinds)
    except KeyboardInterrupt:
        if not table.interrupted:
            output.note(f"Interrupted: all {table.count} points were finished.")
        return 130
    return 130 if table.interrupted else 0


def _packet(text: str) -> Size:
    try:
        size = Size.parse(text)
    except BadValueError as error:
        raise BadValueError(f"--packet: {error}") from None
    if size < 1:
        raise BadValueError(f'--packet = "{text}": empty. Use a size from 1 B on.')
    return size


def _write_figure(table: PerTable, packet: Size, out: str, kinds: Sequence[str]) -> None:
    file = table_file(out)
    output.written([file])
    if table.interrupted:
        return
    try:
        from airpath.phy.figure import per_figure

        figure, source = per_figure(table, packet), output.command_line()
        output.written(save(figure, file.parent, file.stem, file.name, source, kinds))
    except KeyboardInterrupt:
        output.note("No figure was drawn; the same command draws it.")
        raise


# --- printing ----------------------------------------------------------------------------------


def _document(table: PerTable, packet: Size) -> dict[str, Any]:
    """Return the JSON document: the content of the table's file, and the rates of every point."""
    file = table.document
    about = {**build(), "command": output.command_line(), "seed": file["provenance"]["seed"]}
    return {
        **file,
        "provenance": about,
        "packet_bytes": int(packet),
        "confidence": CONFIDENCE,
        "curves": [
            {
                "mcs": curve["mcs"],
                "points": [
                    {**point, **_intervals(curve["mcs"], point, packet)}
                    for point in curve["points"]
                ],
            }
            for curve in file["curves"]
        ],
    }


def _intervals(mcs: dict[str, Any], point: dict[str, Any], packet: Size) -> dict[str, Any]:
    return {
        name: {"mean": mean, "low": low, "high": high}
        for name, (mean, low, high) in rates(mcs, point, packet).items()
    }


def _print(table: PerTable, packet: Size, out: Console) -> None:
    settings = table.document["settings"]
    out.print(f"[bold]Error rates on {escape(table.channel)}[/bold]")
    skipping = "; blocks with capacity to spare skipped" if settings.get("skip_rule") else ""
    out.print(
        f"{settings['errors']} errors or {settings['blocks']} blocks a point; "
        f"{settings['algorithm']}, {settings['iterations']} iterations{skipping}; seed "
        f"{table.document['provenance']['seed']}; intervals of {100 * CONFIDENCE:g} %"
    )
    if not table.complete:
        out.print("[bold red]Incomplete:[/bold red] points are missing.")
    columns = ["SNR", "errors", "blocks", "FER", "from", "to", "PER", "from", "to", "iterations"]
    for curve in table.document["curves"]:
        mcs = curve["mcs"]
        rows = []
        for point in curve["points"]:
            found = rates(mcs, point, packet)
            rows.append(
                [
                    f"{point['snr_db']:g} dB",
                    str(point["errors"]),
                    str(point["blocks"]),
                    *(f"{rate:.2e}" for rate in (*found["fer"], *found["per"])),
                    f"{point['iterations'] / point['blocks']:.2f}",
                ]
            )
        sizes = f"blocks of {mcs['block_bytes']} bytes, packets of {int(packet)} bytes"
        title = f"{mcs['name']}, {mcs['label']}: {sizes}"
        print_table(Table(title, columns, rows), out)
