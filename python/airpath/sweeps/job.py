"""Jobs: resolved scenarios in the form that is sent to workers, and functions to run them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

from airpath import _airpath
from airpath.engine.engine_input import EngineInput
from airpath.engine.inputs import Inputs, Reading, Role
from airpath.engine.prepared import prepare
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import RunError
from airpath.scenario import Scenario
from airpath.sweeps.runs import Run, packed

__all__ = [
    "Contents",
    "File",
    "Job",
    "Section",
    "as_run",
    "contents_of",
    "engine_input",
    "job_of",
    "job_of_sections",
    "run_job",
]

Contents = Mapping[str, str]
"""Maps the SHA-256 of a file to its content."""

_KEPT_TRACES = 64
"""Number of parsed traces that a worker caches."""


@dataclass(frozen=True)
class File:
    """A file that a scenario needs.

    Parameters
    ----------
    key : str
        Name of the file in the resolved scenario.
    role : Role
        Role of the file in the engine.
    sha256 : str
        SHA-256 of the content, hexadecimal.
    """

    key: str
    role: Role
    sha256: str


@dataclass(frozen=True, slots=True)
class Job:
    """A resolved scenario that any worker can run, given the contents of its files.

    Parameters
    ----------
    name : str
        Name of the scenario, for messages.
    sections : tuple of str
        Members of the resolved scenario in the engine's format. Each is a piece of JSON; the pieces
        are joined by commas. The jobs of a sweep share most pieces.
    files : tuple of File
        Files of the scenario.
    digest : str
        SHA-256 of the inputs that determine the results: the resolved scenario without its name,
        and the content of every file. Runs with the same digest, seed and replication have the same
        results.
    """

    name: str
    sections: tuple[str, ...]
    files: tuple[File, ...]
    digest: str

    @property
    def text(self) -> str:
        """The resolved scenario in the engine's format, JSON."""
        return f"{{{','.join(self.sections)}}}"

    @property
    def resolved(self) -> ResolvedScenario:
        """The resolved scenario."""
        return ResolvedScenario.from_json(self.text)

    @property
    def simulated_s(self) -> float:
        """Simulated time of one replication, s."""
        return self.resolved.duration_s

    def with_scenario(self, resolved: ResolvedScenario) -> Job:
        """Return the job with another resolved scenario; the digest stays the same."""
        return replace(self, sections=(resolved.to_json()[1:-1],))


def job_of(
    scenario: Scenario,
    series: Sequence[str] = (),
    reading: Reading | None = None,
) -> tuple[Job, dict[str, str]]:
    """Return the job of a scenario, and the contents of its files by their SHA-256.

    Parameters
    ----------
    scenario : Scenario
        Scenario to run. The job records its distributions, but not its time series and captures.
    series : sequence of str
        Names of time series to record, at the interval that the scenario sets.
    reading : Reading, optional
        Cache of files that earlier scenarios read. Default: all files are read.

    Raises
    ------
    BadValueError
        If the scenario cannot be resolved or a file cannot be read.
    """
    made = prepare(scenario, reading)
    resolved, inputs = as_run(made.resolved, series), made.inputs
    sections = [Section.of((key,), value) for key, value in resolved.document.items()]
    return job_of_sections(scenario.name, sections, inputs), contents_of(inputs)


def as_run(resolved: ResolvedScenario, series: Sequence[str]) -> ResolvedScenario:
    """Return a resolved scenario that records only these series."""
    resolved = resolved.without_captures()
    resolved = resolved.recorded(series=list(series), ss=False, flow_monitor=False).for_engine()
    return resolved if series else resolved.recorded(interval_ns=0)


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A member of a resolved scenario, or a member of such a member.

    Parameters
    ----------
    place : tuple of str
        Keys that lead to the member.
    value : object
        Value of the member.
    text : str
        Key and value as JSON. The texts of the first and last member of a table include its braces.
    sorted_text : str
        Key and value as JSON with sorted keys, for the digest.
    """

    place: tuple[str, ...]
    value: Any
    text: str
    sorted_text: str

    @staticmethod
    def of(place: tuple[str, ...], value: Any, members: Sequence[str] = ()) -> Section:
        """Return a section; `members` are all keys of the table that contains it."""
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        head = f"{json.dumps(place[-1])}:"
        texts = _in_table(head + text, place, members)
        return Section(
            place, value, texts, _in_table(head + _sorted(value), place, sorted(members))
        )


def _in_table(text: str, place: tuple[str, ...], members: Sequence[str]) -> str:
    if not members:
        return text
    opening = f"{json.dumps(place[0])}:{{" if place[-1] == members[0] else ""
    return opening + text + ("}" if place[-1] == members[-1] else "")


def job_of_sections(name: str, sections: Sequence[Section], inputs: Inputs) -> Job:
    """Return the job of a resolved scenario.

    Parameters
    ----------
    name : str
        Name of the scenario.
    sections : sequence of Section
        Members of the resolved scenario in order, or the members of these members.
    inputs : Inputs
        Files of the scenario.
    """
    roles = sorted(inputs.roles.items()) if inputs.roles else ()
    files = tuple(File(key, role, inputs.digest(key)) for key, role in roles)
    in_order = sorted(sections, key=_PLACE)
    decides = [each.sorted_text for each in in_order if each.place != ("name",)]
    listed = _sorted([[file.key, file.role, file.sha256] for file in files]) if files else "[]"
    digest = hashlib.sha256(f"[{{{','.join(decides)}}},{listed}]".encode()).hexdigest()
    return Job(name, tuple(each.text for each in sections), files, digest)


_PLACE = attrgetter("place")


def contents_of(inputs: Inputs) -> dict[str, str]:
    """Return the contents of files by their SHA-256."""
    return {inputs.digest(name): text for name, text in inputs.texts.items()}


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# --- in a worker -------------------------------------------------------------------------------


def run_job(
    job: Job,
    contents: Contents,
    seed: int,
    first: int,
    count: int,
    stop: Callable[[], bool] | None = None,
) -> list[Run]:
    """Run replications of a job sequentially; return the finished replications.

    Parameters
    ----------
    job : Job
        Job to run.
    contents : mapping
        Contents of the job's files, by SHA-256.
    seed : int
        Master seed.
    first, count : int
        Index of the first replication, and number of replications.
    stop : callable, optional
        Called about ten times a second; if it returns True, the run stops.

    Raises
    ------
    RunError
        If the engine rejects the job, or a replication fails.
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
    """Return a job in the engine's input format.

    Parameters
    ----------
    job : Job
        Job to convert.
    contents : mapping
        Contents of the job's files, by SHA-256.
    """
    found = EngineInput(job.text)
    for file in job.files:
        text = contents[file.sha256]
        if file.role == "table":
            found.tables[file.key] = text
        elif file.role == "snr":
            found.snr[file.key] = text
        elif file.role == "part":
            found.parts[file.key] = text
        else:
            found.traces[file.key] = _trace(text, file.role, file.key)
    return found


@lru_cache(_KEPT_TRACES)
def _trace(text: str, role: str, key: str) -> _airpath.Trace:
    read = _airpath.Trace.from_csv if role == "csv" else _airpath.Trace.from_mahimahi
    return read(text, key)
