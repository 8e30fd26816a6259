"""Kernel settings for a scenario's TCP flows: sysctls, route attributes and socket options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from airpath.emulation import refusals
from airpath.emulation.unapplied import (
    UnappliedParameter,
    option_text,
    unapplied_control_keys,
    unapplied_options,
)
from airpath.engine.component import Component
from airpath.engine.flows import TcpParameters
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import Problem, ScenarioError, show
from airpath.scenario import Scenario
from airpath.scenario.base import Context
from airpath.scenario.tcp.config import TcpConfig
from airpath.scenario.tcp.profiles import profile_config
from airpath.scenario.tcp.table import Parameter, parameters
from airpath.scenario.units import Duration, Size

__all__ = ["Kernel", "for_commands", "for_flows", "kernel_has"]

_HEADERS = 40
"""Length of an IPv4 header plus a TCP header without options, bytes."""
_UNSCALED = 65_535
"""Largest receive window without window scaling (16 bits), bytes."""
_LARGEST_WINDOW = _UNSCALED << 14
"""Largest receive window with the largest scale factor, 14, bytes (RFC 7323 §2.3)."""
_LARGEST_BUFFER = 2**31 - 1
_USUAL_RECEIVE, _USUAL_SEND = 6 << 20, 4 << 20
"""Kernel defaults of the maximum receive and send buffer, bytes."""

_SAME: Mapping[str, str] = {
    "tcp_no_metrics_save": "1",
    "tcp_mtu_probing": "0",
    "tcp_window_scaling": "1",
    "tcp_adv_win_scale": "1",
    "tcp_app_win": "31",
    "tcp_pacing_ss_ratio": "200",
    "tcp_pacing_ca_ratio": "120",
    "tcp_reordering": "3",
    "tcp_retries2": "15",
    "tcp_plb_enabled": "0",
    "tcp_thin_linear_timeouts": "0",
}
"""Sysctls with the same value for all profiles. Most values are the kernel's defaults."""

_OWN: Mapping[str, str] = {
    "tcp_frto": "2",
    "tcp_moderate_rcvbuf": "1",
    "tcp_autocorking": "1",
    "tcp_min_tso_segs": "2",
    "tcp_tso_rtt_log": "9",
    "tcp_ecn_fallback": "1",
}
"""Kernel defaults for the profile ``linux``; a new namespace would inherit the host's values."""

_TEXTBOOK: Mapping[str, str] = {
    "tcp_frto": "0",
    "tcp_moderate_rcvbuf": "0",
    "tcp_autocorking": "0",
    "tcp_min_tso_segs": "1",
    "tcp_tso_rtt_log": "0",
    "tcp_ecn_fallback": "0",
}
"""Sysctls for the other profiles: no F-RTO, full receive window from the start, no bursts."""


def kernel_has(name: str) -> bool:
    """Return whether this machine's kernel has a sysctl, for example ``tcp_sack``."""
    return Path("/proc/sys/net/ipv4", name).exists()


@dataclass(frozen=True)
class Kernel:
    """Settings of the kernel's TCP.

    Parameters
    ----------
    sysctls : mapping of str to str
        Maps the name of a sysctl, for example ``net.ipv4.tcp_sack``, to its value.
    route : mapping
        Attributes of the routes.
    mtu : int
        Largest IP packet, bytes.
    sockets : sequence of mapping
        Socket settings, one mapping for each TCP flow.
    not_applied : sequence of mapping
        Parameters that the kernel applies differently. Keys of each: `flows` (indices of the
        groups), `option`, `asked` (value in the scenario), `kernel` (behavior of the kernel).
    """

    sysctls: Mapping[str, str] = field(default_factory=dict)
    route: Mapping[str, Any] = field(default_factory=dict)
    mtu: int = 1500
    sockets: Sequence[Mapping[str, Any]] = ()
    not_applied: Sequence[Mapping[str, Any]] = ()

    def settings(self) -> dict[str, Any]:
        """Return all settings except those of sockets, in the format that ``airpath-emu`` reads."""
        return {"sysctls": dict(self.sysctls), "route": dict(self.route), "mtu": self.mtu}

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values."""
        return asdict(self)


class _Tcp(NamedTuple):
    """TCP parameters of a group of flows."""

    group: int
    control: str | None
    """Kernel name of the congestion control; None: the connecting application selects it."""
    congestion: Component
    options: TcpParameters

    @property
    def own(self) -> bool:
        """Whether the profile is ``linux`` (the kernel's defaults)."""
        return self.options.profile == "linux"

    @property
    def stamps(self) -> int:
        return self.options.stamp_bytes

    @property
    def segment(self) -> int:
        """Length of a full-sized segment including its TCP options, bytes."""
        return self.options.mss + self.stamps

    @property
    def initial_segments(self) -> int:
        return max(1, round(self.options.initial_window / self.options.mss))

    @property
    def window(self) -> int:
        scaled = self.options.window_scaling != "off"
        return min(self.options.receive_window, _LARGEST_WINDOW if scaled else _UNSCALED)

    @property
    def is_scaled(self) -> bool:
        return self.options.window_scaling == "on" or self.window > _UNSCALED


# --- the flows of a scenario ------------------------------------------------------------------


def for_flows(
    scenario: Scenario,
    resolved: ResolvedScenario,
    has: Callable[[str], bool] = kernel_has,
) -> Kernel:
    """Return the kernel's settings for the flows of a scenario.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the user.
    resolved : ResolvedScenario
        The resolved scenario.
    has : callable
        Returns whether the kernel has a sysctl. Default: checks this machine's kernel.

    Raises
    ------
    ScenarioError
        If no kernel supports a flow's parameters, or two flows need different values of a
        setting that applies to an entire namespace.
    """
    problems = [
        *refusals.scenario_problems(scenario, resolved),
        *refusals.too_many(scenario, resolved),
    ]
    flows: list[_Tcp] = []
    for group, first in resolved.flows.first_of_groups.items():
        source = first.source
        if not source.is_tcp:
            continue  # Datagrams stay in the model.
        problems += refusals.flow_problems(scenario, resolved, group)
        control = refusals.kernel_control(scenario, group, source.congestion)
        flows.append(_Tcp(group, control, source.congestion, source.tcp))
    problems += _not_alike(scenario, flows)
    if problems:
        raise ScenarioError(problems)
    made = _for_all(flows, has)
    return Kernel(**made, sockets=list(_sockets(resolved, flows, made["mtu"])))


def _sockets(
    resolved: ResolvedScenario, flows: Sequence[_Tcp], mtu: int
) -> Iterator[dict[str, Any]]:
    by_group = {flow.group: flow for flow in flows}
    scaled = any(flow.is_scaled for flow in flows)
    for numbers, entry in resolved.flows.ranges():
        if not entry.source.is_tcp:
            continue
        flow = by_group[entry.group]
        settings: dict[str, Any] = {"congestion": flow.control}
        if flow.segment != mtu - _HEADERS:
            settings["mss"] = flow.segment
        if not _is_tuned(flows) and flow.window != (_LARGEST_WINDOW if scaled else _UNSCALED):
            settings["window_clamp"] = flow.window
        if flow.options.pacing == "on":
            settings["pacing"] = True
        for number in numbers:
            yield {"flow": number, **settings}


def _is_tuned(flows: Sequence[_Tcp]) -> bool:
    """Return whether the kernel's receive buffer auto-tuning is used."""
    usual = _kernel_parameters().receive_window
    return all(flow.own and flow.options.receive_window == usual for flow in flows)


# --- a command ----------------------------------------------------------------------------------


def for_commands(
    scenario: Scenario,
    resolved: ResolvedScenario,
    like: int = 0,
    has: Callable[[str], bool] = kernel_has,
) -> Kernel:
    """Return the kernel's settings for the connections of a command.

    TCP uses the kernel's defaults, except for the keys `cc`, `profile` and `tcp` that are set in
    the group of flow `like`.

    Parameters
    ----------
    scenario, resolved, has
        As in `for_flows`.
    like : int
        Index of the flow whose path the packets use, from 0.

    Raises
    ------
    ScenarioError
        If no kernel supports the group's parameters.
    """
    problems = [*refusals.scenario_problems(scenario, resolved)]
    number, source = resolved.flows[like].group, resolved.flows[like].source
    group = scenario.flows[number]
    asked = group.model_fields_set if source.is_tcp else set()
    if not asked & {"cc", "profile", "tcp"}:
        flow = _Tcp(number, None, Component({}), _kernel_parameters())
    else:
        problems += refusals.flow_problems(scenario, resolved, number)
        control = refusals.kernel_control(scenario, number, source.congestion)
        options = source.tcp
        if "profile" not in asked:
            options = _kernel_parameters(getattr(group, "tcp", None), ecn=source.tcp.ecn)
        flow = _Tcp(number, control if "cc" in asked else None, source.congestion, options)
    if problems:
        raise ScenarioError(problems)
    made = _for_all([flow], has)
    if flow.control is not None:
        made["route"]["congestion"] = flow.control
    return Kernel(**made)


def _kernel_parameters(given: TcpConfig | None = None, **values: Any) -> TcpParameters:
    """Return the TCP parameters of the profile ``linux``, with some values replaced."""
    config = profile_config("linux", None, None, given or TcpConfig())
    context = cast(Context, None)  # No parameter refers to a file, so the context is unused.
    return TcpParameters({"profile": "linux", **config.resolved(context, ()), **values})


# --- flows and commands ---------------------------------------------------------------------------


def _for_all(flows: Sequence[_Tcp], has: Callable[[str], bool]) -> dict[str, Any]:
    """Return all settings except sockets. All flows must agree in the per-namespace settings."""
    if not flows:
        return {"mtu": 1500}
    first = flows[0]
    unapplied = [(flow, line) for flow in flows for line in _differences(flow)]
    wanted = dict(_sysctls(flows))
    present = {name: value for name, value in wanted.items() if has(name)}
    for row in parameters().values():
        does = row.kernel.without
        if does and _sysctls_of(row) & wanted.keys() - present.keys():
            unapplied += [
                (flow, UnappliedParameter(f"tcp.{row.name}", _value_text(row, flow), does))
                for flow in flows
                if _value_text(row, flow) != does
            ]
    route: dict[str, Any] = {
        "initcwnd": first.initial_segments,
        "rto_min_ms": max(1, round(first.options.min_rto_ns / 1e6)),
    }
    if first.options.delayed_ack_segments == 1:
        route["quickack"] = True
    return {
        "sysctls": {f"net.ipv4.{name}": present[name] for name in sorted(present)},
        "route": route,
        "mtu": max(flow.segment for flow in flows) + _HEADERS,
        "not_applied": _merged(unapplied),
    }


def _value_text(row: Parameter, flow: _Tcp) -> str:
    return option_text(row.name, flow.options.get(row.resolved))


def _differences(flow: _Tcp) -> Iterator[UnappliedParameter]:
    if flow.control is not None:
        yield from unapplied_control_keys(flow.congestion, flow.control)
    yield from unapplied_options(flow.options, flow.control or "")
    options = flow.options
    whole = flow.initial_segments * options.mss
    if whole != options.initial_window:
        does = f"{flow.initial_segments} segments"
        yield UnappliedParameter("tcp.initial_window", str(Size(options.initial_window)), does)
    if flow.window != options.receive_window:
        does = str(Size(flow.window))
        yield UnappliedParameter("tcp.receive_window", str(Size(options.receive_window)), does)
    elif not flow.own and flow.is_scaled:
        does = "begins at 64 KiB and grows with what arrives, up to that"
        yield UnappliedParameter("tcp.receive_window", str(Size(options.receive_window)), does)


def _sysctls(flows: Sequence[_Tcp]) -> Iterator[tuple[str, str]]:
    """Yield all sysctls of the namespaces, without the prefix ``net.ipv4.``."""
    first = flows[0]
    yield from _SAME.items()
    yield from (_OWN if first.own else _TEXTBOOK).items()
    for row in parameters().values():
        yield from _parameter_settings(row, flows)
    if not _is_tuned(flows):
        yield "tcp_moderate_rcvbuf", "0"
    yield "tcp_window_scaling", str(int(any(flow.is_scaled for flow in flows)))
    yield "tcp_ecn", _ecn(flows)
    window = max(flow.window for flow in flows)
    yield from _buffers(window, _is_tuned(flows))


def _parameter_settings(row: Parameter, flows: Sequence[_Tcp]) -> Iterator[tuple[str, str]]:
    """Yield the sysctls that implement a parameter, as given in the table of parameters."""
    for name, texts in row.kernel.sysctls.items():
        yield name, texts[_value_text(row, flows[0])]
    if number := row.kernel.number:
        unit = int(Duration.parse(number["unit"])) if "unit" in number else 1
        most = int(number["most"])
        # A missing count means unlimited.
        largest = max(flow.options.get(row.resolved, most * unit) for flow in flows)
        yield number["sysctl"], str(min(most, max(int(number["least"]), largest // unit)))


def _sysctls_of(row: Parameter) -> set[str]:
    number = row.kernel.number
    return {*row.kernel.sysctls, *([number["sysctl"]] if number else [])}


def _buffers(window: int, is_tuned: bool) -> Iterator[tuple[str, str]]:
    """Yield the buffer sysctls for a receive window, with space for the overhead per packet."""
    memory = min(_LARGEST_BUFFER, 4 * window)
    receive = max(_USUAL_RECEIVE, min(_LARGEST_BUFFER, 2 * window))
    if is_tuned:
        yield "tcp_rmem", f"4096 131072 {receive}"
    else:
        first = max(131_072, memory)
        yield "tcp_rmem", f"4096 {first} {max(first, receive)}"
    yield "tcp_wmem", f"4096 16384 {max(_USUAL_SEND, memory)}"


def _ecn(flows: Sequence[_Tcp]) -> str:
    used = {flow.options.ecn for flow in flows}
    if {"on", "accurate"} & used:
        return "1"
    # With 2, connections accept ECN but do not request it. DCTCP requests ECN regardless.
    return "2" if "dctcp" in used or flows[0].own else "0"


def _merged(unapplied: Sequence[tuple[_Tcp, UnappliedParameter]]) -> list[dict[str, Any]]:
    """Merge equal entries; return each entry with the indices of its groups."""
    groups: dict[UnappliedParameter, list[int]] = {}
    for flow, line in unapplied:
        groups.setdefault(line, []).append(flow.group)
    return [{"flows": who, **line._asdict()} for line, who in groups.items()]


# --- per-namespace settings -----------------------------------------------------------------------


def _not_alike(scenario: Scenario, flows: Sequence[_Tcp]) -> Iterator[Problem]:
    """Yield a problem for each per-namespace setting in which a group differs from the first."""
    place = scenario.file or scenario.name
    for flow in flows[1:]:
        first = flows[0]
        for row in parameters().values():
            if row.kernel.once and _setting(row, flow) != _setting(row, first):
                yield _unlike(place, flow, first, "tcp", row.name)
        if flow.own != first.own:
            yield _unlike(place, flow, first, "profile")
        if {flow.options.ecn, first.options.ecn} == {"off", "on"}:
            yield _unlike(place, flow, first, "tcp", "ecn")


_COMPUTED: Mapping[str, Callable[[_Tcp], Any]] = {
    "initial_window": lambda flow: flow.initial_segments,
    "delayed_ack_segments": lambda flow: flow.options.delayed_ack_segments == 1,
}
"""Functions that compute the value of a route attribute, by the name of the TCP parameter.

Contains only parameters of which several values map to the same value of the attribute.
"""


def _setting(row: Parameter, flow: _Tcp) -> Any:
    """Return the per-namespace setting that a flow's value of a parameter requires."""
    if row.name in _COMPUTED:
        return _COMPUTED[row.name](flow)
    if row.kernel.sysctls:
        return dict(_parameter_settings(row, [flow]))
    return flow.options.get(row.resolved)


def _unlike(place: str, flow: _Tcp, first: _Tcp, *path: str) -> Problem:
    other = f"flows.{first.group} has {show(_plain(path[-1], first))}"
    what = f"{other}, and a network namespace has one for all connections"
    shown: tuple[str | int, ...] = ("flows", flow.group, *path)
    accepted = "Set the same for all TCP flows"
    return Problem(place, shown, _plain(path[-1], flow), what, accepted)


def _plain(name: str, flow: _Tcp) -> Any:
    row = parameters().get(name)
    value = flow.options.get(row.resolved if row else name)
    return value if isinstance(value, (bool, str)) else option_text(name, value)
