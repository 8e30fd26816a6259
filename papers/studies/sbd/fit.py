"""Joint fit of choices to Tables 2 to 6, by one criterion.

``python -m studies.sbd.fit`` simulates every combination of the candidates and writes ``fit.csv``,
best fit first. Values of Table 1 or of the text, and all other choices in README.md, are not
fitted. Agreement with Tables 2 to 6 is no evidence for the fitted choices.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.files import write_file
from airpath.reproduction.sweeps import SweepPoint
from airpath.scenario import Scenario
from airpath_papers.sbd.claims import SWEEPS
from airpath_papers.sbd.data import aqm_of, printed, setting_at
from airpath_papers.sbd.measures import delay_s, goodput_kbps
from airpath_papers.sbd.scenarios import path

__all__ = ["COMBINATIONS", "Choice", "Target", "main", "scenario_of", "score", "targets"]


class Choice(NamedTuple):
    """A combination of values for the fitted choices."""

    duration_s: float
    """Length of a run, s; there is no warm-up."""
    packet_bytes: int
    """Bytes of a 1500-byte packet that count as goodput: its payload, or all bytes."""
    delayed_ack_segments: int
    """Number of segments per ACK."""
    window_poll: str
    """Rule for PDUs above the poll window that poll."""
    red_drop: str
    """Packet that RED drops: front of the queue, or arrival."""
    red_count: bool
    """Whether RED spaces its drops by the number of arrivals since the last drop."""


COMBINATIONS: Final = tuple(
    Choice(*each)
    for each in product(
        (60.0, 100.0),
        (1460, 1500),
        (2, 1),
        ("timed", "every"),
        ("front", "arrival"),
        (False, True),
    )
)
"""All combinations of the candidates."""

GOODPUT_SCALE, DELAY_SCALE = 0.05, 0.15
"""Scales of relative differences of goodput and delay: the tolerances of a row of Table 6."""

RUNS: Final = 20
"""Number of runs of each setting, as in the paper."""

SEED: Final = 1
PAYLOAD: Final = 1460


@dataclass(frozen=True)
class Target:
    """A setting of Tables 2 to 6, with the published values."""

    point: SweepPoint
    goodput_kbps: float
    delay_s: float


def targets() -> list[Target]:
    """Return the 32 settings: 16 of Tables 2 to 5, drop-tail, and SBD and RED with four flows.

    For SBD and RED with four flows, the paper prints improvements over drop-tail.
    """
    points = [point for _, point in [*SWEEPS.points("one-flow"), *SWEEPS.points("table6")]]
    # For one flow, Table 6 repeats the settings of Tables 3 and 5.
    chosen = [
        point
        for point in points
        if "table" in point.axes or point.axes["flows"] > 1 or aqm_of(point.axes) == "drop-tail"
    ]
    return [
        Target(point, *(printed(point.axes, of).mean for of in ("goodput", "delay")))
        for point in chosen
    ]


def score(goodputs: Sequence[float], delays: Sequence[float]) -> float:
    """Return the minimised criterion: the root mean square of all scaled differences.

    Parameters
    ----------
    goodputs, delays : sequence of float
        Relative differences from the published values, one for each setting.
    """
    scaled = [each / GOODPUT_SCALE for each in goodputs]
    scaled += [each / DELAY_SCALE for each in delays]
    return _rms(scaled)


def _rms(values: Sequence[float]) -> float:
    return sqrt(sum(value * value for value in values) / len(values))


def scenario_of(axes: Mapping[str, Any], choice: Choice) -> Scenario:
    """Return the scenario of a setting under a choice."""
    values: dict[str, Any] = {
        "duration": f"{choice.duration_s} s",
        "flows.0.tcp.delayed_ack_segments": choice.delayed_ack_segments,
        "bottleneck.link.window_poll": choice.window_poll,
    }
    if _is_red(axes):
        values["bottleneck.aqm.drop"] = choice.red_drop
        values["bottleneck.aqm.count"] = choice.red_count
    return path(**axes).replace(values)


def _is_red(axes: Mapping[str, Any]) -> bool:
    return setting_at(axes).kind == "RED"


class Simulations:
    """Cache of the means of each setting under each choice; equal simulations are shared."""

    def __init__(self) -> None:
        self.means: dict[tuple[Any, ...], tuple[float, float]] = {}

    def of(self, axes: Mapping[str, Any], choice: Choice) -> tuple[float, float]:
        """Return goodput, kbit/s, and delay, s."""
        red = (choice.red_drop, choice.red_count) if _is_red(axes) else None
        shared = choice._replace(packet_bytes=0, red_drop="", red_count=False)
        key = (tuple(axes.items()), shared, red)
        if key not in self.means:
            self.means[key] = self._simulate(axes, choice)
        goodput, delay = self.means[key]
        return goodput * choice.packet_bytes / PAYLOAD, delay

    def _simulate(self, axes: Mapping[str, Any], choice: Choice) -> tuple[float, float]:
        runs = ap.simulate(scenario_of(axes, choice), reps=RUNS, seed=SEED).replications
        return (
            sum(goodput_kbps(run) for run in runs) / RUNS,
            sum(delay_s(run) for run in runs) / RUNS,
        )


def _evaluate(choice: Choice, simulations: Simulations) -> tuple[float, float, float]:
    """Return the score, and the RMS differences of goodput and delay, per cent."""
    goodputs, delays = [], []
    for target in targets():
        goodput, delay = simulations.of(target.point.axes, choice)
        goodputs.append(goodput / target.goodput_kbps - 1)
        delays.append(delay / target.delay_s - 1)
    return score(goodputs, delays), 100 * _rms(goodputs), 100 * _rms(delays)


def _lines(found: Mapping[Choice, tuple[float, float, float]]) -> Iterator[str]:
    yield "# Alcaraz and Cerdán 2006: the joint fit, by python -m studies.sbd.fit.\n"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*Choice._fields, "score", "goodput_rms_per_cent", "delay_rms_per_cent"])
    for choice, (total, goodput, delay) in sorted(found.items(), key=lambda item: item[1][0]):
        writer.writerow([*choice, f"{total:.4f}", f"{goodput:.2f}", f"{delay:.2f}"])
    yield text.getvalue()


def main() -> None:
    """Simulate all combinations and write ``fit.csv`` in the directory of this module."""
    simulations, found = Simulations(), {}
    for number, choice in enumerate(COMBINATIONS, 1):
        found[choice] = _evaluate(choice, simulations)
        print(f"{number} of {len(COMBINATIONS)}: {choice} {found[choice][0]:.4f}", file=sys.stderr)
    text = "".join(_lines(found))
    write_file(Path(__file__).with_name("fit.csv"), text.encode("utf-8"))


if __name__ == "__main__":
    main()
