//! Probes: time series and counts that stages record if the scenario requests them.

use crate::delay_parts::{DelayParts, PacketInstant};
use crate::memory_budget::{MemoryBudget, push_within};
use crate::packet::{Packet, PacketKind};
use crate::stage::{DropReason, QueueId, StageId};
use crate::units::{Duration, Time};
use std::sync::Arc;

/// A quantity that can be recorded over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Series {
    /// Congestion window of a flow, bytes.
    Cwnd = 0,
    /// Slow-start threshold of a flow, bytes.
    Ssthresh = 1,
    /// RTT sample of a flow, s.
    Rtt = 2,
    /// Packets waiting in a queue or held by its link.
    Queue = 3,
    /// Sojourn time of a packet, s. The sample's id is the flow.
    Sojourn = 4,
    /// Drop of a packet. The value is the reason code, the sample's id is the flow.
    Drop = 5,
    /// Mark of a packet. The sample's id is the flow.
    Mark = 6,
    /// Index of the current regime of a link, from 0.
    Regime = 7,
    /// In-order payload of a flow delivered to the application, bytes.
    Delivered = 8,
    /// Sequence number of a data segment that is sent, bytes. The sample's id is the flow.
    SeqSent = 9,
    /// Sequence number of a data segment that arrives at the receiver, bytes. The sample's id is
    /// the flow.
    SeqReceived = 10,
    /// Sequence number of a data segment that is dropped, bytes. The sample's id is the flow.
    SeqDropped = 11,
    /// Modulation and coding scheme (MCS) of a link: index in the link's table, from 0.
    Mcs = 12,
    /// Price of a packet that leaves a queue, s.
    Price = 13,
    /// Averaged queue length from which a price is computed, bytes.
    AverageQueue = 14,
    /// SNR of a user of a cell at the start of a slot, dB.
    Snr = 15,
    /// Window that the receiver of a flow advertises, bytes.
    Awnd = 16,
    /// Load factor that a VCP queue measured in an interval.
    LoadFactor = 17,
    /// State of a BBR flow: 0 Startup, 1 Drain, 2 DOWN, 3 CRUISE, 4 REFILL, 5 UP, 6 ProbeRTT.
    BbrState = 18,
    /// Bandwidth of a BBR flow's model, bit/s of payload.
    BbrBandwidth = 19,
    /// Minimum RTT of a BBR flow's model, s.
    BbrMinRtt = 20,
    /// Bound of a BBR flow's bytes in the network by losses, bytes. Recorded while it is set.
    BbrInflightHi = 21,
}

impl Series {
    /// All series, each with its name in scenarios and results.
    pub const ALL: [(Series, &'static str); 22] = [
        (Series::Cwnd, "cwnd"),
        (Series::Ssthresh, "ssthresh"),
        (Series::Rtt, "rtt"),
        (Series::Queue, "queue"),
        (Series::Sojourn, "sojourn"),
        (Series::Drop, "drop"),
        (Series::Mark, "mark"),
        (Series::Regime, "regime"),
        (Series::Delivered, "delivered"),
        (Series::SeqSent, "seq_sent"),
        (Series::SeqReceived, "seq_received"),
        (Series::SeqDropped, "seq_dropped"),
        (Series::Mcs, "mcs"),
        (Series::Price, "price"),
        (Series::AverageQueue, "average_queue"),
        (Series::Snr, "snr"),
        (Series::Awnd, "awnd"),
        (Series::LoadFactor, "load_factor"),
        (Series::BbrState, "bbr_state"),
        (Series::BbrBandwidth, "bbr_bandwidth"),
        (Series::BbrMinRtt, "bbr_min_rtt"),
        (Series::BbrInflightHi, "bbr_inflight_hi"),
    ];

    /// Returns the unit of the values; `1` for values without a unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Series::Rtt | Series::Sojourn | Series::Price | Series::BbrMinRtt => "s",
            Series::BbrBandwidth => "bit/s",
            Series::Queue => "packets",
            Series::Snr => "dB",
            Series::Drop
            | Series::Mark
            | Series::Regime
            | Series::Mcs
            | Series::LoadFactor
            | Series::BbrState => "1",
            Series::Cwnd
            | Series::Ssthresh
            | Series::Awnd
            | Series::AverageQueue
            | Series::BbrInflightHi
            | Series::Delivered
            | Series::SeqSent
            | Series::SeqReceived
            | Series::SeqDropped => "bytes",
        }
    }

    /// Returns true if the series describes events at queues, so that its rows contain the queue.
    pub const fn is_at_queues(self) -> bool {
        matches!(
            self,
            Series::Queue
                | Series::Sojourn
                | Series::Drop
                | Series::Mark
                | Series::SeqDropped
                | Series::Price
                | Series::AverageQueue
                | Series::LoadFactor
        )
    }

    /// Returns the series called `name`.
    pub fn from_name(name: &str) -> Option<Series> {
        Series::ALL.iter().find(|(_, n)| *n == name).map(|(series, _)| *series)
    }

    /// Returns true if the series is a level, of which one value per interval is sufficient. All
    /// values of the other series are kept, because counts (bytes, events) are summed, a sojourn
    /// time belongs to one packet, and a change of regime or MCS is valid until the next change.
    pub const fn is_level(self) -> bool {
        matches!(
            self,
            Series::Cwnd
                | Series::Ssthresh
                | Series::Awnd
                | Series::Rtt
                | Series::Queue
                | Series::Price
                | Series::AverageQueue
                | Series::LoadFactor
                | Series::Snr
                | Series::BbrState
                | Series::BbrBandwidth
                | Series::BbrMinRtt
                | Series::BbrInflightHi
        )
    }
}

/// One recorded value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time of the sample.
    pub time: Time,
    /// Index of the flow or component.
    pub id: u32,
    /// Queue, for events at queues (drops, marks, sojourn times, lengths); otherwise `NONE`.
    pub queue: QueueId,
    /// Value, in the unit of the series.
    pub value: f64,
}

/// Drops of one direction of a flow. The index in each array is the [`DropReason`] code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowDrops {
    /// Number of dropped packets per drop reason.
    pub packets: [u64; DropReason::ALL.len()],
    /// Size of the dropped IP packets per drop reason, bytes.
    pub bytes: [u64; DropReason::ALL.len()],
}

/// Drops per flow.
#[derive(Clone, Debug, Default)]
struct DropsByFlow {
    /// True if drops of TCP packets are counted in addition to drops of datagrams.
    of_tcp: bool,
    /// Data and datagrams sent before this time are not counted.
    since: Time,
    flows: Vec<[FlowDrops; 2]>,
}

/// Thinning of the samples of one level: keeps the last value of each component per interval.
///
/// Intervals begin at multiples of their length. The first value of each component is also kept,
/// because no other value precedes the end of the first interval.
#[derive(Clone, Debug, Default)]
struct Thinning {
    /// Index of the current interval.
    number: u64,
    /// Samples of the current interval.
    kept: Vec<Sample>,
    /// For each component: index in `kept` of the component's last value. `FIRST` if this value
    /// must not be replaced, `UNSEEN` if the component has no value.
    places: Vec<usize>,
}

impl Thinning {
    const UNSEEN: usize = usize::MAX;
    const FIRST: usize = usize::MAX - 1;

    /// Adds a value. The value replaces an earlier value of the same component in the current
    /// interval.
    fn take(&mut self, sample: Sample) {
        let id = sample.id as usize;
        if self.places.len() <= id {
            self.places.resize(id + 1, Thinning::UNSEEN);
        }
        let place = self.places[id];
        match self.kept.get_mut(place) {
            // The stored index may be from an earlier interval; then the entry at this index
            // belongs to another component.
            Some(kept) if kept.id == sample.id => *kept = sample,
            _ => {
                let is_first = place == Thinning::UNSEEN;
                self.places[id] = if is_first { Thinning::FIRST } else { self.kept.len() };
                self.kept.push(sample);
            }
        }
    }
}

/// Bit of `Recorder::wanted` that is set if the parts of delays are recorded.
const DELAY_PARTS: u32 = 1 << 31;

/// Recorder of the requested series and of the parts of delays.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    wanted: u32,
    interval: Duration,
    samples: [Vec<Sample>; Series::ALL.len()],
    thinned: [Thinning; Series::ALL.len()],
    drops: DropsByFlow,
    delay_parts: Option<Box<DelayParts>>,
    room: Option<Arc<MemoryBudget>>,
    is_full: bool,
}

impl Recorder {
    /// Creates a recorder of `series`. For a level (cwnd, queue, …), the recorder keeps the first
    /// value of each component and its last value in each `interval`. For counts (drops, bytes), it
    /// keeps all values. If `interval` is zero, it keeps all values of all series.
    pub fn new(series: &[Series], interval: Duration) -> Recorder {
        let wanted = series.iter().fold(0, |bits, s| bits | 1 << *s as u32);
        Recorder { wanted, interval, ..Recorder::default() }
    }

    /// Enables the record of the parts of delays.
    pub fn record_delay_parts(&mut self, parts: DelayParts) {
        self.wanted |= DELAY_PARTS;
        self.delay_parts = Some(Box::new(parts));
    }

    /// Returns the parts of delays, if they are recorded.
    pub fn delay_parts(&self) -> Option<&DelayParts> {
        self.delay_parts.as_deref()
    }

    /// Same as [`Recorder::delay_parts`], to record the steps of packets.
    #[inline]
    pub fn delay_parts_mut(&mut self) -> Option<&mut DelayParts> {
        self.delay_parts.as_deref_mut()
    }

    /// Returns true if departures from queues are recorded: sojourn times or parts of delays.
    #[inline]
    pub(crate) fn records_departures(&self) -> bool {
        self.wanted & (1 << Series::Sojourn as u32 | DELAY_PARTS) != 0
    }

    /// Returns true if the parts of delays are recorded.
    #[inline]
    pub(crate) fn records_delay_parts(&self) -> bool {
        self.wanted & DELAY_PARTS != 0
    }

    /// Records that `packet`, which is in `stage`, passes `instant` at `at`.
    pub(crate) fn note_instant(
        &mut self,
        packet: &Packet,
        stage: StageId,
        instant: PacketInstant,
        at: Time,
    ) {
        if let Some(parts) = &mut self.delay_parts {
            parts.note(packet, stage, instant, at);
        }
    }

    /// Limits the memory of the recordings to the budget `room`. `None`: the limit is the system
    /// memory.
    pub fn keep_within(&mut self, room: Option<Arc<MemoryBudget>>) {
        self.room = room;
    }

    /// Returns true if a value was discarded because memory was exhausted.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns true if neither series nor parts of delays are recorded.
    pub fn is_idle(&self) -> bool {
        self.wanted == 0
    }

    /// Returns true if `series` is recorded.
    #[inline]
    pub fn is_recorded(&self, series: Series) -> bool {
        self.wanted & (1 << series as u32) != 0
    }

    /// Records a value.
    pub fn push(&mut self, series: Series, sample: Sample) {
        if self.interval > Duration::ZERO && series.is_level() {
            let number = sample.time.as_nanos() / self.interval.as_nanos();
            if number != self.thinned[series as usize].number {
                self.end_interval(series as usize);
                self.thinned[series as usize].number = number;
            }
            return self.thinned[series as usize].take(sample);
        }
        self.is_full |=
            !push_within(&mut self.samples[series as usize], sample, self.room.as_deref());
    }

    /// Moves the values of the current interval to the samples, in time order.
    fn end_interval(&mut self, series: usize) {
        let kept = &mut self.thinned[series].kept;
        // The sort is stable, so two values at the same time remain in their order.
        kept.sort_by_key(|sample| sample.time);
        for sample in kept.drain(..) {
            self.is_full |= !push_within(&mut self.samples[series], sample, self.room.as_deref());
        }
    }

    /// Ends the current intervals. Before this call, the samples do not contain the last values of
    /// levels.
    pub fn finish(&mut self) {
        (0..Series::ALL.len()).for_each(|series| self.end_interval(series));
    }

    /// Enables the counts of dropped TCP packets per flow. Dropped datagrams are always counted.
    pub fn count_drops_by_flow(&mut self) {
        self.drops.of_tcp = true;
    }

    /// Resets the drop counts per flow and the sums of the parts of delays. From now on, drops of data and datagrams that were sent
    /// before `now` are not counted.
    pub(crate) fn restart_counts(&mut self, now: Time) {
        if let Some(parts) = &mut self.delay_parts {
            parts.restart();
        }
        self.drops = DropsByFlow { since: now, of_tcp: self.drops.of_tcp, flows: Vec::new() };
    }

    /// Counts the drop of `packet` by `stage` for its flow.
    pub(crate) fn count_drop(&mut self, packet: &Packet, stage: StageId, reason: DropReason) {
        if let Some(parts) = &mut self.delay_parts {
            parts.forget(packet, stage);
        }
        let drops = &mut self.drops;
        if packet.kind != PacketKind::Datagram && !drops.of_tcp {
            return;
        }
        let is_ack = packet.kind == PacketKind::Ack;
        if !is_ack && packet.sent_at() < drops.since {
            return;
        }
        let flow = packet.flow.0 as usize;
        if drops.flows.len() <= flow {
            drops.flows.resize(flow + 1, Default::default());
        }
        let counts = &mut drops.flows[flow][usize::from(is_ack)];
        counts.packets[reason as usize] += 1;
        counts.bytes[reason as usize] += u64::from(packet.size);
    }

    /// Returns the drops of a flow in an array of two: drops of data or datagrams, drops of ACKs.
    pub fn drops_of(&self, flow: u32) -> [FlowDrops; 2] {
        self.drops.flows.get(flow as usize).copied().unwrap_or_default()
    }

    /// Returns the recorded samples of `series` in time order. For levels, samples of the current
    /// interval are not included.
    pub fn samples(&self, series: Series) -> &[Sample] {
        &self.samples[series as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ms: u64, id: u32, value: f64) -> Sample {
        Sample { time: Time::from_millis(ms), id, queue: QueueId::NONE, value }
    }

    #[test]
    fn recorder_thins_levels_and_keeps_all_counts() {
        let series = [Series::Cwnd, Series::Drop, Series::Sojourn];
        let mut recorder = Recorder::new(&series, Duration::from_millis(10));
        for ms in 0..30 {
            for each in series {
                recorder.push(each, sample(ms, 0, 1.0));
            }
        }
        recorder.finish();
        assert_eq!(recorder.samples(Series::Cwnd).len(), 4);
        assert_eq!(recorder.samples(Series::Drop).len(), 30);
        assert_eq!(recorder.samples(Series::Sojourn).len(), 30);
        assert!(!recorder.is_recorded(Series::Queue));
    }

    #[test]
    fn thinned_level_keeps_its_first_value_and_the_last_of_each_interval() {
        let mut recorder = Recorder::new(&[Series::Queue], Duration::from_millis(10));
        let all = [
            (0, 0, 1.0),
            (1, 1, 7.0),
            (2, 0, 2.0),
            (8, 1, 9.0),
            (9, 0, 0.0),
            (10, 1, 5.0),
            (12, 1, 6.0),
            (40, 0, 3.0),
            (41, 1, 4.0),
            (45, 0, 8.0),
            (45, 0, 0.0),
        ];
        for (ms, id, value) in all {
            recorder.push(Series::Queue, sample(ms, id, value));
        }
        let found = |recorder: &Recorder| -> Vec<(u64, u32, f64)> {
            let samples = recorder.samples(Series::Queue).iter();
            samples.map(|s| (s.time.as_nanos() / 1_000_000, s.id, s.value)).collect()
        };
        let before = vec![(0, 0, 1.0), (1, 1, 7.0), (8, 1, 9.0), (9, 0, 0.0), (12, 1, 6.0)];
        assert_eq!(found(&recorder), before);
        recorder.finish();
        recorder.finish();
        assert_eq!(found(&recorder), [before, vec![(41, 1, 4.0), (45, 0, 0.0)]].concat());
    }
}
