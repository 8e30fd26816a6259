//! Tests the solver against an independent implementation of Algorithm 1 of qawla-2015 for two
//! regimes, with simple bisection and the equations as printed (eq. 5 corrected).

use crate::common::{Gred, problem};
use airpath_model::Regime;
use proptest::prelude::*;

const BITS: f64 = 12_000.0;
const W_MAX: f64 = 65_536.0 / 1500.0;

struct Printed<'a> {
    below: Regime,
    above: Regime,
    threshold: f64,
    gred: Gred,
    rtts: &'a [f64],
}

/// Evaluates eqs. 3–6 with b = 2 and T₀ = 1 s.
fn pftk(p: f64, rtt: f64) -> f64 {
    if p == 0.0 {
        return W_MAX / rtt;
    }
    let f = 1.0
        + p
        + 2.0 * p * p
        + 4.0 * p.powi(3)
        + 8.0 * p.powi(4)
        + 16.0 * p.powi(5)
        + 32.0 * p.powi(6);
    let c = 4.0 / 6.0;
    let unconstrained = c + (8.0 * (1.0 - p) / (6.0 * p) + c * c).sqrt();
    let w = unconstrained.min(W_MAX);
    let keep = |n: f64| (1.0 - p).powf(n);
    let q =
        ((1.0 - keep(3.0)) * (1.0 + keep(3.0) * (1.0 - keep(w - 3.0))) / (1.0 - keep(w))).min(1.0);
    let rounds = if unconstrained < W_MAX { w + 1.0 } else { w / 4.0 + (1.0 - p) / (p * w) + 2.0 };
    ((1.0 - p) / p + w + q / (1.0 - p)) / (rtt * rounds + q * f / (1.0 - p))
}

impl Printed<'_> {
    fn rate(&self, x: f64, alpha: f64) -> f64 {
        if x < self.threshold {
            self.below.rate_bps
        } else if x > self.threshold {
            self.above.rate_bps
        } else {
            self.below.rate_bps * (1.0 - alpha) + self.above.rate_bps * alpha
        }
    }

    fn per(&self, x: f64, alpha: f64) -> f64 {
        if x < self.threshold {
            self.below.per
        } else if x > self.threshold {
            self.above.per
        } else {
            let lost = self.below.per * self.below.rate_bps * (1.0 - alpha)
                + self.above.per * self.above.rate_bps * alpha;
            lost / self.rate(x, alpha)
        }
    }

    fn kappa(&self, x: f64, alpha: f64) -> f64 {
        let (r, q) = (self.rate(x, alpha), self.gred.probability(x));
        let p = 1.0 - (1.0 - self.per(x, alpha)) * (1.0 - q);
        let rate = |rtt: &f64| pftk(p, rtt + x * BITS / r + BITS / r);
        BITS * (1.0 - q) * self.rtts.iter().map(rate).sum::<f64>()
    }

    /// Returns the domain as printed in the paper, x*, α* (0 inside a regime), and T.
    fn solve(&self) -> (&'static str, f64, f64, f64) {
        let grows = |x: f64, alpha: f64| self.kappa(x, alpha) >= self.rate(x, alpha);
        let (domain, x, alpha) = if !grows(0.0, 0.0) {
            ("R1", 0.0, 0.0)
        } else if !grows(self.threshold, 0.0) {
            ("R1", bisect(|x| grows(x, 0.0), 0.0, self.threshold), 0.0)
        } else if !grows(self.threshold, 1.0) {
            ("B", self.threshold, bisect(|alpha| grows(self.threshold, alpha), 0.0, 1.0))
        } else {
            ("R2", bisect(|x| grows(x, 1.0), self.threshold, 2.0 * self.gred.max_th), 0.0)
        };
        (domain, x, alpha, (1.0 - self.per(x, alpha)) * self.kappa(x, alpha))
    }
}

fn bisect(grows: impl Fn(f64) -> bool, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if grows(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

prop_compose! {
    fn two_regimes()(
        rate in 1e5..1e8f64, faster in 1.05..5.0f64,
        per in prop_oneof![Just(0.0), (-5.0..-0.5f64).prop_map(|e| 10f64.powf(e))],
        worse in 1.0..30.0f64,
    ) -> [Regime; 2] {
        let above = (per * worse).clamp(1e-6, 0.9);
        [Regime { rate_bps: rate, per }, Regime { rate_bps: rate * faster, per: above }]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn the_solver_agrees_with_algorithm_1_as_printed(
        regimes in two_regimes(),
        threshold in 1u32..80,
        max_p in 0.02..0.5f64,
        rtts in prop::collection::vec(1e-3..0.3f64, 1..17),
    ) {
        let gred = Gred { min_th: 30.0, max_th: 90.0, max_p };
        let threshold = f64::from(threshold);
        let printed = Printed { below: regimes[0], above: regimes[1], threshold, gred, rtts: &rtts };
        let (domain, x, alpha, throughput) = printed.solve();
        let ours = problem((&[threshold], &regimes), &rtts, gred.curve()).solve().unwrap();

        prop_assert_eq!(ours.domain.paper_label(2), domain);
        prop_assert!((ours.queue_packets() - x).abs() < 1e-6, "{} {}", ours.queue_packets(), x);
        prop_assert!((ours.alpha.unwrap_or(0.0) - alpha).abs() < 1e-8);
        prop_assert!((ours.throughput_bps() / throughput - 1.0).abs() < 1e-8);
    }
}
