"""Sentences that had no criterion: settings, flows, timers, averages (sbd-2006 §2, §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, Final

import numpy as np

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, is_less, joined, known, means
from airpath.reproduction.measures import delay_s, goodput_kbps, overflows
from airpath.reproduction.session import Session
from airpath.results.intervals import Interval
from airpath_papers.sbd.claims.common import CLAIMS, SWEPT, Cases, proposed, rises
from airpath_papers.sbd.claims.revised import lowest_share
from airpath_papers.sbd.claims.settings import most_and_proposed, red_grids
from airpath_papers.sbd.data import (
    BEARERS,
    GRID_MIN_TH,
    AveragedRed,
    DropTail,
    Red,
    Sbd,
    flows_named,
    published_table,
    strengths,
)
from airpath_papers.sbd.scenarios import SWITCH_S, Case, Use
from airpath_papers.sbd.tables import QUANTITIES

__all__ = ["pseudovalues", "rfc6298_rto_s"]

GRID_USE: Final = Use(replications=20)
"""The runs of a setting on a whole grid."""

# --- minth, one flow and four (Figs. 6 to 9) ---------------------------------------------------


def _whole_grid(spec: ClaimSpec) -> dict[int, dict[int, list[Case]]]:
    return {
        bearer: {
            min_th: [Case(bearer, 1, Sbd(t_r, min_th), use=GRID_USE) for t_r in spec["t_r_ms"]]
            for min_th in GRID_MIN_TH
        }
        for bearer in SWEPT
    }


@CLAIMS.check("minth-floor", _whole_grid)
def _floor(session: Session, spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def at(bearer: int, rows: Mapping[int, list[Case]]) -> Finding:
        goodputs = [means(session, row, goodput_kbps) for row in rows.values()]
        largest = max(map(max, goodputs))
        floors = [lowest_share(row, largest)[1] for row in goodputs]
        delays = [min(means(session, row, delay_s)) for row in rows.values()]
        kept = all(b > a or min(a, b) >= spec["near"] for a, b in pairwise(floors))
        return Finding(
            kept and rises(delays),
            [
                f"{bearer} kbit/s, minth {joined(list(rows))}: lowest goodput "
                f"{joined(floors, '.1%')} of the largest, lowest delay {joined(delays, '.2f')} s"
            ],
            {"goodput_share": floors, "delay_s": delays},
        )

    return gathered("bearer", cases, at)


def _lowest_min_th(spec: ClaimSpec) -> dict[int, dict[int, list[Case]]]:
    settings = [Sbd(t_r, spec["min_th"]) for t_r in spec["t_r_ms"]]
    return {
        bearer: {n: [Case(bearer, n, each, use=GRID_USE) for each in settings] for n in (1, 4)}
        for bearer in SWEPT
    }


@CLAIMS.check("one-flow-worst", _lowest_min_th)
def _one_flow(session: Session, _spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def at(bearer: int, rows: Mapping[int, list[Case]]) -> Finding:
        kept = {n: lowest_share(means(session, row, goodput_kbps))[1] for n, row in rows.items()}
        named = [f"{flows_named(n)} {each:.1%}" for n, each in kept.items()]
        return Finding(
            kept[1] < kept[4],
            [f"{bearer} kbit/s: lowest goodput, of the largest: {joined(named)}"],
            {f"flows={n}": each for n, each in kept.items()},
        )

    return gathered("bearer", cases, at)


# --- from the largest goodput to the proposal --------------------------------------------------


def _changes(session: Session, pair: Sequence[Case]) -> dict[str, Interval]:
    """Return the change of each quantity from one setting to another, in per cent of the first."""
    found = {}
    for name, quantity in QUANTITIES.items():
        before, after = (session.values(case, quantity.measure) for case in pair)
        mean = fmean(before) / 100
        found[name] = session.interval([(b - a) / mean for a, b in zip(before, after, strict=True)])
    return found


def _change_line(bearer: int, found: Mapping[str, Interval]) -> str:
    each = [f"{name} {e.mean:+.1f} ± {e.half_width:.1f} %" for name, e in found.items()]
    return f"{bearer} kbit/s: {joined(each)}"


@CLAIMS.check("proposal-range", lambda _spec: most_and_proposed((2, 3)))
def _proposal(session: Session, spec: ClaimSpec, cases: Mapping[int, list[Case]]) -> Finding:
    least, most = spec["paid"]
    found = {bearer: _changes(session, pair) for bearer, pair in cases.items()}
    shorter = all(each["delay"].high < 0 for each in found.values())
    in_range = all(
        -each["goodput"].high <= most and -each["goodput"].low >= least for each in found.values()
    )
    reduced = -min(each["delay"].mean for each in found.values())
    return Finding(
        shorter and in_range and reduced >= spec["reduced"],
        [_change_line(bearer, each) for bearer, each in found.items()],
        {f"bearer={b}": {name: e.mean for name, e in each.items()} for b, each in found.items()},
    )


@CLAIMS.check("proposal-red", lambda _spec: most_and_proposed((4, 5)))
def _proposal_red(session: Session, spec: ClaimSpec, cases: Mapping[int, list[Case]]) -> Finding:
    def at(bearer: int, pair: list[Case]) -> Finding:
        found = _changes(session, pair)
        return Finding(
            found["delay"].high < 0 and -found["goodput"].mean <= spec["paid"],
            [_change_line(bearer, found)],
            {name: each.mean for name, each in found.items()},
        )

    return gathered("bearer", cases, at)


# --- RED with one flow and with four (Figs. 10 to 13) ------------------------------------------


def pseudovalues(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the jackknife pseudovalues of the relative deviation over settings, one for each run.

    `values` has a row for each setting and a column for each run.
    """
    runs = values.shape[1]
    total = values.sum(axis=1, keepdims=True)
    without = (total - values) / (runs - 1)
    mean = total[:, 0] / runs
    left_out = without.std(axis=0) / without.mean(axis=0)
    found: np.ndarray[Any, Any] = runs * mean.std() / mean.mean() - (runs - 1) * left_out
    return found


@CLAIMS.check("red-responsive-interval", red_grids)
def _responsive(session: Session, _spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    holds, lines, values = True, [], {}
    for bearer, grids in cases.items():
        for name, quantity in QUANTITIES.items():
            one, four = (
                pseudovalues(np.array([session.values(c, quantity.measure) for c in grids[n]]))
                for n in (1, 4)
            )
            more = session.interval([float(each) for each in 100 * (one - four)])
            holds = holds and more.low > 0
            lines.append(
                f"{bearer} kbit/s, {name}: one flow {one.mean():.1%}, four {four.mean():.1%}; "
                f"difference {more.mean:+.1f} ± {more.half_width:.1f} points"
            )
            values[f"bearer={bearer}, {name}"] = {"more": more.mean, "half": more.half_width}
    return Finding(holds, lines, values)


# --- the setting belongs to the rate -----------------------------------------------------------

ENDS: Final = (BEARERS[0], BEARERS[-1])
"""The fastest and the slowest bearer."""


def _exchanged(_spec: ClaimSpec) -> dict[str, dict[str, Case]]:
    """Return the fastest and the slowest bearer with their own and each other's setting."""
    fast, slow = ENDS
    return {
        name: {
            "fast": Case(fast, 1, proposed(table, fast)),
            "fast, other": Case(fast, 1, proposed(table, slow), use=Use(replications=100)),
            "slow": Case(slow, 1, proposed(table, slow)),
            "slow, other": Case(slow, 1, proposed(table, fast), use=Use(replications=100)),
        }
        for name, table in (("SBD", 3), ("RED", 5))
    }


@CLAIMS.check("setting-by-rate", _exchanged)
def _by_rate(session: Session, spec: ClaimSpec, cases: Mapping[str, Cases]) -> Finding:
    fast, slow = ENDS

    def of(name: str, found: Cases) -> Finding:
        own, other = (known(session, found[n], goodput_kbps).mean for n in ("fast", "fast, other"))
        short, long = (known(session, found[n], delay_s).mean for n in ("slow", "slow, other"))
        paid, longer = 100 * (1 - other / own), 100 * (long / short - 1)
        differ = is_less(session, found["fast, other"], found["fast"], goodput_kbps)
        differ = differ and is_less(session, found["slow"], found["slow, other"], delay_s)
        return Finding(
            differ and paid >= spec["paid"] and longer >= spec["longer"],
            [
                f"{name}: {fast} kbit/s, goodput {own:.1f} kbit/s, with the setting for {slow} "
                f"kbit/s {other:.1f} (-{paid:.0f} %); {slow} kbit/s, delay {short:.2f} s, with the "
                f"setting for {fast} kbit/s {long:.2f} ({longer:+.0f} %)"
            ],
            {"goodput_lost_per_cent": paid, "delay_added_per_cent": longer},
        )

    return gathered("aqm", cases, of)


# --- the printed best settings (Tables 2 and 4) ------------------------------------------------


def _with_printed(spec: ClaimSpec) -> dict[tuple[str, int], list[Case]]:
    """Return the grid by AQM and bearer; the printed setting stands first."""
    use, found = Use(replications=spec["runs"]), {}
    for aqm, table in (("sbd", 2), ("red", 4)):
        for bearer, row in published_table(table).items():
            values = sorted({*strengths(aqm, 4), row.aqm[0]})
            settings: list[Any] = [
                Sbd(int(value), min_th) if aqm == "sbd" else Red(value, min_th)
                for value in values
                for min_th in GRID_MIN_TH
            ]
            found[aqm, bearer] = [Case(bearer, 1, each, use=use) for each in (row.aqm, *settings)]
    return found


@CLAIMS.check("best-settings", _with_printed)
def _best(
    session: Session, _spec: ClaimSpec, cases: Mapping[tuple[str, int], list[Case]]
) -> Finding:
    def of(place: tuple[str, int], found: list[Case]) -> Finding:
        aqm, bearer = place
        goodputs = means(session, found, goodput_kbps)
        largest = max(goodputs)
        best: Any = found[goodputs.index(largest)].aqm
        theirs = published_table(2 if aqm == "sbd" else 4)[bearer]
        below, allowed = largest - goodputs[0], theirs.goodput_kbps.half_width
        printed = "{:g}/{:g}".format(*theirs.aqm[:2])
        return Finding(
            below <= allowed,
            [
                f"{aqm.upper()}, {bearer} kbit/s: {goodputs[0]:.1f} kbit/s with {printed}, largest "
                f"{largest:.1f} with {best[0]:g}/{best[1]:g}: {below:.1f} below, printed "
                f"± {allowed:g}"
            ],
            {"printed": goodputs[0], "largest": largest, "setting": list(best[:2])},
        )

    return gathered("grid", cases, of)


# --- timers, averages (Figs. 2 and 15) ---------------------------------------------------------


def _recorded(spec: ClaimSpec) -> list[Case]:
    use = Use(SWITCH_S + spec["part_s"], replications=spec["runs"], switch=True, record=("rtt",))
    return [Case(384, 2, DropTail(), use=use)]


def rfc6298_rto_s(samples_s: Sequence[float]) -> list[float]:
    """Return the RTO after each RTT sample, s: RFC 6298 §2, at least 1 s, without back-off."""
    found, srtt, rttvar = [], samples_s[0] if samples_s else 0.0, 0.0
    for number, sample in enumerate(samples_s):
        if number == 0:
            rttvar = sample / 2
        else:
            rttvar += (abs(srtt - sample) - rttvar) / 4
            srtt += (sample - srtt) / 8
        found.append(max(1.0, srtt + 4 * rttvar))
    return found


def _mean_rto_s(session: Session, run: int, case: Case, times_s: tuple[float, float]) -> float:
    """Return the mean RTO over the RTT samples of all flows in a part of a run, s."""
    series = session.series(case, "rtt", run)
    flows = [series.of(flow) for flow in range(case.flows)]
    times = np.concatenate([times for times, _ in flows])
    timeouts = np.concatenate([rfc6298_rto_s(samples.tolist()) for _, samples in flows])
    return float(timeouts[(times >= times_s[0]) & (times < times_s[1])].mean())


@CLAIMS.check("rto-inflation", _recorded)
def _inflation(session: Session, spec: ClaimSpec, cases: Sequence[Case]) -> Finding:
    (case,), part_s = cases, spec["part_s"]

    def at(low: float, high: float) -> list[float]:
        return session.per_run(
            case,
            f"RTO, {low} to {high} s",
            lambda runs, run: _mean_rto_s(runs, run, case, (low, high)),
        )

    before, after = at(SWITCH_S - part_s, SWITCH_S), at(SWITCH_S, SWITCH_S + part_s)
    longer = session.difference(after, before)
    return Finding(
        longer is not None and longer.low > 0,
        [f"RTO {fmean(before):.2f} s before the change, {fmean(after):.2f} s after it"],
        {"before_s": fmean(before), "after_s": fmean(after)},
    )


def _averaged(spec: ClaimSpec) -> dict[str, Case]:
    use, setting = Use(duration_s=spec["first_s"], replications=100), proposed(5, 384)
    return {
        name: Case(384, 2, AveragedRed(setting.max_p, setting.min_th, weight), use=use)
        for name, weight in (("instantaneous", 1.0), ("average", spec["weight"]))
    }


@CLAIMS.check("averaged-red", _averaged)
def _averaged_red(session: Session, _spec: ClaimSpec, cases: Cases) -> Finding:
    lost = {name: known(session, case, overflows).mean for name, case in cases.items()}
    named = [f"{name} {mean:.2f}" for name, mean in lost.items()]
    return Finding(
        is_less(session, cases["instantaneous"], cases["average"], overflows),
        [f"overflow drops: {joined(named)}"],
        lost,
    )
