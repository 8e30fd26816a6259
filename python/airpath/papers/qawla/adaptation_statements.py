"""What the paper's text says about link adaptation (§4, §6), checked on our fixed points.

README.md has the criteria in a table, with what is known of when each was written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from airpath.papers.kit.base import Statement, StatementSpec
from airpath.papers.kit.session import Session
from airpath.papers.qawla.adaptation import Adaptation, Adaptations, adaptations
from airpath.papers.qawla.data import MEASURES
from airpath.papers.qawla.policies import POLICIES, measured
from airpath.papers.qawla.radio import AWGN, CHANNELS, ITU_A
from airpath.papers.qawla.rate_statements import (
    least_snr,
    mcs3_mcs4,
    per_channel,
    steepness,
    support,
)
from airpath.papers.qawla.thresholds import HS, OVER_RATINGS_DB, TH_PER, Curve

__all__ = ["ADAPTATION_STATEMENTS"]

NAMES: Final = ("QAWLA", "TAGLA")


def _spec(key: str, check: Callable[[str, Adaptations], Statement]) -> StatementSpec:
    def checked(session: Session) -> Statement:
        found = adaptations(session)
        if found is None:
            raise ValueError("a statement is checked only when nothing was interrupted")
        return check(key, found)

    return StatementSpec(key, (), checked)


def _rates_spec(key: str, check: Callable[[str], Statement]) -> StatementSpec:
    return _spec(key, lambda key, _found: check(key))


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


OPTIMUM_TEXT: Final = {
    True: "optimum among the policies with the same B",
    False: "one optimum over B = 20, 30 and 40",
}
"""What T_M is normalised by, by whether it is of one B."""


def _b_40(key: str, found: Adaptations, *, same_b: bool) -> Statement:
    measured, values, holds = [], {}, True
    for channel, adaptation in found.items():
        ours = Curve("QAWLA", boundary=40, same_b=same_b).values(adaptation)
        plain = Curve("TAGLA", same_b=same_b).values(adaptation)
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
        "H = 100: T_M below TAGLA's for every th_PER up to 1e-2, and above it at 0.5; "
        f"{OPTIMUM_TEXT[same_b]}.",
        holds,
        measured,
        values,
        of_paper=same_b,
    )


def _b_20(key: str, found: Adaptations, *, same_b: bool) -> Statement:
    peaks = {
        channel: {
            b: Curve("QAWLA", boundary=b, same_b=same_b).peak(adaptation)[1] for b in (20, 30)
        }
        for channel, adaptation in found.items()
    }
    return Statement(
        key,
        "B = 20 performs slightly better than B = 30 (§6, Figs. 7 and 8).",
        f"H = 100: its peak of T_M is higher, by at most {SLIGHTLY:g}, on both channels; "
        f"{OPTIMUM_TEXT[same_b]}.",
        all(0 < each[20] - each[30] <= SLIGHTLY for each in peaks.values()),
        per_channel(
            {c: [f"B = {b}: {peak:.4f}" for b, peak in each.items()] for c, each in peaks.items()}
        ),
        {channel: {f"B={b}": peak for b, peak in each.items()} for channel, each in peaks.items()},
        of_paper=same_b,
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
    peaks = _when_over_rated(found, lambda curve, adaptation: curve.peak(adaptation)[1])
    return _falls(key, "The peak of T_M", peaks)


def _over_rating_mean(key: str, found: Adaptations) -> Statement:
    means = _when_over_rated(found, lambda curve, adaptation: curve.average(adaptation, SWEPT_FROM))
    found_so = _falls(key, "The mean of T_M over th_PER from 1e-3 to 0.5", means)
    return replace(found_so, of_paper=False)


OverRated = Mapping[str, Mapping[str, Sequence[float]]]
"""By channel and policy, for each of `OVER_RATINGS_DB`."""


def _when_over_rated(
    found: Adaptations, measure: Callable[[Curve, Adaptation], float]
) -> OverRated:
    return {
        channel: {
            policy: [
                measure(Curve(policy, over_rating_db=db), adaptation) for db in OVER_RATINGS_DB
            ]
            for policy in NAMES
        }
        for channel, adaptation in found.items()
    }


def _falls(key: str, what: str, numbers: OverRated) -> Statement:
    holds = all(
        first > second > third
        for each in numbers.values()
        for first, second, third in each.values()
    ) and all(
        numbers[AWGN.key][policy][0] - numbers[AWGN.key][policy][step]
        > numbers[ITU_A.key][policy][0] - numbers[ITU_A.key][policy][step]
        for policy in NAMES
        for step in (1, 2)
    )
    return Statement(
        key,
        "Over-rating the SNR hurts both policies, more on AWGN (§6, Figs. 9 and 10).",
        f"{what} falls from 0 to 2 to 4 dB for QAWLA and TAGLA, and by more on AWGN.",
        holds,
        per_channel(
            {
                channel: [f"{policy} {_listed(each[policy])}" for policy in NAMES]
                for channel, each in numbers.items()
            }
        ),
        numbers,
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
        per_channel(
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
    return per_channel(
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


def _worst_peak(key: str, found: Adaptations, policy: str) -> Statement:
    peaks = _worst_peaks(found)
    low, high = VICINITY
    return Statement(
        key,
        f"T_W of {policy} peaks in the vicinity of th_PER = 0.05 on both channels (§6, Figs. 11 "
        "and 12).",
        f"{policy}'s peak is within a factor 2 of it.",
        all(low <= each[policy][0] <= high for each in peaks.values()),
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
    _rates_spec("support", support),
    _rates_spec("least-snr", least_snr),
    _rates_spec("mcs3-mcs4", mcs3_mcs4),
    _rates_spec("steepness", steepness),
    _spec("h-100", _h_100),
    _spec("b-40", partial(_b_40, same_b=True)),
    _spec("b-40-one-optimum", partial(_b_40, same_b=False)),
    _spec("b-20", partial(_b_20, same_b=True)),
    _spec("b-20-one-optimum", partial(_b_20, same_b=False)),
    _spec("insensitive", _insensitive),
    _spec("over-rating", _over_rating),
    _spec("over-rating-mean", _over_rating_mean),
    _spec("dependent", _dependent),
    _spec("worst-case", _worst_case),
    _spec("worst-peak", partial(_worst_peak, policy="QAWLA")),
    _spec("worst-peak-tagla", partial(_worst_peak, policy="TAGLA")),
    _spec("near-optimum", _near_optimum),
    _spec("order", _order),
)
"""Every statement about link adaptation. None needs a simulation."""
