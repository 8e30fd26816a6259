//! PIE's drop probability as a function of the queueing delay.
//!
//! Source: RFC 8033 §4.2, §5.5 and Appendix A.

use airpath_core::Duration;

/// QDELAY_HIGH: above this delay the probability rises faster (RFC 8033, as in Linux).
const HIGH_DELAY: Duration = Duration::from_millis(250);
/// If the delay exceeds QDELAY_HIGH: the increment of p. Otherwise: the largest increment of p,
/// once p is at least `CAPPED_FROM` (§5.5).
const CAPPED_STEP: f64 = 0.02;
const CAPPED_FROM: f64 = 0.1;
/// Factor by which each update multiplies p while the delay is zero (§4.2).
const DECAY: f64 = 0.98;

/// Parameters of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieGains {
    /// Target delay QDELAY_REF.
    pub target: Duration,
    /// Gain alpha, 1/s.
    pub alpha: f64,
    /// Gain beta, 1/s.
    pub beta: f64,
}

/// Returns the divisor of the increment of the drop probability if this probability is `drop_prob`
/// (RFC 8033 §4.2).
pub fn pie_scale(drop_prob: f64) -> f64 {
    match drop_prob {
        p if p < 1e-6 => 2048.0,
        p if p < 1e-5 => 512.0,
        p if p < 1e-4 => 128.0,
        p if p < 1e-3 => 32.0,
        p if p < 1e-2 => 8.0,
        p if p < 1e-1 => 2.0,
        _ => 1.0,
    }
}

/// Returns the drop probability after an update with delay `delay` and previous delay `delay_old`
/// (RFC 8033 §4.2 and §5.5).
pub fn pie_next_drop_prob(
    drop_prob: f64,
    delay: Duration,
    delay_old: Duration,
    gains: &PieGains,
) -> f64 {
    let (now, before) = (delay.as_secs_lossy(), delay_old.as_secs_lossy());
    let error = now - gains.target.as_secs_lossy();
    let mut step = (gains.alpha * error + gains.beta * (now - before)) / pie_scale(drop_prob);
    if drop_prob >= CAPPED_FROM {
        step = step.min(CAPPED_STEP);
    }
    if delay > HIGH_DELAY {
        step += CAPPED_STEP;
    }
    let mut next = drop_prob + step;
    if delay == Duration::ZERO && delay_old == Duration::ZERO {
        next *= DECAY;
    }
    next.clamp(0.0, 1.0)
}
