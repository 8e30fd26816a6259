"""Scenarios: the paper's cell with other components, saturated users, a link of constant rate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import airpath as ap
from airpath.reproduction.base import Effort
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.clamp.scenarios import NEWRENO, cell, radio_of, saturated
from airpath_papers.clamp.sweeps import SWEEPS as OF_PAPER

from .today import today

__all__ = ["PARTS_S", "RETURN_S", "SWEEPS"]

LARGE: Final = ap.aqm.DropTail(limit="6 MB")

# --- schedulers --------------------------------------------------------------------------------

AT_50_MS: Final = {
    ("fast", "CLAMP"): 7000,
    ("fast", "New Reno"): 18_500,
    ("slow", "CLAMP"): 17_500,
    ("slow", "New Reno"): 31_500,
}
"""Values of CLAMP's a and of New Reno's buffer, bytes, for a mean delay of about 50 ms."""

SCHEDULERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "proportional-fair": {},
    "max-rate": {"scheduler": ap.scheduler.MaxRate()},
    "alpha-0.5": {"scheduler": ap.scheduler.AlphaFair(alpha=0.5)},
    "alpha-2": {"scheduler": ap.scheduler.AlphaFair(alpha=2)},
    "round-robin": {"scheduler": ap.scheduler.RoundRobin()},
}
"""Parameters of the cell by name of the scheduler."""


def scheduled(spread: str, scheduler: str, speed: str, protocol: str) -> ap.Scenario:
    """Return the paper's cell with a scheduler and with equal or ``unequal`` (3 dB apart) SNRs."""
    link = dict(SCHEDULERS[scheduler])
    if spread == "unequal":
        fading = [
            ap.snr.Jakes(mean=mean, doppler=radio_of(speed).doppler)
            for mean in ("9 dB", "6 dB", "3 dB")
        ]
        link["users"] = [ap.link.CellUser(user=user, snr=snr) for user, snr in enumerate(fading)]
    return cell(speed, protocol, knob_bytes=AT_50_MS[speed, protocol], link=link)


# --- a link of constant rate -------------------------------------------------------------------

PARTS_S: Final = (0.0, 60.0, 120.0, 180.0, 240.0)
"""Start times of the parts of ``joins``, and end time, s."""

WINDOW_LIMIT_BYTES: Final = 12_328.0
"""Limit of the window, √(2 α τ s)/π with the paper's values: see models/clamp-fluid.md."""

RATE_BPS: Final = 10e6
RETURN_S: Final = 100.0
"""Time at which the shared link becomes the first flow's bottleneck in ``returns``, s."""


def on_link(
    study: str, flows: int, sender: bool = False, amount: float = 0.0, headroom: float = 0.0
) -> ap.Scenario:
    """Return a scenario of CLAMP on a link of constant rate.

    Parameters
    ----------
    study : str
        ``equilibrium``: flows from start to end. ``joins``: first 1, then 3, 8 and 3 flows.
        ``elsewhere``: the first flow has an access link of 1 Mbit/s. ``returns``: the first flow
        has an access link of 4 Mbit/s and is the only flow until 100 s. ``window``: two flows with
        windows of `amount` times `WINDOW_LIMIT_BYTES`.
    flows : int
        Number of flows.
    sender : bool
        Whether CLAMP runs at the sender instead of the receiver.
    amount : float
        ``joins``: target of the mean delay, s; 0 for a fixed a of 5500 B. ``window``: see above.
    headroom : float
        At the sender: upper bound of the ratio of the price's window to New Reno's; 0 for no bound.
    """
    same: dict[str, Any] = {"cc": "newreno", "tcp": NEWRENO}
    if headroom:
        same["cc"] = ap.cc.Clamp(headroom=headroom)
    elif sender:
        same["cc"] = "clamp"
    else:
        same["window"] = ap.window.Clamp()
    rtt_s = 0.05
    if study == "window":
        sent = flows * amount * WINDOW_LIMIT_BYTES * 1500 / 1460
        rtt_s = (sent - 5500 - 500 * flows) / (RATE_BPS / 8)
    queue = ap.aqm.Clamp(a="5500 B", inner=LARGE)
    if study == "joins" and amount:
        queue = ap.aqm.Clamp(target_delay=f"{amount * 1e3:g} ms", inner=LARGE)
    return ap.Scenario(
        name=f"clamp {study}",
        duration="300 s",
        bottleneck=ap.Bottleneck(aqm=queue, link=ap.link.Fixed(rate=f"{RATE_BPS:.0f} bit/s")),
        flows=_flows(study, flows, same, f"{1e3 * rtt_s:.3f} ms"),
    )


def _flows(study: str, flows: int, same: Mapping[str, Any], rtt: str) -> list[ap.traffic.Tcp]:
    near = {**same, "base_rtt": rtt}
    match study:
        case "joins":
            _, second, third, fourth, end = PARTS_S
            spans = [(0.0, end), *2 * [(second, end)], *5 * [(third, fourth)]]
            return [ap.traffic.Tcp(start=start, stop=stop, **near) for start, stop in spans]
        case "elsewhere":
            return [
                _far_away("1 Mbit/s", same),
                *(ap.traffic.Tcp(**near) for _ in range(flows - 1)),
            ]
        case "returns":
            later = [ap.traffic.Tcp(start=RETURN_S, **near) for _ in range(flows - 1)]
            return [_far_away("4 Mbit/s", same), *later]
        case _:
            return [ap.traffic.Tcp(**near) for _ in range(flows)]


def _far_away(rate: str, same: Mapping[str, Any]) -> ap.traffic.Tcp:
    """Return a flow whose bottleneck is its access link."""
    slow = ap.Wire(rate=rate, delay="25 ms", limit="30 kB")
    return ap.traffic.Tcp(**same, access=slow, return_wire=ap.Wire(delay="25 ms"))


# --- HARQ --------------------------------------------------------------------------------------


def combined(fast: bool, harq: str, margin: float) -> ap.Scenario:
    """Return a scenario of three saturated users with a fixed margin and a HARQ combining method.

    Parameters
    ----------
    fast : bool
        Whether the speed is 10 m/s instead of 0.1 m/s.
    harq : str
        ``off``, ``chase`` or ``incremental``.
    margin : float
        Margin m of Eq. 18.
    """
    link = {"harq": harq, "margin": margin, "attempts": 15}
    return saturated("fast" if fast else "slow", link=link)


class _Sweeps(Sweeps):
    """Sweeps in which each point of `combined` has one run of at most 600 s."""

    def effort_of(self, cell: SweepPoint, effort: Effort) -> Effort:
        if cell.scenario == combined.__name__:
            shorter = min(effort.duration_s - effort.warmup_s, 600.0)
            return Effort(replications=1, duration_s=shorter + 20.0, warmup_s=20.0)
        return super().effort_of(cell, effort)


SWEEPS: Final = _Sweeps(Path(__file__).parent, on_link, combined, scheduled, today, parent=OF_PAPER)
