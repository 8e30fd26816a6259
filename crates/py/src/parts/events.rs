//! Events that a congestion control receives: immutable copies of the engine's events.
//!
//! Bytes and nanoseconds are integers. Times are also available in seconds.

use airpath_core::{Duration, Time};
use airpath_tcp::congestion::{
    AckEvent, IdleEvent, LossEvent, LostSegment, RateSample, RecoveryPhase, UndoEvent,
};
use pyo3::prelude::*;

/// Returns a duration in seconds.
fn seconds(duration: Duration) -> f64 {
    duration.as_secs_lossy()
}

/// An ACK that acknowledges new data, or is a duplicate or a window update.
#[pyclass(frozen, freelist = 16, module = "airpath.parts")]
pub(crate) struct Ack(pub(super) AckEvent);

#[pymethods]
impl Ack {
    /// Create an ACK outside loss recovery, for tests of a congestion control.
    #[new]
    #[pyo3(signature = (
        acked, *, now_ns=0, growth=None, rtt_ns=None, in_flight=0, app_limited=false, echo=false,
        marked=0
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        acked: u64,
        now_ns: u64,
        growth: Option<u64>,
        rtt_ns: Option<u64>,
        in_flight: u64,
        app_limited: bool,
        echo: bool,
        marked: u64,
    ) -> Ack {
        Ack(AckEvent {
            growth: Some(growth.unwrap_or(acked)),
            rtt: rtt_ns.map(Duration::from_nanos),
            in_flight,
            app_limited,
            echo,
            marked,
            ..AckEvent::of_new_data(Time::from_nanos(now_ns), acked)
        })
    }

    /// Time of the event, s.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_lossy()
    }

    /// Time of the event, ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now.as_nanos()
    }

    /// Phase after this ACK: ``"open"``, ``"recovery"`` or ``"loss"``.
    #[getter]
    fn phase(&self) -> &'static str {
        match self.0.phase {
            RecoveryPhase::Open => "open",
            RecoveryPhase::Recovery => "recovery",
            RecoveryPhase::Loss => "loss",
        }
    }

    /// Acknowledged bytes for which the window may grow; None if it must not grow.
    #[getter]
    fn growth(&self) -> Option<u64> {
        self.0.growth
    }

    /// Acknowledgement number, a stream offset.
    #[getter]
    fn ack(&self) -> u64 {
        self.0.ack
    }

    /// End of the sent data, a stream offset.
    #[getter]
    fn sent(&self) -> u64 {
        self.0.sent
    }

    /// Bytes newly acknowledged by the cumulative acknowledgement.
    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked
    }

    /// Bytes newly acknowledged, cumulatively or selectively.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }

    /// Bytes beyond `ack` that are selectively acknowledged.
    #[getter]
    fn sacked(&self) -> u64 {
        self.0.sacked
    }

    /// True for a duplicate ACK.
    #[getter]
    fn duplicate(&self) -> bool {
        self.0.duplicate
    }

    /// Bytes outstanding after this ACK.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    /// RTT sample, s; None without a sample.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(seconds)
    }

    /// RTT sample, ns; None without a sample.
    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        self.0.rtt.map(Duration::as_nanos)
    }

    /// True if the ACK carries ECN-Echo.
    #[getter]
    fn echo(&self) -> bool {
        self.0.echo
    }

    /// Newly reported bytes with a congestion mark, with accurate ECN feedback; otherwise 0.
    #[getter]
    fn marked(&self) -> u64 {
        self.0.marked
    }

    /// Explicit feedback that the receiver echoes.
    #[getter]
    fn feedback(&self) -> f32 {
        self.0.feedback
    }

    /// True if the window did not limit the sender before this ACK.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }

    /// Delivery rate sample; None without a sample.
    #[getter]
    fn rate(&self) -> Option<RateSampleView> {
        self.0.rate.map(RateSampleView)
    }

    /// Estimated bytes in the network (pipe, RFC 6675); None without rate samples.
    #[getter]
    fn pipe(&self) -> Option<u64> {
        self.0.inflight.map(|inflight| inflight.bytes)
    }

    /// Bytes newly deemed lost; None without rate samples.
    #[getter]
    fn newly_lost(&self) -> Option<u64> {
        self.0.inflight.map(|inflight| inflight.newly_lost)
    }

    /// Bytes delivered on the connection until now; None without rate samples.
    #[getter]
    fn total_delivered(&self) -> Option<u64> {
        self.0.inflight.map(|inflight| inflight.total_delivered)
    }

    /// Bytes deemed lost on the connection until now; None without rate samples.
    #[getter]
    fn total_lost(&self) -> Option<u64> {
        self.0.inflight.map(|inflight| inflight.total_lost)
    }

    fn __repr__(&self) -> String {
        let AckEvent { acked, delivered, in_flight, .. } = self.0;
        let now = self.now();
        format!("Ack(now={now}, acked={acked}, delivered={delivered}, in_flight={in_flight})")
    }
}

/// A delivery rate sample.
#[pyclass(frozen, name = "RateSample", module = "airpath.parts")]
pub(crate) struct RateSampleView(RateSample);

#[pymethods]
impl RateSampleView {
    /// Delivery rate, bit/s of payload.
    #[getter]
    fn bps(&self) -> u64 {
        self.0.rate().0
    }

    /// Payload bytes delivered in `interval`.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }

    /// Interval of the sample, s.
    #[getter]
    fn interval(&self) -> f64 {
        seconds(self.0.interval)
    }

    /// Interval of the sample, ns.
    #[getter]
    fn interval_ns(&self) -> u64 {
        self.0.interval.as_nanos()
    }

    /// Bytes delivered on the connection before the segment of the sample was sent.
    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.0.prior_delivered
    }

    /// Bytes in the network after the segment of the sample was sent.
    #[getter]
    fn tx_in_flight(&self) -> u64 {
        self.0.tx_in_flight
    }

    /// Bytes deemed lost between the transmission of the segment and now.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }

    /// True if the application limited the sender.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }

    fn __repr__(&self) -> String {
        format!("RateSample(bps={}, interval={})", self.bps(), self.interval())
    }
}

/// A loss that duplicate ACKs or a timeout indicate, or an echoed mark.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct Loss(pub(super) LossEvent);

#[pymethods]
impl Loss {
    /// Create an event, for tests of a congestion control.
    #[new]
    #[pyo3(signature = (flight, cwnd, *, now_ns=0, keeps_ssthresh=false))]
    fn new(flight: u64, cwnd: u64, now_ns: u64, keeps_ssthresh: bool) -> Loss {
        Loss(LossEvent { now: Time::from_nanos(now_ns), flight, cwnd, keeps_ssthresh })
    }

    /// Time of the event, s.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_lossy()
    }

    /// Time of the event, ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now.as_nanos()
    }

    /// FlightSize (RFC 5681 §2), bytes.
    #[getter]
    fn flight(&self) -> u64 {
        self.0.flight
    }

    /// Congestion window before the event, bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }

    /// True if ssthresh must not change, because an echo has already reduced it.
    #[getter]
    fn keeps_ssthresh(&self) -> bool {
        self.0.keeps_ssthresh
    }

    fn __repr__(&self) -> String {
        format!("Loss(now={}, flight={}, cwnd={})", self.now(), self.0.flight, self.0.cwnd)
    }
}

/// The detection that the reductions of an episode were spurious.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct Undo(pub(super) UndoEvent);

#[pymethods]
impl Undo {
    /// Time of the event, s.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_lossy()
    }

    /// Congestion window before the first reduction of the episode, bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }

    /// Slow-start threshold to restore, bytes; None if it was not set.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        (self.0.ssthresh != u64::MAX).then_some(self.0.ssthresh)
    }
}

/// The resumption of transmission after a time without outstanding data.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct Idle(pub(super) IdleEvent);

#[pymethods]
impl Idle {
    /// Time of the event, s.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_lossy()
    }

    /// New congestion window, bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }

    /// Lower bound of ssthresh, bytes.
    #[getter]
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh
    }
}

/// A segment that is deemed lost, with the state of the sender when it was sent.
#[pyclass(frozen, name = "LostSegment", module = "airpath.parts")]
pub(crate) struct LostSegmentEvent(pub(super) LostSegment);

#[pymethods]
impl LostSegmentEvent {
    /// Payload bytes of the segment.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Bytes in the network after the segment was sent.
    #[getter]
    fn tx_in_flight(&self) -> u64 {
        self.0.tx_in_flight
    }

    /// Bytes deemed lost between the transmission of the segment and now.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }

    /// True if the application limited the sender when the segment was sent.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }
}

/// The start of data transmission.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct Open {
    pub(super) now: Time,
    pub(super) rtt: Option<Duration>,
}

#[pymethods]
impl Open {
    /// Time of the event, s.
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_lossy()
    }

    /// Time of the event, ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now.as_nanos()
    }

    /// RTT sample of the handshake, s; None without a sample.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.rtt.map(seconds)
    }

    /// RTT sample of the handshake, ns; None without a sample.
    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        self.rtt.map(Duration::as_nanos)
    }
}

/// The transmission of a packet.
#[pyclass(frozen, freelist = 16, module = "airpath.parts")]
pub(crate) struct Sent {
    pub(super) now: Time,
    /// Size of the IP packet, bytes.
    #[pyo3(get)]
    pub(super) bytes: u64,
}

#[pymethods]
impl Sent {
    /// Time of the event, s.
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_lossy()
    }

    /// Time of the event, ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now.as_nanos()
    }
}
