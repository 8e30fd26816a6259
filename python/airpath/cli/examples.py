"""Examples at the end of ``--help``: command lines with descriptions."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXAMPLES", "epilog"]

EXAMPLES: Mapping[str, Mapping[str, str]] = {
    "run": {
        "airpath run scenario.toml": "ten replications; tables of flows, queues and links",
        "airpath run scenario.toml --reps 4 --out results": "tables and figures into a directory",
        "airpath run scenario.toml --set bottleneck.aqm=codel --set flows.0.cc=cubic": (
            "with another queue discipline and another congestion control"
        ),
        "airpath run scenario.toml --capture sender,receiver --out results": (
            "packets of the first replication for Wireshark"
        ),
        "airpath run scenario.toml --json --seed 7": "one JSON document, other random numbers",
    },
    "emulate": {
        "airpath emulate --check": "what this machine can do, and fixes for what it cannot",
        "airpath emulate scenario.toml": "its flows over the kernel's TCP; the same tables",
        "airpath emulate scenario.toml -- ping -c 3 100.64.0.1": (
            "a command on the client's side; the server's side answers"
        ),
        "airpath emulate scenario.toml --server 'iperf3 -s -1' -- iperf3 -c 100.64.0.1 -R": (
            "a program at each end"
        ),
        "airpath emulate scenario.toml --set flows.0.cc=cubic --reps 3 --out results": (
            "three replications with another congestion control, into a directory"
        ),
    },
    "solve": {
        "airpath solve scenario.toml": "the operating point, in milliseconds",
        "airpath solve scenario.toml --set bottleneck.link.rate='20 Mbit/s' --json": (
            "with another rate, as one JSON document"
        ),
    },
    "compare": {
        "airpath compare scenario.toml": (
            "simulation, kernel and model side by side, those of them that can"
        ),
        "airpath compare scenario.toml --engines simulate,solve --reps 10 --out results": (
            "simulation and model; table, figure and both results into a directory"
        ),
    },
    "reproduce": {
        "airpath reproduce qawla table2": "one table: the published numbers and Airpath's",
        "airpath reproduce qawla table2 table3 --quick --out results": (
            "two tables with fewer and shorter runs; figures and numbers into a directory"
        ),
    },
    "report": {
        "airpath report out -o run.html": "one HTML file of what airpath run --out out wrote",
        "airpath report results/qawla.json -o qawla.html": (
            "one HTML file of what airpath reproduce --out results wrote"
        ),
    },
    "sweep": {
        "airpath sweep sweep.toml --out results": (
            "ledger, tables, figures and report in a directory; run it again to resume"
        ),
        "airpath sweep sweep.toml --reps 2 --set duration='2 s'": (
            "a short look: the table alone, nothing is kept"
        ),
    },
    "sweep status": {
        "airpath sweep status results": "points, replications and failures, also while it runs",
    },
    "sweep export": {
        "airpath sweep export results --out tables --format parquet": (
            "a table of points, a table of replications"
        ),
    },
    "sweep prune": {
        "airpath sweep prune results --dry-run": "list points that are no longer in the sweep file",
    },
    "list": {
        "airpath list": "everything there is to choose from",
        "airpath list aqm": "the queue disciplines",
        "airpath list paper --json": "the papers, as one JSON document",
    },
    "check": {
        "airpath check scenario.toml": "every key and every TCP option, defaults included",
        "airpath check scenario.toml --set duration='30 s' --json": (
            "another duration; every flow, SI units"
        ),
    },
    "example": {
        "airpath example": "the scenarios and sweeps that come with Airpath, one line each",
        "airpath example synthetic-reno-gred": "one of them, printed",
        "airpath example synthetic-reno-gred --out my.toml": (
            "into a file of your own, with the traces that it reads"
        ),
    },
    "phy per": {
        "airpath phy per --channel awgn --snr 0:4:2 --mcs 0": "error rates of one scheme",
        "airpath phy per --channel vehicular-a --snr 10,26 --mcs 0,3 --errors 50 --out per.json": (
            "two schemes on a fading channel; a table that links read, and its figure"
        ),
    },
    "phy ser": {
        "airpath phy ser --snr 0:30:2 --tx 2 --rx 2": "bpsk over Rayleigh fading, 2×2 antennas",
        "airpath phy ser --snr 10,20 --modulation 16qam --fading rician --k-factor-db 6 --json": (
            "with a line of sight, as one JSON document"
        ),
    },
    "trace info": {
        "airpath trace info some.trace": "length, rates and outages",
        "airpath trace info some.trace --plot some.png": "and its rate over time",
    },
    "trace convert": {
        "airpath trace convert some.trace some.csv": "a rate every 10 ms",
        "airpath trace convert some.trace some.csv --bin-width '100 ms'": "a rate every 100 ms",
    },
    "trace generate": {
        "airpath trace generate made.trace": "a minute of a fading link at walking speed",
        "airpath trace generate made.csv --duration '10 s' --speed '50 km/h' --seed 3": (
            "ten seconds at the speed of a car, as a CSV"
        ),
    },
}
"""Maps a command to example command lines with descriptions. Tests run all of them."""


def epilog(command: str) -> str:
    """Return the last part of a command's help, with its examples."""
    # Lines after the mark `\b` are not wrapped.
    lines = (f"  {line}\n      {does}" for line, does in EXAMPLES[command].items())
    return "\b\nExamples:\n" + "\n".join(lines)
