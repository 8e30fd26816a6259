//! Tests of boundary cases of the theory: violated conditions, jumps, and thresholds that are never
//! reached.

use crate::common::{PAPER_GRED, problem};
use airpath_conformance::Law;
use airpath_model::{Domain, DropCurve, ModelError, Regime, Tcp, Warning};

const SLOW: Regime = Regime { rate_bps: 8e6, per: 1e-3 };
const FAST: Regime = Regime { rate_bps: 16e6, per: 0.05 };
const DROP_TAIL: Law = Law {
    area: "Analytic model",
    source: "qawla-2015 theorem 3.1: over a drop-tail queue of 50 packets the fixed point is its limit",
    allows: "the tolerance of the root search",
};
const RTTS: [f64; 4] = [0.02, 0.03, 0.04, 0.05];

#[test]
fn theorem_3_1_a_queue_that_grows_at_its_limit_is_an_error() {
    let drop = DropCurve { probability: |_| 0.0, x_max: 10.0 };
    let error = problem((&[], &[SLOW]), &RTTS, drop).solve().unwrap_err();
    assert!(
        matches!(error, ModelError::QueueFull { queue_packets: 10.0, service_bps: 8e6, .. }),
        "{error}"
    );
}

#[test]
fn a_drop_tail_queue_settles_at_its_limit() {
    let step = |x: f64| if x < 50.0 { 0.0 } else { 1.0 };
    let drop = DropCurve { probability: step, x_max: 50.0 };
    let solution = problem((&[], &[SLOW]), &RTTS, drop).solve().unwrap();
    DROP_TAIL.close("x*", "packets", solution.queue_packets(), 50.0, 1e-8);
    let (found, expected) = (solution.throughput_bps(), 0.999 * 8e6);
    DROP_TAIL.close_relative("T, 8 Mbit/s, PER 0.001", "bit/s", found, expected, 1e-9);
    assert!(solution.point.drop_probability > 0.0 && solution.point.drop_probability < 0.1);
}

#[test]
fn thresholds_above_the_longest_queue_have_no_effect() {
    let near = problem((&[], &[SLOW]), &RTTS, PAPER_GRED.curve()).solve().unwrap();
    for threshold in [180.0, 1000.0] {
        let far =
            problem((&[threshold], &[SLOW, FAST]), &RTTS, PAPER_GRED.curve()).solve().unwrap();
        assert_eq!(far.domain, Domain::Regime(0));
        assert_eq!(far.queue_packets(), near.queue_packets());
    }
}

#[test]
fn solutions_exist_in_every_regime_and_at_every_boundary() {
    // With more flows, the solution moves to higher regimes.
    let regimes =
        [(4e6, 1e-3), (8e6, 0.03), (12e6, 0.08)].map(|(rate_bps, per)| Regime { rate_bps, per });
    let mut seen: Vec<String> = Vec::new();
    for flows in 1..=300 {
        let rtts = vec![0.2; flows];
        let solution =
            problem((&[10.0, 25.0], &regimes), &rtts, PAPER_GRED.curve()).solve().unwrap();
        let name = solution.domain.to_string();
        if seen.last() != Some(&name) {
            seen.push(name);
        }
    }
    assert_eq!(seen, ["empty", "B1", "R2", "B2", "R3"]);
}

#[test]
fn a_drop_curve_that_falls_or_leaves_0_to_1_is_an_error() {
    let falling = DropCurve { probability: |x: f64| 0.5 - x / 100.0, x_max: 10.0 };
    let error =
        problem((&[], &[Regime { rate_bps: 1e3, per: 0.0 }]), &RTTS, falling).solve().unwrap_err();
    assert_eq!(
        error.to_string(),
        "drop probability falls from 0.5 to 0.4 up to 10 packets: it must not decrease"
    );
    let nan = DropCurve { probability: |_| f64::NAN, x_max: 10.0 };
    assert!(problem((&[], &[SLOW]), &RTTS, nan).solve().is_err());
    let nan_inside = |x: f64| {
        if x == 0.0 {
            0.0
        } else if x < 10.0 {
            f64::NAN
        } else {
            1.0
        }
    };
    let drop = DropCurve { probability: nan_inside, x_max: 10.0 };
    assert!(problem((&[], &[SLOW]), &RTTS, drop).solve().is_err());
}

#[test]
fn error_names_input_out_of_range() {
    let text = |rtts: &[f64]| {
        problem((&[], &[SLOW]), rtts, PAPER_GRED.curve()).solve().unwrap_err().to_string()
    };
    assert_eq!(text(&[]), "no flows: give the base RTT of at least one flow");
    assert_eq!(text(&[0.1, -1.0]), "base RTT of flow 1 = -1 s: must be 0 or more and finite");
    let mut bad = problem((&[], &[SLOW]), &RTTS, PAPER_GRED.curve());
    bad.packet_bytes = 0.0;
    assert_eq!(
        bad.solve().unwrap_err().to_string(),
        "packet_bytes = 0: must be above 0 and finite"
    );
}

#[test]
fn an_rtt_beyond_the_timeout_is_reported() {
    let slow = [Regime { rate_bps: 1e5, per: 0.0 }];
    let solution = problem((&[], &slow), &RTTS, PAPER_GRED.curve()).solve().unwrap();
    let warnings: Vec<String> = solution.warnings.iter().map(|w| w.to_string()).collect();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("exceeds the timeout of 1 s"), "{warnings:?}");
}

/// Returns the PFTK warnings for one flow over a fast link.
fn warnings_of_the_formula(per: f64, base_rtt_s: f64) -> Vec<String> {
    let link = [Regime { rate_bps: 1e9, per }];
    let solution = problem((&[], &link), &[base_rtt_s], PAPER_GRED.curve()).solve().unwrap();
    solution.warnings.iter().map(|warning| warning.to_string()).collect()
}

#[test]
fn a_lossy_link_is_reported_from_15_percent_on() {
    // Regression: at a loss of 50 % the solution was 9 times too high, without a warning.
    let lossy = "the link loses 50 % of the packets: above 15 % neither the TCP formula nor the \
                 queue holds (profile rfc: half too much at 20 %, ten times as much at 50 %); simulate";
    assert_eq!(warnings_of_the_formula(0.5, 0.1), [lossy]);
    assert_eq!(warnings_of_the_formula(0.151, 0.5).len(), 1);
    assert!(warnings_of_the_formula(0.149, 0.5)[0].starts_with("by the TCP formula"));
}

#[test]
fn timeouts_are_reported_above_25_percent_of_time_with_an_empty_queue() {
    let half = "by the TCP formula the flows wait for timeouts 52 % of the time; what recovers \
                from losses without them gets up to 2.1 times as much: simulate";
    assert_eq!(warnings_of_the_formula(0.01, 0.02), [half]);
    assert_eq!(warnings_of_the_formula(0.01, 0.2), [""; 0]);
    let slow = [Regime { rate_bps: 5e5, per: 0.01 }];
    let solution = problem((&[], &slow), &[0.02], PAPER_GRED.curve()).solve().unwrap();
    assert!(solution.domain != Domain::Empty && solution.warnings.is_empty(), "{solution:?}");
}

/// Sweeps the rate across the point where E[W_u] = W_max at the solution. Returns the largest
/// deviation of κ/r from 1, and whether every solution within the jump has a warning.
fn sweep_across_the_window_limit(packets_per_ack: f64) -> (f64, bool) {
    let tcp = Tcp { packets_per_ack, ..Tcp::default() };
    let (mut residual, mut warned, mut sides) = (0.0f64, true, [false; 2]);
    for step in 0..5000 {
        let regime = Regime { rate_bps: 5e6 * (1.0 + f64::from(step) * 4e-3), per: 0.0 };
        let regimes = [regime];
        let mut problem = problem((&[], &regimes), &RTTS, PAPER_GRED.curve());
        problem.tcp = tcp;
        let solution = problem.solve().unwrap();
        if solution.domain == Domain::Empty {
            break;
        }
        residual = residual.max((solution.point.arrival_bps() / regime.rate_bps - 1.0).abs());
        let distance = solution.point.loss / tcp.window_switch_loss() - 1.0;
        sides[usize::from(distance > 0.0)] = true;
        let jump = tcp.window_switch_jump();
        let has = solution.warnings.iter().any(|w| matches!(w, Warning::WindowLimitJump { .. }));
        warned &= has || jump == 0.0 || distance.abs() > 2.0 * jump.abs();
    }
    assert_eq!(sides, [true; 2], "the sweep crosses the window limit");
    (residual, warned)
}

#[test]
fn the_jump_of_pftk_at_the_window_limit_is_bracketed_and_reported() {
    let (residual, warned) = sweep_across_the_window_limit(2.0);
    assert!(residual < 1e-8 && warned, "b = 2 has no jump: {residual}");
    let (residual, warned) = sweep_across_the_window_limit(1.0);
    assert!(residual < 1e-8 && warned, "b = 1 still balances: {residual}");
    let (residual, warned) = sweep_across_the_window_limit(4.0);
    let jump = Tcp { packets_per_ack: 4.0, ..Tcp::default() }.window_switch_jump().abs();
    assert!(residual > 1e-5 && residual < jump && warned, "b = 4 is off by the jump: {residual}");
}
