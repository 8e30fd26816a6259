"""The results of a sweep, read from its ledger: tables, paired differences, figures, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.arguments import check_all, error_prefix, path_like, text, whole, word
from airpath.errors import BadValueError, one_line
from airpath.execution import Execution
from airpath.results.distributions import (
    LEVELS,
    QUANTITIES,
    Distribution,
    checked_levels,
    counts_of,
    default_owner,
)
from airpath.scenario.labels import document_of
from airpath.scenario.scenario import SERIES
from airpath.sweeps import tables
from airpath.sweeps.overview import overview
from airpath.sweeps.plan import Plan
from airpath.sweeps.readings import Computed, Own, PointData, Readings, read
from airpath.sweeps.series import DIRECTORY, read_series, series_file
from airpath.sweeps.sweep_tables import SweepTables

if TYPE_CHECKING:
    import pandas as pd

    from airpath.results.result import Result
    from airpath.sweeps.job import Job
    from airpath.sweeps.ledger import Ledger
    from airpath.sweeps.ledger.sessions import Session
    from airpath.sweeps.plot import SweepPlot
    from airpath.sweeps.runs import Run

__all__ = ["Sweep", "load_sweep"]

Key = tuple[str, int, int]
"""Digest of the job, seed, and index of a replication."""


class Sweep(SweepTables):
    """The results of a sweep, read from its ledger at the first access.

    Every table depends only on the plan and on the replications that count, not on the time or
    machine of the runs. A pickle contains the path of the ledger and the values of the user's
    functions.

    Parameters
    ----------
    path : path
        The ledger.
    functions : mapping of str to callable, optional
        The user's metrics, by name: functions that take a `Result` of one replication and return a
        number. Without the functions, these metrics are NaN.
    owns : object, optional
        Object to keep alive as long as this object, for example a temporary directory.
    own_only : bool
        Whether only the replications of this version count. Default False: all replications count.

    Attributes
    ----------
    path : Path
        The ledger.
    plot : SweepPlot
        Figures: ``sweep.plot.lines("goodput_bps")``.
    """

    def __init__(
        self,
        path: str | Path,
        functions: Mapping[str, Callable[[Result], float]] | None = None,
        owns: object = None,
        *,
        own_only: bool = False,
    ) -> None:
        check_all(path_like("path", path))
        self.path = Path(path)
        self._own_only = own_only
        self._functions = dict(functions or {})
        self._found: Mapping[Key, Own] = {}
        self._own = tuple(self._functions)
        self._owns = owns

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.path, self._own_only, self._own, self._user_values())

    def __repr__(self) -> str:
        left = len(self.unfinished)
        unfinished = f", {left} unfinished" if left else ""
        return f"<Sweep {self.plan.name!r}: {len(self.plan.points)} points{unfinished}>"

    def _repr_html_(self) -> str:
        return "".join(overview(self))

    # --- properties ----------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """The plan: points, rule, metrics."""
        return self.readings.plan

    @cached_property
    def readings(self) -> Readings:
        """The data of all points, read at the first access."""
        with self._ledger() as ledger:
            plan = ledger.plan()
            if plan is None:
                raise BadValueError(
                    f"{self.path}: no sweep in it. Use the ledger that airpath sweep wrote."
                )
            return read(ledger, plan, self._own, self._compute(plan.confidence))

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Provenance of the sweep; independent of the time and machine of the runs."""
        with self._ledger() as ledger:
            builds = sorted((build.version, build.commit) for build in ledger.versions())
        return tables.about(self.readings, builds)

    @cached_property
    def sessions(self) -> list[Session]:
        """The calls that ran replications, in order, with command, elapsed time and machines.

        Earlier versions did not store them.
        """
        with self._ledger() as ledger:
            return ledger.sessions()

    @cached_property
    def execution(self) -> Execution | None:
        """Execution time of all sessions; None if no session is stored."""
        found = Execution.total(session.execution for session in self.sessions)
        if found is None:
            return None
        with self._ledger() as ledger:
            return replace(found, cpu_s=ledger.cpu_s())

    @property
    def plot(self) -> SweepPlot:
        """Figures of this sweep."""
        from airpath.sweeps.plot import SweepPlot

        return SweepPlot(self)

    @property
    def complete(self) -> bool:
        """Whether every point has all replications that the rule requires."""
        return not self.unfinished

    @property
    def unfinished(self) -> list[int]:
        """The numbers of the points that have fewer replications than the rule requires."""
        return [of.point.number for of in self.readings.points if not of.complete]

    # --- stored replications -------------------------------------------------------------------

    def replications(self, point: int) -> list[Run]:
        """Return the replications that count at a point, with all their measurements.

        Parameters
        ----------
        point : int
            Number of the point, from 0.

        Returns
        -------
        replications : list of Run
            Replications in the order of their numbers.

        Raises
        ------
        BadValueError
            If there is no such point.
        """
        of = self._point(point)
        with self._ledger() as ledger:
            runs = ledger.runs(of.point.digest, self.plan.seed_of(of.point))
            return list(islice(runs, len(of.values)))

    def series(self, point: int, name: str, replication: int | None = 0) -> pd.DataFrame:
        """Return a stored time series of one replication, or of all replications that count.

        Parameters
        ----------
        point : int
            Number of the point, from 0.
        name : str
            Name of the series.
        replication : int or None
            Index of the replication, from 0; None for all replications. Default 0.

        Returns
        -------
        series : DataFrame
            Columns `time_s`, `id` (index of the flow or queue), `queue` (-1 if there is no queue)
            and `value`; with `replication = None`, also `replication`. The table is empty if
            nothing was recorded.

        Raises
        ------
        BadValueError
            If there is no such point or series, or the file of the series does not exist or cannot
            be read.
        """
        data = self._point(point)
        number = 0 if replication is None else replication
        check_all(word("name", name, SERIES), _in_list("replication", number, data.values))
        of, directory = data.point, self.path.parent / DIRECTORY
        seed = self.plan.seed_of(of)
        if replication is not None:
            return read_series(series_file(directory, of.digest, seed, replication), name)
        import pandas as pd

        tables = [
            read_series(series_file(directory, of.digest, seed, number), name).assign(
                replication=number
            )
            for number in range(len(data.values))
        ]
        return pd.concat(tables, ignore_index=True)

    @cached_property
    def recorded_distributions(self) -> list[str]:
        """Names of the times whose distributions are recorded at one or more points.

        For a sweep of a function, the distributions of the first point.
        """
        plan = self.plan
        key = "record.distributions"
        if plan.base:
            given = [document_of(plan.base).get("record", {}).get("distributions", ())]
            settings = (dict(point.values) for point in plan.points)
            given += [values[key] for values in settings if key in values]
        else:
            with self._ledger() as ledger:
                job = ledger.job(plan.points[0].digest) if plan.points else None
            given = [job.resolved.recording.distributions] if job else []
        return list(dict.fromkeys(name for names in given for name in names))

    def distribution(self, quantity: str, of: str | None = None) -> dict[int, Distribution]:
        """Return the distribution of a time over packets or transfers at each point.

        Parameters
        ----------
        quantity, of
            As in `Result.distribution`. Times of packets require ``record.distributions`` in the
            scenario of the sweep.

        Returns
        -------
        distributions : dict of int to Distribution
            Distributions by point number; each pools the values of all replications that count.

        Raises
        ------
        BadValueError
            If the distribution was not recorded, or there is no such quantity, queue or group.
        """
        check_all(word("quantity", quantity, QUANTITIES), None if of is None else text("of", of))
        found: dict[int, Distribution] = {}
        with self._ledger() as ledger:
            for data in self.readings.points:
                digest, seed = data.point.digest, self.plan.seed_of(data.point)
                job = ledger.job(digest)
                runs = islice(ledger.runs(digest, seed), len(data.values))
                counts = [
                    counts_of(job.resolved, run.measured(), quantity, of) for run in runs if job
                ]
                owner = of or (default_owner(job.resolved, quantity) if job else "all")
                found[data.point.number] = Distribution(
                    quantity, owner, counts, self.plan.confidence
                )
        return found

    def quantiles(
        self, quantity: str, of: str | None = None, levels: Sequence[float] = LEVELS
    ) -> pd.DataFrame:
        """Return quantiles of a time over packets or transfers at each point.

        Parameters
        ----------
        quantity, of
            As in `distribution`.
        levels : sequence of float
            Levels in (0, 1). Default 0.5, 0.9, 0.95 and 0.99.

        Returns
        -------
        quantiles : DataFrame
            ``point``, the axes, ``level``, the quantile ``pooled`` over all replications, and
            ``mean``, ``low`` and ``high`` of the quantiles of the replications.

        Raises
        ------
        BadValueError
            As in `distribution`, or if a level is not in (0, 1).
        """
        given = checked_levels(levels)
        return tables.quantiles(self.readings, self.distribution(quantity, of), given)

    def _point(self, number: int) -> PointData:
        points = self.readings.points
        check_all(_in_list("point", number, points))
        return points[number]

    # --- files ---------------------------------------------------------------------------------

    def save(
        self,
        directory: str | Path,
        *,
        formats: str | Sequence[str] = "csv",
        figure_formats: str | Sequence[str] | None = "png",
    ) -> list[Path]:
        """Write tables and figures into a directory.

        Parameters
        ----------
        directory : path
            Directory; created if it does not exist.
        formats : str or sequence of str
            Formats of the tables, any of ``csv``, ``csv.gz``, ``parquet`` and ``latex``
            (``points.tex``). Default ``csv``.
        figure_formats : str or sequence of str, optional
            ``png``, ``pdf``, ``svg``, or several; None for no figures. Default ``png``.

        Returns
        -------
        paths : list of Path
            ``points.csv`` and ``runs.csv``, each with its provenance, and the figures of
            `SweepPlot.defaults`. Equal sweeps give byte-identical CSV files.

        Raises
        ------
        BadValueError
            If the directory is not writable, or a format is unknown.
        RunError
            If writing a file fails, for example because the disk is full.
        """
        from airpath.files import output_directory
        from airpath.present import figure_files
        from airpath.results.export import LATEX, checked_formats, write_latex, write_table
        from airpath.results.provenance import as_comment
        from airpath.sweeps.point_table import point_table

        forms = checked_formats(formats)
        kinds = [] if figure_formats is None else figure_files.checked_formats(figure_formats)
        where = output_directory(directory)
        made_by = self.provenance
        head = as_comment(made_by)
        written = []
        for stem, table in (("points", self.points()), ("runs", self.runs())):
            for form in forms:
                if form != LATEX:
                    path = where / f"{stem}.{form}"
                    write_table(path, [table], form, head, made_by)
                    written.append(path)
        if LATEX in forms:
            shown = point_table(self.readings, self.plan.metrics, numbered=False)
            write_latex(path := where / "points.tex", [shown], head)
            written.append(path)
        return written + (self.plot.save(where, figure_formats=kinds) if kinds else [])

    # --- the ledger ----------------------------------------------------------------------------

    def _ledger(self) -> Ledger:
        from airpath.sweeps.ledger import Ledger

        return Ledger.read(self.path, own_only=self._own_only)

    def _compute(self, confidence: float) -> Computed | None:
        """Return the function that computes user-defined metrics; None if there are none."""
        if not self._own:
            return None
        if not self._functions:
            return lambda job, run: self._found.get(
                (job.digest, run.seed, run.replication), ({}, None)
            )

        from airpath.sweeps.metrics import as_number
        from airpath.sweeps.stored_result import result_of

        def computed(job: Job, run: Run) -> Own:
            result = result_of(job, run, confidence)
            values: dict[str, float | None] = {}
            why = None
            for name, function in self._functions.items():
                try:
                    values[name] = as_number(function(result))
                except Exception as error:
                    values[name] = None
                    why = why or f"{name}: {type(error).__name__}: {one_line(str(error))}"
            return values, why

        return computed

    def _user_values(self) -> dict[Key, Own]:
        """Return the values of user-defined metrics, for another process."""
        if not self._own:
            return {}
        found: dict[Key, Own] = {}
        for of in self.readings.points:
            seed = self.plan.seed_of(of.point)
            for number, values in enumerate(of.values):
                own = {name: values.get(name) for name in self._own}
                found[of.point.digest, seed, number] = (own, of.failures.get(number))
        return found


def _restored(path: Path, own_only: bool, own: Sequence[str], found: Mapping[Key, Own]) -> Sweep:
    sweep = Sweep(path, own_only=own_only)
    sweep._own, sweep._found = tuple(own), found
    return sweep


def load_sweep(path: str | Path) -> Sweep:
    """Return the results of a sweep from its directory or ledger, even while it is running.

    Parameters
    ----------
    path : path
        Directory or ledger that ``airpath sweep --out`` or ``ap.sweep(out=…)`` wrote.

    Raises
    ------
    BadValueError
        If there is no ledger, or this version cannot read the ledger.
    """
    from airpath.sweeps.ledger import FILE_NAME

    check_all(path_like("path", path))
    place = Path(path)
    if place.is_dir():
        place /= FILE_NAME
    if not place.exists():
        raise BadValueError(
            f"{error_prefix('path', Path(path))}: no sweep there. "
            "Use the directory that airpath sweep "
            f"wrote, or the file {FILE_NAME} in it."
        )
    sweep = Sweep(place)
    sweep.plan  # noqa: B018  (Rejects a damaged or foreign file here instead of at the first table.)
    return sweep


def _in_list(name: str, number: Any, of: Sequence[Any]) -> str | None:
    accepted = f"Use an integer from 0 to {len(of) - 1}" if of else "There is none"
    return whole(name, number, 0, len(of) - 1, accepted)
