"""The link class of a 3G radio bearer with RLC in acknowledged mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from airpath.scenario.base import ABSENT, Key, Maybe
from airpath.scenario.frame_errors import ErrorProcess
from airpath.scenario.link.base import Link
from airpath.scenario.units import Duration, Rate, Size
from airpath.scenario.values import Number, Real, Truth, choice

__all__ = ["RlcAm"]

_NS_PER_MS = 1_000_000


class RlcAm(Link):
    """A 3G radio bearer: RLC in acknowledged mode, both directions in one link (3GPP TS 25.322).

    With ``ack_path = {kind = "reverse"}``, ACKs traverse the reverse direction of the same bearer.
    Otherwise the reverse direction carries only status reports. A packet counts in the queue until
    all its PDUs are acknowledged. The defaults are from sbd-2006, Table 1. For the turnaround time
    of 50 ms in sbd-2006, set ``delay = "20 ms"`` and ``reverse_delay = "30 ms"``.

    Parameters
    ----------
    rate : Rate
        Nominal rate: bits of PDU payload per second, above 0.
    reverse_rate : Rate, optional
        Nominal rate of the reverse direction. Default: `rate`, including scheduled changes of
        `rate`.
    tti : Duration
        Transmission time interval, above 0. Default 10 ms.
    delay : Duration
        Time from the start of a TTI to the delivery of its PDUs, at least `tti`. Default 25 ms. The
        response to a PDU is sent in the first TTI after its arrival. If the delay is a multiple of
        the TTI, the response does not wait for the TTI.
    reverse_delay : Duration, optional
        Delay of the reverse direction. Default: `delay`.
    pdu_payload : Size
        Payload of a PDU, 2 to 1500 B. Default 40 B.
    window : int
        Transmission and reception window, PDUs, 1 to 2047. Default 1024.
    max_dat : int
        MaxDAT, 2 to 255: a PDU is discarded instead of its MaxDAT-th transmission. Default 10.
    on_max_dat : {"discard", "reset"}
        Reaction to the discard of a PDU. ``"discard"``: its SDUs are discarded. ``"reset"``: both
        peers are reset. Default discard.
    poll_timer : Duration
        Timer_Poll, above 0. Default 60 ms.
    poll_stop : {"answer", "report"}
        Status reports that stop Timer_Poll. ``"answer"``: reports that cover the PDU with the poll.
        ``"report"``: every report while packets wait. Default answer.
    status_prohibit : Duration
        Timer_Status_Prohibit, from 0. Default 60 ms.
    poll_window : float
        Poll_Window, in (0, 1]: if at least this share of the window is in use, PDUs carry a poll.
        With 1, only the PDU that fills the window carries a poll. Default 0.5.
    window_poll : {"every", "timed"}
        PDUs beyond `poll_window` that carry a poll. ``"every"``: every PDU. ``"timed"``: only a PDU
        that is sent while Timer_Poll does not run. Default every.
    last_pdu_poll : bool
        True: the last PDU in the buffer carries a poll. Default True.
    last_retransmission_poll : bool
        True: the last PDU to be retransmitted carries a poll. Default True.
    missing_pdu_indicator : bool
        True: a gap in the sequence numbers triggers a status report. Default True.
    nack_guard : bool
        True: the sender ignores negative acknowledgements of PDUs sent less than a radio round trip
        ago (`delay` plus `reverse_delay`). TS 25.322 does not ignore such acknowledgements. Default
        True.
    concatenation : bool
        True: the end of one SDU and the start of the next may share a PDU. Default True.
    mrw_timer : Duration
        Timer_MRW, above 0. Default 200 ms; an assumption, not stated in the paper.
    reset_timer : Duration
        Timer_RST, above 0. Default 200 ms; an assumption, not stated in the paper.
    errors : ErrorProcess, optional
        Error process of the forward direction's frames. Default: no errors.
    reverse_errors : ErrorProcess, optional
        Error process of the reverse direction's frames. Default: an independent process with the
        parameters of `errors`.
    """

    is_duplex = True

    kind: Literal["rlc-am"] = "rlc-am"
    rate: Rate = Field(examples=['"384 kbit/s"'])
    reverse_rate: Annotated[Maybe[Rate], Key("reverse_rate_bps")] = ABSENT
    tti: Duration = Duration(10 * _NS_PER_MS)
    delay: Annotated[Duration, Key("latency_ns")] = Duration(25 * _NS_PER_MS)
    reverse_delay: Annotated[Maybe[Duration], Key("reverse_latency_ns")] = ABSENT
    pdu_payload: Annotated[Size, Key("pdu_payload")] = Size(40)
    window: Number = 1024
    max_dat: Number = 10
    on_max_dat: Annotated[str, choice("discard", "reset")] = "discard"
    poll_timer: Duration = Duration(60 * _NS_PER_MS)
    poll_stop: Annotated[str, choice("answer", "report")] = "answer"
    status_prohibit: Duration = Duration(60 * _NS_PER_MS)
    poll_window: Real = 0.5
    window_poll: Annotated[str, choice("every", "timed")] = "every"
    last_pdu_poll: Truth = True
    last_retransmission_poll: Truth = True
    missing_pdu_indicator: Truth = True
    nack_guard: Truth = True
    concatenation: Truth = True
    mrw_timer: Duration = Duration(200 * _NS_PER_MS)
    reset_timer: Duration = Duration(200 * _NS_PER_MS)

    reverse_errors: Maybe[ErrorProcess] = ABSENT

    @property
    def propagation(self) -> Duration:
        """Delay of the hop: 0, because the bearer itself delays PDUs and status reports."""
        return Duration(0)

    @property
    def delay_back(self) -> Duration:
        """Delay of the reverse direction."""
        return self.delay if self.reverse_delay is None else self.reverse_delay

    @classmethod
    def latencies_ns(cls, resolved: Mapping[str, Any]) -> tuple[int, int]:
        """Return the delay of each direction of the bearer, ns."""
        there, back = resolved["latency_ns"], resolved.get("reverse_latency_ns")
        return int(there), int(there if back is None else back)
