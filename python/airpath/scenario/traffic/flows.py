"""TCP flows, and the function that creates groups of flows of any kind."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationInfo, field_validator
from typing_extensions import Unpack

from airpath.scenario.base import (
    ABSENT,
    Context,
    Maybe,
    Model,
    Path,
    fault,
    faults_at,
    nearest,
)
from airpath.scenario.cc.base import Congestion
from airpath.scenario.cc.loss_based import Reno
from airpath.scenario.tcp.config import TcpConfig
from airpath.scenario.tcp.profiles import profile_config, profiles, unmet_needs
from airpath.scenario.tcp.values import SELECTIVE
from airpath.scenario.traffic.arrivals import AnySize, OnOff, RandomSize
from airpath.scenario.traffic.flow_keys import FlowKeys
from airpath.scenario.traffic.requests import Requests
from airpath.scenario.traffic.source import Source
from airpath.scenario.traffic.video import Video
from airpath.scenario.units import Size, quote
from airpath.scenario.window import ReceiveWindow

__all__ = ["Tcp"]


class Tcp(Source):
    """TCP connections that carry endless data, transfers, bursts, a video, or web pages.

    Parameters
    ----------
    cc : Congestion, optional
        Congestion control (see `airpath.cc`). Default: Reno with the recovery of the profile.
    profile : {"rfc", "ns2", "ns3", "ns3-2014", "linux"}
        TCP profile. Default ``"rfc"``.
    tcp : TcpConfig
        TCP parameters that differ from the profile.
    window : ReceiveWindow, optional
        Receive-window policy. Default: fixed.
    size : Size or RandomSize, optional
        Payload bytes to transfer, above 0. Default: unlimited.
    on_off : OnOff, optional
        Endless sequence of bursts and pauses, instead of `size`.
    video : Video, optional
        Video client that requests the data, instead of `size` and `on_off`.
    requests : Requests, optional
        Client that requests objects, instead of `size`, `on_off` and `video`.
    """

    needs_path = True
    has_acks = True
    alternatives = (("size", "on_off", "video", "requests"),)

    source: Literal["tcp"] = "tcp"
    cc: Maybe[Congestion] = ABSENT
    profile: Annotated[str, PlainValidator(lambda value: _profile(value))] = "rfc"
    tcp: TcpConfig = Field(default_factory=TcpConfig)
    window: Maybe[ReceiveWindow] = ABSENT
    size: AnySize = ABSENT
    on_off: Maybe[OnOff] = ABSENT
    video: Maybe[Video] = ABSENT
    requests: Maybe[Requests] = ABSENT

    @field_validator("on_off", "video", "requests")
    @classmethod
    def _only_application(cls, value: Model | None, info: ValidationInfo) -> Model | None:
        others = [key for key in ("size", "on_off", "video") if key != info.field_name]
        given = [key for key in others if info.data.get(key) is not None]
        if value is not None and given:
            raise fault(f"given together with {given[0]}", "Use one of the two")
        return value

    @field_validator("requests")
    @classmethod
    def _check_connections(cls, requests: Requests | None, info: ValidationInfo) -> Any:
        """Reject base RTTs that differ between the connections of a client."""
        rtts = info.data.get("base_rtt")
        if requests is not None and isinstance(rtts, list):
            each = requests.connections
            clients = [rtts[first : first + each] for first in range(0, len(rtts), each)]
            if any(len(set(client)) > 1 for client in clients):
                fix = f"Set the same base_rtt for the {each} consecutive flows of a client"
                wrong = fault("the base RTTs of a client's connections differ", fix)
                raise faults_at((("connections",), each, wrong))
        return requests

    @property
    def is_finite(self) -> bool:
        """True if a size is set."""
        return self.size is not None

    @property
    def flows_per_client(self) -> int:
        """Number of consecutive flows that are the connections of one client."""
        return 1 if self.requests is None else self.requests.connections

    @field_validator("tcp")
    @classmethod
    def _check_tcp(cls, tcp: TcpConfig, info: ValidationInfo) -> TcpConfig:
        profile = info.data.get("profile")
        cc = info.data.get("cc")
        wrong: list[tuple[Path, Any, Any]] = []
        if cc is not None and cc.recovery and tcp.recovery not in (None, cc.recovery, *SELECTIVE):
            error = fault(f"contradicts cc = {quote(cc.kind)}", "Use one of the two")
            wrong.append((("recovery",), tcp.recovery, error))
        if cc is not None and tcp.ecn in cc.refused_ecn:
            error = fault(f"contradicts cc = {quote(cc.kind)}", "Use one of the two")
            wrong.append((("ecn",), tcp.ecn, error))
        if profile is not None:
            whole = profile_config(profile, None, None, tcp)
            wrong += [
                ((name,), value, fault(needs.problem, needs.fix))
                for name, needs in unmet_needs(whole.document())
                if (value := getattr(tcp, name)) is not None
            ]
        if wrong:
            raise faults_at(*wrong)
        return tcp

    def _effective(self, key: str) -> Any:
        return self.config() if key == "tcp" else super()._effective(key)

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field."""
        first, _, rest = engine_path.partition(".")
        if engine_path == "window.receive_window":
            return ["tcp", "receive_window"]
        if first == "options":
            return ["tcp", *rest.split(".")]
        if first == "transfer_bytes":
            return ["size"]
        key = {"transfer": "size", "application": "on_off", "congestion": "cc"}.get(first, first)
        inside = getattr(self, key, None) if rest else None
        if isinstance(inside, Model):
            return [key, *inside._user_path(rest)]
        return super()._user_path(engine_path)

    def config(self) -> TcpConfig:
        """Return all TCP parameters: the values of the profile, modified by `cc` and `tcp`."""
        given = self.tcp
        if (self.on_off or self.video or self.requests) is not None and given.grow_unused is None:
            # Otherwise the congestion window, which the application never fills, would grow
            # endlessly.
            given = TcpConfig(**given.document(), grow_unused=False)
        if self.cc is not None and (ecn := self.cc.ecn(given.ecn)) is not None:
            given = TcpConfig(**(given.document() | {"ecn": ecn}))
        kind: str | None = getattr(self.cc, "kind", None)
        return profile_config(self.profile, kind, self.cc.recovery if self.cc else None, given)

    def resolved_source(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form with all TCP parameters."""
        options = self.config().resolved(context, (*path, "tcp"))
        cc = self.cc or Reno()
        if options["stack"] == "ns3" and options["recovery"] in SELECTIVE:
            cc = cc.in_ns3()
        if options["stack"] == "linux":
            cc = cc.in_linux()
        options["ecn"] = cc.ecn_use(options["ecn"])
        source: dict[str, Any] = {
            "kind": "tcp",
            "congestion": cc.resolved_control(context, (*path, "cc")),
            "options": {"profile": self.profile, **options},
            "transfer_bytes": int(self.size) if isinstance(self.size, Size) else None,
        }
        if isinstance(self.size, RandomSize):
            source["transfer"] = self.size.resolved(context, (*path, "size"))
        if self.on_off is not None:
            source["application"] = self.on_off.resolved(context, (*path, "on_off"))
        if self.video is not None:
            source["video"] = self.video.resolved(context, (*path, "video"))
        if self.requests is not None:
            source["requests"] = self.requests.resolved(context, (*path, "requests"))
        if self.window is not None:
            source["window"] = self.window.resolved(context, (*path, "window"))
        return source


def flows(count: int = 1, **keys: Unpack[FlowKeys]) -> list[Source]:
    """Return a list with one group of equal flows for `Scenario`; join groups with ``+``.

    Parameters
    ----------
    count : int
        Number of flows, from 1.
    **keys
        The other keys of `Tcp`, or of the class that `source` selects: ``cc``, ``base_rtt``, ...

    Raises
    ------
    ScenarioError
        If a key or value is not accepted.

    Examples
    --------
    >>> group = flows(4, cc="reno", base_rtt="40 ms") + flows(source="cbr", rate="1 Mbit/s")
    >>> [flow.count for flow in group]
    [4, 1]
    """
    return [Source.make({"count": count, **keys}, "flows")]


def _profile(value: Any) -> str:
    if not isinstance(value, str) or value not in profiles():
        advice = nearest(value if isinstance(value, str) else "", profiles())
        raise fault("not a TCP profile", advice)
    return value
