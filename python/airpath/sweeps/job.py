"""One scenario as it is shipped to a worker: resolved, with its files by their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from airpath import _airpath
from airpath.engine.engine_input import EngineInput
from airpath.engine.inputs import Inputs, Reading, Role
from airpath.engine.prepared import prepare
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import RunError
from airpath.scenario import Scenario
from airpath.sweeps.runs import Run, packed

__all__ = ["Contents", "File", "Job", "engine_input", "job_of", "run_job"]

Contents = Mapping[str, str]
"""What is in files, by the SHA-256 of each."""

_KEPT_TRACES = 64
"""Traces and tables that a worker keeps as the engine has them."""


@dataclass(frozen=True)
class File:
    """A file that a scenario needs.

    Parameters
    ----------
    key : str
        Its name in the resolved scenario.
    role : Role
        What it is to the engine.
    sha256 : str
        Of its content, hexadecimal.
    """

    key: str
    role: Role
    sha256: str


@dataclass(frozen=True)
class Job:
    """A resolved scenario that any worker can run, given the contents of its files.

    Parameters
    ----------
    name : str
        Of the scenario, for messages.
    text : str
        The resolved scenario as the engine takes it, JSON.
    files : tuple of File
        What it needs.
    digest : str
        SHA-256 of what decides the results: the resolved scenario without its name, and the
        content of every file. Equal digests, seeds and replications give equal results.
    """

    name: str
    text: str
    files: tuple[File, ...]
    digest: str

    @property
    def resolved(self) -> ResolvedScenario:
        """The resolved scenario."""
        return ResolvedScenario.from_json(self.text)

    @property
    def simulated_s(self) -> float:
        """Simulated time of one replication, s."""
        return self.resolved.duration_s


def job_of(
    scenario: Scenario,
    series: Sequence[str] = (),
    reading: Reading | None = None,
    *,
    emulated: bool = False,
) -> tuple[Job, dict[str, str]]:
    """Return the job of a scenario, and the contents of its files by their SHA-256.

    Parameters
    ----------
    scenario : Scenario
        What to run. What it records over time and captures is left out, distributions are kept.
    series : sequence of str
        Time series that are recorded all the same, as often as the scenario says.
    reading : Reading, optional
        Of earlier scenarios, whose files are not read again. Default: all are read.
    emulated : bool
        Whether components that only kernels have are accepted. Default False.

    Raises
    ------
    BadValueError
        If it cannot be resolved, or a file not be read.
    """
    made = prepare(scenario, reading, emulated=emulated)
    resolved, inputs = made.resolved.without_captures(), made.inputs
    resolved = resolved.recorded(series=list(series), ss=False, flow_monitor=False).for_engine()
    if not series:
        resolved = resolved.recorded(interval_ns=0)
    contents = {inputs.digest(name): text for name, text in inputs.texts.items()}
    files = _files(inputs)
    text = resolved.to_json()
    return Job(scenario.name, text, files, _digest(resolved, files)), contents


def _files(inputs: Inputs) -> tuple[File, ...]:
    return tuple(File(key, role, inputs.digest(key)) for key, role in sorted(inputs.roles.items()))


def _digest(resolved: ResolvedScenario, files: Sequence[File]) -> str:
    decides = {key: value for key, value in resolved.document.items() if key != "name"}
    document = [decides, [[file.key, file.role, file.sha256] for file in files]]
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# --- in a worker -------------------------------------------------------------------------------


def run_job(
    job: Job,
    contents: Contents,
    seed: int,
    first: int,
    count: int,
    stop: Callable[[], bool] | None = None,
) -> list[Run]:
    """Run replications of a job, one after the other, and return those that were finished.

    Parameters
    ----------
    job : Job
        What to run.
    contents : mapping
        Of its files.
    seed : int
        Master seed.
    first, count : int
        Number of the first replication, and how many.
    stop : callable, optional
        Asked about ten times a second; when it says true, what is under way is given up.

    Raises
    ------
    RunError
        If the engine refuses the job, or a replication fails.
    """

    def look(_finished: int, _total: int, _fraction: float) -> None:
        if stop is not None and stop():
            raise KeyboardInterrupt

    replications = range(first, first + count)
    try:
        output = engine_input(job, contents).simulate(seed, replications, progress=look)
    except (ValueError, RuntimeError) as error:
        raise RunError(f"{job.name}: {error}") from None
    series = job.resolved.recording.series
    spent_s = output.cpu_s
    return [
        Run(
            digest=job.digest,
            seed=seed,
            replication=document["replication"],
            version=_airpath.version(),
            commit=_airpath.commit(),
            cpu_s=spent_s[place],
            packed=packed(document, *output.flows(place)),
            series={name: output.series(place, name) for name in series},
        )
        for place, document in enumerate(json.loads(output.replications))
    ]


def engine_input(job: Job, contents: Contents) -> EngineInput:
    """Return a job as the engine takes it.

    Parameters
    ----------
    job : Job
        What is run.
    contents : mapping
        Of its files.
    """
    found = EngineInput(job.text)
    for file in job.files:
        text = contents[file.sha256]
        if file.role == "table":
            found.tables[file.key] = text
        elif file.role == "snr":
            found.snr[file.key] = text
        else:
            found.traces[file.key] = _trace(text, file.role, file.key)
    return found


@lru_cache(_KEPT_TRACES)
def _trace(text: str, role: str, key: str) -> _airpath.Trace:
    read = _airpath.Trace.from_csv if role == "csv" else _airpath.Trace.from_mahimahi
    return read(text, key)
