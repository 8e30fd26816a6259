//! Voice: datagrams of a codec, the playout buffer of the receiver, and the rating of the call.
//!
//! | concern | file |
//! | --- | --- |
//! | arrivals in time for playout | `playout.rs` |
//! | rating R and mean opinion score | `e_model.rs` |

mod e_model;
mod playout;

pub use e_model::{EModel, delay_impairment, effective_impairment, mean_opinion_score};
pub use playout::{Playout, PlayoutReport};

use airpath_core::{Checks, ConfigError, Duration, Time, above, at_least};
use serde::Deserialize;

/// Configuration of a voice call in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VoiceConfig {
    /// Size of an IP packet with its IP, UDP and RTP headers, bytes.
    pub packet_bytes: u64,
    /// Time between two packets: the duration of the speech in a packet, ns.
    pub interval_ns: u64,
    /// Delay of the codec in addition to the interval: lookahead and processing, ns.
    pub codec_delay_ns: u64,
    /// Playout delay that the receiver adds to the network delay of the first packet, ns.
    pub jitter_buffer_ns: u64,
    /// Ie, equipment impairment factor of the codec (ITU-T G.113 Appendix I).
    pub equipment_impairment: f64,
    /// Bpl, packet-loss robustness factor of the codec (ITU-T G.113 Appendix I).
    pub loss_robustness: f64,
    /// A, advantage factor (ITU-T G.107).
    pub advantage: f64,
}

impl VoiceConfig {
    /// Returns the time between two packets.
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(self.interval_ns)
    }

    /// Checks every value. `largest_packet` is the largest size of a packet, bytes.
    ///
    /// # Errors
    /// The error lists every value out of range.
    pub fn validate(&self, largest_packet: u64) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("packet_bytes", self.packet_bytes, 1..=largest_packet);
        checks.within("interval_ns", self.interval_ns, at_least(1_u64));
        checks.within("equipment_impairment", self.equipment_impairment, 0.0..=95.0);
        checks.within("loss_robustness", self.loss_robustness, above(0.0));
        checks.within("advantage", self.advantage, 0.0..=20.0);
        checks.finish()
    }

    /// Rates a call with the packets of `playout`: T = T_a is the mouth-to-ear delay. Losses that
    /// are spread more evenly than random ones count as random: BurstR of G.107 is at least 1. A call
    /// of which nothing was played has R = 0.
    pub fn rate(&self, playout: &PlayoutReport) -> CallQuality {
        let coding_s =
            (self.interval() + Duration::from_nanos(self.codec_delay_ns)).as_secs_lossy();
        let delay_s = playout.mean_delay_s.map(|delay_s| delay_s + coding_s);
        let rating = playout.loss_ratio().map(|loss| {
            let Some(delay_s) = delay_s else { return 0.0 };
            let model = EModel {
                equipment_impairment: self.equipment_impairment,
                loss_robustness: self.loss_robustness,
                loss_percent: 100.0 * loss,
                burst_ratio: playout.burst_ratio().unwrap_or(1.0).max(1.0),
                advantage: self.advantage,
                ..EModel::default()
            };
            model.with_delay(1000.0 * delay_s).rating()
        });
        CallQuality { mouth_to_ear_s: delay_s, rating, mos: rating.map(mean_opinion_score) }
    }
}

/// Receiver of a voice call: its playout buffer and the configuration that rates the call.
#[derive(Clone, Debug)]
pub struct Call {
    config: VoiceConfig,
    /// Playout buffer.
    pub(crate) playout: Playout,
}

impl Call {
    /// Creates the receiver of a call.
    pub fn new(config: VoiceConfig) -> Call {
        let buffer = Duration::from_nanos(config.jitter_buffer_ns);
        Call { config, playout: Playout::new(config.interval(), buffer) }
    }

    /// Returns the counters of the playout buffer and the quality of the call at `now`, after the
    /// source has sent `sent` packets in total.
    pub fn report(&self, sent: u64, now: Time) -> (PlayoutReport, CallQuality) {
        let playout = self.playout.report(sent, now);
        (playout, self.config.rate(&playout))
    }
}

/// Quality of a call. All values are `None` before the first packet was due for playout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallQuality {
    /// Time from speech to playout: packet interval, codec delay, network delay and playout buffer,
    /// s; `None` if no packet was played.
    pub mouth_to_ear_s: Option<f64>,
    /// R, transmission rating factor of G.107.
    pub rating: Option<f64>,
    /// Mean opinion score of a conversation, in [1, 4.5].
    pub mos: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const G711: VoiceConfig = VoiceConfig {
        packet_bytes: 200,
        interval_ns: 20_000_000,
        codec_delay_ns: 0,
        jitter_buffer_ns: 40_000_000,
        equipment_impairment: 0.0,
        loss_robustness: 25.1,
        advantage: 0.0,
    };

    /// 20 ms of packet interval and 130 ms from sending to playout. Id = 3.818 at 150 ms (see
    /// `e_model.rs`) instead of 0.148 at 0 ms; 1 % of random loss: Ie-eff = 95/26.1 = 3.640. R =
    /// 93.2 + 0.148 − 3.818 − 3.640 = 85.9.
    #[test]
    fn call_with_delay_and_loss_has_the_hand_computed_rating() {
        let playout = PlayoutReport {
            played: 9900,
            lost: 100,
            bursts: 99,
            late: 0,
            mean_delay_s: Some(0.130),
        };
        let quality = G711.rate(&playout);
        let rating = quality.rating.expect("packets were played");
        assert!((quality.mouth_to_ear_s.expect("packets were played") - 0.150).abs() < 1e-12);
        assert!((rating - 85.9).abs() < 0.05, "{rating}");
        assert_eq!(quality.mos, Some(mean_opinion_score(rating)));
    }

    #[test]
    fn call_without_played_packets_has_the_lowest_score() {
        let nothing = PlayoutReport::default();
        assert_eq!((G711.rate(&nothing).rating, G711.rate(&nothing).mos), (None, None));
        let late = PlayoutReport { lost: 100, late: 100, bursts: 1, ..nothing };
        let quality = G711.rate(&late);
        assert_eq!((quality.rating, quality.mos), (Some(0.0), Some(1.0)));
        assert_eq!(quality.mouth_to_ear_s, None);
    }

    /// One packet of 1000 is played in the middle of two bursts: BurstR = 0.5 counts as 1, so that
    /// Ie-eff = 95 · 99.9/(99.9 + 25.1) = 75.9.
    #[test]
    fn evenly_spread_losses_count_as_random() {
        let playout =
            PlayoutReport { played: 1, lost: 999, bursts: 2, late: 0, mean_delay_s: Some(0.020) };
        assert!(playout.burst_ratio().is_some_and(|ratio| ratio < 0.51));
        let clean = PlayoutReport { played: 1000, lost: 0, bursts: 0, ..playout };
        let [lossy, clean] = [playout, clean]
            .map(|playout| G711.rate(&playout).rating.expect("a packet was played"));
        assert!((clean - lossy - 95.0 * 99.9 / 125.0).abs() < 1e-9, "{clean} {lossy}");
    }

    #[test]
    fn values_out_of_range_are_rejected() {
        assert_eq!(G711.validate(65_535), Ok(()));
        let wrong = VoiceConfig {
            packet_bytes: 0,
            interval_ns: 0,
            equipment_impairment: 96.0,
            loss_robustness: 0.0,
            advantage: 21.0,
            ..G711
        };
        let error = wrong.validate(65_535).expect_err("five problems");
        let fields: Vec<&str> = error.problems().iter().map(|one| one.field.as_str()).collect();
        let expected =
            ["packet_bytes", "interval_ns", "equipment_impairment", "loss_robustness", "advantage"];
        assert_eq!(fields, expected);
    }
}
