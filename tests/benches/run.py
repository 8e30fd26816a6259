"""End-to-end benchmarks: prints a table and writes ``out/bench.json``.

``python tests/benches/run.py [NAME ...] [--repeat N] [--against REV]`` runs each scenario in a
separate process, on one thread, and reports the median run: packets delivered to receivers per
CPU-second, events per packet, simulated seconds per CPU-second and the peak memory of the process.
Building the scenario's resolved form is not counted. Every packet is acknowledged (no delayed ACK),
which gives more events.

With ``--against REV`` the commit REV is also built, in a temporary directory, and runs of both
alternate: the results of each are followed by the median of the ratios within pairs, with an
interval. The other commit runs the benchmark of its ``run.py``, in a separate process.

Some names measure something else: ``idle-100000`` the memory of a flow that does not send, and
``replications-8`` the wall-clock time of 8 replications on two threads relative to one thread.
``ctc-mcs0`` to ``ctc-mcs7`` measure the decoder of the 802.16 turbo code and the whole Monte-Carlo
chain on one core, max-log: decoded information bits per second times iterations at 10 iterations
without stopping, the same bits with genie-aided stopping at a frame error rate of 1e-3, and at that
rate blocks per second of the chain on AWGN and on Vehicular A (the cargo example ``codec_speed``).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from against import (
    Interval,
    NotBuiltError,
    OtherCommit,
    has_changes,
    last_line,
    median_interval,
    other_commit,
    run_pairs,
)

import airpath as ap
from airpath import _airpath
from airpath.scenario.aqm.queues import QueueDisc

OUT = Path("out")


def dumbbell(
    count: int,
    rate: str,
    packets: int = 100,
    *,
    rtt_ms: float = 20,
    duration: str = "100 s",
    cc: str = "newreno",
    recovery: str | None = None,
    aqm: QueueDisc | None = None,
) -> ap.Scenario:
    """Bulk flows; the RTT of each is 0.2 ms longer than that of the previous one, up to 20 ms."""
    rtts = [f"{rtt_ms + 0.2 * (i % 100):.1f} ms" for i in range(count)]
    options = {"delayed_ack_segments": 1, "receive_window": "1 MB"}
    return ap.Scenario(
        name=f"dumbbell-{count}",
        duration=duration,
        warmup="0 s",
        flows=ap.flows(
            count,
            cc=cc,
            base_rtt=rtts,
            start={"uniform": ["0 s", "1 s"]},
            tcp=options | ({"recovery": recovery} if recovery else {}),
        ),
        bottleneck=ap.Bottleneck(
            aqm=aqm or ap.aqm.DropTail(limit=f"{packets} packets"),
            link=ap.link.Fixed(rate=rate, delay="0 s"),
        ),
    )


def qawla_15() -> ap.Scenario:
    """Return scenario 15 of qawla-2015 at B = 20: 16 flows, dual-regime link, ACKs over a link."""
    from airpath_papers.qawla import scenarios

    return scenarios.build(15, 20)


def rlc_384() -> ap.Scenario:
    """One flow over a 384 kbit/s 3G bearer with outages, ACKs over the same bearer."""
    radio = ap.link.RlcAm(
        rate="384 kbit/s",
        delay="20 ms",
        reverse_delay="30 ms",
        window_poll="timed",
        errors=ap.frame_errors.Burst(frame_error_rate=0.1, doppler=0.01),
    )
    return ap.Scenario(
        name="rlc-384",
        duration="20000 s",
        warmup="0 s",
        flows=ap.flows(1, cc="reno", base_rtt="250 ms", tcp={"delayed_ack_segments": 1}),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.DropTail(limit="40 packets"), link=radio),
        ack_path=ap.ack_path.Reverse(),
        backhaul={"rate": "1 Mbit/s", "delay": "100 ms"},
    )


def idle(count: int) -> ap.Scenario:
    """Return `count` flows: 99 bulk flows, and flows that send one segment in the last
    millisecond.
    """
    bulk = dumbbell(99, "100 Mbit/s", 1000, duration="10 s", recovery="sack")
    last = ap.flows(count - 99, cc="newreno", base_rtt="20 ms", start="9.999 s", size="1 kB")
    return ap.Scenario(
        name=f"idle-{count}",
        duration="10 s",
        warmup="0 s",
        flows=[*bulk.flows, *last],
        bottleneck=bulk.bottleneck,
    )


def cell(
    users: Sequence[Sequence[int]],
    *,
    slot: str = "3 ms",
    bandwidth: str = "4.3 MHz",
    cap: str = "10 Mbit/s",
    duration: str = "1000 s",
) -> ap.Scenario:
    """CLAMP flows over the radio of clamp-2008 §5.2; the RTTs of the flows of each user, ms."""
    radio = ap.link.Cell(
        slot=slot,
        delay="1 ms",
        rate=ap.link.Shannon(bandwidth=bandwidth, cap=cap),
        margin=ap.link.AdaptiveMargin(target_loss=1e-3),
        attempts=15,
        snr=ap.snr.Jakes(mean="6.0206 dB", speed="10 m/s", carrier="1.8 GHz"),
    )
    options = {"delayed_ack_segments": 1, "receive_window": "6 MB"}
    groups = [
        ap.flows(1, user=user, cc="newreno", base_rtt=f"{rtt} ms", window="clamp", tcp=options)
        for user, rtts in enumerate(users)
        for rtt in rtts
    ]
    return ap.Scenario(
        name=f"cell-{len(groups)}",
        duration=duration,
        warmup="0 s",
        flows=[flow for group in groups for flow in group],
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Clamp(a="7 kB", inner=ap.aqm.DropTail(limit="6 MB")), link=radio
        ),
    )


def many_users(**changes: Any) -> ap.Scenario:
    """Return 50 users with four flows each, with RTTs from 20 to 219 ms."""
    return cell([[20 + user + 50 * flow for flow in range(4)] for user in range(50)], **changes)


def tdd(stations: int, duration: str, **changes: Any) -> ap.Scenario:
    """A bulk download to each station of a TDD link; wired delays of 100 ms."""
    return ap.Scenario(
        name=f"tdd-{stations}",
        duration=duration,
        warmup="0 s",
        flows=ap.flows(
            stations,
            cc="newreno",
            base_rtt="100 ms",
            tcp={"receive_window": "64 kB", "recovery": "sack"},
        ),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="1000 packets"),
            link=ap.link.OfdmaTdd(stations=stations, **changes),
        ),
        ack_path=ap.ack_path.Reverse(),
    )


def mimo_vcp() -> ap.Scenario:
    """vcp-2008: ten VCP flows in each direction over 2×2 antennas at 10 dB, r = 0.93."""
    vcp = ap.aqm.AckPriority(aqm=ap.aqm.Vcp(limit="100 packets"))
    side = {"rate": "20 Mbit/s", "delay": "6.4 ms"}
    wires = dict.fromkeys(("access", "egress", "ack_access", "return_wire"), side)
    start = {"uniform": ["1 ms", "300 ms"]}
    groups = [
        ap.flows(10, cc="vcp", profile="ns2", direction=way, start=start, **wires)
        for way in ("forward", "reverse")
    ]
    return ap.Scenario(
        name="mimo-vcp",
        duration="2000 s",
        warmup="0 s",
        flows=[flow for group in groups for flow in group],
        bottleneck=ap.Bottleneck(
            aqm=vcp,
            link=ap.link.Mimo(
                rate="10 Mbit/s", delay="32 ms", tx=2, rx=2, snr_db=10, fec={"code_rate": 0.93}
            ),
        ),
        ack_path=ap.ack_path.Reverse(aqm=vcp),
    )


SCENARIOS: dict[str, Callable[[], ap.Scenario]] = {
    "dumbbell-16": lambda: dumbbell(16, "100 Mbit/s"),
    "dumbbell-16-sack": lambda: dumbbell(16, "100 Mbit/s", recovery="sack"),
    "dumbbell-16-cubic-fqcodel": lambda: dumbbell(
        16, "100 Mbit/s", cc="cubic", recovery="sack", aqm=ap.aqm.FqCoDel()
    ),
    "dumbbell-1000": lambda: dumbbell(1000, "1 Gbit/s", 1000, duration="20 s"),
    "dumbbell-1000-sack": lambda: dumbbell(
        1000, "1 Gbit/s", 1000, duration="20 s", recovery="sack"
    ),
    # A buffer of one bandwidth-delay product: 10 Gbit/s for 100 ms.
    "dumbbell-20000": lambda: dumbbell(
        20_000, "10 Gbit/s", 83_333, rtt_ms=100, duration="10 s", recovery="sack"
    ),
    "qawla-15": qawla_15,
    "rlc-384": rlc_384,
    # clamp-2008, Fig. 3.
    "cell-4": lambda: cell([[32], [132], [12, 182]], duration="3000 s"),
    "cell-50x200": lambda: many_users(duration="300 s"),
    "cell-50x200-fast": lambda: many_users(
        slot="1 ms", bandwidth="20 MHz", cap="100 Mbit/s", duration="60 s"
    ),
    # wimax-2009: one station, and a cell with a full downlink.
    "tdd-1": lambda: tdd(1, "3000 s", grant="adapt-bi"),
    "tdd-40": lambda: tdd(40, "300 s", downlink_mcs="64qam-5/6", request="ranging"),
    "mimo-vcp": mimo_vcp,
}

#: Number of flows in the run that measures their memory.
IDLE_FLOWS = 100_000


def measure(name: str) -> dict[str, Any]:
    """Run one scenario once in this process."""
    resolved, _ = SCENARIOS[name]().resolve()
    began = time.process_time()
    output = _airpath.simulate(resolved, {}, 1, 0, 1, 1)
    cpu_s = time.process_time() - began
    report = json.loads(output.replications)[0]
    # Events are those of the whole run, packets those of its measured part.
    packets = report["packets"] * report["simulated_s"] / report["measured_s"]
    return {
        "name": name,
        "packets_per_cpu_s": packets / cpu_s,
        "events_per_packet": report["events"] / packets,
        "sim_s_per_cpu_s": report["simulated_s"] / cpu_s,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "cpu_s": cpu_s,
    }


def resident_bytes() -> int:
    """Return the memory that this process uses now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def measure_idle(name: str) -> dict[str, Any]:
    """Measure the engine's memory per flow; most flows have not started to send."""
    resolved, _ = idle(IDLE_FLOWS).resolve()
    before = resident_bytes()
    _airpath.simulate(resolved, {}, 1, 0, 1, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "name": name,
        "bytes_per_flow": (peak - before) / IDLE_FLOWS,
        "scenario_bytes_per_flow": len(resolved) / IDLE_FLOWS,
        "peak_rss_bytes": peak,
    }


def measure_replications(name: str) -> dict[str, Any]:
    """Measure the wall-clock time of 8 replications on two threads relative to one thread."""
    resolved, _ = dumbbell(16, "100 Mbit/s", recovery="sack").resolve()

    def wall_s(threads: int) -> float:
        began = time.perf_counter()
        _airpath.simulate(resolved, {}, 1, 0, 8, threads)
        return time.perf_counter() - began

    wall_s(1)
    return {"name": name, "time_ratio": wall_s(2) / wall_s(1)}


def measure_codec(name: str) -> dict[str, Any]:
    """Measure the speed of the decoder and of the complete chain for one coding scheme."""
    scheme = name.removeprefix("ctc-")
    cargo = "cargo run --locked --release --quiet --package airpath-phy --example codec_speed --"
    command = [*cargo.split(), scheme, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    speeds: dict[str, Any] = json.loads(done.stdout)
    return {"name": name, **speeds}


#: Benchmarks that do not measure the speed of one scenario.
OTHERS: dict[str, Callable[[str], dict[str, Any]]] = {
    f"idle-{IDLE_FLOWS}": measure_idle,
    "replications-8": measure_replications,
    **{f"ctc-mcs{number}": measure_codec for number in range(8)},
}

#: The quantity that determines the median of several runs.
FIGURES = ("packets_per_cpu_s", "bytes_per_flow", "time_ratio", "decoded_bps_x_iterations")


#: Runs of each benchmark, and pairs: enough for an interval that excludes two at either end.
RUNS, PAIRS = 5, 12


def run_once(
    name: str, command: Sequence[str], environment: dict[str, str] | None = None
) -> dict[str, Any]:
    """Run one benchmark once in a separate process."""
    done = subprocess.run(
        [*command, "--inside", name], capture_output=True, text=True, env=environment
    )
    if done.returncode != 0:
        raise NotBuiltError(f"{name}: {command[-1]}: {last_line(done.stderr)}")
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def median_run(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the run whose compared quantity is the median."""
    values = [run[figure_of(run)] for run in runs]
    return {**runs[values.index(statistics.median_low(values))], "runs": len(runs)}


def figure_of(run: dict[str, Any]) -> str:
    """Return the name of the quantity by which runs are compared."""
    return next(figure for figure in FIGURES if figure in run)


def compared(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]], commit: str) -> dict[str, Any]:
    """Return the median run of this tree; its key ``against`` has the other commit's median run and
    the ratios.
    """
    this, other = (median_run(runs) for runs in zip(*pairs, strict=True))
    figure = figure_of(this)
    ratios = [this_run[figure] / other_run[figure] for this_run, other_run in pairs]
    ratio = dataclasses.asdict(median_interval(ratios))
    against = {"commit": commit, "figure": figure, "ratios": ratios, "ratio": ratio, "other": other}
    return {**this, "against": against}


def benchmark(name: str, repeat: int, other: OtherCommit | None) -> dict[str, Any]:
    """Run one benchmark several times, in pairs if there is another commit."""
    this = functools.partial(run_once, name, [sys.executable, __file__])
    if other is None:
        return median_run([this() for _ in range(repeat)])
    run_other = functools.partial(run_once, name, other.command, other.environment)
    return compared(run_pairs(this, run_other, repeat), other.commit)


def row(result: dict[str, Any]) -> str:
    """Return a line of the table."""
    name = f"{result['name']:26}"
    if "bytes_per_flow" in result:
        per_flow = f"{result['bytes_per_flow']:,.0f} bytes per flow"
        return f"{name} {per_flow}, and {result['scenario_bytes_per_flow']:,.0f} of scenario text"
    if "decoded_bps" in result:
        return (
            f"{name} {result['decoded_bps_x_iterations'] / 1e6:.0f} Mbit/s x iterations,"
            f" {result['genie_decoded_bps'] / 1e6:.0f} Mbit/s with the genie; chain"
            f" {result['chain_awgn_blocks_per_s'] / 1e3:.0f} and"
            f" {result['chain_vehicular_a_blocks_per_s'] / 1e3:.0f} thousand blocks/s"
        )
    if "time_ratio" in result:
        return f"{name} {result['time_ratio']:.2f} of the time with two threads instead of one"
    return (
        f"{name} {result['packets_per_cpu_s']:14,.0f} {result['events_per_packet']:14.2f} "
        f"{result['sim_s_per_cpu_s']:12,.1f} {result['peak_rss_bytes'] / 2**20:6.0f}"
    )


def lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table: results of this tree, of the other commit, and their ratio."""
    yield row(result)
    if against := result.get("against"):
        yield row({**against["other"], "name": f"  {against['commit'][:12]}"})
        interval = Interval(**against["ratio"])
        yield f"  ratio of {against['figure']}, {result['runs']} pairs: {interval}"


def positive(text: str) -> int:
    """Read a positive integer."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text}: not a count from 1")
    return int(text)


def main() -> None:
    """Run the named benchmarks, or all."""
    all_names = [*SCENARIOS, *OTHERS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(all_names))
    parser.add_argument(
        "--repeat",
        type=positive,
        metavar="N",
        help=f"runs of each (default {RUNS}), with --against pairs of runs (default {PAIRS})",
    )
    parser.add_argument("--against", metavar="REV", help="a commit to compare with")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        print(json.dumps(OTHERS.get(arguments.inside, measure)(arguments.inside)))
        return
    unknown = sorted(set(arguments.names) - set(all_names))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}. Accepted: {', '.join(all_names)}")
    revision = arguments.against
    repeat = arguments.repeat or (PAIRS if revision else RUNS)
    try:
        with other_commit(revision) if revision else nullcontext() as other:
            run_all(arguments.names or all_names, repeat, other)
    except NotBuiltError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


def run_all(names: Sequence[str], repeat: int, other: OtherCommit | None) -> None:
    """Print the table and write ``out/bench.json``."""
    changes = " with changes" if other and has_changes() else ""
    commits = f"{_airpath.commit()}{changes}" + (f" against {other.commit[:12]}" if other else "")
    print(f"{_airpath.version()} ({commits}), {platform.machine()}, one thread")
    print(
        f"{'scenario':26} {'packets/CPU-s':>14} {'events/packet':>14}"
        f" {'sim s/CPU s':>12} {'MiB':>6}"
    )
    results = []
    for name in names:
        results.append(benchmark(name, repeat, other))
        print("\n".join(lines(results[-1])), flush=True)
    OUT.mkdir(exist_ok=True)
    (OUT / "bench.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
