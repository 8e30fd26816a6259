"""Checks whether a scenario can be emulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from airpath.engine.component import Component
from airpath.engine.flows import Source, TcpParameters
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import MISSING, Problem, show
from airpath.scenario import Scenario
from airpath.scenario.part_files import used_parts
from airpath.scenario.path import sides_by_name
from airpath.scenario.tcp.table import Parameter, parameters
from airpath.scenario.units import Duration, Size

__all__ = [
    "KERNEL",
    "MOST_FLOWS",
    "flow_problems",
    "kernel_control",
    "scenario_problems",
    "too_many",
]

MOST_FLOWS = 40_000
"""Largest number of flows; each flow needs a separate port."""

KERNEL: Mapping[str, Mapping[str, Any]] = {
    "reno": {"beta_ecn": 0.5, "hystart": "off"},
    "cubic": {
        "c": 0.4,
        "beta": 0.7,
        "beta_ecn": 0.7,
        "fast_convergence": True,
        "reno_friendly": True,
        "hystart": "classic",
    },
    "dctcp": {"g": 0.0625, "initial_alpha": 1.0, "hystart": "off"},
    "bbr": {},
    "westwood": {},
    "hybla": {"rtt0_ns": Duration.parse("25 ms")},
    "scalable": {},
    "htcp": {"rtt_scaling": True, "bandwidth_switch": True},
    "bic": {"fast_convergence": True},
    "vegas": {"alpha": 2, "beta": 4, "gamma": 1},
    "veno": {"beta": 3.0},
    "illinois": {"window_threshold": 15, "theta": 5},
    "yeah": {},
}
"""Maps each congestion control of the kernel to the kernel's values of Airpath's parameters."""

_CALLED = {"newreno": "reno", "cubic-linux": "cubic", "bbr1": "bbr"}
_NEWER = {"bbr"}
"""Congestion controls of Airpath that have the name of an older one of the kernel."""
_SAME_UNDER_NS3 = {"cubic-ns3": "cubic"}
_ACCEPTED = (
    "A kernel has reno, newreno (as reno), cubic, dctcp, bbr1 (as bbr), westwood, hybla, scalable, "
    "htcp, bic, vegas, veno, illinois and yeah"
)


def kernel_control(scenario: Scenario, group: int, control: Component) -> str | None:
    """Return the kernel's name of a group's congestion control.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the user.
    group : int
        Index of the group of flows, from 0.
    control : Component
        The congestion control algorithm of the group's flows.

    Returns
    -------
    name : str or None
        Name in the kernel; None if no kernel has this algorithm.
    """
    kind = control.kind
    asked = getattr(getattr(scenario.flows[group], "cc", None), "kind", None)
    if asked != kind:  # The profile ns3 replaces the algorithm by a variant.
        kind = _SAME_UNDER_NS3.get(kind, kind)
    if kind in _NEWER:
        return None
    kind = _CALLED.get(kind, kind)
    return kind if kind in KERNEL else None


def scenario_problems(scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Problem]:
    """Yield the problems that do not depend on the flows and prevent emulation.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the user.
    resolved : ResolvedScenario
        The resolved scenario.
    """
    place = scenario.file or scenario.name
    if resolved.recording.has_flow_monitor:
        what = "is the simulator's: it counts at ends of flows that are a kernel's here"
        yield Problem(place, ("record", "flow_monitor"), True, what, "Remove it")
    if resolved.recording.has_delay_parts:
        what = "is available only in the simulator"
        yield Problem(place, ("record", "delay_parts"), True, what, "Remove it")
    for family, kind in used_parts(resolved.document):
        if family != "congestion":
            what = "a part in Python, which cannot run in real time"
            yield Problem(place, (), kind, what, "Use a built-in component")
    sides = sides_by_name(scenario)
    # Both directions of a hop may have the same key.
    queues = {sides[each.name].aqm_at: each.queue for each in resolved.path.directions}
    for key, queue in queues.items():
        if queue.ends is not None:
            what = f"only ends of {queue.ends} read what it writes, and no kernel has them"
            yield Problem(place, key, queue.kind, what, "Use another discipline")


def too_many(scenario: Scenario, resolved: ResolvedScenario) -> Iterator[Problem]:
    """Yield a problem if there are more flows than ports.

    The parameters are the same as in `scenario_problems`.
    """
    number = len(resolved.flows)
    if number > MOST_FLOWS:
        what = f"{number} flows, more than there are ports for"
        accepted = f"Use at most {MOST_FLOWS} together"
        yield Problem(scenario.file or scenario.name, ("flows",), MISSING, what, accepted)


def flow_problems(scenario: Scenario, resolved: ResolvedScenario, group: int) -> Iterator[Problem]:
    """Yield a problem for each TCP parameter of a group that no kernel supports.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the user.
    resolved : ResolvedScenario
        The resolved scenario.
    group : int
        Index of the group of flows, from 0.
    """
    place = scenario.file or scenario.name
    source = resolved.flows[resolved.flows.groups[group][0]].source
    yield from _control_problems(place, scenario, group, source)
    if source.application is not None:
        what = "a client of Airpath: the emulation has no application for it"
        yield Problem(place, ("flows", group, source.application), MISSING, what, "Remove it")
    if source.window != "fixed":
        what = "a policy of Airpath: the kernel's receiver sets its window itself"
        yield Problem(place, ("flows", group, "window"), source.window, what, 'Use "fixed"')
    for row in parameters().values():
        if row.kernel.refuses:
            yield from _out_of_range(place, group, row, source.tcp)


def _out_of_range(place: str, group: int, row: Parameter, tcp: TcpParameters) -> Iterator[Problem]:
    """Yield a problem if the kernel rejects the size.

    The kernel's MSS (`TCP_MAXSEG`) includes the TCP options, `tcp.mss` does not.
    """
    more = tcp.stamp_bytes if row.name == "mss" else 0
    refuses, value = row.kernel.refuses, int(tcp.get(row.resolved))
    least, most = (int(Size.parse(refuses[key])) - more for key in ("below", "above"))
    if not least <= value <= most:
        path = ("flows", group, "tcp", row.name)
        yield Problem(place, path, f"{value} B", refuses["problem"], f"Use {least} B to {most} B")


def _control_problems(
    place: str, scenario: Scenario, group: int, source: Source
) -> Iterator[Problem]:
    control = source.congestion
    name = kernel_control(scenario, group, control)
    path: tuple[str | int, ...] = ("flows", group, "cc")
    if name is None:
        if control.kind in _NEWER:
            what, fix = "the kernel's bbr is BBRv1, this is BBRv3", 'Use "bbr1"'
        else:
            what, fix = "not a congestion control of kernels", _ACCEPTED
        yield Problem(place, path, control.kind, what, fix)
        return
    part = getattr(scenario.flows[group], "cc", None)
    fields = {} if part is None else type(part).model_fields
    for key, fixed in KERNEL[name].items():
        field = key.removesuffix("_ns")
        if field not in fields or key not in control:
            continue
        asked = control.get(key)
        # A key with its default value is reported as a difference (`unapplied`), not rejected.
        if asked in (fixed, fields[field].default):
            continue
        what = f"a kernel's {name} has {show(fixed)}, and no connection can have another"
        yield Problem(place, (*path, field), type(fixed)(asked), what, "Remove it")
