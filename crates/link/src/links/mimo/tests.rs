//! Tests that compare packets on the link with the distribution of packet outcomes.

use super::*;
use airpath_phy::bit_errors::ErrorChain;
use serde_json::{Value, json};

/// Configuration with BPSK, 2×2 antennas and the state transitions of the paper, modified by
/// `changes`.
fn config(changes: &Value) -> MimoConfig {
    let mut description = json!({
        "rate_bps": 10_000_000, "modulation": "bpsk", "tx": 2, "rx": 2, "snr_db": 18,
        "bad_snr_offset_db": -10, "p_good_to_bad": 0.00125, "p_bad_to_good": 0.125,
    });
    for (key, value) in changes.as_object().expect("a table") {
        description[key] = value.clone();
    }
    serde_json::from_value(description).expect("a description")
}

fn link(changes: &Value, replication: u64) -> Mimo {
    let config = config(changes);
    let channel = config.channel().expect("a valid configuration");
    let seed = Seed::new(1, replication, "link");
    Mimo::new(Rate(config.rate_bps), channel, Arc::default(), &seed)
}

fn rs(code_rate: f64) -> Value {
    json!({"kind": "reed-solomon", "code_rate": code_rate, "symbol_bits": 8})
}

/// Sends packets with the sizes `sizes` in rotation, each `gap_ns` nanoseconds after the previous
/// one.
fn outcomes(link: &mut Mimo, sizes: &[u64], gap_ns: u64, count: usize) -> Vec<bool> {
    let mut now = Time::ZERO;
    (0..count)
        .map(|number| {
            let sent = link.begin(Bytes(sizes[number % sizes.len()]), 0, now);
            now = sent.ends + Duration::from_nanos(gap_ns);
            sent.loss == 1.0
        })
        .collect()
}

#[test]
fn rate_includes_parity() {
    let mut link =
        link(&json!({"fec": rs(0.93), "small": {"up_to_bytes": 128, "code_rate": 0.5}}), 0);
    let sent = link.begin(Bytes(1040), 0, Time::from_millis(1));
    assert_eq!((sent.ends, sent.bytes), (Time::from_nanos(1_894_400), Bytes(1118)));
    let sent = link.begin(Bytes(40), 0, sent.ends);
    assert_eq!((sent.ends, sent.bytes), (Time::from_nanos(1_958_400), Bytes(80)));
    let framing = Transmitter::framing(&link, Framing::default());
    assert_eq!([1040, 40].map(|bytes| framing.on_air(Bytes(bytes)).0), [1118, 80]);
}

#[test]
fn packet_at_rate_zero_uses_no_random_number() {
    let (mut waits, mut twin) = (link(&json!({}), 0), link(&json!({}), 0));
    waits.set_rate(Rate(0));
    assert!(waits.begin(Bytes(1040), 0, Time::from_millis(1)).ends.is_never());
    waits.set_rate(Rate::from_mbps(10));
    for _ in 0..100 {
        let at = Time::from_millis(7).max(twin.free_since);
        assert_eq!(waits.begin(Bytes(1040), 0, at), twin.begin(Bytes(1040), 0, at));
    }
    let counts = |link: &Mimo| link.counters()[0].1;
    assert_eq!((counts(&waits), counts(&twin)), (100.0, 100.0));
}

#[test]
fn large_and_small_packets_are_counted_separately() {
    let mut link = link(&json!({"snr_db": 14}), 0);
    let lost = outcomes(&mut link, &[1040, 128, 129, 40], 0, 4000);
    let failed = |sizes: &[usize]| {
        let of = |(number, lost): (usize, &bool)| *lost && sizes.contains(&(number % 4));
        lost.iter().enumerate().filter(|entry| of(*entry)).count() as f64
    };
    let counters = |link: &Mimo| link.counters().into_iter().map(|(_, count)| count).collect();
    let found: Vec<f64> = counters(&link);
    assert_eq!(found, [2000.0, failed(&[0, 2]), 2000.0, failed(&[1, 3])]);
    link.restart_measurement();
    let found: Vec<f64> = counters(&link);
    assert_eq!(found, [0.0; 4]);
}

#[test]
fn outcomes_are_computed_once_per_scenario() {
    let shared = Arc::new(Outcomes::default());
    let config = config(&json!({"fec": rs(0.93)}));
    for replication in 0..4 {
        let channel = config.channel().expect("a valid configuration");
        let seed = Seed::new(1, replication, "link");
        let mut link = Mimo::new(Rate(1_000_000), channel, Arc::clone(&shared), &seed);
        outcomes(&mut link, &[1040, 40, 1040, 576], 0, 100);
    }
    assert_eq!(shared.made(), 3);
}

#[test]
fn impossible_outcome_never_occurs() {
    let outcome = Outcome { delivered: [[1.0 - 1e-13, 0.0]; 2], failed: [[0.0; 2]; 2] };
    assert_eq!(thresholds(&outcome), [[0.0, 0.0, 1.0]; 2]);
    let outcome = Outcome { delivered: [[0.0; 2]; 2], failed: [[0.3, 0.7 - 1e-13]; 2] };
    assert!(thresholds(&outcome).iter().all(|below| below[1] == 1.0));
}

#[test]
fn chain_memory_ends_after_computed_symbols() {
    let after = |good_to_bad, bad_to_good| forgotten(TwoStates { good_to_bad, bad_to_good });
    assert_eq!(after(0.00125, 0.125), 308);
    assert_eq!((after(0.5, 0.5), after(1.0, 1.0), after(0.0, 1e-300)), (1, u64::MAX, u64::MAX));
}

/// A chain whose state changes with every symbol has its initial state again after an even number
/// of idle symbols.
#[test]
fn idle_time_is_counted_in_modulation_symbols() {
    let alternating = json!({"p_good_to_bad": 1, "p_bad_to_good": 1, "modulation": "qpsk"});
    for symbols in [1u64, 2, 1001, 1 << 40] {
        let mut link = link(&alternating, symbols);
        link.begin(Bytes(100), 0, Time::ZERO);
        let before = link.is_bad;
        link.pass_idle_time(link.free_since + Duration::from_nanos(200 * symbols));
        assert_eq!(link.is_bad, before ^ (symbols % 2 == 1), "{symbols}");
    }
}

#[test]
fn invalid_config_is_rejected() {
    for (changes, expected) in [
        (
            json!({"tx": 3}),
            "tx = 3: beyond two transmitters no complex space-time block code has the full rate. \
             Accepted: 1 to 2",
        ),
        (json!({"rx": 9}), "rx = 9: above 8. Accepted: 1 to 8"),
        (
            json!({"modulation": "7psk"}),
            "modulation = 7psk: not known. Use bpsk, qpsk, 8psk, 16psk, 32psk, 64psk, 16qam, \
             64qam",
        ),
        (json!({"bad_snr_offset_db": 1}), "bad_snr_offset_db = 1: above 0. Accepted: -200 to 0"),
        (
            json!({"p_good_to_bad": 0, "p_bad_to_good": 0}),
            "p_bad_to_good = 0: 0 like p_good_to_bad: the state would never change. Use a \
             number above 0 for one of them",
        ),
        (
            json!({"p_good_to_bad": 1.5, "rx": 0}),
            "p_good_to_bad = 1.5: above 1. Accepted: 0 to 1\nrx = 0: below 1. Accepted: 1 to 8",
        ),
        (
            json!({"modulation": "8psk", "fec": rs(0.9)}),
            "fec.symbol_bits = 8: not a multiple of the bits of a symbol of 8psk. Use 3 or a \
             multiple up to 16",
        ),
        (json!({"fec": rs(0.0)}), "fec.code_rate = 0: below 0.001. Accepted: 0.001 to 1"),
        (
            json!({"fec": rs(0.9), "small": {"up_to_bytes": 1, "code_rate": 2}}),
            "small.code_rate = 2: above 1. Accepted: 0.001 to 1",
        ),
        (
            json!({"small": {"up_to_bytes": 1, "code_rate": 0.5}}),
            "small = given: there is no fec. Set fec too; its code_rate = 1 corrects nothing",
        ),
        (json!({"m": 0}), "m = 0: Rayleigh fading has no such parameter. Remove it"),
        (
            json!({"fading": "nakagami", "m": 2, "k_factor_db": 300}),
            "k_factor_db = 300: Nakagami fading has no such parameter. Remove it",
        ),
        (json!({"fading": "rician"}), "k_factor_db = missing: missing. Set k_factor_db = 6"),
        (json!({"fading": "nakagami", "m": 0.4}), "m = 0.4: below 0.5. Accepted: 0.5 to 1000"),
    ] {
        let error = config(&changes).channel().expect_err("it is refused");
        assert_eq!(error.to_string(), expected);
    }
    for snr_db in [f64::NAN, f64::INFINITY] {
        let config = MimoConfig { snr_db, ..config(&json!({})) };
        assert_eq!(config.channel().expect_err("it is refused").first().field, "snr_db");
    }
}

/// The probabilities of the outcomes add up to 1 for packets of 1 to 9000 B and any code, also if
/// all packets or no packets are lost.
#[test]
fn outcome_probabilities_add_up_at_extremes() {
    let chains = [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (1e-300, 1e-300), (0.00125, 0.125)];
    let codes = [
        json!(null),
        rs(0.1),
        rs(0.99),
        json!({"kind": "reed-solomon", "code_rate": 0.1,
        "symbol_bits": 8, "max_block": 255}),
    ];
    for snr_db in [-50.0, 10.0, 150.0] {
        for (p_good_to_bad, p_bad_to_good) in chains {
            for fec in &codes {
                let changes = json!({"snr_db": snr_db, "p_good_to_bad": p_good_to_bad,
                                     "p_bad_to_good": p_bad_to_good, "fec": fec});
                let channel = config(&changes).channel().expect("a valid configuration");
                for bytes in [0, 1, 40, 9000] {
                    let Outcome { delivered, failed } = channel.outcome(Bytes(bytes));
                    for from in 0..2 {
                        let sum: f64 = delivered[from].iter().chain(&failed[from]).sum();
                        assert!((sum - 1.0).abs() < 1e-9, "{changes} {bytes} B: {sum}");
                    }
                    let failure = channel.failure(Bytes(bytes));
                    assert!((0.0..=1.0 + 1e-9).contains(&failure), "{changes}: {failure}");
                }
            }
        }
    }
}

/// Symbol error rates ε_G and ε_B of 2×2 BPSK at 10 dB and 0 dB (vcp-rem §5.1).
#[test]
fn state_error_rates_match_eq_5() {
    let channel = config(&json!({"snr_db": 10})).channel().expect("a valid configuration");
    let [good, bad] = channel.symbol_errors();
    assert!((good / 1.134e-4 - 1.0).abs() < 5e-4 && (bad / 4.026e-2 - 1.0).abs() < 5e-4);
    let chain = ErrorChain::new(0.00125, 0.125, good, bad).expect("a valid configuration");
    assert_eq!(channel.failure(Bytes(40)), chain.packet_failure(320));
}
