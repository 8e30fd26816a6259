"""Goodput of every discipline over every link with a common rate, with every congestion control.

    python matrix.py [--reps 4] [--seconds 60] [--page] [--others]

With `--page` the tables of `docs/explanation/equal-rates.md` are rewritten: complete tables for
five congestion controls, and a line for each of the others. `--others` keeps the complete tables.
Controls, disciplines and links are those of the registries. A new control or discipline is included
with its defaults. A new link is included with its defaults and the common `rate`, or with its
configuration in `LINKS`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import airpath as ap
from airpath import _airpath
from airpath.scenario.aqm.queues import QueueDisc

RATE = "5.376 Mbit/s"
"""Rate of IP packets of 1500 bytes: the rate of the slowest 802.16 MCS, which the other links can
match exactly."""
BASE_RTT = "60 ms"
FLOWS = 4
REPS, SECONDS = 4, 60.0
TABLES = "## Tables\n"
OTHER_TABLE = "### Other controls\n"
PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "equal-rates.md"
REGISTRY: dict[str, list[tuple[str, str]]] = json.loads(_airpath.registry())
OF_A_RATE = [link for link, _ in REGISTRY["link"] if link not in ("cell", "ofdma-tdd")]
"""Links that can have the common rate. The rate of a cell depends on its scheduler and channels. In
the frames of a TDD link the rate is that of slots, which also carry headers and fragments."""
MUST_HAVE = {"clamp": {"a": "5500 B"}, "vcp": {"capacity": RATE}}
"""Required parameters without defaults, and parameters that would otherwise follow a nominal rate.
The nominal rate of an adaptive link is that of its fastest MCS."""

CONTROLS: dict[str, dict[str, Any]] = {
    "reno": {"cc": "reno", "profile": "rfc"},
    "newreno": {"cc": "newreno", "profile": "rfc"},
    "cubic": {"cc": "cubic", "profile": "linux"},
    "dctcp": {"cc": "dctcp", "profile": "rfc"},
    "prr": {"cc": "newreno", "profile": "rfc", "tcp": {"recovery": "prr"}},
}
"""Five congestion controls with complete tables; the last one is that of RFC 5681 with SACK and
PRR."""
OF_A_QUEUE = ("clamp", "vcp")
"""Controls that require a queue of the same kind."""
OTHERS: dict[str, dict[str, Any]] = {
    kind: {"cc": kind, "profile": "linux"}
    for kind, _ in REGISTRY["congestion"]
    if kind not in CONTROLS
}
"""All other congestion controls of the registry."""


def trace(directory: Path) -> Path:
    """Write 56 opportunities in 125 ms, as evenly as integer milliseconds allow: 5.376 Mbit/s."""
    file = directory / "even.trace"
    file.write_text("".join(f"{number * 125 // 56}\n" for number in range(1, 57)))
    return file


def rates(directory: Path) -> Path:
    file = directory / "constant.csv"
    file.write_text("time_s,rate_bps\n0,5376000\n10,5376000\n")
    return file


LINKS: dict[str, Callable[[Path], ap.link.Link]] = {
    "fixed": lambda _: ap.link.Fixed(rate=RATE),
    "multi-regime": lambda _: ap.link.MultiRegime(thresholds=[10], regimes=[{"rate": RATE}] * 2),
    "adaptive": lambda _: ap.link.Adaptive(
        table="airpath:802.16-ctc-awgn", snr_db=20, policy={"kind": "fixed", "mcs": "mcs0"}
    ),
    # No losses at this SNR.
    "mimo": lambda _: ap.link.Mimo(rate=RATE, tx=2, rx=2, snr_db=100),
    "trace": lambda directory: ap.link.Trace(file=str(trace(directory)), frame_overhead="4 B"),
    "rate-trace": lambda directory: ap.link.RateTrace(file=str(rates(directory))),
    # Eight PDUs in each TTI of 2 ms: a packet stays in the sender's buffer for at least 12 ms.
    "rlc-am": lambda _: ap.link.RlcAm(
        rate=RATE,
        tti="2 ms",
        delay="5 ms",
        pdu_payload="168 B",
        window=2047,
        poll_timer="10 ms",
        status_prohibit="5 ms",
    ),
}


class Cell(NamedTuple):
    """One congestion control through one discipline over one link."""

    control: str
    aqm: str
    link: str
    goodput: float
    """Goodput (payload) of all flows, Mbit/s, mean over the replications."""
    least_flow: float
    """Smallest goodput of a flow in any replication, Mbit/s."""


def link_of(kind: str, directory: Path) -> ap.link.Link | dict[str, Any]:
    """Return the link of kind `kind` with the common rate."""
    known = LINKS.get(kind)
    return {"kind": kind, "rate": RATE} if known is None else known(directory)


def discipline(kind: str, control: str) -> dict[str, Any]:
    """Return the discipline with its defaults; for DCTCP and Prague, it marks packets if it
    supports marking.
    """
    may_mark = control in ("dctcp", "prague") and "ecn" in QueueDisc.registry[kind].model_fields
    return {"kind": kind, **({"ecn": True} if may_mark else {}), **MUST_HAVE.get(kind, {})}


def scenario(control: str, aqm: str, link: str, directory: Path, seconds: float) -> ap.Scenario:
    return ap.Scenario(
        flows=ap.flows(
            FLOWS,
            **(CONTROLS | OTHERS)[control],
            base_rtt=BASE_RTT,
            start={"uniform": ["0 s", "1 s"]},
        ),
        bottleneck=ap.Bottleneck(aqm=discipline(aqm, control), link=link_of(link, directory)),
        duration=f"{seconds} s",
        warmup="10 s",
    )


def measure(
    control: str, aqm: str, link: str, *, reps: int = REPS, seconds: float = SECONDS
) -> Cell:
    """Simulate one combination with seed 1."""
    with tempfile.TemporaryDirectory() as directory:
        made = scenario(control, aqm, link, Path(directory), seconds)
        flows = ap.simulate(made, reps=reps, seed=1).table("flows")
    goodputs = flows["goodput_bps"] / 1e6
    totals = goodputs.groupby(flows["replication"]).sum()
    return Cell(control, aqm, link, float(totals.mean()), float(goodputs.min()))


def disciplines(control: str) -> list[str]:
    """Return the disciplines with which the control can be used."""
    return [aqm for aqm, _ in REGISTRY["aqm"] if control not in OF_A_QUEUE or aqm == control]


def row(control: str, aqm: str, **settings: Any) -> list[Cell]:
    """Return the results of one discipline over every link."""
    return [measure(control, aqm, link, **settings) for link in OF_A_RATE]


def spread(cells: list[Cell]) -> float:
    """Return the relative difference between the largest and the smallest goodput."""
    goodputs = [cell.goodput for cell in cells]
    return max(goodputs) / min(goodputs) - 1


def table(control: str, rows: Iterable[list[Cell]]) -> Iterator[str]:
    """Yield the lines of a Markdown table, goodputs in Mbit/s."""
    yield f"### {control}"
    links = OF_A_RATE
    yield f"| discipline | {' | '.join(links)} | spread | slowest flow |"
    yield "| --- " * (len(links) + 3) + "|"
    for cells in rows:
        goodputs = " | ".join(f"{cell.goodput:.2f}" for cell in cells)
        least = min(cell.least_flow for cell in cells)
        yield f"| {cells[0].aqm} | {goodputs} | {100 * spread(cells):.1f} % | {least:.2f} |"
    yield ""


def summary(rows: dict[str, list[list[Cell]]]) -> Iterator[str]:
    """Yield the lines of a Markdown table with a line per control, goodputs in Mbit/s."""
    yield OTHER_TABLE.rstrip()
    yield (
        "| control | mean | smallest goodput | through, over | largest spread | through "
        "| slowest flow |"
    )
    yield "| --- " * 7 + "|"
    for control, found in rows.items():
        cells = [cell for each in found for cell in each]
        mean = sum(cell.goodput for cell in cells) / len(cells)
        low = min(cells, key=lambda cell: cell.goodput)
        wide = max(found, key=spread)
        least = min(cell.least_flow for cell in cells)
        yield (
            f"| {control} | {mean:.2f} | {low.goodput:.2f} | {low.aqm}, {low.link} "
            f"| {100 * spread(wide):.0f} % | {wide[0].aqm} | {least:.2f} |"
        )
    yield ""


def complete_tables(**settings: Any) -> list[str]:
    """Simulate and return the complete tables of five controls."""
    lines: list[str] = []
    for control in CONTROLS:
        made = list(table(control, [row(control, aqm, **settings) for aqm, _ in REGISTRY["aqm"]]))
        print("\n".join(made), flush=True)
        lines += made
    return lines


def summary_table(**settings: Any) -> list[str]:
    """Simulate the other controls and return the table with a line for each."""
    rows: dict[str, list[list[Cell]]] = {}
    for control in OTHERS:
        rows[control] = [row(control, aqm, **settings) for aqm in disciplines(control)]
        print(control, flush=True)
    lines = list(summary(rows))
    print("\n".join(lines))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=REPS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--others", action="store_true", help="without the complete tables")
    options = parser.parse_args()
    settings = {"reps": options.reps, "seconds": options.seconds}
    lines = [] if options.others else complete_tables(**settings)
    lines += summary_table(**settings)
    if options.page:
        text = PAGE.read_text(encoding="utf-8")
        head = text.partition(OTHER_TABLE if options.others else TABLES)[0]
        start = "" if options.others else f"{TABLES}\n"
        PAGE.write_text(head + start + "\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
