"""Small sweeps built by hand, and a coordinator that runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import airpath as ap
from airpath.sweeps.coordinator import Coordinator, SweepOutcome
from airpath.sweeps.executors import Workers, workers_of
from airpath.sweeps.job import Job, job_of
from airpath.sweeps.ledger import FILE_NAME, Ledger
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.progress import Progress


def scenario(rate: str = "2 Mbit/s", duration: str = "1 s", **changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "name": "short",
        "flows": ap.flows(2, cc="newreno", base_rtt="20 ms"),
        "bottleneck": ap.Bottleneck(aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate=rate)),
        "duration": duration,
    }
    return ap.Scenario(**(keys | changes))


def traced(directory: Path, rows: Sequence[int] = (1, 5, 9)) -> ap.Scenario:
    path = directory / f"{len(rows)}.trace"
    path.write_text("".join(f"{row}\n" for row in rows))
    return scenario(bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(), link=ap.link.Trace(file=str(path))))


class Sample:
    """Sweep plan and jobs of some scenarios."""

    def __init__(self, scenarios: Sequence[ap.Scenario], rule: Rule, **changes: Any) -> None:
        self.jobs: dict[str, Job] = {}
        self.contents: dict[str, str] = {}
        self.functions: Mapping[str, Callable[[Any], float]] = changes.pop("functions", {})
        points = []
        for number, each in enumerate(scenarios):
            job, contents = job_of(each, changes.get("series", ()))
            self.jobs[job.digest] = job
            self.contents |= contents
            points.append(Point(number, {"n": number}, {"n": str(number)}, job.digest))
        keys: dict[str, Any] = {
            "name": "sample",
            "axes": ["n"],
            "points": points,
            "rule": rule,
            "seed": 3,
            "common_random_numbers": True,
            "confidence": 0.95,
            "metrics": ["goodput_bps"],
            "engines": ["simulate"],
        }
        self.plan = Plan(**(keys | changes))

    def run(
        self,
        directory: Path,
        workers: Workers | None = None,
        stop: Callable[[], bool] = lambda: False,
        **options: Any,
    ) -> SweepOutcome:
        """Run the missing replications of the ledger of a directory."""
        with Ledger.open(directory / FILE_NAME) as ledger:
            ledger.set_plan(self.plan, self.jobs)
            used = workers or workers_of(self.contents, None, 2)
            options = {"progress": Progress()} | options
            try:
                return Coordinator(
                    self.plan, self.jobs, self.functions, ledger, used, self.contents, **options
                ).run(stop)
            finally:
                if workers is None:
                    used.close()

    def stored(self, directory: Path) -> dict[str, list[tuple[int, bytes, dict[str, Any]]]]:
        """Return the content of a ledger: replication, statistics and metrics by job."""
        with Ledger.read(directory / FILE_NAME) as ledger:
            return {
                digest: [
                    (run.replication, run.packed, dict(values))
                    for run, values in zip(
                        ledger.runs(digest, self.plan.seed),
                        ledger.values(digest, self.plan.seed).values(),
                        strict=True,
                    )
                ]
                for digest in self.jobs
            }
