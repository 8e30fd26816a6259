//! Tests of the chain's probabilities against a table for the paper's parameters, Marcum's Q,
//! sampled pairs of gains, and Rice's fade durations.

use super::*;
use airpath_conformance::Law;
use airpath_core::Stream;
use proptest::prelude::*;

const TABLE: Law = Law {
    area: "Radio channel",
    source: "Chockalingam and Zorzi 1999: good after bad by Marcum's Q, evaluated with the noncentral χ²",
    allows: "half of the last digit given",
};
const MARCUM: Law = Law {
    area: "Radio channel",
    source: "Chockalingam and Zorzi 1999: good after bad as a difference of two Marcum Q's",
    allows: "10⁻¹² of the probability: the digits that the difference keeps",
};
const PAIRS: Law = Law {
    area: "Radio channel",
    source: "Pairs of complex Gaussian gains with correlation J0(2π f_d T) against a threshold",
    allows: "five standard deviations of a million pairs",
};
const FADES: Law = Law {
    area: "Radio channel",
    source: "Rice 1948; Jakes 1974 eq. 1.3-41: mean duration of fades, slow fading",
    allows: "the fades that two samples miss: (π f_d T)² F / 8 of them",
};

/// Returns Marcum's Q1(a, b) = P(χ²₂(a²) > b²), as a Poisson mixture of Erlang tails.
fn marcum_q1(a: f64, b: f64) -> f64 {
    let (x, y) = (a * a / 2.0, b * b / 2.0);
    let (mut weight, mut step) = ((-x).exp(), (-y).exp());
    let (mut tail, mut sum) = (step, weight * step);
    for k in 1..4000 {
        let k = f64::from(k);
        weight *= x / k;
        step *= y / k;
        tail += step;
        sum += weight * tail;
    }
    sum
}

/// Returns P(good next | bad now) by the formula of the source.
fn by_marcum(frame_error_rate: f64, doppler: f64) -> f64 {
    let margin = -1.0 / (1.0 - frame_error_rate).ln();
    let rho = libm::j0(TAU * doppler).abs();
    let theta = (2.0 / margin / (1.0 - rho * rho)).sqrt();
    let difference = marcum_q1(theta, rho * theta) - marcum_q1(rho * theta, theta);
    difference / ((1.0 / margin).exp() - 1.0)
}

#[test]
fn chain_at_error_rate_0_1_and_doppler_0_01_matches_table() {
    let chain = two_states(0.1, 0.01);
    let margin = -1.0 / 0.9f64.ln();
    let rho = 1.0 - decorrelation(0.01);
    TABLE.close("F at ε = 0.1", "", margin, 9.4912, 5e-5);
    TABLE.close("ρ at f_d T = 0.01", "", rho, 0.999013, 5e-7);
    let theta = (2.0 / margin / (1.0 - rho * rho)).sqrt();
    TABLE.close("θ at ε = 0.1, f_d T = 0.01", "", theta, 10.3359, 5e-5);
    TABLE.close("P(good | bad), ε = 0.1, f_d T = 0.01", "", chain.bad_to_good, 0.073149, 5e-7);
    TABLE.close("P(bad | good), ε = 0.1, f_d T = 0.01", "", chain.good_to_bad, 0.008128, 5e-7);
}

#[test]
fn chain_matches_all_rows_of_table() {
    // ε, f_d T, P(G|B), P(B|B), P(B|G), mean bad and good run, each with half of its last digit.
    let rows = [
        (0.1, 0.01, 0.073149, 0.926851, 0.008128, (13.671, 5e-4), (123.04, 5e-3)),
        (0.1, 0.005, 0.036604, 0.963396, 0.004067, (27.32, 5e-3), (245.9, 0.05)),
        (0.1, 0.02, 0.145824, 0.854176, 0.016203, (6.858, 5e-4), (61.7, 0.05)),
        (0.1, 0.05, 0.355720, 0.644280, 0.039524, (2.811, 5e-4), (25.3, 0.05)),
        (0.1, 0.1, 0.629791, 0.370209, 0.069977, (1.588, 5e-4), (14.3, 0.05)),
        (0.01, 0.01, 0.245695, 0.754305, 0.002482, (4.070, 5e-4), (402.9, 0.05)),
        (0.2, 0.01, 0.047341, 0.952659, 0.011835, (21.12, 5e-3), (84.5, 0.05)),
    ];
    for (frame_error_rate, doppler, to_good, stays_bad, to_bad, bad_run, good_run) in rows {
        let chain = two_states(frame_error_rate, doppler);
        let at = format!("ε = {frame_error_rate}, f_d T = {doppler}");
        TABLE.close(format!("P(G|B), {at}"), "", chain.bad_to_good, to_good, 5e-7);
        TABLE.close(format!("P(B|B), {at}"), "", 1.0 - chain.bad_to_good, stays_bad, 5e-7);
        TABLE.close(format!("P(B|G), {at}"), "", chain.good_to_bad, to_bad, 5e-7);
        let (bad, good) = (1.0 / chain.bad_to_good, 1.0 / chain.good_to_bad);
        TABLE.close(format!("mean bad run, {at}"), "slots", bad, bad_run.0, bad_run.1);
        TABLE.close(format!("mean good run, {at}"), "slots", good, good_run.0, good_run.1);
    }
}

#[test]
fn integral_matches_difference_of_marcum_q() {
    for frame_error_rate in [0.001, 0.01, 0.1, 0.5, 0.9] {
        for doppler in [0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 2.5] {
            let ours = two_states(frame_error_rate, doppler).bad_to_good;
            let what = format!("P(good | bad), ε = {frame_error_rate}, f_d T = {doppler}");
            MARCUM.close_relative(what, "", ours, by_marcum(frame_error_rate, doppler), 1e-12);
        }
    }
}

#[test]
fn chain_matches_sampled_pairs_of_gains() {
    const DRAWN: u32 = 1_000_000;
    for (frame_error_rate, doppler) in [(0.1, 0.01), (0.1, 0.05), (0.3, 0.2), (0.01, 0.02)] {
        let mut stream = Stream::new(1, 0, "pairs");
        let mut normal = || {
            let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
            let (sin, cos) = (TAU * stream.uniform()).sin_cos();
            (radius * cos, radius * sin)
        };
        let threshold = -(1.0f64 - frame_error_rate).ln();
        let rho = libm::j0(TAU * doppler);
        let fails = |(re, im): (f64, f64)| (re * re + im * im) / 2.0 < threshold;
        let (mut bad, mut then_good) = (0.0, 0.0);
        for _ in 0..DRAWN {
            let (now, noise) = (normal(), normal());
            let rest = (1.0 - rho * rho).sqrt();
            let next = (rho * now.0 + rest * noise.0, rho * now.1 + rest * noise.1);
            if fails(now) {
                bad += 1.0;
                then_good += f64::from(u8::from(!fails(next)));
            }
        }
        let at = format!("ε = {frame_error_rate}, f_d T = {doppler}");
        let bound = |p: f64, count: f64| 5.0 * (p * (1.0 - p) / count).sqrt();
        let (p, count) = (frame_error_rate, f64::from(DRAWN));
        PAIRS.close(format!("P(bad), {at}"), "", bad / count, p, bound(p, count));
        let r = two_states(frame_error_rate, doppler).bad_to_good;
        PAIRS.close(format!("P(good | bad), {at}"), "", then_good / bad, r, bound(r, bad));
    }
}

#[test]
fn slow_fades_match_rice_durations() {
    for frame_error_rate in [0.01f64, 0.1, 0.5] {
        for doppler in [1e-9, 1e-6, 1e-4, 1e-3] {
            let margin = -1.0 / (1.0 - frame_error_rate).ln();
            let fade = (frame_error_rate / (1.0 - frame_error_rate)) * margin.sqrt()
                / (TAU.sqrt() * doppler);
            let run = two_states(frame_error_rate, doppler).bad_to_good.recip();
            let what = format!("mean bad run, ε = {frame_error_rate}, f_d T = {doppler}");
            let missed = (PI * doppler).powi(2) * margin / 8.0;
            FADES.close_relative(what, "slots", run, fade, missed + 1e-12);
        }
    }
}

#[test]
fn mean_run_at_doppler_1e_6_is_137_000_slots() {
    let chain = two_states(0.1, 1e-6);
    assert!((chain.bad_to_good.recip() / 136_620.0 - 1.0).abs() < 1e-3, "{chain:?}");
}

#[test]
fn slower_fading_has_longer_runs() {
    let mut doppler = 1e-9;
    let mut last = 0.0;
    while doppler < 0.38 {
        let chain = two_states(0.1, doppler);
        assert!(chain.bad_to_good > last, "f_d T = {doppler}: {chain:?} after {last}");
        last = chain.bad_to_good;
        doppler *= 1.01;
    }
}

#[test]
fn frames_fail_independently_without_correlation() {
    // The first zero of J0.
    let chain = two_states(0.3, 2.404_825_557_695_773 / TAU);
    assert!((chain.good_to_bad - 0.3).abs() < 1e-12, "{chain:?}");
    assert!((chain.bad_to_good - 0.7).abs() < 1e-12, "{chain:?}");
}

#[test]
fn chain_handles_zero_and_tiny_error_rates() {
    assert_eq!(two_states(0.0, 0.01), TwoStates { good_to_bad: 0.0, bad_to_good: 1.0 });
    let chain = two_states(1e-300, 0.01);
    assert!((chain.bad_to_good - 1.0).abs() < 1e-9 && chain.good_to_bad > 0.0, "{chain:?}");
}

#[test]
fn decorrelation_series_matches_j0() {
    for doppler in [0.05f64, 0.1, 0.15, 0.159, 0.16] {
        let by_function = 1.0 - libm::j0(TAU * doppler);
        assert!((decorrelation(doppler) / by_function - 1.0).abs() < 1e-13, "{doppler}");
    }
    // 1 - J0(x) = x²/4 for small x.
    let tiny = decorrelation(1e-9);
    assert!((tiny / (PI * 1e-9).powi(2) - 1.0).abs() < 1e-12, "{tiny}");
}

proptest! {
    #[test]
    fn chain_is_valid_and_has_the_error_rate(
        frame_error_rate in prop_oneof![0.0..1.0f64, 1e-12..1e-3, 0.999..0.999_999_999],
        doppler in (-9.0..9.0f64).prop_map(|exponent| 10f64.powf(exponent)),
    ) {
        let chain = two_states(frame_error_rate, doppler);
        prop_assert!(chain.validate().is_ok(), "{:?}", chain);
        // The correlation between the powers of two gains is never negative.
        prop_assert!(chain.good_to_bad + chain.bad_to_good <= 1.0 + 1e-9, "{:?}", chain);
        prop_assert!((chain.share_bad() - frame_error_rate).abs() < 1e-9, "{:?}", chain);
    }
}
