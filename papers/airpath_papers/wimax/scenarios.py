"""The scenarios of Tables 1 and 2 and Figs. 6 and 7: one station, one download (wimax-2009 §5.1).

README.md lists every value that the paper leaves open; a `Variant` changes some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Effort
from airpath_papers.wimax.data import BASE_RTTS_MS, POLICIES

__all__ = [
    "AS_CHOSEN",
    "ATTEMPT_ERROR",
    "CLOCK",
    "CONTENTION",
    "CURVES",
    "FRAME",
    "LOSSES",
    "OBJECT_BYTES",
    "RULES",
    "SEGMENT",
    "TABLE_RUNS",
    "TCP",
    "Case",
    "Clock",
    "Variant",
    "build",
    "download",
    "grant_of",
    "large_queue",
    "places",
    "recovery",
]

OBJECT_BYTES: Final = 1_048_576
SEGMENT: Final = 1500
"""MSS, bytes (wimax-2009 §5.1)."""

ATTEMPT_ERROR: Final = 0.316
"""Share of HARQ attempts that fail: the fourth root of 1 % (wimax-2009 §5.1)."""

TABLE_RUNS: Final = 100
"""Runs of the cells of the tables, in every mode."""


class Clock(NamedTuple):
    """The frame of the paper's link and the instants in it, ms from its start."""

    frame_ms: float
    decoded_ms: float
    closed_ms: float
    received_ms: float


def _clock(link: ap.link.OfdmaTdd) -> Clock:
    times = (link.frame, link.decoded, link.closed, link.received)
    return Clock(*(int(time) / 1e6 for time in times))


CLOCK: Final = _clock(ap.link.OfdmaTdd())

FRAME: Final = ap.traffic.Uniform(uniform=["0 s", "5 ms"])
"""Flows start at a random instant of a frame."""

TCP: Final[Mapping[str, Any]] = {
    "mss": f"{SEGMENT} B",
    "initial_window": "2 segments",
    "initial_ssthresh": f"{12 * SEGMENT} B",
    "receive_window": f"{16 * SEGMENT} B",
    "delayed_ack_segments": 2,
    "delayed_ack_timeout": "200 ms",
    "min_rto": "1 s",
}
"""What differs from the profile ``rfc``: README.md."""

CONTENTION: Final[Mapping[str, Any]] = {
    "delay": ["25 ms", "50 ms"],
    "collision": 0.01,
    "timer": "100 ms",
}
"""wimax-2009 §5.1."""


class Variant(NamedTuple):
    """What is changed of the choices of README.md: entries by the part that they go into.

    Parameters
    ----------
    about : str
        What it is, for people.
    link, request, grant, tcp : mapping
        Entries of the link, of its request, of grants ahead, of TCP.
    stations : int
        How many, each with a download of its own.
    """

    about: str
    link: Mapping[str, Any] = {}
    request: Mapping[str, Any] = {}
    grant: Mapping[str, Any] = {}
    tcp: Mapping[str, Any] = {}
    stations: int = 1


AS_CHOSEN: Final = Variant("as chosen")


class Case(NamedTuple):
    """A download at one station.

    Parameters
    ----------
    policy : str
        ``uni``, ``blind-bi`` or ``adapt-bi``.
    base_rtt_ms : int
        RTT_min, ms.
    loss : float
        Probability that a data packet is destroyed, without HARQ and ARQ; 0: with both, nothing is
        lost.
    per : str
        Who asks: each ``packet``, or a ``queue`` for all that waits.
    variant : str
        Names what an item changes; empty for the choices of README.md.
    record : tuple of str
        Series to record.
    """

    policy: str
    base_rtt_ms: int = 100
    loss: float = 0.0
    per: str = "packet"
    variant: str = ""
    record: tuple[str, ...] = ()


def places(base_rtts_ms: Sequence[int] = BASE_RTTS_MS) -> dict[tuple[int, str], Case]:
    """Return the cells of Table 2 by RTT_min, ms, and policy."""
    return {(rtt, policy): Case(policy, rtt) for rtt in base_rtts_ms for policy in POLICIES}


LOSSES: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05)
"""p of Fig. 7; the paper gives its ends."""

RULES: Final = {"packet": "UNI, requests per packet", "queue": "UNI, requests per queue"}
"""UNI under both rules of requests."""

CURVES: Final[Mapping[str, Sequence[Case]]] = {
    RULES["packet"]: [Case("uni", loss=loss) for loss in LOSSES],
    RULES["queue"]: [Case("uni", loss=loss, per="queue") for loss in LOSSES],
    # What arrives is recorded: duplicate ACKs are counted.
    "blind-BI": [Case("blind-bi", loss=loss, record=("seq_received",)) for loss in LOSSES],
    "adapt-BI": [Case("adapt-bi", loss=loss) for loss in LOSSES],
}
"""The cells of Fig. 7 by curve, in the order of p."""


def grant_of(policy: str, entries: Mapping[str, Any] | None = None) -> ap.grant.GrantPolicy:
    """Return a policy by name, with entries for those that grant ahead."""
    if policy == "uni":
        return ap.grant.Uni()
    kind: Any = {
        "blind-bi": ap.grant.BlindBi,
        "adapt-bi": ap.grant.AdaptBi,
        "unsolicited": ap.grant.Unsolicited,
    }[policy]
    found: ap.grant.GrantPolicy = kind(**(entries or {}))
    return found


def large_queue() -> ap.aqm.DropTail:
    """Return a queue that never overflows here."""
    return ap.aqm.DropTail(limit="10000 packets")


def recovery(loss: float) -> dict[str, Any]:
    """Return what repairs losses: HARQ and ARQ; with losses for TCP to see, neither.

    A packet of data is one MPDU in both, so that it is repeated or lost as a whole, as the paper
    emulates it, whatever its place in a frame.
    """
    whole = {"fragmentation": {"down": False, "up": True}}
    if loss:
        return {"errors": ap.frame_errors.Independent(loss=loss), **whole}
    harq = ap.link.Harq(attempts=4, error=ATTEMPT_ERROR, round_trip="30 ms")
    return {"harq": harq, "arq": ap.link.Arq(delay="100 ms"), **whole}


def download(base_rtt_ms: float, tcp: Mapping[str, Any], **more: Any) -> ap.traffic.Tcp:
    """Return a download whose wired delays are on the server's side of the link, half each way."""
    half = ap.Wire(delay=f"{base_rtt_ms / 2:g} ms")
    same: dict[str, Any] = {"cc": "newreno", "start": FRAME, **more}
    return ap.traffic.Tcp(access=half, return_wire=half, tcp=dict(tcp), **same)


def build(case: Case, effort: Effort, variant: Variant = AS_CHOSEN) -> ap.Scenario:
    """Return the scenario of a case with the entries of a variant.

    Parameters
    ----------
    case : Case
        Which; what it says about a variant is not looked at.
    effort : Effort
        How long it is simulated at most.
    variant : Variant
        What is changed. Default: nothing.
    """
    request = ap.request.RandomDelay(**{**CONTENTION, "per": case.per, **variant.request})
    link: dict[str, Any] = {
        "stations": variant.stations,
        "request": request,
        "grant": grant_of(case.policy, variant.grant),
        **recovery(case.loss),
    }
    tcp = {**TCP, **variant.tcp}
    return ap.Scenario(
        name=f"wimax {case.policy}",
        duration=effort.duration_s,
        bottleneck=ap.Bottleneck(
            aqm=large_queue(), link=ap.link.OfdmaTdd(**{**link, **variant.link})
        ),
        ack_path=ap.ack_path.Reverse(aqm=large_queue()),
        flows=[download(case.base_rtt_ms, tcp, size=f"{OBJECT_BYTES} B", count=variant.stations)],
        record=ap.Record(series=list(case.record)),
    )
