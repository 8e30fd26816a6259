//! PIE's drop probability as a function of the queueing delay.
//!
//! Source: RFC 8033 §4.2, §5.5 and Appendix A.

use airpath_core::Duration;

/// QDELAY_HIGH: above this delay the probability rises faster (RFC 8033, as in Linux).
const HIGH_DELAY: Duration = Duration::from_millis(250);
/// Increment above that delay, and the largest step otherwise, once p is 10 % (§5.5).
const CAPPED_STEP: f64 = 0.02;
const CAPPED_FROM: f64 = 0.1;
/// Decay per update while there is no delay (§4.2).
const DECAY: f64 = 0.98;

/// Parameters of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieGains {
    /// QDELAY_REF.
    pub target: Duration,
    /// alpha, 1/s.
    pub alpha: f64,
    /// beta, 1/s.
    pub beta: f64,
}

/// By what a step is divided at drop probability `drop_prob`, RFC 8033 §4.2.
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

/// The drop probability after an update at delay `delay`, which was `delay_old` at the update
/// before, RFC 8033 §4.2 and §5.5.
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
