"""Policies of a base station for proactive grants, one class for each policy."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from airpath.scenario.base import Component
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import choice

__all__ = ["AdaptBi", "BlindBi", "GrantPolicy", "Uni", "Unsolicited"]

WHEN: Any = choice("served", "first-transmission", "delivered")


class GrantPolicy(Component):
    """A policy for proactive grants, selected by `kind`. All policies also grant requests."""

    family = "a grant policy"
    engine_family = "grant"


class Uni(GrantPolicy):
    """No proactive grants: unidirectional allocation, as in the standard (wimax-2009 §2.2)."""

    kind: Literal["uni"] = "uni"


class BlindBi(GrantPolicy):
    """A grant for an ACK for each packet that the downlink serves (wimax-2009 §4.1).

    Parameters
    ----------
    size : Size
        Size of the grant for each packet, 1 B to 65535 B. Default 46 B: an ACK of 40 B with its
        header.
    when : {"served", "first-transmission", "delivered"}
        Time of the grant. ``"served"``: the end of the service of a packet, including
        retransmissions and reordering, even if the packet is then lost. ``"first-transmission"``:
        the packet's first transmission. ``"delivered"``: its delivery. Default ``"served"``
        (wimax-2009 §5.4).
    fallback : Duration
        Time without a grant after which a station sends a request, above 0. Default 100 ms.
    """

    kind: Literal["blind-bi"] = "blind-bi"
    size: Size = Size(46)
    when: Annotated[str, WHEN] = "served"
    fallback: Duration = Duration.parse("100 ms")


class AdaptBi(GrantPolicy):
    """A grant for an ACK if no request is pending; otherwise piggyback requests (wimax-2009 §4.2).

    Parameters
    ----------
    size : Size
        Size of the grant if the station's request queue is empty, 1 B to 65535 B. Default 46 B: an
        ACK of 40 B with its header.
    when : {"served", "first-transmission", "delivered"}
        Time of the grant. ``"served"``: the end of the service of a packet, including
        retransmissions and reordering, even if the packet is then lost. ``"first-transmission"``:
        the packet's first transmission. ``"delivered"``: its delivery. Default ``"served"``
        (wimax-2009 §5.4).
    fallback : Duration
        Time without a grant after which a station sends a request, above 0. Default 100 ms.
    """

    kind: Literal["adapt-bi"] = "adapt-bi"
    size: Size = Size(46)
    when: Annotated[str, WHEN] = "served"
    fallback: Duration = Duration.parse("100 ms")


class Unsolicited(GrantPolicy):
    """Periodic grants: UGS of 802.16, semi-persistent scheduling, configured grants.

    Parameters
    ----------
    period : Duration
        Time between two grants of a station, above 0.
    size : Size
        Size of each grant, 1 B to 65535 B. Default 46 B: an ACK of 40 B with its header.
    fallback : Duration
        Time without a grant after which a station sends a request, above 0. Default 100 ms.
    """

    kind: Literal["unsolicited"] = "unsolicited"
    period: Duration = Field(examples=['"20 ms"'])
    size: Size = Size(46)
    fallback: Duration = Duration.parse("100 ms")
