"""How far Table 6 moves with the counting noise of the error rates: a parametric bootstrap."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Final

from airpath.papers.kit.adaptation import Adaptation, Pair
from airpath.papers.kit.base import Row, Table
from airpath.papers.kit.session import Session
from airpath.papers.qawla.adaptation import LINKS, POLICIES, Adaptations, measured
from airpath.papers.qawla.curves import CHANNELS
from airpath.papers.qawla.data import MEASURES, published_entry
from airpath.papers.qawla.policies import limit

__all__ = [
    "RESAMPLED",
    "RESAMPLES",
    "RESAMPLING_SEED",
    "choices_table",
    "entries_table",
    "resampled",
]

RESAMPLED: Final = "resampled"
"""Name of the variant."""

RESAMPLES: Final = 20

RESAMPLING_SEED: Final = 1
"""Of the sequence that counts are drawn from. Not the simulation's seed; the first one tried."""


def resampled(found: Adaptations, session: Session) -> list[Adaptations]:
    """Return both channels with each resample of their error rates.

    Parameters
    ----------
    found : mapping of str to Adaptation
        With the error rates as they were counted.
    session : Session
        Solves.
    """
    # Only random(), whose sequence Python promises to keep.
    uniform = random.Random(RESAMPLING_SEED).random
    return [
        {
            key: Adaptation(
                adaptation.channel,
                adaptation.rates.resampled(uniform),
                LINKS,
                session.engine,
                session.threads,
            )
            for key, adaptation in found.items()
        }
        for _ in range(RESAMPLES)
    ]


def entries_table(
    found: Adaptations, resamples: Sequence[Adaptations], title: str
) -> tuple[list[Row], Table]:
    """Return the range of every entry of Table 6 over the resamples, and how many are near."""
    rows, lines = [], []
    for policy in POLICIES:
        for channel in CHANNELS.values():
            for symbol, measure in zip(("T_M", "T_W"), MEASURES, strict=True):
                theirs = published_entry(policy.name, channel.key, measure)
                ours = measured(found, policy, channel.key, measure)
                values = [measured(each, policy, channel.key, measure) for each in resamples]
                low, high = min(values), max(values)
                within = sum(abs(value - theirs) <= limit(policy) for value in values)
                key = {"policy": policy.name, "channel": channel.key, "variant": RESAMPLED}
                extra = {"resamples": RESAMPLES, "limit": limit(policy)}
                extra["resamples_within"] = within
                rows.append(Row(key, measure, "1", None, ours, low=low, high=high, extra=extra))
                line = [policy.name, channel.name, symbol, f"{theirs:.2f}"]
                line += [f"{value:.3f}" for value in (ours, low, high)]
                lines.append([*line, f"{within} of {RESAMPLES}"])
    columns = [("", ""), ("", ""), ("", ""), ("", "paper"), ("", "ours")]
    columns += [("resampled", name) for name in ("lowest", "highest", "within")]
    notes = [
        f"The errors of every point drawn {RESAMPLES} times from the binomial distribution with "
        f"the counted share, seed {RESAMPLING_SEED}; points without an error stay so.",
        f"within: how many of the {RESAMPLES} meet the goal.",
    ]
    return rows, Table(title, columns, lines, notes)


def choices_table(found: Adaptations, resamples: Sequence[Adaptations], title: str) -> Table:
    """Return which choices of the policies change in the resamples, and what one alone does."""
    lines = []
    for policy in POLICIES:
        for key, adaptation in found.items():
            ours = adaptation.choices(policy)
            changes = Counter(
                (at, pair)
                for each in resamples
                for at, pair in enumerate(each[key].choices(policy))
                if pair != ours[at]
            )
            for (at, pair), times in sorted(changes.items()):
                line = [policy.name, CHANNELS[key].name, f"{adaptation.snrs_db[at]:g}"]
                line += [_chosen(ours[at]), _chosen(pair), f"{times} of {RESAMPLES}"]
                normalised = adaptation.normalised(policy)
                place = LINKS.pairs.index(pair)
                throughput_bps = adaptation.throughput_bps[policy.boundary][at, place]
                normalised[at] = throughput_bps / adaptation.optimum_bps[at]
                mean = adaptation.weights @ normalised.mean(axis=1) - adaptation.mean(policy)
                worst = normalised.min(axis=0).mean() - adaptation.worst(policy)
                lines.append([*line, f"{mean:+.3f}", f"{worst:+.3f}"])
    columns = [("", ""), ("", ""), ("SNR", "dB"), ("", "ours"), ("resampled", "choice")]
    columns += [("resampled", "times"), ("alone", "T_M"), ("alone", "T_W")]
    notes = [
        "Choices that change in any resample; of QAWLA MCS_1 and MCS_2.",
        "alone: what this choice changes with all else as counted.",
    ]
    return Table(title, columns, lines, notes)


def _chosen(pair: Pair) -> str:
    return " ".join(f"mcs{mcs}" for mcs in dict.fromkeys(pair))
