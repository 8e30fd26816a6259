"""Range of Table 6 under counting noise (parametric bootstrap) and under shifts of the curves."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from airpath.phy import PerTable
from airpath.reproduction.base import Row, Table
from airpath.reproduction.session import Session
from airpath_papers.qawla import error_rates
from airpath_papers.qawla.data import MEASURES, mcs_table, published_entry
from airpath_papers.qawla.error_rates import CHANNELS
from airpath_papers.qawla.link_adaptation import PAIRS, POLICIES, Adaptation, Adaptations, Pair
from airpath_papers.qawla.quantities import limit

__all__ = [
    "APART",
    "APART_DB",
    "MCSS",
    "RESAMPLED",
    "RESAMPLES",
    "Variant",
    "choices_table",
    "entries_table",
    "moved",
    "moved_apart",
    "resampled",
]

RESAMPLES: Final = 20

SEED: Final = 1
"""Seed of the sampled counts and shifts, the first value tried; not the seed of the simulation."""

MCSS: Final = len(mcs_table())

APART_DB: Final = 0.25
"""Maximum shift of a single curve, dB: half a step of the grid on AWGN."""

FINE: Final = 10**10
"""Number of blocks that represents an interpolated error rate."""


class Variant(NamedTuple):
    """Description of error rates that are sampled many times."""

    name: str
    heading: str
    about: str


RESAMPLED: Final = Variant(
    "resampled",
    "resampled",
    "The errors of every point drawn {draws} times from the binomial distribution with the counted "
    "share, seed {seed}; points without an error stay so.",
)

APART: Final = Variant(
    "each moved",
    "each moved",
    f"Every curve moved by itself, {{draws}} times, uniformly within ± {APART_DB:g} dB, seed "
    "{seed}.",
)


def resampled(found: Adaptations, session: Session) -> list[Adaptations]:
    """Return the adaptation on both channels for each resample of the error rates.

    Parameters
    ----------
    found : mapping of str to Adaptation
        Adaptation with the measured error rates.
    session : Session
        Session that solves the fixed points.
    """
    # Use only random(): Python guarantees that its sequence does not change.
    uniform = random.Random(SEED).random
    return [
        _solved(found, session, lambda rates: error_rates.resampled(rates, uniform))
        for _ in range(RESAMPLES)
    ]


def moved_apart(found: Adaptations, session: Session) -> list[Adaptations]:
    """Return the adaptation with random shifts of each curve, as many as the mode has resamples."""
    uniform = random.Random(SEED).random

    def each_moved(rates: PerTable) -> PerTable:
        table = json.loads(json.dumps(rates.document))
        moved([APART_DB * (2 * uniform() - 1) for _ in range(MCSS)])(table)
        return PerTable(table, rates.name)

    draws = max(1, session.effort.resamples)
    return [_solved(found, session, each_moved) for _ in range(draws)]


def moved(by_db: Sequence[float]) -> Callable[[dict[str, Any]], None]:
    """Return a function that shifts the curve of each MCS in a table to higher SNRs."""

    def change(table: dict[str, Any]) -> None:
        rates = PerTable(json.loads(json.dumps(table)), "before")
        for mcs, curve in enumerate(table["curves"]):
            points = curve["points"]
            for point in points[:-1]:
                # There is no data below the first point, where all blocks fail.
                at = max(point["snr_db"] - by_db[mcs], points[0]["snr_db"])
                point |= {"errors": round(FINE * rates.fer(mcs, at)), "blocks": FINE}

    return change


def _solved(
    found: Adaptations, session: Session, change: Callable[[PerTable], PerTable]
) -> Adaptations:
    return {
        key: Adaptation(adaptation.channel, change(adaptation.rates), threads=session.threads)
        for key, adaptation in found.items()
    }


def entries_table(
    found: Adaptations, draws: Sequence[Adaptations], title: str, variant: Variant
) -> tuple[list[Row], Table]:
    """Return range and median of every entry of Table 6 over the samples, and the number within."""
    rows, lines, near = [], [], {key: [True] * len(draws) for key in found}
    for policy in POLICIES:
        for key in found:
            for measure, symbol in MEASURES.items():
                printed_value = published_entry(policy, key, measure)
                computed = found[key].entry(policy, measure)
                values = [each[key].entry(policy, measure) for each in draws]
                ends = (min(values), median(values), max(values))
                meets = [abs(value - printed_value) <= limit(policy) for value in values]
                near[key] = [a and b for a, b in zip(near[key], meets, strict=True)]
                place = {"policy": policy, "channel": key, "variant": variant.name}
                extra = {"resamples": len(draws), "limit": limit(policy), "median": ends[1]}
                extra["resamples_within"] = sum(meets)
                row = Row(
                    place, measure, "1", None, computed, low=ends[0], high=ends[2], extra=extra
                )
                rows.append(row)
                line = [policy, CHANNELS[key].name, symbol, f"{printed_value:.2f}"]
                line += [f"{value:.3f}" for value in (computed, *ends)]
                lines.append([*line, f"{sum(meets)} of {len(draws)}"])
    columns = [("", ""), ("", ""), ("", ""), ("", "paper"), ("", "Airpath")]
    columns += [(variant.heading, name) for name in ("lowest", "median", "highest", "within")]
    all_near = (f"{CHANNELS[key].name} in {sum(each)}" for key, each in near.items())
    notes = [
        variant.about.format(draws=len(draws), seed=SEED),
        f"within: how many of the {len(draws)} meet the goal; all ten entries of a channel: "
        f"{', '.join(all_near)}.",
    ]
    return rows, Table(title, columns, lines, notes)


def choices_table(found: Adaptations, resamples: Sequence[Adaptations], title: str) -> Table:
    """Return the changed choices of the policies in the resamples, and the effect of each."""
    lines = []
    for name, policy in POLICIES.items():
        for key, adaptation in found.items():
            computed = adaptation.choices(policy)
            changes = Counter(
                (at, pair)
                for each in resamples
                for at, pair in enumerate(each[key].choices(policy))
                if pair != computed[at]
            )
            for (at, pair), times in sorted(changes.items()):
                line = [name, CHANNELS[key].name, f"{adaptation.snrs_db[at]:g}"]
                line += [_chosen(computed[at]), _chosen(pair), f"{times} of {RESAMPLES}"]
                normalised = adaptation.normalised(policy)
                throughput_bps = adaptation.throughput_bps[20][at, PAIRS.index(pair)]
                normalised[at] = throughput_bps / adaptation.optimum_bps[None][at]
                mean = adaptation.weights @ normalised.mean(axis=1) - adaptation.mean(policy)
                worst = normalised.min(axis=0).mean() - adaptation.worst(policy)
                lines.append([*line, f"{mean:+.3f}", f"{worst:+.3f}"])
    columns = [("", ""), ("", ""), ("SNR", "dB"), ("", "Airpath"), ("resampled", "choice")]
    columns += [("resampled", "times"), ("alone", "T_M"), ("alone", "T_W")]
    notes = [
        "Choices that change in any resample; of QAWLA MCS_1 and MCS_2.",
        "alone: what this choice changes with all else as counted.",
    ]
    return Table(title, columns, lines, notes)


def _chosen(pair: Pair) -> str:
    return " ".join(f"mcs{mcs}" for mcs in dict.fromkeys(pair))
