//! The square-root formula with a window limit (wimax-2009 Eq. 9, after Padhye et al. 1998): steady
//! state, the window is halved at each loss, no timeouts. [`crate::pftk`] is the complete formula.

use crate::error::{ModelError, require};

/// Returns the payload rate, bit/s, of a flow with round-trip time `rtt_s` (s, above 0) and loss
/// rate `loss` (in [0, 1]): min(W_max, √(3/(2bp))) segments of `mss_bytes` in each round trip.
/// Without losses, only the window limits the rate. `max_window_packets` and `packets_per_ack` (b)
/// are at least 1.
///
/// # Errors
/// [`ModelError::Parameter`] if a value is outside its range.
pub fn square_root_bps(
    mss_bytes: f64,
    rtt_s: f64,
    loss: f64,
    max_window_packets: f64,
    packets_per_ack: f64,
) -> Result<f64, ModelError> {
    let above = |value: f64, least: f64| value >= least && value.is_finite();
    require(above(mss_bytes, 1.0), "mss_bytes", mss_bytes, "at least 1 and finite")?;
    require(rtt_s > 0.0 && rtt_s.is_finite(), "rtt_s", rtt_s, "above 0 and finite")?;
    require((0.0..=1.0).contains(&loss), "loss", loss, "between 0 and 1")?;
    let window = max_window_packets;
    require(above(window, 1.0), "max_window_packets", window, "at least 1 and finite")?;
    let b = packets_per_ack;
    require(above(b, 1.0), "packets_per_ack", b, "at least 1 and finite")?;
    let packets = (3.0 / (2.0 * b * loss)).sqrt().min(max_window_packets);
    Ok(8.0 * mss_bytes * packets / rtt_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// wimax-mac §9.4: TCP model2 of Fig. 3 is 0.891 Mbit/s with an MSS of 1000 bytes, 0.912 with
    /// 1024.
    #[test]
    fn eq9_tcp_model2_of_fig3() {
        for (mss, expected) in [(1000.0, 0.891), (1024.0, 0.912)] {
            let found = square_root_bps(mss, 0.11, 0.01, 64.0, 1.0).expect("in range") / 1e6;
            assert!((found - expected).abs() < 0.0005, "{found}");
        }
    }

    #[test]
    fn eq9_without_losses_the_window_limits() {
        let found = square_root_bps(1500.0, 0.1, 0.0, 16.0, 2.0).expect("in range");
        assert!((found - 8.0 * 1500.0 * 16.0 / 0.1).abs() < 1e-6);
        assert!(square_root_bps(1500.0, 0.0, 0.0, 16.0, 2.0).is_err());
    }
}
