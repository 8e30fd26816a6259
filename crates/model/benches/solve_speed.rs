//! Benchmark of solved fixed points per second on one core. It solves the fixed points of the
//! evaluation in qawla-2015 §4: 35 policies × 72 traffic scenarios × 45 SNR points, for each of
//! three thresholds.
//!
//! The rates are those of the paper's eight modulation and coding schemes. The error rates are
//! logistic curves that cover 0 to 1, not the measured curves.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use airpath_model::{Domain, DropCurve, MultiRegimeLink, Problem, Regime, Tcp};

const RATES_MBPS: [f64; 8] = [5.376, 8.0, 10.752, 16.0, 16.0, 21.0, 24.0, 26.88];
/// SNR, dB, at which the logistic packet error rate is 0.5.
const HALF_DB: [f64; 8] = [1.0, 4.0, 7.0, 10.0, 11.5, 14.0, 15.5, 17.0];
const FIXED_RTTS_MS: [f64; 8] = [1.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0];

fn gentle_red(x: f64) -> f64 {
    if x < 30.0 {
        0.0
    } else if x < 90.0 {
        (x - 30.0) / 60.0 * 0.1
    } else {
        (0.1 + (x - 90.0) / 90.0 * 0.9).min(1.0)
    }
}

fn regime(mcs: usize, snr_db: f64) -> Regime {
    let per = 1.0 / (1.0 + (3.0 * (snr_db - HALF_DB[mcs])).exp());
    Regime { rate_bps: RATES_MBPS[mcs] * 1e6, per }
}

/// Returns the 27 pairs with a faster second MCS, and the 8 single MCSs.
fn policies() -> Vec<(usize, usize)> {
    let pairs = (0..8).flat_map(|low| (low..8).map(move |high| (low, high)));
    pairs.filter(|&pair| pair != (3, 4)).collect()
}

/// Returns the base RTTs of the 72 scenarios SF and SU, s, including 2 D_F = 5 ms.
fn scenarios() -> Vec<Vec<f64>> {
    let mut scenarios = Vec::new();
    for mean_ms in FIXED_RTTS_MS {
        for flows in [1, 2, 4, 8, 16] {
            let spacing = 2.0 * mean_ms / f64::from(flows + 1);
            scenarios.push((1..=flows).map(|i| (f64::from(i) * spacing + 5.0) * 1e-3).collect());
            if flows > 1 {
                scenarios.push((0..flows).map(|_| (mean_ms + 5.0) * 1e-3).collect());
            }
        }
    }
    scenarios
}

/// Solves all problems. Returns the number of solved problems, a checksum, and the number of
/// solutions by kind of domain.
fn sweep(threshold: f64) -> (u32, f64, [u32; 3]) {
    let (policies, scenarios) = (policies(), scenarios());
    let (mut solves, mut sum_bps, mut kinds) = (0, 0.0, [0; 3]);
    for snr in 0..45 {
        for &(low, high) in &policies {
            let regimes = [low, high].map(|mcs| regime(mcs, f64::from(snr) * 0.5));
            let link = MultiRegimeLink::new(std::slice::from_ref(&threshold), &regimes)
                .expect("the link is valid");
            for base_rtts_s in &scenarios {
                let drop = DropCurve { probability: gentle_red, x_max: 180.0 };
                let (tcp, packet_bytes) = (Tcp::default(), 1500.0);
                let problem = Problem { link, base_rtts_s, drop, tcp, packet_bytes };
                let solution = problem.solve().expect("gentle RED reaches 1");
                let kind = match solution.domain {
                    Domain::Empty => 0,
                    Domain::Regime(_) => 1,
                    Domain::Boundary(_) => 2,
                };
                kinds[kind] += 1;
                solves += 1;
                sum_bps += solution.throughput_bps();
            }
        }
    }
    (solves, sum_bps, kinds)
}

fn main() {
    for threshold in [10.0, 20.0, 40.0] {
        let start = Instant::now();
        let (solves, sum_bps, [empty, inside, boundary]) = sweep(threshold);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "threshold {threshold:>2}: {solves} solves in {seconds:.3} s = {:.0} solves/s; mean T {:.4} Mbit/s; {empty} empty, {inside} inside a regime, {boundary} at the threshold",
            f64::from(solves) / seconds,
            sum_bps / f64::from(solves) / 1e6,
        );
    }
}
