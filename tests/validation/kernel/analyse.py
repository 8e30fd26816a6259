"""Comparison of the results with the bounds, as Markdown tables."""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import cases
from scipy import stats

HERE = Path(__file__).parent
CONFIDENCE = 0.95
"""Confidence of the intervals: Student's t over runs, and over seeds."""
FIFTH_MINUTE_S = 300.0

Row = dict[str, str]


def read(name: str, directory: Path = HERE) -> list[Row]:
    path = directory / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def kept(rows: Iterable[Row]) -> list[Row]:
    """Return one row for each run: the valid attempt, or the last attempt if none is valid."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = row["case"], row["run"]
        if key not in found or found[key]["valid"] != "1":
            found[key] = row
    return list(found.values())


class Mean(NamedTuple):
    """A mean over runs and the half-width of its interval."""

    value: float
    half_width: float
    runs: int
    valid: int

    def __str__(self) -> str:
        return self.scaled(1, 3)

    def scaled(self, scale: float, digits: int) -> str:
        if not self.runs:
            return "–"
        if math.isnan(self.half_width):
            return f"{self.value * scale:.{digits}f}"
        return f"{self.value * scale:.{digits}f} ± {self.half_width * scale:.{digits}f}"


def mean(rows: Sequence[Row], name: str) -> Mean:
    values = [float(row[name]) for row in rows if row[name]]
    valid = sum(row.get("valid", "1") == "1" for row in rows)
    if not values:
        return Mean(math.nan, math.nan, 0, valid)
    width = math.nan
    if len(values) > 1:
        t = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1))
        width = t * statistics.stdev(values) / math.sqrt(len(values))
    return Mean(statistics.mean(values), width, len(values), valid)


class Results:
    """All result files of a directory."""

    def __init__(self, directory: Path = HERE) -> None:
        self.kernel = kept(read("kernel", directory))
        self.attempts = read("kernel", directory)
        self.simulated = read("simulated", directory)
        self.ping = kept(read("ping", directory))
        self.bins = read("bins", directory)
        self.soak = read("soak", directory)

    def of_kernel(self, case: str, name: str) -> Mean:
        return mean([row for row in self.kernel if row["case"] == case], name)

    def of_simulation(self, case: str, name: str, variant: str = "linux") -> Mean:
        rows = [row for row in self.simulated if (row["case"], row["variant"]) == (case, variant)]
        return mean(rows, name)

    def counters(self, case: str) -> Counter[str]:
        """Return the kernel's counters, summed over the runs of a case."""
        found: Counter[str] = Counter()
        for row in self.kernel:
            if row["case"] == case and row["counters"]:
                found.update(json.loads(row["counters"]))
        return found


def difference(found: float, reference: float) -> float:
    return found / reference - 1


def percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{share * 100:+.1f}"


def verdict(holds: bool | None, valid: bool = True) -> str:
    """Return "yes", "no" or "not measured", with a remark if no run was valid."""
    answer = {True: "yes", False: "no", None: "not measured"}[holds]
    return answer if valid or holds is None else f"{answer}, but invalid"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# --- 1 -------------------------------------------------------------------------------------------


class Throughput(NamedTuple):
    """Throughput T of one row of the paper's table: kernel, published, Airpath."""

    idx: int
    kernel: Mean
    published: float
    paper: Mean
    near: Mean

    @property
    def holds(self) -> bool | None:
        if not self.kernel.runs:
            return None
        bound = cases.PAPER_BOUNDS[self.idx]
        beside = [self.published * 1e6]
        if self.idx == 9:
            beside.append(self.paper.value)
        return all(abs(difference(self.kernel.value, other)) <= bound for other in beside)


def throughputs(results: Results) -> list[Throughput]:
    found = []
    for idx in cases.PAPER_BOUNDS:
        case, name = f"paper-{idx}", "ip_throughput_bps"
        paper = results.of_simulation(case, name, "ns3-2014")
        near = results.of_simulation(case, name, "near-kernel")
        published, _ = cases.published_mbps(idx)
        found.append(Throughput(idx, results.of_kernel(case, name), published, paper, near))
    return found


def paper_table(results: Results) -> str:
    head = [
        "idx",
        "kernel, Mbit/s",
        "valid",
        "ns-3, published",
        "difference",
        "Airpath, `ns3-2014`",
    ]
    head += ["difference", "Airpath, near the kernel", "difference", "bound", "within"]
    rows = []
    for one in throughputs(results):
        beside = [one.published * 1e6, one.paper.value, one.near.value]
        off = [percent(difference(one.kernel.value, other)) for other in beside]
        published, width = cases.published_mbps(one.idx)
        cells = [str(one.idx), one.kernel.scaled(1e-6, 3), f"{one.kernel.valid}/{one.kernel.runs}"]
        cells += [f"{published:.3f} ± {width:.3f}", off[0], one.paper.scaled(1e-6, 3), off[1]]
        cells += [one.near.scaled(1e-6, 3), off[2], f"{cases.PAPER_BOUNDS[one.idx]:.0%}"]
        rows.append([*cells, verdict(one.holds, one.kernel.valid > 0)])
    return table(head, rows)


def paper_causes(results: Results) -> str:
    head = ["idx", "quantity", "kernel", "Airpath, `ns3-2014`", "Airpath, near the kernel"]
    quantities = {
        "queue_packets": ("mean queue, packets", 1.0, 2),
        "regime_2_share": ("sent in regime 2, %", 100.0, 2),
        "utilisation": ("utilisation, %", 100.0, 2),
        "timeouts": ("timeouts a minute", 1.0, 1),
    }
    rows = []
    for idx in cases.PAPER_BOUNDS:
        for name, (label, scale, digits) in quantities.items():
            case = f"paper-{idx}"
            cells = [str(idx), label, results.of_kernel(case, name).scaled(scale, digits)]
            longer = 60 / 270 if name == "timeouts" else 1
            for variant in ("ns3-2014", "near-kernel"):
                value = results.of_simulation(case, name, variant)
                cells.append(value.scaled(scale * longer, digits))
            rows.append(cells)
    return table(head, rows)


def defaults_table(results: Results) -> str:
    case = "paper-9-defaults"
    head = ["quantity", "kernel", "Airpath, profile `linux`"]
    rows = []
    for name, label, scale, digits in (
        ("ip_throughput_bps", "T, Mbit/s", 1e-6, 3),
        ("goodput_bps", "goodput, Mbit/s", 1e-6, 3),
        ("queue_packets", "mean queue, packets", 1.0, 2),
        ("regime_2_share", "sent in regime 2, %", 100.0, 2),
        ("utilisation", "utilisation, %", 100.0, 2),
    ):
        both = results.of_kernel(case, name), results.of_simulation(case, name)
        rows.append([label, *(value.scaled(scale, digits) for value in both)])
    return table(head, rows)


# --- 2 -------------------------------------------------------------------------------------------


def rate_and_rtt(case: str) -> tuple[float, float]:
    _, rate, rtt = case.split("-")
    return float(rate) * 1e6, float(rtt) * 1e-3


def payload_bps(rate_bps: float) -> float:
    return rate_bps * cases.PAYLOAD / cases.PACKET


def configured_rtt_s(case: str) -> float:
    """Return the base RTT plus the transmission time of the reply on the link."""
    rate, rtt = rate_and_rtt(case)
    return rtt + 8 * cases.PING_BYTES / rate


def fixed_holds(results: Results, case: str, bound: float) -> bool | None:
    goodput = results.of_kernel(case, "goodput_bps")
    if not goodput.runs:
        return None
    return abs(difference(goodput.value, payload_bps(rate_and_rtt(case)[0]))) <= bound


def ping_holds(row: Row) -> bool:
    """Return true if the mean RTT matches the configured RTT and no reply is missing."""
    off = abs(float(row["mean_s"]) - configured_rtt_s(row["case"]))
    return off <= cases.PING_BOUND_S and row["sent"] == row["received"]


def fixed_table(results: Results) -> str:
    head = ["Mbit/s", "RTT, ms", "goodput, Mbit/s", "of the payload rate, %", "simulated, Mbit/s"]
    head += [
        "valid",
        "lateness p99, µs",
        "within",
        "ping, ms",
        "configured, ms",
        "off, ms",
        "within",
    ]
    pings = {row["case"]: row for row in results.ping}
    rows = []
    for case in (*cases.fixed_cases(), *cases.fast_cases()):
        rate, rtt = rate_and_rtt(case.id)
        goodput = results.of_kernel(case.id, "goodput_bps")
        late = results.of_kernel(case.id, "lateness_p99_s")
        cells = [f"{rate / 1e6:.0f}", f"{rtt * 1e3:.0f}", goodput.scaled(1e-6, 3)]
        cells += [f"{goodput.value / payload_bps(rate) * 100:.2f}"]
        cells += [results.of_simulation(case.id, "goodput_bps").scaled(1e-6, 3)]
        cells += [f"{goodput.valid}/{goodput.runs}", late.scaled(1e6, 0)]
        holds = fixed_holds(results, case.id, cases.FIXED_GOODPUT_BOUND)
        cells += [verdict(holds, goodput.valid > 0)]
        row = pings.get(case.id)
        if row is None:
            cells += ["–", "–", "–", "–"]
        else:
            configured = configured_rtt_s(case.id)
            off = float(row["mean_s"]) - configured
            cells += [f"{float(row['mean_s']) * 1e3:.3f}", f"{configured * 1e3:.3f}"]
            cells += [f"{off * 1e3:+.3f}", verdict(ping_holds(row), row["valid"] == "1")]
        rows.append(cells)
    return table(head, rows)


# --- 3 -------------------------------------------------------------------------------------------


class Bins(NamedTuple):
    """Bytes that a client received over a trace."""

    case: str
    run: str
    bins: int
    above: int
    """Number of bins with more bytes than their opportunities."""
    above_late: int
    """Number of bins with more bytes than their opportunities plus the opportunities just before,
    within the lateness of the run."""
    share: float


def bins(results: Results) -> list[Bins]:
    found = []
    for case, run in dict.fromkeys((row["case"], row["run"]) for row in results.bins):
        rows = [row for row in results.bins if (row["case"], row["run"]) == (case, run)]
        got = [int(row["delivered_bytes"]) for row in rows]
        offered = [int(row["opportunity_bytes"]) for row in rows]
        allowed = [int(row["allowed_bytes"]) for row in rows]
        above = sum(a > b for a, b in zip(got, offered, strict=True))
        late = sum(a > b for a, b in zip(got, allowed, strict=True))
        found.append(Bins(case, run, len(rows), above, late, sum(got) / sum(offered)))
    return found


def bins_hold(one: Bins) -> bool:
    return one.above_late == 0 and one.share >= cases.TRACE_SHARE


def trace_table(results: Results) -> str:
    head = ["trace", "run", "bins of 100 ms", "above their opportunities"]
    head += ["above them and those by which the run was late", "used, %", "within"]
    rows = [
        [
            *(cases.TRACES[one.case.removeprefix("trace-")], one.run, str(one.bins)),
            *(str(one.above), str(one.above_late)),
            *(f"{one.share * 100:.2f}", verdict(bins_hold(one))),
        ]
        for one in bins(results)
    ]
    return table(head, rows)


# --- 4 -------------------------------------------------------------------------------------------


class EngineRow(NamedTuple):
    """One scenario of the matrix, emulated and simulated."""

    case: str
    goodput: tuple[Mean, Mean]
    queue: tuple[Mean, Mean]

    def off(self, name: str) -> float:
        """Return the relative difference of the simulation from the kernel."""
        kernel, simulated = getattr(self, name)
        return difference(simulated.value, kernel.value)

    @property
    def is_measured(self) -> bool:
        return self.goodput[0].runs > 0


def matrix(results: Results) -> list[EngineRow]:
    return _engine_rows(results, cases.matrix_cases(), "goodput_bps")


def bbr(results: Results) -> list[EngineRow]:
    """Return the rows of the BBR flows."""
    return _engine_rows(results, cases.bbr_cases(), "first_goodput_bps")


def _engine_rows(results: Results, chosen: Sequence[cases.Case], goodput: str) -> list[EngineRow]:
    found = []
    for case in chosen:
        both = [
            (results.of_kernel(case.id, name), results.of_simulation(case.id, name))
            for name in (goodput, "queue_packets")
        ]
        found.append(EngineRow(case.id, both[0], both[1]))
    return found


_COMPARED = ["goodput, kernel", "simulated", "difference, %", "within", "queue, kernel"]
_COMPARED += ["simulated", "difference, %", "within", "valid"]


def _compared(one: EngineRow) -> list[str]:
    """Return the columns `_COMPARED` of a row."""
    cells = []
    for name, scale, digits, bound in (
        ("goodput", 1e-6, 3, cases.GOODPUT_BOUND),
        ("queue", 1.0, 2, cases.QUEUE_BOUND),
    ):
        kernel, simulated = getattr(one, name)
        cells += [kernel.scaled(scale, digits), simulated.scaled(scale, digits)]
        holds = abs(one.off(name)) <= bound if one.is_measured else None
        cells += [percent(one.off(name)), verdict(holds, one.goodput[0].valid > 0)]
    return [*cells, f"{one.goodput[0].valid}/{one.goodput[0].runs}"]


def matrix_table(results: Results) -> str:
    head = ["", "cc", "queue", "loss, %", "flows", "link", *_COMPARED]
    rows = []
    for one, (number, cc, queue, loss, flows, link) in zip(
        matrix(results), cases.MATRIX, strict=True
    ):
        cells = [str(number), cc, queue, f"{loss * 100:g}", str(flows), link]
        rows.append([*cells, *_compared(one)])
    return table(head, rows)


def bbr_table(results: Results) -> str:
    head = ["", "Mbit/s", "RTT, ms", "buffer, BDP", "loss, %", "CUBIC", *_COMPARED]
    rows = []
    for one, (number, rate, rtt, buffer, loss, is_shared) in zip(
        bbr(results), cases.BBR, strict=True
    ):
        cells = [f"{value:g}" for value in (number, rate, rtt, buffer, 100 * loss)]
        rows.append([*cells, "yes" if is_shared else "no", *_compared(one)])
    return table(head, rows)


def number_within(rows: Sequence[EngineRow]) -> tuple[int, int, int]:
    """Return the number of measured scenarios, of those whose goodput agrees, and of those whose
    queue agrees.
    """
    measured = [one for one in rows if one.is_measured]
    goodput = sum(abs(one.off("goodput")) <= cases.GOODPUT_BOUND for one in measured)
    queue = sum(abs(one.off("queue")) <= cases.QUEUE_BOUND for one in measured)
    return len(measured), goodput, queue


# --- 6 -------------------------------------------------------------------------------------------


def soak_growth(results: Results) -> float | None:
    """Return the growth of memory from the fifth minute to the last sixth, bytes."""
    rows = [row for row in results.soak if row["resident_bytes"]]
    late = [int(row["resident_bytes"]) for row in rows if float(row["at_s"]) >= FIFTH_MINUTE_S]
    return max(late) - late[0] if late else None


def soak_drift(results: Results) -> float | None:
    """Return utilisation − 1. The queue is never empty."""
    found = results.of_kernel("soak", "utilisation")
    return found.value - 1 if found.runs else None


def speed_table(results: Results) -> str:
    head = [
        "case",
        "packets",
        "CPU per packet, µs",
        "CPU share, %",
        "lateness p50, µs",
        "p99",
        "max",
    ]
    head += ["class", "valid", "load before"]
    rows = []
    for case in ("fast-300-20", "fixed-100-10", "fixed-20-40", "soak"):
        for row in results.kernel:
            if row["case"] != case:
                continue
            late = [f"{float(row[f'lateness_{q}_s'] or 'nan') * 1e6:.0f}" for q in LATE]
            cpu = f"{float(row['cpu_per_packet_s'] or 'nan') * 1e6:.2f}"
            cells = [f"{case}, run {row['run']}", row["packets"], cpu]
            cells += [f"{float(row['cpu_share']) * 100:.0f}", *late, row["class"], row["valid"]]
            rows.append([*cells, row["load"]])
    return table(head, rows)


LATE = ("p50", "p99", "max")
