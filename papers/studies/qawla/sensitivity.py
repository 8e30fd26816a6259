"""Sensitivity of Table 6 to unspecified parameters of the paper: one choice changed at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath.phy import PerTable
from airpath.reproduction.base import ItemResult, Row, Table
from airpath.reproduction.session import Session
from airpath.scenario.policy import LinkAdaptation
from airpath_papers.qawla.data import MEASURES, published_entry
from airpath_papers.qawla.error_rates import (
    CHANNELS,
    ITU_A,
    PUBLISHED_BLOCKS,
    Channel,
    error_rates,
)
from airpath_papers.qawla.link_adaptation import POLICIES, Adaptation, Adaptations, adaptations

from .decoders import CHOSEN as CHOSEN_DECODER
from .decoders import DECODERS, TOO_FEW, fits_table
from .resampling import (
    APART,
    MCSS,
    RESAMPLED,
    choices_table,
    entries_table,
    moved,
    moved_apart,
    resampled,
)

__all__ = ["CHOICES", "changed_rates", "evaluate_sensitivity", "with_choices_of"]

TITLE: Final = "Table 6: what it depends on"

Both = tuple[float, float]
"""Pair of T_M and T_W."""

_Variant = Callable[[Adaptation, LinkAdaptation], Both]


def _with_weights(weights: Callable[[Channel], NDArray[np.float64]]) -> _Variant:
    def both(adaptation: Adaptation, policy: LinkAdaptation) -> Both:
        normalised = adaptation.normalised(policy)
        mean = weights(adaptation.channel) @ normalised.mean(axis=1)
        return float(mean), adaptation.worst(policy)

    return both


def _densities(channel: Channel) -> NDArray[np.float64]:
    density = np.array([channel.snr_db.pdf(snr_db) for snr_db in channel.snrs_db()])
    return np.asarray(density / density.sum())


def _tails_at_the_ends(channel: Channel) -> NDArray[np.float64]:
    half = channel.grid_db[2] / 2
    low, high = channel.support_db
    below, not_above = channel.snr_db.cdf(low - half), channel.snr_db.cdf(high + half)
    weights = channel.weights() * (not_above - below)
    weights[0] += below
    weights[-1] += 1 - not_above
    return weights


def _optimum_of_one_boundary(adaptation: Adaptation, policy: LinkAdaptation) -> Both:
    return adaptation.mean(policy, optimum_b=20), adaptation.worst(policy, optimum_b=20)


CHOSEN: Final = "chosen"

READINGS: Final[Mapping[str, _Variant]] = {
    CHOSEN: lambda adaptation, policy: (adaptation.mean(policy), adaptation.worst(policy)),
    "density": _with_weights(_densities),
    "tails": _with_weights(_tails_at_the_ends),
    "one B": _optimum_of_one_boundary,
}
"""Interpretations of the averages."""


def _mcs4_first(table: dict[str, Any]) -> None:
    """Make mcs4 slightly more efficient than mcs3, which also has 3 bit/symbol."""
    table["curves"][4]["mcs"]["code_rate"] *= 1 + 1e-9


def _mcs3_first(table: dict[str, Any]) -> None:
    table["curves"][3]["mcs"]["code_rate"] *= 1 + 1e-9


CHOICES: Final[Mapping[str, Callable[[dict[str, Any]], None]]] = {
    "mcs3": _mcs3_first,
    "mcs4": _mcs4_first,
}
"""Changes of the policies' choices."""


def _table2_rates(table: dict[str, Any]) -> None:
    """Use the printed error rates at the points of Table 2."""
    for (snr_db, mcs), rate in error_rates().items():
        points = table["curves"][mcs]["points"]
        for point in points:
            if point["snr_db"] == snr_db:
                errors = rate.extra["published_errors"]
                point |= {"errors": errors, "blocks": PUBLISHED_BLOCKS}
        if points[-1]["errors"] and points[-1]["snr_db"] < table["snr_range_db"][1]:
            step = points[-1]["snr_db"] - points[-2]["snr_db"]
            points.append({**points[-1], "snr_db": points[-1]["snr_db"] + step, "errors": 0})


def _half_an_error(table: dict[str, Any]) -> None:
    """Count points without errors, and all higher points, as half an error."""
    last = table["snr_range_db"][1]
    for curve in table["curves"]:
        points = curve["points"]
        step = points[-1]["snr_db"] - points[-2]["snr_db"]
        while points[-1]["snr_db"] < last:
            points.append({**points[-1], "snr_db": points[-1]["snr_db"] + step})
        for point in points:
            if not point["errors"]:
                point |= {"errors": 1, "blocks": 2 * point["blocks"]}


SHIFTS_DB: Final[Mapping[str, float]] = {
    "better .25": -0.25,
    "better .1": -0.1,
    "better": -0.05,
    "worse": 0.05,
    "worse .1": 0.1,
    "worse .25": 0.25,
}
"""Shifts of the curves: 0.05 dB, plausible for equally good programs, and larger shifts."""

RATES: Final[Mapping[str, Callable[[dict[str, Any]], None]]] = {
    "Table 2": _table2_rates,
    "half": _half_an_error,
    **{name: moved([by_db] * MCSS) for name, by_db in SHIFTS_DB.items()},
}
"""Changes of error rates, for the choices and for their outcome."""

OTHERS: Final = tuple(
    decoder
    for decoder in DECODERS
    if decoder != CHOSEN_DECODER and (decoder.mapping, decoder.iterations) != ("random", TOO_FEW)
)
"""Decoders and mappings that were not chosen."""

BY_MAPPING: Final[Mapping[str, Sequence[str]]] = {
    mapping: [decoder.name for decoder in OTHERS if decoder.mapping == mapping]
    for mapping in dict.fromkeys(decoder.mapping for decoder in DECODERS)
}

NOTES: Final[Mapping[str, str]] = {
    CHOSEN: "as in the README",
    "density": "SNRs weighted by the normal density at them, not by the probability of their cells",
    "tails": "what the truncation cuts off moved to the first and last SNR",
    "one B": "optimum among the policies with the same B only",
    "mcs3": "of mcs3 and mcs4, with the same efficiency, always this one if below the threshold",
    "mcs4": "the same, always mcs4",
    "Table 2": "on ITU-A the printed error rates at 22, 26 and 30 dB where there are any",
    "half": "half an error where none was counted",
    **{
        name: f"all curves at {abs(by_db):g} dB {'less' if by_db < 0 else 'more'}"
        for name, by_db in SHIFTS_DB.items()
    },
    **{
        decoder.name: f"{decoder.iterations} iterations, on ITU-A mapping {decoder.mapping}"
        for decoder in OTHERS
    },
}


def evaluate_sensitivity(session: Session, _out: Path | None) -> ItemResult:
    """Return Table 6 with each change."""
    found = adaptations(session)
    variants: dict[str, _Entries] = {
        name: {
            (policy, channel): reading(adaptation, described)
            for policy, described in POLICIES.items()
            for channel, adaptation in found.items()
        }
        for name, reading in READINGS.items()
    }
    for name, change in CHOICES.items():
        variants[name] = _entries(
            {
                channel: with_choices_of(adaptation, changed_rates(adaptation, change))
                for channel, adaptation in found.items()
            }
        )
    for name, change in RATES.items():
        variants[name] = _solved(
            session,
            {
                channel: changed_rates(adaptation, change)
                for channel, adaptation in found.items()
                if channel == ITU_A.key or change is not _table2_rates
            },
        )
    for decoder in OTHERS:
        # AWGN does not depend on the mapping, so that it is evaluated only once.
        channels = CHANNELS.values() if decoder.mapping == CHOSEN_DECODER.mapping else (ITU_A,)
        known = {channel.key: decoder.rates(channel) for channel in channels}
        variants[decoder.name] = _solved(
            session, {key: rates for key, rates in known.items() if rates is not None}
        )
    rows = [
        Row({"policy": policy, "channel": channel, "variant": name}, measure, "1", None, value)
        for name, entries in variants.items()
        for (policy, channel), both in entries.items()
        for measure, value in zip(MEASURES, both, strict=True)
    ]
    tables = [
        _table(title, {name: variants[name] for name in (CHOSEN, *names)})
        for title, names in (
            (f"{TITLE}: readings of the text", [*READINGS, *CHOICES][1:]),
            (f"{TITLE}: error rates", [name for name in RATES if name not in SHIFTS_DB]),
            (f"{TITLE}: curves moved", [*SHIFTS_DB]),
            *(
                (f"{TITLE}: iterations, mapping {mapping}", names)
                for mapping, names in BY_MAPPING.items()
            ),
        )
    ]
    fit_rows, fit = fits_table(f"{TITLE}: which decoder and mapping, by Table 2 and §6's rule")
    rows, tables = [*fit_rows, *rows], [fit, *tables]
    resamples = resampled(found, session)
    noise_rows, noise = entries_table(found, resamples, f"{TITLE}: counting noise", RESAMPLED)
    choices = choices_table(found, resamples, f"{TITLE}: choices that counting noise changes")
    apart = moved_apart(found, session)
    apart_rows, shifts = entries_table(found, apart, f"{TITLE}: each curve moved by itself", APART)
    rows, tables = [*rows, *noise_rows, *apart_rows], [*tables, noise, choices, shifts]
    return ItemResult("sensitivity", TITLE, rows, tables)


_Entries = Mapping[tuple[str, str], Both]
"""T_M and T_W by policy and channel."""


def _entries(found: Adaptations) -> _Entries:
    return {
        (policy, channel): (adaptation.mean(described), adaptation.worst(described))
        for policy, described in POLICIES.items()
        for channel, adaptation in found.items()
    }


def _solved(session: Session, rates: Mapping[str, PerTable]) -> _Entries:
    return _entries(
        {
            channel: Adaptation(CHANNELS[channel], each, threads=session.threads)
            for channel, each in rates.items()
        }
    )


def changed_rates(adaptation: Adaptation, change: Callable[[dict[str, Any]], None]) -> PerTable:
    """Return the changed error rates of a channel."""
    table = json.loads(json.dumps(adaptation.rates.document))
    change(table)
    return PerTable(table, "changed")


def with_choices_of(adaptation: Adaptation, rates: PerTable) -> Adaptation:
    """Return the adaptation with the same links, but with choices by other error rates."""
    return Adaptation(adaptation.channel, rates, adaptation.throughput_bps)


def _table(title: str, variants: Mapping[str, _Entries]) -> Table:
    lines = []
    for policy in POLICIES:
        for channel in CHANNELS.values():
            for place, (measure, symbol) in enumerate(MEASURES.items()):
                printed_value = published_entry(policy, channel.key, measure)
                found = [entries.get((policy, channel.key)) for entries in variants.values()]
                values = ["" if both is None else f"{both[place]:.3f}" for both in found]
                lines.append([policy, channel.name, symbol, f"{printed_value:.2f}", *values])
    columns = [("", ""), ("", ""), ("", ""), ("", "paper")]
    columns += [("Airpath", name) for name in variants]
    return Table(title, columns, lines, [f"{name}: {NOTES[name]}." for name in variants])
