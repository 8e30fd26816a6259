//! Events that a queue discipline receives: immutable copies of a packet and of the queue's state.

use airpath_core::{Bytes, Duration, Ecn, LinkRate, Packet, PacketKind, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// State of the queue when an event occurs.
#[derive(Clone, Copy)]
pub(super) struct QueueView {
    pub(super) now: Time,
    pub(super) packets: usize,
    pub(super) backlog: u64,
    pub(super) held_packets: usize,
    pub(super) held_bytes: u64,
    /// Time since the arrival of the packet at the head.
    pub(super) head_sojourn: Option<Duration>,
}

fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "not-ect",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}

/// Returns the codepoint with this name.
fn ecn_from_name(name: &str) -> PyResult<Ecn> {
    [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]
        .into_iter()
        .find(|ecn| ecn_name(*ecn) == name)
        .ok_or_else(|| {
            let accepted = "Use \"not-ect\", \"ect0\", \"ect1\" or \"ce\"";
            PyValueError::new_err(format!("ecn = {name:?}: no ECN codepoint. {accepted}"))
        })
}

fn kind_name(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::Data => "data",
        PacketKind::Ack => "ack",
        PacketKind::Datagram => "datagram",
    }
}

/// The arrival of a packet at a queue. The packet does not count as waiting.
#[pyclass(frozen, freelist = 16, module = "airpath.parts")]
pub(crate) struct Arrival {
    queue: QueueView,
    size: u64,
    flow: u32,
    kind: PacketKind,
    ecn: Ecn,
}

impl Arrival {
    #[inline]
    pub(super) fn new(packet: &Packet, queue: QueueView) -> Arrival {
        let (size, flow) = (u64::from(packet.size), packet.flow.0);
        Arrival { queue, size, flow, kind: packet.kind, ecn: packet.ecn }
    }
}

#[pymethods]
impl Arrival {
    /// Create the arrival of a data packet, for tests of a discipline.
    #[new]
    #[pyo3(signature = (size, *, now_ns=0, flow=0, ecn="not-ect", packets=0, backlog=0))]
    fn create(
        size: u64,
        now_ns: u64,
        flow: u32,
        ecn: &str,
        packets: usize,
        backlog: u64,
    ) -> PyResult<Arrival> {
        let (now, head_sojourn) = (Time::from_nanos(now_ns), None);
        let queue =
            QueueView { now, packets, backlog, held_packets: 0, held_bytes: 0, head_sojourn };
        Ok(Arrival { queue, size, flow, kind: PacketKind::Data, ecn: ecn_from_name(ecn)? })
    }

    /// Time of the event, s.
    #[getter]
    fn now(&self) -> f64 {
        self.queue.now.as_secs_lossy()
    }

    /// Time of the event, ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.queue.now.as_nanos()
    }

    /// Size of the IP packet, bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.size
    }

    /// Index of the packet's flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.flow
    }

    /// ``"data"``, ``"ack"`` or ``"datagram"``.
    #[getter]
    fn kind(&self) -> &'static str {
        kind_name(self.kind)
    }

    /// ECN codepoint: ``"not-ect"``, ``"ect0"``, ``"ect1"`` or ``"ce"``.
    #[getter]
    fn ecn(&self) -> &'static str {
        ecn_name(self.ecn)
    }

    /// True if the packet can be marked.
    #[getter]
    fn ecn_capable(&self) -> bool {
        self.ecn.is_capable()
    }

    /// Number of waiting packets.
    #[getter]
    fn packets(&self) -> usize {
        self.queue.packets
    }

    /// Bytes of the waiting packets.
    #[getter]
    fn backlog(&self) -> u64 {
        self.queue.backlog
    }

    /// Number of packets that the link holds after their departure.
    #[getter]
    fn held_packets(&self) -> usize {
        self.queue.held_packets
    }

    /// Bytes of the packets that the link holds after their departure.
    #[getter]
    fn held_bytes(&self) -> u64 {
        self.queue.held_bytes
    }

    /// Time since the arrival of the packet at the head, s; None if no packet waits.
    #[getter]
    fn head_sojourn(&self) -> Option<f64> {
        self.queue.head_sojourn.map(Duration::as_secs_lossy)
    }

    /// Time since the arrival of the packet at the head, ns; None if no packet waits.
    #[getter]
    fn head_sojourn_ns(&self) -> Option<u64> {
        self.queue.head_sojourn.map(Duration::as_nanos)
    }

    fn __repr__(&self) -> String {
        let QueueView { packets, backlog, .. } = self.queue;
        format!(
            "Arrival(size={}, now={}, flow={}, packets={packets}, backlog={backlog})",
            self.size,
            self.now(),
            self.flow
        )
    }
}

/// The packet at the head of a queue when the link can send it. The packet counts as waiting.
#[pyclass(frozen, freelist = 16, module = "airpath.parts")]
pub(crate) struct Departure {
    queue: QueueView,
    sojourn: Duration,
    size: u64,
    flow: u32,
    drops: u32,
    kind: PacketKind,
    ecn: Ecn,
}

impl Departure {
    #[inline]
    pub(super) fn new(packet: &Packet, sojourn: Duration, drops: u32, queue: QueueView) -> Self {
        let (size, flow) = (u64::from(packet.size), packet.flow.0);
        Departure { queue, sojourn, size, flow, drops, kind: packet.kind, ecn: packet.ecn }
    }
}

#[pymethods]
impl Departure {
    /// Create the departure of a data packet, for tests of a discipline.
    #[new]
    #[pyo3(signature = (
        size, *, now_ns=0, sojourn_ns=0, flow=0, ecn="not-ect", packets=1, backlog=1500, drops=0
    ))]
    #[allow(clippy::too_many_arguments)]
    fn create(
        size: u64,
        now_ns: u64,
        sojourn_ns: u64,
        flow: u32,
        ecn: &str,
        packets: usize,
        backlog: u64,
        drops: u32,
    ) -> PyResult<Departure> {
        let (now, sojourn) = (Time::from_nanos(now_ns), Duration::from_nanos(sojourn_ns));
        let (held_packets, held_bytes, head_sojourn) = (0, 0, Some(sojourn));
        let queue = QueueView { now, packets, backlog, held_packets, held_bytes, head_sojourn };
        let (kind, ecn) = (PacketKind::Data, ecn_from_name(ecn)?);
        Ok(Departure { queue, sojourn, size, flow, drops, kind, ecn })
    }

    /// Time of the event, s.
    #[getter]
    fn now(&self) -> f64 {
        self.queue.now.as_secs_lossy()
    }

    /// Time of the event, ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.queue.now.as_nanos()
    }

    /// Time since the arrival of the packet, s.
    #[getter]
    fn sojourn(&self) -> f64 {
        self.sojourn.as_secs_lossy()
    }

    /// Time since the arrival of the packet, ns.
    #[getter]
    fn sojourn_ns(&self) -> u64 {
        self.sojourn.as_nanos()
    }

    /// Number of packets that were dropped at the head since the link requested a packet.
    #[getter]
    fn drops(&self) -> u32 {
        self.drops
    }

    /// Size of the IP packet, bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.size
    }

    /// Index of the packet's flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.flow
    }

    /// ``"data"``, ``"ack"`` or ``"datagram"``.
    #[getter]
    fn kind(&self) -> &'static str {
        kind_name(self.kind)
    }

    /// ECN codepoint: ``"not-ect"``, ``"ect0"``, ``"ect1"`` or ``"ce"``.
    #[getter]
    fn ecn(&self) -> &'static str {
        ecn_name(self.ecn)
    }

    /// True if the packet can be marked.
    #[getter]
    fn ecn_capable(&self) -> bool {
        self.ecn.is_capable()
    }

    /// Number of waiting packets, with this one.
    #[getter]
    fn packets(&self) -> usize {
        self.queue.packets
    }

    /// Bytes of the waiting packets, with this one.
    #[getter]
    fn backlog(&self) -> u64 {
        self.queue.backlog
    }

    /// Number of packets that the link holds after their departure.
    #[getter]
    fn held_packets(&self) -> usize {
        self.queue.held_packets
    }

    /// Bytes of the packets that the link holds after their departure.
    #[getter]
    fn held_bytes(&self) -> u64 {
        self.queue.held_bytes
    }

    fn __repr__(&self) -> String {
        let QueueView { packets, backlog, .. } = self.queue;
        format!(
            "Departure(size={}, now={}, sojourn={}, flow={}, packets={packets}, \
             backlog={backlog})",
            self.size,
            self.now(),
            self.sojourn(),
            self.flow
        )
    }
}

/// Numbers of packets and bytes since the previous observation.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) arrivals: u64,
    pub(super) arrived_bytes: u64,
    pub(super) departures: u64,
    pub(super) departed_bytes: u64,
    pub(super) drops: u64,
    pub(super) marks: u64,
}

/// State of a queue, and the packets since the previous observation.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct QueueObservation {
    pub(super) queue: QueueView,
    pub(super) last_sojourn: Option<Duration>,
    pub(super) counts: Counts,
}

#[pymethods]
impl QueueObservation {
    /// Time of the observation, s.
    #[getter]
    fn now(&self) -> f64 {
        self.queue.now.as_secs_lossy()
    }

    /// Time of the observation, ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.queue.now.as_nanos()
    }

    /// Number of waiting packets.
    #[getter]
    fn packets(&self) -> usize {
        self.queue.packets
    }

    /// Bytes of the waiting packets.
    #[getter]
    fn backlog(&self) -> u64 {
        self.queue.backlog
    }

    /// Number of packets that the link holds after their departure.
    #[getter]
    fn held_packets(&self) -> usize {
        self.queue.held_packets
    }

    /// Bytes of the packets that the link holds after their departure.
    #[getter]
    fn held_bytes(&self) -> u64 {
        self.queue.held_bytes
    }

    /// Time since the arrival of the packet at the head, s; None if no packet waits.
    #[getter]
    fn head_sojourn(&self) -> Option<f64> {
        self.queue.head_sojourn.map(Duration::as_secs_lossy)
    }

    /// Time since the arrival of the packet at the head, ns; None if no packet waits.
    #[getter]
    fn head_sojourn_ns(&self) -> Option<u64> {
        self.queue.head_sojourn.map(Duration::as_nanos)
    }

    /// Sojourn time of the last departure, s; None before the first departure.
    #[getter]
    fn last_sojourn(&self) -> Option<f64> {
        self.last_sojourn.map(Duration::as_secs_lossy)
    }

    /// Sojourn time of the last departure, ns; None before the first departure.
    #[getter]
    fn last_sojourn_ns(&self) -> Option<u64> {
        self.last_sojourn.map(Duration::as_nanos)
    }

    /// Number of arrivals since the previous observation, with dropped packets.
    #[getter]
    fn arrivals(&self) -> u64 {
        self.counts.arrivals
    }

    /// Bytes of the arrivals since the previous observation, with dropped packets.
    #[getter]
    fn arrived_bytes(&self) -> u64 {
        self.counts.arrived_bytes
    }

    /// Number of departures since the previous observation.
    #[getter]
    fn departures(&self) -> u64 {
        self.counts.departures
    }

    /// Bytes of the departures since the previous observation.
    #[getter]
    fn departed_bytes(&self) -> u64 {
        self.counts.departed_bytes
    }

    /// Number of packets that the queue has dropped since the previous observation.
    #[getter]
    fn drops(&self) -> u64 {
        self.counts.drops
    }

    /// Number of packets that the queue has marked since the previous observation.
    #[getter]
    fn marks(&self) -> u64 {
        self.counts.marks
    }
}

/// Nominal rate and framing of a link.
#[pyclass(frozen, name = "LinkRate", module = "airpath.parts")]
pub(crate) struct LinkRateView(pub(super) LinkRate);

#[pymethods]
impl LinkRateView {
    /// Nominal rate, bit/s on the air.
    #[getter]
    fn rate(&self) -> u64 {
        self.0.nominal.0
    }

    /// Transmission time of an IP packet of this size at the nominal rate, s; infinite at rate 0.
    fn transmission_time(&self, size: u64) -> f64 {
        match self.0.time_of(Bytes(size)) {
            Duration::FOREVER => f64::INFINITY,
            time => time.as_secs_lossy(),
        }
    }
}
