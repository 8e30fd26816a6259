//! Tests of packets.

use super::*;

#[test]
fn packet_has_64_bytes() {
    assert_eq!(size_of::<Packet>(), 64);
}

#[test]
fn packet_survives_splitting_and_ack_without_sack_needs_only_its_head() {
    assert_eq!((size_of::<PacketHead>(), size_of::<PacketTail>()), (40, 24));
    let plain = Packet::ack(FlowId(3), 1 << 40, 1000, 52);
    let (mut sacked, mut of_real_bytes, mut stamped) = (plain, plain, plain);
    sacked.push_sack(SackBlock { offset: 1, length: 1460 });
    of_real_bytes.set_payload(PayloadHandle(7));
    stamped.flags = Flags::ECE.with(Flags::WINDOW_UPDATE);
    stamped.feedback = 0.5;
    stamped.set_ack_sent_at(Time::from_secs(9), Some(17));
    stamped.set_queued_at(Time::from_secs(10));
    let data = Packet::data(FlowId(1), 7, 100, 40, Time::from_secs(1));
    for (packet, needs_tail) in
        [(plain, false), (stamped, false), (sacked, true), (of_real_bytes, true), (data, true)]
    {
        let (head, tail) = packet.parts();
        assert_eq!(head.has_tail(), needs_tail, "{packet:?}");
        let mut again = Packet::default();
        again.set_head(head);
        if needs_tail {
            again.set_tail(*tail);
        }
        assert_eq!(again, packet);
    }
}

#[test]
fn data_packet_stores_its_send_time() {
    let at = Time::from_nanos(0x1234_5678_9abc_def0);
    assert_eq!(Packet::data(FlowId(1), 7, 100, 40, at).sent_at(), at);
}

#[test]
fn ack_with_three_sack_blocks_measures_its_sojourn_time() {
    let mut ack = Packet::ack(FlowId(0), 0, 1000, 40);
    let blocks = [1, 2, 3].map(|offset| SackBlock { offset, length: u32::MAX });
    blocks.iter().for_each(|block| ack.push_sack(*block));
    for queued in [0, 1, u64::from(u32::MAX), ACK_CLOCK, ACK_CLOCK + 1, 0x1234_5678_9abc_def0] {
        for waits in [0, 1, 1 << 32, ACK_CLOCK] {
            ack.set_queued_at(Time::from_nanos(queued));
            let now = Time::from_nanos(queued + waits);
            assert_eq!(ack.waited(now), Duration::from_nanos(waits), "{queued} + {waits}");
            assert_eq!(ack.sack(), blocks);
        }
    }
    assert_eq!((ack.queued_at(), ack.payload()), (None, PayloadHandle(0)));
}

#[test]
fn ack_keeps_its_departure_time_with_any_content() {
    let blocks = [1, 2, 3].map(|offset| SackBlock { offset, length: u32::MAX });
    let round = 1000 << 32;
    for echo in [None, Some(0), Some(u32::MAX)] {
        for left in [0, 999, 1000, 123_456_789, round - 1, round, 0x1234_5678_9abc_def0] {
            for takes in [0, 1, 999, 1000, 1001, 1 << 32, round - 1000] {
                let mut ack = Packet::ack(FlowId(0), 0, 1000, 40);
                ack.set_ack_sent_at(Time::from_nanos(left), echo);
                blocks.iter().for_each(|block| ack.push_sack(*block));
                let now = Time::from_nanos(left + takes);
                ack.set_queued_at(now);
                let age = ack.ack_age(now, echo.is_some());
                assert_eq!(age, Duration::from_nanos(takes), "{left} + {takes}");
                assert_eq!((ack.sack(), ack.size), (&blocks[..], 40));
                assert!(echo.is_none_or(|echo| ack.tsecr == echo));
            }
        }
    }
}

#[test]
fn data_packet_measures_sojourn_times_of_any_length() {
    let mut data = Packet::data(FlowId(1), 7, 100, 40, Time::ZERO);
    data.set_queued_at(Time::from_secs(1));
    assert_eq!(data.waited(Time::from_secs(1001)), Duration::from_millis(1_000_000));
}

#[test]
fn packets_of_every_kind_accept_a_real_payload() {
    let ack = Packet::ack(FlowId(0), 0, 1000, 40);
    for mut packet in [ack, Packet::datagram(FlowId(0), 0, Bytes(40), Time::ZERO)] {
        assert_eq!(packet.payload(), PayloadHandle(0));
        packet.set_payload(PayloadHandle(7));
        packet.set_queued_at(Time::from_secs(5));
        assert_eq!(packet.payload(), PayloadHandle(7));
        assert_eq!(packet.waited(Time::from_secs(6)), Duration::from_millis(1000));
    }
    let mut ack = ack;
    ack.set_payload(PayloadHandle(7));
    ack.push_sack(SackBlock { offset: 1, length: 1 });
    assert_eq!((ack.sack().len(), ack.payload()), (0, PayloadHandle(7)));
}

#[test]
fn ack_omits_a_fourth_sack_block() {
    let mut ack = Packet::ack(FlowId(0), 0, 1000, 40);
    for offset in 0..4 {
        ack.push_sack(SackBlock { offset, length: 1 });
    }
    assert_eq!(ack.sack().iter().map(|b| b.offset).collect::<Vec<_>>(), [0, 1, 2]);
}
