"""The class `Result`: tables, confidence intervals, time series and files of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.arguments import check_all, error_prefix, word
from airpath.engine.advisory import Advisory
from airpath.errors import BadValueError
from airpath.present import html
from airpath.present.figure_files import checked_formats as checked_figure_formats
from airpath.present.latex import latex
from airpath.results import overview
from airpath.results.applications import APPLICATIONS
from airpath.results.frames import plain
from airpath.results.recordings import Columns, Recordings
from airpath.results.save import Saving
from airpath.results.stations import MAC_DELAY_UNITS, pooled_mac_delays
from airpath.results.tables import flow_kind
from airpath.scenario.overrides import titled

if TYPE_CHECKING:
    from airpath.engine.resolved import ResolvedScenario
    from airpath.execution import Execution
    from airpath.results.plot import Plot
    from airpath.trace import Trace

__all__ = ["Result"]


class Result(Recordings):
    """The replications of one scenario, simulated or emulated.

    Statistics start at the end of the warm-up. The time series also include the warm-up.

    Attributes
    ----------
    provenance : dict
        Version, commit, command, seed and scenario of the run.
    replications : list of dict
        The statistics of each finished replication, as reported by the engine.
    resolved : ResolvedScenario
        The resolved scenario.
    confidence : float
        Confidence of every interval, in (0, 1).
    requested : int
        Number of requested replications.
    interrupted : bool
        True if Ctrl-C ended the run before all replications were finished.
    captures : dict of str to Path
        Maps each captured point to its pcapng file.
    advisories : list of Advisory
        Warnings to read before you use the values. Each has `code`, `text` and `place`.
    engine : str
        Engine of the run: ``simulate`` or ``emulate``.
    validity_reports : list of dict
        Validity report of each emulated replication: the lateness of packets and other criteria,
        `valid`, and the `reasons` if the replication is invalid.
    kernel : dict
        Settings of the kernel's TCP, and settings that could not be applied (`not_applied`). Empty
        for a simulation.
    ended : dict
        How the commands of an emulation ended: `reason` and exit `status`. Empty without a command.
    execution : Execution or None
        Duration and machine of the run; None if unknown.
    files : set of Path
        Files of this result that have been written so far.
    plot : Plot
        Methods that plot figures of this result: ``result.plot.timeline()``.
    """

    def __init__(
        self,
        *,
        provenance: dict[str, Any],
        replications: list[dict[str, Any]],
        resolved: ResolvedScenario,
        confidence: float,
        requested: int,
        interrupted: bool,
        recorded: Callable[[int, str], Columns],
        ss: Callable[[int], Mapping[str, bytes]],
        flow_monitor: Callable[[int], str],
        traces: Mapping[str, Trace],
        captures: Mapping[str, Path] | None = None,
        advisories: Sequence[Advisory] = (),
        validity_reports: Sequence[Mapping[str, Any]] | None = None,
        kernel: Mapping[str, Any] | None = None,
        ended: Mapping[str, Any] | None = None,
        execution: Execution | None = None,
    ) -> None:
        super().__init__(
            replications,
            resolved,
            confidence,
            recorded=recorded,
            ss=ss,
            flow_monitor=flow_monitor,
            traces=traces,
        )
        self.provenance = provenance
        self.requested = requested
        self.interrupted = interrupted
        self.captures = dict(captures or {})
        self.advisories = list(advisories)
        self.engine = "simulate" if validity_reports is None else "emulate"
        self.validity_reports = [dict(validity) for validity in validity_reports or ()]
        self.kernel = dict(kernel or {})
        self.ended = dict(ended or {})
        self.execution = execution
        self.files = set(self.captures.values())

    @property
    def valid(self) -> bool:
        """Whether all validity reports are valid."""
        return not self.invalid

    @property
    def invalid(self) -> list[str]:
        """Reasons why the emulation is invalid, one line each; empty if it is valid."""
        several = len(self.validity_reports) > 1
        return [
            f"replication {number}: {reason}" if several else str(reason)
            for number, validity in enumerate(self.validity_reports)
            if not validity["valid"]
            for reason in validity["reasons"] or ["no reason was given"]
        ]

    def __repr__(self) -> str:
        name = json.dumps(self.resolved.name, ensure_ascii=False)
        done = f"{len(self.replications)} of {self.requested} replications"
        noted = len(self.advisories)
        notes = f", {noted} {'advisory' if noted == 1 else 'advisories'}" if noted else ""
        bad = "" if self.valid else f"INVALID ({'; '.join(self.invalid)}), "
        return f"<Result of {name}: {bad}{done}, {len(self.resolved.flows)} flows{notes}>"

    def _repr_html_(self) -> str:
        parts = [html.heading(self.title), html.paragraph(overview.heading(self))]
        parts += [html.paragraph(f"INVALID: {reason}") for reason in self.invalid]
        if not self.complete:
            done = f"{len(self.replications)} of {self.requested} were finished."
            parts.append(html.paragraph(f"Incomplete: {done}"))
        for table in overview.tables(self, "the tables") if self.replications else ():
            parts.append(html.table(table))
            parts += map(html.paragraph, table.notes)
        return "".join([*parts, *(html.paragraph(str(note)) for note in self.advisories)])

    @property
    def title(self) -> str:
        """Name of the scenario and the overridden values.

        The title of an invalid emulation contains a mark. Figures use this title.
        """
        name = titled(self.resolved.name, self.provenance.get("overrides", ()))
        return name if self.valid else f"{name} (INVALID)"

    @property
    def complete(self) -> bool:
        """Whether all requested replications are finished."""
        return not self.interrupted and len(self.replications) == self.requested

    @property
    def plot(self) -> Plot:
        """Methods that plot figures of this result."""
        from airpath.results.plot import Plot

        return Plot(self)

    def to_dict(self, *, raw: bool = False) -> dict[str, Any]:
        """Return the content of the output of ``run --json``, without NaN and infinity.

        Parameters
        ----------
        raw : bool
            Whether to include the statistics of each replication and the execution time. Default
            False.
        """
        *rows, together = self.intervals("flows")
        together.pop("flow")
        document: dict[str, Any] = {
            "provenance": self.provenance,
            "complete": self.complete,
            **self._of_emulation(),
            "advisories": [advisory.to_dict() for advisory in self.advisories],
            "summary": {
                "flows": len(rows),
                "replications": len(self.replications),
                "replications_requested": self.requested,
                "measured_s": float(self.resolved.measured_ns) / 1e9,
                **plain(together),
                "jain": self.jain().to_dict(),
            },
            "flows": [
                {
                    "id": row.pop("flow"),
                    "kind": flow_kind(flow),
                    "direction": flow.direction,
                    **plain(row),
                }
                for flow, row in zip(self.resolved.flows, rows, strict=True)
            ],
            "groups": plain(self.intervals("groups")),
            "queues": plain(self.intervals("queues")),
            "links": plain(self.intervals("links")),
        }
        if users := self.intervals("users"):
            document["users"] = plain(users)
            jain = self.jain_of_users()
            document["summary"]["jain_of_users"] = {cell: jain[cell].to_dict() for cell in jain}
        if stations := self.intervals("stations"):
            document["stations"] = plain(stations)
            document["mac_delays"] = [
                {"link": link, **{name: [row[name] for row in rows] for name in MAC_DELAY_UNITS}}
                for link, rows in pooled_mac_delays(self.replications).items()
            ]
        if phases := self.intervals("phases"):
            document["phases"] = plain(phases)
        if parts := self.intervals("delay_parts"):
            document["delay_parts"] = plain(parts)
        if transfers := self.intervals("transfers"):
            document["transfers"] = plain(transfers)
            document["transfer_sizes"] = plain(self.intervals("transfer_sizes"))
        for name in APPLICATIONS:
            if rows := self.intervals(name):
                document[name] = plain(rows)
        if raw and self.execution is not None:
            document["execution"] = self.execution.to_dict()
        if raw:
            document["replications"] = [
                {**run, "flows": [dict(flow) for flow in run["flows"]]} for run in self.replications
            ]
        return document

    def _of_emulation(self) -> dict[str, Any]:
        if self.engine != "emulate":
            return {}
        return {
            "engine": self.engine,
            "valid": self.valid,
            "invalid": self.invalid,
            "validity_reports": self.validity_reports,
            "kernel": self.kernel,
            **({"ended": self.ended} if self.ended else {}),
        }

    def to_json(self, *, raw: bool = False) -> str:
        """Return `to_dict` as a JSON text."""
        return json.dumps(self.to_dict(raw=raw), allow_nan=False)

    def to_latex(
        self, name: str = "flows", *, caption: str | None = None, label: str | None = None
    ) -> str:
        """Return a table of means and intervals as LaTeX source.

        Parameters
        ----------
        name : {"flows", "queues", "delays", "links", "users", "stations", "phases", "transfers", \
"voice", "video", "requests"}
            The table, as ``airpath run`` prints it. Default ``flows``.
        caption, label : str, optional
            Caption and label of the table. If one of them is set, the ``tabular`` is placed in a
            ``table`` environment.

        Returns
        -------
        source : str
            LaTeX source for the package ``booktabs``. The unit of a column is in its heading.

        Raises
        ------
        BadValueError
            If there is no such table, or it has no rows.
        """
        check_all(word("name", name, overview.TABLES))
        if not (made := list(overview.TABLES[name](self, "other tables"))):
            raise BadValueError(f"{error_prefix('name', name)}: no rows. Use another table.")
        return latex(made[0], caption=caption, label=label)

    def save(
        self,
        directory: str | Path,
        *,
        formats: str | Sequence[str] = "csv",
        figure_formats: str | Sequence[str] | None = "png",
    ) -> list[Path]:
        """Write all files of the result into a directory, each with its provenance.

        The files are ``result.json``, ``scenario.toml`` (which reproduces the run), the tables and
        the figures. Files of an earlier result in the directory, as listed in its ``result.json``,
        are removed.

        Parameters
        ----------
        directory : path
            Directory; created if it does not exist.
        formats : str or sequence of str
            Formats of the tables, any of ``csv``, ``csv.gz`` (compressed CSV), ``parquet``
            (requires pyarrow) and ``latex`` (``tables.tex``: the tables that `airpath run` prints).
            Default ``csv``.
        figure_formats : str or sequence of str, optional
            ``png``, ``pdf``, ``svg``, or several; None for no figures. Default ``png``.

        Returns
        -------
        paths : list of Path
            Paths of the written files. Each file was written atomically.

        Raises
        ------
        BadValueError
            If the directory is not writable, or a format is not available.
        RunError
            If writing a file fails, for example because the disk is full.
        """
        kinds = [] if figure_formats is None else checked_figure_formats(figure_formats)
        saving = Saving(self, directory, formats)
        paths = [*saving.statistics(), *saving.recordings()]
        if kinds and self.replications:
            paths += self.plot.save(directory, figure_formats=kinds)
        return paths
