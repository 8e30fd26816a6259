"""Writes and reads the time series of a sweep: a Parquet file for each replication."""

from __future__ import annotations

import importlib.util
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from airpath.errors import BadValueError, one_line
from airpath.files import write_file
from airpath.sweeps.runs import Run

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DIRECTORY",
    "is_series",
    "read_series",
    "refuse_without_parquet",
    "series_file",
    "write_series",
]

DIRECTORY = "series"
"""Subdirectory of the sweep's directory."""


def series_file(directory: Path, digest: str, seed: int, replication: int) -> Path:
    """Return the path of the series file of a replication.

    Parameters
    ----------
    directory : Path
        Directory of all series.
    digest : str
        Digest of the job.
    seed : int
        Master seed.
    replication : int
        Index of the replication, from 0.
    """
    return directory / f"{digest[:12]}-{seed}-{replication}.parquet"


def is_series(name: str) -> bool:
    """Return whether a file name has the form of `series_file`."""
    return re.fullmatch(r"[0-9a-f]{12}-[0-9]+-[0-9]+\.parquet", name) is not None


def refuse_without_parquet() -> None:
    """Reject series if no Parquet writer is installed.

    Raises
    ------
    BadValueError
        If pyarrow is missing.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise BadValueError(
            "series: are stored as Parquet, which needs pyarrow. Install airpath[parquet]."
        )


def write_series(directory: Path, run: Run) -> Path:
    """Write the series of a replication.

    Parameters
    ----------
    directory : Path
        Directory; created if it does not exist.
    run : Run
        Replication with recorded series.

    Returns
    -------
    path : Path
        The written file. Columns: `series`, `time_s`, `id` (index of the flow or queue), `queue`
        (-1 if there is no queue) and `value`.
    """
    import numpy as np
    import pandas as pd

    tables = []
    for name, (times, ids, queues, values) in run.series.items():
        table = pd.DataFrame(
            {
                "time_s": np.frombuffer(times, "<f8"),
                "id": np.frombuffer(ids, "<u4"),
                "queue": np.frombuffer(queues, "<i4"),
                "value": np.frombuffer(values, "<f8"),
            }
        )
        table.insert(0, "series", name)
        tables.append(table)
    directory.mkdir(parents=True, exist_ok=True)
    path = series_file(directory, run.digest, run.seed, run.replication)
    data = io.BytesIO()
    pd.concat(tables, ignore_index=True).to_parquet(data, index=False)
    write_file(path, data.getvalue())
    return path


def read_series(path: Path, name: str) -> pd.DataFrame:
    """Return one series of a replication.

    Parameters
    ----------
    path : Path
        File that `write_series` wrote.
    name : str
        Name of the series.

    Returns
    -------
    series : DataFrame
        Columns `time_s`, `id`, `queue` and `value`; empty if nothing was recorded.

    Raises
    ------
    BadValueError
        If the file does not exist or cannot be read.
    """
    import pandas as pd

    try:
        table = pd.read_parquet(path, filters=[("series", "==", name)])
    except (OSError, ValueError) as error:
        why = "does not exist" if not path.exists() else f"cannot read: {one_line(str(error))}"
        fix = "Remove the ledger of the same directory, or use another directory"
        raise BadValueError(f"{one_line(str(path))}: {why}. {fix}.") from None
    return table.drop(columns="series")
