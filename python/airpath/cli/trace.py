"""``airpath trace``: inspect, convert and generate traces."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from airpath import _airpath
from airpath.cli import options, output
from airpath.cli.examples import epilog
from airpath.errors import BadValueError
from airpath.files import output_file, write_file, write_files
from airpath.scenario.traces import PREFIX, not_found, trace_path
from airpath.scenario.units import Duration
from airpath.trace import Format, Trace, TraceInfo, format_of

__all__ = ["app"]

app = typer.Typer(
    help="Look at, convert and generate traces.", add_completion=False, rich_markup_mode=None
)

TraceFile = Annotated[str, typer.Argument(metavar="FILE", help="A path, or traces:NAME.")]


@app.command("info", epilog=epilog("trace info"))
def info(
    file: TraceFile,
    json: options.Json = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the rate over time.")
    ] = None,
) -> int:
    """Validate a trace and describe it: length, rates, outages."""
    trace = _load(file)
    if plot is not None:
        output_file(plot)
        kind = _figure_format(plot)
    found = trace.info()
    if json:
        about = {"version": _airpath.version(), "commit": _airpath.commit()}
        command = {"command": output.command_line()}
        output.print_json({"provenance": about | command, "file": file, **found.to_dict()})
    else:
        _print_info(file, found)
    if plot is not None:
        from airpath.present.figure_files import figure_bytes
        from airpath.results.trace_plot import trace_figure

        write_file(plot, figure_bytes(trace_figure(trace), kind, file, output.command_line()))
        output.written([plot])
    return 0


@app.command("convert", epilog=epilog("trace convert"))
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A path, or traces:NAME.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    bin_width: Annotated[
        str,
        typer.Option("--bin-width", help="Average the opportunities over this time, for a CSV."),
    ] = "10 ms",
    to: Annotated[
        str | None,
        typer.Option(metavar="mahimahi|csv", help="Format of OUT. Default: by its name."),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="mahimahi|csv|iperf3", help="Format of IN. Default: by its name."
        ),
    ] = None,
) -> int:
    """Convert between Mahimahi's format and CSV.

    A CSV has the columns time_s,rate_bps, and a name that ends in .csv. Of iperf3 it is what
    iperf3 --json prints, the rate in each of its intervals.
    """
    form = _format(to, target)
    _is_another(target, source)
    length = _bin_length(bin_width)
    trace = _load(source, from_)
    output_file(target)
    command = output.command_line()
    made_by = f"airpath {_airpath.version()} ({_airpath.commit()})\ncommand: {command}"
    text = trace.to_csv(length, made_by) if form == "csv" else trace.to_mahimahi()
    write_file(target, text.encode("utf-8", "backslashreplace"))
    output.written([target])
    return 0


@app.command("generate", epilog=epilog("trace generate"))
def generate(
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    duration: Annotated[str, typer.Option(help="Length of the trace.")] = "60 s",
    mean_snr: Annotated[str, typer.Option(help="Mean signal-to-noise ratio.")] = "15 dB",
    bandwidth: Annotated[str, typer.Option(help="W in W log2(1 + SNR).")] = "10 MHz",
    cap: Annotated[str, typer.Option(help="Highest rate.")] = "50 Mbit/s",
    speed: Annotated[str, typer.Option(help="Speed of the receiver.")] = "3 km/h",
    carrier: Annotated[str, typer.Option(help="Carrier frequency.")] = "2 GHz",
    seed: Annotated[
        int, typer.Option(help="Seed; equal seeds and settings give equal traces.")
    ] = 1,
    bin_width: Annotated[
        str, typer.Option("--bin-width", help="Average the rate over this time, for a CSV.")
    ] = "1 ms",
) -> int:
    """Make the trace of a Rayleigh-faded link.

    Its rate is min(cap, W log2(1 + SNR |h|^2)).
    """
    form = _format(None, target)
    length = _bin_length(bin_width)
    trace = Trace.generate(
        duration,
        mean_snr=mean_snr,
        bandwidth=bandwidth,
        cap=cap,
        speed=speed,
        carrier=carrier,
        seed=seed,
        name=str(target),
    )
    output_file(target)
    # Mahimahi's format has no comments.
    beside = target.with_name(f"{target.name}.provenance.txt")
    is_csv = form == "csv"
    if not is_csv:
        output_file(beside)
    command = output.command_line()
    made_by = (
        f"airpath {_airpath.version()} ({_airpath.commit()})\ncommand: {command}\nseed: {seed}\n"
        f"settings: duration {duration}, mean SNR {mean_snr}, bandwidth {bandwidth}, cap {cap}, "
        f"speed {speed}, carrier {carrier}"
    )
    if is_csv:
        text = trace.to_csv(length, made_by)
        write_file(target, text.encode("utf-8", "backslashreplace"))
        output.written([target])
        return 0
    note = f"{made_by}\n".encode("utf-8", "backslashreplace")
    write_files({target: trace.to_mahimahi().encode(), beside: note})
    output.written([target, beside])
    return 0


# --- parsing of arguments ----------------------------------------------------------------------


def _quantity(kind: Any, option: str, text: str) -> Any:
    try:
        return kind.parse(text)
    except BadValueError as error:
        raise BadValueError(f"{option}: {error}") from None


def _bin_length(text: str) -> Duration:
    length: Duration = _quantity(Duration, "--bin-width", text)
    if length == 0:
        raise BadValueError(f'--bin-width: "{text}": not above 0. Use a duration above 0.')
    return length


def _format(named: str | None, target: Path) -> Format:
    if named is None:
        ending = target.suffix.lower()
        if ending not in _ENDINGS:
            raise BadValueError(
                f'OUT = "{target}": "{ending}" is not the ending of a trace. Expected one of: '
                f"{', '.join(filter(None, _ENDINGS))} or none; or name the format, for example "
                "--to mahimahi."
            )
        return format_of(str(target))
    if named == "mahimahi":
        return "mahimahi"
    if named == "csv":
        return "csv"
    raise BadValueError(f'--to: "{named}": not a format. Expected one of: mahimahi, csv.')


_ENDINGS = ("", ".csv", ".trace", ".up", ".down")
"""File name suffixes of traces. All suffixes except CSV are of Mahimahi's format."""


def _is_another(target: Path, source: str) -> None:
    """Check that the output file is not the input file."""
    is_same = False
    with suppress(OSError, ValueError):
        is_same = target.samefile(trace_path(source, None))
    if is_same:
        raise BadValueError(f'OUT = "{target}": is the file that is read. Use another name.')


def _load(file: str, form: Any = None) -> Trace:
    path = trace_path(file, None)
    if file.startswith(PREFIX) and not path.is_file():
        what, accepted = not_found(file, path)
        raise BadValueError(f"{file}: {what}. {accepted}.")
    return Trace(Trace.load(path, form).compiled, file)


def _figure_format(plot: Path) -> str:
    from airpath.present.figure_files import format_of

    try:
        return format_of(plot)
    except BadValueError as error:
        raise BadValueError(f"--plot: {error}") from None


def _print_info(file: str, found: TraceInfo) -> None:
    print(f"{file}: {found.kind}, {found.duration_s:g} s")
    if found.opportunities is not None:
        print(f"  opportunities   {found.opportunities} of 1504 bytes")
    print(f"  mean rate       {_mbps(found.mean_bps)}")
    for percent, rate in found.percentiles_bps.items():
        print(f"  {percent:>2} % of 100 ms  {_mbps(rate)}")
    start = found.longest_outage_start_s
    print(f"  longest outage  {found.longest_outage_s:g} s, from {start:g} s on")
    print(f"  empty           {100 * found.zero_bins_fraction:.2f} % of all 100 ms")


def _mbps(rate: float) -> str:
    return f"{rate / 1e6:.3f} Mbit/s"
