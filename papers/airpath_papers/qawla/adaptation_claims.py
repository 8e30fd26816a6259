"""How the claims of ``claims.toml`` about link adaptation are checked (§6).

None needs a simulation. README.md has what is known of when each criterion was written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined
from airpath_papers.qawla.adaptation import POLICIES, Adaptations, measured, solved_on
from airpath_papers.qawla.claims import CLAIMS
from airpath_papers.qawla.curves import AWGN, CHANNELS, ITU_A
from airpath_papers.qawla.data import MEASURES, published_entry
from airpath_papers.qawla.link_adaptation import Adaptation, Policy, Sweep
from airpath_papers.qawla.policies import SYMBOLS
from airpath_papers.qawla.thresholds import HS, OVER_RATINGS_DB, TH_PER, Curve

__all__ = ["NAMES"]

NAMES: Final = ("QAWLA", "TAGLA")

Check = Callable[[Adaptations, ClaimSpec], Finding]


def _check(key: str) -> Callable[[Check], Check]:
    """Return what makes a function of the fixed points the check of a claim."""

    def made(check: Check) -> Check:
        says = CLAIMS.check(key, is_random=True)
        says(lambda session, spec, _cells: check(solved_on(session), spec))
        return check

    return made


def _line(channel: str, entries: Sequence[str]) -> str:
    return f"{CHANNELS[channel].name}: {joined(entries)}"


# --- H and B -----------------------------------------------------------------------------------


@_check("h-100")
def _h_100(found: Adaptations, spec: ClaimSpec) -> Finding:
    leads = {}

    def on(channel: str, adaptation: Adaptation) -> Finding:
        peaks = {h: Curve("QAWLA", h).sweep.peak(adaptation) for h in HS}
        robust = {h: Curve("QAWLA", h).sweep.average(adaptation, spec["robust_from"]) for h in HS}
        others = [h for h in HS if h != 100]
        leads[channel] = peaks[100][1] - max(peaks[h][1] for h in others)
        each = {h: {"peak": peaks[h][1], "at": peaks[h][0], "robust": robust[h]} for h in HS}
        lines = [
            f"H = {h}: peak {of['peak']:.4f} at {of['at']:.2g}, mean {of['robust']:.4f}"
            for h, of in each.items()
        ]
        return Finding(
            leads[channel] > 0 and robust[100] > max(robust[h] for h in others),
            [_line(channel, lines)],
            {f"H={h}": of for h, of in each.items()},
        )

    best, lines, values = gathered("", found, on)
    return Finding(best and leads[ITU_A.key] > leads[AWGN.key], lines, values)


@_check("h-100-visible")
def _h_100_visible(found: Adaptations, spec: ClaimSpec) -> Finding:
    def leads(adaptation: Adaptation) -> tuple[float, float]:
        sweeps = {h: Curve("QAWLA", h).sweep for h in HS}
        peaks = {h: sweep.peak(adaptation)[1] for h, sweep in sweeps.items()}
        robust = {h: sweep.average(adaptation, spec["robust_from"]) for h, sweep in sweeps.items()}
        first, second = (of[100] - max(of[h] for h in HS if h != 100) for of in (peaks, robust))
        return first, second

    each = {channel: leads(adaptation) for channel, adaptation in found.items()}
    pairs = list(zip(each[AWGN.key], each[ITU_A.key], strict=True))
    lines = [
        _line(channel, [f"H = 100 leads by {peak:+.4f} in the peak", f"{mean:+.4f} in the mean"])
        for channel, (peak, mean) in each.items()
    ]
    return Finding(all(spec["visible"] <= awgn < itu_a for awgn, itu_a in pairs), lines, each)


@_check("b-40")
@_check("b-40-one-optimum")
def _b_40(found: Adaptations, spec: ClaimSpec) -> Finding:
    def on(channel: str, adaptation: Adaptation) -> Finding:
        qawla_b, tagla_b = (40, 20) if spec["same_b"] else (None, None)
        ours = Curve("QAWLA", boundary=40, optimum_b=qawla_b).sweep.values(adaptation)
        plain = Curve("TAGLA", optimum_b=tagla_b).sweep.values(adaptation)
        ahead = [th for th, a, b in zip(TH_PER, ours, plain, strict=True) if a >= b]
        low = [th for th in ahead if th <= 1.001 * spec["low"]]
        lead, at = f"from th_PER = {min(ahead):.2g}" if ahead else "nowhere", TH_PER.index(10**-3)
        return Finding(
            not low and ours[-1] > plain[-1],
            [
                f"{CHANNELS[channel].name}: not worse {lead}; at 1e-3 {ours[at]:.3f} against "
                f"{plain[at]:.3f}, at 0.5 {ours[-1]:.3f} against {plain[-1]:.3f}"
            ],
            {"not_worse_from": min(ahead, default=None)},
        )

    return gathered("", found, on)


@_check("b-40-like-optimum")
def _b_40_like_optimum(found: Adaptations, spec: ClaimSpec) -> Finding:
    def on(_name: str, place: tuple[str, int]) -> Finding:
        channel, of_b = place
        ahead = _ahead(found[channel], of_b or None)
        low = [lead for th, lead in ahead.items() if th <= 1.001 * spec["low"]]
        last, mean = ahead[TH_PER[-1]], sum(low) / len(low)
        of = f"optimum of B = {of_b}" if of_b else "one optimum"
        line = f"{CHANNELS[channel].name}, {of}: QAWLA less TAGLA up to {spec['low']:g} "
        line += f"{min(low):+.3f} to {max(low):+.4f}, mean {mean:+.3f}; at 0.5 {last:+.3f}"
        values = {"largest": max(low), "mean": mean, "at_0.5": last}
        return Finding(max(low) <= 0 and mean < 0 < last, [line], values)

    places = {f"{key}, {of_b}": (key, of_b) for key in found for of_b in spec["optima"]}
    return gathered("", places, on)


def _ahead(adaptation: Adaptation, optimum_b: int | None = None) -> dict[float, float]:
    """Return by how much B = 40 is above TAGLA in T_M at each th_PER."""
    b_40 = Curve("QAWLA", boundary=40, optimum_b=optimum_b).sweep.values(adaptation)
    plain = Curve("TAGLA", optimum_b=optimum_b).sweep.values(adaptation)
    return {th: a - b for th, a, b in zip(TH_PER, b_40, plain, strict=True)}


@_check("b-40-well-above")
def _b_40_well_above(found: Adaptations, spec: ClaimSpec) -> Finding:
    def on(channel: str, adaptation: Adaptation) -> Finding:
        above = [th for th, lead in _ahead(adaptation).items() if lead > 0]
        first = min(above, default=None)
        holds = first is not None and first >= 0.999 * spec["factor"] * spec["low"]
        line = "nowhere" if first is None else f"from th_PER = {first:.2g}"
        return Finding(holds, [f"{CHANNELS[channel].name}: above TAGLA {line}"], {"from": first})

    return gathered("", found, on)


@_check("b-below-min-th")
def _b_below_min_th(found: Adaptations, _spec: ClaimSpec) -> Finding:
    def on(channel: str, adaptation: Adaptation) -> Finding:
        curves = {f"B = {b}": Curve("QAWLA", boundary=b) for b in (20, 30, 40)}
        curves["TAGLA"] = Curve("TAGLA")
        peaks = {name: curve.sweep.peak(adaptation)[1] for name, curve in curves.items()}
        least = min(peaks["B = 20"], peaks["B = 30"])
        line = _line(channel, [f"{name}: {peak:.4f}" for name, peak in peaks.items()])
        return Finding(least > max(peaks["B = 40"], peaks["TAGLA"]), [line], peaks)

    return gathered("", found, on)


@_check("b-20")
@_check("b-20-one-optimum")
def _b_20(found: Adaptations, spec: ClaimSpec) -> Finding:
    def on(channel: str, adaptation: Adaptation) -> Finding:
        peaks = {
            b: Curve("QAWLA", boundary=b, optimum_b=b if spec["same_b"] else None).sweep.peak(
                adaptation
            )[1]
            for b in (20, 30)
        }
        return Finding(
            0 < peaks[20] - peaks[30] <= spec["slightly"],
            [_line(channel, [f"B = {b}: {peak:.4f}" for b, peak in peaks.items()])],
            {f"B={b}": peak for b, peak in peaks.items()},
        )

    return gathered("", found, on)


# --- th_PER and over-rating --------------------------------------------------------------------


@_check("insensitive")
def _insensitive(found: Adaptations, spec: ClaimSpec) -> Finding:
    def when(_name: str, place: tuple[str, int]) -> Finding:
        channel, db = place
        spread, peak = {}, {}
        for policy in NAMES:
            curve = Curve(policy, over_rating_db=db).sweep
            high = curve.values(found[channel], spec["from"])
            spread[policy], peak[policy] = max(high) - min(high), curve.peak(found[channel])[1]
        each = [f"{p} range {spread[p]:.3f}, peak {peak[p]:.3f}" for p in NAMES]
        return Finding(
            spread["QAWLA"] < spread["TAGLA"] and (db == 0 or peak["QAWLA"] > peak["TAGLA"]),
            [f"{CHANNELS[channel].name}, {db} dB over-rated: {joined(each)}"],
            {"range": spread, "peak": peak},
        )

    return gathered("", _over_rated(found, OVER_RATINGS_DB), when)


@_check("insensitive-over-axis")
def _insensitive_over_axis(found: Adaptations, _spec: ClaimSpec) -> Finding:
    def when(_name: str, place: tuple[str, int]) -> Finding:
        channel, db = place
        curves = {policy: Curve(policy, over_rating_db=db).sweep for policy in NAMES}
        values = {policy: curve.values(found[channel]) for policy, curve in curves.items()}
        ranges = {policy: max(each) - min(each) for policy, each in values.items()}
        line = joined([f"{policy} range {ranges[policy]:.3f}" for policy in NAMES])
        about = f"{CHANNELS[channel].name}, {db} dB over-rated: "
        return Finding(ranges["QAWLA"] < ranges["TAGLA"], [about + line], ranges)

    return gathered("", _over_rated(found, OVER_RATINGS_DB), when)


def _over_rated(found: Adaptations, ratings_db: Sequence[int]) -> dict[str, tuple[str, int]]:
    return {f"{channel}, {db} dB": (channel, db) for channel in found for db in ratings_db}


@_check("over-rated-better")
def _over_rated_better(found: Adaptations, spec: ClaimSpec) -> Finding:
    def when(_name: str, place: tuple[str, int]) -> Finding:
        channel, db = place
        ours, plain = (
            Curve(policy, over_rating_db=db).sweep.values(found[channel]) for policy in NAMES
        )
        behind = [th for th, a, b in zip(TH_PER, ours, plain, strict=True) if a < b]
        gain = sum(ours) / sum(plain) - 1
        line = f"{CHANNELS[channel].name}, {db} dB over-rated: mean {gain:+.1%}, "
        line += f"below TAGLA at {len(behind)} of {len(TH_PER)} th_PER"
        values = {"gain": gain, "below_at": behind}
        return Finding(not behind and gain >= spec["significantly"], [line], values)

    return gathered("", _over_rated(found, OVER_RATINGS_DB[1:]), when)


OverRated = Mapping[str, Mapping[str, Sequence[float]]]
"""By channel and policy, for each of `OVER_RATINGS_DB`."""


def _when_over_rated(
    found: Adaptations, measure: Callable[[Sweep, Adaptation], float]
) -> OverRated:
    return {
        channel: {
            policy: [
                measure(Curve(policy, over_rating_db=db).sweep, adaptation)
                for db in OVER_RATINGS_DB
            ]
            for policy in NAMES
        }
        for channel, adaptation in found.items()
    }


def _lines(numbers: OverRated, spec: str) -> list[str]:
    return [
        _line(channel, [f"{policy} {joined(each[policy], spec)}" for policy in NAMES])
        for channel, each in numbers.items()
    ]


def _falls(numbers: OverRated) -> Finding:
    awgn, itu_a = numbers[AWGN.key], numbers[ITU_A.key]
    holds = all(
        first > second > third
        for each in numbers.values()
        for first, second, third in each.values()
    ) and all(
        awgn[policy][0] - awgn[policy][step] > itu_a[policy][0] - itu_a[policy][step]
        for policy in NAMES
        for step in (1, 2)
    )
    return Finding(holds, _lines(numbers, ".3f"), numbers)


@_check("over-rating")
def _over_rating(found: Adaptations, _spec: ClaimSpec) -> Finding:
    return _falls(_when_over_rated(found, lambda curve, adaptation: curve.peak(adaptation)[1]))


@_check("over-rating-mean")
def _over_rating_mean(found: Adaptations, spec: ClaimSpec) -> Finding:
    def mean(curve: Sweep, adaptation: Adaptation) -> float:
        return curve.average(adaptation, spec["from"])

    return _falls(_when_over_rated(found, mean))


@_check("over-rating-fixed")
def _over_rating_fixed(found: Adaptations, spec: ClaimSpec) -> Finding:
    return _falls(
        {
            channel: {
                policy: [
                    adaptation.mean(Curve(policy).at(spec[policy]), db) for db in OVER_RATINGS_DB
                ]
                for policy in NAMES
            }
            for channel, adaptation in found.items()
        }
    )


@_check("dependent")
def _dependent(found: Adaptations, _spec: ClaimSpec) -> Finding:
    best = _when_over_rated(found, lambda curve, adaptation: curve.peak(adaptation)[0])
    holds = all(
        best[AWGN.key][policy] != best[ITU_A.key][policy]
        and any(len(set(each[policy])) > 1 for each in best.values())
        for policy in NAMES
    )
    return Finding(holds, _lines(best, ".2g"), best)


# --- the worst case, and the policies ----------------------------------------------------------


def _worst(
    found: Adaptations, holds: Callable[[Mapping[str, tuple[float, float]]], bool]
) -> Finding:
    """Return where T_W is largest; it holds when `holds` of that by policy, on each channel."""

    def on(channel: str, adaptation: Adaptation) -> Finding:
        peaks = {policy: Curve(policy, worst=True).sweep.peak(adaptation) for policy in NAMES}
        each = [f"{policy} {peak:.3f} at {th:.2g}" for policy, (th, peak) in peaks.items()]
        values = {policy: {"at": th, "peak": peak} for policy, (th, peak) in peaks.items()}
        return Finding(holds(peaks), [_line(channel, each)], values)

    return gathered("", found, on)


@_check("worst-case")
def _worst_case(found: Adaptations, spec: ClaimSpec) -> Finding:
    return _worst(found, lambda of: of["QAWLA"][1] - of["TAGLA"][1] >= spec["considerably"])


@_check("similar-trend")
def _similar_trend(found: Adaptations, spec: ClaimSpec) -> Finding:
    def of(policy: str, sweep: Sweep) -> Finding:
        awgn, itu_a = (sweep.values(found[channel.key]) for channel in (AWGN, ITU_A))
        alike = float(np.corrcoef(awgn, itu_a)[0, 1])
        line = f"{policy}: correlation of both channels {alike:+.2f}"
        return Finding(alike >= spec["correlation"], [line], {"correlation": alike})

    return gathered("", {policy: Curve(policy, worst=True).sweep for policy in NAMES}, of)


@_check("worst-peak")
@_check("worst-peak-tagla")
def _worst_peak(found: Adaptations, spec: ClaimSpec) -> Finding:
    low, high = spec["vicinity"]
    return _worst(found, lambda of: bool(low <= of[spec["policy"]][0] <= high))


@_check("worst-case-as-printed")
def _worst_case_as_printed(found: Adaptations, spec: ClaimSpec) -> Finding:
    def on(channel: str, _adaptation: Adaptation) -> Finding:
        ours, theirs = _step(found, 0, channel, MEASURES[1])
        line = f"{CHANNELS[channel].name}: {ours:+.3f}, printed {theirs:+.2f}"
        return Finding(_is_near(ours, theirs, spec["share"]), [line], {"difference": ours})

    return gathered("", found, on)


def _step(found: Adaptations, place: int, channel: str, measure: str) -> tuple[float, float]:
    """Return by how much a policy of Table 6 is above the next one, ours and as printed."""
    pair = POLICIES[place : place + 2]
    ours, next_ours = (measured(found, policy, channel, measure) for policy in pair)
    theirs, next_theirs = (published_entry(policy.name, channel, measure) for policy in pair)
    return ours - next_ours, theirs - next_theirs


def _is_near(ours: float, theirs: float, share: float) -> bool:
    # The last bit does not decide.
    return abs(ours - theirs) <= share * abs(theirs) + 1e-12


@_check("near-optimum")
def _near_optimum(found: Adaptations, spec: ClaimSpec) -> Finding:
    means = {channel: adaptation.mean(POLICIES[0]) for channel, adaptation in found.items()}
    lines = [_line(channel, [f"{mean:.3f}"]) for channel, mean in means.items()]
    return Finding(min(means.values()) >= spec["close"], lines, means)


@_check("order")
def _order(found: Adaptations, spec: ClaimSpec) -> Finding:
    def of(name: str, place: tuple[str, str]) -> Finding:
        channel, measure = place
        numbers = [measured(found, policy, channel, measure) for policy in POLICIES]
        first, second, third, fourth, fifth = numbers
        alike = first > max(second, third) and abs(second - third) <= spec["alike"]
        last = fourth > fifth if measure == MEASURES[0] else fourth >= fifth
        values: dict[str, Any] = dict(zip((p.name for p in POLICIES), numbers, strict=True))
        line = f"{name}: {joined(numbers, '.3f')}"
        return Finding(alike and min(second, third) > fourth and last, [line], values)

    return gathered("", _entries(found), of)


@_check("order-as-printed")
def _order_as_printed(found: Adaptations, spec: ClaimSpec) -> Finding:
    def of(name: str, place: tuple[str, str]) -> Finding:
        steps = [_step(found, number, *place) for number in range(len(POLICIES) - 1)]
        near = [
            _is_near(ours, theirs, 0.5)
            if abs(theirs) >= 0.999 * spec["from"]
            else abs(ours - theirs) <= spec["near"]
            for ours, theirs in steps
        ]
        each = joined([f"{ours:+.3f} ({theirs:+.2f})" for ours, theirs in steps])
        return Finding(all(near), [f"{name}: ours (printed) {each}"], {"steps": steps})

    return gathered("", _entries(found), of)


def _entries(found: Adaptations) -> dict[str, tuple[str, str]]:
    return {
        f"{CHANNELS[channel].name} {symbol}": (channel, measure)
        for channel in found
        for measure, symbol in SYMBOLS.items()
    }


@_check("max-phy-slightly")
def _max_phy_slightly(found: Adaptations, spec: ClaimSpec) -> Finding:
    def of(name: str, place: tuple[str, str]) -> Finding:
        ours, theirs = _step(found, 3, *place)
        above = ours > 0 if place[1] == MEASURES[0] else ours >= 0
        line = f"{name}: {ours:+.3f}, printed {theirs:+.2f}"
        return Finding(above and ours <= spec["slightly"], [line], {"difference": ours})

    return gathered("", _entries(found), of)


@_check("max-phy-worst")
def _max_phy_worst(found: Adaptations, spec: ClaimSpec) -> Finding:
    def of(name: str, place: tuple[Policy, str]) -> Finding:
        policy, channel = place
        ours = measured(found, policy, channel, MEASURES[1])
        theirs = published_entry(policy.name, channel, MEASURES[1])
        line = f"{name}: {ours:.4f}, printed {theirs:.2f}"
        return Finding(abs(ours - theirs) <= spec["near"] + 1e-12, [line], {"worst": ours})

    places = {
        f"{policy.name}, {CHANNELS[channel].name}": (policy, channel)
        for policy in POLICIES[3:]
        for channel in found
    }
    return gathered("", places, of)
