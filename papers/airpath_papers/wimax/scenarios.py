"""Scenarios: ``download.toml``, ``model.toml``, and their variations by axes of sweeps.toml.

README.md lists every value that the paper does not specify.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import airpath as ap
from airpath_papers.paths import WIMAX

__all__ = [
    "CURVES",
    "FRAME_MS",
    "MODEL_SEGMENT",
    "MODEL_WINDOW",
    "OBJECT_BYTES",
    "PATH",
    "SEGMENT",
    "at_ms",
    "crowd",
    "download",
    "grant_of",
    "model",
    "of_server",
    "on_link",
    "recovery",
]

PATH: Final = ap.load(WIMAX / "download.toml")
MODEL: Final = ap.load(WIMAX / "model.toml")

OBJECT_BYTES: Final = 1_048_576
SEGMENT: Final = 1500
"""MSS, bytes (wimax-2009 §5.1)."""

MODEL_SEGMENT: Final = 1000
MODEL_WINDOW: Final = 64
"""MSS, bytes, and W_max, packets, of the model (wimax-2009 §3.2)."""

ATTEMPT_ERROR: Final = 0.316
"""Share of HARQ attempts that fail: the fourth root of 1 % (wimax-2009 §5.1)."""

_LINK: Final = ap.link.OfdmaTdd()
FRAME_MS: Final = int(_LINK.frame) / 1e6


def at_ms(instant: str, frame: int = 0) -> float:
    """Return the time of an event in a frame, ms: ``decoded``, ``closed`` or ``received``."""
    return frame * FRAME_MS + int(getattr(_LINK, instant)) / 1e6


CURVES: Final[Mapping[str, tuple[str, str]]] = {
    "UNI, requests per packet": ("uni", "packet"),
    "UNI, requests per queue": ("uni", "queue"),
    "blind-BI": ("blind-bi", "packet"),
    "adapt-BI": ("adapt-bi", "packet"),
}
"""Curves of Fig. 7: policy, and scope of a request (a packet or the queue)."""

# --- parts of scenarios ------------------------------------------------------------------------


def grant_of(policy: str, **entries: Any) -> ap.grant.GrantPolicy:
    """Return a grant policy by name; `entries` are parameters of policies with proactive grants."""
    if policy == "uni":
        return ap.grant.Uni()
    ahead: Any = {"blind-bi": ap.grant.BlindBi, "adapt-bi": ap.grant.AdaptBi}
    found: ap.grant.GrantPolicy = ahead.get(policy, ap.grant.Unsolicited)(**entries)
    return found


def recovery(loss: float) -> dict[str, Any]:
    """Return the link's retransmission entries: HARQ and ARQ; neither, if TCP has to see losses.

    In both cases a data packet is one MPDU. It is therefore retransmitted or lost as a unit, as in
    the paper's emulation, regardless of its position in a frame.
    """
    whole = {"fragmentation": {"down": False, "up": True}}
    if loss:
        return {"errors": ap.frame_errors.Independent(loss=loss), **whole}
    harq = ap.link.Harq(attempts=4, error=ATTEMPT_ERROR, round_trip="30 ms")
    return {"harq": harq, "arq": ap.link.Arq(delay="100 ms"), **whole}


def of_server(base_rtt_ms: float, scenario: ap.Scenario = PATH, **more: Any) -> Any:
    """Return the scenario's download with wired delays at the server, half in each direction."""
    half = ap.Wire(delay=f"{base_rtt_ms / 2:g} ms")
    return scenario.flows[0].model_copy(update={"access": half, "return_wire": half, **more})


def on_link(link: ap.link.Link, *flows: Any, scenario: ap.Scenario = PATH) -> ap.Scenario:
    """Return a scenario with another link and other flows."""
    bottleneck = scenario.bottleneck.model_copy(update={"link": link})
    return scenario.model_copy(update={"bottleneck": bottleneck, "flows": list(flows)})


# --- scenarios ---------------------------------------------------------------------------------


def download(
    policy: str = "uni",
    base_rtt_ms: int = 100,
    loss: float = 0.0,
    per: str = "packet",
    *,
    curve: str = "",
    when: str = "",
    stations: int = 1,
    radio_m: int = 0,
) -> ap.Scenario:
    """Return a scenario with a download at each station.

    Parameters
    ----------
    policy : str
        ``uni``, ``blind-bi`` or ``adapt-bi``.
    base_rtt_ms : int
        RTT_min, ms.
    loss : float
        Loss probability of data packets, without HARQ and ARQ. Default 0: with HARQ and ARQ, and no
        losses.
    per : str
        Scope of a request: one ``packet``, or the ``queue``.
    curve : str
        Curve of Fig. 7, which sets `policy` and `per`. Default: none.
    when : str
        Timing of proactive grants. Default: the link's default.
    stations : int
        Number of stations.
    radio_m : int
        Distance over the radio of §5.1, m; the radio causes the errors. Default: no radio.
    """
    policy, per = CURVES.get(curve, (policy, per))
    link: Any = PATH.bottleneck.link
    changed: dict[str, Any] = {
        "stations": stations,
        "request": link.request.model_copy(update={"per": per}),
        "grant": grant_of(policy, **({"when": when} if when else {})),
        **recovery(loss),
    }
    if radio_m:
        adaptation = ap.policy.Tagla(th_per=ATTEMPT_ERROR)
        changed["radio"] = ap.link.Radio(distance=f"{radio_m} m", policy=adaptation)
        changed["harq"] = ap.link.Harq(attempts=4, round_trip="30 ms")
        changed["fragmentation"] = {"down": True, "up": True}
    flow = of_server(base_rtt_ms, size=f"{OBJECT_BYTES} B", count=stations)
    return on_link(link.model_copy(update=changed), flow)


FRAMES_MS: Final = FRAME_MS / 2 + at_ms("decoded") + (FRAME_MS / 2 + at_ms("received", 1))
"""Share of the frames in a round trip, ms.

Downlink: wait for a frame, and decoding. Uplink: wait for the next map, which grants in the
following frame, and reception of the burst in that frame.
"""


def model(contention_ms: float, base_rtt_ms: float, loss: float, size_kb: int) -> ap.Scenario:
    """Return the scenario of the model over the link (wimax-2009 §3.2).

    RTT_min of the model includes the frames: the mean waiting times for frames, and the offsets
    from their start, are subtracted from the wired delays. T_pb results only from the frames,
    because T_pb is the complete delay that a piggyback request causes (Eqs. 4 and 5).

    Parameters
    ----------
    contention_ms, base_rtt_ms : float
        Parameters T_ct and RTT_min, ms.
    loss : float
        Loss probability p_e.
    size_kb : int
        Object size L, kB of 1000 bytes.
    """
    link: Any = MODEL.bottleneck.link
    delay = {"delay": f"{contention_ms:g} ms"}
    changed: dict[str, Any] = {"request": link.request.model_copy(update=delay)}
    if loss:
        changed["errors"] = ap.frame_errors.Independent(loss=loss)
    flow = of_server(base_rtt_ms - FRAMES_MS, MODEL, size=f"{size_kb} kB")
    return on_link(link.model_copy(update=changed), flow, scenario=MODEL)


def crowd(
    policy: str,
    stations: int = 1,
    *,
    cc: str = "newreno",
    upload: bool = False,
    codes: int = 8,
    size_kb: int = 0,
) -> ap.Scenario:
    """Return a scenario of a download per station: ranging, 64 KB windows, 64QAM 5/6 downlink.

    Parameters
    ----------
    policy, cc : str
        Grant policy, as for `download`, and congestion control.
    stations : int
        Number of stations.
    upload : bool
        Whether each station also has a bulk flow in the uplink.
    codes : int
        Number of ranging codes.
    size_kb : int
        Size of the transfers, kB. Default: unlimited.
    """
    same: dict[str, Any] = {"count": stations, "cc": cc}
    if not size_kb:
        same["start"] = {"uniform": ["0 s", "1 s"]}
    size: dict[str, Any] = {"size": f"{size_kb} kB"} if size_kb else {}
    flows = [of_server(100, tcp={}, **same, **size)]
    if upload:
        flows.append(ap.traffic.Tcp(direction="reverse", egress=ap.Wire(delay="100 ms"), **same))
    link = ap.link.OfdmaTdd(
        stations=stations,
        downlink_mcs="64qam-5/6",
        request=ap.request.Ranging(codes=codes),
        grant=grant_of(policy),
    )
    return on_link(link, *flows)
