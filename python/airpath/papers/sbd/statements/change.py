"""What the text says about a bearer that falls from 384 to 128 kbit/s (sbd-2006 §2 and §6)."""

from __future__ import annotations

from typing import Final

from airpath.papers.kit.base import Statement
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import known, spec
from airpath.papers.sbd.data import Aqm, DropTail
from airpath.papers.sbd.measures import both_timed_out, delay_s, overflows, rtt_s
from airpath.papers.sbd.scenarios import SWITCH_S, ByRate, Case, Use
from airpath.papers.sbd.statements.common import is_less, red_proposed, sbd_proposed

__all__ = ["DROP_TAIL_TRACE", "RECONFIGURATION", "SWITCHED_CELLS", "changed", "switched"]

AFTER_S: Final = 15.0
RUNS: Final = 60
SWITCHED: Final = Use(
    duration_s=SWITCH_S + AFTER_S, warmup_s=SWITCH_S, replications=RUNS, switch=True
)


def switched() -> dict[str, Case]:
    """Return the 15 s after the change, by what manages the buffer."""
    aqms: dict[str, Aqm | ByRate] = {
        "drop-tail": DropTail(),
        "SBD as for 384": sbd_proposed(384),
        "SBD reconfigured": ByRate("sbd"),
        "RED as for 384": red_proposed(384),
        "RED reconfigured": ByRate("red"),
    }
    return {name: Case(384, 2, aqm, use=SWITCHED) for name, aqm in aqms.items()}


SWITCHED_CELLS: Final = list(switched().values())


def changed(session: Session) -> tuple[dict[str, float], dict[str, float], list[str]]:
    """Return overflow drops and delays after the change, and both as lines."""
    cases = switched()
    lost = {name: known(session, case, overflows).mean for name, case in cases.items()}
    delays = {name: known(session, case, delay_s).mean for name, case in cases.items()}
    lines = [
        f"{name}: {lost[name]:.2f} overflow drops, delay {delays[name]:.2f} s" for name in cases
    ]
    return lost, delays, lines


def _reconfiguration(session: Session) -> Statement:
    lost, delays, lines = changed(session)
    holds = all(
        lost[f"{aqm} reconfigured"] <= 0.1 * lost["drop-tail"]
        and delays[f"{aqm} reconfigured"] < delays[f"{aqm} as for 384"]
        for aqm in ("SBD", "RED")
    )
    return Statement(
        "reconfiguration",
        "Automatic reconfiguration avoids the overflow when the bearer drops from 384 to "
        "128 kbit/s (§6, §7, Figs. 14 and 15).",
        f"Two flows, the {AFTER_S:g} s after the change: reconfigured SBD and RED have at most a "
        "tenth of the overflow drops of drop-tail, and less delay than with the settings for "
        "384 kbit/s.",
        holds,
        lines,
        {name: {"overflows": lost[name], "delay_s": delays[name]} for name in lost},
    )


RECONFIGURATION = spec("reconfiguration", SWITCHED_CELLS, _reconfiguration)

# --- Fig. 2 ------------------------------------------------------------------------------------

START: Final = Case(384, 2, DropTail(), use=Use(duration_s=AFTER_S, replications=RUNS))
BEFORE: Final = Case(
    384, 2, DropTail(), use=Use(duration_s=SWITCH_S, warmup_s=SWITCH_S - AFTER_S, replications=RUNS)
)
AFTER: Final = switched()["drop-tail"]


def _share(found: list[bool]) -> float:
    return sum(found) / len(found)


def _drop_tail_trace(session: Session) -> Statement:
    several = [lost > 1 for lost in session.values(START, overflows)]
    timed_out = [count > 0 for count in session.values(START, both_timed_out)]
    start = _share([a and b for a, b in zip(several, timed_out, strict=True)])
    again = _share([lost > 0 for lost in session.values(AFTER, overflows)])
    longer = is_less(session, BEFORE, AFTER, delay_s)
    inflated = is_less(session, BEFORE, AFTER, rtt_s)
    delays = [known(session, case, delay_s).mean for case in (BEFORE, AFTER)]
    rtts = [known(session, case, rtt_s).mean for case in (BEFORE, AFTER)]
    return Statement(
        "drop-tail-trace",
        "With drop-tail several packets overflow at first and both sources time out; when the "
        "rate falls the buffer overflows again, and latency and RTT grow (§2, Fig. 2).",
        f"Two flows: in most of {RUNS} runs more than one SDU overflows in the first {AFTER_S:g} s "
        f"and both flows time out; in most some overflow in the {AFTER_S:g} s after the change; "
        f"delay and mean RTT are longer there than in the {AFTER_S:g} s before, the intervals of "
        "the differences run by run above 0.",
        start > 0.5 and again > 0.5 and longer and inflated,
        [
            f"first {AFTER_S:g} s: more than one overflow drop in {_share(several):.0%} of the "
            f"runs, both flows timed out in {_share(timed_out):.0%}, both of it in {start:.0%}",
            f"after the change: overflow in {again:.0%} of the runs; delay {delays[0]:.2f} to "
            f"{delays[1]:.2f} s, mean RTT {rtts[0]:.2f} to {rtts[1]:.2f} s",
        ],
        {"start": start, "again": again, "delay_s": delays, "rtt_s": rtts},
    )


DROP_TAIL_TRACE = spec("drop-tail-trace", [START, BEFORE, AFTER], _drop_tail_trace)
