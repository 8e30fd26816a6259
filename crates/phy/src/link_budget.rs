//! The link budget: from transmitted power and path loss to the mean signal-to-noise ratio.
//!
//! SNR = P + G_t + G_r − L − (10 log(k T_0 B / 1 mW) + F), in dB
//!
//! Source: Friis, *Noise figures of radio receivers*, Proc. IRE 32 (1944), with T_0 = 290 K.
//! Interference adds to the noise, see [`sinr_db`]; the link budget of each interferer gives its
//! power relative to the noise.
//! Left out: interference that is not Gaussian or that fades.

use crate::shannon::from_db;

/// Boltzmann's constant, J/K (exact, SI).
pub const BOLTZMANN: f64 = 1.380_649e-23;

/// T_0, the temperature at which noise figures are defined, K.
pub const REFERENCE_KELVIN: f64 = 290.0;

/// Power, gains and losses of one direction of a radio link. All finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkBudget {
    /// P, transmitted power within `bandwidth_hz`, dBm.
    pub transmit_power_dbm: f64,
    /// G_t, antenna gain of the transmitter minus cable losses, dBi.
    pub transmit_gain_db: f64,
    /// G_r, antenna gain of the receiver minus cable losses, dBi.
    pub receive_gain_db: f64,
    /// L, path loss and all other losses, such as bodies, walls, implementation and margins, dB.
    pub loss_db: f64,
    /// B, bandwidth of the signal, Hz, above 0. For OFDM, the number of used subcarriers times
    /// their spacing.
    pub bandwidth_hz: f64,
    /// F, noise figure of the receiver, dB.
    pub noise_figure_db: f64,
}

impl LinkBudget {
    /// Returns the mean SNR, dB.
    pub fn snr_db(&self) -> f64 {
        let received_dbm =
            self.transmit_power_dbm + self.transmit_gain_db + self.receive_gain_db - self.loss_db;
        received_dbm - noise_dbm(self.bandwidth_hz, self.noise_figure_db)
    }
}

/// Returns the noise power of a receiver, dBm: 10 log(k T_0 B / 1 mW) + F.
///
/// `bandwidth_hz` (B) is in Hz and above 0, `noise_figure_db` (F) in dB.
pub fn noise_dbm(bandwidth_hz: f64, noise_figure_db: f64) -> f64 {
    10.0 * libm::log10(1e3 * BOLTZMANN * REFERENCE_KELVIN * bandwidth_hz) + noise_figure_db
}

/// Returns the signal-to-interference-and-noise ratio, dB: SNR/(1 + Σ INR).
///
/// `snr_db` is the ratio without interference. `inrs_db` contains the received power of each
/// interferer relative to the noise, dB.
pub fn sinr_db(snr_db: f64, inrs_db: &[f64]) -> f64 {
    let sum: f64 = inrs_db.iter().map(|inr_db| from_db(*inr_db)).sum();
    snr_db - 10.0 / std::f64::consts::LN_10 * libm::log1p(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const BUDGET: Law = Law {
        area: "Radio channel",
        source: "Link budget by hand: −173.975 dBm/Hz at 290 K, bandwidth, noise figure, gains, loss",
        allows: "the digits given",
    };

    #[test]
    fn thermal_noise_is_minus_174_dbm_per_hertz() {
        BUDGET.close("1 Hz", "dBm", noise_dbm(1.0, 0.0), -173.9752, 1e-4);
        // 841 subcarriers with a spacing of 10.9375 kHz, noise figure of 7 dB.
        BUDGET.close("9.2 MHz, F = 7 dB", "dBm", noise_dbm(841.0 * 10_937.5, 7.0), -97.3380, 1e-4);
    }

    #[test]
    fn snr_matches_802_16e_downlink_by_hand() {
        let budget = LinkBudget {
            transmit_power_dbm: 43.0,
            transmit_gain_db: 15.0,
            receive_gain_db: -1.0,
            loss_db: 141.0206 + 10.0,
            bandwidth_hz: 841.0 * 10_937.5,
            noise_figure_db: 7.0,
        };
        // 43 + 15 − 1 − 151.0206 + 97.3380.
        BUDGET.close("43 dBm, 1 km, 2.5 GHz", "dB", budget.snr_db(), 3.3174, 1e-4);
        // Half of the band has twice the power in each subcarrier.
        let narrow = LinkBudget { bandwidth_hz: 0.5 * budget.bandwidth_hz, ..budget };
        BUDGET.close("half of the band", "dB", narrow.snr_db() - budget.snr_db(), 3.0103, 1e-4);
    }

    /// Interference as strong as the noise reduces the SNR by 3.01 dB. Far above the noise, the
    /// result is the SIR.
    #[test]
    fn interference_adds_to_the_noise() {
        BUDGET.close("as much as noise", "dB", sinr_db(20.0, &[0.0]), 16.9897, 1e-4);
        BUDGET.close("two, half each", "dB", sinr_db(20.0, &[-3.010_3, -3.010_3]), 16.9897, 1e-4);
        BUDGET.close("SIR of 15 dB", "dB", sinr_db(115.0, &[100.0]), 15.0, 1e-9);
        BUDGET.close("far below", "dB", 20.0 - sinr_db(20.0, &[-150.0]), 0.0, 1e-13);
        assert_eq!(sinr_db(20.0, &[]), 20.0);
    }
}
