"""Loading of a saved result from its directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airpath.arguments import check_all, path_like
from airpath.engine.advisory import Advisory
from airpath.engine.inputs import trace_formats
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError
from airpath.execution import Execution
from airpath.results.quantities import FLOW_QUANTITIES
from airpath.results.result import Result
from airpath.results.stored import DOCUMENT, SIDES, Directory, TraceFiles, read_document
from airpath.scenario.capture_points import capture_points

__all__ = ["load_result"]


def load_result(directory: str | os.PathLike[str]) -> Result:
    """Read a result that ``airpath run --out`` or `Result.save` wrote.

    Parameters
    ----------
    directory : path
        Directory of the result. Recorded series and traces are read from files only when needed.

    Returns
    -------
    result : Result
        Result with the tables, intervals, provenance and advisories of the saved result.

    Raises
    ------
    BadValueError
        If the directory contains no result, or an incompatible version of Airpath wrote it.
    """
    check_all(path_like("directory", directory))
    path = Path(directory)
    document = read_document(path)
    try:
        return _result(path, document)
    except (AttributeError, IndexError, KeyError, TypeError):
        raise BadValueError(
            f"{path / DOCUMENT}: not the complete document of a result. Run it again with --out."
        ) from None


def _result(path: Path, document: Mapping[str, Any]) -> Result:
    about, replications = document["provenance"], document["replications"]
    _check_version(path, about, replications)
    resolved = ResolvedScenario(about["scenario"])
    queues = [queue["name"] for queue in replications[0]["queues"]] if replications else []
    stored = Directory(path, [run["replication"] for run in replications], queues)
    points = (*capture_points(resolved.document), *SIDES)
    files = {point: path / f"{point}.pcapng" for point in points}
    result = Result(
        provenance=about,
        replications=replications,
        resolved=resolved,
        confidence=about["confidence"],
        requested=document["summary"]["replications_requested"],
        interrupted=not document["complete"],
        recorded=stored.series,
        ss=stored.ss,
        flow_monitor=stored.flow_monitor,
        traces=TraceFiles(about["traces"], trace_formats(resolved)),
        captures={point: file for point, file in files.items() if file.is_file()},
        advisories=[Advisory(**advisory) for advisory in document.get("advisories", ())],
        validity_reports=document.get("validity_reports"),
        kernel=document.get("kernel"),
        ended=document.get("ended"),
        execution=Execution.from_dict(document["execution"]) if "execution" in document else None,
    )
    result.files |= {path / name for name in document.get("files", ())}
    return result


def _check_version(directory: Path, about: Mapping[str, Any], replications: Any) -> None:
    flows = [flow for run in replications for flow in run["flows"]]
    missing = [name for name in FLOW_QUANTITIES if flows and name not in flows[0]]
    if missing:
        raise BadValueError(
            f"{directory}: written by airpath {about['version']} ({about['commit']}), whose "
            f"results have no {missing[0]}. Run its scenario.toml again."
        )
