//! Compares the blocks of a pcapng file byte by byte with draft-ietf-opsawg-pcapng §3 and §4.

use airpath_capture::{Connection, Direction, Interface, PcapngWriter, SNAP_LENGTH, Section};
use airpath_core::{Bytes, FlowId, Packet, Time};

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

/// Returns type and body of every block, and checks that both lengths agree.
fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
    let mut found = Vec::new();
    let mut rest = file;
    while !rest.is_empty() {
        let length = u32_at(rest, 4) as usize;
        assert!(length.is_multiple_of(4) && length >= 12);
        assert_eq!(u32_at(rest, length - 4) as usize, length);
        found.push((u32_at(rest, 0), &rest[8..length - 4]));
        rest = &rest[length..];
    }
    found
}

/// Returns the options from `rest` on as (code, value), up to the end-of-options.
fn options(mut rest: &[u8]) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    loop {
        let (code, length) = (u16_at(rest, 0), usize::from(u16_at(rest, 2)));
        if code == 0 {
            assert_eq!((length, rest.len()), (0, 4), "the end of options is the end");
            return found;
        }
        found.push((code, &rest[4..4 + length]));
        rest = &rest[4 + length.next_multiple_of(4)..];
    }
}

fn file(comment: &str, packets: &[(Time, Direction, &str)]) -> Vec<u8> {
    let section = Section { application: "airpath".to_owned(), comment: comment.to_owned() };
    let interface = Interface {
        name: "sender".to_owned(),
        description: "The senders' hosts.".to_owned(),
        comment: "seed 1".to_owned(),
        snap_length: SNAP_LENGTH,
    };
    let mut writer = PcapngWriter::new(Vec::new(), &section, &[interface]).expect("a vector");
    let connection = Connection::new(FlowId(0), None);
    for (at, direction, comment) in packets {
        let packet = Packet::datagram(FlowId(0), 0, Bytes(1000), *at);
        let headers = connection.headers(&packet, 64);
        writer.packet(0, *at, &headers, *direction, comment).expect("a vector");
    }
    writer.finish().expect("a vector")
}

#[test]
fn section_4_1_section_header_is_correct() {
    let file = file("where from", &[]);
    assert_eq!(file[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    let (_, body) = blocks(&file)[0];
    assert_eq!(body[..4], [0x4d, 0x3c, 0x2b, 0x1a], "little-endian");
    assert_eq!((u16_at(body, 4), u16_at(body, 6)), (1, 0), "version");
    assert_eq!(body[8..16], [0xff; 8], "length unknown");
    assert_eq!(options(&body[16..]), [(1, &b"where from"[..]), (4, b"airpath")]);
}

#[test]
fn section_4_2_interface_counts_nanoseconds() {
    let file = file("", &[]);
    let (kind, body) = blocks(&file)[1];
    assert_eq!((kind, u16_at(body, 0), u16_at(body, 2)), (1, 101, 0), "raw IP");
    assert_eq!(u32_at(body, 4), 80, "snap length");
    let expected: [(u16, &[u8]); 4] =
        [(1, b"seed 1"), (2, b"sender"), (3, b"The senders' hosts."), (9, &[9])];
    assert_eq!(options(&body[8..]), expected);
}

#[test]
fn section_4_3_packet_has_its_time_lengths_and_flags() {
    let at = Time::from_nanos(0x0000_0102_0304_0506);
    let file = file("", &[(at, Direction::Outbound, "retransmission")]);
    let (kind, body) = blocks(&file)[2];
    assert_eq!(kind, 6);
    let words: Vec<u32> = (0..5).map(|i| u32_at(body, 4 * i)).collect();
    assert_eq!(words, [0, 0x0102, 0x0304_0506, 28, 1000]);
    assert_eq!(body[20], 0x45, "the IP header follows");
    assert_eq!(options(&body[48..]), [(1, &b"retransmission"[..]), (2, &[2, 0, 0, 0])]);
}

#[test]
fn packet_without_flags_and_comment_has_no_options() {
    let file = file("", &[(Time::ZERO, Direction::Passing, "")]);
    assert_eq!(blocks(&file)[2].1.len(), 20 + 28);
}

#[test]
fn long_comment_is_split_between_characters() {
    let long = "é".repeat(70_000);
    let file = file(&long, &[]);
    let found = options(&blocks(&file)[0].1[16..]);
    let comments = found.iter().filter(|(code, _)| *code == 1);
    let parts: Vec<&str> =
        comments.map(|(_, text)| std::str::from_utf8(text).expect("whole characters")).collect();
    assert_eq!(parts.len(), 3);
    assert_eq!(parts.concat(), long);
}

#[test]
fn every_prefix_of_complete_blocks_is_a_valid_file() {
    let at = Time::from_millis;
    let two = file("", &[(at(1), Direction::Passing, ""), (at(2), Direction::Passing, "")]);
    let one = file("", &[(at(1), Direction::Passing, "")]);
    assert_eq!(two[..one.len()], one);
}

#[test]
fn real_packet_is_stored_completely() {
    let interface = Interface { name: "server".to_owned(), ..Interface::default() };
    let mut writer =
        PcapngWriter::new(Vec::new(), &Section::default(), &[interface]).expect("a vector");
    let packet: Vec<u8> = (0..1500u16).map(|byte| byte as u8).collect();
    let at = Time::from_nanos(1_700_000_000_123_456_789);
    writer.whole_packet(0, at, &packet[..1499], Direction::Outbound).expect("a vector");
    let file = writer.finish().expect("a vector");
    let found = blocks(&file);
    assert_eq!(u32_at(found[1].1, 4), 0, "no snap length");
    let (kind, body) = found[2];
    let nanos = u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8));
    assert_eq!((kind, nanos), (6, at.as_nanos()));
    assert_eq!((u32_at(body, 12), u32_at(body, 16)), (1499, 1499), "stored and original");
    assert_eq!((&body[20..20 + 1499], body[20 + 1499]), (&packet[..1499], 0), "padded");
    assert_eq!(options(&body[20 + 1500..]), [(2, &[2, 0, 0, 0][..])], "outbound");
}
