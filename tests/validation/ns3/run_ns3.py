"""Run the dumbbells of `dumbbells.csv` in ns-3, into `ns3.csv`.

    python3.11 -m venv VENV && VENV/bin/pip install ns3==3.44.post0
    VENV/bin/python run_ns3.py [--first ID] [--last ID] [--runs N]

Requires the ns3 wheel of PyPI in its interpreter, and g++. Existing rows are kept.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FIELDS = [
    "id", "run", "goodput_bps", "queue_packets", "drops", "losses", "sent", "retransmissions",
    "timeouts", "flow_goodputs_bps",
]  # fmt: skip
MODULES = ["core", "network", "internet", "point-to-point", "traffic-control", "applications"]


def build(source: str, program: Path) -> None:
    """Compile a program of this directory against the headers and libraries of the wheel."""
    spec = importlib.util.find_spec("ns3")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("no package ns3: pip install ns3==3.44.post0")
    wheel = Path(next(iter(spec.submodule_search_locations)))
    libraries = wheel / "lib64"
    version = next(libraries.glob("libns3*-core.so")).name.removeprefix("libns3").split("-")[0]
    command = ["g++", "-std=c++20", "-O2", "-DNS3_LOG_ENABLE", "-DNS3_ASSERT_ENABLE"]
    command += [f"-I{wheel / 'include'}", str(HERE / source), "-o", str(program)]
    command += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined"]
    command += [f"-lns3{version}-{module}" for module in MODULES]
    subprocess.run(command, check=True)


def arguments(row: dict[str, str], run: int) -> list[str]:
    values = {
        "flows": row["flows"],
        "cc": row["cc"],
        "recovery": row["recovery"],
        "delayedAck": row["delayed_ack"],
        "rate": f"{float(row['rate_bps']):.0f}bps",
        "delay": f"{float(row['delay_ms']):g}ms",
        "accessDelays": ",".join(f"{value}ms" for value in row["access_ms"].split()),
        "queue": row["queue"],
        "limit": row["limit"],
        "loss": row["loss"],
        "duration": row["duration_s"],
        "warmup": row["warmup_s"],
        "run": str(run),
    }
    if row["queue"] == "red":
        values |= {"minTh": row["min_th"], "maxTh": row["max_th"], "maxP": row["max_p"]}
        values |= {"weight": row["weight"], "wait": row["wait"]}
    if row["threshold"]:
        low = f"0:{float(row['rate_bps']):.0f}bps:{row['per1']}"
        high = f"{row['threshold']}:{float(row['rate2_bps']):.0f}bps:{row['per2']}"
        values["regimes"] = f"{low},{high}"
    return [f"--{key}={value}" for key, value in values.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--last", type=int, default=10**9)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with (HERE / "dumbbells.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    path = HERE / "ns3.csv"
    done = set()
    if path.exists():
        with path.open(encoding="utf-8") as file:
            done = {(row["id"], row["run"]) for row in csv.DictReader(file)}
    with tempfile.TemporaryDirectory() as directory, path.open("a", encoding="utf-8") as file:
        program = Path(directory) / "dumbbell"
        build("dumbbell.cc", program)
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for run in range(1, options.runs + 1):
            for row in rows:
                is_wanted = options.first <= int(row["id"]) <= options.last
                if not is_wanted or (row["id"], str(run)) in done:
                    continue
                command = [str(program), *arguments(row, run)]
                text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                answer = json.loads(text)
                flows = answer.pop("goodput_bps")
                del answer["marks"]
                answer["goodput_bps"] = f"{sum(flows):.0f}"
                answer["flow_goodputs_bps"] = " ".join(f"{flow:.0f}" for flow in flows)
                writer.writerow({"id": row["id"], "run": run, **answer})
                file.flush()


if __name__ == "__main__":
    main()
