"""Input of the engine, with methods that start simulations and analyses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from airpath import _airpath
from airpath.engine import memory
from airpath.engine.compiled_failures import catch_exceptions
from airpath.scenario.engine_problems import EngineProblem
from airpath.scenario.part_files import PartSource, ensure_loaded, factories

__all__ = ["Captures", "EngineInput", "Progress"]

Captures = tuple[int, tuple[str, str], Sequence[tuple[str, str]]]
"""Index of the replication, pcapng comments of section and interface, pairs of point and file."""

Progress = Callable[[int, int, float], None]
"""Callback with finished and total replications and the finished fraction of simulated time."""


@dataclass(frozen=True)
class EngineInput:
    """A resolved scenario with its files. Errors contain the field paths of the engine.

    Parameters
    ----------
    text : str
        The resolved scenario as JSON.
    traces : dict
        Maps the name of each trace in the resolved scenario to the compiled trace.
    tables, snr : dict of str to str
        Map the names of error-rate tables and of SNR files in the resolved scenario to their texts.
    parts : dict of str to str
        Maps the paths of Python files with parts to their texts.
    """

    text: str
    traces: dict[str, _airpath.Trace] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    snr: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)

    def problems(self) -> list[EngineProblem]:
        """Return all problems found by the engine, which uses indices of entries to identify flows.

        If the list is empty, the engine can build the network.

        Raises
        ------
        ValueError
            If a file cannot be read.
        """
        return _airpath.check(self.text, self.traces, self.tables, self.snr, self._parts())

    def _parts(self) -> list[tuple[str, str, Any]]:
        """Return family, kind and factory of each part that the scenario uses."""
        ensure_loaded(PartSource(file, text) for file, text in self.parts.items())
        return factories(self.text)

    def simulate(
        self,
        seed: int,
        replications: range,
        *,
        threads: int = 1,
        captures: Captures | None = None,
        progress: Progress | None = None,
    ) -> _airpath.SimulationOutput:
        """Simulate replications.

        Parameters
        ----------
        seed : int
            Master seed.
        replications : range
            Indices of the replications, in steps of 1.
        threads : int
            Worker threads. Default 1.
        captures : tuple, optional
            Packet captures of one replication. Default: no captures.
        progress : callable, optional
            Callback, called about ten times a second. If the callback raises `KeyboardInterrupt`,
            the run ends, and the output has the finished replications.

        Raises
        ------
        ValueError
            If the engine does not accept the scenario.
        OSError
            If a capture cannot be written.
        RuntimeError
            If the run fails.
        """
        with catch_exceptions():
            return _airpath.simulate(
                self.text,
                self.traces,
                seed,
                replications.start,
                len(replications),
                threads,
                captures,
                progress,
                self.tables,
                memory.for_recordings(),
                self.snr,
                self._parts(),
            )

    def solve(
        self,
        model: str | None = None,
        trajectory_s: float | None = None,
        max_window_packets: float | None = None,
    ) -> str:
        """Return the steady state according to an analytic model, as JSON.

        Parameters
        ----------
        model : str, optional
            Name of the model. Default: the model that covers the scenario.
        trajectory_s : float, optional
            If set, the equations of `clamp-fluid` are also integrated over time, up to this time,
            s.
        max_window_packets : float, optional
            W_max of `fixed-point`, packets, from 1. Default: computed from the receive window.

        Raises
        ------
        ValueError
            If no model covers the scenario. The message has a line for each reason.
        """
        return _airpath.solve(self.text, self.tables, model, trajectory_s, max_window_packets)
