"""Group of equal flows: the keys that all kinds of sources share."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field, ValidationInfo, field_validator

from airpath.scenario.base import (
    ABSENT,
    Component,
    Context,
    Maybe,
    Path,
    as_missing,
    fault,
    is_from_file,
    usual,
)
from airpath.scenario.members import GroupName, Users, users_of_flows
from airpath.scenario.path import FlowPath
from airpath.scenario.traffic.arrivals import Arrivals
from airpath.scenario.traffic.start import BaseRtt, Start, Uniform
from airpath.scenario.units import Duration
from airpath.scenario.values import Number, Text, choice
from airpath.scenario.wires import NO_WIRE, Wire

__all__ = ["Source"]

DIRECTION = choice("forward", "reverse")

_MOST_SPREAD = 10_000
"""Largest number of flows of a group with several users, as each flow is a separate entry."""


class Source(Component):
    """A group of equal flows. `source` selects the kind of traffic; the default is TCP.

    The wires of a flow are `access` (sender to bottleneck), `egress` (bottleneck to receiver),
    `ack_access` (receiver to the link of the ACK path) and `return_wire`. `return_wire` begins at
    the link of the ACK path, or at the receiver if there is no such link, and ends at the sender.
    The delays of the wires are either set or computed from `base_rtt`.

    Parameters
    ----------
    name : str, optional
        Name of the group in tables, figures, metrics and keys: letters, digits, ``-`` and ``_``.
        Default: tables and keys use the index of the group.
    count : int
        Number of flows, from 1. Default 1.
    base_rtt : Duration or list of Duration, optional
        Two-way propagation delay without queueing and transmission. It includes the delays of the
        bottleneck link, of the ACK path's link and of the backhaul. A list has one value per flow.
        The delay that remains for the wires is divided equally between `egress` and `return_wire`.
        If the receiver is a station of an ``ofdma-tdd`` link, it is divided equally between
        `access` and `return_wire`. If the sender is such a station, `egress` has all of it.
    access, egress, ack_access, return_wire : Wire, optional
        The wires of each flow. With `base_rtt`, only the rates of wires may be set. In a TOML file,
        the key of `return_wire` is ``return``. `ack_access` requires TCP and an `ack_path` of kind
        ``link`` or ``reverse``.
    start : Duration or Uniform
        Start time of the flows. Default 0 s.
    stop : Duration, optional
        Time at which the flows stop sending, after the start. Default: the end of the run.
    arrivals : Arrivals, optional
        Arrival process of the flows, from `start` on. Default: all flows start at `start`.
    direction : {"forward", "reverse"}
        Direction of the data. ``"forward"``: through the bottleneck. ``"reverse"``: over the link
        and queue of the ACK path, together with the ACKs of the forward flows; the ACKs of a
        reverse flow go through the bottleneck. Default: from `origin` to `destination`, or
        ``"forward"``. The direction ``"reverse"`` requires an `ack_path` of kind ``link`` or
        ``reverse``, or hops with links in both directions.
    origin, destination : str, optional
        First and last hop that the data traverse: the name of a hop, or an end of the path,
        ``"servers"`` or ``"users"``. ACKs traverse the same hops in the opposite direction. In a
        TOML file, the keys are ``from`` and ``to``. Default: the ends of the path.
    user : int or list of int, optional
        Index of the user to which the flows belong, if the bottleneck or the ACK path is a cell or
        an ``ofdma-tdd`` link, whose users are its stations. Flows of one user share the queue and
        the channel of the user. Users are numbered from 0 without gaps. With a list of n users, or
        a range such as ``"0-9"``, flow i of the group belongs to element i modulo n. `count` is the
        total over all users, and each user must have at least one flow. Default: the index of the
        flow; for stations, this index modulo the number of stations.
    """

    family = "a source"
    engine_family = "flow"
    chosen_by = "source"
    needs_path: ClassVar[bool] = False
    """True if `base_rtt` or the wires must be set."""
    has_acks: ClassVar[bool] = False
    """True if the receiver sends ACKs."""
    key_labels = {
        "access": "access wire",
        "ack_access": "access wire of ACKs",
        "cc": "congestion control",
        "count": "number of flows",
        "egress": "egress wire",
        "on_off": "on and off periods",
        "packet": "packet size",
        "profile": "TCP profile",
        "rate": "sending rate",
        "return": "return wire",
        "size": "transfer size",
        "source": "traffic source",
        "start": "start time",
        "stop": "stop time",
        "video": "video client",
        "window": "receive-window policy",
    }

    name: GroupName = ABSENT
    count: Number = 1
    access: Maybe[Wire] = ABSENT
    egress: Maybe[Wire] = ABSENT
    ack_access: Maybe[Wire] = ABSENT
    return_wire: Annotated[Maybe[Wire], Field(alias="return")] = ABSENT
    base_rtt: BaseRtt = ABSENT
    start: Start = usual(Duration(0))
    stop: Maybe[Duration] = ABSENT
    arrivals: Maybe[Arrivals] = ABSENT
    direction: Annotated[str, DIRECTION] = "forward"
    origin: Annotated[Maybe[Text], Field(alias="from", examples=['"servers"'])] = ABSENT
    destination: Annotated[Maybe[Text], Field(alias="to", examples=['"users"'])] = ABSENT
    user: Users = ABSENT

    @classmethod
    def usual_kind(cls) -> str | None:
        """Return the default kind, "tcp"."""
        return "tcp"

    @field_validator("base_rtt")
    @classmethod
    def _fits_count_and_wires(cls, base_rtt: Any, info: ValidationInfo) -> Any:
        back = "return" if is_from_file(info) else "return_wire"
        keys = {name: name for name in ("access", "egress", "ack_access")} | {"return_wire": back}
        wires = ((key, info.data.get(name)) for name, key in keys.items())
        given = [(key, wire) for key, wire in wires if wire is not None]
        if base_rtt is None:
            known = keys.keys() <= info.data.keys()
            if cls.needs_path and known and not given:
                accepted = f'Set base_rtt = "40 ms", or the wires access, egress, {back}'
                raise as_missing(fault("missing", accepted))
            return base_rtt
        count = info.data.get("count")
        if isinstance(base_rtt, list) and count is not None and len(base_rtt) != count:
            raise fault(
                f"{len(base_rtt)} values for count = {count}", "Use one value for each flow"
            )
        delayed = [key for key, value in given if value.delay > 0]
        if delayed:
            raise fault(
                f"given together with {delayed[0]}.delay",
                "Set either base_rtt or the delays of the wires",
            )
        return base_rtt

    @field_validator("user")
    @classmethod
    def _check_user(cls, user: Any, info: ValidationInfo) -> Any:
        count = info.data.get("count")
        if isinstance(user, list) and count is not None:
            if count < len(user):
                accepted = f"Set count = {len(user)} or more, or fewer users"
                raise fault(f"{len(user)} users for count = {count}", accepted)
            if count > _MOST_SPREAD:
                accepted = f"Set count = {_MOST_SPREAD} at most, or a group for each user"
                raise fault(f"several users for count = {count}", accepted)
        return user

    @field_validator("arrivals")
    @classmethod
    def _check_arrivals(cls, arrivals: Arrivals | None, info: ValidationInfo) -> Arrivals | None:
        if arrivals is not None and isinstance(info.data.get("start"), Uniform):
            raise fault("given together with a random start", 'Set start = "0 s" or leave it out')
        return arrivals

    def document(self) -> dict[str, Any]:
        """Return the table as plain values, without a direction that follows from the route."""
        found = super().document()
        has_route = self.origin is not None or self.destination is not None
        if has_route and "direction" not in self.model_fields_set:
            del found["direction"]
        return found

    def base_rtts(self) -> list[tuple[Duration, int]] | None:
        """Return base RTTs with their numbers of consecutive flows; None without `base_rtt`."""
        if self.base_rtt is None:
            return None
        if not isinstance(self.base_rtt, list):
            return [(self.base_rtt, self.count)]
        return [(base_rtt, sum(1 for _ in equal)) for base_rtt, equal in groupby(self.base_rtt)]

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of the group's first flow, for shared hops without delay."""
        crossed = FlowPath(direction=self.direction)
        return {**self.resolved_flows(crossed, context, ("flows", 0))[0], "count": self.count}

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; there, all start times share one table."""
        if engine_path.startswith("start."):
            field = engine_path.removeprefix("start.")
            if field == "until_ns":
                return ["arrivals", "until"]
            start = self.start
            return ["start", *(start._user_path(field) if isinstance(start, Uniform) else [])]
        if engine_path == "hops":
            ends = ("origin", "destination")
            return [next((key for key in ends if getattr(self, key) is not None), "direction")]
        return super()._user_path(engine_path)

    @property
    def is_finite(self) -> bool:
        """True if the flows are transfers of finite size."""
        return False

    @property
    def flows_per_client(self) -> int:
        """Number of consecutive flows that are the connections of one client."""
        return 1

    def resolved_source(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of the source of each flow."""
        every = self.resolved(context, path)
        shared = Source.model_fields.keys()
        own = {
            key: value
            for key, value in every.items()
            if not any(key in (name, f"{name}_ns") for name in (*shared, self.chosen_by))
        }
        return {"kind": getattr(self, self.chosen_by), **own}

    def resolved_flows(
        self, crossed: FlowPath, context: Context, path: Path
    ) -> list[dict[str, Any]]:
        """Return the resolved form: an entry, with a count, for each sequence of equal flows.

        Parameters
        ----------
        crossed : FlowPath
            The hops that the flows cross. If one end of each flow is a station, all wires are on
            the other side of the path.
        """
        start: dict[str, Any]
        if self.arrivals is not None:
            gap = round(10**18 / self.arrivals.poisson)
            start = {"kind": "poisson", "from_ns": int(cast(Duration, self.start)), "gap_ns": gap}
            if self.arrivals.until is not None:
                start["until_ns"] = int(self.arrivals.until)
        elif isinstance(self.start, Uniform):
            low, high = self.start.uniform
            start = {"kind": "uniform", "low_ns": int(low), "high_ns": int(high)}
        else:
            start = {"kind": "at", "time_ns": int(self.start)}
        access, egress, back = (w or NO_WIRE for w in (self.access, self.egress, self.return_wire))
        same: dict[str, Any] = {
            "group": path[-1],
            "count": self.count,
            "direction": crossed.direction,
            "source": self.resolved_source(context, path),
            "start": start,
            "stop_ns": None if self.stop is None else int(self.stop),
            "access": access.delayed_by(access.delay),
            "egress": egress.delayed_by(egress.delay),
            "return_wire": back.delayed_by(back.delay),
        }
        if self.ack_access is not None:
            same["ack_access"] = self.ack_access.delayed_by(self.ack_access.delay)
        if self.name is not None:
            same["name"] = self.name
        if crossed.ends is not None:
            same["hops"] = list(crossed.ends)
        base_rtts = self.base_rtts()
        if base_rtts is None:
            return self._with_users([same])
        flows = []
        for base_rtt, count in base_rtts:
            # A base RTT that is too short is rejected; the group itself can be resolved
            # nevertheless.
            wired = max(0, int(base_rtt) - crossed.delay_ns)
            forward = wired // 2
            if crossed.has_stations and crossed.direction == "reverse":
                # The sender is a station, so that only one wire remains for the entire delay.
                wires = {"egress": egress.delayed_by(wired)}
            else:
                there = {"access": access} if crossed.has_stations else {"egress": egress}
                wires = {name: wire.delayed_by(forward) for name, wire in there.items()}
                wires["return_wire"] = back.delayed_by(wired - forward)
            flows.append({**same, **wires, "count": count})
        return self._with_users(flows)

    def _with_users(self, flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Add users to the entries; with several users, each client becomes a separate entry."""
        if self.user is None:
            return flows
        if isinstance(self.user, int):
            return [{**flow, "user": self.user} for flow in flows]
        size = self.flows_per_client
        alone = [{**flow, "count": size} for flow in flows for _ in range(flow["count"] // size)]
        users = users_of_flows(self.user, len(alone)) or ()
        return [{**flow, "user": user} for flow, user in zip(alone, users, strict=True)]
