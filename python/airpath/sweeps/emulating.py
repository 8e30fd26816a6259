"""Runs the replications of emulated points in real time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from airpath import _airpath
from airpath.emulation.document import EmulationSettings, document_of
from airpath.emulation.kernel import Kernel, for_flows
from airpath.emulation.reports import Report
from airpath.emulation.running import run_once
from airpath.errors import RunError
from airpath.results.flow_table import columns_of
from airpath.scenario import Scenario
from airpath.sweeps.job import Contents, Job
from airpath.sweeps.runs import Run, packed

__all__ = ["EmulationRunner", "emulated"]

_ATTEMPTS = 2
"""Largest number of runs of a replication that is not valid. The last run is kept."""


class _StoppedError(Exception):
    """The sweep was stopped."""


def emulated(scenario: Scenario, job: Job) -> tuple[Job, Kernel]:
    """Return the job of an emulated point, and the settings of the kernel's TCP.

    The job's digest includes these settings; it therefore differs from the simulation's digest.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the job.
    job : Job
        Job of the simulation.

    Raises
    ------
    ScenarioError
        If the scenario cannot be emulated. The message lists all reasons.
    """
    kernel = for_flows(scenario, job.resolved)
    document = [job.digest, kernel.settings(), list(kernel.sockets)]
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return replace(job, digest=hashlib.sha256(text.encode()).hexdigest()), kernel


class EmulationRunner:
    """Runs replications in real time. Its instances have the signature of `run_job`.

    If the validity report of a replication is not valid, the replication is run once more.

    Parameters
    ----------
    kernels : mapping of str to Kernel
        Settings of the kernel's TCP, by the digest of the job.
    """

    def __init__(self, kernels: Mapping[str, Kernel]) -> None:
        self._kernels = kernels

    def __call__(
        self,
        job: Job,
        contents: Contents,
        seed: int,
        first: int,
        count: int,
        stop: Callable[[], bool] | None = None,
    ) -> list[Run]:
        """Run replications sequentially; return the finished replications.

        Raises
        ------
        MachineError
            If this machine cannot emulate.
        RunError
            If a run fails or ends early.
        """
        runs: list[Run] = []
        with suppress(_StoppedError):
            runs.extend(
                self._replication(job, contents, seed, number, stop)
                for number in range(first, first + count)
            )
        return runs

    def _replication(
        self,
        job: Job,
        contents: Contents,
        seed: int,
        number: int,
        stop: Callable[[], bool] | None,
    ) -> Run:
        files = {file.key: {"role": file.role, "text": contents[file.sha256]} for file in job.files}
        settings = EmulationSettings(seed, replication=number)
        kernel = self._kernels[job.digest]
        document = document_of(job.resolved, files, kernel, None, settings)
        series = job.resolved.recording.series
        reports = [_report(document, series, stop)]
        while not reports[-1].validity["valid"] and len(reports) < _ATTEMPTS:
            reports.append(_report(document, series, stop))
        report = reports[-1]
        measured = {
            **report.replication,
            "validity": {**report.validity, "attempts": len(reports)},
            "kernel": {"release": report.kernel.get("release")},
        }
        return Run(
            digest=job.digest,
            seed=seed,
            replication=number,
            version=_airpath.version(),
            commit=_airpath.commit(),
            cpu_s=sum(map(_cpu_s, reports)),
            packed=packed(measured, *columns_of(measured["flows"])),
            series=report.series,
        )


def _cpu_s(report: Report) -> float:
    return float(report.validity["cpu_share"] * report.replication["measured_s"])


def _report(
    document: Mapping[str, Any], series: Sequence[str], stop: Callable[[], bool] | None
) -> Report:
    def look(_event: Mapping[str, Any]) -> None:
        if stop is not None and stop():
            raise _StoppedError

    with run_once(document, look, series=series) as (outcome, report, _):
        if outcome.reason != "end":
            raise RunError(f"emulation: ended before the end of the scenario: {outcome.reason}.")
        return report
