"""Counted error rates over the SNR: figures with a curve for each MCS, rows and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Row, Table
from airpath.reproduction.tolerance import marked
from airpath_papers.qawla.error_rates import Channel, ErrorRates, PrintedRate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "LOWEST",
    "counted_rows",
    "counted_table",
    "draw_curves",
    "printed_row",
    "printed_table",
    "small",
]

COLOURS: Final = ("black", "blue", "sky", "green", "orange", "red", "purple", "grey")
MARKERS: Final = "osD<>PXp"
"""Without the triangles up and down, which mean something of their own in all figures."""

LOWEST: Final = 1e-6
"""Of the drawn error rates."""

NOTHING_THROUGH: Final = 0.999


def draw_curves(
    figure: Figure,
    channel: Channel,
    rates: ErrorRates,
    names: Mapping[int, str],
    printed: Sequence[PrintedRate] = (),
    source: str = "paper",
) -> None:
    """Draw the packet error rate of each MCS with its intervals, and the paper's as circles.

    Parameters
    ----------
    figure : Figure
        Empty.
    channel : Channel
        Its SNRs are the horizontal axis.
    rates : ErrorRates
        What was counted. A ▼ is a point without an error, at its interval's upper end.
    names : mapping of int to str
        What the legend says of each MCS, at most eight.
    printed : sequence of PrintedRate
        Open circles, each in the colour of its MCS; those of 0 are left out. Default: none.
    source : str
        What the legend calls the circles.
    """
    panel = figure.subplots()
    for mcs, colour, marker in zip(names, COLOURS, MARKERS, strict=False):
        counts = rates.counts(mcs)
        # Of the points where nothing gets through, the last.
        begin = sum(count.per > NOTHING_THROUGH for count in counts)
        seen = [count for count in counts[max(begin - 1, 0) :] if count.errors]
        colour = plotting.COLOURS[colour]
        below = [count.per - count.low for count in seen]
        above = [count.high - count.per for count in seen]
        panel.errorbar(
            [count.snr_db for count in seen],
            [count.per for count in seen],
            yerr=[below, above],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.3,
            elinewidth=0.9,
            label=names[mcs],
        )
        for count in counts:
            if not count.errors and count.high > LOWEST:
                panel.plot([count.snr_db], [count.high], "v", color=colour, markersize=5)
    colours = dict(zip(names, COLOURS, strict=False))
    for rate in printed:
        if rate.published:
            colour = plotting.COLOURS[colours[rate.mcs]]
            look: dict[str, Any] = {"color": colour, "markersize": 9, "fillstyle": "none"}
            panel.plot([rate.snr_db], [rate.published], "o", gid="published", **look)
    panel.set_yscale("log")
    panel.set_ylim(LOWEST, 1.3)
    panel.set_xlim(channel.grid_db[0], channel.grid_db[1])
    panel.set(xlabel="mean SNR, dB", ylabel="packet error rate (PER)")
    handles, labels = panel.get_legend_handles_labels()
    if printed:
        look = {"color": plotting.COLOURS["black"], "markersize": 9, "fillstyle": "none"}
        handles += panel.plot([], [], "o", **look)
        labels.append(source)
    figure.legend(handles, labels, loc="outside lower center", ncols=4)


# --- rows and tables ---------------------------------------------------------------------------


def small(probability: float) -> str:
    """Return a probability with three digits: ``7.19e-4``; 0 as it is."""
    digits, _, exponent = f"{probability:.2e}".partition("e")
    return f"{digits}e{int(exponent)}" if probability else "0"


def counted_rows(channel: Channel, rates: ErrorRates, mcss: Sequence[int]) -> list[Row]:
    """Return what was counted of some MCSs, a row for each point."""
    return [
        Row(
            {"channel": channel.key, "mcs": mcs, "snr_db": count.snr_db},
            "per",
            "1",
            None,
            count.per,
            low=count.low,
            high=count.high,
            extra={"errors": count.errors, "blocks": count.blocks},
        )
        for mcs in mcss
        for count in rates.counts(mcs)
    ]


def counted_table(
    title: str, channel: Channel, rates: ErrorRates, mcss: Sequence[int], notes: Sequence[str]
) -> Table:
    """Return the packet error rates of some MCSs, a line for each SNR."""
    lines = []
    for snr_db in channel.grid():
        entries = [rates.count(mcs, snr_db) for mcs in mcss]
        pers = ("" if count is None else small(count.per) for count in entries)
        lines.append([f"{snr_db:g}", *pers])
    columns = [("SNR", "dB"), *(("", f"mcs{mcs}") for mcs in mcss)]
    return Table(title, columns, lines, notes)


def printed_row(found: PrintedRate, place: Mapping[str, int | float | str], channel: str) -> Row:
    """Return a printed rate beside ours as the row that `place` names."""
    count = found.count
    extra = {
        "channel": channel,
        "published_errors": found.published_errors,
        "errors": count.errors,
        "blocks": count.blocks,
        "p_value": found.p_value,
    }
    about = (place, "per", "1", found.published, count.per, None, count.low, count.high)
    return Row(*about, tolerance=found.tolerance, extra=extra)


def printed_table(title: str, rates: Sequence[PrintedRate], notes: Sequence[str]) -> Table:
    """Return printed rates beside ours, with what both were counted from."""
    lines = []
    for found in rates:
        difference = ""
        if found.published:
            percents = 100 * (found.ours - found.published) / found.published
            difference = marked(f"{percents:+.1f}", found.within)
        pers = (small(found.published), small(found.ours), difference)
        errors = (str(found.published_errors), str(found.count.errors))
        p_value = "" if found.p_value is None else f"{found.p_value:.3f}"
        within = "yes" if found.within else "NO"
        place = (str(found.snr_db), f"mcs{found.mcs}")
        lines.append([*place, *pers, *errors, f"{found.count.blocks:.3g}", p_value, within])
    columns = [("SNR", "dB"), ("", "MCS"), *(("PER", name) for name in ("paper", "ours", "diff %"))]
    columns += [("errors", "paper"), ("errors", "ours"), ("of", "blocks"), ("", "p")]
    return Table(title, [*columns, ("", "within")], lines, notes)
