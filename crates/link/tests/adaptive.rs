//! Tests of the adaptive link: selected MCS, transmission time and loss.

use airpath_aqm::{AnyQueue, Queue};
use airpath_conformance::Law;
use airpath_core::{
    Bytes, Control, FlowId, Packet, Port, QueueId, Rate, Registries, Registry, Seed, Setup, Stage,
    Time, testing::TestHarness,
};
use airpath_link::{
    AdaptiveConfig, AnyLink, DirectionContext, Files, Link, LinkContext, SideReport, Tables,
};
use airpath_phy::adaptation::PolicyRegistry;
use airpath_phy::per_table::PerTable;
use airpath_phy::snr::SnrSteps;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const MS: u64 = 1_000_000;

/// MCSs of qawla-2015 Table 1: bits per symbol, code rate, bytes of a FEC block k_m, rate c_m.
pub(crate) const MCSS: [(u64, f64, u64, f64); 8] = [
    (2, 1.0 / 2.0, 60, 5.376e6),
    (2, 3.0 / 4.0, 54, 8.064e6),
    (4, 1.0 / 2.0, 60, 10.752e6),
    (4, 3.0 / 4.0, 54, 16.128e6),
    (6, 1.0 / 2.0, 54, 16.128e6),
    (6, 2.0 / 3.0, 48, 21.504e6),
    (6, 3.0 / 4.0, 54, 24.192e6),
    (6, 5.0 / 6.0, 60, 26.88e6),
];

/// Packet rates g_m for 1500 bytes, qawla-2015 Table 2.
pub(crate) const PACKET_RATES: [u64; 8] =
    [5_376_000, 8_000_000, 10_752_000, 16_000_000, 16_000_000, 21_000_000, 24_000_000, 26_880_000];

/// Table with the number of errors of 10⁶ blocks from 0 to 40 dB in steps of 2 dB. The error rate
/// falls by a factor of 10 every 2 dB. The curve of each MCS is shifted by 3 dB relative to the
/// previous MCS, except the curve of mcs3, which is shifted by 1 dB relative to mcs4.
pub(crate) fn table() -> PerTable {
    let onset = [0.0, 3.0, 6.0, 10.0, 9.0, 12.0, 15.0, 18.0];
    let curves = MCSS.iter().zip(onset).enumerate().map(|(m, (mcs, onset))| {
        let points: Vec<Value> = (0..=20)
            .map(|step| {
                let snr_db = 2.0 * f64::from(step);
                let share = 10f64.powf(-(snr_db - onset) / 2.0).min(1.0);
                json!({"snr_db": snr_db, "errors": (share * 1e6).round(), "blocks": 1_000_000})
            })
            .map(|mut point| {
                point["errors"] =
                    json!(point["errors"].as_f64().expect("the field is a number") as u64);
                point
            })
            .collect();
        json!({"mcs": {"name": format!("mcs{m}"), "bits_per_symbol": mcs.0, "code_rate": mcs.1,
                       "block_bytes": mcs.2, "rate_bps": mcs.3},
               "points": points})
    });
    let document = json!({"channel": "made up", "curves": curves.collect::<Vec<_>>()});
    PerTable::from_json(&document.to_string()).expect("a table")
}

pub(crate) fn files() -> Files {
    let tables: Tables = [("t".to_owned(), Arc::new(table()))].into();
    // 6 dB for one second, then 18 dB for one second.
    let steps =
        SnrSteps::new(vec![(0, 6.0), (1000 * MS, 18.0)], 2000 * MS).expect("valid SNR steps");
    let snr = [("two".to_owned(), Arc::new(steps))].into();
    Files { tables, snr, ..Files::default() }
}

pub(crate) fn build(
    description: &Value,
    queue: &Value,
    policies: PolicyRegistry,
) -> Result<AnyLink, String> {
    let queues = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &queues, extra: () };
    let queue = Queue::new(AnyQueue::build(queue, setup).expect("a queue"), QueueId(0));
    let context = LinkContext {
        files: Arc::new(files()),
        registries: Registries::default().with(policies),
        ..LinkContext::new(DirectionContext::of(queue, Port(0)))
    };
    let links = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &links, extra: context };
    AnyLink::build(description, setup).map_err(|error| error.to_string())
}

pub(crate) fn adaptive(snr_db: f64, policy: Value, changes: Value) -> Value {
    let mut description =
        json!({"kind": "adaptive", "table": "t", "snr": snr_db, "policy": policy});
    for (key, value) in changes.as_object().expect("a table") {
        description[key] = value.clone();
    }
    description
}

pub(crate) fn fixed(mcs: usize) -> Value {
    json!({"kind": "fixed", "mcs": format!("mcs{mcs}")})
}

/// A link that the test drives step by step.
pub(crate) struct Hand {
    pub(crate) harness: TestHarness,
    pub(crate) link: AnyLink,
    pub(crate) next: u64,
}

impl Hand {
    pub(crate) fn new(description: &Value) -> Hand {
        Hand::with(description, &json!({"kind": "droptail", "limit": {"packets": 1_000_000}}))
    }

    fn with(description: &Value, queue: &Value) -> Hand {
        let mut link = build(description, queue, PolicyRegistry::default()).expect("a link");
        let mut harness = TestHarness::default();
        link.control(&Control::Begin, &mut harness.at(Time::ZERO));
        Hand { harness, link, next: 0 }
    }

    /// Passes a packet of `size` bytes to the link at `at_ns`. Returns the packets that left before
    /// this time: time in ns and packet number.
    pub(crate) fn arrive(&mut self, at_ns: u64, size: u64) -> Vec<(u64, u64)> {
        let left = self.until(at_ns);
        let now = Time::from_nanos(at_ns);
        let packet = Packet::datagram(FlowId(0), self.next, Bytes(size), now);
        self.next += 1;
        self.link.receive(Port(0), &packet, &mut self.harness.at(now));
        left
    }

    pub(crate) fn until(&mut self, ns: u64) -> Vec<(u64, u64)> {
        let sent = self.harness.run(&mut self.link, Time::from_nanos(ns));
        sent.into_iter().map(|(at, _, packet)| (at.as_nanos(), packet.seq)).collect()
    }

    fn control(&mut self, at_ns: u64, event: &Control) -> Vec<(u64, u64)> {
        let left = self.until(at_ns);
        self.link.control(event, &mut self.harness.at(Time::from_nanos(at_ns)));
        left
    }

    pub(crate) fn report(&self, ns: u64) -> SideReport {
        self.link.reports(Time::from_nanos(ns)).remove(0)
    }

    pub(crate) fn counters(&self, ns: u64) -> BTreeMap<String, f64> {
        let counters = self.report(ns).link.counters;
        counters.into_iter().map(|(name, count)| (name.into_owned(), count)).collect()
    }

    /// Returns the names of the MCSs that sent packets, with the numbers of packets.
    fn used(&self, ns: u64) -> Vec<(String, f64)> {
        let counters = self.counters(ns).into_iter();
        counters.filter(|(name, count)| name.starts_with("mcs") && *count > 0.0).collect()
    }
}

// --- compared with a multi-regime link
// ------------------------------------------------------------------

/// Returns the configuration of a multi-regime link with the rates g_m and the losses of eq. 23
/// (qawla-2015) for the MCSs in `chosen`. The regime changes at `threshold`.
pub(crate) fn by_hand(snr_db: f64, chosen: &[usize], threshold: Option<u64>) -> Value {
    let table = table();
    let regimes: Vec<Value> = chosen
        .iter()
        .map(|&m| {
            let per = table.curves[m].per(snr_db, Bytes(1500));
            json!({"rate_bps": PACKET_RATES[m], "per": per})
        })
        .collect();
    let thresholds: Vec<u64> = threshold.into_iter().collect();
    json!({"kind": "multi-regime", "thresholds": thresholds, "regimes": regimes})
}

/// Returns departures (time, number) and measurements of a link with arrivals of 1500 bytes.
pub(crate) fn everything(description: &Value, gaps: &[u64]) -> (Vec<(u64, u64)>, SideReport) {
    let queue = json!({"kind": "gred", "min_th": 3, "max_th": 30, "max_p": 0.2});
    let mut hand = Hand::with(description, &queue);
    let (mut now, mut left) = (0, Vec::new());
    for gap in gaps {
        now += gap;
        left.extend(hand.arrive(now, 1500));
    }
    left.extend(hand.until(now + 1000 * MS));
    let mut report = hand.report(now + 1000 * MS);
    report.link.counters.clear();
    (left, report)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// For packets of 1500 bytes the adaptive link equals a multi-regime link with the rates and
    /// error rates of the selected MCSs: all departures agree to the nanosecond, and all counters
    /// agree.
    #[test]
    fn adaptive_link_equals_multi_regime_link_for_1500_bytes(
        snr_db in 0.0..40.0f64, chosen in 0..8usize, above in 0..8usize, threshold in 1..20u64,
        gaps in prop::collection::vec(0..1_500_000u64, 300),
    ) {
        let policies = [
            (fixed(chosen), vec![chosen], None),
            (json!({"kind": "dual-regime", "mcs_below": format!("mcs{chosen}"),
                    "mcs_above": format!("mcs{above}"), "threshold": threshold}),
             vec![chosen, above], Some(threshold)),
        ];
        for (policy, chosen, threshold) in policies {
            let ours = everything(&adaptive(snr_db, policy, json!({})), &gaps);
            prop_assert_eq!(ours, everything(&by_hand(snr_db, &chosen, threshold), &gaps));
        }
    }
}

/// At 20 dB mcs5 is the fastest MCS with a PER below 0.05: its block error rate is 0.1 ^ 4 and its
/// PER is 0.0032. The PER of mcs6 is 0.085.
#[test]
fn tagla_and_qawla_select_mcs_from_table() {
    let gaps: Vec<u64> = (0..5000).map(|n| if n % 100 < 50 { 200_000 } else { 900_000 }).collect();
    let tagla = |th_per: f64| json!({"kind": "tagla", "th_per": th_per});
    let qawla = json!({"kind": "qawla", "th_per": 0.1, "h": 20, "threshold": 8});
    let per_of = |m: usize| table().curves[m].per(20.0, Bytes(1500));
    assert!(per_of(5) < 0.005 && (0.05..0.1).contains(&per_of(6)), "{} {}", per_of(5), per_of(6));
    for (policy, chosen, threshold) in
        [(tagla(0.05), vec![5], None), (tagla(0.1), vec![6], None), (qawla, vec![5, 6], Some(8))]
    {
        let (left, report) = everything(&adaptive(20.0, policy, json!({})), &gaps);
        assert_eq!((left, report.clone()), everything(&by_hand(20.0, &chosen, threshold), &gaps));
        assert!(report.link.lost_packets > 0 && report.link.regime_packets.iter().all(|n| *n > 0));
    }
}

// --- time and loss -------------------------------------------------------------------------------

#[test]
fn packet_is_padded_to_blocks() {
    for (m, &(_, _, block_bytes, rate_bps)) in MCSS.iter().enumerate() {
        for (size, overhead) in [(1, 0), (block_bytes, 0), (block_bytes, 1), (1500, 4), (65_535, 0)]
        {
            let changes = json!({"framing": overhead});
            let mut hand = Hand::new(&adaptive(40.0, fixed(m), changes));
            hand.arrive(0, size);
            let bytes = (size + overhead).div_ceil(block_bytes) * block_bytes;
            let ns = (bytes * 8 * 1_000_000_000).div_ceil(rate_bps as u64);
            assert_eq!(hand.until(u64::MAX / 4), [(ns, 0)], "mcs{m}, {size} + {overhead} bytes");
        }
    }
}

pub(crate) const EQ_23: Law = Law {
    area: "802.16 packet error rates",
    source: "qawla-2015 eq. 23: a packet of L bytes is lost with one of its ⌈L/k⌉ blocks",
    allows: "between the 0.1 % points of chi-square with 16 degrees of freedom",
};

/// The test has 16 combinations: mcs0 to mcs3, each with four packet sizes of one block to many
/// blocks.
#[test]
fn losses_match_equation_23() {
    const SIZES: [u64; 4] = [40, 61, 576, 1500];
    const PACKETS: u64 = 40_000;
    let mut chi_square = 0.0;
    for m in 0..4 {
        // Block error rates between 1/10 and 1/100.
        let snr_db = [3.0, 7.0, 10.0, 12.0][m];
        let mut hand = Hand::new(&adaptive(snr_db, fixed(m), json!({})));
        for number in 0..PACKETS {
            hand.arrive(0, SIZES[(number % 4) as usize]);
        }
        let mut arrived = [0_u64; 4];
        for (_, seq) in hand.until(u64::MAX / 4) {
            arrived[(seq % 4) as usize] += 1;
        }
        for (size, arrived) in SIZES.into_iter().zip(arrived) {
            let count = (PACKETS / 4) as f64;
            let fer = table().curves[m].fer(snr_db);
            assert!((0.003..0.2).contains(&fer), "mcs{m}: {fer}");
            let arrives = (1.0 - fer).powi(size.div_ceil(MCSS[m].2) as i32);
            let off = arrived as f64 - count * arrives;
            chi_square += off * off / (count * arrives * (1.0 - arrives));
        }
    }
    EQ_23.between("chi-square of 16 loss frequencies", "1", chi_square, 3.942, 39.252);
}

// --- the estimate --------------------------------------------------------------------------------

pub(crate) fn chosen_at(snr_db: f64, policy: &Value, changes: Value) -> Vec<(String, f64)> {
    let mut hand = Hand::new(&adaptive(snr_db, policy.clone(), changes));
    for _ in 0..10 {
        hand.arrive(0, 1500);
    }
    hand.until(1000 * MS);
    hand.used(1000 * MS)
}

#[test]
fn estimate_bias_changes_mcs_but_not_true_snr() {
    let qawla = json!({"kind": "qawla", "th_per": 0.05, "h": 100, "threshold": 5});
    let mut differ = 0;
    for half_db in 0..76 {
        let snr_db = f64::from(half_db) / 2.0;
        let biased = chosen_at(snr_db, &qawla, json!({"snr_bias_db": 2.0}));
        assert_eq!(biased, chosen_at(snr_db + 2.0, &qawla, json!({})), "{snr_db} dB");
        differ += usize::from(biased != chosen_at(snr_db, &qawla, json!({})));
    }
    assert!(differ > 20, "{differ}");
    // At 15 dB the policy selects the MCS for 17 dB, mcs5 instead of mcs4. The errors are those at
    // 15 dB.
    let tagla = json!({"kind": "tagla", "th_per": 0.2});
    let gaps = vec![1_000_000; 2000];
    let biased = everything(&adaptive(15.0, tagla, json!({"snr_bias_db": 2.0})), &gaps);
    assert_eq!(biased, everything(&by_hand(15.0, &[5], None), &gaps));
    assert!(biased.1.link.lost_packets > 0);
}

pub(crate) const NOISE: Law = Law {
    area: "Radio channel",
    source: "A normal estimate of the SNR: the law of the MCS that TAGLA chooses with it",
    allows: "between the 0.1 % points of chi-square with 6 degrees of freedom",
};

/// Returns the fraction of estimates below `x` standard deviations.
pub(crate) fn normal_share(x: f64) -> f64 {
    (1.0 + erf(x / std::f64::consts::SQRT_2)) / 2.0
}

/// Error function, by its power series.
pub(crate) fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn estimate_noise_distributes_choices_normally() {
    const INTERVALS: u64 = 20_000;
    let (mean_db, deviation_db) = (14.0, 4.0);
    let tagla = json!({"kind": "tagla", "th_per": 0.05});
    let changes = json!({"snr_noise_db": deviation_db, "estimate_interval_ns": 5 * MS});
    let mut hand = Hand::new(&adaptive(mean_db, tagla.clone(), changes));
    for number in 0..INTERVALS {
        hand.arrive(number * 5 * MS, 100);
    }
    let end = INTERVALS * 5 * MS;
    hand.until(end);
    // Computes the share of each MCS: TAGLA's choices on a fine grid of estimates, weighted by the
    // normal distribution.
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    let (step, from) = (0.02, -12.0);
    for place in 0..2600 {
        let low = from + step * f64::from(place);
        let at = |snr_db: f64| normal_share((snr_db - mean_db) / deviation_db);
        let chosen = chosen_of(low + step / 2.0, &tagla);
        *shares.entry(chosen).or_default() += at(low + step) - at(low);
    }
    let counters = hand.counters(end);
    assert_eq!(shares.len(), 7, "mcs3 never is better than mcs4");
    let off = |(name, share): (&String, &f64)| {
        let expected = share * INTERVALS as f64;
        let off = counters[&format!("{name}_packets")] - expected;
        off * off / expected
    };
    let chi_square = shares.iter().map(off).sum();
    NOISE.between("chi-square of 7 MCSs", "1", chi_square, 0.381, 22.458);
}

/// Returns the name of TAGLA's MCS for an estimate.
pub(crate) fn chosen_of(snr_db: f64, policy: &Value) -> String {
    let description = adaptive(snr_db, policy.clone(), json!({}));
    let mut parameters = description.as_object().expect("a table").clone();
    parameters.remove("kind");
    let config: AdaptiveConfig = serde_json::from_value(parameters.into()).expect("a description");
    let adapted = config.regimes(&files(), &PolicyRegistry::default(), Bytes(1500));
    adapted.expect("valid regimes").regimes.remove(0).mcs
}

/// Returns the MCS in each of the first intervals if packets are sent only at the given times.
pub(crate) fn mcs_by_time(
    policy: &Value,
    times: impl Iterator<Item = u64>,
) -> BTreeMap<u64, String> {
    let changes = json!({"snr_noise_db": 4.0, "estimate_interval_ns": 5 * MS});
    let mut hand = Hand::new(&adaptive(14.0, policy.clone(), changes));
    let mut used = BTreeMap::new();
    for at in times {
        hand.control(at, &Control::StartMeasurement);
        hand.arrive(at, 40);
        let [(name, count)] = &hand.used(at + 1)[..] else { panic!("one packet, one MCS") };
        assert_eq!(*count, 1.0);
        if let Some(before) = used.insert(at / (5 * MS), name.clone()) {
            assert_eq!(*before, *name, "one estimate in an interval");
        }
    }
    used
}

/// The estimate of an interval does not depend on earlier packets or on the chosen MCS.
#[test]
fn estimates_depend_only_on_interval() {
    let tagla = json!({"kind": "tagla", "th_per": 0.05});
    let all = mcs_by_time(&tagla, (0..2000).map(|n| n * MS));
    let some = mcs_by_time(&tagla, (0..400).filter(|n| n % 7 == 3).map(|n| n * 5 * MS + 4 * MS));
    assert_eq!(all.len(), 400);
    assert!(some.iter().all(|(interval, name)| all[interval] == *name));
    let changes = all.values().zip(all.values().skip(1)).filter(|(a, b)| a != b).count();
    assert!(changes > 200, "{changes}");
}

#[test]
fn packets_outside_the_table_are_counted() {
    let tagla = json!({"kind": "tagla", "th_per": 0.05});
    let outside = |snr_db: f64, changes: Value| {
        let mut hand = Hand::new(&adaptive(snr_db, tagla.clone(), changes));
        for number in 0..1000 {
            hand.arrive(number * 5 * MS, 1500);
        }
        hand.until(6000 * MS);
        hand.counters(6000 * MS)["outside_table_packets"]
    };
    assert_eq!(outside(0.0, json!({})), 0.0);
    assert_eq!(outside(-0.1, json!({})), 1000.0);
    assert_eq!(outside(1.0, json!({"snr_bias_db": -2.0})), 1000.0);
    // 15.9 % of the estimates are below 0 dB, within five standard deviations.
    let some = outside(2.0, json!({"snr_noise_db": 2.0}));
    assert!((100.0..217.0).contains(&some), "{some}");
}

// --- rate and measurement ------------------------------------------------------------------------

#[test]
fn rate_change_scales_all_mcs_after_current_transmission() {
    let pair = json!({"kind": "dual-regime", "mcs_below": "mcs0", "mcs_above": "mcs7",
                      "threshold": 1});
    let mut hand = Hand::new(&adaptive(40.0, pair, json!({})));
    for _ in 0..4 {
        hand.arrive(0, 1260);
    }
    // The nominal rate is 26.88 Mbit/s. 1260 bytes take 375 µs with mcs7 and 1.875 ms with mcs0.
    let mut left = hand.control(100_000, &Control::Rate(Rate(2_688_000)));
    left.extend(hand.control(5 * MS, &Control::Rate(Rate(0))));
    left.extend(hand.control(50 * MS, &Control::Rate(Rate(26_880_000))));
    left.extend(hand.until(100 * MS));
    let first = 1_875_000;
    let second = first + 3_750_000;
    // The third packet starts at rate 0. Its transmission restarts at 50 ms; it is counted only
    // once.
    let third = 50 * MS + 375_000;
    assert_eq!(left, [(first, 0), (second, 1), (third, 2), (third + 1_875_000, 3)]);
    assert_eq!(hand.used(100 * MS), [("mcs0_packets".into(), 2.0), ("mcs7_packets".into(), 2.0)]);
    assert_eq!(hand.report(100 * MS).link.regime_packets, [2, 2]);
}

#[test]
fn counters_start_with_measurement() {
    let mut hand = Hand::new(&adaptive(-3.0, fixed(0), json!({})));
    for _ in 0..3 {
        hand.arrive(0, 1500);
    }
    hand.control(3 * MS, &Control::StartMeasurement);
    hand.until(100 * MS);
    let counted = hand.counters(100 * MS);
    assert_eq!((counted["mcs0_packets"], counted["outside_table_packets"]), (1.0, 1.0));
}
