//! Tests of adaptive modulation and coding, and of control events for one station.

use super::*;
use airpath_core::UserChange;
use airpath_phy::mcs::McsSet;
use airpath_phy::per_table::PerTable;
use airpath_phy::shannon::from_db;
use std::sync::{Arc, OnceLock};

const AWGN: &str = include_str!("../../../../../../python/airpath/phy/tables/802.16-ctc-awgn.json");

/// Files with the error-rate table of the package and an SNR that falls from 40 to -20 dB at 12 ms.
pub(super) fn files() -> Arc<Files> {
    static FILES: OnceLock<Arc<Files>> = OnceLock::new();
    let make = || {
        let table = Arc::new(PerTable::from_json(AWGN).expect("the shipped table"));
        let steps = SnrSteps::new(vec![(0, 40.0), (12_000_000, -20.0)], 3_600_000_000_000)
            .expect("valid SNR steps");
        Arc::new(Files {
            tables: [("awgn".to_owned(), table)].into(),
            snr: [("falls".to_owned(), Arc::new(steps))].into(),
            ..Files::default()
        })
    };
    Arc::clone(FILES.get_or_init(make))
}

/// Radio configuration with a constant SNR and `changes`.
fn radio(snr_db: f64, changes: Value) -> Value {
    let mut radio = json!({"table": "awgn", "snr": {"kind": "constant", "mean_db": snr_db},
        "policy": {"kind": "tfer", "th_fer": 0.1}});
    for (key, value) in changes.as_object().expect("a table") {
        radio[key] = value.clone();
    }
    json!({"radio": radio})
}

/// 360 slots of 30 B in 64QAM 5/6: ten packets of 1074 B with headers of 6 B.
#[test]
fn high_snr_selects_fastest_mcs_of_both_lists() {
    let mut world = World::new(radio(40.0, json!({})));
    for seq in 0..11 {
        world.put(0, 0, seq, 1074);
    }
    let sent_first = world.ended().iter().filter(|(at, ..)| *at == 3_000).count();
    assert_eq!(sent_first, 10);
    assert_eq!(world.forward("mpdus_64qam_5_6"), 11.0);
    world.put(1_000_000, 1, 0, 40);
    world.ended();
    assert_eq!((world.counter("mpdus_16qam_3_4"), world.counter("mpdus_qpsk_1_2")), (1.0, 0.0));
}

/// The uplink SNR is 30 dB lower: at 10 dB the MCS is 16QAM 1/2; at -20 dB it is the most robust
/// MCS, which fails.
#[test]
fn uplink_snr_is_downlink_snr_plus_offset() {
    let mut world = World::new(radio(10.0, json!({"uplink_db": -30.0})));
    world.put(0, 0, 0, 1000).put(0, 1, 1, 40);
    assert_eq!(world.ended(), [(3_000, 0, 0)]);
    assert_eq!(world.forward("mpdus_16qam_1_2"), 1.0);
    assert_eq!(world.counter("mpdus_qpsk_1_12"), 1.0);
}

/// wimax-mac §1: a slot of QPSK 1/12 carries 1 B. A frame carries 360 B, of which 354 B belong to a
/// packet.
#[test]
fn mcs_is_selected_from_delayed_feedback() {
    let falls = json!({"kind": "trace", "trace": "falls"});
    let mut fresh = World::new(radio(0.0, json!({"snr": falls})));
    fresh.put(11_000, 0, 0, 300);
    assert_eq!(fresh.ended(), [], "nothing is received at -20 dB");
    assert_eq!(fresh.forward("mpdus_qpsk_1_12"), 1.0);
    let mut stale = World::new(radio(0.0, json!({"snr": falls, "feedback_frames": 1})));
    stale.put(4_000, 0, 0, 300).put(11_000, 0, 1, 300).put(16_000, 0, 2, 300);
    assert_eq!(stale.ended(), [(8_000, 0, 0)]);
    assert_eq!((stale.forward("mpdus_64qam_5_6"), stale.forward("mpdus_qpsk_1_12")), (2.0, 1.0));
}

/// The fraction of 4000 packets that is lost after n attempts equals F_n of the table within four
/// standard errors.
#[test]
fn attempts_fail_with_table_rate_at_combined_snr() {
    let table = files().table("awgn").expect("the table exists");
    let table = McsSet::DOWNLINK_802_16E.table(&table, 1e6).expect("the table has all curves");
    let curve = table.curve("qpsk-1/2").expect("the curve exists");
    let snr_db = (0..400)
        .map(|step| 0.01 * f64::from(step))
        .find(|snr_db| curve.per(*snr_db, Bytes(506)) < 0.6);
    let snr_db = snr_db.expect("the curve falls");
    let per = |snr: f64| curve.per(10.0 * snr.log10(), Bytes(506));
    let snr = from_db(snr_db);
    // The SNR is lower, so that two attempts are not always sufficient.
    let half = 0.5 * snr;
    for (combining, attempts, at, expected) in [
        ("none", 1, snr, per(snr)),
        ("none", 2, snr, per(snr) * per(snr)),
        ("chase", 2, half, per(2.0 * half)),
        ("incremental", 2, (1.0 + snr).sqrt() - 1.0, per(snr)),
    ] {
        let policy = json!({"kind": "fixed", "mcs": "qpsk-1/2"});
        let mut link = radio(10.0 * at.log10(), json!({"policy": policy, "combining": combining}));
        link["harq"] = json!({"attempts": attempts, "round_trip_ns": 10_000_000});
        let mut world = World::new(link);
        let count = 4000;
        for seq in 0..count {
            world.put(1 + 5_000 * seq, 0, seq, 500);
        }
        world.run(100_000_000);
        let lost = 1.0 - world.out.len() as f64 / count as f64;
        let error = (expected * (1.0 - expected) / count as f64).sqrt();
        assert!(expected > 0.1 && expected < 0.9, "{combining}: {expected}");
        assert!((lost - expected).abs() < 4.0 * error, "{combining} {attempts}: {lost} {expected}");
    }
}

/// 360 slots carry 3240 B in QPSK 3/4 and 1080 B in QPSK 1/4.
#[test]
fn control_event_changes_mcs_of_one_station() {
    let mut world = World::of(json!({"stations": 2}), 2);
    let scheme = |side, name: &str| UserChange::Scheme { is_reverse: side == 1, name: name.into() };
    let change = Control::User(UserId(0), scheme(0, "qpsk-1/4"));
    world.link.control(&change, &mut world.harness.at(Time::ZERO));
    for (flow, at_us) in [(0, 1), (1, 50_001)] {
        let first = u64::from(flow);
        world.put_of(flow, at_us, 0, first, 1074).put_of(flow, at_us, 0, first + 2, 1074);
    }
    let mut times: Vec<_> = world.ended().iter().map(|(at, _, seq)| (*seq, *at)).collect();
    times.sort_unstable();
    assert_eq!(times, [(0, 8_000), (1, 58_000), (2, 13_000), (3, 58_000)]);
}

#[test]
fn control_event_shifts_snr_of_one_station() {
    let mut link = radio(40.0, json!({}));
    link["stations"] = json!(2);
    let mut world = World::of(link, 2);
    let change = Control::User(UserId(1), UserChange::SnrMoved(-70.0));
    world.link.control(&change, &mut world.harness.at(Time::ZERO));
    world.put_of(0, 1, 0, 0, 300).put_of(1, 1, 0, 1, 300);
    assert_eq!(world.ended(), [(8_000, 0, 0)]);
    assert_eq!((world.forward("mpdus_64qam_5_6"), world.forward("mpdus_qpsk_1_12")), (1.0, 1.0));
}

#[test]
fn invalid_radio_is_rejected() {
    for (changes, field) in [
        (json!({"uplink_db": 201.0}), "radio.uplink_db"),
        (json!({"feedback_frames": 1_000_001}), "radio.feedback_frames"),
        (json!({"table": "other"}), "radio.table"),
        (json!({"snr": {"kind": "none"}}), "radio.snr.kind"),
        (json!({"policy": {"kind": "fixed", "mcs": "mcs9"}}), "radio.policy.mcs"),
        (
            json!({"policy": {"kind": "qawla", "th_per": 0.05, "h": 100.0, "threshold": 20}}),
            "radio.policy.kind",
        ),
    ] {
        let error = make(radio(10.0, changes), 1, 1).err().expect("refused");
        assert_eq!(error.first().field, field);
    }
    let with_radio = json!([{"user": 0, "snr": {"kind": "none"}}]);
    let mut link = radio(10.0, json!({}));
    link["users"] = with_radio;
    assert_eq!(make(link, 1, 1).err().expect("refused").first().field, "users.0.snr.kind");
    let with_snr = json!({"users": [{"user": 0, "snr": {"kind": "constant", "mean_db": 1.0}}]});
    assert_eq!(make(with_snr, 1, 1).err().expect("refused").first().field, "users.0.snr");
}
