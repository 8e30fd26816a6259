//! RED's dropper: computes the average queue length and decides which arrivals are dropped or
//! marked. RED and ARED use this dropper.
//!
//! Source: Floyd & Jacobson 1993, "Random early detection gateways for congestion avoidance"
//! (`red-1993`). The gentle curve is from Floyd 2000. The wait between drops and the automatic
//! parameters are from Floyd, Gummadi & Shenker 2001, "Adaptive RED" (`ared-2001`), and ns-2.
//!
//! Differences: `count` is the number of arrivals since the last drop, as in §7 of red-1993
//! (spacing uniform on 1 to 1/p_b). In Figure 2 of red-1993 `count` is larger by one. The first
//! arrival after an idle time finds a queue length of zero; this value also enters the average.

use crate::gred::{GredConfig, gred_drop_probability};
use airpath_core::{Bytes, Checks, Duration, Rate, Stream, Time, above, at_least};
use serde::Deserialize;

/// Drop probability p_b as a function of the average queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedCurve {
    /// Threshold min_th, packets: no drops below it.
    pub min_th: f64,
    /// Threshold max_th, packets. The probability at this threshold is `max_p`.
    pub max_th: f64,
    /// Probability max_p, in [0, 1].
    pub max_p: f64,
    /// If true, the probability rises from `max_p` at `max_th` to 1 at twice `max_th`. Otherwise
    /// the probability is 1 from `max_th`.
    pub gentle: bool,
}

/// Returns the average after an arrival that found `queue` waiting packets (red-1993 §4).
#[inline]
pub fn red_average(average: f64, weight: f64, queue: f64) -> f64 {
    average + weight * (queue - average)
}

/// Returns the average after an idle time in which `slots` packets could have been sent (red-1993
/// §4).
pub fn red_idle_average(average: f64, weight: f64, slots: f64) -> f64 {
    average * libm::pow(1.0 - weight, slots)
}

/// Returns p_b, the drop probability for an average queue length (red-1993 §4; Floyd 2000 if
/// `gentle` is set).
#[inline]
pub fn red_initial_probability(average: f64, curve: &RedCurve) -> f64 {
    let RedCurve { min_th, max_th, max_p, gentle } = *curve;
    if !gentle && average >= max_th {
        return 1.0;
    }
    gred_drop_probability(average, &GredConfig { min_th, max_th, max_p, ecn: false })
}

/// Returns p_a, the drop probability of an arrival after `count` other arrivals since the last
/// drop.
///
/// With this probability the number of arrivals between drops is uniformly distributed: on 1 to
/// 1/p_b without `wait` (red-1993 §7, method 2), and on 1/p_b + 1 to 2/p_b with `wait`.
#[inline]
pub fn red_final_probability(p_b: f64, count: u64, wait: bool) -> f64 {
    let expected = count as f64 * p_b;
    let left = if wait { 2.0 - expected } else { 1.0 - expected };
    if wait && expected < 1.0 {
        0.0
    } else if left > p_b {
        p_b / left
    } else {
        1.0
    }
}

/// Returns w_q = 1 − e^(−1/C) for a link with the rate C = `rate` packets/s (ared-2001 §5). The
/// time constant of the average is then one second.
pub fn red_automatic_weight(rate: f64) -> f64 {
    -libm::expm1(-1.0 / rate)
}

/// Returns min_th = max(5, target delay · C / 2) packets for a link with the rate C = `rate`
/// packets/s (ared-2001 §5).
pub fn red_automatic_min_th(target_delay: Duration, rate: f64) -> f64 {
    (target_delay.as_secs_lossy() * rate / 2.0).max(SMALLEST_AUTOMATIC_MIN_TH)
}

const SMALLEST_AUTOMATIC_MIN_TH: f64 = 5.0;
/// Ratio max_th / min_th of automatic thresholds (Floyd 1997; ared-2001 §5).
const AUTOMATIC_THRESHOLD_RATIO: f64 = 3.0;
/// Weight w_q until the link's rate is known (red-1993 §6).
const USUAL_WEIGHT: f64 = 0.002;

/// Parameters of the dropper. A value of `None` is derived from the link's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedSettings {
    /// Threshold min_th, packets.
    pub min_th: Option<f64>,
    /// Threshold max_th, packets; `None`: 3 min_th.
    pub max_th: Option<f64>,
    /// Probability max_p, in [0, 1].
    pub max_p: f64,
    /// Weight w_q of the average, in (0, 1].
    pub weight: Option<f64>,
    /// Queueing delay from which `min_th` is computed if it is `None`.
    pub target_delay: Duration,
    /// Mean packet size, for the conversion of the link's rate to packets per second.
    pub mean_packet: Bytes,
    /// Shape of the curve above `max_th` ([`RedCurve::gentle`]).
    pub gentle: bool,
    /// If set, at least 1/p_b arrivals lie between two drops.
    pub wait: bool,
    /// Variant of RED: determines which arrivals are exempt from random drops, and how arrivals are
    /// counted.
    pub variant: RedVariant,
}

/// Variant of RED: determines which arrivals are exempt from random drops, and how arrivals are
/// counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum RedVariant {
    /// No arrivals are exempt. `count` is the number of arrivals since the last drop (red-1993 §7).
    #[default]
    #[serde(rename = "red-1993")]
    Red1993,
    /// Variant of ns-2 and ns-3.48 (class RedQueueDisc). Two kinds of arrivals are exempt: an
    /// arrival that finds fewer than two packets, and the first arrival after such an arrival or
    /// after the average has exceeded min_th. `count` includes the current arrival.
    #[serde(rename = "ns")]
    Ns,
}

impl RedSettings {
    /// Rejects values outside their ranges, and thresholds that contradict each other.
    pub(crate) fn check(&self, checks: &mut Checks) {
        if let Some(min_th) = self.min_th {
            checks.within("min_th", min_th, at_least(0.0));
        }
        match (self.min_th, self.max_th) {
            (None, Some(max_th)) => {
                let problem = "given with an automatic min_th";
                checks.reject("max_th", max_th, problem, "Set both thresholds or none");
            }
            (Some(min_th), Some(max_th)) => {
                checks.related("max_th", max_th, above(min_th), "not above min_th");
            }
            (Some(0.0), None) => {
                let problem = "three times min_th = 0";
                checks.reject("max_th", "automatic", problem, "Set max_th above min_th");
            }
            _ => {}
        }
        checks.within("max_p", self.max_p, 0.0..=1.0);
        if let Some(weight) = self.weight {
            checks.within("weight", weight, above(0.0).up_to(1.0));
        }
        checks.within("mean_packet_bytes", self.mean_packet.0, at_least(1_u64));
    }
}

/// Decision of the dropper about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedVerdict {
    /// The arrival is queued.
    Admit,
    /// The arrival is marked or dropped at random.
    Early,
    /// The arrival is dropped, because the average is in the range in which the drop probability is
    /// 1.
    Forced,
}

/// State of the dropper.
#[derive(Clone, Debug)]
pub struct RedDropper {
    settings: RedSettings,
    curve: RedCurve,
    weight: f64,
    /// Link rate C, in packets of mean size per second; 0 while unknown.
    rate: f64,
    average: f64,
    /// Number of arrivals since the last drop, while the average is in the range of random drops.
    count: u64,
    /// For the variant `ns`: true if the last arrival found at least two packets and an average in
    /// the range of random drops.
    was_above: bool,
    /// Start of the current idle time of the link. The average does not include this idle time yet.
    idle_since: Option<Time>,
    stream: Stream,
}

impl RedDropper {
    /// Creates the dropper for the start of a run.
    pub fn new(settings: RedSettings, stream: Stream) -> RedDropper {
        let RedSettings { max_p, gentle, .. } = settings;
        let mut dropper = RedDropper {
            settings,
            curve: RedCurve { min_th: 0.0, max_th: 0.0, max_p, gentle },
            weight: settings.weight.unwrap_or(USUAL_WEIGHT),
            rate: 0.0,
            average: 0.0,
            count: 0,
            was_above: false,
            idle_since: None,
            stream,
        };
        dropper.set_thresholds();
        dropper
    }

    /// Average queue length, packets.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// Weight w_q.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Current curve.
    pub fn curve(&self) -> &RedCurve {
        &self.curve
    }

    /// Replaces max_p (ARED).
    pub fn set_max_p(&mut self, max_p: f64) {
        self.curve.max_p = max_p;
    }

    /// Sets the link's rate. If the rate is zero, the automatic parameters do not change.
    pub fn on_rate(&mut self, rate: Rate) {
        self.rate = rate.0 as f64 / (8.0 * self.settings.mean_packet.0 as f64);
        if self.rate > 0.0 {
            self.weight = self.settings.weight.unwrap_or_else(|| red_automatic_weight(self.rate));
            self.set_thresholds();
        }
    }

    fn set_thresholds(&mut self) {
        let RedSettings { min_th, max_th, target_delay, .. } = self.settings;
        self.curve.min_th = min_th.unwrap_or_else(|| red_automatic_min_th(target_delay, self.rate));
        self.curve.max_th = max_th.unwrap_or(AUTOMATIC_THRESHOLD_RATIO * self.curve.min_th);
    }

    /// Called when the link has nothing to send.
    #[inline]
    pub fn on_idle(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    /// Called when an arrival has been queued: the link is no longer idle.
    #[inline]
    pub fn on_queued(&mut self) {
        self.idle_since = None;
    }

    /// Updates the average with an arrival that finds `queue` packets, and returns the decision.
    ///
    /// A dropped arrival does not end an idle time of the link; a queued arrival does.
    pub fn on_arrival(&mut self, queue: usize, now: Time) -> RedVerdict {
        self.average_in(queue, now);
        match self.settings.variant {
            RedVariant::Red1993 => self.decide(),
            RedVariant::Ns => self.decide_as_ns(queue),
        }
    }

    /// Updates the average with an arrival that finds `queue` waiting packets.
    #[inline]
    pub fn average_in(&mut self, queue: usize, now: Time) {
        if let Some(since) = &mut self.idle_since {
            let slots = now.saturating_since(*since).as_secs_lossy() * self.rate;
            *since = now;
            self.average = red_idle_average(self.average, self.weight, slots);
        }
        self.average = red_average(self.average, self.weight, queue as f64);
    }

    fn decide_as_ns(&mut self, queue: usize) -> RedVerdict {
        self.count += 1;
        if self.average < self.curve.min_th || queue < 2 {
            self.was_above = false;
            return RedVerdict::Admit;
        }
        let p_b = red_initial_probability(self.average, &self.curve);
        if p_b >= 1.0 {
            return RedVerdict::Forced;
        }
        if !std::mem::replace(&mut self.was_above, true) {
            self.count = 1;
            return RedVerdict::Admit;
        }
        // Here `count` is larger by one than in red-1993, so a certain drop occurs one arrival
        // earlier.
        let p_a = match self.count as f64 * p_b {
            expected if self.settings.wait && expected < 1.0 => 0.0,
            expected if self.settings.wait && expected < 2.0 => p_b / (2.0 - expected),
            expected if !self.settings.wait && expected < 1.0 => p_b / (1.0 - expected),
            _ => 1.0,
        };
        if !self.stream.bernoulli(p_a.min(1.0)) {
            return RedVerdict::Admit;
        }
        self.count = 0;
        RedVerdict::Early
    }

    #[inline]
    fn decide(&mut self) -> RedVerdict {
        let p_b = red_initial_probability(self.average, &self.curve);
        if p_b >= 1.0 {
            self.count = 0;
            return RedVerdict::Forced;
        }
        if self.average < self.curve.min_th {
            self.count = 0;
            return RedVerdict::Admit;
        }
        let p_a = red_final_probability(p_b, self.count, self.settings.wait);
        if self.stream.bernoulli(p_a) {
            self.count = 0;
            RedVerdict::Early
        } else {
            self.count += 1;
            RedVerdict::Admit
        }
    }

    /// Called when an arrival is dropped at the limit. Like a random drop, this drop signals
    /// congestion to the sender, so `count` restarts.
    pub fn on_overflow(&mut self) {
        if self.settings.variant == RedVariant::Red1993 {
            self.count = 0;
        }
    }
}
