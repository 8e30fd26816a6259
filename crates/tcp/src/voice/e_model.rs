//! E-model: transmission rating R and mean opinion score of a telephone connection.
//!
//! Source: ITU-T G.107 (06/2015), equations 7-1 to 7-29 and Annex B; the equipment impairment and
//! the robustness to packet loss of a codec are from ITU-T G.113 Appendix I. Left out: 7-23 and
//! 7-24, which apply to an STMR below 9 dB or above 20 dB, and the delay sensitivity classes of
//! 7-28 other than the default (sT = 1, mT = 100 ms).

/// Parameters of the E-model. The default values are those of G.107.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EModel {
    /// SLR, send loudness rating, dB.
    pub send_loudness_db: f64,
    /// RLR, receive loudness rating, dB.
    pub receive_loudness_db: f64,
    /// STMR, sidetone masking rating, dB, in [9, 20].
    pub sidetone_db: f64,
    /// D_r, D value of the telephone at the receive side.
    pub receive_d: f64,
    /// D_s, D value of the telephone at the send side.
    pub send_d: f64,
    /// TELR, talker echo loudness rating, dB.
    pub talker_echo_db: f64,
    /// WEPL, weighted echo path loss, dB.
    pub echo_path_loss_db: f64,
    /// T, mean one-way delay of the echo path, ms.
    pub echo_delay_ms: f64,
    /// T_r, round-trip delay in a four-wire loop, ms.
    pub loop_delay_ms: f64,
    /// T_a, absolute delay in echo-free connections, ms.
    pub absolute_delay_ms: f64,
    /// qdu, number of quantization distortion units, at least 1.
    pub quantization_units: f64,
    /// Ie, equipment impairment factor of the codec without packet loss.
    pub equipment_impairment: f64,
    /// Bpl, packet-loss robustness factor of the codec, above 0.
    pub loss_robustness: f64,
    /// Ppl, packet loss, %.
    pub loss_percent: f64,
    /// BurstR, mean length of a loss burst divided by its mean length for random loss.
    pub burst_ratio: f64,
    /// N_c, circuit noise referred to the 0 dBr point, dBm0p.
    pub circuit_noise_dbm: f64,
    /// N_for, noise floor at the receive side, dBmp.
    pub noise_floor_dbm: f64,
    /// P_s, ambient noise at the send side, dB(A).
    pub send_ambient_noise_db: f64,
    /// P_r, ambient noise at the receive side, dB(A).
    pub receive_ambient_noise_db: f64,
    /// A, advantage factor, in [0, 20].
    pub advantage: f64,
}

impl Default for EModel {
    fn default() -> EModel {
        EModel {
            send_loudness_db: 8.0,
            receive_loudness_db: 2.0,
            sidetone_db: 15.0,
            receive_d: 3.0,
            send_d: 3.0,
            talker_echo_db: 65.0,
            echo_path_loss_db: 110.0,
            echo_delay_ms: 0.0,
            loop_delay_ms: 0.0,
            absolute_delay_ms: 0.0,
            quantization_units: 1.0,
            equipment_impairment: 0.0,
            loss_robustness: 4.3,
            loss_percent: 0.0,
            burst_ratio: 1.0,
            circuit_noise_dbm: -70.0,
            noise_floor_dbm: -64.0,
            send_ambient_noise_db: 35.0,
            receive_ambient_noise_db: 35.0,
            advantage: 0.0,
        }
    }
}

/// Returns 10^(`db`/10).
fn from_db(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

/// Returns 10 log10(`ratio`).
fn to_db(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

/// Returns (1 + `x`^`n`)^(1/`n`), which several equations of G.107 contain.
fn smooth_max(x: f64, n: f64) -> f64 {
    libm::pow(1.0 + libm::pow(x, n), 1.0 / n)
}

/// Idd, impairment by a mouth-to-ear delay of `delay_ms`, ms: G.107 eq. 7-27 and 7-28.
pub fn delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(delay_ms / 100.0);
    25.0 * (smooth_max(x, 6.0) - 3.0 * smooth_max(x / 3.0, 6.0) + 2.0)
}

/// Ie-eff, effective equipment impairment factor: G.107 eq. 7-29. Returns `impairment` (Ie) without
/// loss. `loss_percent` is Ppl, `burst_ratio` BurstR and `robustness` Bpl.
pub fn effective_impairment(
    impairment: f64,
    loss_percent: f64,
    burst_ratio: f64,
    robustness: f64,
) -> f64 {
    if loss_percent <= 0.0 {
        return impairment;
    }
    let share = loss_percent / (loss_percent / burst_ratio + robustness);
    impairment + (95.0 - impairment) * share
}

/// MOS, estimated mean opinion score for a conversation, in [1, 4.5]: G.107 eq. B-4.
pub fn mean_opinion_score(rating: f64) -> f64 {
    if rating <= 0.0 {
        1.0
    } else if rating >= 100.0 {
        4.5
    } else {
        // The polynomial is slightly below 1 for ratings between 0 and 6.5.
        (1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6).max(1.0)
    }
}

impl EModel {
    /// OLR, overall loudness rating, dB: SLR + RLR.
    fn overall_loudness_db(&self) -> f64 {
        self.send_loudness_db + self.receive_loudness_db
    }

    /// N_o, sum of all noise powers at the 0 dBr point, dBm0p: G.107 eq. 7-3 to 7-7.
    fn noise_dbm(&self) -> f64 {
        let send = self.send_ambient_noise_db - self.send_d;
        let send_dbm = send - self.send_loudness_db - 100.0
            + 0.004 * (send - self.overall_loudness_db() - 14.0).powi(2);
        let listener_sidetone_db = self.sidetone_db + self.receive_d;
        let effective_db =
            self.receive_ambient_noise_db + to_db(1.0 + from_db(10.0 - listener_sidetone_db));
        let receive_dbm =
            self.receive_loudness_db - 121.0 + effective_db + 0.008 * (effective_db - 35.0).powi(2);
        let floor_dbm = self.noise_floor_dbm + self.receive_loudness_db;
        let powers = [self.circuit_noise_dbm, send_dbm, receive_dbm, floor_dbm].map(from_db);
        to_db(powers.iter().sum())
    }

    /// Ro, basic signal-to-noise ratio: G.107 eq. 7-2.
    pub fn signal_to_noise(&self) -> f64 {
        15.0 - 1.5 * (self.send_loudness_db + self.noise_dbm())
    }

    /// Is, impairments that occur simultaneously with the voice signal: G.107 eq. 7-8.
    pub fn simultaneous_impairment(&self) -> f64 {
        self.loudness_impairment() + self.sidetone_impairment() + self.quantization_impairment()
    }

    /// Iolr, impairment by a low overall loudness rating: G.107 eq. 7-9 and 7-10.
    fn loudness_impairment(&self) -> f64 {
        let noise_db = 64.0 + self.noise_dbm() - self.receive_loudness_db;
        let x = (self.overall_loudness_db() + 0.2 * noise_db) / 8.0;
        20.0 * (smooth_max(x, 8.0) - x)
    }

    /// Ist, impairment by non-optimum sidetone: G.107 eq. 7-11 and 7-12.
    fn sidetone_impairment(&self) -> f64 {
        let echo = libm::exp(-self.echo_delay_ms / 4.0) * from_db(-self.talker_echo_db);
        let sidetone_db = -to_db(from_db(-self.sidetone_db) + echo);
        let term = |offset: f64, scale: f64, n: f64| smooth_max((sidetone_db + offset) / scale, n);
        12.0 * term(-13.0, 6.0, 8.0) - 28.0 * term(1.0, 19.4, 35.0) - 13.0 * term(-3.0, 33.0, 13.0)
            + 29.0
    }

    /// Iq, impairment by quantization distortion: G.107 eq. 7-13 to 7-17.
    fn quantization_impairment(&self) -> f64 {
        let q = 37.0 - 1.5 * to_db(self.quantization_units);
        let g = 1.07 + 0.258 * q + 0.0602 * q * q;
        let y = (self.signal_to_noise() - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
        let z = 46.0 / 30.0 - g / 40.0;
        1.5 * to_db(1.0 + libm::pow(10.0, y) + libm::pow(10.0, z))
    }

    /// Id, impairments by echo and delay: G.107 eq. 7-18.
    pub fn echo_and_delay_impairment(&self) -> f64 {
        let of_delay = delay_impairment(self.absolute_delay_ms);
        self.talker_echo_impairment() + self.listener_echo_impairment() + of_delay
    }

    /// Idte, impairment by talker echo: G.107 eq. 7-19 to 7-22.
    fn talker_echo_impairment(&self) -> f64 {
        let t = self.echo_delay_ms;
        let echo_db = self.talker_echo_db - 4.0 * to_db((1.0 + t / 10.0) / (1.0 + t / 150.0))
            + 6.0 * libm::exp(-0.3 * t * t);
        let re = 80.0 + 2.5 * (echo_db - 14.0);
        let roe = -1.5 * (self.noise_dbm() - self.receive_loudness_db);
        let half = (roe - re) / 2.0;
        (half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - libm::exp(-t))
    }

    /// Idle, impairment by listener echo: G.107 eq. 7-25 and 7-26.
    fn listener_echo_impairment(&self) -> f64 {
        let rle =
            10.5 * (self.echo_path_loss_db + 7.0) * libm::pow(self.loop_delay_ms + 1.0, -0.25);
        let half = (self.signal_to_noise() - rle) / 2.0;
        half + (half * half + 169.0).sqrt()
    }

    /// R, transmission rating factor: G.107 eq. 7-1. Not limited to a range.
    pub fn rating(&self) -> f64 {
        let equipment = effective_impairment(
            self.equipment_impairment,
            self.loss_percent,
            self.burst_ratio,
            self.loss_robustness,
        );
        self.signal_to_noise()
            - self.simultaneous_impairment()
            - self.echo_and_delay_impairment()
            - equipment
            + self.advantage
    }

    /// Returns the parameters with mouth-to-ear delay `delay_ms`, ms: T = T_a and T_r = 2 T_a, the
    /// delay of a connection with echo control (TELR) at both ends.
    pub fn with_delay(self, delay_ms: f64) -> EModel {
        EModel {
            echo_delay_ms: delay_ms,
            loop_delay_ms: 2.0 * delay_ms,
            absolute_delay_ms: delay_ms,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const RATING: Law = Law {
        area: "Traffic",
        source: "ITU-T G.107 (06/2015): the E-model with its default values, eq. 7-1 to 7-29 and B-4",
        allows: "half of the last digit printed or calculated by hand; Table B.1 has lower limits, rounded up",
    };

    /// G.107: with all parameters at their default values, R = 93.2.
    #[test]
    fn default_values_give_a_rating_of_93_2() {
        let model = EModel::default();
        RATING.close("default values: R", "1", model.rating(), 93.2, 0.05);
        RATING.close("R = 93.2: MOS", "1", mean_opinion_score(93.2), 4.41, 0.005);
    }

    /// Hand calculation. 400 ms: X = 2, (1 + 64)^(1/6) = 2.005175, (1 + (2/3)^6)^(1/6) =
    /// 1.014124, so that Idd = 25 (2.005175 − 3.042372 + 2) = 24.0701. 150 ms: X = 0.584963,
    /// (1 + 0.040065)^(1/6) = 1.006569, (1 + 0.000054959)^(1/6) = 1.00000916, Idd = 0.16353.
    #[test]
    fn eq_7_27_delay_impairment() {
        assert_eq!(delay_impairment(0.0), 0.0);
        assert_eq!(delay_impairment(100.0), 0.0);
        RATING.close("150 ms: Idd", "1", delay_impairment(150.0), 0.1635, 0.0005);
        RATING.close("400 ms: Idd", "1", delay_impairment(400.0), 24.0701, 0.0005);
    }

    /// Hand calculation. G.711 with packet-loss concealment (Ie = 0, Bpl = 25.1), 2 %: 95 · 2/27.1
    /// = 7.0111. G.729A (Ie = 11, Bpl = 19), 3 %: 11 + 84 · 3/22 = 22.4545; with BurstR = 2:
    /// 11 + 84 · 3/20.5 = 23.2927.
    #[test]
    fn eq_7_29_effective_equipment_impairment() {
        let case = |what: &str, found: f64, expected: f64| {
            RATING.close(what, "1", found, expected, 0.00005);
        };
        assert_eq!(effective_impairment(11.0, 0.0, 1.0, 19.0), 11.0);
        case("G.711, 2 %: Ie-eff", effective_impairment(0.0, 2.0, 1.0, 25.1), 7.0111);
        case("G.729A, 3 %: Ie-eff", effective_impairment(11.0, 3.0, 1.0, 19.0), 22.4545);
        case("G.729A, 3 %, bursts: Ie-eff", effective_impairment(11.0, 3.0, 2.0, 19.0), 23.2927);
    }

    /// G.107 Table B.1: R = 90, 80, 70, 60, 50 have MOS 4.34, 4.03, 3.60, 3.10, 2.58. The table has
    /// lower limits, which are rounded up: eq. B-4 gives 4.024 for R = 80.
    #[test]
    fn table_b1_mean_opinion_scores() {
        for (rating, mos) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)]
        {
            let what = format!("R = {rating}: MOS");
            RATING.close(what, "1", mean_opinion_score(rating), mos, 0.01);
        }
        assert_eq!(mean_opinion_score(-3.0), 1.0);
        assert_eq!(mean_opinion_score(3.0), 1.0);
        assert_eq!(mean_opinion_score(120.0), 4.5);
    }

    /// Hand calculation of the talker echo at 150 ms with the default values: TERV = 65 −
    /// 40 log10(16/2) = 28.876, Re = 117.19, Roe = 94.769, Idte = −11.211 + 15.022 − 1 = 2.811.
    /// Listener echo at Tr = 300 ms: Rle = 1228.5 · 301^(−1/4) = 294.94, Idle = 0.843. Their sum
    /// with Idd = 0.164 is 3.818.
    #[test]
    fn eq_7_18_impairment_by_echo_and_delay() {
        let found = EModel::default().with_delay(150.0).echo_and_delay_impairment();
        RATING.close("150 ms: Id", "1", found, 3.818, 0.005);
    }

    #[test]
    fn rating_falls_with_delay_and_loss() {
        let rating = |delay: f64, loss_percent: f64| {
            EModel { loss_percent, ..EModel::default() }.with_delay(delay).rating()
        };
        for step in 0..50 {
            let delay = 10.0 * f64::from(step);
            assert!(rating(delay + 10.0, 0.0) < rating(delay, 0.0), "{delay} ms");
            let loss = f64::from(step) / 2.0;
            assert!(rating(50.0, loss + 0.5) < rating(50.0, loss), "{loss} %");
        }
    }

    #[test]
    fn advantage_adds_to_the_rating() {
        let with = EModel { advantage: 10.0, ..EModel::default() };
        assert_eq!(with.rating(), EModel::default().rating() + 10.0);
    }
}
