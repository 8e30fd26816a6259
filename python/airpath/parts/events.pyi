"""Events and other objects that the engine passes to parts in Python."""

from typing import final

__all__ = [
    "Ack",
    "Arrival",
    "BuiltInCongestion",
    "CongestionSetup",
    "Departure",
    "Idle",
    "LinkRate",
    "Loss",
    "LostSegment",
    "Open",
    "PolicySetup",
    "QueueObservation",
    "QueueSetup",
    "Random",
    "RateSample",
    "SchedulerSetup",
    "Scheme",
    "Sent",
    "Undo",
    "User",
]

@final
class Ack:
    """An ACK that acknowledges new data, or is a duplicate or a window update."""

    def __new__(
        cls,
        acked: int,
        *,
        now_ns: int = 0,
        growth: int | None = None,
        rtt_ns: int | None = None,
        in_flight: int = 0,
        app_limited: bool = False,
        echo: bool = False,
        marked: int = 0,
    ) -> Ack: ...
    @property
    def ack(self) -> int:
        """Acknowledgement number, a stream offset."""

    @property
    def acked(self) -> int:
        """Bytes newly acknowledged by the cumulative acknowledgement."""

    @property
    def app_limited(self) -> bool:
        """True if the window did not limit the sender before this ACK."""

    @property
    def delivered(self) -> int:
        """Bytes newly acknowledged, cumulatively or selectively."""

    @property
    def duplicate(self) -> bool:
        """True for a duplicate ACK."""

    @property
    def echo(self) -> bool:
        """True if the ACK carries ECN-Echo."""

    @property
    def feedback(self) -> float:
        """Explicit feedback that the receiver echoes."""

    @property
    def growth(self) -> int | None:
        """Acknowledged bytes for which the window may grow; None if it must not grow."""

    @property
    def in_flight(self) -> int:
        """Bytes outstanding after this ACK."""

    @property
    def marked(self) -> int:
        """Newly reported bytes with a congestion mark, with accurate ECN feedback; otherwise 0."""

    @property
    def newly_lost(self) -> int | None:
        """Bytes newly deemed lost; None without rate samples."""

    @property
    def now(self) -> float:
        """Time of the event, s."""

    @property
    def now_ns(self) -> int:
        """Time of the event, ns."""

    @property
    def phase(self) -> str:
        """Phase after this ACK: ``"open"``, ``"recovery"`` or ``"loss"``."""

    @property
    def pipe(self) -> int | None:
        """Estimated bytes in the network (pipe, RFC 6675); None without rate samples."""

    @property
    def rate(self) -> RateSample | None:
        """Delivery rate sample; None without a sample."""

    @property
    def rtt(self) -> float | None:
        """RTT sample, s; None without a sample."""

    @property
    def rtt_ns(self) -> int | None:
        """RTT sample, ns; None without a sample."""

    @property
    def sacked(self) -> int:
        """Bytes beyond `ack` that are selectively acknowledged."""

    @property
    def sent(self) -> int:
        """End of the sent data, a stream offset."""

    @property
    def total_delivered(self) -> int | None:
        """Bytes delivered on the connection until now; None without rate samples."""

    @property
    def total_lost(self) -> int | None:
        """Bytes deemed lost on the connection until now; None without rate samples."""

@final
class BuiltInCongestion:
    """A built-in congestion control, for parts that contain one."""

    @property
    def cwnd(self) -> int:
        """Congestion window, bytes."""

    def on_ack(self, ack: Ack) -> None:
        """Handle an ACK."""

    def on_ecn(self, loss: Loss) -> None:
        """Handle echoed congestion marks."""

    def on_idle(self, idle: Idle) -> None:
        """Handle the resumption of transmission after an idle time."""

    def on_loss(self, loss: Loss) -> None:
        """Handle a fast retransmit."""

    def on_lost_syn(self) -> None:
        """Handle the loss of the SYN or SYN-ACK."""

    def on_open(self, opening: Open) -> None:
        """Handle the start of data transmission."""

    def on_recovered(self, cwnd: int) -> None:
        """Handle the end of fast recovery, which allows a window of at most `cwnd` bytes."""

    def on_rto(self, loss: Loss) -> None:
        """Handle an expiry of the retransmission timer."""

    def on_segment_lost(self, segment: LostSegment) -> None:
        """Handle a segment that is deemed lost."""

    def on_sent(self, sent: Sent) -> None:
        """Handle the transmission of a packet."""

    def on_undo(self, undo: Undo) -> None:
        """Handle the detection that the reductions of an episode were spurious."""

    @property
    def limits_itself(self) -> bool:
        """True while the algorithm deliberately sends less than the path allows."""

    @property
    def pacing_rate(self) -> int | None:
        """Pacing rate, bit/s; None without pacing."""

    @property
    def ssthresh(self) -> int | None:
        """Slow-start threshold, bytes; None if it was not set."""

@final
class CongestionSetup:
    """Parameters of the connection for a congestion control."""

    @property
    def grow_unused(self) -> bool:
        """True if a window may grow that is not fully used."""

    @property
    def header_bytes(self) -> int:
        """Size of the IP and TCP headers of each packet, bytes."""

    @property
    def initial_ssthresh(self) -> int | None:
        """Initial slow-start threshold, bytes; None if it is unlimited."""

    @property
    def initial_window(self) -> int:
        """Initial window, bytes."""

    def make(self, description: str) -> BuiltInCongestion:
        """Create a built-in congestion control for this connection."""

    @property
    def mss(self) -> int:
        """Maximum segment size, payload bytes."""

    @property
    def name(self) -> str:
        """Name of the connection in the network."""

    @property
    def receive_window(self) -> int:
        """Receive window, bytes."""

    @property
    def replication(self) -> int:
        """Index of the replication."""

    @property
    def rng(self) -> Random:
        """Random numbers of this connection."""

@final
class Idle:
    """The resumption of transmission after a time without outstanding data."""

    @property
    def cwnd(self) -> int:
        """New congestion window, bytes."""

    @property
    def now(self) -> float:
        """Time of the event, s."""

    @property
    def ssthresh(self) -> int:
        """Lower bound of ssthresh, bytes."""

@final
class Loss:
    """A loss that duplicate ACKs or a timeout indicate, or an echoed mark."""

    def __new__(
        cls, flight: int, cwnd: int, *, now_ns: int = 0, keeps_ssthresh: bool = False
    ) -> Loss: ...
    @property
    def cwnd(self) -> int:
        """Congestion window before the event, bytes."""

    @property
    def flight(self) -> int:
        """FlightSize (RFC 5681 §2), bytes."""

    @property
    def keeps_ssthresh(self) -> bool:
        """True if ssthresh must not change, because an echo has already reduced it."""

    @property
    def now(self) -> float:
        """Time of the event, s."""

    @property
    def now_ns(self) -> int:
        """Time of the event, ns."""

@final
class LostSegment:
    """A segment that is deemed lost, with the state of the sender when it was sent."""

    @property
    def app_limited(self) -> bool:
        """True if the application limited the sender when the segment was sent."""

    @property
    def bytes(self) -> int:
        """Payload bytes of the segment."""

    @property
    def lost(self) -> int:
        """Bytes deemed lost between the transmission of the segment and now."""

    @property
    def tx_in_flight(self) -> int:
        """Bytes in the network after the segment was sent."""

@final
class Open:
    """The start of data transmission."""

    @property
    def now(self) -> float:
        """Time of the event, s."""

    @property
    def now_ns(self) -> int:
        """Time of the event, ns."""

    @property
    def rtt(self) -> float | None:
        """RTT sample of the handshake, s; None without a sample."""

    @property
    def rtt_ns(self) -> int | None:
        """RTT sample of the handshake, ns; None without a sample."""

@final
class Random:
    """Random numbers of one part, which depend on seed, replication and the component's name."""

    def bernoulli(self, p: float) -> bool:
        """Return True with probability `p`; uses no random number if `p` ≤ 0 or `p` ≥ 1."""

    def bits(self) -> int:
        """Return 64 random bits."""

    def exponential(self, mean: float) -> float:
        """Sample the exponential distribution with the given mean."""

    def normal(self, mean: float = 0.0, deviation: float = 1.0) -> float:
        """Sample the normal distribution."""

    def random(self) -> float:
        """Sample the uniform distribution on [0, 1)."""

    def uniform(self, low: float, high: float) -> float:
        """Sample the uniform distribution on [low, high)."""

@final
class RateSample:
    """A delivery rate sample."""

    @property
    def app_limited(self) -> bool:
        """True if the application limited the sender."""

    @property
    def bps(self) -> int:
        """Delivery rate, bit/s of payload."""

    @property
    def delivered(self) -> int:
        """Payload bytes delivered in `interval`."""

    @property
    def interval(self) -> float:
        """Interval of the sample, s."""

    @property
    def interval_ns(self) -> int:
        """Interval of the sample, ns."""

    @property
    def lost(self) -> int:
        """Bytes deemed lost between the transmission of the segment and now."""

    @property
    def prior_delivered(self) -> int:
        """Bytes delivered on the connection before the segment of the sample was sent."""

    @property
    def tx_in_flight(self) -> int:
        """Bytes in the network after the segment of the sample was sent."""

@final
class Sent:
    """The transmission of a packet."""

    @property
    def bytes(self) -> int:
        """Size of the IP packet, bytes."""

    @property
    def now(self) -> float:
        """Time of the event, s."""

    @property
    def now_ns(self) -> int:
        """Time of the event, ns."""

@final
class Undo:
    """The detection that the reductions of an episode were spurious."""

    @property
    def cwnd(self) -> int:
        """Congestion window before the first reduction of the episode, bytes."""

    @property
    def now(self) -> float:
        """Time of the event, s."""

    @property
    def ssthresh(self) -> int | None:
        """Slow-start threshold to restore, bytes; None if it was not set."""

@final
class PolicySetup:
    """The modulation and coding schemes of a link, for a policy."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the schemes, in the order of the error-rate table."""

@final
class Scheme:
    """A modulation and coding scheme with its error rates at the estimated SNR."""

    def __new__(cls, efficiency: float, fer: float, per: float) -> Scheme: ...
    @property
    def efficiency(self) -> float:
        """Information bits per symbol."""

    @property
    def fer(self) -> float:
        """Block error rate."""

    @property
    def per(self) -> float:
        """Error rate of a packet of the reference size."""

@final
class SchedulerSetup:
    """The users of a cell, for a scheduler."""

    @property
    def rate(self) -> int:
        """Nominal rate of the cell, bit/s."""

    @property
    def rng(self) -> Random:
        """Random numbers of this scheduler."""

    @property
    def slot(self) -> float:
        """Length of a slot, s."""

    @property
    def slot_ns(self) -> int:
        """Length of a slot, ns."""

    @property
    def weights(self) -> tuple[float, ...]:
        """Weight of each user, by user ID."""

@final
class User:
    """A user with data in a slot."""

    def __new__(
        cls, user: int, rate: float, *, backlog: int = 1500, head_wait_ns: int = 0
    ) -> User: ...
    @property
    def backlog(self) -> int:
        """Bytes of the packets that wait or are not completely delivered."""

    @property
    def head_wait(self) -> float:
        """Waiting time of the first of these packets, s."""

    @property
    def head_wait_ns(self) -> int:
        """Waiting time of the first of these packets, ns."""

    @property
    def rate(self) -> float:
        """Rate of the user in this slot, bit/s."""

    @property
    def user(self) -> int:
        """ID of the user."""

@final
class Arrival:
    """The arrival of a packet at a queue. The packet does not count as waiting."""

    def __new__(
        cls,
        size: int,
        *,
        now_ns: int = 0,
        flow: int = 0,
        ecn: str = "not-ect",
        packets: int = 0,
        backlog: int = 0,
    ) -> Arrival: ...
    @property
    def backlog(self) -> int:
        """Bytes of the waiting packets."""

    @property
    def size(self) -> int:
        """Size of the IP packet, bytes."""

    @property
    def ecn(self) -> str:
        """ECN codepoint: ``"not-ect"``, ``"ect0"``, ``"ect1"`` or ``"ce"``."""

    @property
    def ecn_capable(self) -> bool:
        """True if the packet can be marked."""

    @property
    def flow(self) -> int:
        """Index of the packet's flow."""

    @property
    def head_sojourn(self) -> float | None:
        """Time since the arrival of the packet at the head, s; None if no packet waits."""

    @property
    def head_sojourn_ns(self) -> int | None:
        """Time since the arrival of the packet at the head, ns; None if no packet waits."""

    @property
    def held_bytes(self) -> int:
        """Bytes of the packets that the link holds after their departure."""

    @property
    def held_packets(self) -> int:
        """Number of packets that the link holds after their departure."""

    @property
    def kind(self) -> str:
        """``"data"``, ``"ack"`` or ``"datagram"``."""

    @property
    def now(self) -> float:
        """Time of the event, s."""

    @property
    def now_ns(self) -> int:
        """Time of the event, ns."""

    @property
    def packets(self) -> int:
        """Number of waiting packets."""

@final
class Departure:
    """The packet at the head of a queue when the link can send it. The packet counts as waiting."""

    def __new__(
        cls,
        size: int,
        *,
        now_ns: int = 0,
        sojourn_ns: int = 0,
        flow: int = 0,
        ecn: str = "not-ect",
        packets: int = 1,
        backlog: int = 1500,
        drops: int = 0,
    ) -> Departure: ...
    @property
    def backlog(self) -> int:
        """Bytes of the waiting packets, with this one."""

    @property
    def size(self) -> int:
        """Size of the IP packet, bytes."""

    @property
    def drops(self) -> int:
        """Number of packets that were dropped at the head since the link requested a packet."""

    @property
    def ecn(self) -> str:
        """ECN codepoint: ``"not-ect"``, ``"ect0"``, ``"ect1"`` or ``"ce"``."""

    @property
    def ecn_capable(self) -> bool:
        """True if the packet can be marked."""

    @property
    def flow(self) -> int:
        """Index of the packet's flow."""

    @property
    def held_bytes(self) -> int:
        """Bytes of the packets that the link holds after their departure."""

    @property
    def held_packets(self) -> int:
        """Number of packets that the link holds after their departure."""

    @property
    def kind(self) -> str:
        """``"data"``, ``"ack"`` or ``"datagram"``."""

    @property
    def now(self) -> float:
        """Time of the event, s."""

    @property
    def now_ns(self) -> int:
        """Time of the event, ns."""

    @property
    def packets(self) -> int:
        """Number of waiting packets, with this one."""

    @property
    def sojourn(self) -> float:
        """Time since the arrival of the packet, s."""

    @property
    def sojourn_ns(self) -> int:
        """Time since the arrival of the packet, ns."""

@final
class LinkRate:
    """Nominal rate and framing of a link."""

    @property
    def rate(self) -> int:
        """Nominal rate, bit/s on the air."""

    def transmission_time(self, size: int) -> float:
        """Transmission time of an IP packet of this size, s; infinite at rate 0."""

@final
class QueueObservation:
    """State of a queue, and the packets since the previous observation."""

    @property
    def arrivals(self) -> int:
        """Number of arrivals since the previous observation, with dropped packets."""

    @property
    def arrived_bytes(self) -> int:
        """Bytes of the arrivals since the previous observation, with dropped packets."""

    @property
    def backlog(self) -> int:
        """Bytes of the waiting packets."""

    @property
    def departed_bytes(self) -> int:
        """Bytes of the departures since the previous observation."""

    @property
    def departures(self) -> int:
        """Number of departures since the previous observation."""

    @property
    def drops(self) -> int:
        """Number of packets that the queue has dropped since the previous observation."""

    @property
    def head_sojourn(self) -> float | None:
        """Time since the arrival of the packet at the head, s; None if no packet waits."""

    @property
    def head_sojourn_ns(self) -> int | None:
        """Time since the arrival of the packet at the head, ns; None if no packet waits."""

    @property
    def held_bytes(self) -> int:
        """Bytes of the packets that the link holds after their departure."""

    @property
    def held_packets(self) -> int:
        """Number of packets that the link holds after their departure."""

    @property
    def last_sojourn(self) -> float | None:
        """Sojourn time of the last departure, s; None before the first departure."""

    @property
    def last_sojourn_ns(self) -> int | None:
        """Sojourn time of the last departure, ns; None before the first departure."""

    @property
    def marks(self) -> int:
        """Number of packets that the queue has marked since the previous observation."""

    @property
    def now(self) -> float:
        """Time of the observation, s."""

    @property
    def now_ns(self) -> int:
        """Time of the observation, ns."""

    @property
    def packets(self) -> int:
        """Number of waiting packets."""

@final
class QueueSetup:
    """Parameters that a queue discipline receives at its start."""

    @property
    def limit_bytes(self) -> int | None:
        """Limit of the queue, bytes; None if the limit is in packets."""

    @property
    def limit_packets(self) -> int | None:
        """Limit of the queue, packets; None if the limit is in bytes."""

    @property
    def name(self) -> str:
        """Name of the queue in the network."""

    @property
    def replication(self) -> int:
        """Index of the replication."""

    @property
    def rng(self) -> Random:
        """Random numbers of this queue."""
