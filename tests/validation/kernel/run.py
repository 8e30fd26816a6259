"""Run the cases: `python run.py simulate`, `kernel`, `ping` or `soak`; each appends to its file.

    python run.py simulate [--only matrix]
    python run.py kernel [--only fixed] [--round 1] [--attempts 1]
    python run.py ping
    python run.py soak

Existing rows are kept and not measured again. An emulation takes as long as its duration, and only
one runs at a time. An invalid emulation is repeated up to two times; all its rows are kept.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import bins
import cases

import airpath as ap
from airpath.emulation.api import emulate_with

HERE = Path(__file__).parent
SEEDS = 10
"""Seeds of the simulations."""
PINGS = 200
SAMPLE_S = 10.0
"""Interval between two samples of the program's memory, s."""

MEASURED = [
    "goodput_bps", "ip_throughput_bps", "queue_packets", "utilisation", "drops", "marks", "lost",
    "regime_2_share", "retransmissions", "timeouts", "mean_rtt_s",
    "first_goodput_bps",
]  # fmt: skip
VALIDITY = [
    "valid", "reasons", "lateness_p50_s", "lateness_p99_s", "lateness_max_s", "packets",
    "device_drops", "refused_packets", "ack_ratio", "class", "cpu_share", "cpu_per_packet_s",
    "longest_absence_s",
]  # fmt: skip
COUNTERS = [
    "Tcp.RetransSegs", "TcpExt.TCPTimeouts", "TcpExt.TCPLossProbes", "TcpExt.TCPFastRetrans",
    "TcpExt.TCPSlowStartRetrans", "TcpExt.TCPLostRetransmit", "TcpExt.TCPSpuriousRTOs",
    "TcpExt.TCPFullUndo", "TcpExt.TCPPartialUndo", "TcpExt.TCPDSACKUndo", "TcpExt.TCPRenoRecovery",
    "TcpExt.TCPSackRecovery", "TcpExt.DelayedACKs", "TcpExt.TCPHystartTrainDetect",
    "TcpExt.TCPHystartDelayDetect",
]  # fmt: skip
"""Kernel counters of the sender's side, from the end of the warm-up on."""
SIMULATED = ["case", "variant", "seed", *MEASURED]
KERNEL = ["case", "run", "attempt", *MEASURED, *VALIDITY, "load", "counters"]
PING = [
    "case", "run", "attempt", "sent", "received", "min_s", "mean_s", "max_s", *VALIDITY, "load",
]  # fmt: skip
SOAK = ["at_s", "resident_bytes", "rate_bps", "lateness_p99_s", "lateness_max_s", "load"]

Row = dict[str, Any]


class Rows:
    """A CSV file to which rows are appended.

    Parameters
    ----------
    path : Path
        The file; created if missing.
    fields : list of str
        Columns of the file.
    """

    def __init__(self, path: Path, fields: list[str]) -> None:
        self.path = path
        self.fields = fields

    def read(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        with self.path.open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def add(self, row: Row) -> None:
        is_new = not self.path.exists()
        with self.path.open("a", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.fields, lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow({key: shown(row.get(key)) for key in self.fields})


def shown(value: Any) -> Any:
    if value is None or value != value:  # NaN: no value
        return ""
    if isinstance(value, bool):
        return int(value)
    return f"{value:.7g}" if isinstance(value, float) else value


# --- measured quantities of a replication --------------------------------------------------------


def measured(run: Mapping[str, Any]) -> Row:
    """Return the columns `MEASURED` of one replication."""
    flows = run["flows"]
    queue = next(queue for queue in run["queues"] if queue["name"] == "bottleneck")
    link = next(link for link in run["links"] if link["name"] == "bottleneck")
    regimes = link.get("regime_packets") or [0]
    share = regimes[1] / sum(regimes) if len(regimes) == 2 and sum(regimes) else None
    rtts = [(flow["mean_rtt_s"], flow["delivered_packets"]) for flow in flows]
    known = [(rtt, packets) for rtt, packets in rtts if rtt is not None]
    weight = sum(packets for _, packets in known)
    return {
        "goodput_bps": total(flows, "goodput_bps"),
        "ip_throughput_bps": total(flows, "ip_throughput_bps"),
        "queue_packets": queue["mean_packets"],
        "utilisation": link["utilisation"],
        "drops": sum(dict(queue["drops"]).values()),
        "marks": queue["marks"],
        "lost": link["lost_packets"],
        "regime_2_share": share,
        "retransmissions": total(flows, "retransmissions"),
        "timeouts": total(flows, "timeouts"),
        "mean_rtt_s": sum(rtt * packets for rtt, packets in known) / weight if weight else None,
        "first_goodput_bps": flows[0]["goodput_bps"],
    }


def total(flows: Any, name: str) -> Any:
    values = [flow[name] for flow in flows]
    return None if None in values else sum(values)


def validity_of(validity: Mapping[str, Any]) -> Row:
    row = {key: validity.get(key) for key in VALIDITY}
    return row | {"reasons": " ".join(validity.get("reasons") or [])}


def counted(kernel: Mapping[str, Any]) -> str:
    """Return the counters of the sender's side that are not 0, as one text."""
    of_side = (kernel.get("counters") or {}).get("server") or {}
    found = {key: sum(values) for key, values in of_side.items()}
    return json.dumps({key: found[key] for key in COUNTERS if found.get(key)})


# --- simulation ----------------------------------------------------------------------------------


def simulate(directory: Path, only: str) -> None:
    rows = Rows(directory / "simulated.csv", SIMULATED)
    done = {(row["case"], row["variant"]) for row in rows.read()}
    for case in chosen(only):
        for variant, scenario in case.simulated.items():
            if (case.id, variant) in done:
                continue
            result = ap.simulate(scenario, reps=SEEDS, seed=1)
            for number, run in enumerate(result.replications):
                rows.add({"case": case.id, "variant": variant, "seed": number, **measured(run)})
            print(case.id, variant, flush=True)


def chosen(only: str) -> list[cases.Case]:
    """Return the cases of the part `only`, or the cases whose names start with `only`."""
    found = [case for case in cases.all_cases() if only in ("", case.part)]
    return found or [case for case in cases.all_cases() if case.id.startswith(only)]


# --- the kernel ----------------------------------------------------------------------------------


def wanted(rows: Rows, case: str, run: int, most: int = cases.TRIES) -> int | None:
    """Return the index of the next attempt, or None if no further attempt is required."""
    made = [row for row in rows.read() if (row["case"], row["run"]) == (case, str(run))]
    if any(row["valid"] == "1" for row in made) or len(made) >= most:
        return None
    return len(made) + 1


def kernel(directory: Path, only: str, number: int | None, most: int) -> None:
    """Emulate the first run of each case, then the second run of each, and so on."""
    rows = Rows(directory / "kernel.csv", KERNEL)
    rounds = [number] if number else range(1, 1 + max(case.runs for case in chosen(only)))
    for run in rounds:
        for case in chosen(only):
            if run > case.runs:
                continue
            while (attempt := wanted(rows, case.id, run, most)) is not None:
                key = {"case": case.id, "run": run, "attempt": attempt}
                rows.add(key | emulate(directory, case, run, attempt))
                print(case.id, run, attempt, rows.read()[-1]["valid"], flush=True)


def emulate(directory: Path, case: cases.Case, run: int, attempt: int) -> Row:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as place:
        captured: dict[str, Any] = {"capture_to": place} if case.part == "trace" else {}
        result = ap.emulate(case.kernel, seed=run, **captured)
        if captured:
            bins.write(directory, case, f"{run}.{attempt}", Path(place), result)
    [replication] = result.replications
    row = measured(replication) | validity_of(result.validity_reports[0])
    return row | {"load": load, "counters": counted(result.kernel)}


# --- ping ----------------------------------------------------------------------------------------


def ping(directory: Path, only: str) -> None:
    rows = Rows(directory / "ping.csv", PING)
    for case in cases.fixed_cases():
        if not case.id.startswith(only):
            continue
        while (attempt := wanted(rows, case.id, 1)) is not None:
            rows.add({"case": case.id, "run": 1, "attempt": attempt, **pinged(case.kernel)})
            print(case.id, rows.read()[-1]["mean_s"], flush=True)


def pinged(scenario: ap.Scenario) -> Row:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as place:
        output = Path(place, "rtts")
        words = [sys.executable, str(HERE / "echo.py"), str(PINGS), str(output)]
        result = ap.emulation.run_command(scenario, words)
        lines = output.read_text("utf-8").splitlines()
    rtts = [float(line) for line in lines if line != "lost"]
    row = {"sent": len(lines), "received": len(rtts), "min_s": min(rtts), "max_s": max(rtts)}
    row["mean_s"] = sum(rtts) / len(rtts)
    return row | validity_of(result.validity_reports[0]) | {"load": load}


# --- soak test -----------------------------------------------------------------------------------


def soak(directory: Path) -> None:
    """Emulate for half an hour; sample the memory of the program every ten seconds."""
    case = cases.Case("soak", "soak", cases.soak(), {}, 1)
    ends = Rows(directory / "kernel.csv", KERNEL)
    if wanted(ends, case.id, 1) is None:
        return
    rows = Rows(directory / "soak.csv", SOAK)
    last: dict[str, Any] = {}

    def on_event(_run: int, event: Mapping[str, Any]) -> None:
        last.update(event)

    load = os.getloadavg()[0]
    with sampled(rows, last):
        result = emulate_with(case.kernel, seed=1, reps=1, confidence=0.99, listener=on_event)
    [replication] = result.replications
    row = measured(replication) | validity_of(result.validity_reports[0])
    row |= {"load": load, "counters": counted(result.kernel)}
    ends.add({"case": case.id, "run": 1, "attempt": 1, **row})


@contextlib.contextmanager
def sampled(rows: Rows, last: Mapping[str, Any]) -> Iterator[None]:
    over = threading.Event()
    begun = time.monotonic()

    def sample_memory() -> None:
        while not over.wait(SAMPLE_S):
            row = {"at_s": time.monotonic() - begun, "resident_bytes": resident()}
            row |= {key: last.get(key) for key in ("rate_bps", "lateness_p99_s", "lateness_max_s")}
            rows.add(row | {"load": os.getloadavg()[0]})

    thread = threading.Thread(target=sample_memory, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def resident() -> int | None:
    """Return the resident memory of the program that this process has started, bytes."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            status = (entry / "status").read_text("utf-8")
            fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
            if int(fields["PPid"]) == os.getpid() and fields["Name"].strip() == "airpath-emu":
                return int(fields["VmRSS"].split()[0]) * 1024
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["simulate", "kernel", "ping", "soak"])
    parser.add_argument("--only", default="", help="a part, or what the names begin with")
    parser.add_argument("--round", type=int, help="only the runs with this number")
    parser.add_argument("--attempts", type=int, default=cases.TRIES, help="at each run, at most")
    parser.add_argument("--out", type=Path, default=HERE, help="where the files are")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    match given.what:
        case "simulate":
            simulate(given.out, given.only)
        case "kernel":
            kernel(given.out, given.only, given.round, given.attempts)
        case "ping":
            ping(given.out, given.only)
        case _:
            soak(given.out)


if __name__ == "__main__":
    main()
