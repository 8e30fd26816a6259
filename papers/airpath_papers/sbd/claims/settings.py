"""What the text says about the parameters of SBD and RED, and of Table 6 (sbd-2006 §5 and §7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any, Final

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, is_less, joined, known, means
from airpath.reproduction.measures import delay_s, goodput_kbps
from airpath.reproduction.session import Session
from airpath_papers.sbd.claims.common import (
    CHECKED,
    CLAIMS,
    SWEPT,
    Cases,
    proposals,
    proposed,
    rises,
    sweep,
)
from airpath_papers.sbd.data import (
    BEARERS,
    GRID_MIN_TH,
    Red,
    flows_named,
    improvements,
    published_table,
    strengths,
)
from airpath_papers.sbd.scenarios import Case, Use
from airpath_papers.sbd.table1 import base_rtt_ms
from airpath_papers.sbd.tables import QUANTITIES, TABLE6_CELLS, improvement

__all__ = [
    "at_least_2_bdp",
    "by_min_th",
    "kept_goodput",
    "most_and_proposed",
    "red_grids",
    "twice_bdp",
    "up_to_proposed",
    "with_alphas",
]

SDU_BITS: Final = 12_000

# --- T_r, minth and α (Figs. 6 and 8) ----------------------------------------------------------


def up_to_proposed(_spec: ClaimSpec) -> dict[int, dict[str, list[Case]]]:
    """Return the sweep with minth of Table 3 up to its T_r, and with the least all of it."""
    found = {}
    for bearer in SWEPT:
        chosen, t_r_ms = proposed(3, bearer), strengths("sbd", 4)
        values = [t_r for t_r in t_r_ms if t_r < chosen.t_r_ms]
        upto = sweep(bearer, [*values, chosen.t_r_ms], chosen.min_th)
        found[bearer] = {"upto": upto, "low": sweep(bearer, t_r_ms, GRID_MIN_TH[0])}
    return found


@CLAIMS.check("reaction-time", up_to_proposed)
def _reaction_time(session: Session, spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def at(bearer: int, found: Mapping[str, list[Case]]) -> Finding:
        upto, low = found["upto"], means(session, found["low"], goodput_kbps)
        t_r_ms, beyond_ms = [each.aqm[0] for each in upto], found["low"][-1].aqm[0]
        goodputs, delays = means(session, upto, goodput_kbps), means(session, upto, delay_s)
        flat, beyond = min(goodputs) / max(goodputs), low[-1] / max(low)
        falls = rises([-delay for delay in delays])
        return Finding(
            flat >= spec["flat"] and falls and beyond < spec["flat"],
            [
                f"{bearer} kbit/s, minth {proposed(3, bearer).min_th}, T_r {joined(t_r_ms)} ms: "
                f"delay {joined(delays, '.2f')} s, goodput {joined(goodputs, '.1f')} kbit/s, the "
                f"lowest {flat:.1%} of the largest; minth 5, T_r {beyond_ms} ms: {beyond:.0%} of "
                "its largest"
            ],
            {"flat": flat, "delay_s": delays, "beyond": beyond},
        )

    return gathered("bearer", cases, at)


def twice_bdp(bearer: int) -> float:
    """Return 2 BDP, SDUs."""
    return 2 * bearer * base_rtt_ms() / SDU_BITS


def at_least_2_bdp(bearer: int) -> int:
    """Return the smallest minth of the grid from 2 BDP on."""
    return next(n for n in GRID_MIN_TH if n >= twice_bdp(bearer))


def by_min_th(low_ms: float, high_ms: float) -> dict[int, dict[int, list[Case]]]:
    """Return the sweep over T_r from `low_ms` to `high_ms` by bearer and three minth."""
    t_r_ms = [t_r for t_r in strengths("sbd", 4) if low_ms <= t_r <= high_ms]
    return {
        bearer: {
            min_th: sweep(bearer, t_r_ms, min_th)
            for min_th in (GRID_MIN_TH[0], at_least_2_bdp(bearer), GRID_MIN_TH[-1])
        }
        for bearer in SWEPT
    }


def kept_goodput(session: Session, cases: Mapping[int, list[Case]]) -> dict[int, float]:
    """Return the lowest share of the largest goodput, of all, by minth."""
    goodputs = {n: means(session, found, goodput_kbps) for n, found in cases.items()}
    best = max(map(max, goodputs.values()))
    return {min_th: min(found) / best for min_th, found in goodputs.items()}


@CLAIMS.check("minth-bdp", lambda spec: by_min_th(*spec["wide_ms"]))
def _min_th(session: Session, spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def at(bearer: int, found: Mapping[int, list[Case]]) -> Finding:
        kept = kept_goodput(session, found)
        needed = bearer != SWEPT[0] or kept[GRID_MIN_TH[0]] < spec["flat"]
        shares = [f"{share:.1%} with minth {min_th}" for min_th, share in kept.items()]
        return Finding(
            kept[at_least_2_bdp(bearer)] >= spec["flat"] and needed,
            [
                f"{bearer} kbit/s, 2 BDP = {twice_bdp(bearer):.1f} SDUs: lowest share of the "
                f"largest goodput {joined(shares)}"
            ],
            {f"minth={min_th}": share for min_th, share in kept.items()},
        )

    return gathered("bearer", cases, at)


def with_alphas(spec: ClaimSpec) -> dict[int, dict[int, Case]]:
    """Return the settings of Table 3 by bearer and α."""

    def case(bearer: int, alpha: int) -> Case:
        return Case(bearer, 1, proposed(3, bearer)._replace(alpha=alpha), use=CHECKED)

    return {bearer: {a: case(bearer, a) for a in spec["alphas"]} for bearer in BEARERS}


@CLAIMS.check("alpha", with_alphas)
def _alpha(session: Session, spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def at(bearer: int, found: Mapping[int, Case]) -> Finding:
        alphas, chosen = spec["alphas"], spec["chosen"]
        goodputs, delays = (
            dict(zip(alphas, means(session, list(found.values()), value), strict=True))
            for value in (goodput_kbps, delay_s)
        )
        power = {alpha: goodputs[alpha] / delays[alpha] for alpha in alphas}
        largest = max(power.values())
        shares = goodputs[chosen] / max(goodputs.values()), power[chosen] / largest
        ends = max(power[alphas[0]], power[alphas[-1]])
        of_largest = [f"α = {a}: {power[a] / largest:.0%}" for a in alphas]
        return Finding(
            min(shares) >= spec["optimal"] and ends < power[chosen],
            [
                f"{bearer} kbit/s: with α = {chosen} {shares[0]:.1%} of the largest goodput; "
                f"goodput over delay, of the largest: {joined(of_largest)}"
            ],
            {"goodput": goodputs, "power": power},
        )

    return gathered("bearer", cases, at)


# --- from the largest goodput to the proposal; RED with one flow and with four -----------------


def most_and_proposed(tables: Sequence[int]) -> dict[int, list[Case]]:
    """Return one flow with the settings of some tables, by bearer."""
    return {bearer: [Case(bearer, 1, proposed(n, bearer)) for n in tables] for bearer in BEARERS}


@CLAIMS.check("proposal", lambda _spec: most_and_proposed((2, 3)))
def _proposal(session: Session, spec: ClaimSpec, cases: Mapping[int, list[Case]]) -> Finding:
    def change(pair: Sequence[float]) -> float:
        return 100 * (pair[1] / pair[0] - 1)

    def at(bearer: int, pair: list[Case]) -> Finding:
        found = {
            "delay": change(means(session, pair, delay_s)),
            "goodput": change(means(session, pair, goodput_kbps)),
        }
        theirs = [published_table(number)[bearer] for number in (2, 3)]
        delay = change([row.delay_s.mean for row in theirs])
        goodput = change([row.goodput_kbps.mean for row in theirs])
        return Finding(
            is_less(session, pair[1], pair[0], delay_s),
            [
                f"{bearer} kbit/s: delay {found['delay']:+.1f} %, goodput {found['goodput']:+.1f} "
                f"% (paper's tables {delay:+.0f} %, {goodput:+.1f} %)"
            ],
            found,
        )

    falls, lines, values = gathered("bearer", cases, at)
    reduced = -min(each["delay"] for each in values.values())
    paid = -min(each["goodput"] for each in values.values())
    return Finding(falls and reduced >= spec["reduced"] and paid <= spec["paid"], lines, values)


def red_grids(spec: ClaimSpec) -> dict[int, dict[int, list[Case]]]:
    """Return RED over its settings by bearer and number of flows."""
    use = Use(replications=20)
    settings = [Red(max_p, min_th) for min_th in GRID_MIN_TH for max_p in spec["max_p"]]
    return {
        bearer: {n: [Case(bearer, n, setting, use=use) for setting in settings] for n in (1, 4)}
        for bearer in SWEPT
    }


@CLAIMS.check("red-responsive", red_grids)
def _responsive(session: Session, _spec: ClaimSpec, cases: Mapping[int, Any]) -> Finding:
    def variation(quantity: str, grid: list[Case]) -> float:
        found = means(session, grid, QUANTITIES[quantity].measure)
        return pstdev(found) / fmean(found)

    holds, lines, values = True, [], {}
    for bearer, grids in cases.items():
        for quantity in QUANTITIES:
            by_flows = {n: variation(quantity, grid) for n, grid in grids.items()}
            holds = holds and by_flows[1] > by_flows[4]
            shares = [f"{flows_named(n)} {share:.1%}" for n, share in by_flows.items()]
            lines.append(f"{bearer} kbit/s, {quantity}: {joined(shares)}")
            values[f"bearer={bearer}, {quantity}"] = by_flows
    return Finding(holds, lines, values)


# --- what the conclusions say about Table 6 ----------------------------------------------------


@CLAIMS.check("conclusions", lambda _spec: TABLE6_CELLS)
def _conclusions(session: Session, spec: ClaimSpec, _cases: Any) -> Finding:
    def average(aqm: str, quantity: str) -> float:
        each = [improvement(session, bearer, 1, aqm, quantity) for bearer in BEARERS]
        return fmean(one.per_cent for one in each if one is not None)

    found = {aqm: {q: average(aqm, q) for q in QUANTITIES} for aqm in ("sbd", "red")}
    both = {quantity: fmean(each[quantity] for each in found.values()) for quantity in QUANTITIES}
    named = {**{aqm.upper(): each for aqm, each in found.items()}, "both": both}
    return Finding(
        all(abs(both[quantity] - spec[quantity]) <= spec["points"] for quantity in QUANTITIES),
        [
            f"{name}: goodput {each['goodput']:+.1f} %, delay {each['delay']:+.1f} %"
            for name, each in named.items()
        ],
        {**found, "both": both},
    )


def _on_all_bearers(spec: ClaimSpec) -> dict[int, dict[str, Case]]:
    return {bearer: proposals(bearer, spec["flows"]) for bearer in BEARERS}


@CLAIMS.check("sbd-or-red-1", _on_all_bearers)
@CLAIMS.check("sbd-or-red-4", _on_all_bearers)
def _sbd_or_red(session: Session, spec: ClaimSpec, cases: Mapping[int, Cases]) -> Finding:
    def reductions(name: str) -> list[float]:
        """Return what the delay changes by in each run, per cent of drop-tail's mean."""
        by_bearer = []
        for found in cases.values():
            plain = known(session, found["drop-tail"], delay_s).mean
            changed = session.values(found[name], delay_s)
            by_bearer.append([100 * (value / plain - 1) for value in changed])
        return [fmean(run) for run in zip(*by_bearer, strict=True)]

    sbd, red = reductions("SBD"), reductions("RED")
    difference = session.interval([a - b for a, b in zip(sbd, red, strict=True)])
    means_ = {"SBD": fmean(sbd), "RED": fmean(red)}
    theirs = {
        aqm: fmean(improvements()[bearer, spec["flows"], aqm, "delay"] for bearer in BEARERS)
        for aqm in ("sbd", "red")
    }
    return Finding(
        difference.high < 0,
        [
            *(f"{name}: {mean:+.1f} %" for name, mean in means_.items()),
            f"SBD less RED: {difference.mean:+.1f} ± {difference.half_width:.1f} points",
            f"the paper's Table 6: SBD {theirs['sbd']:+.1f} %, RED {theirs['red']:+.1f} %",
        ],
        {**means_, "difference": difference.mean, "published": theirs},
    )
