"""The dumbbells of `dumbbells.csv` in Airpath, compared with the results of ns-3.

python compare.py [--profile ns3] [--set 1] [--markdown]
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import airpath as ap

HERE = Path(__file__).parent
SECOND_SET = 101
"""First id of the second set, which was generated after the work on the first set."""
GOODPUT_BOUND, QUEUE_BOUND = 0.03, 0.10
QUANTITIES = ["goodput_bps", "queue_packets", "retransmissions", "timeouts"]

CC = {"TcpNewReno": "newreno", "TcpLinuxReno": "reno", "TcpCubic": "cubic"}
RFC_GROWTH = {"TcpNewReno": "bytes", "TcpLinuxReno": "segments", "TcpCubic": "bytes"}
RECOVERY = {"TcpPrrRecovery": "prr", "TcpClassicRecovery": "sack"}

Row = dict[str, str]
Values = dict[str, list[float]]


def read(name: str) -> list[Row]:
    with (HERE / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def tcp(row: Row, profile: str) -> dict[str, Any]:
    """Return the TCP options: those common to all runs, and those of this row."""
    options: dict[str, Any] = {
        "mss": "1448 B",
        "initial_window": "14480 B",
        "timestamps": True,
        "min_rto": "1 s",
        "receive_window": "65535 B",
        "limited_transmit": True,
        "delayed_ack_segments": int(row["delayed_ack"]),
        "recovery": RECOVERY[row["recovery"]],
    }
    return options if profile == "ns3" else options | {"window_growth": RFC_GROWTH[row["cc"]]}


def link(row: Row) -> ap.link.Link:
    common: dict[str, Any] = {"delay": f"{row['delay_ms']} ms", "frame_overhead": "2 B"}
    rate = f"{float(row['rate_bps']):.0f} bit/s"
    if not row["threshold"]:
        return ap.link.Fixed(rate=rate, loss=float(row["loss"]), **common)
    rate2 = f"{float(row['rate2_bps']):.0f} bit/s"
    regimes = [
        ap.link.Regime(rate=rate, per=float(row["per1"])),
        ap.link.Regime(rate=rate2, per=float(row["per2"])),
    ]
    return ap.link.MultiRegime(thresholds=[int(row["threshold"])], regimes=regimes, **common)


def aqm(row: Row, profile: str) -> ap.aqm.QueueDisc:
    if row["queue"] == "droptail":
        return ap.aqm.DropTail(limit=f"{row['limit']} packets")
    return ap.aqm.Red(
        limit=int(row["limit"]),
        min_th=int(row["min_th"]),
        max_th=int(row["max_th"]),
        max_p=float(row["max_p"]),
        weight=float(row["weight"]),
        wait=row["wait"] == "1",
        variant="ns" if profile == "ns3" else "red-1993",
    )


def scenario(row: Row, profile: str) -> ap.Scenario:
    """Return the scenario that `dumbbell.cc` builds from the same row."""
    flows = [
        ap.traffic.Tcp(
            cc=CC[row["cc"]],
            profile=profile,
            tcp=tcp(row, profile),
            access=ap.Wire(rate="1 Gbit/s", delay=f"{access} ms"),
            egress=ap.Wire(rate="1 Gbit/s"),
            return_wire=ap.Wire(rate="1 Gbit/s", delay=f"{access} ms"),
            start={"uniform": ["0 s", "1 s"]},
        )
        for access in row["access_ms"].split()
    ]
    back = ap.link.Fixed(
        rate=f"{float(row['rate_bps']):.0f} bit/s",
        delay=f"{row['delay_ms']} ms",
        frame_overhead="2 B",
    )
    return ap.Scenario(
        flows=flows,
        bottleneck=ap.Bottleneck(aqm=aqm(row, profile), link=link(row)),
        ack_path=ap.ack_path.Reverse(link=back, aqm=ap.aqm.DropTail(limit="10000 packets")),
        duration=f"{row['duration_s']} s",
        warmup=f"{row['warmup_s']} s",
    )


def simulated_values(row: Row, profile: str, reps: int) -> Values:
    """Return one value of each quantity per replication."""
    result = ap.simulate(scenario(row, profile), reps=reps, seed=1)
    flows = result.table("flows").groupby("replication")
    queue = result.table("queues").query("queue == 'bottleneck'")
    values = {name: flows[name].sum() for name in QUANTITIES if name != "queue_packets"}
    found = {"queue_packets": queue["mean_packets"], **values}
    return {name: [float(value) for value in found[name]] for name in QUANTITIES}


def stored_values() -> dict[str, Values]:
    """Return the values of ns-3, one value per run, by the id of the dumbbell."""
    found: dict[str, Values] = {}
    for row in read("ns3.csv"):
        values = found.setdefault(row["id"], {name: [] for name in QUANTITIES})
        for name in QUANTITIES:
            values[name].append(float(row[name]))
    return found


class Comparison(NamedTuple):
    """One dumbbell in both simulators."""

    row: Row
    ns3: Values
    airpath: Values

    def difference(self, name: str) -> float:
        """Return the relative difference of the means."""
        reference = statistics.mean(self.ns3[name])
        return statistics.mean(self.airpath[name]) / reference - 1

    def error(self, name: str) -> float:
        """Return the standard error of `difference`."""
        parts = []
        for values in (self.ns3[name], self.airpath[name]):
            spread = statistics.stdev(values) / math.sqrt(len(values))
            parts.append(spread / statistics.mean(values))
        return math.hypot(*parts)

    @property
    def goodput_agrees(self) -> bool:
        return abs(self.difference("goodput_bps")) <= GOODPUT_BOUND

    @property
    def queue_agrees(self) -> bool:
        return abs(self.difference("queue_packets")) <= QUEUE_BOUND


def compare(rows: Iterable[Row], profile: str = "ns3", reps: int = 10) -> Iterator[Comparison]:
    stored = stored_values()
    for row in rows:
        yield Comparison(row, stored[row["id"]], simulated_values(row, profile, reps))


def the_set(number: int) -> list[Row]:
    """Return the rows of set 1 or 2."""
    return [row for row in read("dumbbells.csv") if (int(row["id"]) >= SECOND_SET) == (number == 2)]


# --- tables --------------------------------------------------------------------------------------


def cells(found: Comparison) -> list[str]:
    row = found.row
    queue = f"drop-tail {row['limit']}"
    if row["queue"] == "red":
        weight = "1" if float(row["weight"]) == 1 else row["weight"]
        wait = ", wait" if row["wait"] == "1" else ""
        queue = f"RED {row['min_th']}/{row['max_th']}, w {weight}{wait}"
    rate = f"{float(row['rate_bps']) / 1e6:g}"
    loss = f"{float(row['loss']) * 100:g}"
    if row["threshold"]:
        rate += f" / {float(row['rate2_bps']) / 1e6:g}"
        loss = f"{float(row['per1']) * 100:g} / {float(row['per2']) * 100:g}"
        loss += f" from {row['threshold']}"

    def both(name: str, scale: float, digits: int) -> list[str]:
        means = [statistics.mean(values[name]) * scale for values in (found.ns3, found.airpath)]
        percent = f"{found.difference(name) * 100:+.1f} ± {found.error(name) * 100:.1f}"
        return [*(f"{mean:.{digits}f}" for mean in means), percent]

    kind = f"{row['cc'].removeprefix('Tcp')}, {RECOVERY[row['recovery']]}, {row['delayed_ack']}"
    return [
        *(row["id"], row["flows"], kind, rate, row["base_rtt_ms"], queue, loss),
        *both("goodput_bps", 1e-6, 3),
        *both("queue_packets", 1, 2),
    ]


def shares(found: list[Comparison]) -> str:
    goodput = sum(one.goodput_agrees for one in found)
    queue = sum(one.queue_agrees for one in found)
    return f"goodput within 3 %: {goodput} of {len(found)}; queue within 10 %: {queue}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="ns3", choices=["ns3", "rfc"])
    parser.add_argument("--set", type=int, default=1, choices=[1, 2])
    parser.add_argument("--reps", type=int, default=10)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    found = list(compare(the_set(given.set), given.profile, given.reps))
    for one in found:
        print("| " + " | ".join(cells(one)) + " |" if given.markdown else "\t".join(cells(one)))
    print(shares(found))


if __name__ == "__main__":
    main()
