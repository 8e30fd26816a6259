"""Figs. 1 and 2 from simulated runs: requests of two ACKs; one stage (wimax-2009 §2.2, §3.1)."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from airpath.present import style as plotting
from airpath.reproduction.base import Table
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.claims import SWEEPS
from airpath_papers.wimax.scenarios import FRAME_MS, MODEL_SEGMENT, at_ms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RANGED", "TIMELINES", "TwoAcks", "find_two_acks", "messages"]

[RANGED] = SWEEPS.cells("fig1")
[STAGED] = SWEEPS.cells("fig2")

# --- Fig. 1 ------------------------------------------------------------------------------------

SERVER_MS: Final = 50.0
"""Wired delay of each direction in ``ranging.toml``."""


class TwoAcks(NamedTuple):
    """Two consecutive ACKs of a run.

    Parameters
    ----------
    arrivals : tuple of float
        Arrival times at the station, ms.
    frames : tuple of int
        Frames in which the ACKs are sent.
    """

    arrivals: tuple[float, float]
    frames: tuple[int, int]

    @property
    def received_ms(self) -> tuple[float, float]:
        """Times of reception, ms."""
        return at_ms("received", self.frames[0]), at_ms("received", self.frames[1])


def find_two_acks(session: Session) -> TwoAcks:
    """Return two ACKs of Fig. 1's run: the first contention that a piggyback request follows.

    Raises
    ------
    ValueError
        If there are no such ACKs.
    """
    times, levels = session.series(RANGED, "queue").of(1)
    changes = zip(1e3 * times, np.diff(levels, prepend=0.0), strict=True)
    arrivals = [float(time) for time, change in changes if change > 0]
    # Each ACK gives an RTT sample on arrival at the sender.
    samples = 1e3 * session.series(RANGED, "rtt").of(0)[0] - SERVER_MS
    frames = sorted({round(float(each - at_ms("received")) / FRAME_MS) for each in samples})
    closings = [at_ms("closed", frame) for frame in frames]
    for at in range(1, len(frames) - 1):
        waiting = [each for each in arrivals if closings[at - 1] < each < closings[at]]
        steps = messages(frames[at], frames[at + 1])
        # The station's queue was empty, it sent a code, and it had more than the first grant
        # covered.
        if len(waiting) > 1 and waiting[0] < steps[0].sent_ms and frames[at + 1] < frames[at] + 4:
            return TwoAcks((waiting[0], waiting[-1]), (frames[at], frames[at + 1]))
    raise ValueError("no two ACKs of this run are as in Fig. 1")


class Message(NamedTuple):
    """A message from one end to the other: times, ms, direction and name."""

    sent_ms: float
    received_ms: float
    upwards: bool
    name: str


def _map_after(frame: int) -> int:
    """Return the first frame whose map can depend on the uplink of `frame`."""
    return frame + ceil(at_ms("received") / FRAME_MS)


def messages(first: int, second: int) -> list[Message]:
    """Return the messages of both requests by the link's timing, given the frames of the ACKs."""

    def up(frame: int, name: str) -> Message:
        return Message(at_ms("closed", frame), at_ms("received", frame), True, name)

    def down(frame: int, name: str) -> Message:
        return Message(frame * FRAME_MS, at_ms("decoded", frame), False, name)

    # Frames from a request to its grant; a map grants in the next frame.
    apart = _map_after(0) + 1
    code, header = first - 2 * apart, first - apart
    return [
        up(code, "1 ranging code"),
        down(_map_after(code), "2 allocation"),
        up(header, "3 request header"),
        down(_map_after(header), "4 grant"),
        up(first, "ACK 1, piggyback request"),
        down(second - 1, "grant"),
        up(second, "ACK 2"),
    ]


def _draw1(session: Session) -> Figure:
    found = find_two_acks(session)
    start = FRAME_MS * (found.frames[0] - 2 * _map_after(0) - 4)
    figure = plotting.new_figure(11.0, 4.6)
    panel: Any = figure.subplots()
    # The station is plotted at 0, the base station at 1.
    for number, message in enumerate(messages(*found.frames)):
        colour = plotting.COLOURS["orange" if number < 4 else "blue"]
        tip = (message.received_ms - start, float(message.upwards))
        tail = (message.sent_ms - start, float(not message.upwards))
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.6}
        panel.annotate("", xy=tip, xytext=tail, arrowprops=arrow)
        height = 1.07 if message.upwards else -0.12
        where = {"ha": "center", "va": "center", "fontsize": 8.5, "color": colour}
        panel.text(tip[0], height, message.name.replace(", ", ",\n"), **where)
    line = {"arrowstyle": "-", "color": plotting.COLOURS["grey"]}
    for number, arrival in enumerate(found.arrivals, 1):
        place = arrival - start
        panel.plot([place], [0.0], "o", color=plotting.COLOURS["black"], zorder=5)
        label = (f"ACK {number} arrives", (place, 0.0), (place, -0.3))
        panel.annotate(*label, ha="center", arrowprops=line)
    panel.set_yticks([0.0, 1.0], ["station", "base station"])
    end = FRAME_MS * (found.frames[1] + 2) - start
    panel.set_xticks(np.arange(0.0, end + 0.1, FRAME_MS))
    panel.set(xlim=(0, end), ylim=(-0.4, 1.25), xlabel="time, ms; a frame begins at each mark")
    panel.grid(visible=True, axis="x")
    return figure


def _legend1(session: Session) -> str:
    found = find_two_acks(session)
    waits = [end - begin for begin, end in zip(found.arrivals, found.received_ms, strict=True)]
    return (
        f"From arrival at the station to reception: {waits[0]:.1f} ms by contention, "
        f"{waits[1]:.1f} ms by piggyback. Arrivals and bursts are the run's; the steps between are "
        "the frames that the link's clock gives. A piggyback request is received with its burst, "
        "and answered by the next map."
    )


def _found1(session: Session, _title: str) -> Found:
    if not session.finished(RANGED):
        return [], []
    found = find_two_acks(session)
    lines = [
        [name, "up" if upwards else "down", f"{sent_ms:.1f}", f"{received_ms:.1f}"]
        for sent_ms, received_ms, upwards, name in messages(*found.frames)
    ]
    columns = [("", ""), ("", ""), ("ms", "sent"), ("ms", "received")]
    shown = ", ".join(f"{each:.1f}" for each in found.arrivals)
    notes = [f"The ACKs arrive at the station at {shown} ms."]
    return [], [Table("Fig. 1", columns, lines, notes)]


# --- Fig. 2 ------------------------------------------------------------------------------------

STAGE: Final = 5
"""Plotted stage: 16 packets."""


def _draw2(session: Session) -> Figure:
    times: dict[str, Any] = {}
    for name in STAGED.series:
        when, numbers = session.series(STAGED, name).of(0)
        packets = np.rint(numbers / MODEL_SEGMENT).astype(int)
        times[name] = dict(zip(packets.tolist(), (1e3 * when).tolist(), strict=True))
    first, following = 2 ** (STAGE - 1) - 1, 2**STAGE - 1
    start = times["seq_sent"][first]
    sent, received = ({n: at - start for n, at in found.items()} for found in times.values())
    figure = plotting.new_figure(10.4, 5.0)
    panel: Any = figure.subplots()
    together = Counter((sent[n], received[n]) for n in range(first, following))
    for ends, count in together.items():
        panel.plot(ends, [1.0, 0.0], color=plotting.COLOURS["blue"], lw=0.6 + 0.6 * count)
        panel.text(ends[1], -0.05, str(count), ha="center", va="center", fontsize=9)
    next_one = [sent[following], received[following]]
    panel.plot(next_one, [1.0, 0.0], color=plotting.COLOURS["red"], lw=1.2)
    for number in range(first, following):
        # In slow start, an ACK releases two packets, whose times show the arrival of the ACK.
        ack = [received[number], sent[2 * number + 1]]
        panel.plot(ack, [0.0, 1.0], "--", color=plotting.COLOURS["grey"], lw=0.8)
    last, end = received[following - 1], received[following]
    _span(panel, (0.0, sent[following]), 1.08, "RTT(k), sender")
    _span(panel, (received[first], end), -0.16, "RTT(k), receiver")
    _span(panel, (last, end), -0.28, f"t_idle(k), {end - last:.1f} ms")
    panel.set_yticks([0.0, 1.0], ["receiver", "sender"])
    panel.set(ylim=(-0.42, 1.22), xlabel="time from the stage's first packet, ms")
    return figure


LEGEND2: Final = (
    f"T_ct 30 ms, RTT_min 100 ms, stage {STAGE} with {2 ** (STAGE - 1)} packets. Data blue, ACKs "
    "dashed, the next stage red. A frame carries several packets: their number is below the line "
    "that they share."
)


def _span(panel: Axes, ends: tuple[float, float], height: float, name: str) -> None:
    arrow = {"arrowstyle": "<->", "color": plotting.COLOURS["black"], "lw": 1.0}
    panel.annotate("", xy=(ends[1], height), xytext=(ends[0], height), arrowprops=arrow)
    where: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 9}
    panel.text(sum(ends) / 2, height + 0.01, name, **where)


TIMELINES: Final = {
    "fig1": item_of(WIMAX, "fig1", [RANGED], _found1, _draw1, _legend1),
    "fig2": item_of(WIMAX, "fig2", [STAGED], lambda _s, _title: ([], []), _draw2, LEGEND2),
}
"""Cells and evaluation of each item."""
