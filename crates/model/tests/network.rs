//! Tests of the fixed point over several hops.

use crate::common::{Gred, PAPER_GRED, problem};
use airpath_conformance::Law;
use airpath_model::network::{HopPoint, NetworkSolution, WINDOW_SPREAD};
use airpath_model::{
    ClassSource, Crossing, DropCurve, FlowClass, ModelError, Network, NetworkHop, QueueLimit,
    Regime, Tcp,
};
use proptest::prelude::*;

const PACKET_BITS: f64 = 12_000.0;
const ONE_HOP: Law = Law {
    area: "Analytic model",
    source: "the fixed point of one hop (qawla-2015): equal to the network of one hop",
    allows: "the tolerances of both root searches",
};
const PARKING_LOT: Law = Law {
    area: "Analytic model",
    source: "parking lot: the flow over n equal hops has the share RTT/(RTT_long √n) (square-root formula)",
    allows: "2 %: PFTK differs from the square-root formula at a loss above 0",
};

/// Returns a hop with a limit in packets.
fn hop(limit: f64, early: Option<&dyn Fn(f64) -> f64>) -> NetworkHop<'_> {
    NetworkHop { limit: QueueLimit::Packets(limit), early, per: 0.0 }
}

/// Returns equal TCP flows over hops, given by index and rate in bit/s.
fn tcp(count: u32, base_rtt_s: f64, route: &[(usize, f64)], tcp: Tcp) -> FlowClass {
    let crossing =
        |&(hop, rate_bps): &(usize, f64)| Crossing { hop, service_s: PACKET_BITS / rate_bps };
    FlowClass {
        count,
        packet_bits: PACKET_BITS,
        route: route.iter().map(crossing).collect(),
        source: ClassSource::Tcp { tcp, base_rtt_s },
    }
}

/// Returns a TCP with a large window, b = 2 and a short timeout.
fn large_window() -> Tcp {
    Tcp { max_window_packets: 1e6, timeout_s: 1e-3, ..Tcp::default() }
}

fn datagrams(rate_bps: f64, route: &[(usize, f64)]) -> FlowClass {
    let source = ClassSource::Datagrams { packets_per_s: rate_bps / PACKET_BITS };
    FlowClass { source, ..tcp(1, 0.0, route, Tcp::default()) }
}

fn throughput_bps(network: &Network<'_>, solution: &NetworkSolution) -> f64 {
    let flows = network.classes.iter().zip(&solution.classes);
    flows.map(|(class, point)| f64::from(class.count) * point.throughput_bps).sum()
}

#[test]
fn one_hop_with_gentle_red_equals_the_one_hop_model() {
    let curve = |x: f64| PAPER_GRED.probability(x);
    for (rate_bps, per) in [(1e6, 0.0), (10e6, 0.0), (40e6, 1e-3), (1e9, 0.01)] {
        let rtts = [0.02, 0.05, 0.05, 0.09];
        let regimes = [Regime { rate_bps, per }];
        let one = problem((&[], &regimes), &rtts, PAPER_GRED.curve()).solve().unwrap();
        let classes = [(1, 0.02), (2, 0.05), (1, 0.09)];
        let classes = classes.map(|(n, rtt_s)| tcp(n, rtt_s, &[(0, rate_bps)], Tcp::default()));
        let hops = vec![NetworkHop { per, ..hop(180.0, Some(&curve)) }];
        let network = Network { hops, classes: classes.to_vec(), spread: 0.0 };
        let found = network.solve().unwrap();
        let case = format!("{} Mbit/s, PER {per}", rate_bps / 1e6);
        let queue = found.hops[0].queue_packets;
        ONE_HOP.close(format!("x*, {case}"), "packets", queue, one.queue_packets(), 1e-6);
        let (rate, expected) = (throughput_bps(&network, &found), one.throughput_bps());
        ONE_HOP.close_relative(format!("T, {case}"), "bit/s", rate, expected, 1e-8);
    }
}

#[test]
fn one_hop_with_a_step_equals_the_one_hop_model_at_its_limit() {
    let step = |x: f64| if x < 50.0 { 0.0 } else { 1.0 };
    let drop = DropCurve { probability: step, x_max: 50.0 };
    let regimes = [Regime { rate_bps: 8e6, per: 0.0 }];
    let one = problem((&[], &regimes), &[0.03; 3], drop).solve().unwrap();
    let classes = vec![tcp(3, 0.03, &[(0, 8e6)], Tcp::default())];
    let found =
        Network { hops: vec![hop(50.0, Some(&step))], classes, spread: 0.0 }.solve().unwrap();
    ONE_HOP.close("x*, step", "packets", found.hops[0].queue_packets, one.queue_packets(), 1e-6);
    let (drop, expected) = (found.hops[0].drop_probability, one.point.drop_probability);
    ONE_HOP.close_relative("q, step", "", drop, expected, 1e-6);
}

#[test]
fn averages_of_one_hop_are_near_those_of_the_one_hop_model() {
    // Both average over normal windows; the one-hop model also derives the losses from the averages.
    let curve = |x: f64| PAPER_GRED.probability(x);
    for (count, rate_bps) in [(4, 20e6), (8, 20e6), (20, 40e6)] {
        let regimes = [Regime { rate_bps, per: 0.0 }];
        let rtts = vec![0.06; count as usize];
        let mut one = problem((&[], &regimes), &rtts, PAPER_GRED.curve());
        one.tcp = Tcp { max_window_packets: 1e4, ..one.tcp };
        let expected = one.window_oscillation().unwrap();
        let classes = vec![tcp(count, 0.06, &[(0, rate_bps)], one.tcp)];
        let hops = vec![hop(180.0, Some(&curve))];
        let found = Network { hops, classes, spread: WINDOW_SPREAD }.solve().unwrap();
        let rate_bps = found.classes[0].throughput_bps * f64::from(count);
        assert!((rate_bps / expected.throughput_bps - 1.0).abs() < 0.02, "{found:?} {expected:?}");
        let queue = found.hops[0].queue_packets;
        assert!((queue / expected.queue_packets - 1.0).abs() < 0.1, "{found:?} {expected:?}");
    }
}

#[test]
fn windows_below_the_limit_fill_a_drop_tail_queue_without_losses() {
    // Two windows of 20 packets over 10 Mbit/s (1.2 ms a packet) and 24 ms: 40 = 20 + 1 + x.
    let limited = Tcp { max_window_packets: 20.0, ..Tcp::default() };
    let classes = vec![tcp(2, 0.024, &[(0, 10e6)], limited)];
    let found = Network { hops: vec![hop(50.0, None)], classes, spread: 0.0 }.solve().unwrap();
    assert!((found.hops[0].queue_packets - 19.0).abs() < 1e-6, "{found:?}");
    assert_eq!(found.hops[0].drop_probability, 0.0);
    assert!((found.classes[0].throughput_bps - 5e6).abs() < 1.0);
}

#[test]
fn one_flow_over_a_small_drop_tail_buffer_has_the_utilisation_of_its_sawtooth() {
    // R = 1 s and a buffer of half of the bandwidth-delay product of 1000 packets: 0.84375/0.875.
    let classes = vec![tcp(1, 0.999, &[(0, 12e6)], large_window())];
    let found = Network { hops: vec![hop(500.0, None)], classes, spread: 0.0 }.solve().unwrap();
    assert!((found.hops[0].utilisation - 0.84375 / 0.875).abs() < 1e-3, "{found:?}");
    assert!((found.hops[0].queue_packets - 500.0 / 3.0 / 0.875).abs() < 1.0, "{found:?}");
}

/// Returns a parking lot: one long flow over `n` equal hops and one short flow per hop.
fn parking_lot<'a>(n: usize, hop: NetworkHop<'a>, rtts_s: (f64, f64)) -> Network<'a> {
    let all: Vec<(usize, f64)> = (0..n).map(|hop| (hop, 1e9)).collect();
    let long = tcp(1, rtts_s.0, &all, large_window());
    let short = all.iter().map(|at| tcp(1, rtts_s.1, &[*at], large_window()));
    Network { hops: vec![hop; n], classes: [long].into_iter().chain(short).collect(), spread: 0.0 }
}

#[test]
fn parking_lot_share_follows_the_square_root_law() {
    let curve = |x: f64| (x / 1e4).min(1.0);
    for n in [1, 2, 3, 5, 10] {
        for (long_s, short_s) in [(0.1, 0.1), (0.3, 0.05)] {
            for early in [Some(&curve as &dyn Fn(f64) -> f64), None] {
                let limit = if early.is_some() { 1e4 } else { 200.0 };
                let network = parking_lot(n, hop(limit, early), (long_s, short_s));
                let found = network.solve().unwrap_or_else(|e| panic!("{n} {long_s} {limit}: {e}"));
                let [long, short] = [found.classes[0], found.classes[1]];
                let share = long.throughput_bps / short.throughput_bps;
                let law = short.rtt_s / (long.rtt_s * (n as f64).sqrt());
                let which = if early.is_some() { "early drops" } else { "drop-tail" };
                let case = format!("{n} hops, {long_s} and {short_s} s, {which}");
                PARKING_LOT.close_relative(case, "", share, law, 0.02);
                let hops = &found.hops;
                assert!(
                    hops.iter()
                        .all(|at| (at.drop_probability / hops[0].drop_probability - 1.0).abs()
                            < 0.01)
                );
            }
        }
    }
}

#[test]
fn parking_lot_without_short_flows_has_one_bottleneck() {
    let classes = vec![tcp(4, 0.1, &[(0, 20e6), (1, 10e6), (2, 30e6)], Tcp::default())];
    let gentle = |x: f64| PAPER_GRED.probability(x);
    let found =
        Network { hops: vec![hop(180.0, Some(&gentle)); 3], classes, spread: 0.0 }.solve().unwrap();
    let empty =
        |at: &HopPoint, busy: f64| at.queue_packets == 0.0 && (at.utilisation - busy).abs() < 1e-6;
    assert!(empty(&found.hops[2], 1.0 / 3.0), "{found:?}");
    assert!(found.hops[1].queue_packets > 1.0 && (found.hops[1].utilisation - 1.0).abs() < 1e-9);
    assert!(found.hops[0].queue_packets == 0.0 && found.hops[0].utilisation > 0.5);
}

#[test]
fn the_second_of_two_equal_hops_has_no_queue() {
    let gentle = |x: f64| PAPER_GRED.probability(x);
    for early in [None, Some(&gentle as &dyn Fn(f64) -> f64)] {
        let classes = vec![tcp(5, 0.05, &[(0, 10e6), (1, 10e6)], Tcp::default())];
        let found =
            Network { hops: vec![hop(180.0, early); 2], classes, spread: 0.0 }.solve().unwrap();
        assert!(found.hops[0].queue_packets > 20.0, "{found:?}");
        assert!(found.hops[1].queue_packets < 1e-6, "{found:?}");
        assert!(found.hops[1].drop_probability < 1e-9);
    }
}

#[test]
fn datagrams_reduce_the_capacity_of_the_flows() {
    let gentle = |x: f64| PAPER_GRED.probability(x);
    let route = [(0, 10e6)];
    let classes = vec![tcp(4, 0.05, &route, Tcp::default()), datagrams(3e6, &route)];
    let found =
        Network { hops: vec![hop(180.0, Some(&gentle))], classes, spread: 0.0 }.solve().unwrap();
    let kept = 1.0 - found.hops[0].drop_probability;
    assert!((found.classes[1].throughput_bps / (3e6 * kept) - 1.0).abs() < 1e-9);
    let sum = 4.0 * found.classes[0].throughput_bps + found.classes[1].throughput_bps;
    assert!((sum / 10e6 - 1.0).abs() < 1e-7, "{found:?}");
    // Datagrams only, at twice the rate: half of them are dropped.
    let classes = vec![datagrams(20e6, &route)];
    let found = Network { hops: vec![hop(30.0, None)], classes, spread: 0.0 }.solve().unwrap();
    assert!((found.hops[0].drop_probability - 0.5).abs() < 1e-9);
    assert_eq!(found.hops[0].queue_packets, 30.0);
}

#[test]
fn values_out_of_range_are_errors() {
    let fails = |network: Network<'_>| network.solve().unwrap_err();
    let route = tcp(1, 0.1, &[(1, 1e6), (0, 1e6)], Tcp::default());
    let two = || vec![hop(10.0, None); 2];
    assert_eq!(
        fails(Network { hops: two(), classes: vec![route], spread: 0.0 }),
        ModelError::Route { class: 0 }
    );
    let none = tcp(1, 0.1, &[], Tcp::default());
    assert_eq!(
        fails(Network { hops: two(), classes: vec![none], spread: 0.0 }),
        ModelError::Route { class: 0 }
    );
    assert_eq!(fails(Network { hops: two(), classes: vec![], spread: 0.0 }), ModelError::NoFlows);
    let route = tcp(1, 0.1, &[(0, 1e6)], Tcp::default());
    let empty = Network { hops: vec![hop(0.0, None)], classes: vec![route.clone()], spread: 0.0 };
    assert!(fails(empty).to_string().starts_with("limit (packets) = 0: must be above 0"));
    let bad = |_: f64| 1.5;
    let network = Network { hops: vec![hop(9.0, Some(&bad))], classes: vec![route], spread: 0.0 };
    assert!(matches!(fails(network), ModelError::DropProbability { .. }));
    let falling = |x: f64| 0.05 - x / 1000.0;
    let slow = vec![tcp(1, 0.1, &[(0, 1e3)], Tcp::default())];
    let network = Network { hops: vec![hop(9.0, Some(&falling))], classes: slow, spread: 0.0 };
    assert!(matches!(fails(network), ModelError::DropDecreases { .. }));
}

/// A hop of a random network: rate in bit/s, limit in packets, gentle RED or drop-tail, error rate.
#[derive(Clone, Debug)]
struct RandomHop {
    rate_bps: f64,
    limit: f64,
    gred: Option<Gred>,
    per: f64,
}

prop_compose! {
    fn any_hop()(
        rate in 6.0..9.0f64, limit in 5.0..500.0f64, is_early in any::<bool>(),
        min_th in 1.0..60.0f64, gap in 1.0..90.0f64, max_p in 0.01..1.0f64,
        per in prop_oneof![Just(0.0), 1e-6..0.05f64],
    ) -> RandomHop {
        let gred = Gred { min_th, max_th: min_th + gap, max_p };
        RandomHop { rate_bps: 10f64.powf(rate), limit, gred: is_early.then_some(gred), per }
    }
}

type RandomClass = (u32, f64, (f64, f64), Option<f64>, f64, f64);

/// Returns number, base RTT, s, ends of the route as shares of the path, rate of datagrams as a
/// share of the first hop's, W_max and b.
fn any_class() -> impl Strategy<Value = RandomClass> {
    let datagrams = prop_oneof![3 => Just(None), 1 => (0.01..0.8f64).prop_map(Some)];
    let window = prop_oneof![Just(43.69), 4.0..2000.0f64];
    let b = prop_oneof![Just(1.0), Just(2.0)];
    (1..60u32, 1e-3..0.4f64, (0.0..1.0f64, 0.0..1.0f64), datagrams, window, b)
}

fn class_of(hops: &[RandomHop], class: &RandomClass) -> FlowClass {
    let &(count, base_rtt_s, (one, two), share, max_window_packets, packets_per_ack) = class;
    let position = |at: f64| (at * hops.len() as f64) as usize;
    let (first, last) = (position(one.min(two)), position(one.max(two)));
    let route: Vec<(usize, f64)> = (first..=last).map(|hop| (hop, hops[hop].rate_bps)).collect();
    match share {
        Some(share) => datagrams(share * hops[first].rate_bps, &route),
        None => {
            let options = Tcp { max_window_packets, packets_per_ack, ..Tcp::default() };
            tcp(count, base_rtt_s, &route, options)
        }
    }
}

/// Asserts the complementarity of (N5) and ranges of all results.
fn assert_sound(random: &[RandomHop], solution: &NetworkSolution, is_on_curve: bool) {
    for (hop, point) in random.iter().zip(&solution.hops) {
        let HopPoint { queue_packets: queue, drop_probability: drop, utilisation, .. } = *point;
        assert!((0.0..=hop.limit * (1.0 + 1e-9)).contains(&queue), "{point:?}");
        assert!((0.0..=1.0).contains(&drop) && (0.0..=1.0).contains(&utilisation), "{point:?}");
        let curve = hop.gred.map_or(0.0, |gred| gred.probability(queue));
        // A drop-tail queue whose windows are halved at an overflow idles a quarter of the time at
        // most (D3).
        let least = match hop.gred {
            Some(_) if is_on_curve => 1.0 - 1e-6,
            Some(_) => 0.0,
            None => 0.75,
        };
        assert!(queue <= 1e-6 || utilisation > least, "a queue at an idle link: {point:?}");
        if is_on_curve && hop.gred.is_some() && queue < hop.limit * (1.0 - 1e-9) {
            assert!((drop - curve).abs() < 1e-6 * (1.0 + curve), "{point:?} {curve}");
        }
        assert!(hop.gred.is_some() || drop < 1e-9 || queue > 0.0, "losses of no queue: {point:?}");
    }
    for point in &solution.classes {
        assert!(point.throughput_bps > 0.0 && point.throughput_bps.is_finite());
        assert!((0.0..=1.0).contains(&point.loss) && point.rtt_s > 0.0);
        assert!((0.0..1.0).contains(&point.timeout_share), "{point:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn random_networks_converge_to_complementary_queues(
        random in prop::collection::vec(any_hop(), 1..7),
        classes in prop::collection::vec(any_class(), 1..9),
        spread in prop_oneof![Just(0.0), Just(WINDOW_SPREAD)],
    ) {
        let curves: Vec<_> = random.iter().map(|hop| hop.gred.map(|gred| move |x: f64| gred.probability(x))).collect();
        let hops = random.iter().zip(&curves).map(|(random, curve)| {
            let early = curve.as_ref().map(|curve| curve as &dyn Fn(f64) -> f64);
            NetworkHop { per: random.per, ..hop(random.limit, early) }
        });
        let classes = classes.iter().map(|class| class_of(&random, class)).collect();
        let network = Network { hops: hops.collect(), classes, spread };
        let solution = network.solve().unwrap();
        assert_sound(&random, &solution, spread == 0.0);
    }
}
