//! Counters of packets at the ends of the path.

use crate::packet_io::Side;
use airpath_core::{Delays, Histogram, Packet, PacketKind, Time};

/// Counters of one flow since the start of measurement.
#[derive(Clone, Debug, Default)]
pub struct FlowMeter {
    /// One-way delays of the packets that travel in the direction of the data.
    pub delays: Delays,
    /// Delays of ACKs on the reverse path.
    pub ack_delays: Histogram,
    /// Number of packets that entered the path in the direction of the data.
    pub sent_packets: u64,
    /// Number of packets that left the path in the direction of the data.
    pub delivered_packets: u64,
    /// IP bytes of these packets.
    pub delivered_bytes: u64,
    /// IP bytes of those delivered packets that also entered the path in the measured time.
    pub measured_bytes: u64,
    /// Number of segments with payload that left the path.
    pub data_segments: u64,
    /// Number of pure ACKs that returned to the source.
    pub acks: u64,
    /// Number of packets that returned to the source.
    pub returned_packets: u64,
    /// IP bytes of these packets.
    pub returned_bytes: u64,
}

/// Meters of all flows.
#[derive(Debug)]
pub struct Meters {
    since: Time,
    flows: Vec<FlowMeter>,
    /// IP bytes of the packets that left the path at each side, over the complete run.
    pub bytes: [u64; 2],
}

impl Meters {
    /// Creates meters for `flows` flows.
    pub fn new(flows: usize) -> Meters {
        Meters { since: Time::ZERO, flows: vec![FlowMeter::default(); flows], bytes: [0; 2] }
    }

    /// Resets the counters at the start of measurement.
    pub fn restart(&mut self, now: Time) {
        self.since = now;
        self.flows.fill(FlowMeter::default());
    }

    /// Returns the meters by flow.
    pub fn flows(&self) -> &[FlowMeter] {
        &self.flows
    }

    /// Counts a packet that enters the path, at the source of its flow if `at_source`, otherwise at
    /// the sink.
    #[inline]
    pub fn enters(&mut self, packet: &Packet, at_source: bool) {
        if let Some(meter) = self.flows.get_mut(packet.flow.0 as usize)
            && at_source
        {
            meter.sent_packets += 1;
        }
    }

    /// Counts a packet that leaves the path at `side` at the time `now`: at the sink of its flow if
    /// `at_sink`, otherwise at the source.
    #[inline]
    pub fn leaves(&mut self, packet: &Packet, side: Side, at_sink: bool, now: Time) {
        let bytes = u64::from(packet.size);
        self.bytes[side as usize] += bytes;
        let Some(meter) = self.flows.get_mut(packet.flow.0 as usize) else { return };
        let is_ack = packet.kind == PacketKind::Ack;
        if !at_sink {
            meter.returned_packets += 1;
            meter.returned_bytes += bytes;
            if is_ack {
                meter.acks += 1;
                meter.ack_delays.add(packet.ack_age(now, false));
            }
            return;
        }
        meter.delivered_packets += 1;
        meter.delivered_bytes += bytes;
        meter.data_segments += u64::from(packet.kind == PacketKind::Data);
        let delay = if is_ack {
            packet.ack_age(now, false)
        } else {
            now.saturating_since(packet.sent_at())
        };
        meter.delays.add(delay);
        if now.saturating_since(self.since) >= delay {
            meter.measured_bytes += bytes;
        }
    }

    /// Returns the number of returned ACKs per segment with payload, over all flows.
    pub fn ack_ratio(&self) -> Option<f64> {
        let data: u64 = self.flows.iter().map(|flow| flow.data_segments).sum();
        let acks: u64 = self.flows.iter().map(|flow| flow.acks).sum();
        (data > 0).then(|| acks as f64 / data as f64)
    }
}
