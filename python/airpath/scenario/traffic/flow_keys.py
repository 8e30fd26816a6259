"""Types of the keyword arguments of `airpath.flows`, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from airpath.scenario.cc.base import Congestion
    from airpath.scenario.tcp.config import TcpConfig
    from airpath.scenario.traffic.arrivals import Arrivals, OnOff, RandomSize
    from airpath.scenario.traffic.requests import Requests
    from airpath.scenario.traffic.start import Uniform
    from airpath.scenario.traffic.video import Video
    from airpath.scenario.units import Duration, Rate, Size
    from airpath.scenario.window import ReceiveWindow
    from airpath.scenario.wires import Wire

__all__ = ["FlowKeys"]


class FlowKeys(TypedDict, total=False):
    """Keyword arguments of `flows`: the union of the keys of all traffic sources."""

    source: str
    name: str | None
    access: Wire | Mapping[str, Any] | None
    egress: Wire | Mapping[str, Any] | None
    ack_access: Wire | Mapping[str, Any] | None
    return_wire: Wire | Mapping[str, Any] | None
    base_rtt: str | float | Duration | Sequence[str | float | Duration] | None
    start: str | float | Duration | Uniform | Mapping[str, Any]
    stop: str | float | Duration | None
    arrivals: Arrivals | Mapping[str, Any] | None
    direction: str
    origin: str | None
    destination: str | None
    user: int | str | Sequence[int | str] | None
    cc: str | Congestion | Mapping[str, Any] | None
    profile: str
    tcp: TcpConfig | Mapping[str, Any]
    window: str | ReceiveWindow | Mapping[str, Any] | None
    size: str | float | Size | RandomSize | Mapping[str, Any] | None
    on_off: OnOff | Mapping[str, Any] | None
    video: Video | Mapping[str, Any] | None
    requests: Requests | Mapping[str, Any] | None
    rate: str | float | Rate
    packet: str | float | Size
    codec: str
    interval: str | float | Duration
    jitter_buffer: str | float | Duration
    advantage: float
