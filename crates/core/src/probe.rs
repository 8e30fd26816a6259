//! Probes: time series and counts that stages write when somebody asked for them.

use crate::packet::{Packet, PacketKind};
use crate::room::{Room, push_within};
use crate::stage::DropReason;
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
}

impl Series {
    /// Every series with its name in scenarios and results.
    pub const ALL: [(Series, &'static str); 13] = [
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
    ];

    /// The series called `name`.
    pub fn from_name(name: &str) -> Option<Series> {
        Series::ALL.iter().find(|(_, n)| *n == name).map(|(series, _)| *series)
    }

    /// Whether every value is kept: counts (bytes, events) add up, a sojourn time is one packet's,
    /// and a change of regime or of MCS tells what holds from then on. Others are levels, of which
    /// a sample now and then will do.
    const fn is_kept_whole(self) -> bool {
        !matches!(self, Series::Cwnd | Series::Ssthresh | Series::Rtt | Series::Queue)
    }
}

/// One recorded value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// Which flow or part.
    pub id: u32,
    /// The value, in the series' unit.
    pub value: f64,
}

/// Drops of one direction of a flow, by [`DropReason`] code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowDrops {
    /// Packets.
    pub packets: [u64; DropReason::ALL.len()],
    /// Bytes of IP packets.
    pub bytes: [u64; DropReason::ALL.len()],
}

/// Drops of every flow, data and ACKs apart.
#[derive(Clone, Debug, Default)]
struct DropsByFlow {
    since: Time,
    flows: Vec<[FlowDrops; 2]>,
}

/// Keeps the samples of the series that were asked for.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    wanted: u32,
    interval: Duration,
    samples: [Vec<Sample>; Series::ALL.len()],
    last: [Vec<Time>; Series::ALL.len()],
    drops: Option<Box<DropsByFlow>>,
    room: Option<Arc<Room>>,
    is_full: bool,
}

impl Recorder {
    /// A recorder of `series`. Of a level (cwnd, queue, …) at most one value per `interval` and
    /// part is kept; counts (drops, bytes) are all kept. Interval zero keeps everything.
    pub fn new(series: &[Series], interval: Duration) -> Recorder {
        let wanted = series.iter().fold(0, |bits, s| bits | 1 << *s as u32);
        Recorder { wanted, interval, ..Recorder::default() }
    }

    /// Takes memory from `room` only; without, as much as the system gives.
    pub fn keep_within(&mut self, room: Option<Arc<Room>>) {
        self.room = room;
    }

    /// Whether there was no memory for a value: what was recorded is not all.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether `series` is recorded.
    #[inline]
    pub fn wants(&self, series: Series) -> bool {
        self.wanted & (1 << series as u32) != 0
    }

    /// Keeps a value.
    #[cold]
    pub fn push(&mut self, series: Series, time: Time, id: u32, value: f64) {
        let index = series as usize;
        if self.interval > Duration::ZERO && !series.is_kept_whole() {
            let last = &mut self.last[index];
            let id = id as usize;
            if last.len() <= id {
                last.resize(id + 1, Time::NEVER);
            }
            if !last[id].is_never() && time < last[id] + self.interval {
                return;
            }
            last[id] = time;
        }
        let sample = Sample { time, id, value };
        self.is_full |= !push_within(&mut self.samples[index], sample, self.room.as_deref());
    }

    /// Counts drops by flow from now on.
    pub fn count_drops_by_flow(&mut self) {
        self.drops = Some(Box::default());
    }

    /// Forgets the drops counted so far, and those of data that was sent before `now`.
    pub fn restart_drop_counts(&mut self, now: Time) {
        if let Some(drops) = &mut self.drops {
            **drops = DropsByFlow { since: now, flows: Vec::new() };
        }
    }

    /// Counts the drop of `packet`, when drops are counted.
    pub(crate) fn count_drop(&mut self, packet: &Packet, reason: DropReason) {
        let Some(drops) = &mut self.drops else { return };
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

    /// Drops of a flow's data, and of its ACKs.
    pub fn drops_of(&self, flow: u32) -> [FlowDrops; 2] {
        let drops = self.drops.as_ref().and_then(|drops| drops.flows.get(flow as usize));
        drops.copied().unwrap_or_default()
    }

    /// What was recorded of `series`, in order of time.
    pub fn samples(&self, series: Series) -> &[Sample] {
        &self.samples[series as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_thinned_and_counts_are_not() {
        let series = [Series::Cwnd, Series::Drop, Series::Sojourn];
        let mut recorder = Recorder::new(&series, Duration::from_millis(10));
        for ms in 0..30 {
            for each in series {
                recorder.push(each, Time::from_millis(ms), 0, 1.0);
            }
        }
        assert_eq!(recorder.samples(Series::Cwnd).len(), 3);
        assert_eq!(recorder.samples(Series::Drop).len(), 30);
        assert_eq!(recorder.samples(Series::Sojourn).len(), 30);
        assert!(!recorder.wants(Series::Queue));
    }
}
