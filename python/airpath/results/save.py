"""A result as a folder of files, each with its provenance."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from airpath.files import output_folder, write_file
from airpath.results.export import checked_formats, table_file
from airpath.results.flow_monitor import flow_monitor_xml
from airpath.results.frames import frame
from airpath.results.provenance import as_comment
from airpath.results.transfers import transfer_groups

if TYPE_CHECKING:
    import pandas as pd

    from airpath.results.result import Result

__all__ = ["save"]


def save(result: Result, folder: str | Path, formats: str | Sequence[str]) -> list[Path]:
    """Write everything into a folder; see `Result.save`."""
    forms = checked_formats(formats)
    where = output_folder(folder)
    head = as_comment(result.provenance)
    if not result.complete:
        done = f"{len(result.replications)} of {result.requested} replications"
        head += f"# incomplete: interrupted after {done}\n"
    files = {
        "result.json": _utf8(result.to_json(raw=True) + "\n"),
        "scenario.toml": _utf8(_scenario_file(result)),
    }
    for stem, table in _tables(result).items():
        for form in forms:
            files[f"{stem}.{form}"] = table_file(table, form, head, result.provenance)
    if result.resolved["record"]["flow_monitor"]:
        for number, stats in result.monitored():
            xml = flow_monitor_xml(stats, result.provenance)
            files[f"flowmonitor-{number}.xml"] = xml
    paths = [where / name for name in files]
    for path, data in zip(paths, files.values(), strict=True):
        write_file(path, data)
    return paths


def _scenario_file(result: Result) -> str:
    about = result.provenance
    seed, reps = about["seed"], about["replications"]
    head = (
        f"# Written by airpath {about['version']} ({about['commit']}).\n"
        f"# The same run again: airpath run scenario.toml --seed {seed} --reps {reps}\n\n"
    )
    return head + str(about["scenario_toml"])


def _tables(result: Result) -> dict[str, pd.DataFrame]:
    import pandas as pd

    tables = {
        "summary": _tidy_summary(result),
        "flows": result.flows(),
        "groups": result.groups(),
        "queues": result.queues(),
        "links": result.links(),
        "queue-lengths": pd.concat(
            [result.pmf(name).assign(queue=name) for name in result.by_name("queues")]
            or [pd.DataFrame()]
        ),
    }
    if transfer_groups(result.resolved):
        tables["transfers"] = result.transfers()
    for name in result.recorded:
        tables |= _of_replications(result, f"series-{name}", functools.partial(result.series, name))
    if result.resolved["record"]["ss"]:
        tables |= _of_replications(result, "ss", result.ss)
    if result.resolved["record"]["flow_monitor"]:
        tables["flowmonitor"] = result.flow_monitor()
    return tables


def _of_replications(
    result: Result, stem: str, table: Callable[[int], pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    import pandas as pd

    parts = [
        table(index).assign(replication=run["replication"])
        for index, run in enumerate(result.replications)
    ]
    return {stem: pd.concat(parts)} if parts else {}


def _tidy_summary(result: Result) -> pd.DataFrame:
    return frame(
        {"flow": flow, "quantity": name, **value.to_dict()}
        for flow, row in result.intervals.items()
        for name, value in row.items()
    )


def _utf8(text: str) -> bytes:
    # File names may hold bytes that are no text.
    return text.encode("utf-8", "backslashreplace")
