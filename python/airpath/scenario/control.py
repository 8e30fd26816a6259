"""Scheduled changes of the bottleneck's rate, or of the radio of one of its stations."""

from __future__ import annotations

from typing import Annotated, Any

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
from airpath.scenario.values import Number, Text

__all__ = ["Control"]

_OF_USER = ("downlink_mcs", "uplink_mcs", "snr")


def _a_level(level: Decibels) -> Decibels:
    if not -200 <= level <= 200:
        raise fault("not from -200 dB to 200 dB", "Use a level between them", '"8 dB"')
    return level


class Control(Model):
    """A change of the bottleneck's link during the run: its rate, or the radio of one station.

    Parameters
    ----------
    at : Duration
        Time of the change since the start of the run, at most its duration.
    hop : str, optional
        Name of the hop whose link changes. Default: the bottleneck; in a list of hops without this
        name, the last hop with a link to the users.
    rate : Rate, optional
        New nominal rate of the link. The nominal rate is the constant rate, the rate of the fastest
        regime, the mean of a trace, or the largest rate of a cell. The other rates of the link are
        scaled by the same factor. 0 bit/s stops the link. Either `rate` or `user` is required.
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
    """

    at: Duration = Field(examples=['"50 s"'])
    hop: Maybe[Text] = Field(default=ABSENT, examples=['"backhaul"'])
    rate: Maybe[Rate] = Field(default=ABSENT, examples=['"128 kbit/s"'])
    user: Maybe[Number] = ABSENT
    downlink_mcs: Maybe[DownlinkMcs] = ABSENT
    uplink_mcs: Maybe[UplinkMcs] = ABSENT
    snr: Maybe[Annotated[Decibels, AfterValidator(_a_level)]] = ABSENT

    alternatives = (("rate", "user"),)

    @model_validator(mode="after")
    def _one_change(self) -> Self:
        given = [key for key in _OF_USER if getattr(self, key) is not None]
        if self.user is None:
            if given:
                missing = as_missing(fault("missing", "Use the station's number"))
                raise faults_at((("user",), None, missing))
            if self.rate is None:
                missing = as_missing(fault("missing", 'Use a rate such as "128 kbit/s"'))
                raise faults_at((("rate",), None, missing))
            return self
        if self.rate is not None:
            error = fault("the rate applies to all stations", "Set either rate or user in an entry")
            raise faults_at((("rate",), str(self.rate), error))
        if not given:
            missing = as_missing(fault("missing", "Set downlink_mcs, uplink_mcs or snr"))
            raise faults_at((("downlink_mcs",), None, missing))
        if self.snr is not None and len(given) > 1:
            error = fault("set together with an MCS", "Set either MCSs or an SNR")
            raise faults_at((("snr",), str(self.snr), error))
        return self

    def link_faults(self, link: Link | None) -> list[tuple[Path, Any, Any]]:
        """Return the faults for parts of this change that the bottleneck's link does not support.

        Parameters
        ----------
        link : Link or None
            The link of the changed hop; None if the hop has no link.
        """
        if link is None:
            error = fault("the hop has no link", "Use the name of a hop with a link")
            return [(("hop",), self.hop, error)]
        if self.user is None:
            return []
        if isinstance(link, Cell):
            wanted = 'Set the SNR over time as snr = {kind = "trace", …} of the user'
            return [(("user",), self.user, fault("the users of a cell cannot be changed", wanted))]
        if not isinstance(link, OfdmaTdd):
            error = fault("the bottleneck has no stations", 'Use a link of kind "ofdma-tdd"')
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

    def resolved(self, context: Context, path: Path, link: Link | None = None) -> dict[str, Any]:
        """Return the resolved form; `link` is the bottleneck's link."""
        action: dict[str, Any]
        if self.user is None:
            action = {"kind": "rate", "rate_bps": int(self.rate or 0)}
        elif self.snr is None:
            schemes = {"downlink": self.downlink_mcs, "uplink": self.uplink_mcs}
            action = {"kind": "mcs", "user": self.user, **schemes}
        else:
            mean_db = link.mean_snr_db(self.user) if isinstance(link, OfdmaTdd) else None
            moved_db = float(self.snr) - (mean_db or 0.0)
            action = {"kind": "snr", "user": self.user, "moved_db": moved_db}
        hop = {} if self.hop is None else {"hop": self.hop}
        return {"at_ns": int(self.at), **hop, "action": action}
