"""The session of one `reproduce` call: simulates each cell once, stores finished replications."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from airpath.interrupts import stop_on_ctrl_c, until
from airpath.present.progress import ProgressCallback
from airpath.reproduction.base import Cell, Effort, Paper
from airpath.reproduction.engine import Series, Simulated, Wanted, simulated
from airpath.reproduction.plan_points import CurrentPoints, named
from airpath.results.intervals import UNBOUNDED, Interval, mean_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airpath.sweeps.ledger import Build

__all__ = ["Session"]

T = TypeVar("T")


class Session:
    """Simulations and computed values that the items of one `reproduce` call share.

    Parameters
    ----------
    paper : Paper
        Paper whose sweeps define the scenarios.
    effort : Effort
        Effort of the mode.
    seed : int
        Master seed. All cells have the same seed, so that compared cells share random numbers.
        Default 1.
    threads : int or None
        Number of worker threads; None: one for each core.
    progress : ProgressCallback or None
        Receives the progress.
    figure_formats : sequence of str
        Formats of the figures. Default PNG and SVG.
    directory : Path or None
        Directory of the ledger; None: a temporary directory.
    accept_version : bool
        True to use replications that the ledger contains from other versions of Airpath. Default
        False.
    """

    def __init__(
        self,
        paper: Paper,
        effort: Effort,
        seed: int = 1,
        threads: int | None = None,
        progress: ProgressCallback | None = None,
        figure_formats: Sequence[str] = ("png", "svg"),
        directory: Path | None = None,
        accept_version: bool = False,
    ) -> None:
        self.paper = paper
        self.effort = effort
        self.seed = seed
        self.threads = threads
        self.progress = progress
        self.interrupted = False
        self.others: Mapping[Build, int] = {}
        """Number of reused replications of each other version."""
        self.resample: int | None = None
        """Index of the resample, from 0; None for the original runs."""
        self._figure_formats = figure_formats
        self._ledger: dict[str, Any] = {"directory": directory, "accept_version": accept_version}
        self._simulated: dict[Cell, Simulated] = {}
        self._shared: dict[str, Any] = {}
        self._all_runs = self
        self._per_run: dict[tuple[Cell, Hashable], list[Any]] = {}

    def simulate(self, cells: Sequence[Cell]) -> None:
        """Simulate the missing cells.

        Ctrl-C ends the simulation early without an exception: `interrupted` becomes True, and
        finished replications are kept.
        """
        todo = [cell for cell in dict.fromkeys(cells) if cell not in self._simulated]
        if not todo:
            return
        try:
            # Python ignores exceptions in callbacks of the garbage collector. A Ctrl-C that arrives
            # there must not be lost.
            with stop_on_ctrl_c() as stop:
                self.report(0.0, "simulating")
                found = simulated(
                    [self._wanted(cell) for cell in until(stop, todo)],
                    stays=CurrentPoints(self.paper),
                    name=self.paper.key,
                    confidence=self.paper.confidence,
                    seed=self.seed,
                    threads=self.threads,
                    progress=self.report,
                    **self._ledger,
                )
            points = zip(todo, found.points, strict=True)
            self._simulated.update((cell, runs) for cell, runs in points if runs.replications)
            self.interrupted, self.others = found.interrupted or self.interrupted, found.others
            if not self.interrupted:
                self.report(1.0, "simulated")
        except KeyboardInterrupt:
            self.interrupted = True

    def _wanted(self, cell: Cell) -> Wanted:
        effort = self.effort_of(cell)
        return Wanted(named(self.paper, cell, effort), self.scenario(cell), effort.replications)

    def report(self, fraction: float, what: str) -> None:
        """Report progress: the finished share of the current step, in [0, 1], and its name."""
        if self.progress is not None:
            self.progress(min(fraction, 1.0), what)

    def scenario(self, cell: Cell) -> Any:
        """Return the simulated scenario of the cell."""
        return self.paper.sweeps.scenario(cell, self.effort_of(cell))

    def effort_of(self, cell: Cell) -> Effort:
        """Return the effort for the cell."""
        return self.paper.sweeps.effort_of(cell, self.effort)

    def finished(self, cell: Cell) -> bool:
        """Return whether all replications of the cell are finished."""
        run = self._simulated.get(cell)
        return run is not None and len(run.replications) >= self.effort_of(cell).replications

    def complete(self, cells: Sequence[Cell]) -> bool:
        """Return whether all replications of the cells are finished."""
        return all(self.finished(cell) for cell in cells)

    @property
    def about(self) -> str:
        """Citation, seed and effort, for the metadata of figures."""
        return f"{self.paper.citation} seed {self.seed}, {self.effort.describe()}"

    def resampled(self, draw: int) -> Session:
        """Return a session whose runs are a bootstrap resample (sampled with replacement).

        Runs stay paired across cells with the same number of runs: in each of these cells, run i is
        replaced by the run with the same index. `shared` computes its values again for this
        resample.

        Parameters
        ----------
        draw : int
            Index of the resample, from 0. The same index gives the same resample.
        """
        made = copy.copy(self)
        made.resample = draw
        made._shared = {}
        return made

    def per_run(self, cell: Cell, name: Hashable, measure: Callable[[Session, int], T]) -> list[T]:
        """Return a measure of each finished replication. Resamples reuse the computed values.

        Parameters
        ----------
        cell : Cell
            The cell.
        name : hashable
            Key of the measure. It must include all inputs of the measure except the run.
        measure : callable
            Function of the session with the original runs, and the index of a run (from 0). It may
            read the run with this index of other cells that have the same number of runs.
        """
        key = (cell, name)
        if cell not in self._simulated:
            return []
        if key not in self._per_run:
            runs = range(len(self._all_runs.replications(cell)))
            self._per_run[key] = [measure(self._all_runs, run) for run in runs]
        found: list[T] = self._per_run[key]
        if self.resample is None:
            return found
        return [found[run] for run in _drawn(self.resample, len(found))]

    def values(self, cell: Cell, value: Callable[[Mapping[str, Any]], float]) -> list[float]:
        """Return a value per finished replication; empty if no replication is finished."""
        return self.per_run(cell, value, lambda runs, run: value(runs.replications(cell)[run]))

    def replications(self, cell: Cell) -> Sequence[Mapping[str, Any]]:
        """Return the statistics per finished replication; empty if no replication is finished."""
        run = self._runs_of(cell)
        return [] if run is None else run.replications

    def series(self, cell: Cell, name: str, replication: int = 0) -> Series:
        """Return a recorded series of a finished replication.

        Parameters
        ----------
        cell : Cell
            The cell; it defines the recorded series.
        name : str
            Name of the series.
        replication : int
            Index of the replication, from 0. Default 0.

        Returns
        -------
        series : Series
            Series of the complete run.
        """
        run = self._runs_of(cell)
        if run is None:
            raise KeyError(cell)
        return run.series(name, replication)

    def _runs_of(self, cell: Cell) -> Simulated | None:
        run = self._simulated.get(cell)
        if run is None or self.resample is None:
            return run
        return run.chosen(_drawn(self.resample, len(run.replications)))

    def estimate(self, cell: Cell, value: Callable[[Mapping[str, Any]], float]) -> Interval | None:
        """Return the mean of a number over the finished replications of a cell.

        Parameters
        ----------
        cell : Cell
            The cell.
        value : callable
            Extracts the number from a replication's statistics.

        Returns
        -------
        estimate : Interval or None
            The mean; None if no replication of the cell is finished.
        """
        found = self.values(cell, value)
        if not found:
            return None
        return self.interval(found)

    def interval(
        self, values: Sequence[float], bounds: tuple[float, float] = UNBOUNDED
    ) -> Interval:
        """Return the mean of one or more values, with a confidence interval at the paper's level.

        The interval is cut at `bounds`, the smallest and the largest possible value. The mean is
        NaN if one of the values is NaN. Runs without a value are not skipped.
        """
        if any(map(math.isnan, values)):
            return Interval(math.nan, math.nan, math.nan, self.paper.confidence, len(values))
        return mean_interval(values, self.paper.confidence, bounds)

    def shared(self, name: str, make: Callable[[], T]) -> T:
        """Return a value that several items share; it is computed once.

        Parameters
        ----------
        name : str
            Name of the value.
        make : callable
            Computes the value.

        Returns
        -------
        found
            Return value of `make`.

        Raises
        ------
        KeyboardInterrupt
            If the value was not computed before Ctrl-C.
        """
        if name not in self._shared:
            if self.interrupted:
                raise KeyboardInterrupt
            self._shared[name] = make()
        found: T = self._shared[name]
        return found

    def write(self, figure: Figure, out: Path, stem: str, title: str, about: str) -> list[Path]:
        """Write a figure in all formats of the session; return the files.

        Parameters
        ----------
        figure : Figure
            Figure to write.
        out : Path
            Existing directory.
        stem : str
            File name without the suffix.
        title, about : str
            Metadata of the files.
        """
        from airpath.present import figure_files

        return figure_files.save(figure, out, stem, title, about, self._figure_formats)

    def draw(
        self, make: Callable[[], Figure], out: Path, stem: str, title: str, about: str
    ) -> list[Path]:
        """Draw a figure in the common style, and `write` it."""
        from airpath.present import style

        with style.style():
            return self.write(make(), out, stem, title, about)

    def scenarios(self) -> dict[str, Any]:
        """Return a mapping from the label of each simulated cell to its resolved scenario."""
        return {
            cell.label: json.loads(self.scenario(cell).resolve()[0]) for cell in self._simulated
        }


@cache
def _drawn(draw: int, runs: int) -> tuple[int, ...]:
    return tuple(random.Random(f"{draw} of {runs}").choices(range(runs), k=runs))
