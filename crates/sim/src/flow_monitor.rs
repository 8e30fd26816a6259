//! Collects statistics of each flow and direction, under the names of ns-3's FlowMonitor.
//!
//! Source: ns-3's `FlowMonitor::FlowStats` and Carneiro, Fortuna & Ricardo 2009, §3.2. Counters
//! start at the end of the warm-up. They count IP packets with headers, including handshake packets
//! and retransmissions. Data packets sent before the end of the warm-up are not counted. Differs: a
//! packet counts as lost when it is dropped; in ns-3, a packet counts as lost if it has not arrived
//! after 10 s. The delay of ACKs is not measured, because an ACK does not carry its sending time.

use crate::observers::PacketEvent;
use crate::stage_map::{Role, StageMap};
use airpath_core::{Duration, FlowDrops, Packet, PacketKind, Port, Recorder, StageId, Time};

/// Statistics of one direction of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectionStats {
    /// txPackets.
    pub tx_packets: u64,
    /// txBytes.
    pub tx_bytes: u64,
    /// rxPackets.
    pub rx_packets: u64,
    /// rxBytes.
    pub rx_bytes: u64,
    /// timesForwarded: arrivals at the links of all hops.
    pub times_forwarded: u64,
    /// delaySum, minDelay, …; `None` for ACKs.
    pub delay: Option<DelayStats>,
    /// timeFirstTxPacket and timeLastTxPacket.
    pub tx_times: Option<(Time, Time)>,
    /// timeFirstRxPacket and timeLastRxPacket.
    pub rx_times: Option<(Time, Time)>,
    /// packetsDropped and bytesDropped.
    pub drops: FlowDrops,
}

/// Delays of received packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayStats {
    /// delaySum.
    pub sum: Duration,
    /// jitterSum: sum of |delay − delay of the previously received packet|.
    pub jitter_sum: Duration,
    /// lastDelay.
    pub last: Duration,
    /// minDelay.
    pub min: Duration,
    /// maxDelay.
    pub max: Duration,
}

impl DelayStats {
    fn add(before: Option<DelayStats>, delay: Duration) -> DelayStats {
        let Some(stats) = before else {
            let (sum, jitter_sum) = (delay, Duration::ZERO);
            return DelayStats { sum, jitter_sum, last: delay, min: delay, max: delay };
        };
        let jitter = delay.as_nanos().abs_diff(stats.last.as_nanos());
        DelayStats {
            sum: stats.sum + delay,
            jitter_sum: stats.jitter_sum + Duration::from_nanos(jitter),
            last: delay,
            min: stats.min.min(delay),
            max: stats.max.max(delay),
        }
    }
}

/// Statistics of one flow: first those of its data packets (or datagrams), then those of its ACKs.
pub type FlowStats = [DirectionStats; 2];

/// Collects the statistics of one replication.
#[derive(Clone, Debug)]
pub(crate) struct FlowMonitor {
    since: Time,
    flows: Vec<FlowStats>,
}

impl FlowMonitor {
    pub(crate) fn new(flows: usize) -> FlowMonitor {
        FlowMonitor { since: Time::ZERO, flows: vec![Default::default(); flows] }
    }

    pub(crate) fn restart(&mut self, now: Time) {
        self.since = now;
        self.flows.fill(Default::default());
    }

    pub(crate) fn see(&mut self, stage_map: &StageMap, passage: &PacketEvent<'_>) {
        let PacketEvent { now, packet, .. } = *passage;
        let is_ack = packet.kind == PacketKind::Ack;
        if !is_ack && packet.sent_at() < self.since {
            return;
        }
        let stats = &mut self.flows[packet.flow.0 as usize][usize::from(is_ack)];
        let role =
            |end: Option<(StageId, Port)>| end.map_or(Role::Between, |end| stage_map.role(end.0));
        if role(passage.from) != Role::Between {
            stats.tx_packets += 1;
            stats.tx_bytes += u64::from(packet.size);
            stats.tx_times = Some(extended(stats.tx_times, now));
        }
        if role(passage.to) != Role::Between {
            stats.receive(packet, now);
        } else if passage.to.is_some_and(|to| stage_map.is_link(to)) {
            stats.times_forwarded += 1;
        }
    }

    /// Returns the statistics of each flow. The numbers of drops come from `recorder`.
    pub(crate) fn finish(mut self, recorder: &Recorder) -> Vec<FlowStats> {
        for (flow, stats) in (0..).zip(&mut self.flows) {
            let [data, acks] = recorder.drops_of(flow);
            stats[0].drops = data;
            stats[1].drops = acks;
        }
        self.flows
    }
}

impl DirectionStats {
    fn receive(&mut self, packet: &Packet, now: Time) {
        self.rx_packets += 1;
        self.rx_bytes += u64::from(packet.size);
        self.rx_times = Some(extended(self.rx_times, now));
        if packet.kind != PacketKind::Ack {
            let delay = now.saturating_since(packet.sent_at());
            self.delay = Some(DelayStats::add(self.delay, delay));
        }
    }
}

/// Returns the times of the first and the last event, after an event at `now`.
fn extended(times: Option<(Time, Time)>, now: Time) -> (Time, Time) {
    (times.map_or(now, |(first, _)| first), now)
}
