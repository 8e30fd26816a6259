"""Input of the engine; all simulations and analyses are started here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from airpath import _airpath
from airpath.engine import memory
from airpath.scenario.engine_problems import EngineProblem

__all__ = ["Captures", "EngineInput", "Progress"]

Captures = tuple[int, tuple[str, str], Sequence[tuple[str, str]]]
"""Number of a replication, comments of section and interface, pairs of point and file."""

Progress = Callable[[int, int, float], None]
"""Callback with finished and total replications and the finished fraction of simulated time."""


@dataclass(frozen=True)
class EngineInput:
    """A resolved scenario and its files. Errors of the engine contain its own field paths.

    Parameters
    ----------
    text : str
        The resolved scenario, JSON.
    traces : dict
        Compiled traces by their key in the scenario.
    tables, snr : dict of str to str
        Texts of error-rate tables and of SNR files, by key.
    """

    text: str
    traces: dict[str, _airpath.Trace] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    snr: dict[str, str] = field(default_factory=dict)

    def problems(self) -> list[EngineProblem]:
        """Return every problem that the engine finds; a flow is named by the number of its entry.

        If there is no problem, the engine can build the network.

        Raises
        ------
        ValueError
            If a file cannot be read.
        """
        return _airpath.check(self.text, self.traces, self.tables, self.snr)

    def simulate(
        self,
        seed: int,
        replications: range,
        *,
        threads: int = 1,
        captures: Captures | None = None,
        progress: Progress | None = None,
    ) -> _airpath.SimulationOutput:
        """Run replications.

        Parameters
        ----------
        seed : int
            Master seed.
        replications : range
            Numbers of the replications, in steps of 1.
        threads : int
            Worker threads. Default 1.
        captures : tuple, optional
            Packet captures of one replication. Default: no captures.
        progress : callable, optional
            Called about ten times a second. If it raises `KeyboardInterrupt`, the run ends with
            the finished replications.

        Raises
        ------
        ValueError
            If the engine does not accept the scenario.
        OSError
            If a capture cannot be written.
        RuntimeError
            If the run fails.
        """
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
        )

    def solve(
        self,
        model: str | None = None,
        trajectory_s: float | None = None,
        max_window_packets: float | None = None,
    ) -> str:
        """Return the steady state of an analytic model, JSON.

        Parameters
        ----------
        model : str, optional
            Name of the model. Default: the one that covers the scenario.
        trajectory_s : float, optional
            Time until which the equations of `clamp-fluid` are integrated as well, s.
        max_window_packets : float, optional
            W_max of `fixed-point`, packets, from 1. Default: computed from the receive window.

        Raises
        ------
        ValueError
            If no model covers the scenario, with a line for each reason.
        """
        return _airpath.solve(self.text, self.tables, model, trajectory_s, max_window_packets)
