//! Property tests of the fixed point with any number of regimes.

use crate::common::{Gred, PAPER_GRED, problem};
use airpath_model::{Domain, OperatingPoint, Position, Problem, Regime, Solution, Warning};
use proptest::prelude::*;

/// Thresholds and regimes, with rates and packet error rates that do not decrease.
#[derive(Debug, Clone)]
struct Link {
    thresholds: Vec<f64>,
    regimes: Vec<Regime>,
}

impl Link {
    fn parts(&self) -> (&[f64], &[Regime]) {
        (&self.thresholds, &self.regimes)
    }
}

prop_compose! {
    fn monotone_link(counts: std::ops::Range<usize>)(count in counts)(
        steps in prop::collection::vec(0.5..40.0f64, count - 1),
        first in 1e5..3e7f64,
        factors in prop::collection::vec(1.0..2.0f64, count),
        pers in prop::collection::vec(prop_oneof![Just(-400.0), -5.0..-0.05f64], count),
    ) -> Link {
        let mut pers: Vec<f64> = pers.into_iter().map(|e: f64| 10f64.powf(e)).collect();
        pers.sort_by(f64::total_cmp);
        let scan = |sum: &mut f64, step: f64| { *sum += step; Some(*sum) };
        let thresholds = steps.into_iter().scan(0.0, scan).collect();
        let mut rate_bps = first;
        let next = |(factor, per): (f64, f64)| { rate_bps *= factor; Regime { rate_bps, per } };
        Link { thresholds, regimes: factors.into_iter().zip(pers).map(next).collect() }
    }
}

prop_compose! {
    fn any_gred()(min_th in 1.0..60.0f64, gap in 1.0..90.0f64, max_p in 0.01..1.0f64) -> Gred {
        Gred { min_th, max_th: min_th + gap, max_p }
    }
}

fn any_rtts() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1e-4..0.5f64, 1..17)
}

/// Returns points on the path from an empty queue to `x_max`, with `steps` points per segment.
fn path<Q: Fn(f64) -> f64>(problem: &Problem<'_, Q>, steps: u32) -> Vec<(Domain, OperatingPoint)> {
    let (thresholds, x_max) = (problem.link.thresholds(), problem.drop.x_max);
    let fractions = || (0..=steps).map(move |i| f64::from(i) / f64::from(steps));
    let mut places = Vec::new();
    for regime in 0..problem.link.regimes().len() {
        let low = if regime == 0 { 0.0 } else { thresholds[regime - 1] };
        let end = thresholds.get(regime).copied().unwrap_or(f64::INFINITY);
        let inside = fractions().map(|f| low + f * (end.min(x_max) - low));
        places.extend(
            inside.map(|x| (Domain::Regime(regime), Position::Inside { regime, queue_packets: x })),
        );
        if end > x_max {
            break;
        }
        let across = fractions().map(|alpha| Position::Boundary { boundary: regime, alpha });
        places.extend(across.map(|position| (Domain::Boundary(regime), position)));
    }
    places.into_iter().map(|(domain, place)| (domain, problem.at(place).unwrap())).collect()
}

/// Returns the position of a solution on the path: segment, then x or α.
fn place(solution: &Solution) -> (usize, f64) {
    match solution.domain {
        Domain::Empty => (0, 0.0),
        Domain::Regime(index) => (2 * index, solution.queue_packets()),
        Domain::Boundary(index) => (2 * index + 1, solution.alpha.unwrap()),
    }
}

/// Returns the number of violated conditions for a unique solution. (Long RTTs do not count,
/// because the random queues can take seconds to drain. Warnings about PFTK itself do not count.)
fn uniqueness_warnings(solution: &Solution) -> usize {
    let other = |w: &Warning| {
        matches!(
            w,
            Warning::RttExceedsTimeout { .. }
                | Warning::LossyLink { .. }
                | Warning::TimeoutsDominate { .. }
        )
    };
    solution.warnings.iter().filter(|w| !other(w)).count()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1e-3)
}

fn assert_sound(solution: &Solution, rtts: &[f64]) {
    let values = [
        solution.queue_packets(),
        solution.throughput_bps(),
        solution.point.loss,
        solution.point.delay_s,
    ];
    assert!(values.iter().all(|v| v.is_finite() && *v >= 0.0), "{solution:?}");
    assert!(solution.alpha.is_none_or(|alpha| (0.0..=1.0).contains(&alpha)), "{solution:?}");
    let (arrival, service) = (solution.point.arrival_bps(), solution.point.service.rate_bps);
    match solution.domain {
        Domain::Empty => assert!(arrival < service, "{solution:?}"),
        _ => assert!(close(arrival, service, 1e-6), "{solution:?}"),
    }
    let shares: f64 = solution.flows(rtts).map(|flow| flow.throughput_bps).sum();
    assert!(close(shares, solution.throughput_bps(), 1e-9), "{solution:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Existence and uniqueness (Theorems 3.1 and 3.2) for three and more regimes: G − (1 − q)
    /// increases along the path, and the solution is the point where it changes sign.
    #[test]
    fn solution_is_unique(
        link in monotone_link(3..7), gred in any_gred(), rtts in any_rtts(),
    ) {
        let problem = problem(link.parts(), &rtts, gred.curve());
        let path = path(&problem, 60);
        let slack = |balance: f64| 1e-12 * (1.0 + balance.abs()); // rounding
        let rises = |w: &[(Domain, OperatingPoint)]| {
            w[1].1.balance() >= w[0].1.balance() - slack(w[0].1.balance())
        };
        prop_assert!(path.windows(2).all(rises));
        let solution = problem.solve().unwrap();
        prop_assert_eq!(uniqueness_warnings(&solution), 0);
        assert_sound(&solution, &rtts);
        let (domain, _) = path.iter().find(|(_, point)| point.balance() > 0.0).unwrap();
        match solution.domain {
            Domain::Empty => prop_assert!(path[0].1.balance() > 0.0),
            other => prop_assert_eq!(other, *domain),
        }
    }

    #[test]
    fn a_middle_regime_equal_to_a_neighbour_gives_the_two_regime_solution(
        link in monotone_link(2..3), gred in any_gred(), rtts in any_rtts(),
        split in 0.05..0.95f64, upper in any::<bool>(),
    ) {
        let threshold = link.thresholds[0];
        let [low, high] = [link.regimes[0], link.regimes[1]];
        // The added threshold is inside the split regime.
        let (thresholds, regimes) = if upper {
            (vec![threshold, threshold + 40.0 * split], vec![low, high, high])
        } else {
            (vec![threshold * split, threshold], vec![low, low, high])
        };
        let two = problem(link.parts(), &rtts, gred.curve()).solve().unwrap();
        let three = problem((&thresholds, &regimes), &rtts, gred.curve()).solve().unwrap();
        prop_assert!(close(two.queue_packets(), three.queue_packets(), 1e-7));
        prop_assert!(close(two.throughput_bps(), three.throughput_bps(), 1e-8));
        prop_assert_eq!(two.alpha, three.alpha);
    }

    #[test]
    fn equal_regimes_are_one_regime(
        link in monotone_link(4..5), gred in any_gred(), rtts in any_rtts(),
    ) {
        let regimes = [link.regimes[0]; 4];
        let many = problem((&link.thresholds, &regimes), &rtts, gred.curve()).solve().unwrap();
        let one = problem((&[], &regimes[..1]), &rtts, gred.curve()).solve().unwrap();
        prop_assert!(!matches!(many.domain, Domain::Boundary(_)));
        prop_assert!(close(many.queue_packets(), one.queue_packets(), 1e-7));
        prop_assert!(close(many.throughput_bps(), one.throughput_bps(), 1e-8));
    }

    #[test]
    fn an_added_flow_does_not_shorten_the_queue(
        link in monotone_link(1..5), gred in any_gred(), rtts in any_rtts(), added in 1e-4..0.5f64,
    ) {
        let more: Vec<f64> = rtts.iter().copied().chain([added]).collect();
        let before = problem(link.parts(), &rtts, gred.curve()).solve().unwrap();
        let after = problem(link.parts(), &more, gred.curve()).solve().unwrap();
        let ((piece, along), (next_piece, next_along)) = (place(&before), place(&after));
        prop_assert!(next_piece > piece || (next_piece == piece && next_along >= along - 1e-9));
        prop_assert!(after.queue_packets() >= before.queue_packets() - 1e-8);
    }

    /// With regimes in any order a solution exists, with a warning that it may not be unique.
    #[test]
    fn regimes_that_decrease_are_solved_with_a_warning(
        link in monotone_link(3..6), gred in any_gred(), rtts in any_rtts(),
    ) {
        let mut link = link;
        link.regimes.reverse();
        let solution = problem(link.parts(), &rtts, gred.curve()).solve().unwrap();
        assert_sound(&solution, &rtts);
        let slower = link.regimes.windows(2).any(|w| w[1].rate_bps < w[0].rate_bps);
        let cleaner = link.regimes.windows(2).any(|w| w[1].per < w[0].per);
        prop_assert_eq!(uniqueness_warnings(&solution), usize::from(slower) + usize::from(cleaner));
    }

    #[test]
    fn a_jump_in_the_drop_curve_is_balanced_at_the_jump(
        link in monotone_link(1..4), rtts in any_rtts(), limit in 1.0..200.0f64, before in 0.0..0.3f64,
    ) {
        let step = |x: f64| if x < limit { before } else { 1.0 };
        let drop = airpath_model::DropCurve { probability: step, x_max: limit };
        let solution = problem(link.parts(), &rtts, drop).solve().unwrap();
        assert_sound(&solution, &rtts);
        prop_assert!(solution.queue_packets() <= limit);
    }
}

#[test]
fn extreme_values_give_finite_results() {
    for per in [0.0, 1e-300, 1e-12, 0.5, 0.999, 1.0] {
        for rate_bps in [1.0, 1e3, 1e7, 1e12] {
            for flows in [1, 2, 1000] {
                for rtt in [0.0, 1e-4, 0.1, 10.0] {
                    let rtts = vec![rtt; flows];
                    let faster = Regime { rate_bps: rate_bps * 100.0, per: 1.0 };
                    let regimes = [Regime { rate_bps, per }, Regime { rate_bps, per }, faster];
                    let link = (&[1e-6, 179.0][..], &regimes[..]);
                    let solution = problem(link, &rtts, PAPER_GRED.curve()).solve().unwrap();
                    assert_sound(&solution, &rtts);
                }
            }
        }
    }
}
