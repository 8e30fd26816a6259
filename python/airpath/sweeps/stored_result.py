"""A stored replication of a sweep as a `Result`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airpath.errors import BadValueError

if TYPE_CHECKING:
    from airpath.results.result import Result
    from airpath.sweeps.job import Job
    from airpath.sweeps.runs import Run

__all__ = ["result_of"]


def result_of(job: Job, run: Run, confidence: float) -> Result:
    """Return one stored replication as a `Result`, without its series.

    Parameters
    ----------
    job : Job
        Job of the replication.
    run : Run
        The replication.
    confidence : float
        Confidence of the intervals, which have no width for one replication.
    """
    from airpath.results.result import Result

    resolved, measured = job.resolved, run.measured()
    validity = measured.get("validity")

    def no_series(*_: object) -> Any:
        raise BadValueError("series: not kept with the replications of a sweep.")

    return Result(
        provenance={
            "version": run.version,
            "commit": run.commit,
            "command": "sweep",
            "seed": run.seed,
            "replications": 1,
            "first": run.replication,
            "confidence": confidence,
            "scenario": resolved.document,
        },
        replications=[measured],
        resolved=resolved.recorded(series=[]),
        confidence=confidence,
        requested=1,
        interrupted=False,
        recorded=no_series,
        ss=no_series,
        flow_monitor=no_series,
        traces={},
        validity_reports=None if validity is None else [validity],
        kernel=measured.get("kernel"),
    )
