//! Counters of packets at the ends of the path.

use crate::packet_io::Side;
use airpath_core::{Delays, Histogram, Packet, PacketKind, Time};

/// One flow, from the start of measurement.
#[derive(Clone, Debug, Default)]
pub struct FlowMeter {
    /// One-way delays of packets in the direction of the data.
    pub delays: Delays,
    /// Delays of ACKs on the reverse path.
    pub ack_delays: Histogram,
    /// Packets that entered the path in the direction of the data.
    pub sent_packets: u64,
    /// Packets that left it there.
    pub delivered_packets: u64,
    /// Their IP bytes.
    pub delivered_bytes: u64,
    /// Of these, those of packets that also entered in the measured time.
    pub measured_bytes: u64,
    /// Segments with payload that left, and segments that only acknowledge and came back.
    pub data_segments: u64,
    /// The latter.
    pub acks: u64,
    /// Packets that came back.
    pub returned_packets: u64,
    /// Their IP bytes.
    pub returned_bytes: u64,
}

/// All flows.
#[derive(Debug)]
pub struct Meters {
    since: Time,
    flows: Vec<FlowMeter>,
    /// IP bytes that left at each side, over the whole run.
    pub bytes: [u64; 2],
}

impl Meters {
    /// Meters of `flows` flows.
    pub fn new(flows: usize) -> Meters {
        Meters { since: Time::ZERO, flows: vec![FlowMeter::default(); flows], bytes: [0; 2] }
    }

    /// Measurement starts: what was counted is forgotten.
    pub fn restart(&mut self, now: Time) {
        self.since = now;
        self.flows.fill(FlowMeter::default());
    }

    /// Meters by flow.
    pub fn flows(&self) -> &[FlowMeter] {
        &self.flows
    }

    /// `packet` enters, at its flow's source or at its sink.
    #[inline]
    pub fn enters(&mut self, packet: &Packet, at_source: bool) {
        if let Some(meter) = self.flows.get_mut(packet.flow.0 as usize)
            && at_source
        {
            meter.sent_packets += 1;
        }
    }

    /// `packet` leaves at `side` and `now`, at its flow's sink or at its source.
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

    /// ACKs that came back for each segment with payload, of all flows.
    pub fn ack_ratio(&self) -> Option<f64> {
        let data: u64 = self.flows.iter().map(|flow| flow.data_segments).sum();
        let acks: u64 = self.flows.iter().map(|flow| flow.acks).sum();
        (data > 0).then(|| acks as f64 / data as f64)
    }
}
