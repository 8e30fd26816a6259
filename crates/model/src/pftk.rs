//! PFTK formula: sending rate of a long-lived TCP Reno flow as a function of loss rate and
//! round-trip time.
//!
//! Source: qawla-2015 §3, eqs. 3–11 (after Padhye, Firoiu, Towsley and Kurose 1998). Differs: eq. 5
//! is printed with a misplaced parenthesis; [`timeout_probability`] uses the form of the 1998
//! paper, which reproduces the published tables. Numerators and denominators are multiplied by p (1
//! − p), so that p = 0 and p = 1 give the limits instead of 0/0. Left out: the dependence of T₀ on
//! the RTT (eq. 2). T₀ is a constant, as assumed before eq. 7. If the RTT is far above T₀, the
//! formula is not valid: as p approaches 1, the rate even increases.
//!
//! The two branches of eq. 3 are equal at E\[W_u\] = W_max only for b = 2: at this point the
//! numerators of eqs. 8 and 10 are bW/2 + 1 and bW/2 + (6 − b)/4. With b = 1 the rate increases by
//! about 1 % when the loss rate increases beyond this point; with b > 2 it decreases.
//! [`Tcp::window_switch_loss`] returns the position of the jump and [`Tcp::window_switch_jump`] its
//! size.

use crate::error::{ModelError, require};

/// Maximum loss rate of a link for which measurements confirm the formula. Above this loss rate,
/// the formula increasingly overestimates the rate: by 50 % at 0.2, by a factor of ten at 0.5
/// (`docs/explanation/fixed-point-validity.md`).
pub const LOSSY: f64 = 0.15;

/// Maximum share of time in timeouts, as computed by the formula, for which the formula deviates
/// from measurements by at most 25 %. Real senders recover from most losses without a timeout.
pub const WAITING: f64 = 0.25;

/// The TCP parameters of the PFTK formula, common to all flows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tcp {
    /// W_max: maximum window, packets. At least 1, finite. Default 65536/1500: the 64 kbyte
    /// receiver buffer of qawla-2015 §4, which is 65 536 bytes.
    pub max_window_packets: f64,
    /// T₀: retransmission timeout before back-off, s. Above 0, finite. Default 1 s (qawla-2015 §4).
    pub timeout_s: f64,
    /// b: packets acknowledged by one ACK. At least 1, finite. Default 2 (qawla-2015 §4).
    pub packets_per_ack: f64,
}

impl Default for Tcp {
    fn default() -> Self {
        Self { max_window_packets: 65_536.0 / 1500.0, timeout_s: 1.0, packets_per_ack: 2.0 }
    }
}

/// The loss-dependent terms of the PFTK formula: P₁ and P₂ of qawla-2015 eq. 7.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateTerms {
    /// P₁ or P₁,c: round-trip times per packet sent. 0 or more.
    pub rtts_per_packet: f64,
    /// P₂ or P₂,c: seconds of timeout per packet sent. 0 or more.
    pub timeout_s_per_packet: f64,
}

impl RateTerms {
    /// Returns λ, packets/s, of a flow with round-trip time `rtt_s` (s, above 0): qawla-2015 eq. 7.
    pub fn sending_rate(self, rtt_s: f64) -> f64 {
        1.0 / (rtt_s * self.rtts_per_packet + self.timeout_s_per_packet)
    }
}

impl Tcp {
    /// Checks the ranges that are stated at the fields.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), ModelError> {
        let at_least_1 = |value: f64| value >= 1.0 && value.is_finite();
        let (window, timeout, b) = (self.max_window_packets, self.timeout_s, self.packets_per_ack);
        require(at_least_1(window), "max_window_packets", window, "at least 1 and finite")?;
        let positive = timeout > 0.0 && timeout.is_finite();
        require(positive, "timeout_s", timeout, "above 0 and finite")?;
        require(at_least_1(b), "packets_per_ack", b, "at least 1 and finite")
    }

    /// Returns P₁ and P₂ at the loss rate `p` in [0, 1], from one of the two branches of qawla-2015
    /// eq. 7: unconstrained for E\[W_u\] < W_max, otherwise limited by the window.
    pub fn rate_terms(&self, p: f64) -> RateTerms {
        let window = unconstrained_window(p, self.packets_per_ack);
        let limited = window >= self.max_window_packets;
        let window = if limited { self.max_window_packets } else { window };
        let timeout_probability = timeout_probability(p, window);
        let packets = packets_per_cycle(p, window, timeout_probability);
        let rounds = if limited {
            constrained_rounds(p, window, self.packets_per_ack)
        } else {
            unconstrained_rounds(p, window, self.packets_per_ack)
        };
        RateTerms {
            rtts_per_packet: rounds / packets,
            timeout_s_per_packet: timeout_seconds(p, timeout_probability, self.timeout_s) / packets,
        }
    }

    /// Returns λ, packets/s: qawla-2015 eq. 3 for loss rate `p` in [0, 1] and round-trip time
    /// `rtt_s` (s, above 0). The value is W_max/RTT at p = 0 and 1/(64 T₀) at p = 1.
    pub fn sending_rate(&self, p: f64, rtt_s: f64) -> f64 {
        self.rate_terms(p).sending_rate(rtt_s)
    }

    /// Returns the loss rate, in (0, 1], at which E\[W_u\] = W_max, so that eq. 3 changes its
    /// branch (eq. 6 solved for p). Returns 1 if the unconstrained window is never below W_max.
    pub fn window_switch_loss(&self) -> f64 {
        let (window, b) = (self.max_window_packets, self.packets_per_ack);
        let odds = 0.375 * b * window * (window - 2.0 * window_offset(b));
        1.0 / (1.0 + odds.max(0.0))
    }

    /// Returns the relative difference (P₁,c − P₁)/P₁ of eqs. 8 and 10 at
    /// [`Tcp::window_switch_loss`]. It is positive for b < 2, where the rate increases when the
    /// loss rate increases beyond this point, and 0 for b = 2.
    pub fn window_switch_jump(&self) -> f64 {
        let b = self.packets_per_ack;
        (2.0 - b) / 4.0 / (0.5 * b * self.max_window_packets + 1.0)
    }

    /// Returns true if loss rate `p` is so close to [`Tcp::window_switch_loss`] that a loss rate on
    /// the other side of the jump may give the same sending rate. Close means a relative distance
    /// of at most eight times the relative jump. Always false for b = 2. (The factor was checked
    /// numerically for windows of 1.5 to 10 000 packets, b from 1 to 2 and round-trip times up to
    /// 10 T₀. With windows of 44 packets a factor of 5 is sufficient.)
    pub fn is_near_window_switch(&self, p: f64) -> bool {
        let (jump, switch) = (self.window_switch_jump(), self.window_switch_loss());
        let reach = 1.0 + 8.0 * jump.abs();
        jump != 0.0 && p * reach >= switch && p <= switch * reach
    }
}

/// Returns f(p) of qawla-2015 eq. 4, the expected number of periods T₀ in a timeout sequence,
/// multiplied by 1 − p. `p` is in [0, 1]; the result is from 1 to 64.
pub fn backoff_factor(p: f64) -> f64 {
    let powers = 1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p)));
    1.0 + p * (1.0 + 2.0 * p * powers)
}

/// Returns Q̂(w), qawla-2015 eq. 5 as corrected: probability that a loss in a window of `w` packets
/// ends in a timeout, min(1, (1 − (1−p)³)(1 + (1−p)³(1 − (1−p)^(w−3))) / (1 − (1−p)^w)).
///
/// `p` is in [0, 1], `w` at least 1 packet. The result is min(1, 3/w) at p = 0, and 1 for w ≤ 3.
pub fn timeout_probability(p: f64, w: f64) -> f64 {
    if p == 0.0 {
        return (3.0 / w).min(1.0);
    }
    // With t = 1 − (1−p)³ and v = 1 − (1−p)^w the quotient is t (1 − t + v) / v. This form computes
    // only one power and has no cancellation for small p.
    let t = p * (3.0 - p * (3.0 - p));
    let v = -(w * (-p).ln_1p()).exp_m1();
    (t * (1.0 - t + v) / v).min(1.0)
}

/// Returns E\[W_u\], qawla-2015 eq. 6: mean window limited only by losses, packets. `p` is in [0,
/// 1] (infinite result at 0), `b` is the number of packets per ACK, at least 1.
pub fn unconstrained_window(p: f64, b: f64) -> f64 {
    let offset = window_offset(b);
    offset + (8.0 * (1.0 - p) / (3.0 * b * p) + offset * offset).sqrt()
}

/// Returns P₁, qawla-2015 eq. 8: round-trip times per packet, without window limit. `p` is in [0,
/// 1] (result 0 at p = 0), `b` is the number of packets per ACK.
pub fn unconstrained_rtts(p: f64, b: f64) -> f64 {
    let w = unconstrained_window(p, b);
    unconstrained_rounds(p, w, b) / packets_per_cycle(p, w, timeout_probability(p, w))
}

/// Returns P₂, qawla-2015 eq. 9: timeout seconds per packet, without window limit. `p` is in [0, 1]
/// (result 0 at p = 0), `b` is the number of packets per ACK, `timeout_s` is T₀.
pub fn unconstrained_timeout(p: f64, b: f64, timeout_s: f64) -> f64 {
    let w = unconstrained_window(p, b);
    let q = timeout_probability(p, w);
    timeout_seconds(p, q, timeout_s) / packets_per_cycle(p, w, q)
}

/// Returns P₁,c, qawla-2015 eq. 10: round-trip times per packet, window limited to `w` = W_max
/// packets. `p` is in [0, 1] (result 1/w at p = 0), `b` is the number of packets per ACK.
pub fn constrained_rtts(p: f64, w: f64, b: f64) -> f64 {
    constrained_rounds(p, w, b) / packets_per_cycle(p, w, timeout_probability(p, w))
}

/// Returns P₂,c, qawla-2015 eq. 11: timeout seconds per packet, window limited to `w` = W_max
/// packets. `p` is in [0, 1] (result 0 at p = 0), `timeout_s` is T₀.
pub fn constrained_timeout(p: f64, w: f64, timeout_s: f64) -> f64 {
    let q = timeout_probability(p, w);
    timeout_seconds(p, q, timeout_s) / packets_per_cycle(p, w, q)
}

/// Returns (2 + b)/(3b), which occurs twice in eq. 6.
fn window_offset(b: f64) -> f64 {
    (2.0 + b) / (3.0 * b)
}

/// Returns the common denominator of eqs. 8–11, times p (1 − p).
fn packets_per_cycle(p: f64, w: f64, timeout_probability: f64) -> f64 {
    (1.0 - p) * (1.0 - p + loss_per_window(p, w)) + p * timeout_probability
}

/// Returns the numerator of eq. 8, times p (1 − p).
fn unconstrained_rounds(p: f64, w: f64, b: f64) -> f64 {
    (1.0 - p) * (0.5 * b * loss_per_window(p, w) + p)
}

/// Returns the numerator of eq. 10, times p (1 − p).
fn constrained_rounds(p: f64, w: f64, b: f64) -> f64 {
    (1.0 - p) * (0.125 * b * w * p + (1.0 - p) / w + 2.0 * p)
}

/// Returns the numerator of eqs. 9 and 11, times p (1 − p).
fn timeout_seconds(p: f64, timeout_probability: f64, timeout_s: f64) -> f64 {
    p * timeout_probability * timeout_s * backoff_factor(p)
}

/// Returns p w, or its limit 0 at p = 0, where the unconstrained window is infinite.
fn loss_per_window(p: f64, w: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * w }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const W: f64 = 65_536.0 / 1500.0;
    const LOSSES: [f64; 8] = [1e-7, 1e-5, 8e-4, 3e-3, 0.02, 0.1, 0.5, 0.99];

    const FORMULA: Law = Law {
        area: "Analytic model",
        source: "Padhye et al. 2000; qawla-2015 eqs. 3 to 6: the PFTK formula and its limits",
        allows: "rounding of doubles; the hand's seven digits; at p = 1e-12 the distance from the \
                 limit; the square-root law is its leading term only",
    };

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value / expected - 1.0).abs() < tolerance, "{value} is not {expected}");
    }

    const PRINTED: Law = Law {
        area: "Analytic model",
        source: "qawla-2015 eqs. 4 to 11 as printed (eq. 5 corrected), p = 1e-7 to 0.99: largest \
                 relative difference of our forms",
        allows: "cancellation in the printed forms",
    };

    /// Returns the largest relative difference of the pairs.
    fn largest(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
        pairs.into_iter().map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
    }

    /// Evaluates eq. 5 as printed, with the corrected parenthesis.
    fn printed_timeout_probability(p: f64, w: f64) -> f64 {
        let keep = |n: f64| (1.0 - p).powf(n);
        let value = (1.0 - keep(3.0)) * (1.0 + keep(3.0) * (1.0 - keep(w - 3.0)));
        (value / (1.0 - keep(w))).min(1.0)
    }

    /// Evaluates the common denominator of eqs. 8–11 as printed.
    fn printed_denominator(p: f64, w: f64) -> f64 {
        (1.0 - p) / p + w + printed_timeout_probability(p, w) / (1.0 - p)
    }

    #[test]
    fn eq_3_is_window_per_rtt_without_loss() {
        for (p, tolerance) in [(0.0, 1e-15), (1e-12, 1e-8)] {
            let found = Tcp::default().sending_rate(p, 0.1);
            let what = format!("rate at p = {p:?}: a window per RTT");
            FORMULA.close_relative(what, "packets/s", found, W / 0.1, tolerance);
        }
    }

    #[test]
    fn eq_3_is_one_packet_per_64_timeouts_if_all_packets_are_lost() {
        let tcp = Tcp { timeout_s: 0.5, ..Tcp::default() };
        let found = tcp.sending_rate(1.0, 0.1);
        FORMULA.close_relative("rate at p = 1, T0 = 0.5 s", "packets/s", found, 1.0 / 32.0, 1e-15);
    }

    #[test]
    fn eq_3_equals_the_value_computed_by_hand() {
        // p = 0.01, b = 2, RTT = 0.1 s, T0 = 1 s: E[W] = 2/3 + sqrt(132.4444) = 12.175118,
        // (1−p)^3 = 0.970299, (1−p)^(E[W]−3) = 0.911911, (1−p)^E[W] = 0.884826,
        // Q = 0.029701 (1 + 0.970299 · 0.088089)/0.115174 = 0.279922,
        // λ = (99 + 12.175118 + 0.279922/0.99)/(0.1 · 13.175118 + 0.279922 · 1.010204/0.99).
        let found = Tcp::default().sending_rate(0.01, 0.1);
        FORMULA.close_relative("rate at p = 0.01, by hand", "packets/s", found, 69.52446, 1e-6);
    }

    #[test]
    fn eq_3_follows_one_over_the_square_root_at_moderate_loss() {
        // Mathis: 1/RTT sqrt(3/(2bp)) is the leading term for small p and no window limit.
        let tcp = Tcp { max_window_packets: 1e9, ..Tcp::default() };
        let (found, mathis) = (tcp.sending_rate(1e-8, 0.1), (3.0_f64 / 4e-8).sqrt() / 0.1);
        FORMULA.close_relative("rate at p = 1e-8, by Mathis", "packets/s", found, mathis, 3e-3);
    }

    #[test]
    fn eq_4_is_the_printed_polynomial() {
        let printed = |p: f64| 1.0 + (1..=6).map(|n| 2f64.powi(n - 1) * p.powi(n)).sum::<f64>();
        let found = largest(LOSSES.map(|p| (backoff_factor(p), printed(p))));
        PRINTED.close("eq. 4", "", found, 0.0, 1e-14);
        FORMULA.equal("f(0)", "", backoff_factor(0.0), 1.0);
        FORMULA.equal("f(1)", "", backoff_factor(1.0), 64.0);
    }

    #[test]
    fn eq_5_is_the_corrected_form() {
        for p in LOSSES {
            for w in [3.5, 8.0, W, 200.0] {
                // The literal form loses digits to cancellation when p is small.
                close(
                    timeout_probability(p, w),
                    printed_timeout_probability(p, w),
                    1e-15 / p + 1e-13,
                );
            }
        }
    }

    #[test]
    fn eq_5_limits_are_three_over_w_and_one() {
        let found = timeout_probability(0.0, 30.0);
        FORMULA.close_relative("Q(p → 0, w = 30) = 3/w", "", found, 0.1, 1e-15);
        close(timeout_probability(1e-300, 30.0), 0.1, 1e-12);
        for w in [1.0, 2.0, 3.0] {
            for p in LOSSES {
                close(timeout_probability(p, w), 1.0, 1e-12);
            }
        }
        assert_eq!(timeout_probability(1.0, 30.0), 1.0);
    }

    #[test]
    fn eq_6_solves_its_quadratic() {
        let pairs = [(1e-4, 2.0), (0.01, 1.0), (0.3, 3.0)].map(|(p, b)| {
            let c = (2.0 + b) / (3.0 * b);
            let w = unconstrained_window(p, b);
            (w * w - 2.0 * c * w, 8.0 * (1.0 - p) / (3.0 * b * p))
        });
        PRINTED.close("eq. 6, by its quadratic", "", largest(pairs), 0.0, 1e-12);
        assert_eq!(unconstrained_window(0.0, 2.0), f64::INFINITY);
    }

    #[test]
    fn eq_8_and_9_are_the_printed_quotients() {
        let pairs = LOSSES.map(|p| {
            let w = unconstrained_window(p, 2.0);
            let timeouts = printed_timeout_probability(p, w) * 1.5 * backoff_factor(p) / (1.0 - p);
            let denominator = printed_denominator(p, w);
            let rtts = (unconstrained_rtts(p, 2.0), (w + 1.0) / denominator);
            [rtts, (unconstrained_timeout(p, 2.0, 1.5), timeouts / denominator)]
        });
        let found = largest(pairs.into_iter().flatten());
        PRINTED.close("eqs. 8 and 9", "", found, 0.0, 1e-8);
        assert_eq!(
            (unconstrained_rtts(0.0, 2.0), unconstrained_timeout(0.0, 2.0, 1.0)),
            (0.0, 0.0)
        );
    }

    #[test]
    fn eq_10_and_11_are_the_printed_quotients() {
        let pairs = LOSSES.map(|p| {
            let rounds = 2.0 / 8.0 * W + (1.0 - p) / (p * W) + 2.0;
            let timeouts = printed_timeout_probability(p, W) * 1.5 * backoff_factor(p) / (1.0 - p);
            let denominator = printed_denominator(p, W);
            let rtts = (constrained_rtts(p, W, 2.0), rounds / denominator);
            [rtts, (constrained_timeout(p, W, 1.5), timeouts / denominator)]
        });
        let found = largest(pairs.into_iter().flatten());
        PRINTED.close("eqs. 10 and 11", "", found, 0.0, 1e-8);
        close(constrained_rtts(0.0, W, 2.0), 1.0 / W, 1e-15);
        assert_eq!(constrained_timeout(0.0, W, 1.0), 0.0);
    }

    #[test]
    fn eq_7_selects_the_branch_by_the_unconstrained_window() {
        let tcp = Tcp::default();
        let switch = tcp.window_switch_loss();
        close(unconstrained_window(switch, 2.0), W, 1e-12);
        for p in LOSSES {
            let terms = tcp.rate_terms(p);
            let (rtts, timeout) = if p < switch {
                (constrained_rtts(p, W, 2.0), constrained_timeout(p, W, 1.0))
            } else {
                (unconstrained_rtts(p, 2.0), unconstrained_timeout(p, 2.0, 1.0))
            };
            assert_eq!(terms, RateTerms { rtts_per_packet: rtts, timeout_s_per_packet: timeout });
        }
    }

    #[test]
    fn branches_are_equal_for_b_2_and_differ_by_the_documented_jump_otherwise() {
        for b in [1.0, 2.0, 4.0] {
            let tcp = Tcp { packets_per_ack: b, ..Tcp::default() };
            let p = tcp.window_switch_loss();
            let ratio = constrained_rtts(p, W, b) / unconstrained_rtts(p, b);
            assert!((ratio - 1.0 - tcp.window_switch_jump()).abs() < 1e-12, "b = {b}: {ratio}");
            close(constrained_timeout(p, W, 1.0), unconstrained_timeout(p, b, 1.0), 1e-12);
        }
        assert_eq!(Tcp::default().window_switch_jump(), 0.0);
    }

    #[test]
    fn eq_3_decreases_with_loss_for_b_2_while_rtt_is_within_the_timeout() {
        for max_window_packets in [1.0, 2.0, 4.0, W, 2000.0] {
            let tcp = Tcp { max_window_packets, ..Tcp::default() };
            for rtt_s in [1e-4, 0.05, 1.0] {
                let rate = |i: i32| tcp.sending_rate(10f64.powf(f64::from(i) / 1000.0), rtt_s);
                assert!((-9000..0).all(|i| rate(i) > rate(i + 1)));
            }
        }
        let rate = |p| Tcp::default().sending_rate(p, 1e6);
        assert!(rate(0.9999) > rate(0.99), "see the module documentation");
    }

    #[test]
    fn is_near_window_switch_covers_all_rates_on_both_sides_of_the_jump() {
        for b in [1.0, 1.5, 1.9] {
            for max_window_packets in [3.0, 10.0, W, 1000.0] {
                let tcp = Tcp { max_window_packets, packets_per_ack: b, ..Tcp::default() };
                let switch = tcp.window_switch_loss();
                let reach = 1.0 + 8.0 * tcp.window_switch_jump();
                let rate = |p| tcp.sending_rate(p, 1.0);
                // Just outside the "near" range, the rates are outside the range of rates on the
                // other side of the jump.
                assert!(rate(switch / reach / 1.0001) > rate(switch * 1.000_001));
                assert!(rate(switch * reach * 1.0001) < rate(switch * 0.999_999));
                assert!(tcp.is_near_window_switch(switch));
                assert!(!tcp.is_near_window_switch(switch / reach / 1.0001));
                assert!(!tcp.is_near_window_switch(switch * reach * 1.0001));
            }
        }
        assert!(!Tcp::default().is_near_window_switch(Tcp::default().window_switch_loss()));
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let tcp = Tcp { max_window_packets: 0.5, ..Tcp::default() };
        assert_eq!(
            tcp.validate().unwrap_err().to_string(),
            "max_window_packets = 0.5: must be at least 1 and finite"
        );
        assert!(Tcp { timeout_s: f64::NAN, ..Tcp::default() }.validate().is_err());
        assert!(Tcp { packets_per_ack: 0.0, ..Tcp::default() }.validate().is_err());
    }
}
