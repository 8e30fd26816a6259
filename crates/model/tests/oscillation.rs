//! Tests of averages over the oscillation of the windows, with and without an effect.

use crate::common::{PAPER_GRED, problem, uniform_rtts};
use airpath_conformance::Law;
use airpath_model::{DropCurve, Problem, Regime, Warning};

const SECOND: Law = Law {
    area: "Analytic model",
    source: "The averages over the oscillation compared with a second, plain implementation",
    allows: "1 %: its 101 windows against Airpath's quadrature",
};

fn regimes<const N: usize>(list: [(f64, f64); N]) -> [Regime; N] {
    list.map(|(rate_mbps, per)| Regime { rate_bps: rate_mbps * 1e6, per })
}

/// Returns the relative change of the throughput by averaging, and whether it is reported.
fn change<Q: Fn(f64) -> f64>(problem: &Problem<'_, Q>) -> (f64, bool) {
    let (solution, oscillation) = (problem.solve().unwrap(), problem.window_oscillation().unwrap());
    let change = oscillation.throughput_bps / solution.throughput_bps() - 1.0;
    (change, oscillation.warning(&solution, problem.base_rtts_s).is_some())
}

#[test]
fn a_link_with_one_rate_and_a_queue_that_stays_full_keeps_its_throughput() {
    let rtts = uniform_rtts(16, 20.0);
    let link = regimes([(8.0, 1e-3)]);
    let (change, warned) = change(&problem((&[], &link), &rtts, PAPER_GRED.curve()));
    assert!(change.abs() < 1e-3 && !warned, "{change}");
}

#[test]
fn windows_without_losses_do_not_oscillate() {
    let link = regimes([(100.0, 0.0), (200.0, 0.5)]);
    let problem = problem((&[20.0], &link), &[0.1], PAPER_GRED.curve());
    // Not exactly 0, because the search for the loss rate starts at 1e-9.
    assert!(problem.window_oscillation().unwrap().spread < 1e-4);
    assert!(change(&problem).0.abs() < 1e-5);
}

#[test]
fn published_point_with_an_error_of_18_percent_gives_a_warning() {
    // Table 5, idx 10: ns-3 9.1072, analysis 10.7412 Mbit/s. x* = 30.7 lies just above B = 30.
    let rtts = uniform_rtts(4, 40.0);
    let link = regimes([(8.0, 7.19e-4), (10.752, 9.85e-4)]);
    let problem = problem((&[30.0], &link), &rtts, PAPER_GRED.curve());
    let (change, warned) = change(&problem);
    assert!(warned && change < -0.1, "{change}");
    let solution = problem.solve().unwrap();
    let warning = problem.window_oscillation().unwrap().warning(&solution, &rtts).unwrap();
    assert!(matches!(warning, Warning::QueueOscillation { .. }));
    assert!(warning.to_string().starts_with("the queue oscillates with the windows"));
    assert!(solution.warnings.is_empty(), "it does not slow down solve()");
}

/// Columns: rates in Mbit/s, error rates, thresholds, N, F in ms, T in Mbit/s.
type Row = ([f64; 3], [f64; 3], [f64; 2], u32, f64, f64);
#[rustfmt::skip]
const SECOND_OPINION: [Row; 6] = [
    ([5.376, 8.0, 26.88], [0.000118, 0.000767, 0.266], [9.0, 11.0], 2, 60.0, 5.982),
    ([5.376, 8.0, 10.752], [0.000181, 0.00101, 0.253], [27.0, 28.0], 16, 20.0, 7.522),
    ([10.752, 21.0, 24.0], [0.000117, 0.00165, 0.0188], [12.0, 22.0], 4, 40.0, 17.874),
    ([5.376, 10.752, 21.0], [6.21e-05, 0.000107, 0.00414], [32.0, 35.0], 8, 80.0, 9.462),
    ([5.376, 16.0, 26.88], [2.21e-05, 0.00176, 0.0362], [11.0, 39.0], 8, 100.0, 15.385),
    ([8.0, 21.0, 26.88], [1.16e-05, 1.19e-05, 2.36e-05], [13.0, 32.0], 1, 40.0, 8.000),
];

#[test]
fn averages_match_an_independent_implementation() {
    // The values come from a simple Python implementation with a table over the path and 101
    // windows of equal probability.
    for (rates, pers, thresholds, flows, mean_ms, expected_mbps) in SECOND_OPINION {
        let rtts = uniform_rtts(flows, mean_ms);
        let link: Vec<Regime> = rates
            .into_iter()
            .zip(pers)
            .map(|(rate, per)| Regime { rate_bps: rate * 1e6, per })
            .collect();
        let problem = problem((&thresholds, &link), &rtts, PAPER_GRED.curve());
        let mbps = problem.window_oscillation().unwrap().throughput_bps / 1e6;
        let what = format!("throughput, {flows} flows, thresholds {thresholds:?}");
        SECOND.close_relative(what, "Mbit/s", mbps, expected_mbps, 0.01);
    }
}

#[test]
fn a_drop_tail_queue_is_averaged_at_its_limit() {
    let step = |x: f64| if x < 50.0 { 0.0 } else { 1.0 };
    let drop = DropCurve { probability: step, x_max: 50.0 };
    let link = regimes([(8.0, 0.0)]);
    let rtts = uniform_rtts(8, 20.0);
    let problem = problem((&[], &link), &rtts, drop);
    let (change, warned) = change(&problem);
    assert!(change.abs() < 0.01, "{change}");
    // The queue is below the limit while the windows are small.
    let queue_packets = problem.window_oscillation().unwrap().queue_packets;
    assert!(warned && (38.0..45.0).contains(&queue_packets), "{queue_packets}");
}

#[test]
fn wrong_queue_length_gives_a_warning_even_with_correct_throughput() {
    // Table row idx 12, B = 20: x* is the threshold of 20.0 packets; the simulated queue length is
    // 10.8 packets. T differs by 2 %, which gives no warning by itself.
    let rtts = uniform_rtts(4, 40.0);
    let link = regimes([(16.0, 5.32e-5), (26.88, 0.112)]);
    let problem = problem((&[20.0], &link), &rtts, PAPER_GRED.curve());
    let (solution, oscillation) = (problem.solve().unwrap(), problem.window_oscillation().unwrap());
    let Some(Warning::QueueOscillation { throughput_bps, queue_packets, rtt_s }) =
        oscillation.warning(&solution, &rtts)
    else {
        panic!("no warning");
    };
    assert!(throughput_bps.share().abs() < 0.03, "{throughput_bps:?}");
    assert!(queue_packets.of == 20.0 && (7.0..11.0).contains(&queue_packets.to));
    assert!(rtt_s.share() < -0.1, "{rtt_s:?}");
}

#[test]
fn error_below_one_packet_of_a_short_queue_gives_no_warning() {
    let rtts = uniform_rtts(8, 60.0);
    let link = regimes([(1000.0, 0.02)]);
    let problem = problem((&[], &link), &rtts, PAPER_GRED.curve());
    let (solution, oscillation) = (problem.solve().unwrap(), problem.window_oscillation().unwrap());
    assert_eq!((solution.queue_packets(), oscillation.warning(&solution, &rtts)), (0.0, None));
}
