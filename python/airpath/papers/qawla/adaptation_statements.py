"""What the paper's text says about link adaptation (§4, §6), checked on our fixed points.

README.md has the criteria in a table; they were written before the numbers were there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Any, Final

from airpath.papers.base import Statement, StatementSpec
from airpath.papers.qawla.adaptation import Adaptations, adaptations
from airpath.papers.qawla.data import mcs_table
from airpath.papers.qawla.policies import MEASURES, POLICIES, measured
from airpath.papers.qawla.radio import AWGN, CHANNELS, ITU_A, Channel, ErrorRates
from airpath.papers.qawla.thresholds import HS, OVER_RATINGS_DB, TH_PER, Curve
from airpath.papers.session import Session

__all__ = ["ADAPTATION_STATEMENTS"]

NAMES: Final = ("QAWLA", "TAGLA")


def _spec(key: str, check: Callable[[str, Adaptations], Statement]) -> StatementSpec:
    def checked(session: Session) -> Statement:
        found = adaptations(session)
        if found is None:
            raise ValueError("a statement is checked only when nothing was interrupted")
        return check(key, found)

    return StatementSpec(key, (), checked)


def _per_channel(numbers: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{CHANNELS[key].name}: {', '.join(each)}" for key, each in numbers.items()]


# --- error rates -------------------------------------------------------------------------------

HIGHEST_PER: Final = 0.1
"""Of mcs0 at the lowest SNR."""


def _support(key: str, _found: Adaptations) -> Statement:
    measured, values, holds = [], {}, True
    for channel in CHANNELS.values():
        rates, lowest, step = ErrorRates.of(channel), channel.support_db[0], channel.grid_db[2]
        at, below = rates.per(0, lowest), rates.per(0, lowest - step)
        holds = holds and at < HIGHEST_PER
        measured.append(
            f"{channel.name}: {at:.3g} at {lowest:g} dB, {below:.3g} at {lowest - step:g} dB"
        )
        values[channel.key] = {"per": at, "one_step_below": below}
    return Statement(
        key,
        "The SNRs that are averaged over begin where mcs0 has a PER below 0.1 (§6).",
        f"mcs0 has a PER below {HIGHEST_PER:g} at 2 dB on AWGN and at 14 dB on ITU-A.",
        holds,
        measured,
        values,
    )


COMPARED_PER: Final = (1e-5, 0.9)
"""Of the larger of two PERs that are compared."""


def _mcs3_mcs4(key: str, _found: Adaptations) -> Statement:
    measured, values, holds = [], {}, True
    for channel, better in ((AWGN, 3), (ITU_A, 4)):
        rates, worse = ErrorRates.of(channel), 7 - better
        pairs = {
            snr_db: (rates.per(better, snr_db), rates.per(worse, snr_db))
            for snr_db in channel.grid()
        }
        low, high = COMPARED_PER
        compared = {snr: pair for snr, pair in pairs.items() if low <= max(pair) <= high}
        right = [snr for snr, pair in compared.items() if pair[0] < pair[1]]
        holds = holds and bool(compared) and len(right) == len(compared)
        listed = "; ".join(
            f"{snr:g} dB {pair[0]:.2g} and {pair[1]:.2g}" for snr, pair in compared.items()
        )
        measured.append(
            f"{channel.name}: mcs{better} has the lower PER at {len(right)} of {len(compared)} "
            f"SNRs: mcs{better} and mcs{worse} {listed}"
        )
        values[channel.key] = {"compared": len(compared), "as_said": len(right)}
    return Statement(
        key,
        "mcs3 and mcs4, with the same rate, change places between the channels (§4).",
        f"Wherever the larger PER of the two is between {low:g} and {high:g}, mcs3 has the lower "
        "one on AWGN and mcs4 on ITU-A.",
        holds,
        measured,
        values,
    )


STEEP_PER: Final = (0.1, 0.001)


def _snr_of(rates: ErrorRates, channel: Channel, mcs: int, per: float) -> float | None:
    """Return where a curve crosses a PER, ln PER linear in dB; None when it does not."""
    grid = channel.grid()
    for low, high in pairwise(grid):
        above, below = rates.per(mcs, low), rates.per(mcs, high)
        if below <= per < above:
            # A point without errors: half an error.
            floor = 0.5 * mcs_table()[mcs].blocks(1500) / rates.count_from(mcs, high).blocks
            share = log(above / per) / log(above / max(below, floor))
            return low + share * (high - low)
    return None


def _span(channel: Channel, mcs: int) -> float | None:
    """Return how many dB are between two PERs."""
    high, low = (_snr_of(ErrorRates.of(channel), channel, mcs, per) for per in STEEP_PER)
    return None if high is None or low is None else low - high


def _steepness(key: str, _found: Adaptations) -> Statement:
    spans = {
        channel.key: [_span(channel, mcs) for mcs in mcs_table()] for channel in CHANNELS.values()
    }
    holds = all(
        steep is not None and flat is not None and steep < flat
        for steep, flat in zip(spans[AWGN.key], spans[ITU_A.key], strict=True)
    )
    return Statement(
        key,
        "The error-rate curves are steeper on AWGN than on ITU-A (§6).",
        f"For every MCS the SNRs of PER {STEEP_PER[0]:g} and {STEEP_PER[1]:g} are closer on AWGN.",
        holds,
        _per_channel(
            {
                channel: [
                    f"mcs{mcs} " + ("not crossed" if span is None else f"{span:.2f} dB")
                    for mcs, span in enumerate(each)
                ]
                for channel, each in spans.items()
            }
        ),
        spans,
    )


# --- H and B -----------------------------------------------------------------------------------

ROBUST_FROM: Final = 0.01
"""th_PER from which on the mean of T_M counts as robustness."""

SLIGHTLY: Final = 0.02
"""Largest lead that counts as slight."""

LOW_TH_PER: Final = 10**-2
"""th_PER up to which B = 40 has to be worse than TAGLA."""


def _h_100(key: str, found: Adaptations) -> Statement:
    measured, values, holds = [], {}, True
    leads = {}
    for channel, adaptation in found.items():
        peaks = {h: Curve("QAWLA", h).peak(adaptation) for h in HS}
        robust = {}
        for h in HS:
            robust[h] = Curve("QAWLA", h).average(adaptation, ROBUST_FROM)
        others = [h for h in HS if h != 100]
        leads[channel] = peaks[100][1] - max(peaks[h][1] for h in others)
        holds = holds and leads[channel] > 0
        holds = holds and robust[100] > max(robust[h] for h in others)
        measured.append(
            f"{CHANNELS[channel].name}: "
            + ", ".join(
                f"H = {h}: peak {peaks[h][1]:.4f} at {peaks[h][0]:.2g}, mean {robust[h]:.4f}"
                for h in HS
            )
        )
        values[channel] = {
            f"H={h}": {"peak": peaks[h][1], "at": peaks[h][0], "robust": robust[h]} for h in HS
        }
    holds = holds and leads[ITU_A.key] > leads[AWGN.key]
    return Statement(
        key,
        "H = 100 is best in the peak of T_M and in robustness for increasing th_PER, more so on "
        "ITU-A (§6, Figs. 7 and 8).",
        f"B = 20: the largest peak, and the largest mean over th_PER from {ROBUST_FROM:g} to 0.5, "
        "are those of H = 100 on both channels; the peak's lead is larger on ITU-A.",
        holds,
        measured,
        values,
    )


def _b_40(key: str, found: Adaptations) -> Statement:
    measured, values, holds = [], {}, True
    for channel, adaptation in found.items():
        ours, plain = (
            Curve(policy, boundary=40).values(adaptation) for policy in ("QAWLA", "TAGLA")
        )
        ahead = [th for th, a, b in zip(TH_PER, ours, plain, strict=True) if a >= b]
        low = [th for th in ahead if th <= 1.001 * LOW_TH_PER]
        holds = holds and not low and ours[-1] > plain[-1]
        lead = [f"from th_PER = {min(ahead):.2g}" if ahead else "nowhere"]
        measured.append(
            f"{CHANNELS[channel].name}: not worse {lead[0]}; at 1e-3 "
            f"{ours[TH_PER.index(10**-3)]:.3f} against {plain[TH_PER.index(10**-3)]:.3f}, at 0.5 "
            f"{ours[-1]:.3f} against {plain[-1]:.3f}"
        )
        values[channel] = {"not_worse_from": min(ahead, default=None)}
    return Statement(
        key,
        "QAWLA with B = 40 is worse than TAGLA for low th_PER; only well above 1e-2 do losses make "
        "its first regime desirable (§6, Figs. 7 and 8).",
        "H = 100: T_M below TAGLA's for every th_PER up to 1e-2, and above it at 0.5.",
        holds,
        measured,
        values,
    )


def _b_20(key: str, found: Adaptations) -> Statement:
    peaks = {
        channel: {b: Curve("QAWLA", boundary=b).peak(adaptation)[1] for b in (20, 30)}
        for channel, adaptation in found.items()
    }
    return Statement(
        key,
        "B = 20 performs slightly better than B = 30 (§6, Figs. 7 and 8).",
        f"H = 100: its peak of T_M is higher, by at most {SLIGHTLY:g}, on both channels.",
        all(0 < each[20] - each[30] <= SLIGHTLY for each in peaks.values()),
        _per_channel(
            {c: [f"B = {b}: {peak:.4f}" for b, peak in each.items()] for c, each in peaks.items()}
        ),
        {channel: {f"B={b}": peak for b, peak in each.items()} for channel, each in peaks.items()},
    )


# --- th_PER and over-rating --------------------------------------------------------------------

SWEPT_FROM: Final = 10**-3
"""th_PER from which on the range of T_M is taken."""


def _insensitive(key: str, found: Adaptations) -> Statement:
    measured, values, holds = [], {}, True
    for channel, adaptation in found.items():
        for db in OVER_RATINGS_DB:
            spread, peak = {}, {}
            for policy in NAMES:
                curve = Curve(policy, over_rating_db=db)
                high = [curve.value(adaptation, th) for th in TH_PER if th >= 0.999 * SWEPT_FROM]
                spread[policy], peak[policy] = max(high) - min(high), curve.peak(adaptation)[1]
            holds = holds and spread["QAWLA"] < spread["TAGLA"]
            holds = holds and (db == 0 or peak["QAWLA"] > peak["TAGLA"])
            measured.append(
                f"{CHANNELS[channel].name}, {db} dB over-rated: "
                + ", ".join(f"{p} range {spread[p]:.3f}, peak {peak[p]:.3f}" for p in NAMES)
            )
            values[f"{channel}, {db} dB"] = {"range": spread, "peak": peak}
    return Statement(
        key,
        "QAWLA is relatively insensitive to th_PER, and improves TAGLA for over-rated channels too "
        "(§6, Figs. 9 and 10).",
        "H = 100, B = 20: over th_PER from 1e-3 to 0.5 the range of T_M is smaller than TAGLA's at "
        "0, 2 and 4 dB; at 2 and 4 dB the peak is higher.",
        holds,
        measured,
        values,
    )


def _over_rating(key: str, found: Adaptations) -> Statement:
    curves = {
        policy: [Curve(policy, over_rating_db=db) for db in OVER_RATINGS_DB] for policy in NAMES
    }
    means = {
        channel: {
            policy: [curve.average(adaptation, SWEPT_FROM) for curve in each]
            for policy, each in curves.items()
        }
        for channel, adaptation in found.items()
    }
    peaks = {
        channel: {
            policy: [curve.peak(adaptation)[1] for curve in each] for policy, each in curves.items()
        }
        for channel, adaptation in found.items()
    }
    holds = all(
        first > second > third for each in means.values() for first, second, third in each.values()
    ) and all(
        means[AWGN.key][policy][0] - means[AWGN.key][policy][step]
        > means[ITU_A.key][policy][0] - means[ITU_A.key][policy][step]
        for policy in NAMES
        for step in (1, 2)
    )
    return Statement(
        key,
        "Over-rating the SNR hurts both policies, more on AWGN (§6, Figs. 9 and 10).",
        "The mean of T_M over th_PER from 1e-3 to 0.5 falls from 0 to 2 to 4 dB for QAWLA and "
        "TAGLA, and by more on AWGN.",
        holds,
        _per_channel(
            {
                channel: [
                    f"{p} mean {_listed(each[p])}, peak {_listed(peaks[channel][p])}" for p in NAMES
                ]
                for channel, each in means.items()
            }
        ),
        {"mean": means, "peak": peaks},
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _dependent(key: str, found: Adaptations) -> Statement:
    best = {
        channel: {
            policy: [Curve(policy, over_rating_db=db).peak(adaptation)[0] for db in OVER_RATINGS_DB]
            for policy in NAMES
        }
        for channel, adaptation in found.items()
    }
    holds = all(
        best[AWGN.key][policy] != best[ITU_A.key][policy]
        and any(len(set(each[policy])) > 1 for each in best.values())
        for policy in NAMES
    )
    return Statement(
        key,
        "The best th_PER depends on the channel and on the precision of the SNR (§6).",
        "For QAWLA and TAGLA the peaks of T_M at 0, 2 and 4 dB are not at one th_PER, nor at the "
        "same for both channels.",
        holds,
        _per_channel(
            {
                channel: [f"{p} {', '.join(f'{th:.2g}' for th in each[p])}" for p in NAMES]
                for channel, each in best.items()
            }
        ),
        best,
    )


# --- the worst case, and the policies ----------------------------------------------------------

CONSIDERABLY: Final = 0.1
VICINITY: Final = (0.025, 0.1)
"""What counts as the vicinity of th_PER = 0.05: a factor 2."""

CLOSE: Final = 0.95


def _worst_peaks(found: Adaptations) -> dict[str, dict[str, tuple[float, float]]]:
    return {
        channel: {policy: Curve(policy, worst=True).peak(adaptation) for policy in NAMES}
        for channel, adaptation in found.items()
    }


def _worst_measured(peaks: Mapping[str, Mapping[str, tuple[float, float]]]) -> list[str]:
    return _per_channel(
        {
            channel: [
                f"{policy} {each[policy][1]:.3f} at {each[policy][0]:.2g}" for policy in NAMES
            ]
            for channel, each in peaks.items()
        }
    )


def _worst_values(peaks: Mapping[str, Mapping[str, tuple[float, float]]]) -> dict[str, Any]:
    return {
        channel: {policy: {"at": th, "peak": peak} for policy, (th, peak) in each.items()}
        for channel, each in peaks.items()
    }


def _worst_case(key: str, found: Adaptations) -> Statement:
    peaks = _worst_peaks(found)
    return Statement(
        key,
        "QAWLA improves TAGLA's worst case considerably (§6, Figs. 11 and 12).",
        f"The peak of its T_W is at least {CONSIDERABLY:g} higher on both channels.",
        all(each["QAWLA"][1] - each["TAGLA"][1] >= CONSIDERABLY for each in peaks.values()),
        _worst_measured(peaks),
        _worst_values(peaks),
    )


def _worst_peak(key: str, found: Adaptations) -> Statement:
    peaks = _worst_peaks(found)
    low, high = VICINITY
    return Statement(
        key,
        "T_W peaks in the vicinity of th_PER = 0.05 on both channels (§6, Figs. 11 and 12).",
        "QAWLA's peak is within a factor 2 of it.",
        all(low <= each["QAWLA"][0] <= high for each in peaks.values()),
        _worst_measured(peaks),
        _worst_values(peaks),
    )


def _near_optimum(key: str, found: Adaptations) -> Statement:
    means = {channel: adaptation.mean(POLICIES[0]) for channel, adaptation in found.items()}
    return Statement(
        key,
        "QAWLA(0.05, 100, 20) performs close to optimum in the mean on both channels (§6).",
        f"T_M is at least {CLOSE:g}.",
        min(means.values()) >= CLOSE,
        [f"{CHANNELS[channel].name}: {mean:.3f}" for channel, mean in means.items()],
        means,
    )


ALIKE: Final = 0.01
"""Largest difference between TAGLA and TFER."""


def _order(key: str, found: Adaptations) -> Statement:
    values: dict[str, dict[str, float]] = {}
    lines, holds = [], True
    for channel in found:
        for symbol, measure in zip(("T_M", "T_W"), MEASURES, strict=True):
            numbers = [measured(found, policy, channel, measure) for policy in POLICIES]
            first, second, third, fourth, fifth = numbers
            strict = measure == MEASURES[0]
            holds = holds and first > max(second, third) and abs(second - third) <= ALIKE
            holds = holds and min(second, third) > fourth
            holds = holds and (fourth > fifth if strict else fourth >= fifth)
            name = f"{CHANNELS[channel].name} {symbol}"
            values[name] = dict(zip((p.name for p in POLICIES), numbers, strict=True))
            lines.append(f"{name}: {', '.join(f'{number:.3f}' for number in numbers)}")
    return Statement(
        key,
        "QAWLA is best; TAGLA and TFER are almost the same; MaxPHYThru-PER is above "
        "MaxPHYThru-FER, and both are far below (§6, Table 6).",
        f"T_M and T_W of both channels are in this order, TAGLA and TFER within {ALIKE:g}.",
        holds,
        lines,
        values,
    )


ADAPTATION_STATEMENTS: Final[tuple[StatementSpec, ...]] = (
    _spec("support", _support),
    _spec("mcs3-mcs4", _mcs3_mcs4),
    _spec("steepness", _steepness),
    _spec("h-100", _h_100),
    _spec("b-40", _b_40),
    _spec("b-20", _b_20),
    _spec("insensitive", _insensitive),
    _spec("over-rating", _over_rating),
    _spec("dependent", _dependent),
    _spec("worst-case", _worst_case),
    _spec("worst-peak", _worst_peak),
    _spec("near-optimum", _near_optimum),
    _spec("order", _order),
)
"""Every statement about link adaptation. None needs a simulation."""
