"""Scenarios: one path (``scenario.toml``), varied by the axes of ``sweeps.toml``.

README.md lists every value that the paper does not specify.
"""

from __future__ import annotations

from typing import Any, Final

import airpath as ap
from airpath_papers.paths import SBD
from airpath_papers.sbd.data import BEARERS, BUFFER, DROP_TAIL, Setting, setting_at

__all__ = ["PATH", "SWITCH_S", "path"]

PATH: Final = ap.load(SBD / "scenario.toml")

SWITCH_S: Final = 50.0
"""Time at which the bearer changes from 384 to 128 kbit/s, s (sbd-2006 §6)."""


def path(
    bearer: int,
    flows: int,
    aqm: str = "drop-tail",
    *,
    table: int = 0,
    setting_for: int = 0,
    t_r_ms: int | str = 0,
    maxp: float | str = 0.0,
    minth: int | str = 0,
    alpha: int = 5,
    size: int = BUFFER,
    weight: float = 0.0,
    switch: bool = False,
    size_kb: int = 0,
    newcomer_s: float = 0.0,
) -> ap.Scenario:
    """Return the path with a bearer and its queue discipline.

    Parameters
    ----------
    bearer : int
        Nominal rate, kbit/s.
    flows : int
        Number of flows.
    aqm : str
        ``drop-tail``, ``SBD`` or ``RED``. Further words, which claims use, select the setting:
        ``SBD reconfigured`` has the proposed settings by rate.
    table : int
        Table of the setting, 2 to 5. Default: the proposal, Table 3 or 5.
    setting_for : int
        Bearer of the setting, kbit/s. Default: `bearer`.
    t_r_ms, maxp, minth : number or str
        T_r in ms, maxp, and minth in SDUs, as for `data.setting_at`. Default: the values of the
        table.
    alpha : int
        Parameter α of SBD, SDUs (sbd-2006 §5).
    size : int
        Drop-tail buffer, SDUs.
    weight : float
        Weight w_q of RED (Floyd and Jacobson 1993). Default: RED at the RLC buffer, on the
        instantaneous occupancy.
    switch : bool
        Whether the bearer falls to 128 kbit/s at `SWITCH_S`.
    size_kb : int
        Payload of each flow, kB. Default: unlimited.
    newcomer_s : float
        Start of the last flow, s. Default: as the other flows.
    """
    named = {"table": table, "setting_for": setting_for, "minth": minth, "t_r_ms": t_r_ms}
    setting = setting_at({"bearer": bearer, "aqm": aqm, "maxp": maxp, **named})
    early = flows - bool(newcomer_s)
    [flow] = PATH.flows
    first: dict[str, Any] = {"count": early}
    if early > 1:
        first["start"] = {"uniform": ["0 s", "0.5 s"]}
    if size_kb:
        first["size"] = f"{size_kb} kB"
    flow_groups = [flow.model_copy(update=first)]
    if newcomer_s:
        flow_groups.append(flow.model_copy(update={"count": 1, "start": f"{newcomer_s} s"}))
    queue: ap.aqm.QueueDisc = ap.aqm.DropTail(limit=f"{size} packets")
    if setting != DROP_TAIL:
        queue = _queue(setting, alpha, weight, by_rate=aqm.endswith("reconfigured"))
    link = PATH.bottleneck.link.model_copy(update={"rate": f"{bearer} kbit/s"})
    return PATH.model_copy(
        update={
            "name": f"sbd {bearer} kbit/s",
            "bottleneck": PATH.bottleneck.model_copy(update={"aqm": queue, "link": link}),
            "flows": flow_groups,
            "control": [{"at": f"{SWITCH_S} s", "rate": "128 kbit/s"}] if switch else [],
        }
    )


def _queue(setting: Setting, alpha: int, weight: float, *, by_rate: bool) -> ap.aqm.QueueDisc:
    """Return SBD or RED at the RLC buffer, with a setting, or with the proposed settings by rate.

    With a `weight`: RED of Floyd and Jacobson 1993, on the average occupancy.
    """
    kind, entries = setting.kind, _entries(setting)
    if weight:
        averaged = {"weight": weight, "gentle": False, "wait": False, **entries}
        return ap.aqm.Red(limit=BUFFER, max_th=BUFFER, **averaged)
    if by_rate:
        proposed = {rate: _entries(setting_at({"aqm": kind, "bearer": rate})) for rate in BEARERS}
        entries = {"by_rate": [{"rate": f"{rate} kbit/s", **of} for rate, of in proposed.items()]}
    if kind == "SBD":
        return ap.aqm.Sbd(alpha=alpha, **entries)
    return ap.aqm.RlcRed(drop="front", count=False, **entries)  # README.md


def _entries(setting: Setting) -> dict[str, Any]:
    if setting.kind == "SBD":
        return {"min_th": setting.min_th, "reaction_time": f"{setting.strength:g} ms"}
    return {"min_th": setting.min_th, "max_p": setting.strength}
