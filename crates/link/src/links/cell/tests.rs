//! Step tests of a cell. For each slot they check the served user, the bits of each packet, and the
//! discarded packets.

use super::*;
use crate::context::DirectionContext;
use crate::files::Files;
use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{FlowId, QueueId, Registry, testing::TestHarness};
use airpath_phy::snr::SnrSteps;
use serde_json::{Value, json};
use std::cell::Cell as Counter;
use std::sync::Arc;

/// Slot length, ns.
const SLOT: u64 = 3_000_000;

/// Converts a number of slots to a time.
fn slots(count: f64) -> Time {
    Time::from_nanos((count * SLOT as f64).round() as u64)
}

/// Creates a cell whose users have the given SNRs (power ratios) at the starts of slots 0, 1, ….
/// The rate is 4 Mbit/s · log2(1 + SNR). A slot with SNR 1 carries 12 000 bits, which are one
/// packet of 1500 bytes.
fn cell(snrs: &[&[f64]], changes: Value) -> Cell {
    let mut description = json!({
        "slot_ns": SLOT, "attempts": 2, "margin": 0,
        "rate": {"kind": "shannon", "bandwidth_hz": 4e6, "cap_bps": 100_000_000},
        "scheduler": {"kind": "max-rate"},
        "snr": {"kind": "constant", "mean_db": 0},
        "users": [],
    });
    let mut files = Files::default();
    for (user, levels) in snrs.iter().enumerate() {
        // The SNR is slightly larger, so that no bit is lost by rounding.
        let level_db = |snr: f64| 10.0 * libm::log10(snr * (1.0 + 1e-9));
        // The SNR changes in the middle of a slot to the value of the next slot.
        let steps = (0..)
            .zip(*levels)
            .map(|(slot, snr)| ((slot * SLOT).saturating_sub(SLOT / 2), level_db(*snr)));
        let steps =
            SnrSteps::new(steps.collect(), levels.len() as u64 * SLOT).expect("valid SNR steps");
        files.snr.insert(format!("user {user}"), Arc::new(steps));
        let snr = json!({"kind": "trace", "trace": format!("user {user}")});
        description["users"]
            .as_array_mut()
            .expect("a list")
            .push(json!({"user": user, "snr": snr}));
    }
    for (key, value) in changes.as_object().expect("a table") {
        description[key] = value.clone();
    }
    let made = Counter::new(0);
    let queue = move |_: Option<&str>| {
        let setup =
            Setup { seed: Seed::new(1, 0, "queue"), registry: &Registry::default(), extra: () };
        let limit = json!({"kind": "droptail", "limit": {"packets": 100}});
        made.set(made.get() + 1);
        Ok(Queue::new(AnyQueue::build(&limit, setup)?, QueueId(made.get() - 1)))
    };
    let context = LinkContext {
        users: Users::new(snrs.iter().map(|_| None)),
        files: Arc::new(files),
        ..LinkContext::new(DirectionContext::new(Port(0), queue))
    };
    let config = serde_json::from_value(description).expect("a description");
    let setup =
        Setup { seed: Seed::new(1, 0, "link"), registry: &Registry::default(), extra: context };
    Cell::build(config, setup).expect("a valid configuration")
}

/// Passes packet number `seq` of `user` to the cell.
fn arrive(cell: &mut Cell, harness: &mut TestHarness, at: Time, user: u32, seq: u64) {
    let packet = Packet::datagram(FlowId(user), seq, Bytes(1500), at);
    cell.receive(Port(0), &packet, &mut harness.at(at));
}

/// Returns the packets that leave up to `until`: time in slots, user and number.
fn run(cell: &mut Cell, harness: &mut TestHarness, until: Time) -> Vec<(f64, u32, u64)> {
    let of = |(at, _, packet): (Time, Port, Packet)| {
        (at.as_nanos() as f64 / SLOT as f64, packet.flow.0, packet.seq)
    };
    harness.run(cell, until).into_iter().map(of).collect()
}

/// Three slots of two users under the max-rate scheduler. SNRs of 1, 3 and 7 give 12 000, 24 000
/// and 36 000 bits.
#[test]
fn max_rate_serves_users_in_expected_slots() {
    let mut harness = TestHarness::default();
    let mut cell = cell(&[&[3.0, 1.0, 7.0, 7.0], &[1.0, 3.0, 3.0, 3.0]], json!({}));
    for seq in 0..4 {
        arrive(&mut cell, &mut harness, Time::ZERO, 0, seq);
    }
    for seq in 0..3 {
        arrive(&mut cell, &mut harness, Time::ZERO, 1, seq);
    }
    // Slot 0 carries packets 0 and 1 of the first user at 8 Mbit/s. It fails because the SNR falls
    // to 1.
    assert_eq!(run(&mut cell, &mut harness, slots(0.5)), []);
    assert_eq!(cell.people[0].packets_held(), 2);
    // Slot 1 carries packets 0 and 1 of the second user. They are received because the SNR does not
    // change.
    assert_eq!(run(&mut cell, &mut harness, slots(1.5)), []);
    assert_eq!((cell.people[0].packets_held(), cell.people[1].packets_held()), (2, 2));
    assert_eq!(run(&mut cell, &mut harness, slots(2.0)), [(2.0, 1, 0), (2.0, 1, 1)]);
    // Slot 2 carries packets 0, 1 and 2 of the first user.
    assert_eq!(cell.people[0].packets_held(), 3);
    assert_eq!(run(&mut cell, &mut harness, slots(3.0)), [(3.0, 0, 0), (3.0, 0, 1), (3.0, 0, 2)]);
    let report = cell.reports(slots(3.0)).remove(0);
    let slots_of = |user: usize| (report.users[user].slots, report.users[user].slot_error_rate);
    // Slot 3, which has started, carries the last packet of the first user.
    assert_eq!((slots_of(0), slots_of(1)), ((3, Some(1.0 / 3.0)), (1, Some(0.0))));
    assert_eq!(report.users[0].best_slot_share, Some(1.0));
    assert_eq!(report.users[0].delivered_bytes, 4500);
    assert_eq!(report.link.utilisation, 1.0);
}

/// A slot with SNR 1.378 carries 15 000 bits: one packet and a quarter. Received bits are kept.
#[test]
fn packets_span_slots_and_keep_received_bits() {
    let snr = 2f64.powf(1.25) - 1.0;
    let mut harness = TestHarness::default();
    let mut cell = cell(&[&[snr, snr, snr, 1e-3, snr, snr]], json!({}));
    for seq in 0..9 {
        arrive(&mut cell, &mut harness, Time::ZERO, 0, seq);
    }
    // Slots 0 and 1 carry 15 000 bits each. Slot 2 fails because the SNR falls. Slot 3 carries 17
    // bits at SNR 0.001. Slot 4 starts at bit 30 017.
    let sent = run(&mut cell, &mut harness, slots(5.0));
    assert_eq!(sent, [(1.0, 0, 0), (2.0, 0, 1), (5.0, 0, 2)]);
    assert_eq!(harness.counts().total(), 0);
    // 45 017 bits are received at the end of slot 4 and 60 017 bits at the end of slot 5, which
    // completes the fifth packet.
    assert_eq!(run(&mut cell, &mut harness, slots(6.0)), [(6.0, 0, 3), (6.0, 0, 4)]);
}

/// At the second consecutive failure the packet that the slot would have completed is discarded. A
/// packet that would have been only partly carried is kept.
#[test]
fn nth_failure_discards_packets_to_be_completed() {
    let snr = 2f64.powf(1.25) - 1.0;
    let mut harness = TestHarness::default();
    let mut cell = cell(&[&[snr, 0.9, 0.5, 1.0, 1.0, 1.0]], json!({}));
    for seq in 0..3 {
        arrive(&mut cell, &mut harness, Time::ZERO, 0, seq);
    }
    // Slot 0 (15 000 bits of packets 0 and 1) is the first failure. Slot 1 (11 112 bits of packet
    // 0) is the second failure. Slot 1 would not have completed a packet, so no packet is discarded
    // and the failure count is not reset.
    assert_eq!(run(&mut cell, &mut harness, slots(2.0)), []);
    assert_eq!(harness.counts().total(), 0);
    // Slot 2 (7019 bits at SNR 0.5) is received. The failure count restarts.
    assert_eq!(run(&mut cell, &mut harness, slots(3.0)), []);
    // Slot 3: 12 000 bits complete packet 0 and carry 7019 bits of packet 1.
    assert_eq!(run(&mut cell, &mut harness, slots(4.0)), [(4.0, 0, 0)]);

    let mut cell = self::cell(&[&[snr, snr / 1.1, 0.2, 1.0, 1.0]], json!({}));
    let mut harness = TestHarness::default();
    for seq in 0..3 {
        arrive(&mut cell, &mut harness, Time::ZERO, 0, seq);
    }
    // Slots 0 and 1 (15 000 and 14 034 bits) both fail. The second slot would have completed packet
    // 0.
    assert_eq!(run(&mut cell, &mut harness, slots(1.5)), []);
    assert_eq!(run(&mut cell, &mut harness, slots(2.0)), []);
    assert_eq!(harness.counts().by_queue(), 1);
    assert_eq!(cell.held(), 2);
    // Slot 2 carries 3156 bits of packet 1 at SNR 0.2. Slot 3 carries 12 000 bits, including the
    // end of packet 1. Slot 4 completes packet 2.
    assert_eq!(run(&mut cell, &mut harness, slots(4.0)), [(4.0, 0, 1)]);
    assert_eq!(run(&mut cell, &mut harness, slots(5.0)), [(5.0, 0, 2)]);
    let report = cell.reports(slots(5.0)).remove(0);
    assert_eq!((report.users[0].lost_packets, report.link.lost_packets), (1, 1));
}

#[test]
fn idle_cell_has_no_wakeups_and_starts_at_slot() {
    let mut harness = TestHarness::default();
    let mut cell = cell(&[&[1.0]], json!({}));
    assert!(cell.next_wakeup().is_never());
    arrive(&mut cell, &mut harness, slots(10.4), 0, 0);
    assert_eq!(cell.next_wakeup(), slots(11.0));
    assert_eq!(run(&mut cell, &mut harness, slots(99.0)), [(12.0, 0, 0)]);
    assert!(cell.next_wakeup().is_never());
    // A packet that arrives at the start of a slot is served in this slot; a packet that arrives
    // during a slot is served in the next one.
    arrive(&mut cell, &mut harness, slots(100.0), 0, 1);
    assert_eq!(run(&mut cell, &mut harness, slots(100.5)), []);
    arrive(&mut cell, &mut harness, slots(100.5), 0, 2);
    assert_eq!(run(&mut cell, &mut harness, slots(200.0)), [(101.0, 0, 1), (102.0, 0, 2)]);
    let queue = cell.reports(slots(102.0)).remove(0).queues.remove(0);
    // Times from arrival to the end of the last slot: 1.6, 1 and 1.5 slots.
    let ("mean_delay_s", Some(delay_s)) = queue.measured[0] else { panic!("{queue:?}") };
    assert!((delay_s / 3e-3 - 4.1 / 3.0).abs() < 1e-9, "{delay_s}");
    assert!((queue.distribution[0] - (102.0 - 3.6) / 102.0).abs() < 1e-9, "{queue:?}");
}

#[test]
fn rate_zero_stops_cell_and_rate_change_scales_slots() {
    let mut harness = TestHarness::default();
    let mut cell = cell(&[&[1.0]], json!({}));
    let rate = |bps: u64| Control::Rate(Rate(bps));
    (0..4).for_each(|seq| arrive(&mut cell, &mut harness, Time::ZERO, 0, seq));
    cell.control(&rate(0), &mut harness.at(Time::ZERO));
    assert!(cell.next_wakeup().is_never());
    cell.control(&rate(200_000_000), &mut harness.at(slots(7.5)));
    assert_eq!(run(&mut cell, &mut harness, slots(9.0)), [(9.0, 0, 0), (9.0, 0, 1)]);
    // The current block is completed at its initial rate, if the SNR is sufficient for this rate.
    cell.control(&rate(100_000_000), &mut harness.at(slots(9.5)));
    assert_eq!(run(&mut cell, &mut harness, slots(10.0)), []);
    assert_eq!(run(&mut cell, &mut harness, slots(12.0)), [(11.0, 0, 2), (12.0, 0, 3)]);
}

#[test]
fn margin_absorbs_a_fade_below_it() {
    for (margin, is_delivered) in [(0.0, false), (0.4, false), (0.6, true)] {
        let mut harness = TestHarness::default();
        let mut cell = cell(&[&[30.0, 15.0]], json!({"margin": margin}));
        arrive(&mut cell, &mut harness, Time::ZERO, 0, 0);
        let sent = run(&mut cell, &mut harness, slots(1.0));
        assert_eq!(sent.len(), usize::from(is_delivered), "{margin}");
    }
}

#[test]
fn error_process_corrupts_slots_in_addition_to_fading() {
    let errors = json!({"errors": {"kind": "independent", "loss": 1}, "attempts": 3});
    let mut harness = TestHarness::default();
    let mut cell = cell(&[&[1.0]], errors);
    arrive(&mut cell, &mut harness, Time::ZERO, 0, 0);
    assert_eq!(run(&mut cell, &mut harness, slots(2.5)), []);
    assert_eq!((cell.held(), harness.counts().total()), (1, 0));
    assert_eq!(run(&mut cell, &mut harness, slots(9.0)), []);
    assert_eq!((cell.held(), harness.counts().total()), (0, 1));
    assert!(cell.next_wakeup().is_never());
}

#[test]
fn check_rejects_values_out_of_range() {
    let refused = |key: &str, value: Value| {
        let mut description = json!({
            "slot_ns": SLOT, "attempts": 2, "scheduler": {"kind": "max-rate"},
            "rate": {"kind": "shannon", "bandwidth_hz": 4e6},
            "snr": {"kind": "constant", "mean_db": 0}, "users": [],
        });
        description[key] = value;
        let config: CellConfig = serde_json::from_value(description).expect("readable");
        config.check().expect_err("refused").to_string()
    };
    let shannon = |bandwidth_hz: f64, cap_bps: u64| json!({"kind": "shannon", "bandwidth_hz": bandwidth_hz, "cap_bps": cap_bps});
    for (key, value, message) in [
        ("slot_ns", json!(0), "slot_ns = 0: below 1000. Accepted: 1000 to 3600000000000"),
        ("attempts", json!(0), "attempts = 0: below 1. Accepted: at least 1"),
        ("margin", json!(1), "margin = 1: not below 1. Accepted: -100 to below 1"),
        (
            "margin",
            json!({"target_loss": 1}),
            "margin.target_loss = 1: not below 1. Accepted: more than 0, less than 1",
        ),
        (
            "margin",
            json!({"target_loss": 0}),
            "margin.target_loss = 0: not above 0. Accepted: more than 0, less than 1",
        ),
        (
            "rate",
            shannon(0.0, 1),
            "rate.bandwidth_hz = 0: not above 0. Accepted: more than 0, at most 1000000000000",
        ),
        ("rate", shannon(1.0, 0), "rate.cap_bps = 0: below 1. Accepted: at least 1"),
        (
            "users",
            json!([{"user": 0, "weight": 0}]),
            "users.0.weight = 0: not above 0. Accepted: more than 0",
        ),
        (
            "users",
            json!([{"user": 7}, {"user": 7}]),
            "users.1.user = 7: named before. Use one entry for each user",
        ),
    ] {
        assert_eq!(refused(key, value), message);
    }
}

/// The block has two packets, 24 000 bits, and was created at an SNR of 3; a slot with SNR 1
/// carries half of this. Without HARQ a new block of one packet is received. With chase combining
/// the third attempt is received (SNR 1 + 1 + 1). With incremental redundancy the second attempt is
/// received (12 000 + 12 000 bits).
#[test]
fn harq_retransmits_failed_block() {
    let mut last = Vec::new();
    for (harq, expected) in [
        ("off", [(2.0, 0, 0), (3.0, 0, 1)]),
        ("chase", [(3.0, 0, 0), (3.0, 0, 1)]),
        ("incremental", [(2.0, 0, 0), (2.0, 0, 1)]),
    ] {
        let mut harness = TestHarness::default();
        let snrs: &[f64] = &[3.0, 1.0, 1.0, 1.0, 1.0];
        let mut cell = cell(&[snrs], json!({"attempts": 3, "harq": harq}));
        for seq in 0..2 {
            arrive(&mut cell, &mut harness, Time::ZERO, 0, seq);
        }
        assert_eq!(run(&mut cell, &mut harness, slots(4.5)), expected, "{harq}");
        let user = &cell.reports(slots(5.0))[0].users[0];
        last.push((user.slots, user.slot_error_rate));
    }
    assert_eq!(last, [(3, Some(1.0 / 3.0)), (3, Some(2.0 / 3.0)), (2, Some(0.5))]);
}

/// At the n-th failure a retransmitted block is discarded completely, like any other block.
#[test]
fn nth_failure_discards_retransmitted_block() {
    let mut harness = TestHarness::default();
    let snrs: &[f64] = &[3.0, 0.1, 0.1, 1.0, 1.0, 1.0];
    let mut cell = cell(&[snrs], json!({"attempts": 2, "harq": "incremental"}));
    for seq in 0..3 {
        arrive(&mut cell, &mut harness, Time::ZERO, 0, seq);
    }
    // Slots 0 and 1 fail; both packets of the block are lost. Slot 2 ends with SNR 1.
    assert_eq!(run(&mut cell, &mut harness, slots(2.0)), []);
    assert_eq!((cell.held(), harness.counts().by_queue()), (1, 2));
    let sent = run(&mut cell, &mut harness, slots(4.5));
    assert_eq!(sent, [(4.0, 0, 2)]);
}

/// A slot and its failure are counted if the slot starts in the measured time. Measurement starts
/// during the first slot; the second and the third slot start in the measured time of 1.2 slots.
#[test]
fn slot_shares_count_slots_that_start_in_measured_time() {
    let mut harness = TestHarness::default();
    let mut cell = cell(&[&[3.0, 1.0, 0.25, 0.25]], json!({"attempts": 9}));
    for seq in 0..4 {
        arrive(&mut cell, &mut harness, Time::ZERO, 0, seq);
    }
    run(&mut cell, &mut harness, slots(0.9));
    cell.control(&Control::StartMeasurement, &mut harness.at(slots(0.9)));
    run(&mut cell, &mut harness, slots(1.9));
    let users = cell.reports(slots(1.9)).remove(0).users;
    assert_eq!((users[0].slots, users[0].slot_share), (1, 1.0));
    assert_eq!(users[0].slot_error_rate, Some(0.0));
    run(&mut cell, &mut harness, slots(2.1));
    let users = cell.reports(slots(2.1)).remove(0).users;
    assert_eq!((users[0].slots, users[0].slot_share), (2, 1.0));
    assert_eq!(users[0].slot_error_rate, Some(0.5));
}

/// The measured time is shorter than a slot, and no slot starts in it.
#[test]
fn slot_share_is_zero_without_slot() {
    let mut harness = TestHarness::default();
    let mut cell = cell(&[&[3.0, 3.0]], json!({}));
    cell.control(&Control::StartMeasurement, &mut harness.at(slots(0.25)));
    let users = cell.reports(slots(0.75)).remove(0).users;
    assert_eq!((users[0].slot_share, users[0].slot_error_rate), (0.0, None));
}
