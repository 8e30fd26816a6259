//! Compares headers byte by byte with the layouts of RFC 791, RFC 9293, RFC 2018, RFC 7323, RFC
//! 3168 and RFC 768. Checksums are compared with a second implementation that sums the complete
//! packet, including payload.

use airpath_capture::{Connection, Headers, TcpSettings};
use airpath_core::{Bytes, Ecn, Flags, FlowId, Packet, SackBlock, Time};
use proptest::prelude::*;

const PLAIN: TcpSettings = TcpSettings {
    mss: 1460,
    sack: false,
    timestamps: false,
    accurate_ecn: false,
    receive_window: 65_535,
};
const EVERYTHING: TcpSettings = TcpSettings {
    mss: 1448,
    sack: true,
    timestamps: true,
    accurate_ecn: false,
    receive_window: 4 << 20,
};

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from(bytes[at]) << 8 | u16::from(bytes[at + 1])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) << 16 | u32::from(u16_at(bytes, at + 2))
}

/// Returns the ones' complement sum of 16-bit words, computed in one wide integer and folded at the
/// end. The result is 0xffff for data that contains its correct checksum.
fn wide_sum(bytes: &[u8]) -> u64 {
    let mut sum: u64 =
        (0..bytes.len()).map(|i| u64::from(bytes[i]) << if i % 2 == 0 { 8 } else { 0 }).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum
}

/// Checks both checksums and all lengths.
fn check(headers: &Headers) {
    let mut whole = headers.stored().to_vec();
    whole.resize(headers.original_length() as usize, 0);
    assert_eq!(whole[0], 0x45, "IPv4, five words (RFC 791 §3.1)");
    assert_eq!(usize::from(u16_at(&whole, 2)), whole.len(), "Total Length");
    assert_eq!(wide_sum(&whole[..20]), 0xffff, "Header Checksum");
    let mut with_pseudo_header = whole[12..20].to_vec();
    with_pseudo_header.extend([0, whole[9]]);
    with_pseudo_header.extend(((whole.len() - 20) as u16).to_be_bytes());
    with_pseudo_header.extend(&whole[20..]);
    assert_eq!(wide_sum(&with_pseudo_header), 0xffff, "TCP or UDP checksum");
    if whole[9] == 6 {
        let data_offset = usize::from(whole[32] >> 4) * 4;
        assert_eq!(headers.stored().len(), 20 + data_offset, "stored: the headers alone");
    }
}

fn data(seq: u64, payload: u32, header: u32) -> Packet {
    Packet::data(FlowId(0), seq, payload, header, Time::from_millis(1))
}

fn headers(settings: TcpSettings, packet: &Packet) -> Vec<u8> {
    let made = Connection::new(packet.flow, Some(settings)).headers(packet, 64);
    check(&made);
    made.stored().to_vec()
}

fn options(bytes: &[u8]) -> &[u8] {
    &bytes[40..]
}

#[test]
fn rfc791_3_1_ip_header_of_a_segment_is_correct() {
    let bytes = headers(PLAIN, &data(0, 1460, 40));
    assert_eq!(bytes[..4], [0x45, 0x00, 0x05, 0xdc], "version, IHL, TOS, 1500 bytes");
    assert_eq!(bytes[6..8], [0x40, 0x00], "DF, no fragment");
    assert_eq!(bytes[8..10], [64, 6], "TTL, protocol TCP");
    assert_eq!(bytes[12..20], [10, 0, 0, 1, 10, 128, 0, 1], "source and destination");
}

#[test]
fn rfc9293_3_1_tcp_header_of_a_segment_is_correct() {
    let connection = Connection::new(FlowId(0), Some(PLAIN));
    let bytes = headers(PLAIN, &data(2920, 1460, 40));
    assert_eq!(u16_at(&bytes, 20), 49_152, "source port");
    assert_eq!(u16_at(&bytes, 22), 5001, "destination port");
    assert_eq!(u32_at(&bytes, 24), connection.sequence_number(0).wrapping_add(2920));
    assert_eq!(bytes[32], 5 << 4, "data offset");
    assert_eq!(bytes[33], 0x10, "ACK");
    assert_eq!(u16_at(&bytes, 34), 65_535, "window");
    assert_eq!(u16_at(&bytes, 38), 0, "urgent pointer");
}

#[test]
fn rfc9293_3_4_syn_occupies_the_initial_sequence_number() {
    let mut syn = data(0, 0, 40);
    syn.flags = Flags::SYN;
    let mut syn_ack = Packet::ack(FlowId(0), 0, 65_535, 40);
    syn_ack.flags = Flags::SYN;
    let (syn, syn_ack) = (headers(PLAIN, &syn), headers(PLAIN, &syn_ack));
    let (first, ack) = (headers(PLAIN, &data(0, 1460, 40)), Packet::ack(FlowId(0), 1460, 9, 40));
    let ack = headers(PLAIN, &ack);
    assert_eq!((syn[33], syn_ack[33], ack[33]), (0x02, 0x12, 0x10), "SYN; SYN, ACK; ACK");
    assert_eq!(u32_at(&syn, 28), 0, "nothing is acknowledged yet");
    let isn = u32_at(&syn, 24);
    let sink_isn = u32_at(&syn_ack, 24);
    assert_eq!(u32_at(&syn_ack, 28), isn.wrapping_add(1));
    assert_eq!(u32_at(&first, 24), isn.wrapping_add(1));
    assert_eq!(u32_at(&first, 28), sink_isn.wrapping_add(1));
    assert_eq!(u32_at(&ack, 24), sink_isn.wrapping_add(1));
    assert_eq!(u32_at(&ack, 28), isn.wrapping_add(1 + 1460));
    assert_eq!(ack[12..20], [10, 128, 0, 1, 10, 0, 0, 1], "ACKs go the other way");
}

#[test]
fn rfc9293_3_4_sequence_numbers_wrap_at_2_to_the_32() {
    let connection = Connection::new(FlowId(3), Some(PLAIN));
    let offset = (1 << 32) + 17;
    assert_eq!(connection.sequence_number(offset), connection.sequence_number(17));
}

#[test]
fn syn_has_the_negotiated_options() {
    let syn = |settings| {
        let mut syn = data(0, 0, 40);
        syn.flags = Flags::SYN;
        syn.tsval = 0x0102_0304;
        options(&headers(settings, &syn)).to_vec()
    };
    // RFC 9293 §3.2: kind 2, length 4, 1460.
    assert_eq!(syn(PLAIN), [2, 4, 0x05, 0xb4]);
    // RFC 2018 §2: kind 4, length 2.
    let sack = TcpSettings { sack: true, ..PLAIN };
    assert_eq!(syn(sack), [2, 4, 0x05, 0xb4, 4, 2, 1, 1]);
    // RFC 7323 §3.2: kind 8, length 10; §2.2: kind 3, length 3, 4 MiB >> 7 = 32 768.
    let timestamps = [8, 10, 1, 2, 3, 4, 0, 0, 0, 0];
    let all = [&[2, 4, 0x05, 0xa8, 4, 2][..], &timestamps, &[1, 3, 3, 7]].concat();
    assert_eq!(syn(EVERYTHING), all);
    let without_sack = TcpSettings { timestamps: true, ..PLAIN };
    assert_eq!(syn(without_sack), [&[2, 4, 0x05, 0xb4, 1, 1][..], &timestamps].concat());
}

#[test]
fn rfc7323_2_3_windows_are_scaled_except_in_a_syn() {
    let mut ack = Packet::ack(FlowId(0), 0, 4 << 20, 52);
    assert_eq!(u16_at(&headers(EVERYTHING, &ack), 34), 32_768);
    ack.flags = Flags::SYN;
    assert_eq!(u16_at(&headers(EVERYTHING, &ack), 34), 65_535);
    for (window, shift) in [(65_535, 0), (65_536, 1), (131_071, 1), (131_072, 2), (1 << 32, 14)] {
        let settings = TcpSettings { receive_window: window, ..PLAIN };
        assert_eq!(settings.window_shift(), shift, "{window}");
    }
}

#[test]
fn rfc2018_3_sack_blocks_with_timestamps_fill_the_header() {
    let mut ack = Packet::ack(FlowId(0), 1448, 4 << 20, 52 + 28);
    (ack.tsval, ack.tsecr) = (7, 5);
    for offset in [2896, 5792, 8688] {
        ack.push_sack(SackBlock { offset, length: 1448 });
    }
    let bytes = headers(EVERYTHING, &ack);
    assert_eq!(bytes.len(), 80);
    let expected = [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 5, 1, 1, 5, 26];
    assert_eq!(options(&bytes)[..16], expected);
    let acknowledged = u32_at(&bytes, 28);
    let edges: Vec<u32> =
        (0..6).map(|i| u32_at(&bytes, 56 + 4 * i).wrapping_sub(acknowledged)).collect();
    assert_eq!(edges, [2896, 4344, 5792, 7240, 8688, 10_136]);
}

#[test]
fn rfc3168_5_and_6_1_ecn_bits_are_in_both_headers() {
    for (ecn, bits) in [(Ecn::NotEct, 0), (Ecn::Ect1, 1), (Ecn::Ect0, 2), (Ecn::Ce, 3)] {
        let mut segment = data(0, 100, 40);
        segment.ecn = ecn;
        assert_eq!(headers(PLAIN, &segment)[1], bits, "{ecn:?}");
    }
    let mut segment = data(0, 100, 40);
    segment.flags = Flags::CWR;
    assert_eq!(headers(PLAIN, &segment)[33], 0x90, "CWR, ACK");
    let mut ack = Packet::ack(FlowId(0), 0, 100, 40);
    ack.flags = Flags::ECE;
    assert_eq!(headers(PLAIN, &ack)[33], 0x50, "ECE, ACK");
    let mut syn = data(0, 0, 40);
    syn.flags = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    assert_eq!(headers(PLAIN, &syn)[33], 0xc2, "an ECN-setup SYN: CWR, ECE, SYN");
    assert_eq!(headers(PLAIN, &syn)[32] & 1, 0, "AE");
    syn.flags = syn.flags.with(Flags::AE);
    assert_eq!(headers(PLAIN, &syn)[32] & 1, 1, "AE: a SYN that requests accurate feedback");
    for (counter, ae, bits) in [(5, 1, 0x50), (6, 1, 0x90), (7, 1, 0xd0), (8, 0, 0x10)] {
        ack.flags = Flags::with_ace(counter);
        let bytes = headers(PLAIN, &ack);
        assert_eq!((bytes[32] & 1, bytes[33]), (ae, bits), "ACE of a counter of {counter}");
    }
}

#[test]
fn rfc768_datagram_has_a_nonzero_checksum() {
    let connection = Connection::new(FlowId(1), None);
    let packet = Packet::datagram(FlowId(1), 9, Bytes(1000), Time::ZERO);
    let made = connection.headers(&packet, 63);
    check(&made);
    let bytes = made.stored();
    assert_eq!((bytes.len(), made.original_length()), (28, 1000));
    assert_eq!((bytes[8], bytes[9]), (63, 17), "TTL, protocol UDP");
    assert_eq!((u16_at(bytes, 20), u16_at(bytes, 22)), (49_153, 5001));
    assert_eq!(u16_at(bytes, 24), 980, "Length: header and data");
    // Addresses, ports, protocol and twice the length sum to 0xffff for exactly one length.
    let checksums = (28..65_536).map(|size| {
        let packet = Packet::datagram(FlowId(1), 0, Bytes(size), Time::ZERO);
        u16_at(connection.headers(&packet, 64).stored(), 26)
    });
    let checksums: Vec<u16> = checksums.collect();
    assert!(checksums.iter().all(|checksum| *checksum != 0));
    assert!(checksums.contains(&u16::MAX), "one of them would be zero");
}

#[test]
fn datagram_smaller_than_its_headers_is_captured_with_headers() {
    let packet = Packet::datagram(FlowId(0), 0, Bytes(1), Time::ZERO);
    let made = Connection::new(FlowId(0), None).headers(&packet, 64);
    check(&made);
    assert_eq!(made.original_length(), 28);
}

#[test]
fn header_bytes_beyond_40_are_padding_options() {
    let bytes = headers(PLAIN, &data(0, 1000, 52));
    assert_eq!((u16_at(&bytes, 2), bytes[32] >> 4), (1052, 8));
    assert_eq!(options(&bytes), [1; 12]);
}

#[test]
fn rfc6994_price_is_an_experimental_option_if_it_fits() {
    let with_price = |size: u32, price: f32| {
        let mut packet = data(0, 1000, size);
        packet.feedback = price;
        options(&headers(PLAIN, &packet)).to_vec()
    };
    let [a, b, c, d] = 0.0125f32.to_be_bytes();
    let price = [253, 8, 0xc1, 0xa4, a, b, c, d];
    assert_eq!(with_price(48, 0.0125), price);
    assert_eq!(with_price(52, 0.0125), [&price[..], &[1; 4]].concat());
    assert_eq!(with_price(44, 0.0125), [1; 4], "no space");
    assert_eq!(with_price(40, 0.0125), [0; 0], "no space");
    assert_eq!(with_price(48, 0.0), [1; 8], "no price");
}

#[test]
fn identification_distinguishes_a_retransmission_from_its_original() {
    let identification = |packet: &Packet| u16_at(&headers(PLAIN, packet), 4);
    let at = |ms| Packet::data(FlowId(0), 1460, 1460, 40, Time::from_millis(ms));
    let mut queued = at(1);
    queued.set_queued_at(Time::from_millis(2));
    assert_eq!(identification(&at(1)), identification(&queued), "the same on its whole way");
    assert_ne!(identification(&at(1)), identification(&at(3)));
}

#[test]
fn every_flow_has_separate_addresses() {
    let mut ends: Vec<_> = (0..100_000)
        .flat_map(|flow| {
            let connection = Connection::new(FlowId(flow), Some(PLAIN));
            [connection.source.address, connection.sink.address]
        })
        .collect();
    ends.sort_unstable();
    ends.dedup();
    assert_eq!(ends.len(), 200_000);
}

proptest! {
    #[test]
    fn every_header_is_valid(
        flow in 0u32..100_000, seq in 0u64..1 << 40, payload in 0u32..9000, header in 20u32..100,
        window in 0u32.., size in 40u32..200, blocks in prop::collection::vec(0u32.., 0..4),
        sack: bool, timestamps: bool, receive_window in 1u64..1 << 33, kind in 0..4,
    ) {
        let (mss, accurate_ecn) = (1460, false);
        let settings = TcpSettings { mss, sack, timestamps, accurate_ecn, receive_window };
        let connection = Connection::new(FlowId(flow), Some(settings));
        let mut packet = match kind {
            0 | 1 => Packet::data(FlowId(flow), seq, payload, header, Time::from_nanos(seq)),
            _ => Packet::ack(FlowId(flow), seq, window, size),
        };
        if kind % 2 == 0 {
            packet.flags = Flags::SYN;
        }
        if kind == 3 {
            blocks.iter().for_each(|at| packet.push_sack(SackBlock { offset: *at, length: 10 }));
        }
        check(&connection.headers(&packet, 64));
    }
}

/// SYN, data and retransmissions have codepoint 01. The echo of the load code is an experimental
/// option, in the same format as a price.
#[test]
fn load_code_is_in_the_ip_header_and_its_echo_is_an_option_if_it_fits() {
    for flags in [Flags::SYN, Flags::NONE, Flags::RETRANSMITTED] {
        let mut segment = data(0, 100, 40);
        (segment.ecn, segment.flags) = (Ecn::Ect1, flags);
        assert_eq!(headers(PLAIN, &segment)[1], 0b01, "{flags:?}");
    }
    let echo = |size: u32| {
        let mut ack = Packet::ack(FlowId(0), 0, 100, size);
        ack.feedback = 3.0;
        let bytes = headers(PLAIN, &ack);
        assert_eq!(bytes[1], 0, "an ACK has no code");
        options(&bytes).to_vec()
    };
    let [a, b, c, d] = 3.0f32.to_be_bytes();
    assert_eq!(echo(48), [253, 8, 0xc1, 0xa4, a, b, c, d]);
    assert_eq!(echo(40), [0; 0], "no space");
}
