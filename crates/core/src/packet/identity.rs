//! Identity of a packet: the fields that no stage of a path changes.

use super::{FlowId, Packet, PacketKind};

/// The fields of a packet that remain the same from its sender to its receiver. Two packets of one
/// flow and kind have equal identities only if they have the same content and the same send time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketIdentity([u64; 7]);

impl PacketIdentity {
    /// Returns the identity of `packet`.
    pub(crate) fn of(packet: &Packet) -> PacketIdentity {
        let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let (head, [first, second, third]) = (&packet.head, packet.tail.0);
        let is_ack = head.kind == PacketKind::Ack;
        let kind = u32::from(head.low_nanos) | (head.kind as u32) << 16;
        // The second block of other packets is their enqueue time.
        let others =
            if is_ack { [second, third].map(|b| join(b.offset, b.length)) } else { [0; 2] };
        PacketIdentity([
            head.seq,
            join(head.flow.0, head.window),
            join(head.tsval, head.tsecr),
            join(kind, 0),
            join(first.offset, first.length),
            others[0],
            others[1],
        ])
    }
}

impl PacketIdentity {
    /// Returns the flow of the packet.
    pub(crate) fn flow(self) -> FlowId {
        FlowId(self.0[1] as u32)
    }

    /// Returns a hash of the identity by multiplication and rotation (as in FxHash).
    pub(crate) fn hash(self) -> u64 {
        let mix = |hash: u64, word: &u64| {
            (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let hash = self.0.iter().fold(0, mix);
        hash ^ hash >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, SackBlock, Time};

    #[test]
    fn identity_ignores_the_fields_that_stages_change() {
        let at = Time::from_millis;
        let data = Packet::data(FlowId(1), 7, 100, 40, at(3));
        let mut ack = Packet::ack(FlowId(1), 7, 100, 40);
        ack.set_ack_sent_at(at(3), Some(9));
        ack.push_sack(SackBlock { offset: 1, length: 2 });
        for packet in [data, ack] {
            let mut changed = packet;
            changed.set_queued_at(at(70_000));
            changed.ecn = Ecn::Ce;
            changed.feedback = 0.5;
            assert_eq!(PacketIdentity::of(&changed), PacketIdentity::of(&packet));
        }
        let later = Packet::data(FlowId(1), 7, 100, 40, at(4));
        let mut longer = ack;
        longer.push_sack(SackBlock { offset: 5, length: 2 });
        assert_ne!(PacketIdentity::of(&later), PacketIdentity::of(&data));
        assert_ne!(PacketIdentity::of(&longer), PacketIdentity::of(&ack));
    }
}
