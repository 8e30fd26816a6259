//! Parses the packets that the kernel sends, and converts them to packets of the simulated path.
//!
//! Sources: RFC 791 §3.1, RFC 9293 §3.1, RFC 768, RFC 3168 §5 and §6.1.

use airpath_core::{Ecn, Flags, FlowId, Packet, PacketKind, Time};
use std::net::Ipv4Addr;

const TCP: u8 = 6;
const UDP: u8 = 17;
/// IP protocol numbers of protocols with ports at the same position as TCP (also UDP-Lite, SCTP,
/// DCCP).
const WITH_PORTS: [u8; 5] = [TCP, UDP, 136, 132, 33];

/// Length of an IPv4 header without options, and of the parsed part of a TCP header, bytes.
const SHORTEST_HEADER: usize = 20;

/// Protocol, addresses and ports of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ends {
    /// IP protocol number.
    pub protocol: u8,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Source port; 0 if the packet has no ports, for example a fragment other than the first.
    pub source_port: u16,
    /// Destination port; 0 if the packet has no ports.
    pub destination_port: u16,
}

/// Parsed fields of an IPv4 packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParsedPacket {
    /// Protocol, addresses and ports.
    pub ends: Ends,
    /// Packet kind for queues and links.
    kind: PacketKind,
    ecn: Ecn,
    flags: Flags,
    /// Sequence number of a data segment, acknowledgement number of an ACK, or IP identification of
    /// other packets.
    number: u32,
    payload: u32,
    size: u32,
}

fn word16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn address(bytes: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::from(word32(bytes, at))
}

impl ParsedPacket {
    /// Parses a packet. Returns `None` if it is not IPv4, or truncated.
    pub fn of(bytes: &[u8]) -> Option<ParsedPacket> {
        if bytes.len() < SHORTEST_HEADER || bytes[0] >> 4 != 4 {
            return None;
        }
        let header = usize::from(bytes[0] & 0xf) * 4;
        let size = usize::from(word16(bytes, 2));
        if header < SHORTEST_HEADER || size < header || size > bytes.len() {
            return None;
        }
        let protocol = bytes[9];
        let is_first = word16(bytes, 6) & 0x1fff == 0;
        let transport = &bytes[header..size];
        let has_ports = is_first && WITH_PORTS.contains(&protocol) && transport.len() >= 4;
        let port = |at| if has_ports { word16(transport, at) } else { 0 };
        let ends = Ends {
            protocol,
            source: address(bytes, 12),
            destination: address(bytes, 16),
            source_port: port(0),
            destination_port: port(2),
        };
        let plain = ParsedPacket {
            ends,
            kind: PacketKind::Datagram,
            ecn: ecn_of(bytes[1]),
            flags: Flags::NONE,
            number: u32::from(word16(bytes, 4)),
            payload: size as u32,
            size: size as u32,
        };
        let is_tcp = has_ports && protocol == TCP && transport.len() >= 20;
        Some(if is_tcp { plain.tcp(transport) } else { plain })
    }

    /// Adds the fields of a TCP segment.
    fn tcp(self, segment: &[u8]) -> ParsedPacket {
        let header = (usize::from(segment[12] >> 4) * 4).clamp(20, segment.len());
        let payload = (segment.len() - header) as u32;
        let bits = segment[13];
        let (is_syn, is_fin, is_ack) = (bits & 0x02 != 0, bits & 0x01 != 0, bits & 0x10 != 0);
        let flag = |bit: u8, flag| if bits & bit != 0 { flag } else { Flags::NONE };
        let flags = flag(0x02, Flags::SYN).with(flag(0x40, Flags::ECE));
        let flags = flags.with(flag(0x80, Flags::CWR));
        let is_pure_ack = is_ack && payload == 0 && !is_syn && !is_fin;
        let (kind, number) = if is_pure_ack {
            (PacketKind::Ack, word32(segment, 8))
        } else {
            (PacketKind::Data, word32(segment, 4))
        };
        ParsedPacket { kind, flags, number, payload, ..self }
    }

    /// Returns true for a TCP segment with payload.
    pub fn is_tcp_data(&self) -> bool {
        self.kind == PacketKind::Data && self.payload > 0
    }

    /// Returns true for a pure TCP ACK.
    pub fn is_ack(&self) -> bool {
        self.kind == PacketKind::Ack
    }

    /// Returns the simulated packet for this packet, with flow `flow` and entry time `now`.
    pub fn packet(&self, flow: FlowId, now: Time) -> Packet {
        let number = u64::from(self.number);
        let mut packet = match self.kind {
            PacketKind::Ack => {
                let mut ack = Packet::ack(flow, number, u32::MAX, self.size);
                ack.set_ack_sent_at(now, None);
                ack
            }
            PacketKind::Data => {
                Packet::data(flow, number, self.payload, self.size - self.payload, now)
            }
            PacketKind::Datagram => {
                Packet::datagram(flow, number, airpath_core::Bytes(u64::from(self.size)), now)
            }
        };
        packet.ecn = self.ecn;
        packet.flags = packet.flags.with(self.flags);
        packet
    }
}

/// Returns the ECN field of a type-of-service byte.
fn ecn_of(service: u8) -> Ecn {
    match service & 0b11 {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Writes the ECN field of the simulated packet into the IP header and updates the checksum (RFC
/// 1624 eq. 3).
pub fn write_ecn(bytes: &mut [u8], ecn: Ecn) {
    if bytes.len() < SHORTEST_HEADER || ecn_of(bytes[1]) == ecn {
        return;
    }
    let before = word16(bytes, 0);
    bytes[1] = bytes[1] & !0b11 | ecn.bits();
    let after = word16(bytes, 0);
    let sum = u32::from(!word16(bytes, 10)) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    bytes[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_capture::internet_checksum;
    use proptest::prelude::*;

    /// Returns an IPv4 packet with `transport` as payload and a correct checksum.
    fn ipv4(protocol: u8, service: u8, transport: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x45, service, 0, 0, 0, 9, 0x40, 0, 64, protocol, 0, 0];
        bytes.extend([100, 64, 0, 1, 100, 65, 0, 3]);
        bytes.extend(transport);
        let size = bytes.len() as u16;
        bytes[2..4].copy_from_slice(&size.to_be_bytes());
        let checksum = internet_checksum(&[&bytes[..20]]);
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    fn segment(bits: u8, payload: usize) -> Vec<u8> {
        let mut segment = vec![0x4e, 0x20, 0x4e, 0x21, 0, 0, 1, 0, 0, 0, 2, 0, 0x80, bits];
        segment.resize(32 + payload, 7);
        segment
    }

    fn seen(bytes: &[u8]) -> ParsedPacket {
        ParsedPacket::of(bytes).expect("an IPv4 packet")
    }

    #[test]
    fn a_segment_with_payload_is_data_and_one_without_is_an_ack() {
        let data = seen(&ipv4(TCP, 0b10, &segment(0x18, 1448)));
        assert_eq!((data.ends.source_port, data.ends.destination_port), (20000, 20001));
        assert_eq!(data.ends.destination, Ipv4Addr::new(100, 65, 0, 3));
        let packet = data.packet(FlowId(4), Time::from_millis(5));
        assert_eq!((packet.kind, packet.seq, packet.size), (PacketKind::Data, 256, 1500));
        assert_eq!((packet.payload_bytes(), packet.ecn), (1448, Ecn::Ect0));
        assert_eq!((packet.flow, packet.sent_at()), (FlowId(4), Time::from_millis(5)));
        let ack = seen(&ipv4(TCP, 0, &segment(0x50, 0))).packet(FlowId(0), Time::ZERO);
        assert_eq!((ack.kind, ack.seq, ack.size), (PacketKind::Ack, 512, 52));
        assert!(ack.flags.contains(Flags::ECE));
        for bits in [0x02, 0x12, 0x11] {
            let other = seen(&ipv4(TCP, 0, &segment(bits, 0))).packet(FlowId(0), Time::ZERO);
            assert_eq!(other.kind, PacketKind::Data, "{bits:#x}");
            assert_eq!(other.flags.contains(Flags::SYN), bits & 2 != 0);
        }
    }

    #[test]
    fn a_later_fragment_and_icmp_have_no_ports() {
        let mut fragment = ipv4(UDP, 0, &[1; 100]);
        assert_eq!(seen(&fragment).ends.source_port, 0x0101);
        fragment[7] = 1;
        let ends = seen(&fragment).ends;
        assert_eq!((ends.source_port, ends.destination_port, ends.protocol), (0, 0, UDP));
        assert_eq!(seen(&ipv4(1, 0, &[8; 64])).ends.source_port, 0);
    }

    #[test]
    fn truncated_or_non_ipv4_packet_is_none() {
        let whole = ipv4(TCP, 0, &segment(0x10, 10));
        assert!(ParsedPacket::of(&whole[..whole.len() - 1]).is_none());
        assert!(ParsedPacket::of(&[]).is_none());
        for (at, value) in [(0, 0x65), (0, 0x44), (3, 19)] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            if at == 3 {
                bytes[2] = 0;
            }
            assert!(ParsedPacket::of(&bytes).is_none(), "byte {at} = {value}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            if let Some(seen) = ParsedPacket::of(&bytes) {
                let packet = seen.packet(FlowId(0), Time::ZERO);
                prop_assert!(usize::from(packet.size) <= bytes.len());
            }
        }

        #[test]
        fn rfc_1624_write_ecn_updates_the_checksum(service in any::<u8>(), id in any::<u16>()) {
            let mut bytes = ipv4(TCP, service, &segment(0x10, 4));
            bytes[4..6].copy_from_slice(&id.to_be_bytes());
            bytes[10..12].fill(0);
            let checksum = internet_checksum(&[&bytes[..20]]);
            bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
            write_ecn(&mut bytes, Ecn::Ce);
            prop_assert_eq!(bytes[1], service | 0b11);
            // The checksum over a header with a correct checksum is 0.
            prop_assert_eq!(internet_checksum(&[&bytes[..20]]), 0);
        }
    }
}
