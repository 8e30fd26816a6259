"""The 3G radio bearer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator, model_validator
from typing_extensions import Self

from airpath.scenario.base import ABSENT, Key, Maybe, fault, faults_at
from airpath.scenario.frame_errors import ErrorProcess
from airpath.scenario.link.base import Link
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import (
    PositiveDuration,
    PositiveFraction,
    PositiveRate,
    Truth,
    _whole,
    choice,
)

__all__ = ["RlcAm"]

LARGEST_WINDOW = 2047
"""PDUs; half of the sequence numbers, beyond which an old PDU could be taken for a new one."""

_NS_PER_MS = 1_000_000


def _payload(size: Size) -> Size:
    if not Size(2) <= size <= Size(1500):
        raise fault("outside 2 to 1500 bytes", None, '"40 B"')
    return size


PduPayload = Annotated[Size, AfterValidator(_payload), Key("pdu_payload")]
Window = Annotated[int, PlainValidator(_whole(1, LARGEST_WINDOW, 1024))]
MaxDat = Annotated[int, PlainValidator(_whole(2, 255, 10))]


class RlcAm(Link):
    """A 3G radio bearer: RLC in acknowledged mode, both directions in one link (3GPP TS 25.322).

    With ``ack_path = {kind = "reverse"}`` ACKs take the other direction through the same
    machinery; otherwise that direction carries status reports alone. A packet counts in the queue
    until all its PDUs are acknowledged. Defaults are those of sbd-2006, Table 1; for its turnaround
    of 50 ms write ``delay = "20 ms"`` and ``reverse_delay = "30 ms"``.

    Parameters
    ----------
    rate : Rate
        Nominal rate: bits of PDU payload per second, above 0.
    reverse_rate : Rate, optional
        That of the reverse direction. Default: as `rate`, and changes with it.
    tti : Duration
        Transmission time interval, above 0. Default 10 ms.
    delay : Duration
        From the start of a TTI to the delivery of its PDUs, at least `tti`. Default 25 ms. What
        arrives within a TTI is answered in the next one: whole TTIs lose no time.
    reverse_delay : Duration, optional
        That of the reverse direction. Default: as `delay`.
    pdu_payload : Size
        Payload of a PDU, 2 to 1500 B. Default 40 B.
    window : int
        Transmission and reception window, PDUs, 1 to 2047. Default 1024.
    max_dat : int
        MaxDAT, 2 to 255: a PDU is given up when it would be transmitted for this time. Default 10.
    on_max_dat : {"discard", "reset"}
        What then happens: its SDUs are discarded, or both peers start anew. Default discard.
    poll_timer : Duration
        Timer_Poll, above 0. Default 60 ms.
    poll_stop : {"answer", "report"}
        Which reports stop Timer_Poll: those that know of the PDU that polled, or every one while
        packets wait. Default answer.
    status_prohibit : Duration
        Timer_Status_Prohibit, from 0. Default 60 ms.
    poll_window : float
        Poll_Window: the share of the window, in (0, 1], from which PDUs poll; with 1 it is the PDU
        that fills the window. Default 0.5.
    window_poll : {"every", "timed"}
        Which of them poll: every one, or only one while Timer_Poll does not run. Default every.
    last_pdu_poll : bool
        Whether the last PDU in the buffer polls. Default True.
    last_retransmission_poll : bool
        Whether the last PDU to be retransmitted polls. Default True.
    missing_pdu_indicator : bool
        Whether a gap in the sequence numbers triggers a status report. Default True.
    nack_guard : bool
        Whether a report is not believed about PDUs sent less than a round trip of the radio ago,
        `delay` and `reverse_delay` together. TS 25.322 believes every one. Default True.
    concatenation : bool
        Whether the end of one SDU and the start of the next may share a PDU. Default True.
    mrw_timer : Duration
        Timer_MRW, above 0. Default 200 ms; not given in the paper, assumed.
    reset_timer : Duration
        Timer_RST, above 0. Default 200 ms; not given in the paper, assumed.
    errors : ErrorProcess, optional
        What destroys frames. Default: nothing does.
    reverse_errors : ErrorProcess, optional
        That of the reverse direction. Default: as `errors`, independently.
    """

    is_duplex = True

    kind: Literal["rlc-am"] = "rlc-am"
    rate: PositiveRate = Field(examples=['"384 kbit/s"'])
    reverse_rate: Annotated[Maybe[PositiveRate], Key("reverse_rate_bps")] = ABSENT
    tti: PositiveDuration = Duration(10 * _NS_PER_MS)
    delay: Annotated[Duration, Key("latency_ns")] = Duration(25 * _NS_PER_MS)
    reverse_delay: Annotated[Maybe[Duration], Key("reverse_latency_ns")] = ABSENT
    pdu_payload: PduPayload = Size(40)
    window: Window = 1024
    max_dat: MaxDat = 10
    on_max_dat: Annotated[str, choice("discard", "reset")] = "discard"
    poll_timer: PositiveDuration = Duration(60 * _NS_PER_MS)
    poll_stop: Annotated[str, choice("answer", "report")] = "answer"
    status_prohibit: Duration = Duration(60 * _NS_PER_MS)
    poll_window: PositiveFraction = 0.5
    window_poll: Annotated[str, choice("every", "timed")] = "every"
    last_pdu_poll: Truth = True
    last_retransmission_poll: Truth = True
    missing_pdu_indicator: Truth = True
    nack_guard: Truth = True
    concatenation: Truth = True
    mrw_timer: PositiveDuration = Duration(200 * _NS_PER_MS)
    reset_timer: PositiveDuration = Duration(200 * _NS_PER_MS)

    reverse_errors: Maybe[ErrorProcess] = ABSENT

    @model_validator(mode="after")
    def _arrive_after_the_tti(self) -> Self:
        delays = (("delay", self.delay), ("reverse_delay", self.reverse_delay))
        wrong = [
            (
                (name,),
                str(delay),
                fault(f"shorter than the TTI of {self.tti}", "Write at least that"),
            )
            for name, delay in delays
            if delay is not None and delay < self.tti
        ]
        if wrong:
            raise faults_at(*wrong)
        return self

    @property
    def propagation(self) -> Duration:
        """None: the bearer applies its delay to PDUs and status reports itself."""
        return Duration(0)

    @property
    def delay_back(self) -> Duration:
        """The delay of the reverse direction."""
        return self.delay if self.reverse_delay is None else self.reverse_delay
