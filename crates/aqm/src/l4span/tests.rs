//! Tests of L4Span: mark probabilities by hand, marked packets, and reports.

use super::*;
use airpath_conformance::Law;
use airpath_core::{FlowId, Registry, Seed, testing::TestHarness};
use proptest::prelude::*;

const DEFAULT: L4SpanConfig = L4SpanConfig {
    limit: 16_384,
    target_ns: 10_000_000,
    report_ns: 1_000_000,
    packets: 50,
    classic_threshold_bytes: 225_000,
    classic_constant: 7.0,
    mss_bytes: 1460,
};

const LAW: Law = Law {
    area: "L4Span",
    source: "arXiv 2510.02682, mark_entity_impl.h: mark probabilities of ECT(1) and ECT(0)",
    allows: "rounding of doubles",
};
const SHARE: Law = Law {
    area: "L4Span",
    source: "arXiv 2510.02682: share of marked packets at a constant probability",
    allows: "five standard deviations of 100 000 packets",
};

fn queue(config: L4SpanConfig) -> L4Span {
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "l4span"), registry: &registry, extra: () };
    L4Span::build(config, setup).expect("a valid configuration")
}

/// Packet `number` of 1500 bytes.
fn packet(number: u64, ecn: Ecn) -> Packet {
    let mut packet = Packet::data(FlowId(0), number, 1460, 40, Time::ZERO);
    packet.ecn = ecn;
    packet
}

fn fill(queue: &mut L4Span, harness: &mut TestHarness, packets: u64, ecn: Ecn) {
    for number in 0..packets {
        queue.enqueue(&packet(number, ecn), &mut harness.at(Time::ZERO));
    }
}

/// Dequeues `bursts` bursts of `packets` packets, one burst every `every_us`. Returns the numbers
/// of the marked packets.
fn serve(
    queue: &mut L4Span,
    harness: &mut TestHarness,
    (bursts, packets): (u64, u64),
    every_us: u64,
) -> Vec<u64> {
    let mut marked = Vec::new();
    for burst in 1..=bursts {
        let now = Time::from_nanos(burst * every_us * 1000);
        for _ in 0..packets {
            let packet = queue.dequeue(&mut harness.at(now)).expect("packets wait");
            if packet.ecn == Ecn::Ce {
                marked.push(packet.seq);
            }
        }
    }
    marked
}

#[test]
fn l4s_probability_is_linear_between_prediction_minus_and_plus_error() {
    for (required, expected) in [
        (0.0, 0.0),
        (75.0, 0.0),
        (75.1, 0.002),
        (87.5, 0.25),
        (100.0, 0.5),
        (125.0, 1.0),
        (126.0, 1.0),
    ] {
        let found = l4span_l4s_probability(required, 100.0, 25.0);
        LAW.close(format!("ECT(1) at a required rate of {required}"), "", found, expected, 1e-12);
    }
    // Without an error it is a step.
    for (required, expected) in [(99.9, 0.0), (100.0, 0.0), (100.1, 1.0)] {
        let found = l4span_l4s_probability(required, 100.0, 0.0);
        LAW.equal(format!("ECT(1) without error at {required}"), "", found, expected);
    }
}

/// 0.875 · 1460 B / 12.775 kB is 0.1.
#[test]
fn classic_probability_is_square_of_segment_over_backlog() {
    for (backlog, expected) in [(12_775.0, 0.01), (127_750.0, 1e-4), (1277.5, 1.0), (100.0, 1.0)] {
        let found = l4span_classic_probability(backlog, 1460.0, 0.875);
        LAW.close(format!("ECT(0) at a backlog of {backlog} B"), "", found, expected, 1e-12);
    }
}

/// One packet of 1500 bytes per ms is 1.5 MB/s with an error of 0: marks occur while more than
/// 15 kB, the backlog that drains in 10 ms, are left behind the previous packet.
#[test]
fn packets_are_marked_while_backlog_drains_in_more_than_target() {
    let (mut harness, mut queue) = (TestHarness::default(), queue(DEFAULT));
    fill(&mut queue, &mut harness, 20, Ecn::Ect1);
    let marked = serve(&mut queue, &mut harness, (20, 1), 1000);
    // Packet 0 starts the first report; before packet 9, eleven packets are left, before packet 10,
    // ten.
    assert_eq!(marked, (1..10).collect::<Vec<u64>>());
    assert_eq!(harness.counts().marked, 9);
    // The mean backlog of the 19 reports is 10 packets, 10 ms.
    let [(name, mean)] = queue.measured(Time::ZERO)[..] else { panic!("one measurement") };
    assert_eq!(name, "predicted_sojourn_s");
    assert!((mean.expect("19 reports") - 0.010).abs() < 1e-12);
}

/// Grants of five packets every 5 ms have the same rate. Five packets in a grant are not a standing
/// backlog.
#[test]
fn backlog_of_a_grant_is_not_marked() {
    let (mut harness, mut disc) = (TestHarness::default(), queue(DEFAULT));
    fill(&mut disc, &mut harness, 20, Ecn::Ect1);
    assert_eq!(serve(&mut disc, &mut harness, (4, 5), 5000), [5, 6, 7, 8, 9]);
    // With 15 packets, at most 10 packets are left behind a grant.
    let (mut harness, mut disc) = (TestHarness::default(), queue(DEFAULT));
    fill(&mut disc, &mut harness, 15, Ecn::Ect1);
    assert!(serve(&mut disc, &mut harness, (3, 5), 5000).is_empty());
}

/// Reports of 750 kB/s and 1.5 MB/s in turn: 1.125 MB/s with an error of 0.375 MB/s.
#[test]
fn rate_that_varies_is_marked_with_linear_probability() {
    let (mut harness, mut queue) = (TestHarness::default(), queue(DEFAULT));
    fill(&mut queue, &mut harness, 16, Ecn::Ect0);
    let mut now = 0;
    for gap in [0, 2, 1, 2, 1, 2, 1, 2, 1] {
        now += gap;
        queue.dequeue(&mut harness.at(Time::from_millis(now)));
    }
    // Eight packets were left before the ninth departure: 1.2 MB/s.
    let expected = (1.2 - 1.125 + 0.375) / 0.75;
    LAW.close("ECT(1), rates in turn", "", queue.probabilities().0, expected, 1e-12);
    // 22.5 kB at 750 kB/s, 21 kB at 1.125 MB/s, 19.5 kB at 1 MB/s, … 12 kB at 1.125 MB/s.
    let [(_, Some(sojourn))] = queue.measured(Time::from_millis(now))[..] else { panic!("a mean") };
    assert!((sojourn - 0.017_060_12).abs() < 1e-8, "{sojourn}");
}

#[test]
fn share_of_marked_packets_is_probability() {
    let (mut harness, mut queue) = (TestHarness::default(), queue(DEFAULT));
    (queue.l4s, queue.classic) = (0.3, 0.01);
    for (ecn, probability) in [(Ecn::Ect1, 0.3), (Ecn::Ect0, 0.01), (Ecn::NotEct, 0.0)] {
        let mut marked = 0_u32;
        for number in 0..100_000 {
            queue.enqueue(&packet(number, ecn), &mut harness.at(Time::ZERO));
            let sent = queue.dequeue(&mut harness.at(Time::ZERO)).expect("a packet waits");
            marked += u32::from(sent.ecn == Ecn::Ce);
        }
        let share = f64::from(marked) / 1e5;
        let deviation = 5.0 * f64::sqrt(probability * (1.0 - probability) / 1e5);
        SHARE.close(format!("{ecn:?} at {probability}"), "", share, probability, deviation);
    }
}

/// One packet per ms; 200 packets above the threshold of 150.
#[test]
fn classic_packets_are_marked_only_above_threshold() {
    let config = L4SpanConfig { classic_constant: 1e6, ..DEFAULT };
    let (mut harness, mut queue) = (TestHarness::default(), queue(config));
    fill(&mut queue, &mut harness, 200, Ecn::Ect0);
    let marked = serve(&mut queue, &mut harness, (200, 1), 1000);
    // Before packet 49, 151 packets are left.
    assert_eq!(marked, (1..50).collect::<Vec<u64>>());
}

#[test]
fn packets_without_ecn_are_dropped_only_at_limit() {
    let config = L4SpanConfig { limit: 300, classic_constant: 1e6, ..DEFAULT };
    let (mut harness, mut queue) = (TestHarness::default(), queue(config));
    fill(&mut queue, &mut harness, 301, Ecn::NotEct);
    assert_eq!(harness.counts().dropped[DropReason::Overflow as usize], 1);
    assert!(serve(&mut queue, &mut harness, (300, 1), 1000).is_empty());
    assert_eq!((harness.counts().total(), harness.counts().marked), (1, 0));
}

/// Packets that the link holds have been transmitted: they count for the limit only.
#[test]
fn held_packets_do_not_count_as_standing_backlog() {
    let (mut harness, mut queue) = (TestHarness::default(), queue(DEFAULT));
    queue.on_held(1000, Bytes(1_500_000), &mut harness.at(Time::ZERO));
    fill(&mut queue, &mut harness, 10, Ecn::Ect1);
    assert!(serve(&mut queue, &mut harness, (10, 1), 1000).is_empty());
    queue.on_held(DEFAULT.limit - 1, Bytes(1500), &mut harness.at(Time::ZERO));
    fill(&mut queue, &mut harness, 2, Ecn::Ect1);
    assert_eq!((queue.packets(), harness.counts().total()), (1, 1));
}

#[test]
fn an_outage_lowers_prediction_by_one_report() {
    let (mut harness, mut queue) = (TestHarness::default(), queue(DEFAULT));
    fill(&mut queue, &mut harness, 9, Ecn::Ect1);
    serve(&mut queue, &mut harness, (5, 1), 1000);
    // The last report of 1000 ms has 1.5 kB/s, the others have 1.5 MB/s.
    queue.dequeue(&mut harness.at(Time::from_millis(1005)));
    let found = queue.egress.prediction().expect("five reports").rate;
    assert!((found - (4.0 * 1.5e6 + 1500.0) / 5.0).abs() < 1e-6, "{found}");
    assert_eq!(queue.probabilities().0, 0.0);
}

#[test]
fn restarted_measurement_has_no_value() {
    let (mut harness, mut queue) = (TestHarness::default(), queue(DEFAULT));
    fill(&mut queue, &mut harness, 5, Ecn::Ect1);
    serve(&mut queue, &mut harness, (3, 1), 1000);
    queue.restart_measurement(Time::from_millis(3));
    assert_eq!(queue.measured(Time::from_millis(4)), [("predicted_sojourn_s", None)]);
}

#[test]
fn invalid_configurations_are_rejected() {
    let check = <L4Span as Component<dyn QueueDisc + Send>>::check;
    for (config, text) in [
        (L4SpanConfig { limit: 0, ..DEFAULT }, "limit = 0: below 1"),
        (L4SpanConfig { packets: 0, ..DEFAULT }, "packets = 0"),
        (L4SpanConfig { packets: 1001, ..DEFAULT }, "packets = 1001"),
        (L4SpanConfig { target_ns: 0, ..DEFAULT }, "target_ns = 0"),
        (L4SpanConfig { report_ns: 0, ..DEFAULT }, "report_ns = 0"),
        (L4SpanConfig { classic_constant: 0.0, ..DEFAULT }, "classic_constant = 0"),
        (L4SpanConfig { mss_bytes: 0, ..DEFAULT }, "mss_bytes = 0"),
    ] {
        let error = check(&config).expect_err(text).to_string();
        assert!(error.starts_with(text), "{error}");
    }
}

/// Packets that arrive after the previous grant, and packets that a grant takes.
#[derive(Clone, Copy, Debug)]
struct Grant {
    gap_us: u64,
    arrivals: u64,
    departures: u64,
}

/// Mark probabilities after each grant, from a list of all reported packets. The first is `None` if
/// it depends on rounding: if the required rate is the predicted rate, which has no error.
fn plain_port(grants: &[Grant], config: &L4SpanConfig) -> Vec<(Option<f64>, f64)> {
    let (mut now_us, mut backlog, mut left) = (0, 0, 0);
    let (mut rates, mut report): (Vec<f64>, Option<(u64, u64)>) = (Vec::new(), None);
    let mut current = (Some(0.0), 0.0);
    let mut found = Vec::new();
    for grant in grants {
        now_us += grant.gap_us;
        backlog += grant.arrivals;
        let taken = grant.departures.min(backlog);
        backlog -= taken;
        if taken > 0 {
            let (since_us, packets) = report.unwrap_or((now_us, 0));
            let elapsed_us = now_us - since_us;
            if elapsed_us * 1000 >= config.report_ns {
                let rate = packets as f64 * 1500.0 / (elapsed_us as f64 * 1e-6);
                rates.extend((0..packets).map(|_| rate));
                let latest = &rates[rates.len().saturating_sub(config.packets)..];
                let mean = latest.iter().sum::<f64>() / latest.len() as f64;
                let variance = latest.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
                let error = (variance / latest.len() as f64).sqrt();
                let bytes = left * 1500;
                let required = bytes as f64 / (config.target_ns as f64 * 1e-9);
                let classic = if bytes > config.classic_threshold_bytes {
                    l4span_classic_probability(bytes as f64, 1460.0, config.classic_constant)
                } else {
                    0.0
                };
                let is_rounding = (required - mean).abs().max(error) < 1e-6 * mean;
                let l4s = l4span_l4s_probability(required, mean, error);
                current = ((!is_rounding).then_some(l4s), classic);
                report = Some((now_us, taken));
            } else {
                report = Some((since_us, packets + taken));
            }
            left = backlog;
        }
        found.push(current);
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn probabilities_equal_those_of_a_plain_port(
        grants in prop::collection::vec(
            (prop_oneof![Just(0_u64), 1..3000_u64, 1..100_000_u64], 0..40_u64, 0..30_u64),
            1..120,
        ),
        packets in 1..60_usize,
    ) {
        let grants: Vec<Grant> = grants
            .into_iter()
            .map(|(gap_us, arrivals, departures)| Grant { gap_us, arrivals, departures })
            .collect();
        let config = L4SpanConfig { packets, classic_threshold_bytes: 60_000, ..DEFAULT };
        let (mut harness, mut queue) = (TestHarness::default(), queue(config));
        let mut now_us = 0;
        for (grant, (l4s, classic)) in grants.iter().zip(plain_port(&grants, &config)) {
            now_us += grant.gap_us;
            let now = Time::from_nanos(now_us * 1000);
            for number in 0..grant.arrivals {
                queue.enqueue(&packet(number, Ecn::Ect1), &mut harness.at(now));
            }
            for _ in 0..grant.departures {
                queue.dequeue(&mut harness.at(now));
            }
            let (found_l4s, found_classic) = queue.probabilities();
            if let Some(l4s) = l4s {
                prop_assert!((found_l4s - l4s).abs() < 1e-6, "{found_l4s}, plain port {l4s}");
            }
            prop_assert!((found_classic - classic).abs() < 1e-12);
        }
    }
}
