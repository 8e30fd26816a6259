"""The claims of ``claims.toml``: the points and measures that their formulas name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from airpath.reproduction.claims import (
    Claims,
    ClaimSpec,
    Finding,
    PointSet,
    gathered,
    joined,
    means,
)
from airpath.reproduction.formulas import Measure, Point, of_point, of_replication, of_run
from airpath.reproduction.session import Session
from airpath_papers.paths import SBD
from airpath_papers.sbd import measures
from airpath_papers.sbd.data import (
    BEARERS,
    GRID_MIN_TH,
    Aqm,
    AveragedRed,
    DropTail,
    Red,
    Sbd,
    drop_tail,
    improvements,
    printed_average,
    printed_half_width,
    published_table,
    strengths,
)
from airpath_papers.sbd.scenarios import SWITCH_S, ByRate, Case, Use
from airpath_papers.sbd.table1 import base_rtt_ms
from airpath_papers.sbd.tables import QUANTITIES

__all__ = [
    "CLAIMS",
    "MEASURES",
    "POINTS",
    "SWEPT",
    "proposed",
    "pseudovalues",
    "rfc6298_rto_s",
    "sweep",
]

SWEPT: Final = (384, 128)
"""The bearers of Figs. 6, 8, 10 and 12."""

CHECKED: Final = Use(replications=100)
"""The same number of runs in every mode, so that the claims are checked on the same numbers."""

GRID_USE: Final = Use(replications=20)
"""The runs of a setting on a whole grid."""

SDU_BITS: Final = 12_000

# --- points ------------------------------------------------------------------------------------


def proposed(table: int, bearer: int) -> Any:
    """Return the setting of a table: SBD's of Table 2 or 3, RED's of Table 4 or 5."""
    return published_table(table)[bearer].aqm


def _proposals(bearer: int, flows: int, use: Use | None = None, **more: Any) -> list[Point]:
    """Return drop-tail and the proposed settings."""
    aqms = {"drop-tail": DropTail(), "SBD": proposed(3, bearer), "RED": proposed(5, bearer)}
    return [
        Point(
            {"bearer": bearer, "flows": flows, "aqm": name, **more},
            Case(bearer, flows, aqm, use=use or Use()),
        )
        for name, aqm in aqms.items()
    ]


def sweep(
    bearer: int, t_r_ms: Iterable[float], min_th: int, alpha: int = 5, **more: Any
) -> list[Point]:
    """Return SBD with one flow over T_r, ms."""
    found = {t_r: Sbd(int(t_r), min_th, alpha) for t_r in t_r_ms}
    return [
        Point({"bearer": bearer, "t_r_ms": t_r, **more}, Case(bearer, 1, each, use=CHECKED))
        for t_r, each in found.items()
    ]


def _buffers(spec: ClaimSpec) -> list[Point]:
    use = Use(duration_s=60.0, replications=20)
    return [
        Point({"flows": n, "size": size}, Case(384, n, DropTail(size), use=use))
        for n in spec["flows"]
        for size in spec["sizes"]
    ]


def _shared(spec: ClaimSpec) -> list[Point]:
    use = Use(duration_s=60.0, replications=20, record=("delivered",))
    sizes = spec["sizes"]
    return [Point({"size": n}, Case(384, spec["flows"], DropTail(n), use=use)) for n in sizes]


def _up_to_proposed(_spec: ClaimSpec) -> list[Point]:
    """Return the sweep with minth of Table 3 up to its T_r, and with the least all of it."""
    found = []
    for bearer in SWEPT:
        chosen, t_r_ms = proposed(3, bearer), strengths("sbd", 4)
        values = [*(t_r for t_r in t_r_ms if t_r < chosen.t_r_ms), chosen.t_r_ms]
        found += sweep(bearer, values, chosen.min_th, minth="proposed")
        found += sweep(bearer, t_r_ms, GRID_MIN_TH[0], minth="least")
    return found


def _bdp(spec: ClaimSpec) -> list[Point]:
    """Return the sweep over T_r with the least minth, the first from 2 BDP on, and the largest."""
    low_ms, high_ms = spec["wide_ms"]
    t_r_ms = [t_r for t_r in strengths("sbd", 4) if low_ms <= t_r <= high_ms]
    found = []
    for bearer in SWEPT:
        twice_bdp = 2 * bearer * base_rtt_ms() / SDU_BITS
        at_least = next(n for n in GRID_MIN_TH if n >= twice_bdp)
        of_grid = {"least": GRID_MIN_TH[0], "2 BDP": at_least, "largest": GRID_MIN_TH[-1]}
        for name, min_th in of_grid.items():
            found += sweep(bearer, t_r_ms, min_th, minth=name)
    return found


def _alphas(spec: ClaimSpec) -> list[Point]:
    return [
        Point(
            {"bearer": bearer, "alpha": alpha},
            Case(bearer, 1, proposed(3, bearer)._replace(alpha=alpha), use=CHECKED),
        )
        for bearer in BEARERS
        for alpha in spec["alphas"]
    ]


def _one_flow(_spec: ClaimSpec) -> list[Point]:
    """Return one flow with the settings of Tables 2 to 5."""
    return [
        Point({"bearer": bearer, "table": table}, Case(bearer, 1, proposed(table, bearer)))
        for bearer in BEARERS
        for table in (2, 3, 4, 5)
    ]


def _red_grid(spec: ClaimSpec) -> list[Point]:
    return [
        Point(
            {"bearer": bearer, "flows": n, "minth": min_th, "maxp": max_p},
            Case(bearer, n, Red(max_p, min_th), use=GRID_USE),
        )
        for bearer in SWEPT
        for n in (1, 4)
        for min_th in GRID_MIN_TH
        for max_p in spec["max_p"]
    ]


def _table6(_spec: ClaimSpec) -> list[Point]:
    return [point for place in drop_tail() for point in _proposals(*place)]


def _starts(spec: ClaimSpec) -> list[Point]:
    use = Use(duration_s=spec["first_s"], replications=100)
    return [point for flows in (1, 2) for point in _proposals(384, flows, use)]


def _downloads(spec: ClaimSpec) -> list[Point]:
    def use(size_kb: int) -> Use:
        return Use(duration_s=60.0, replications=100, download_kb=size_kb)

    sizes = spec["sizes_kb"]
    return [point for n in sizes for point in _proposals(384, 4, use(n), size_kb=n)]


AFTER_S: Final = 15.0
RUNS: Final = 60


def _switched(_spec: ClaimSpec) -> list[Point]:
    """Return the 15 s after the change, by what manages the buffer."""
    use = Use(SWITCH_S + AFTER_S, warmup_s=SWITCH_S, replications=RUNS, switch=True)
    aqms: dict[str, Aqm | ByRate] = {
        "drop-tail": DropTail(),
        "SBD as for 384": proposed(3, 384),
        "SBD reconfigured": ByRate("sbd"),
        "RED as for 384": proposed(5, 384),
        "RED reconfigured": ByRate("red"),
    }
    return [Point({"aqm": name}, Case(384, 2, aqm, use=use)) for name, aqm in aqms.items()]


def _trace(spec: ClaimSpec) -> list[Point]:
    part_s, runs = spec["part_s"], spec["runs"]
    start = Use(duration_s=part_s, replications=runs)
    before = Use(duration_s=SWITCH_S, warmup_s=SWITCH_S - part_s, replications=runs)
    return [
        Point({"part": "start"}, Case(384, 2, DropTail(), use=start)),
        Point({"part": "before"}, Case(384, 2, DropTail(), use=before)),
        Point({"part": "after"}, _switched(spec)[0].cell),
    ]


def _recorded(spec: ClaimSpec) -> list[Point]:
    use = Use(SWITCH_S + spec["part_s"], replications=spec["runs"], switch=True, record=("rtt",))
    return [Point({"aqm": "drop-tail"}, Case(384, 2, DropTail(), use=use))]


def _averaged(spec: ClaimSpec) -> list[Point]:
    use, setting = Use(duration_s=spec["first_s"], replications=100), proposed(5, 384)
    return [
        Point(
            {"occupancy": name},
            Case(384, 2, AveragedRed(setting.max_p, setting.min_th, weight), use=use),
        )
        for name, weight in (("instantaneous", 1.0), ("average", spec["weight"]))
    ]


def _lowest_min_th(spec: ClaimSpec) -> list[Point]:
    return [
        Point(
            {"bearer": bearer, "flows": n, "t_r_ms": t_r},
            Case(bearer, n, Sbd(t_r, spec["min_th"]), use=GRID_USE),
        )
        for bearer in SWEPT
        for n in (1, 4)
        for t_r in spec["t_r_ms"]
    ]


def _exchanged(_spec: ClaimSpec) -> list[Point]:
    """Return the fastest and the slowest bearer with their own and each other's setting."""
    ends = (BEARERS[0], BEARERS[-1])
    return [
        Point(
            {"aqm": name, "bearer": bearer, "setting_for": of},
            Case(bearer, 1, proposed(table, of), use=Use() if of == bearer else CHECKED),
        )
        for name, table in (("SBD", 3), ("RED", 5))
        for bearer in ends
        for of in ends
    ]


def _with_printed(spec: ClaimSpec) -> list[Point]:
    """Return the grid by AQM and bearer, and the printed setting."""
    use, found = Use(replications=spec["runs"]), []
    for aqm, table in (("SBD", 2), ("RED", 4)):
        for bearer, row in published_table(table).items():
            values = sorted({*strengths(aqm.lower(), 4), row.aqm[0]})
            settings: list[Any] = [
                Sbd(int(value), min_th) if aqm == "SBD" else Red(value, min_th)
                for value in values
                for min_th in GRID_MIN_TH
            ]
            place = {"aqm": aqm, "bearer": bearer}
            found.append(Point({**place, "of": "printed"}, Case(bearer, 1, row.aqm, use=use)))
            found += [
                Point({**place, "of": "grid", "strength": each[0], "minth": each[1]}, case)
                for each in settings
                for case in [Case(bearer, 1, each, use=use)]
            ]
    return found


POINTS: Final[Mapping[str, PointSet]] = {
    "buffers": _buffers,
    "shared": _shared,
    "up-to-proposed": _up_to_proposed,
    "bdp": _bdp,
    "alphas": _alphas,
    "one-flow": _one_flow,
    "red-grid": _red_grid,
    "table6": _table6,
    "starts": _starts,
    "downloads": _downloads,
    "switched": _switched,
    "trace": _trace,
    "recorded": _recorded,
    "averaged": _averaged,
    "lowest-minth": _lowest_min_th,
    "exchanged": _exchanged,
    "printed": _with_printed,
}

# --- measures ----------------------------------------------------------------------------------


def _jitter_s(replication: Mapping[str, Any]) -> float:
    """Return the time from the median to the 95th percentile of the downlink delay, s."""
    found = replication["together"]["all"]
    return float(found["p95_delay_s"] - found["p50_delay_s"])


def _jain(session: Session, run: int, case: Case, window_s: float, *times_s: float) -> float:
    delivered = session.series(case, "delivered", run)
    return measures.jain_in_windows(delivered, case.flows, window_s, (times_s[0], times_s[1]))


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


def _rto_s(session: Session, run: int, case: Case, low_s: float, high_s: float) -> float:
    """Return the mean RTO over the RTT samples of all flows in a part of a run, s."""
    series = session.series(case, "rtt", run)
    flows = [series.of(flow) for flow in range(case.flows)]
    times = np.concatenate([times for times, _ in flows])
    timeouts = np.concatenate([rfc6298_rto_s(samples.tolist()) for _, samples in flows])
    return float(timeouts[(times >= low_s) & (times < high_s)].mean())


def _printed(case: Case, quantity: str) -> tuple[tuple[int, int], str, str]:
    """Return place, discipline and quantity of an improvement of Table 6."""
    return (case.bearer, case.flows), "sbd" if isinstance(case.aqm, Sbd) else "red", quantity


def _goodput_half_width(_session: Session, case: Case) -> float:
    """Return the printed half-width of the goodput of Table 2 or 4, kbit/s."""
    table = published_table(2 if isinstance(case.aqm, Sbd) else 4)
    return table[case.bearer].goodput_kbps.half_width


def _improvement(_session: Session, case: Case, quantity: str) -> float:
    place, aqm, _ = _printed(case, quantity)
    return improvements()[(*place, aqm, quantity)]


MEASURES: Final[Mapping[str, Measure]] = {
    "goodput": of_replication(measures.goodput_kbps),
    "delay": of_replication(measures.delay_s),
    "rtt": of_replication(measures.rtt_s),
    "overflow": of_replication(measures.overflows),
    "timed_out": of_replication(measures.all_timed_out),
    "completion": of_replication(measures.completion_s),
    "jitter": of_replication(_jitter_s),
    "jain": of_run(_jain),
    "rto": of_run(_rto_s),
    "printed_goodput_half_width": of_point(_goodput_half_width),
    "printed_improvement": of_point(_improvement),
    "printed_half_width": of_point(
        lambda _session, case, quantity: printed_half_width(*_printed(case, quantity))
    ),
    "printed_average": of_point(lambda _session, _case, quantity: printed_average(quantity)),
}

CLAIMS: Final = Claims(SBD, POINTS, MEASURES)

# --- sentences over whole grids ----------------------------------------------------------------


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
        goodputs = [means(session, row, measures.goodput_kbps) for row in rows.values()]
        largest = max(map(max, goodputs))
        floors = [min(row[row.index(max(row)) :]) / largest for row in goodputs]
        delays = [min(means(session, row, measures.delay_s)) for row in rows.values()]
        kept = all(b > a or min(a, b) >= spec["near"] for a, b in pairwise(floors))
        return Finding(
            kept and all(b > a for a, b in pairwise(delays)),
            [
                f"{bearer} kbit/s, minth {joined(list(rows))}: lowest goodput "
                f"{joined(floors, '.1%')} of the largest, lowest delay {joined(delays, '.2f')} s"
            ],
            {"goodput_share": floors, "delay_s": delays},
        )

    return gathered("bearer", cases, at)


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


def _red_grids(spec: ClaimSpec) -> dict[int, dict[int, list[Case]]]:
    found: dict[int, dict[int, list[Case]]] = {bearer: {1: [], 4: []} for bearer in SWEPT}
    for point in _red_grid(spec):
        found[point.place["bearer"]][point.place["flows"]].append(point.cell)
    return found


@CLAIMS.check("red-responsive-interval", _red_grids)
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
