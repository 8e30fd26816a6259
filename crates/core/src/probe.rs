//! Probes: time series and counts that stages write if they were requested.

use crate::memory_budget::{MemoryBudget, push_within};
use crate::packet::{Packet, PacketKind};
use crate::stage::{DropReason, QueueId};
use crate::units::{Duration, Time};
use std::sync::Arc;

/// A quantity that can be recorded over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Series {
    /// Congestion window, bytes, of a flow.
    Cwnd = 0,
    /// Slow-start threshold, bytes, of a flow.
    Ssthresh = 1,
    /// RTT sample, s, of a flow.
    Rtt = 2,
    /// Packets waiting in a queue or held by its link.
    Queue = 3,
    /// Time that a packet waited, s; id = flow.
    Sojourn = 4,
    /// A drop; value = reason code, id = flow.
    Drop = 5,
    /// A mark; id = flow.
    Mark = 6,
    /// Regime of a link, from 0.
    Regime = 7,
    /// In-order payload bytes handed to the application, of a flow.
    Delivered = 8,
    /// Sequence number of a data segment that its sender sends, bytes; id = flow.
    SeqSent = 9,
    /// Sequence number of a data segment that arrives at its receiver, bytes; id = flow.
    SeqReceived = 10,
    /// Sequence number of a data segment that is dropped, bytes; id = flow.
    SeqDropped = 11,
    /// Modulation and coding scheme of a link: its number in the link's table, from 0.
    Mcs = 12,
    /// Price of a packet that leaves a queue, s.
    Price = 13,
    /// Averaged length of a queue that a price rests on, bytes.
    AverageQueue = 14,
    /// SNR of a user of a cell at the starts of slots, dB.
    Snr = 15,
    /// Window that a receiver advertises, bytes, of a flow.
    Awnd = 16,
    /// Load factor of a VCP queue in an interval.
    LoadFactor = 17,
}

impl Series {
    /// Every series with its name in scenarios and results.
    pub const ALL: [(Series, &'static str); 18] = [
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
    ];

    /// The unit of its values; `1` for what is a number.
    pub const fn unit(self) -> &'static str {
        match self {
            Series::Rtt | Series::Sojourn | Series::Price => "s",
            Series::Queue => "packets",
            Series::Snr => "dB",
            Series::Drop | Series::Mark | Series::Regime | Series::Mcs | Series::LoadFactor => "1",
            Series::Cwnd
            | Series::Ssthresh
            | Series::Awnd
            | Series::AverageQueue
            | Series::Delivered
            | Series::SeqSent
            | Series::SeqReceived
            | Series::SeqDropped => "bytes",
        }
    }

    /// Whether it is of what happens at queues: its rows name the queue.
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

    /// The series called `name`.
    pub fn from_name(name: &str) -> Option<Series> {
        Series::ALL.iter().find(|(_, n)| *n == name).map(|(series, _)| *series)
    }

    /// Whether it is a level, of which a sample now and then will do. Of the others every value is
    /// kept: counts (bytes, events) add up, a sojourn time is one packet's, and a change of regime
    /// or of MCS holds from then on.
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
        )
    }
}

/// One recorded value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time of the sample.
    pub time: Time,
    /// Number of the flow or component.
    pub id: u32,
    /// Where, of what happens at queues: drops, marks, sojourn times, lengths; `NONE` elsewhere.
    pub queue: QueueId,
    /// The value, in the series' unit.
    pub value: f64,
}

/// Drops of one direction of a flow, by [`DropReason`] code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowDrops {
    /// Packets by drop reason.
    pub packets: [u64; DropReason::ALL.len()],
    /// Bytes of IP packets.
    pub bytes: [u64; DropReason::ALL.len()],
}

/// Drops by flow, data and ACKs apart.
#[derive(Clone, Debug, Default)]
struct DropsByFlow {
    /// Packets of TCP are counted as well as datagrams.
    of_tcp: bool,
    /// Data and datagrams sent before are not counted.
    since: Time,
    flows: Vec<[FlowDrops; 2]>,
}

/// The last value of each component in the current interval, of one level.
///
/// Intervals begin at the multiples of their length. The first value of a component is kept as
/// well: it is the only one until the first interval is over.
#[derive(Clone, Debug, Default)]
struct Thinning {
    /// Number of the interval.
    number: u64,
    /// Samples kept so far.
    kept: Vec<Sample>,
    /// By component: which of `kept` is its last value. `FIRST` where that is not replaced, `UNSEEN`
    /// for a component without a value.
    places: Vec<usize>,
}

impl Thinning {
    const UNSEEN: usize = usize::MAX;
    const FIRST: usize = usize::MAX - 1;

    /// Replaces an earlier value of the current interval.
    fn take(&mut self, sample: Sample) {
        let id = sample.id as usize;
        if self.places.len() <= id {
            self.places.resize(id + 1, Thinning::UNSEEN);
        }
        let place = self.places[id];
        match self.kept.get_mut(place) {
            // A place of an interval before may by now be another component's.
            Some(kept) if kept.id == sample.id => *kept = sample,
            _ => {
                let is_first = place == Thinning::UNSEEN;
                self.places[id] = if is_first { Thinning::FIRST } else { self.kept.len() };
                self.kept.push(sample);
            }
        }
    }
}

/// Keeps the samples of the requested series.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    wanted: u32,
    interval: Duration,
    samples: [Vec<Sample>; Series::ALL.len()],
    thinned: [Thinning; Series::ALL.len()],
    drops: DropsByFlow,
    room: Option<Arc<MemoryBudget>>,
    is_full: bool,
}

impl Recorder {
    /// A recorder of `series`. Of a level (cwnd, queue, …) the last value in each `interval` is kept
    /// for each component, and its first one; counts (drops, bytes) are all kept. Interval zero keeps
    /// everything.
    pub fn new(series: &[Series], interval: Duration) -> Recorder {
        let wanted = series.iter().fold(0, |bits, s| bits | 1 << *s as u32);
        Recorder { wanted, interval, ..Recorder::default() }
    }

    /// Takes memory from `room` only; without, as much as the system gives.
    pub fn keep_within(&mut self, room: Option<Arc<MemoryBudget>>) {
        self.room = room;
    }

    /// Whether there was no memory for a value: what was recorded is not all.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether no series is recorded.
    pub fn is_idle(&self) -> bool {
        self.wanted == 0
    }

    /// Whether `series` is recorded.
    #[inline]
    pub fn is_recorded(&self, series: Series) -> bool {
        self.wanted & (1 << series as u32) != 0
    }

    /// Keeps a value.
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

    /// Moves the values of the current interval to the samples, in order of time.
    fn end_interval(&mut self, series: usize) {
        let kept = &mut self.thinned[series].kept;
        // Stable: of two values at one instant the second holds.
        kept.sort_by_key(|sample| sample.time);
        for sample in kept.drain(..) {
            self.is_full |= !push_within(&mut self.samples[series], sample, self.room.as_deref());
        }
    }

    /// Ends the current intervals: until then the last value of each level is not among the
    /// samples.
    pub fn finish(&mut self) {
        (0..Series::ALL.len()).for_each(|series| self.end_interval(series));
    }

    /// Counts the drops of TCP packets by flow from now on; those of datagrams are always counted.
    pub fn count_drops_by_flow(&mut self) {
        self.drops.of_tcp = true;
    }

    /// Resets the drops by flow. Data and datagrams sent before `now` are not counted from then on.
    pub(crate) fn restart_drop_counts(&mut self, now: Time) {
        self.drops = DropsByFlow { since: now, of_tcp: self.drops.of_tcp, flows: Vec::new() };
    }

    /// Counts the drop of `packet` by flow.
    pub(crate) fn count_drop(&mut self, packet: &Packet, reason: DropReason) {
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

    /// Drops of a flow's data or datagrams, and of its ACKs.
    pub fn drops_of(&self, flow: u32) -> [FlowDrops; 2] {
        self.drops.flows.get(flow as usize).copied().unwrap_or_default()
    }

    /// Recorded samples of `series`, in order of time; of levels, up to the current interval.
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
    fn levels_are_thinned_and_counts_are_not() {
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
    fn a_thinned_level_has_its_first_value_and_the_last_of_each_interval() {
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
