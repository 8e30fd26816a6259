"""Scheduled changes of a hop: its rate, loss, delay, interruptions, or the radio of a station."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, model_validator
from typing_extensions import Self

from airpath.scenario.base import (
    ABSENT,
    Context,
    Maybe,
    Model,
    Path,
    as_missing,
    fault,
    faults_at,
)
from airpath.scenario.decibels import Decibels
from airpath.scenario.link.base import Link
from airpath.scenario.link.cell import Cell
from airpath.scenario.link.stations import DownlinkMcs, UplinkMcs, no_station
from airpath.scenario.link.tdd import OfdmaTdd
from airpath.scenario.units import Duration, Rate
from airpath.scenario.values import Number, Real, Text, choice

if TYPE_CHECKING:
    from airpath.scenario.path import PathHop

__all__ = ["Control"]

Fault = tuple[Path, Any, Any]

_OF_USER = ("downlink_mcs", "uplink_mcs", "snr")
_OF_LINK = ("rate", "loss", "user", "interruption")
_CHANGES = ("rate", "loss", "delay", "user", "interruption", "schedule")
_OF_INTERRUPTION = ("packets", "forward_delay")


def _a_level(level: Decibels) -> Decibels:
    if not -200 <= level <= 200:
        raise fault("not from -200 dB to 200 dB", "Use a level between them", '"8 dB"')
    return level


def _a_loss(loss: float) -> float:
    if not 0 <= loss <= 1:
        raise fault("not a probability", "Use a number from 0 to 1")
    return loss


def _a_length(length: Duration) -> Duration:
    if int(length) == 0:
        raise fault("not above 0 s", "Use a time above 0 s", '"50 ms"')
    return length


class Control(Model):
    """A change of a hop during the run.

    An entry changes the rate, the loss probability or the delay of a hop, or the radio of one
    station of its link. With `interruption` the hop first transmits nothing for a time, for example
    because of a handover; the other changes of the entry then apply from the end of the
    interruption on. With `schedule` the delay changes many times.

    Parameters
    ----------
    at : Duration, optional
        Time of the change since the start of the run, at most its duration. Required, except with
        `schedule`, whose times count from `at`. Default with `schedule`: 0 s.
    hop : str, optional
        Name of the hop that changes. Default: the bottleneck; in a list of hops without this name,
        the last hop with a link.
    direction : str, optional
        Direction that changes: ``"forward"`` (to the users) or ``"reverse"``. Default: both
        directions of a delay and of an interruption; of a rate and a loss the link of the direction
        to the users, and its copy in the opposite direction.
    rate : Rate, optional
        New nominal rate of the link. The nominal rate is the constant rate, the rate of the fastest
        regime, the mean of a trace, or the largest rate of a cell. The other rates of the link are
        scaled by the same factor. 0 bit/s stops the link. Default: unchanged.
    loss : float, optional
        New probability that the link loses a packet, 0 to 1, for a link with a key `loss`. Default:
        unchanged.
    delay : Duration, optional
        New one-way propagation delay of the hop. Packets that are in flight keep their delay, and
        packets do not overtake each other. Default: unchanged.
    user : int, optional
        Index (from 0) of a station of a `link.OfdmaTdd`. The entry then changes the station's MCS
        or SNR instead of the rate.
    downlink_mcs : str, optional
        With `user`: new MCS of the station's downlink, for a link without `radio`. Default:
        unchanged.
    uplink_mcs : str, optional
        With `user`: new MCS of the station's uplink, for a link without `radio`. Default:
        unchanged.
    snr : Decibels, optional
        With `user`: new mean SNR of the station's downlink, -200 dB to 200 dB, for a link with
        `radio`. The uplink SNR changes by the same amount; shadowing and fading continue. Default:
        unchanged.
    interruption : Duration, optional
        Time from `at` during which the hop transmits nothing, above 0. Default: no interruption.
    packets : str
        With `interruption`: what happens to packets that wait or arrive during it. ``"keep"``: they
        wait. ``"forward"``: the packets that wait at the start, and those that arrive before the
        end, enter the queue `forward_delay` later, in order. ``"lose"``: they are lost. Default
        ``"keep"``.
    forward_delay : Duration, optional
        With ``packets = "forward"``: time until a forwarded packet enters the queue. Default 0 s.
    schedule : str, optional
        Path of a CSV file with the header ``time_s,delay_s``, from the scenario file's directory:
        the one-way propagation delay of the hop from each time on. Default: no schedule.
    """

    at: Maybe[Duration] = Field(default=ABSENT, examples=['"50 s"'])
    hop: Maybe[Text] = ABSENT
    direction: Maybe[Annotated[str, choice("forward", "reverse")]] = ABSENT
    rate: Maybe[Rate] = Field(default=ABSENT, examples=['"128 kbit/s"'])
    loss: Maybe[Annotated[Real, AfterValidator(_a_loss)]] = Field(default=ABSENT, examples=["0.01"])
    delay: Maybe[Duration] = Field(default=ABSENT, examples=['"20 ms"'])
    user: Maybe[Number] = ABSENT
    downlink_mcs: Maybe[DownlinkMcs] = ABSENT
    uplink_mcs: Maybe[UplinkMcs] = ABSENT
    snr: Maybe[Annotated[Decibels, AfterValidator(_a_level)]] = ABSENT
    interruption: Maybe[Annotated[Duration, AfterValidator(_a_length)]] = Field(
        default=ABSENT, examples=['"50 ms"']
    )
    packets: Annotated[str, choice("keep", "forward", "lose")] = "keep"
    forward_delay: Maybe[Duration] = Field(default=ABSENT, examples=['"20 ms"'])
    schedule: Maybe[Text] = Field(default=ABSENT, examples=['"leo.csv"'])

    alternatives = (("rate", "user"), ("delay", "schedule"))

    def document(self) -> dict[str, Any]:
        """Return the table as plain values; without an interruption, `packets` is omitted."""
        found = super().document()
        if self.interruption is None:
            del found["packets"]
        return found

    @model_validator(mode="after")
    def _one_change(self) -> Self:
        wrong = next(self._conflicts(), None)
        if wrong is not None:
            raise faults_at(wrong)
        return self

    def _conflicts(self) -> Iterator[Fault]:
        """Yield the missing and conflicting keys, the most basic first."""
        given = [key for key in _OF_USER if getattr(self, key) is not None]
        changes = [key for key in _CHANGES if getattr(self, key) is not None]
        if self.at is None and self.schedule is None:
            yield (("at",), None, as_missing(fault("missing", 'Set at = "50 s"')))
        if self.user is None and given:
            yield (("user",), None, as_missing(fault("missing", "Use the station's number")))
        if not changes:
            what = 'Use a rate such as "128 kbit/s", or set delay, loss, interruption or schedule'
            yield (("rate",), None, as_missing(fault("missing", what)))
        yield from self._conflicts_of_user(given)
        if self.schedule is not None and len(changes) > 1:
            other = next(key for key in changes if key != "schedule")
            error = fault(f"set together with {other}", "Set the schedule in its own entry")
            yield (("schedule",), self.schedule, error)
        for key in _OF_INTERRUPTION:
            if key in self.model_fields_set and self.interruption is None:
                error = fault("has no effect without interruption", "Set interruption")
                yield ((key,), str(getattr(self, key)), error)
        if self.forward_delay is not None and self.packets != "forward":
            error = fault(
                f'has no effect with packets = "{self.packets}"', 'Set packets = "forward"'
            )
            yield (("forward_delay",), str(self.forward_delay), error)

    def _conflicts_of_user(self, given: list[str]) -> Iterator[Fault]:
        if self.user is None:
            return
        for key, name in (("rate", "rate"), ("loss", "loss probability"), ("delay", "delay")):
            if getattr(self, key) is not None:
                what = f"the {name} applies to all stations"
                error = fault(what, f"Set either {key} or user in an entry")
                yield ((key,), str(getattr(self, key)), error)
        if not given:
            missing = as_missing(fault("missing", "Set downlink_mcs, uplink_mcs or snr"))
            yield (("downlink_mcs",), None, missing)
        if self.snr is not None and len(given) > 1:
            error = fault("set together with an MCS", "Set either MCSs or an SNR")
            yield (("snr",), str(self.snr), error)

    # --- rules with the path -------------------------------------------------------------------

    def hop_faults(self, hop: PathHop | None) -> list[Fault]:
        """Return the faults for parts of this change that the hop does not support.

        Parameters
        ----------
        hop : PathHop or None
            The changed hop; None if the path has no hop with a link.
        """
        changes = [key for key in _OF_LINK if getattr(self, key) is not None]
        wire = None if hop is None else hop.wire
        if hop is None or (changes and wire is not None and wire.limit is None):
            error = fault("the hop has no link", "Use the name of a hop with a link")
            return [(("hop",), self.hop, error)]
        if self.direction is not None and wire is None and hop.side(self.direction) is None:
            error = fault("the hop has no link in this direction", "Remove direction")
            return [(("direction",), self.direction, error)]
        if self.direction is not None and self._of_link_only and _is_duplex(hop):
            error = fault("the link serves both directions", "Remove direction")
            return [(("direction",), self.direction, error)]
        if wire is not None:
            return self._wire_faults()
        side = hop.side(self.direction or "forward") or hop.up
        return [] if side is None else self.link_faults(side.link)

    @property
    def _of_link_only(self) -> bool:
        return self.rate is not None or self.loss is not None

    def _wire_faults(self) -> list[Fault]:
        """Return the faults of a change of a wire with a queue."""
        if self.loss is not None:
            return [(("loss",), self.loss, fault("a wire loses no packets", "Remove loss"))]
        if self.user is not None:
            error = fault("the hop has no stations", 'Use a link of kind "ofdma-tdd"')
            return [(("user",), self.user, error)]
        return []

    def link_faults(self, link: Link) -> list[Fault]:
        """Return the faults for parts of this change that the hop's link does not support.

        Parameters
        ----------
        link : Link
            The link of the hop.
        """
        if self.loss is not None and "loss" not in type(link).model_fields:
            kind = link.document()["kind"]
            error = fault(f'a link of kind "{kind}" has no loss probability', "Remove loss")
            return [(("loss",), self.loss, error)]
        if self.user is None:
            return []
        if isinstance(link, Cell):
            wanted = 'Set the SNR over time as snr = {kind = "trace", …} of the user'
            return [(("user",), self.user, fault("the users of a cell cannot be changed", wanted))]
        if not isinstance(link, OfdmaTdd):
            error = fault("the hop has no stations", 'Use a link of kind "ofdma-tdd"')
            return [(("user",), self.user, error)]
        if self.user >= link.stations:
            return [(("user",), self.user, no_station(link.stations))]
        if self.snr is not None and link.radio is None:
            error = fault("the link has no radio", "Set downlink_mcs or uplink_mcs")
            return [(("snr",), str(self.snr), error)]
        if self.snr is not None and link.mean_snr_db(self.user) is None:
            error = fault("the SNR of this station comes from a file", "Set it there")
            return [(("snr",), str(self.snr), error)]
        return [
            ((key,), getattr(self, key), fault("the radio selects the MCSs", "Set snr"))
            for key in ("downlink_mcs", "uplink_mcs")
            if getattr(self, key) is not None and link.radio is not None
        ]

    def interrupts(self, direction: str) -> tuple[int, int] | None:
        """Return start and end of the interruption of a direction, ns; None without one."""
        if self.interruption is None or self.at is None:
            return None
        if self.direction not in (None, direction):
            return None
        return int(self.at), int(self.at) + int(self.interruption)

    # --- resolved form -------------------------------------------------------------------------

    def resolved_actions(
        self, context: Context, path: Path, link: Link | None = None
    ) -> list[dict[str, Any]]:
        """Return the resolved form, one entry per action.

        Parameters
        ----------
        context : Context
            Names of the files.
        path : tuple of str or int
            Path of the entry in the scenario.
        link : Link or None
            The link of the hop. Default: a hop without a link.
        """
        hop = {} if self.hop is None else {"hop": self.hop}
        at_ns = int(self.at or 0)
        found = []
        if self.interruption is not None:
            found.append({"at_ns": at_ns, **hop, "action": self._resolved_interruption()})
            at_ns += int(self.interruption)
        actions = self._resolved_changes(context, path, link)
        return [*found, *({"at_ns": at_ns, **hop, "action": action} for action in actions)]

    @property
    def _resolved_direction(self) -> dict[str, Any]:
        return {} if self.direction is None else {"direction": self.direction}

    def _resolved_interruption(self) -> dict[str, Any]:
        action = {
            "kind": "interruption",
            "duration_ns": int(self.interruption or 0),
            "packets": self.packets,
            "forward_delay_ns": int(self.forward_delay or 0),
        }
        return {**action, **self._resolved_direction}

    def _resolved_changes(
        self, context: Context, path: Path, link: Link | None
    ) -> Iterator[dict[str, Any]]:
        direction = self._resolved_direction
        if self.rate is not None:
            yield {"kind": "rate", "rate_bps": int(self.rate), **direction}
        if self.loss is not None:
            yield {"kind": "loss", "loss": self.loss, **direction}
        if self.delay is not None:
            yield {"kind": "delay", "delay_ns": int(self.delay), **direction}
        if self.schedule is not None:
            place = (*path, "schedule")
            trace = context.trace_key(self.schedule, place)
            points = context.delay_points(self.schedule, place)
            yield {"kind": "schedule", "trace": trace, "points": points, **direction}
        if self.user is not None and self.snr is None:
            schemes = {"downlink": self.downlink_mcs, "uplink": self.uplink_mcs}
            yield {"kind": "mcs", "user": self.user, **schemes}
        if self.user is not None and self.snr is not None:
            mean_db = link.mean_snr_db(self.user) if isinstance(link, OfdmaTdd) else None
            moved_db = float(self.snr) - (mean_db or 0.0)
            yield {"kind": "snr", "user": self.user, "moved_db": moved_db}


def _is_duplex(hop: PathHop) -> bool:
    """Return whether one link serves both directions of a hop."""
    if hop.down is None or hop.up is None or not hop.up.is_mirrored:
        return False
    return hop.down.link.is_duplex or hop.down.link.has_stations
