"""Functions to load, check and simulate a scenario, and to solve its analytic model."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from airpath import _airpath
from airpath.arguments import (
    check_all,
    display_name,
    error_prefix,
    fraction,
    master_seed,
    number,
    path_like,
    quantity,
    replication_count,
    word,
    worker_threads,
)
from airpath.engine.engine_input import Progress
from airpath.engine.error_paths import as_written, in_words
from airpath.engine.estimate import refuse_too_much
from airpath.engine.prepared import PreparedScenario, Runnable, prepared
from airpath.errors import (
    BadValueError,
    Interrupted,
    ModelWarning,
    RunError,
)
from airpath.execution import Stopwatch
from airpath.present.progress import Auto, progress_line, replication_progress, reporting_to
from airpath.results.captures import captures_of
from airpath.results.flow_table import FlowTable
from airpath.results.provenance import provenance
from airpath.results.remarks import remarks, unfinished_tables
from airpath.results.result import Result
from airpath.scenario.load import load
from airpath.scenario.units import Duration
from airpath.solutions import Solution

__all__ = [
    "Progress",
    "Solution",
    "check",
    "load",
    "simulate",
    "solve",
]


def simulate(
    scenario: Runnable,
    *,
    reps: int = 10,
    seed: int = 1,
    threads: int | None = None,
    confidence: float = 0.99,
    capture: Sequence[str] | None = None,
    capture_replication: int | None = None,
    capture_to: str | os.PathLike[str] | None = None,
    progress: Progress | Auto | None = "auto",
    command: str | None = None,
) -> Result:
    """Simulate a scenario packet by packet.

    The result depends only on the scenario and the seed, not on the number of threads.

    Parameters
    ----------
    scenario : Scenario, PreparedScenario or path
        The scenario to simulate, or the path of a scenario file.
    reps : int
        Number of independent replications, 1 to 1 000 000. Confidence intervals need at least 2
        replications. Default 10.
    seed : int
        Master seed, 0 to 2^64 - 1. Default 1.
    threads : int, optional
        Worker threads, 1 to 10 000. Default: one for each core.
    confidence : float
        Confidence level of the intervals, above 0 and below 1. Default 0.99.
    capture : sequence of str, optional
        Points of the path where packets are captured: ``sender``, ``ingress``, ``bottleneck``,
        ``receiver``, ``acks``, and for each queue ``NAME.in`` and ``NAME``. Requires `capture_to`.
        Default: set by the scenario.
    capture_replication : int, optional
        Index of the captured replication, from 0. Default: set by the scenario.
    capture_to : path, optional
        Directory for ``POINT.pcapng``; created if it does not exist. Default: no capture.
    progress : callable, ``"auto"`` or None
        Called about ten times a second with finished and total replications and the finished
        fraction of all simulated time, in [0, 1]. Default ``"auto"``: a progress bar in a notebook
        and in an interactive interpreter.
    command : str, optional
        Command line to store in the provenance. Default: this call.

    Returns
    -------
    result : Result
        All replications.

    Raises
    ------
    BadValueError
        If a value or a trace file is not accepted.
    RunError
        If the run failed.
    Interrupted
        After Ctrl-C. It is a subclass of `KeyboardInterrupt`; its attribute `result` has the
        finished replications.
    """
    _check_arguments(reps, seed, threads, confidence, capture_to, progress)
    made = prepared(scenario)
    scenario, resolved = made.scenario, made.resolved
    about = provenance(
        made,
        seed=seed,
        replications=reps,
        confidence=confidence,
        command=command or f"airpath.simulate(reps={reps}, seed={seed}, confidence={confidence})",
    )
    refuse_too_much(made.place, resolved, reps)
    noted = made.advisories
    watch = Stopwatch()
    captures = captures_of(scenario, resolved, capture, capture_replication, capture_to, reps)
    try:
        with (
            captures.whole_or_not_at_all() if captures else nullcontext(),
            reporting_to(progress, replication_progress) as notify,
        ):
            output = made.engine_input.simulate(
                seed,
                range(reps),
                threads=min(threads or cores(), reps),
                captures=captures.request(about, scenario.name) if captures else None,
                progress=notify,
            )
            replications = _replications(output)
            finished = [run["replication"] for run in replications]
            captured = captures.keep(finished) if captures else {}
    except ValueError as error:
        made.check()  # Reports all problems, with the keys of the scenario.
        raise BadValueError(in_words(scenario, str(error))) from None
    except OSError as error:
        raise BadValueError(f"{error_prefix('capture_to', capture_to)}: {error}") from None
    except RuntimeError as error:
        raise RunError(f"{scenario.name}: {error}") from error.__cause__
    result = Result(
        provenance=about,
        replications=replications,
        resolved=resolved,
        confidence=confidence,
        requested=reps,
        interrupted=output.interrupted,
        recorded=output.series,
        ss=output.ss,
        flow_monitor=output.flow_monitor,
        traces=made.inputs.traces,
        captures=captured,
        advisories=[*noted, *remarks(resolved, replications, about.get("tables"))],
        execution=watch.execution(math.fsum(output.cpu_s)),
    )
    if result.interrupted:
        raise Interrupted(result)
    return result


def _replications(output: _airpath.SimulationOutput) -> list[dict[str, Any]]:
    """Return the measurements of each finished replication."""
    found = json.loads(output.replications)
    return [run | {"flows": FlowTable(*output.flows(place))} for place, run in enumerate(found)]


def check(scenario: Runnable) -> PreparedScenario:
    """Check that a scenario can run, and return the prepared scenario.

    Parameters
    ----------
    scenario : Scenario, PreparedScenario or path
        The scenario to check, or the path of a scenario file. The call reads its traces and tables,
        and builds the network.

    Returns
    -------
    prepared : PreparedScenario
        A prepared scenario. `simulate`, `solve` and `emulate` accept it as the scenario and do not
        resolve it or read its files again. ``prepared.resolved.document`` is the resolved form: SI
        base units, every flow and every TCP parameter listed. ``prepared.advisories`` lists
        warnings to check before the run.

    Raises
    ------
    BadValueError
        If the scenario cannot run.
    """
    made = prepared(scenario)
    refuse_too_much(made.place, made.resolved, 1)
    made.check()
    return made


# --- the analytic model ------------------------------------------------------------------------


def solve(
    scenario: Runnable,
    *,
    model: str | None = None,
    trajectory: str | float | Duration | None = None,
    max_window_packets: float | None = None,
    command: str | None = None,
) -> Solution:
    """Solve the analytic model that covers a scenario.

    This takes micro- to milliseconds. The model of a download over a TDD link takes up to seconds,
    because it propagates a distribution on a grid.

    Parameters
    ----------
    scenario : Scenario, PreparedScenario or path
        A scenario that one of the models of ``airpath list model`` covers.
    model : str, optional
        Name of the model. Default: the model that covers the scenario.
    trajectory : str, float or Duration, optional
        End time of a trajectory, above 0; a number is in seconds. The equations are integrated up
        to this time, with the start and stop times of the flows. Only ``clamp-fluid`` has
        trajectories. Default: only the steady state.
    max_window_packets : float, optional
        W_max, the largest window of the flows, packets, at least 1. It need not be an integer: in
        qawla-2015 §4, it is 65536 B / 1500 B. Only ``fixed-point`` uses it. Default: the receive
        window in full-sized segments.
    command : str, optional
        Command line to store in the provenance. Default: this call.

    Warns
    -----
    ModelWarning
        For each of the `warnings` of the result.

    Raises
    ------
    BadValueError
        If no model, or not the model `model`, covers the scenario. The message has one line for
        each key that is not covered.
    """
    check_all(None if model is None else word("model", model, Solution.registry))
    until_s = None if trajectory is None else _trajectory_s(trajectory, model)
    if max_window_packets is not None:
        _check_window(max_window_packets, model, trajectory)
    made = prepared(scenario)
    scenario = made.scenario
    try:
        found = json.loads(made.engine_input.solve(model, until_s, max_window_packets))
    except ValueError as error:
        lines = [as_written(scenario, line) for line in str(error).split("\n")]
        raise BadValueError("\n".join(lines)) from None
    if "no_throughput" in found:
        place = f"{made.place}: "
        reasons = [as_written(scenario, line) for line in found["no_throughput"]]
        found["no_throughput"] = [line.removeprefix(place) for line in reasons]
    about = provenance(
        made,
        command=command or "airpath.solve()",
    )
    found["warnings"] += unfinished_tables(about.get("tables", {}))
    for warning in found["warnings"]:
        warnings.warn(warning, ModelWarning, stacklevel=2)
    return Solution.of(found, about)


def _trajectory_s(trajectory: str | float | Duration, model: str | None) -> float:
    until = quantity("trajectory", Duration, trajectory)
    place = error_prefix("trajectory", trajectory)
    if until <= 0:
        raise BadValueError(f"{place}: not above 0. Use a duration above 0.")
    if model not in (None, "clamp-fluid"):
        raise BadValueError(f"{place}: model {model} has none. Only clamp-fluid has trajectories.")
    return int(until) / 1e9


def _check_window(packets: float, model: str | None, trajectory: Any) -> None:
    name = "max_window_packets"
    check_all(number(name, packets, "43.69"))
    place = error_prefix(name, packets)
    if packets < 1:
        raise BadValueError(f"{place}: below 1. Use a number of packets from 1 on.")
    if model not in (None, "fixed-point"):
        raise BadValueError(f"{place}: model {model} does not take it. Only fixed-point does.")
    if trajectory is not None:
        both = f"{display_name('trajectory')} is of clamp-fluid"
        raise BadValueError(f"{place}: only fixed-point takes it; {both}. Leave one out.")


# --- arguments ---------------------------------------------------------------------------------


def _check_arguments(
    reps: Any, seed: Any, threads: Any, confidence: Any, capture_to: Any, progress: Any
) -> None:
    check_all(
        replication_count(reps),
        master_seed(seed),
        worker_threads(threads),
        fraction("confidence", confidence),
        None if capture_to is None else path_like("capture_to", capture_to),
        progress_line(progress),
    )


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
