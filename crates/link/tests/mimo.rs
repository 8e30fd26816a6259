//! Tests that compare the results of MIMO links with the distribution of packet outcomes, and
//! configurations for the test suites that cover every link.

use airpath_aqm::{AnyQueue, Queue};
use airpath_conformance::Law;
use airpath_core::{
    Bytes, Control, Duration, FlowId, Packet, Port, QueueId, Rate, Registry, Seed, Setup, Stage,
    Time, testing::TestHarness,
};
use airpath_link::{
    AnyLink, DirectionContext, LinkContext, Mimo, MimoChannel, MimoConfig, Transmitter,
};
use airpath_phy::bit_errors::Outcome;
use airpath_phy::errors::{AnyErrors, ErrorProcess, ErrorsRegistry, Frame, TwoStates};
use serde_json::{Value, json};
use std::sync::Arc;

/// Configurations: typical, slowest, fastest, lossy.
pub(crate) fn descriptions() -> Vec<Value> {
    const HUGE: u64 = u64::MAX;
    vec![
        mimo(json!({})),
        mimo(json!({"rate_bps": 1, "snr_db": 20, "fec": {"kind": "reed-solomon",
                        "code_rate": 0.93, "symbol_bits": 8}})),
        mimo(json!({"rate_bps": HUGE, "modulation": "16qam", "tx": 1, "rx": 8,
                        "p_good_to_bad": 1, "p_bad_to_good": 1, "fec": {"kind": "reed-solomon",
                        "code_rate": 0.5, "symbol_bits": 8, "max_block": 255},
                        "small": {"up_to_bytes": 1500, "code_rate": 1}})),
        mimo(json!({"snr_db": -50, "p_good_to_bad": 0, "p_bad_to_good": 1e-300,
                        "errors": {"kind": "independent", "loss": 0.3}})),
        mimo(json!({"snr_db": 18, "fading": "nakagami", "m": 0.5, "p_good_to_bad": 1e-9,
                        "p_bad_to_good": 1e-9, "fec": {"kind": "reed-solomon",
                        "code_rate": 0.1, "symbol_bits": 16}})),
    ]
}

/// A MIMO link with BPSK and two antennas on each side, modified by `changes`.
fn mimo(changes: Value) -> Value {
    let mut description = json!({
        "rate_bps": 10_000_000, "modulation": "bpsk", "tx": 2, "rx": 2, "snr_db": 16,
        "bad_snr_offset_db": -10, "p_good_to_bad": 0.00125, "p_bad_to_good": 0.125,
    });
    for (key, value) in changes.as_object().expect("a table") {
        description[key] = value.clone();
    }
    description
}

const FAILURES: Law = Law {
    area: "Forward error correction",
    source: "Packets that fail on a MIMO link (vcp-2008 eqs. 1 to 5, §II.C), by the law of packets",
    allows: "3.29 standard deviations of 20 000 packets (99.9 %)",
};

const PAIRS: Law = Law {
    area: "Forward error correction",
    source: "A packet that fails after one that failed, back to back: the chain's state continues",
    allows: "3.29 standard deviations of the packets that followed a failed one (99.9 %)",
};

const SAME: Law = Law {
    area: "Forward error correction",
    source: "A MIMO link without a code as Gilbert-Elliott's channel: which of three packets fail",
    allows: "chi-square at 99.9 %",
};

/// Number of standard deviations that contains 99.9 % of the normal distribution.
const WITHIN: f64 = 3.29;

const PACKETS: u64 = 20_000;

/// A time much longer than the memory of the chains in this file.
const LONG: Duration = Duration::from_secs(3600);

/// Returns a link, and its channel model, which gives the expected outcomes.
fn link(changes: &Value) -> (Mimo, MimoChannel) {
    let config: MimoConfig = serde_json::from_value(mimo(changes.clone())).expect("a description");
    let channel = config.channel().expect("a valid configuration");
    let rate = Rate(config.rate_bps);
    (Mimo::new(rate, channel.clone(), Arc::default(), &Seed::new(1, 0, "link")), channel)
}

/// Sends a packet at `now`. Returns true if it is lost, and the end of its transmission.
fn send(link: &mut Mimo, bytes: u64, now: Time) -> (bool, Time) {
    let sent = link.begin(Bytes(bytes), 0, now);
    (sent.loss == 1.0, sent.ends)
}

/// Configuration with a constant fraction of symbols in the bad state, in bursts with a mean length
/// of `symbols` symbols.
fn bursts(symbols: f64) -> Value {
    json!({"p_good_to_bad": 0.01 / symbols, "p_bad_to_good": 1.0 / symbols})
}

fn with(first: Value, second: Value) -> Value {
    let (Value::Object(mut all), Value::Object(more)) = (first, second) else { unreachable!() };
    all.extend(more);
    Value::Object(all)
}

fn rs(code_rate: f64) -> Value {
    json!({"kind": "reed-solomon", "code_rate": code_rate, "symbol_bits": 8})
}

/// Settings with and without FEC and `max_block`, with bursts of 8 to 80 000 bits.
fn settings() -> [Value; 20] {
    let fec = |snr_db: f64, code_rate: f64| json!({"snr_db": snr_db, "fec": rs(code_rate)});
    let real = |snr_db: f64| {
        json!({"snr_db": snr_db, "fec": {
            "kind": "reed-solomon", "code_rate": 0.9, "symbol_bits": 8, "max_block": 255}})
    };
    [
        json!({"snr_db": 12}),
        json!({"snr_db": 16}),
        json!({"snr_db": 20}),
        json!({"snr_db": 25, "tx": 2, "rx": 1}),
        json!({"snr_db": 40, "tx": 1, "rx": 1}),
        json!({"snr_db": 25, "modulation": "16qam"}),
        json!({"snr_db": 14, "fading": "rician", "k_factor_db": 6.0}),
        fec(5.5, 0.93),
        fec(7.0, 0.93),
        fec(2.2, 0.7),
        with(fec(11.5, 0.93), json!({"tx": 2, "rx": 1})),
        real(6.0),
        real(4.6),
        with(fec(5.5, 0.93), json!({"small": {"up_to_bytes": 128, "code_rate": 0.7}})),
        with(fec(13.0, 0.8), json!({"modulation": "16psk"})),
        with(json!({"snr_db": 16}), bursts(800.0)),
        with(json!({"snr_db": 20}), bursts(80_000.0)),
        with(fec(10.0, 0.93), bursts(80.0)),
        with(fec(10.0, 0.93), bursts(8000.0)),
        with(real(10.0), bursts(80_000.0)),
    ]
}

#[test]
fn packet_error_rate_matches_distribution_at_20_settings() {
    for changes in settings() {
        let (mut link, channel) = link(&changes);
        let mut now = Time::ZERO;
        let mut failed = [0; 2];
        for _ in 0..PACKETS {
            for (class, bytes) in [1040, 40].into_iter().enumerate() {
                let (is_lost, ends) = send(&mut link, bytes, now);
                failed[class] += u64::from(is_lost);
                now = ends + LONG;
            }
        }
        for (failed, bytes) in failed.into_iter().zip([1040, 40]) {
            let law = channel.failure(Bytes(bytes));
            let allowed = WITHIN * (law * (1.0 - law) / PACKETS as f64).sqrt();
            let found = failed as f64 / PACKETS as f64;
            FAILURES.close(format!("{bytes} B, {changes}"), "1", found, law, allowed);
        }
        let counted: Vec<f64> = link.counters().into_iter().map(|(_, count)| count).collect();
        let sent = PACKETS as f64;
        assert_eq!(counted, [sent, failed[0] as f64, sent, failed[1] as f64]);
    }
}

/// Returns, for two consecutive packets, the probability that the first one fails, and the
/// conditional probability that the second one fails if the first one failed.
fn after_a_failure(channel: &MimoChannel, bytes: u64) -> (f64, f64) {
    let Outcome { failed, .. } = channel.outcome(Bytes(bytes));
    let bad = channel.states().share_bad();
    let then = [0, 1].map(|to| (1.0 - bad) * failed[0][to] + bad * failed[1][to]);
    let either: [f64; 2] = failed.map(|row| row[0] + row[1]);
    let first = then[0] + then[1];
    (first, (then[0] * either[0] + then[1] * either[1]) / first)
}

#[test]
fn probability_of_consecutive_failures_matches_chain() {
    let coded =
        |snr_db: f64, symbols| with(json!({"snr_db": snr_db, "fec": rs(0.93)}), bursts(symbols));
    for (changes, bytes) in [
        (json!({"snr_db": 16}), 40),
        (json!({"snr_db": 16}), 1040),
        (with(json!({"snr_db": 18}), bursts(800.0)), 40),
        (coded(10.0, 8000.0), 1040),
        (coded(10.0, 8000.0), 40),
        (coded(10.0, 80_000.0), 1040),
        (coded(10.0, 80_000.0), 40),
    ] {
        let (mut link, channel) = link(&changes);
        let (first, law) = after_a_failure(&channel, bytes);
        let mut now = Time::ZERO;
        let (mut failed, mut followed) = (0u64, 0u64);
        for _ in 0..(4000.0 / first) as u64 {
            let (is_lost, ends) = send(&mut link, bytes, now);
            let (is_next_lost, ends) = send(&mut link, bytes, ends);
            failed += u64::from(is_lost);
            followed += u64::from(is_lost && is_next_lost);
            now = ends + LONG;
        }
        let allowed = WITHIN * (law * (1.0 - law) / failed as f64).sqrt();
        let found = followed as f64 / failed as f64;
        PAIRS.close(format!("{bytes} B, {changes}"), "1", found, law, allowed);
        let computed = channel.failure_after_failure(Bytes(bytes)).expect("some fail");
        assert!((computed / law - 1.0).abs() < 1e-12, "{computed}");
        assert!(law > first, "{changes}: runs join failures");
    }
}

/// Between two packets the state can change with each symbol time.
#[test]
fn probability_of_failure_after_gap_matches_chain() {
    let changes = with(json!({"snr_db": 10.0, "fec": rs(0.93)}), bursts(8000.0));
    for idle_symbols in [1, 800, 8000, 80_000] {
        let (mut link, channel) = link(&changes);
        let Outcome { failed, .. } = channel.outcome(Bytes(1040));
        let (first, _) = after_a_failure(&channel, 1040);
        let bad = channel.states().share_bad();
        let then = [0, 1].map(|to| (1.0 - bad) * failed[0][to] + bad * failed[1][to]);
        let after = |is_bad| {
            let bad = channel.states().bad_after(idle_symbols, is_bad);
            (1.0 - bad) * (failed[0][0] + failed[0][1]) + bad * (failed[1][0] + failed[1][1])
        };
        let law = (then[0] * after(false) + then[1] * after(true)) / first;
        let mut now = Time::ZERO;
        let (mut lost, mut followed) = (0u64, 0u64);
        for _ in 0..(4000.0 / first) as u64 {
            let (is_lost, ends) = send(&mut link, 1040, now);
            let next = ends + Duration::from_nanos(100 * idle_symbols);
            let (is_next_lost, ends) = send(&mut link, 1040, next);
            lost += u64::from(is_lost);
            followed += u64::from(is_lost && is_next_lost);
            now = ends + LONG;
        }
        let allowed = WITHIN * (law * (1.0 - law) / lost as f64).sqrt();
        let found = followed as f64 / lost as f64;
        PAIRS.close(format!("{idle_symbols} symbols later"), "1", found, law, allowed);
    }
}

/// Two packets with an hour between them cause two ends of transmission and no other event.
#[test]
fn idle_hour_causes_no_event() {
    let registry = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &registry, extra: () };
    let droptail = json!({"kind": "droptail", "limit": {"packets": 10}});
    let queue = AnyQueue::build(&droptail, setup).expect("a queue");
    let context = LinkContext::new(DirectionContext::of(Queue::new(queue, QueueId(0)), Port(0)));
    let links = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &links, extra: context };
    let mut description = mimo(json!({"snr_db": 150}));
    description["kind"] = json!("mimo");
    let mut link = AnyLink::build(&description, setup).expect("a link");
    let mut harness = TestHarness::default();
    link.control(&Control::Begin, &mut harness.at(Time::ZERO));
    for now in [Time::ZERO, Time::ZERO + Duration::from_secs(3600)] {
        assert!(link.next_wakeup().is_never());
        let packet = Packet::datagram(FlowId(0), 0, Bytes(1250), now);
        link.receive(Port(0), &packet, &mut harness.at(now));
        let ends = now + Duration::from_millis(1);
        assert_eq!(link.next_wakeup(), ends);
        link.wake(&mut harness.at(ends));
        assert_eq!(harness.sent().len(), 1);
    }
    assert!(link.next_wakeup().is_never());
}

/// The slots of the Gilbert-Elliott channel have the length of a bit, 100 ns. The test compares
/// which of three consecutive packets fail, in 20 000 triples for each link.
#[test]
fn mimo_without_code_equals_gilbert_elliott_with_slots_of_a_bit() {
    for (changes, bytes) in [
        (json!({"snr_db": 12}), 40),
        (json!({"snr_db": 18}), 1040),
        (with(json!({"snr_db": 20}), bursts(8000.0)), 400),
    ] {
        let (mut link, channel) = link(&changes);
        let [loss_good, loss_bad] = channel.symbol_errors();
        let TwoStates { good_to_bad, bad_to_good } = channel.states();
        let description = json!({
            "kind": "gilbert-elliott", "p_good_to_bad": good_to_bad, "p_bad_to_good": bad_to_good,
            "loss_good": loss_good, "loss_bad": loss_bad, "slot_ns": 100,
        });
        let registry = ErrorsRegistry::default();
        let setup = Setup { seed: Seed::new(1, 0, "channel"), registry: &registry, extra: () };
        let mut process = AnyErrors::build(&description, setup).expect("a valid configuration");
        let mut counts = [[0u64; 8]; 2];
        let mut now = Time::ZERO;
        for _ in 0..PACKETS {
            let mut patterns = [0; 2];
            for place in 0..3 {
                let (is_lost, ended) = send(&mut link, bytes, now);
                let frame = Frame { began: now, ended, bytes: Bytes(bytes), mcs: None };
                patterns[0] |= usize::from(is_lost) << place;
                patterns[1] |= usize::from(process.corrupts(&frame)) << place;
                now = ended;
            }
            for (counts, pattern) in counts.iter_mut().zip(patterns) {
                counts[pattern] += 1;
            }
            now = now + LONG;
        }
        // Chi-square of two samples of the same distribution: 24.3 with 7 degrees of freedom at
        // 99.9 %.
        let terms = counts[0].iter().zip(&counts[1]).map(|(computed, theirs)| {
            let (computed, theirs) = (*computed as f64, *theirs as f64);
            if computed + theirs > 0.0 {
                (computed - theirs).powi(2) / (computed + theirs)
            } else {
                0.0
            }
        });
        let distance: f64 = terms.sum();
        SAME.between(changes.to_string(), "1", distance, 0.0, 24.3);
    }
}
