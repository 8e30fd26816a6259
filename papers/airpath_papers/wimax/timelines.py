"""Figs. 1 and 2: requests of two ACKs, and one stage, both of real runs (wimax-2009 §2.2, §3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import airpath as ap
from airpath.present import style as plotting
from airpath.reproduction.base import Cell, Effort, ItemResult, Table
from airpath.reproduction.manifest import Evaluate, titles
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.analysis import SEGMENT_BYTES
from airpath_papers.wimax.scenarios import CLOCK, TCP, download, large_queue
from airpath_papers.wimax.validation import Validation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["TIMELINES", "Ranged", "build_ranged", "effort_of_ranged"]

BASE_RTT_MS: Final = 100.0


class Ranged(NamedTuple):
    """A download over the paper's link whose ACKs ask by ranging codes.

    Parameters
    ----------
    record : tuple of str
        Series to record.
    """

    record: tuple[str, ...] = ("queue", "rtt")


def effort_of_ranged(_case: Ranged) -> Effort:
    """Return how long the run is: one, as much as is shown."""
    return Effort(replications=1, duration_s=3.0, warmup_s=0.0)


def build_ranged(case: Ranged, effort: Effort) -> ap.Scenario:
    """Return the scenario: nothing is lost and nothing repeated."""
    link = ap.link.OfdmaTdd(request=ap.request.Ranging())
    return ap.Scenario(
        name="wimax ranging",
        duration=effort.duration_s,
        bottleneck=ap.Bottleneck(aqm=large_queue(), link=link),
        ack_path=ap.ack_path.Reverse(aqm=large_queue()),
        flows=[download(BASE_RTT_MS, TCP)],
        record=ap.Record(series=list(case.record)),
    )


# --- Fig. 1 ------------------------------------------------------------------------------------


class TwoAcks(NamedTuple):
    """What a run shows of two ACKs.

    Parameters
    ----------
    arrivals : tuple of float
        When they arrive at the station, ms.
    frames : tuple of int
        The frames in which they are sent.
    """

    arrivals: tuple[float, float]
    frames: tuple[int, int]

    @property
    def received_ms(self) -> tuple[float, float]:
        """When they are received, ms."""
        first, second = self.frames
        return (
            first * CLOCK.frame_ms + CLOCK.received_ms,
            second * CLOCK.frame_ms + CLOCK.received_ms,
        )


def find_two_acks(session: Session, cell: Ranged) -> TwoAcks:
    """Return two ACKs of the first contention of a run that is followed by a piggyback request.

    Raises
    ------
    ValueError
        If there is none.
    """
    times, levels = session.series(cell, "queue").of(1)
    changes = zip(1e3 * times, np.diff(levels, prepend=0.0), strict=True)
    arrivals = [float(time) for time, change in changes if change > 0]
    # An RTT sample for each ACK, as it comes to the sender.
    samples = 1e3 * session.series(cell, "rtt").of(0)[0] - BASE_RTT_MS / 2
    frames = sorted({round(float(each - CLOCK.received_ms) / CLOCK.frame_ms) for each in samples})
    closings = [frame * CLOCK.frame_ms + CLOCK.closed_ms for frame in frames]
    for at in range(1, len(frames) - 1):
        waiting = [each for each in arrivals if closings[at - 1] < each < closings[at]]
        steps = _steps(frames[at], frames[at + 1])
        # The station had nothing, asked by a code, and had more than its first grant was for.
        if len(waiting) > 1 and waiting[0] < steps[0].sent_ms and frames[at + 1] < frames[at] + 4:
            return TwoAcks((waiting[0], waiting[-1]), (frames[at], frames[at + 1]))
    raise ValueError("no two ACKs of this run are as in Fig. 1")


STATION: Final = 0.0
BASE: Final = 1.0
"""Places of the two ends in the figure."""


class Message(NamedTuple):
    """What is sent from one end to the other: when, ms, and what it is."""

    sent_ms: float
    received_ms: float
    upwards: bool
    name: str


def _map_after(frame: int) -> int:
    """Return the frame whose map knows what was received in the uplink of another."""
    return frame + ceil(CLOCK.received_ms / CLOCK.frame_ms)


def _steps(first: int, second: int) -> list[Message]:
    """Return the steps of both requests, given the frames of the bursts."""

    def up(frame: int, name: str) -> Message:
        start = frame * CLOCK.frame_ms
        return Message(start + CLOCK.closed_ms, start + CLOCK.received_ms, True, name)

    def down(frame: int, name: str) -> Message:
        start = frame * CLOCK.frame_ms
        return Message(start, start + CLOCK.decoded_ms, False, name)

    # A map grants in the next frame, so that a request and its grant are so many frames apart.
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


def messages(found: TwoAcks) -> list[Message]:
    """Return the steps of both requests, from the frames of the bursts and the link's clock."""
    return _steps(*found.frames)


def _draw1(session: Session, title: str) -> Figure:
    cell = RANGED
    found = find_two_acks(session, cell)
    start = CLOCK.frame_ms * (found.frames[0] - 2 * _map_after(0) - 4)
    figure = plotting.new_figure(11.0, 4.6)
    axes: Any = figure.subplots()
    for number, message in enumerate(messages(found)):
        ends = (STATION, BASE) if message.upwards else (BASE, STATION)
        colour = plotting.COLOURS["orange" if number < 4 else "blue"]
        places = [message.sent_ms - start, message.received_ms - start]
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.6}
        tip, tail = (places[1], ends[1]), (places[0], ends[0])
        axes.annotate("", xy=tip, xytext=tail, arrowprops=arrow)
        where = {"ha": "center", "fontsize": 8.5, "color": colour}
        height = BASE + 0.07 if message.upwards else STATION - 0.12
        axes.text(places[1], height, message.name.replace(", ", ",\n"), va="center", **where)
    for number, arrival in enumerate(found.arrivals, 1):
        place = arrival - start
        axes.plot([place], [STATION], "o", color=plotting.COLOURS["black"], zorder=5)
        axes.annotate(
            f"ACK {number} arrives",
            (place, STATION),
            (place, STATION - 0.3),
            ha="center",
            arrowprops={"arrowstyle": "-", "color": plotting.COLOURS["grey"]},
        )
    axes.set_yticks([STATION, BASE], ["station", "base station"])
    end = CLOCK.frame_ms * (found.frames[1] + 2) - start
    axes.set_xticks(np.arange(0.0, end + 0.1, CLOCK.frame_ms))
    axes.set(xlim=(0, end), ylim=(-0.4, 1.25), xlabel="time, ms; a frame begins at each mark")
    axes.grid(visible=True, axis="x")
    waits = [end - begin for begin, end in zip(found.arrivals, found.received_ms, strict=True)]
    about = (
        f"Park, Hu & Kim 2009 · one run, seed {session.seed}. From arrival at the station to "
        f"reception: {waits[0]:.1f} ms by contention, {waits[1]:.1f} ms by piggyback. Arrivals and "
        "bursts are the run's; the steps between are the frames that the link's clock gives. "
        "A piggyback request is heard as its burst is received, and answered by the next map."
    )
    plotting.heading(figure, title, about)
    return figure


# --- Fig. 2 ------------------------------------------------------------------------------------

STAGED: Final = Validation(30.0, 100.0, 0.0, 1000, record=("seq_sent", "seq_received"))
STAGE: Final = 5
"""The stage that is drawn: 16 packets."""


def _draw2(session: Session, title: str) -> Figure:
    times: dict[str, Any] = {}
    for name in ("seq_sent", "seq_received"):
        when, numbers = session.series(STAGED, name).of(0)
        packets = np.rint(numbers / SEGMENT_BYTES).astype(int)
        times[name] = dict(zip(packets.tolist(), (1e3 * when).tolist(), strict=True))
    sent, received = times["seq_sent"], times["seq_received"]
    first, following = 2 ** (STAGE - 1) - 1, 2**STAGE - 1
    start = sent[first]
    figure = plotting.new_figure(10.4, 5.0)
    axes: Any = figure.subplots()
    ways = Counter((sent[n] - start, received[n] - start) for n in range(first, following))
    for (leaves, comes), count in ways.items():
        look: dict[str, Any] = {"color": plotting.COLOURS["blue"], "lw": 0.6 + 0.6 * count}
        axes.plot([leaves, comes], [1.0, 0.0], **look)
        axes.text(comes, -0.05, str(count), ha="center", va="center", fontsize=9)
    next_one = [sent[following] - start, received[following] - start]
    axes.plot(next_one, [1.0, 0.0], color=plotting.COLOURS["red"], lw=1.2)
    for number in range(first, following):
        # In a slow start the ACK of a packet lets two go: these show when it came.
        places = [received[number] - start, sent[2 * number + 1] - start]
        axes.plot(places, [0.0, 1.0], "--", color=plotting.COLOURS["grey"], lw=0.8)
    last = received[following - 1] - start
    ends = [received[first] - start, received[following] - start]
    _span(axes, (0.0, sent[following] - start), 1.08, "RTT(k), sender")
    _span(axes, (ends[0], ends[1]), -0.16, "RTT(k), receiver")
    _span(axes, (last, ends[1]), -0.28, f"t_idle(k), {ends[1] - last:.1f} ms")
    axes.set_yticks([0.0, 1.0], ["receiver", "sender"])
    axes.set(ylim=(-0.42, 1.22), xlabel="time from the stage's first packet, ms")
    about = (
        f"Park, Hu & Kim 2009 · one run, seed {session.seed}: T_ct 30 ms, RTT_min 100 ms, stage "
        f"{STAGE} with {following - first} packets. Data blue, ACKs dashed, the next stage red. A "
        "frame carries several packets: their number stands below the line that they share."
    )
    plotting.heading(figure, title, about)
    return figure


def _span(axes: Axes, ends: tuple[float, float], height: float, name: str) -> None:
    arrow = {"arrowstyle": "<->", "color": plotting.COLOURS["black"], "lw": 1.0}
    axes.annotate("", xy=(ends[1], height), xytext=(ends[0], height), arrowprops=arrow)
    where: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 9}
    axes.text(sum(ends) / 2, height + 0.01, name, **where)


# --- the items ---------------------------------------------------------------------------------

RANGED: Final = Ranged()


def _table1(session: Session) -> Table:
    found = find_two_acks(session, RANGED)
    lines = [
        [name, "up" if upwards else "down", f"{sent_ms:.1f}", f"{received_ms:.1f}"]
        for sent_ms, received_ms, upwards, name in messages(found)
    ]
    columns = [("", ""), ("", ""), ("ms", "sent"), ("ms", "received")]
    shown = ", ".join(f"{each:.1f}" for each in found.arrivals)
    return Table("Fig. 1", columns, lines, [f"The ACKs arrive at the station at {shown} ms."])


_DRAWN: Final[Mapping[str, tuple[Cell, Callable[[Session, str], Figure]]]] = {
    "fig1": (RANGED, _draw1),
    "fig2": (STAGED, _draw2),
}


def _evaluate(key: str) -> Evaluate:
    cell, draw = _DRAWN[key]

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: {titles(WIMAX)[key]}"
        complete, figures = session.finished(cell), []
        if out is not None and complete:
            about = (out, f"wimax-{key}", title, session.about)
            figures = session.draw(lambda: draw(session, title), *about)
        tables = [_table1(session)] if key == "fig1" and complete else []
        return ItemResult(key, title, [], tables, figures, complete=complete)

    return evaluate


TIMELINES: Final[Mapping[str, tuple[Sequence[Cell], Evaluate]]] = {
    key: ([cell], _evaluate(key)) for key, (cell, _draw) in _DRAWN.items()
}
"""Cells and evaluation of each item."""
