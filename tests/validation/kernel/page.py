"""Write the tables into the page: `python page.py` prints them, `--write` writes them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import analyse
import cases

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "real-kernel.md"
PLACE = re.compile(r"(<!-- real kernel: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

Goal = tuple[str, str, str, bool | None]
"""Number of the criterion, requirement, result, and True if the requirement is met."""


def paper_goals(results: analyse.Results) -> Iterator[Goal]:
    found = [one for one in analyse.throughputs(results) if one.kernel.runs]
    for idx in (9, None):
        chosen = [one for one in found if (one.idx == 9) == (idx == 9)]
        if not chosen:
            continue
        requirement = (
            "row 9: T within 4 % of ns-3's and of Airpath's"
            if idx
            else "2, 3, 6, 12, 15: within 8 %"
        )
        off = {one.idx: one.kernel.value / one.published / 1e6 - 1 for one in chosen}
        result = ", ".join(f"{row}: {analyse.percent(value)} %" for row, value in off.items())
        if idx:
            from_airpath = chosen[0].kernel.value / chosen[0].paper.value - 1
            result = f"{analyse.percent(off[9])} % and {analyse.percent(from_airpath)} %"
        yield "1", requirement, result, all(one.holds for one in chosen)


def fixed_goals(results: analyse.Results) -> Iterator[Goal]:
    shares = []
    for case in cases.fixed_cases():
        goodput = results.of_kernel(case.id, "goodput_bps")
        if goodput.runs:
            rate = analyse.rate_and_rtt(case.id)[0]
            shares.append(goodput.value / analyse.payload_bps(rate))
    within = sum(abs(share - 1) <= cases.FIXED_GOODPUT_BOUND for share in shares)
    result = f"{within} of {len(shares)}: {min(shares):.2%} to {max(shares):.2%}"
    yield "2", "goodput within 3 % of the payload rate, nine links", result, within == 9
    if results.ping:
        offs = [
            1e3 * (float(row["mean_s"]) - analyse.configured_rtt_s(row["case"]))
            for row in results.ping
        ]
        held = sum(analyse.ping_holds(row) for row in results.ping)
        result = f"{held} of {len(offs)}: {min(offs):+.3f} to {max(offs):+.3f} ms"
        yield "2", "mean RTT within 0.3 ms, nine links", result, held == 9


def trace_goals(results: analyse.Results) -> Iterator[Goal]:
    found = analyse.bins(results)
    if found:
        above, late = sum(one.above for one in found), sum(one.above_late for one in found)
        bins = sum(one.bins for one in found)
        result = f"{above} of {bins} above; {late} beyond the lateness"
        yield (
            "3",
            "no bin of 100 ms above its opportunities, lateness allowed for",
            result,
            late == 0,
        )
        used = min(one.share for one in found)
        yield "3", "98 % of the opportunities used", f"{used:.2%}", used >= cases.TRACE_SHARE


def matrix_goals(results: analyse.Results) -> Iterator[Goal]:
    measured, goodput, queue = analyse.number_within(analyse.matrix(results))
    if measured:
        least = cases.GOODPUT_LEAST
        result = f"{goodput} of {measured}"
        yield "4", "goodput within 5 % in 13 of 16", result, goodput >= least
        yield "4", "mean queue within 20 %", f"{queue} of {measured}", queue == measured == 16


def bbr_goals(results: analyse.Results) -> Iterator[Goal]:
    rows = analyse.bbr(results)
    lossy = [row for row in rows if row.case in {f"bbr-{number}" for number in cases.BBR_LOSS}]
    measured, goodput, queue = analyse.number_within([row for row in rows if row not in lossy])
    if measured:
        least, of_queue = cases.BBR_GOODPUT_LEAST, cases.BBR_QUEUE_LEAST
        yield (
            "7",
            "BBR: goodput within 5 % in 10 of 12",
            f"{goodput} of {measured}",
            goodput >= least,
        )
        yield (
            "7",
            "BBR: mean queue within 20 % in 8 of 12",
            f"{queue} of {measured}",
            queue >= of_queue,
        )
    measured, goodput, _ = analyse.number_within(lossy)
    if measured:
        result = f"{goodput} of {measured}"
        yield "7", "BBR at a loss of 5 %: goodput within 5 %", result, goodput == measured


def speed_goals(results: analyse.Results) -> Iterator[Goal]:
    rows = [row for row in results.kernel if row["case"] == "fast-300-20"]
    shares = [float(row["goodput_bps"]) / analyse.payload_bps(300e6) for row in rows]
    valid = [row["valid"] == "1" for row in rows]
    if rows:
        good = [abs(share - 1) <= cases.FAST_GOODPUT_BOUND for share in shares]
        result = ", ".join(
            f"{share:.1%}{'' if ok else ' (invalid)'}"
            for share, ok in zip(shares, valid, strict=True)
        )
        requirement = "300 Mbit/s: goodput within 3 % of the payload rate, valid"
        yield "6", requirement, result, all(good) and all(valid)
    growth, drift = analyse.soak_growth(results), analyse.soak_drift(results)
    if growth is not None:
        requirement = "30 minutes at 50 Mbit/s: memory grows by 1 MiB at most"
        yield "6", requirement, f"{growth:.0f} B", growth <= cases.SOAK_MEMORY_BYTES
    if drift is not None:
        requirement = "30 minutes: bytes within 1e-4 of rate × time"
        yield "6", requirement, f"{drift:+.1e}", abs(drift) <= cases.SOAK_DRIFT


def goals_table(results: analyse.Results) -> str:
    """Return every requirement with its result."""
    parts = (paper_goals, fixed_goals, trace_goals, matrix_goals, speed_goals, bbr_goals)
    rows = [
        [number, requirement, result, analyse.verdict(holds)]
        for part in parts
        for number, requirement, result, holds in part(results)
    ]
    return analyse.table(["", "goal", "came out", "met"], rows)


TABLES = {
    "goals": goals_table,
    "paper": analyse.paper_table,
    "paper-causes": analyse.paper_causes,
    "paper-defaults": analyse.defaults_table,
    "fixed": analyse.fixed_table,
    "traces": analyse.trace_table,
    "matrix": analyse.matrix_table,
    "speed": analyse.speed_table,
    "bbr": analyse.bbr_table,
}
"""Tables by their names on the page."""


def filled(page: str, results: analyse.Results) -> str:
    """Return the page with new tables between its marks."""
    return PLACE.sub(lambda found: f"{found[1]}{TABLES[found[2]](results)}\n{found[3]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    results = analyse.Results()
    if given.write:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), results), "utf-8")
        return
    for name, make in TABLES.items():
        print(f"## {name}\n{make(results)}\n")


if __name__ == "__main__":
    main()
