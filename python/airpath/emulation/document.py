"""JSON document that describes a run for ``airpath-emu``, including the scenario's files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.emulation.kernel import Kernel
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError, show

__all__ = ["DEEPEST", "LEVEL", "Commands", "EmulationSettings", "document_of", "level"]

LEVEL = "AIRPATH_LEVEL"
"""Name of the environment variable that contains the nesting level of emulations."""
DEEPEST = 30
"""Largest nesting level of emulations; each level has separate addresses."""


@dataclass(frozen=True)
class Commands:
    """Commands at the two ends of the path.

    Parameters
    ----------
    client : sequence of str
        Executable at the client's end, and its arguments.
    server : sequence of str, optional
        Executable at the server's end, and its arguments. Default: no server command.
    like : int
        Index of a flow, from 0. The commands' packets use this flow's user, hops and wired
        delays. Default 0.
    duration_ns : int, optional
        Time after the start at which all commands end, ns. Default: when the client's command ends.
    """

    client: Sequence[str]
    server: Sequence[str] | None = None
    like: int = 0
    duration_ns: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the commands in the format that ``airpath-emu`` reads."""
        document: dict[str, Any] = {
            "kind": "commands",
            "client": list(self.client),
            "like": self.like,
        }
        if self.server is not None:
            document["server"] = list(self.server)
        if self.duration_ns is not None:
            document["duration_ns"] = self.duration_ns
        return document


@dataclass(frozen=True)
class EmulationSettings:
    """Settings of a run that are not in the scenario.

    Parameters
    ----------
    seed : int
        Master seed of the models' random numbers.
    replication : int
        Index of the replication, from 0. Default 0.
    comment : str
        Comment to write into the capture files. Default: no comment.
    host_network : bool
        True to connect the server's end of the path to the host's network. Default False.
    keep_privileges : bool
        True if the commands keep the privileges of the parent process. Default False.
    progress_ms : int
        Interval between two progress reports, ms. Default 200.
    """

    seed: int
    replication: int = 0
    comment: str = ""
    host_network: bool = False
    keep_privileges: bool = False
    progress_ms: int = 200


def level(environment: Mapping[str, str] = os.environ) -> int:
    """Return the nesting level of emulations of this process.

    Parameters
    ----------
    environment : mapping of str to str
        Environment variables. Default: the environment of this process.

    Raises
    ------
    BadValueError
        If the value of ``AIRPATH_LEVEL`` is not an integer of at least 0, or exceeds `DEEPEST`.
    """
    text = environment.get(LEVEL, "0")
    try:
        found = int(text)
    except ValueError:
        found = -1
    if found < 0:
        raise BadValueError(f"{LEVEL} = {show(text)}: not an integer from 0. Unset it.")
    if found > DEEPEST:
        raise BadValueError(f"{LEVEL} = {found}: more than {DEEPEST} emulations inside each other.")
    return found


def document_of(
    resolved: ResolvedScenario,
    files: Mapping[str, Mapping[str, str]],
    kernel: Kernel,
    traffic: Commands | None,
    settings: EmulationSettings,
) -> dict[str, Any]:
    """Return the document that describes a run.

    Parameters
    ----------
    resolved : ResolvedScenario
        The resolved scenario.
    files : mapping of str to mapping
        Maps the key of each of the scenario's files (in the resolved scenario) to the file's `role`
        and `text`.
    kernel : Kernel
        Settings of the kernel's TCP.
    traffic : Commands or None
        Commands at the ends of the path; None to run the scenario's flows.
    settings : EmulationSettings
        Other settings.
    """
    flows = {"kind": "flows", "sockets": list(kernel.sockets)}
    return {
        "scenario": resolved.for_engine().document,
        "files": {name: dict(file) for name, file in files.items()},
        "seed": settings.seed,
        "replication": settings.replication,
        "traffic": flows if traffic is None else traffic.to_dict(),
        "kernel": kernel.settings(),
        "comment": settings.comment,
        "host_network": settings.host_network,
        "keep_privileges": settings.keep_privileges,
        "level": level(),
        "progress_ms": settings.progress_ms,
    }
