//! IPv4, TCP and UDP headers of the packets of one flow.
//!
//! Source: RFC 791 §3.1, RFC 9293 §3.1 and §3.2, RFC 2018 §2 and §3, RFC 7323 §2.2 and §3.2, RFC
//! 3168 §5 and §6.1, RFC 768, RFC 6864 §4.1, RFC 6994 §3 (option with a price). The payload is all
//! zeros and is not stored.
//!
//! Differences from the simulated packet: a SYN in the capture includes its options, so it is up to
//! 20 bytes longer than in the simulation. If the header size in the scenario is smaller than that
//! of IPv4 and TCP (or UDP), every packet in the capture is longer by the difference.

use crate::checksum::internet_checksum;
use airpath_core::{Flags, FlowId, Packet, PacketKind};
use std::net::Ipv4Addr;

/// Maximum number of stored bytes per packet: an IPv4 header and the longest TCP header.
pub const SNAP_LENGTH: u32 = 80;

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// Maximum length of TCP options, bytes (RFC 9293 §3.1: Data Offset has four bits).
const MOST_OPTIONS: usize = 40;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
/// Don't Fragment: the packet is atomic, so its identification is arbitrary (RFC 6864 §4.1).
const DONT_FRAGMENT: u16 = 0x4000;
const LARGEST_PACKET: usize = 65_535;
/// Largest shift of the window scale option (RFC 7323 §2.3).
const LARGEST_SHIFT: u8 = 14;

const FIRST_DYNAMIC_PORT: u16 = 49_152;
const SINK_PORT: u16 = 5001;

const FLAG_SYN: u8 = 0x02;
const FLAG_ACK: u8 = 0x10;
const FLAG_ECE: u8 = 0x40;
const FLAG_CWR: u8 = 0x80;

const OPTION_NOP: u8 = 1;
const OPTION_MSS: u8 = 2;
const OPTION_WINDOW_SCALE: u8 = 3;
const OPTION_SACK_PERMITTED: u8 = 4;
const OPTION_SACK: u8 = 5;
const OPTION_TIMESTAMPS: u8 = 8;
/// The first of the two option kinds for experiments (RFC 6994 §3).
const OPTION_EXPERIMENT: u8 = 253;
/// Experiment identifier (ExID) of the price option; not registered.
const PRICE_EXPERIMENT: u16 = 0xc1a4;

/// Options that a connection negotiates in SYN and SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSettings {
    /// Maximum segment size, bytes.
    pub mss: u32,
    /// True if SACK is permitted (RFC 2018 §2).
    pub sack: bool,
    /// True if every segment carries timestamps (RFC 7323 §3.2).
    pub timestamps: bool,
    /// True if the feedback of ACKs is a counter of accurate ECN (RFC 9768), not a price.
    pub accurate_ecn: bool,
    /// Largest advertised window, bytes. A window above 65 535 is scaled.
    pub receive_window: u64,
}

impl TcpSettings {
    /// Returns Shift.Cnt (RFC 7323 §2.2): the smallest shift with which the window fits into 16
    /// bits.
    pub fn window_shift(&self) -> u8 {
        (0..LARGEST_SHIFT)
            .find(|shift| self.receive_window >> shift <= u64::from(u16::MAX))
            .unwrap_or(LARGEST_SHIFT)
    }
}

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// IPv4 address of the endpoint.
    pub address: Ipv4Addr,
    /// TCP or UDP port of the endpoint.
    pub port: u16,
}

/// Headers of one packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    bytes: [u8; SNAP_LENGTH as usize],
    length: usize,
    original_length: u32,
}

impl Headers {
    /// Returns the stored bytes: the packet without its payload.
    pub fn stored(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the size of the complete IP packet, bytes.
    pub fn original_length(&self) -> u32 {
        self.original_length
    }
}

/// Generator of the headers of the packets of one flow.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Sender of the data.
    pub source: Endpoint,
    /// Receiver of the data.
    pub sink: Endpoint,
    /// TCP options; `None` for datagrams.
    tcp: Option<TcpSettings>,
    shift: u8,
    /// Initial sequence number of the source.
    source_isn: u32,
    /// Initial sequence number of the sink.
    sink_isn: u32,
}

impl Connection {
    /// Creates the generator for `flow`. If `tcp` is `None`, the flow carries datagrams.
    ///
    /// For flow n, the address of the source is 10.0.0.0 + n + 1 and that of the sink 10.128.0.0 +
    /// n + 1. The source port is a dynamic port, selected by n modulo the number of dynamic ports.
    /// The sink port is 5001.
    pub fn new(flow: FlowId, tcp: Option<TcpSettings>) -> Connection {
        let FlowId(number) = flow;
        let host = (number + 1) & 0x007f_ffff;
        let dynamic_ports = u32::from(u16::MAX - FIRST_DYNAMIC_PORT) + 1;
        let source_port = FIRST_DYNAMIC_PORT + (number % dynamic_ports) as u16;
        let isn = |which| mix(u64::from(number) << 1 | which) as u32;
        Connection {
            source: Endpoint { address: (0x0a00_0000 | host).into(), port: source_port },
            sink: Endpoint { address: (0x0a80_0000 | host).into(), port: SINK_PORT },
            tcp,
            shift: tcp.map_or(0, |settings| settings.window_shift()),
            source_isn: isn(0),
            sink_isn: isn(1),
        }
    }

    /// Returns true if the flow is a TCP connection.
    pub fn is_tcp(&self) -> bool {
        self.tcp.is_some()
    }

    /// Returns the protocol number in the IP header.
    pub fn protocol(&self) -> u8 {
        if self.is_tcp() { PROTOCOL_TCP } else { PROTOCOL_UDP }
    }

    /// Returns the sequence number of stream offset `offset`, modulo 2^32. The SYN occupies the
    /// initial sequence number (RFC 9293 §3.4).
    pub fn sequence_number(&self, offset: u64) -> u32 {
        self.source_isn.wrapping_add(1).wrapping_add(offset as u32)
    }

    /// Returns the headers of `packet` with a time to live of `ttl`.
    pub fn headers(&self, packet: &Packet, ttl: u8) -> Headers {
        let mut transport = Assembly::default();
        let payload = match (&self.tcp, packet.kind) {
            (Some(settings), PacketKind::Data | PacketKind::Ack) => {
                self.tcp_header(settings, packet, &mut transport);
                if packet.kind == PacketKind::Data { packet.payload_bytes() as usize } else { 0 }
            }
            _ => self.udp_header(packet, &mut transport),
        };
        self.assemble(packet, ttl, &mut transport, payload)
    }

    fn tcp_header(&self, settings: &TcpSettings, packet: &Packet, to: &mut Assembly) {
        let is_syn = packet.flags.contains(Flags::SYN);
        let is_ack = packet.kind == PacketKind::Ack;
        let (from, into) = if is_ack { (self.sink, self.source) } else { (self.source, self.sink) };
        let sequence = match (is_ack, is_syn) {
            (true, true) => self.sink_isn,
            (true, false) => self.sink_isn.wrapping_add(1),
            (false, true) => self.source_isn,
            (false, false) => self.sequence_number(packet.seq),
        };
        let acknowledged = match (is_ack, is_syn) {
            (true, _) => self.sequence_number(packet.seq),
            (false, true) => 0,
            (false, false) => self.sink_isn.wrapping_add(1),
        };
        to.put_u16(from.port);
        to.put_u16(into.port);
        to.put_u32(sequence);
        to.put_u32(acknowledged);
        to.put(&[0, tcp_flags(packet)]); // the data offset follows when the options are known
        to.put_u16(self.window_field(settings, packet));
        to.put_u32(0); // checksum and urgent pointer
        if is_syn {
            self.syn_options(settings, packet, to);
        } else {
            self.segment_options(settings, packet, to);
        }
        let spare = i64::from(packet.size)
            - if is_ack { 0 } else { packet.payload_bytes() as i64 }
            - (IP_HEADER + to.length) as i64;
        let room = TCP_HEADER + MOST_OPTIONS - to.length;
        let mut padding = (spare.max(0) as usize & !3).min(room);
        let has_price = packet.feedback > 0.0 && !settings.accurate_ecn;
        if has_price && padding >= PRICE_OPTION {
            put_price(packet.feedback, to);
            padding -= PRICE_OPTION;
        }
        (0..padding).for_each(|_| to.put(&[OPTION_NOP]));
        let ae = u8::from(packet.flags.contains(Flags::AE)); // RFC 9768 §3.2.1
        to.bytes[12] = (to.length as u8 / 4) << 4 | ae;
    }

    /// Returns the window field (RFC 7323 §2.3), which is scaled in all segments except SYN and
    /// SYN-ACK. Data packets contain the configured receive window, which has no effect, because
    /// the source receives no data.
    fn window_field(&self, settings: &TcpSettings, packet: &Packet) -> u16 {
        let is_syn = packet.flags.contains(Flags::SYN);
        let window = match packet.kind {
            PacketKind::Ack => u64::from(packet.window),
            _ => settings.receive_window,
        };
        let shift = if is_syn { 0 } else { self.shift };
        u16::try_from(window >> shift).unwrap_or(u16::MAX)
    }

    /// Adds the options MSS, SACK-permitted, timestamps and window scale, each if it is used.
    fn syn_options(&self, settings: &TcpSettings, packet: &Packet, to: &mut Assembly) {
        to.put(&[OPTION_MSS, 4]);
        to.put_u16(u16::try_from(settings.mss).unwrap_or(u16::MAX));
        if settings.sack || settings.timestamps {
            let permitted = [OPTION_SACK_PERMITTED, 2];
            to.put(if settings.sack { &permitted } else { &[OPTION_NOP; 2] });
        }
        if settings.timestamps {
            put_timestamps(packet, to);
        } else if settings.sack {
            to.put(&[OPTION_NOP; 2]);
        }
        if self.shift > 0 {
            to.put(&[OPTION_NOP, OPTION_WINDOW_SCALE, 3, self.shift]);
        }
    }

    fn segment_options(&self, settings: &TcpSettings, packet: &Packet, to: &mut Assembly) {
        if settings.timestamps {
            to.put(&[OPTION_NOP; 2]);
            put_timestamps(packet, to);
        }
        let blocks = packet.sack();
        if !blocks.is_empty() {
            to.put(&[OPTION_NOP, OPTION_NOP, OPTION_SACK, 2 + 8 * blocks.len() as u8]);
            for block in blocks {
                let left = self.sequence_number(packet.seq).wrapping_add(block.offset);
                to.put_u32(left);
                to.put_u32(left.wrapping_add(block.length));
            }
        }
    }

    /// Adds the UDP header. Returns the payload size, bytes.
    fn udp_header(&self, packet: &Packet, to: &mut Assembly) -> usize {
        let payload = (packet.size as usize).saturating_sub(IP_HEADER + UDP_HEADER);
        to.put_u16(self.source.port);
        to.put_u16(self.sink.port);
        to.put_u16((UDP_HEADER + payload) as u16);
        to.put_u16(0);
        payload
    }

    /// Prepends the IP header and fills in both checksums.
    fn assemble(
        &self,
        packet: &Packet,
        ttl: u8,
        transport: &mut Assembly,
        payload: usize,
    ) -> Headers {
        let is_ack = packet.kind == PacketKind::Ack;
        let (from, into) = if is_ack { (self.sink, self.source) } else { (self.source, self.sink) };
        let protocol = self.protocol();
        let length = (IP_HEADER + transport.length + payload).min(LARGEST_PACKET);
        let mut ip = Assembly::default();
        ip.put(&[0x45, packet.ecn.bits()]);
        ip.put_u16(length as u16);
        ip.put_u16(identification(packet));
        ip.put_u16(DONT_FRAGMENT);
        ip.put(&[ttl, protocol, 0, 0]);
        ip.put(&from.address.octets());
        ip.put(&into.address.octets());
        let checksum = internet_checksum(&[ip.stored()]);
        ip.bytes[10..12].copy_from_slice(&checksum.to_be_bytes());

        let mut pseudo = Assembly::default();
        pseudo.put(&ip.bytes[12..20]);
        pseudo.put(&[0, protocol]);
        pseudo.put_u16((length - IP_HEADER) as u16);
        // The payload is all zeros, so it does not change the sum.
        let checksum = internet_checksum(&[pseudo.stored(), transport.stored()]);
        let (at, checksum) = match (protocol, checksum) {
            (PROTOCOL_TCP, checksum) => (16, checksum),
            (_, 0) => (6, u16::MAX), // RFC 768: zero means no checksum
            (_, checksum) => (6, checksum),
        };
        transport.bytes[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        ip.put(transport.stored());
        Headers { bytes: ip.bytes, length: ip.length, original_length: length as u32 }
    }
}

fn put_timestamps(packet: &Packet, to: &mut Assembly) {
    to.put(&[OPTION_TIMESTAMPS, 10]);
    to.put_u32(packet.tsval);
    to.put_u32(packet.tsecr);
}

/// Length of the option with a price, bytes.
const PRICE_OPTION: usize = 8;

/// Adds an option with the price, s, as a 32-bit IEEE 754 number.
fn put_price(price: f32, to: &mut Assembly) {
    to.put(&[OPTION_EXPERIMENT, PRICE_OPTION as u8]);
    to.put_u16(PRICE_EXPERIMENT);
    to.put_u32(price.to_bits());
}

fn tcp_flags(packet: &Packet) -> u8 {
    let is_syn = packet.flags.contains(Flags::SYN);
    let acknowledges = packet.kind == PacketKind::Ack || !is_syn;
    [
        (is_syn, FLAG_SYN),
        (acknowledges, FLAG_ACK),
        (packet.flags.contains(Flags::ECE), FLAG_ECE),
        (packet.flags.contains(Flags::CWR), FLAG_CWR),
    ]
    .into_iter()
    .filter(|(is_set, _)| *is_set)
    .fold(0, |flags, (_, flag)| flags | flag)
}

/// Returns the IP identification. It is constant along the path of a packet and different for a
/// retransmission. For ACKs it does not depend on the send time, so duplicate ACKs without
/// timestamps have the same value.
fn identification(packet: &Packet) -> u16 {
    let when = match packet.kind {
        PacketKind::Ack => u64::from(packet.tsval) << 32 | u64::from(packet.window),
        _ => packet.sent_at().as_nanos(),
    };
    let who = u64::from(packet.flow.0) << 2 | packet.kind as u64;
    mix(mix(mix(who) ^ packet.seq) ^ when) as u16
}

/// Mixes the bits of `value` (finalizer of SplitMix64, a bijection).
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Buffer for headers in network byte order.
struct Assembly {
    bytes: [u8; SNAP_LENGTH as usize],
    length: usize,
}

impl Default for Assembly {
    fn default() -> Assembly {
        Assembly { bytes: [0; SNAP_LENGTH as usize], length: 0 }
    }
}

impl Assembly {
    fn stored(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }
}
