"""What the text says about the model of §3 (wimax-2009 §1, §3.2, Figs. 3 and 4).

The simulation's goodput, size over completion time, is compared with the same of the analysis:
Eq. 8 counts repetitions and what the last stage has room for, which is half of it for the smallest
object. Eq. 9 is met by Eq. 8, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, known, means
from airpath.reproduction.session import Session
from airpath_papers.wimax.analysis import (
    CHOSEN,
    DEFAULTS,
    PIGGYBACK_MS,
    Analysed,
    WindowRule,
    analysed,
    eq9_mbps,
)
from airpath_papers.wimax.claims.common import CLAIMS, gain
from airpath_papers.wimax.measures import goodput_mbps, mean_rtt_s
from airpath_papers.wimax.validation import SWEEPS, Validation, cell_of

__all__ = [
    "analysis_mbps",
    "contention_terms",
    "goodput_of",
    "ideal_mbps",
    "model1_mbps",
    "model2_mbps",
]

ALL: Final = list(dict.fromkeys(case for cases in SWEEPS.values() for case in cases))
"""Every point of Figs. 3 and 4."""

Cells = Mapping[Analysed, Validation]


def analysis_mbps(case: Analysed, rule: WindowRule = CHOSEN) -> float:
    """Return Eq. 8, Mbit/s."""
    return float(analysed(case, rule).throughput_bps) / 1e6


def goodput_of(case: Analysed) -> float:
    """Return the analysis' size over time, Mbit/s."""
    return float(analysed(case).goodput_bps) / 1e6


def ideal_mbps(case: Analysed, loss: float | None = None) -> float:
    """Return Eq. 8 with T_ct = 0 and the same error rate, or another one, Mbit/s."""
    other = case._replace(contention_ms=0.0, loss=case.loss if loss is None else loss)
    return analysis_mbps(other)


def model1_mbps(case: Analysed) -> float:
    """Return TCP model1: Eq. 9 with RTT_min and T_ct, Mbit/s."""
    return eq9_mbps((case.base_rtt_ms + case.contention_ms) / 1e3, case.loss)


def model2_mbps(case: Analysed) -> float:
    """Return TCP model2: Eq. 9 with RTT_min and T_pb, Mbit/s."""
    return eq9_mbps((case.base_rtt_ms + PIGGYBACK_MS) / 1e3, case.loss)


def _cells(cases: Sequence[Analysed]) -> dict[Analysed, Validation]:
    return {case: cell_of(case) for case in cases}


def _off(session: Session, cells: Cells) -> dict[Analysed, float]:
    """Return by how much the analysis is above the simulation at each point."""
    return {
        case: gain(goodput_of(case), known(session, cell, goodput_mbps).mean)
        for case, cell in cells.items()
    }


def _lines(off: Mapping[Analysed, float]) -> list[str]:
    return [
        f"over {name}: {joined([f'{value:g}: {off[case]:+.1%}' for value, case in found])}"
        for name, cases in SWEEPS.items()
        if (found := [(getattr(case, name), case) for case in cases if case in off])
    ]


@CLAIMS.check("model-follows", lambda _spec: _cells(ALL))
def _follows(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    chosen = {
        case: cell
        for case, cell in cells.items()
        if case.loss <= spec["loss"] and case.base_rtt_ms >= spec["rtt_ms"]
    }
    off = _off(session, chosen)
    most = max(off.values(), key=abs)
    return Finding(
        abs(most) <= spec["within"],
        [f"at most {most:+.1%}", *_lines(off)],
        {"largest": most, "off": list(off.values())},
    )


@CLAIMS.check("model-above", lambda _spec: _cells(ALL))
def _above(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    off = _off(session, cells)
    share = sum(each > 0 for each in off.values()) / len(off)
    lossy = {case.loss: each for case, each in off.items() if case.loss > spec["loss"]}
    shown = joined([f"{loss:.0%}: {each:+.1%}" for loss, each in lossy.items()])
    return Finding(
        share > spec["share"] and min(lossy.values()) > 0,
        [f"above in {share:.0%} of the points; at p_e of {shown}"],
        {"share": share, "above": list(lossy.values())},
    )


def _fig3(_spec: ClaimSpec) -> dict[Analysed, Validation]:
    return _cells(SWEEPS["contention_ms"])


def contention_terms(
    session: Session, cells: Mapping[Analysed, Validation]
) -> tuple[float, float | None, float]:
    """Return what Fig. 3's simulation says of some cells.

    Returns
    -------
    loss : float
        The share of its goodput that it loses from the least T_ct to the largest.
    crossing_ms : float or None
        Where it meets TCP model2.
    off : float
        By how much the analysis is above it where they differ most.
    """
    found = means(session, list(cells.values()), goodput_mbps)
    off = max(_off(session, cells).values(), key=abs)
    return 1 - found[-1] / found[0], _crosses(list(cells), found, model2_mbps(DEFAULTS)), off


@CLAIMS.check("contention-costs", _fig3)
def _costs(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    simulated = means(session, list(cells.values()), goodput_mbps)
    solved = [analysis_mbps(case) for case in cells]
    losses = [1 - found[-1] / found[0] for found in (simulated, solved)]
    return Finding(
        abs(losses[0] - spec["simulated"]) <= spec["simulated_within"]
        and abs(losses[1] - spec["solved"]) <= spec["solved_within"],
        [
            f"simulation {losses[0]:.1%}, {joined(simulated, '.3f')} Mbit/s; analysis "
            f"{losses[1]:.1%}, {joined(solved, '.3f')} Mbit/s"
        ],
        {"simulated": losses[0], "solved": losses[1]},
    )


def _crosses(cases: Sequence[Analysed], found: Sequence[float], level: float) -> float | None:
    """Return where values that fall with T_ct meet a level, ms, linear between points."""
    points = list(zip((case.contention_ms for case in cases), found, strict=True))
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 >= level > y1:
            return x0 + (y0 - level) / (y0 - y1) * (x1 - x0)
    return None


def _is_at(found: float | None, spec: ClaimSpec) -> bool:
    return found is not None and abs(found - spec["at_ms"]) <= spec["within_ms"]


def _ms(found: float | None) -> str:
    return "not met" if found is None else f"{found:.1f} ms"


@CLAIMS.check("crossing", _fig3)
def _crossing(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    cases, level = list(cells), model2_mbps(DEFAULTS)
    simulated = _crosses(cases, means(session, list(cells.values()), goodput_mbps), level)
    solved = _crosses(cases, [analysis_mbps(case) for case in cases], level)
    return Finding(
        _is_at(simulated, spec) and _is_at(solved, spec),
        [f"{level:.3f} Mbit/s: simulation {_ms(simulated)}, analysis {_ms(solved)}"],
        {"simulated_ms": simulated, "solved_ms": solved},
    )


# --- Fig. 3 alone: once the variant with T_pb made up by the frames, now the scenario ----------


@CLAIMS.check("model-follows-at-once", _fig3)
def _follows_at_once(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    off = list(_off(session, cells).values())
    return Finding(
        max(map(abs, off)) <= spec["within"],
        [joined([f"{case.contention_ms:g}: {x:+.1%}" for case, x in zip(cells, off, strict=True)])],
        {"off": off},
    )


@CLAIMS.check("contention-costs-at-once", _fig3)
def _costs_at_once(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    found = means(session, list(cells.values()), goodput_mbps)
    loss = 1 - found[-1] / found[0]
    return Finding(
        abs(loss - spec["simulated"]) <= spec["simulated_within"],
        [f"{loss:.1%}, {joined(found, '.3f')} Mbit/s"],
        {"simulated": loss},
    )


@CLAIMS.check("crossing-at-once", _fig3)
def _crossing_at_once(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    found = means(session, list(cells.values()), goodput_mbps)
    place = _crosses(list(cells), found, model2_mbps(DEFAULTS))
    return Finding(_is_at(place, spec), [_ms(place)], {"simulated_ms": place})


# --- Eq. 9 and the ideal -----------------------------------------------------------------------


@CLAIMS.check("model1-below", _fig3)
def _model1(_session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    below = [1 - model1_mbps(case) / analysis_mbps(case) for case in cells]
    shown = joined(
        [f"{case.contention_ms:g} ms: {x:.1%}" for case, x in zip(cells, below, strict=True)]
    )
    return Finding(min(below) >= spec["below"], [f"below by {shown}"], {"below": below})


def _fig4(_spec: ClaimSpec) -> dict[str, dict[Analysed, Validation]]:
    return {name: _cells(cases) for name, cases in SWEEPS.items() if name != "contention_ms"}


def _eq9(session: Session, case: Analysed, cell: Validation) -> float:
    return eq9_mbps(known(session, cell, mean_rtt_s).mean, case.loss)


@CLAIMS.check("eq9-below", _fig4)
def _eq9_below(session: Session, spec: ClaimSpec, sweeps: Mapping[str, Cells]) -> Finding:
    below = {
        name: [
            1 - _eq9(session, case, cell) / known(session, cell, goodput_mbps).mean
            for case, cell in cells.items()
        ]
        for name, cells in sweeps.items()
    }
    every = [each for found in below.values() for each in found]
    share = sum(each > 0 for each in every) / len(every)
    return Finding(
        share > spec["share"],
        [
            f"below in {share:.0%} of the points",
            *(f"over {name}: below by {joined(found, '.1%')}" for name, found in below.items()),
        ],
        {"share": share, **below},
    )


@CLAIMS.check("eq9-constant", lambda _spec: _cells(SWEEPS["size_kb"]))
def _eq9_constant(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    found = [_eq9(session, case, cell) for case, cell in cells.items()]
    simulated = means(session, list(cells.values()), goodput_mbps)
    apart, more = (gain(max(each), min(each)) for each in (found, simulated))
    return Finding(
        apart <= spec["within"] and more >= spec["more"],
        [
            f"Eq. 9 {joined(found, '.3f')} Mbit/s, {apart:.1%} apart; simulation "
            f"{joined(simulated, '.3f')} Mbit/s, {more:.0%}"
        ],
        {"eq9": apart, "simulated": more},
    )


@CLAIMS.check("eq9-flat", lambda _spec: _cells(SWEEPS["size_kb"]))
def _eq9_flat(session: Session, spec: ClaimSpec, cells: Cells) -> Finding:
    found = [_eq9(session, case, cell) for case, cell in cells.items()]
    simulated = means(session, list(cells.values()), goodput_mbps)
    apart, more = (gain(max(each), min(each)) for each in (found, simulated))
    return Finding(
        apart <= spec["share"] * more,
        [f"Eq. 9 {apart:.1%} apart, the simulation {more:.0%}"],
        {"eq9": apart, "simulated": more},
    )


@CLAIMS.check("relative")
def _relative(_session: Session, spec: ClaimSpec, _cells: object) -> Finding:
    def over(name: str) -> dict[float, float]:
        return {
            getattr(case, name): analysis_mbps(case) / ideal_mbps(case) for case in SWEEPS[name]
        }

    rtts, sizes = over("base_rtt_ms"), over("size_kb")
    rises = all(later > before for before, later in pairwise(rtts.values()))
    # A grid's error is no fall.
    keeps = all(later >= before - 1e-3 for before, later in pairwise(sizes.values()))
    inner = [each for rtt, each in rtts.items() if spec["from_ms"] <= rtt <= spec["to_ms"]]
    return Finding(
        rises and keeps and spec["low"] <= min(inner) and max(inner) <= spec["high"],
        [
            f"over RTT_min {joined(list(rtts.values()), '.3f')}; over L "
            f"{joined(list(sizes.values()), '.3f')}"
        ],
        {"base_rtt": list(rtts.values()), "size": list(sizes.values())},
    )


@CLAIMS.check("relative-as-printed")
def _as_printed(_session: Session, spec: ClaimSpec, _cells: object) -> Finding:
    def over(name: str, cases: Sequence[Analysed]) -> Finding:
        found = [analysis_mbps(case) / ideal_mbps(case, 0.0) for case in cases]
        return Finding(
            spec["low"] <= min(found) and max(found) <= spec["high"],
            [f"over {name}: {joined(found, '.3f')}"],
            {"ratio": found},
        )

    sweeps = {name: SWEEPS[name] for name in ("base_rtt_ms", "size_kb")}
    return gathered("over", sweeps, over)


@CLAIMS.check("typical-cost")
def _typical(_session: Session, spec: ClaimSpec, _cells: object) -> Finding:
    def cost(at: str, expected: float) -> Finding:
        case = DEFAULTS._replace(contention_ms=spec[at])
        found = 1 - analysis_mbps(case) / ideal_mbps(case)
        return Finding(
            abs(found - expected) <= spec["within"],
            [f"{spec[at]:g} ms: {found:.2%}"],
            {"cost": found},
        )

    return gathered("at", {"from_ms": spec["low"], "to_ms": spec["high"]}, cost)


@CLAIMS.check("updated-or-constant")
def _rules(_session: Session, spec: ClaimSpec, _cells: object) -> Finding:
    cases, level = SWEEPS["contention_ms"], model2_mbps(DEFAULTS)

    def crossing(_name: str, rule: WindowRule) -> Finding:
        found = _crosses(cases, [analysis_mbps(case, rule) for case in cases], level)
        inside = _is_at(found, spec)
        return Finding(
            not inside if rule == constant else inside,
            [f"W_th = {rule.packets:g} {rule.rule}: {_ms(found)}"],
            {"crossing_ms": found},
        )

    constant = WindowRule(63.0, "constant")
    rules = [CHOSEN, WindowRule(8.5, "constant"), constant]
    named: dict[str, Any] = {f"{rule.packets:g}-{rule.rule}": rule for rule in rules}
    return gathered("rule", named, crossing)
