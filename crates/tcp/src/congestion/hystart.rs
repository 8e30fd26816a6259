//! HyStart and HyStart++: end slow start before it overflows the queue.
//!
//! Source: Ha & Rhee, "Taming the elephants: new TCP slow start", 2011 (`hystart-2011`), with the
//! constants of Linux's and ns-3's CUBIC; RFC 9406 (HyStart++).
//!
//! Differences from this module: ns-3 compares the length of the ACK train with the full minimum
//! RTT, and the delay with twice the minimum RTT. Linux limits the delay threshold to 16 ms; ns-3
//! and this module limit it to 1 s. Not implemented: L of RFC 9406, because `window_growth`
//! determines the growth per ACK in slow start.

use super::AckEvent;
use airpath_core::{Duration, Time};
use serde::Deserialize;

/// Variant of HyStart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HystartKind {
    /// No HyStart: slow start ends with a loss, with a mark or at ssthresh.
    #[default]
    Off,
    /// HyStart: slow start ends after a long ACK train or an increase of the delay.
    Classic,
    /// HyStart++ (RFC 9406): after an increase of the delay, conservative slow start begins, and
    /// later congestion avoidance.
    PlusPlus,
}

/// Smallest window at which HyStart is active, segments.
const LOW_WINDOW: u64 = 16;
/// Largest time between two consecutive ACKs of an ACK train.
const ACK_DELTA: Duration = Duration::from_millis(2);
/// Number of RTT samples required in a round: N_RTT_SAMPLE in RFC 9406 §4.3.
const MIN_SAMPLES: u32 = 8;
/// Lower bound of the delay threshold: MIN_RTT_THRESH in RFC 9406 §4.3.
const DELAY_MIN: Duration = Duration::from_millis(4);
/// Upper bound of the delay threshold.
const DELAY_MAX: Duration = Duration::from_millis(1000);
/// Upper bound of the delay threshold of HyStart++: MAX_RTT_THRESH in RFC 9406 §4.3.
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// The delay threshold is the minimum RTT divided by this value: MIN_RTT_DIVISOR in RFC 9406 §4.3.
const MIN_RTT_DIVISOR: u64 = 8;
/// Divisor of the growth in conservative slow start: CSS_GROWTH_DIVISOR in RFC 9406 §4.3.
pub(crate) const CSS_GROWTH_DIVISOR: u64 = 4;
/// Number of rounds of conservative slow start: CSS_ROUNDS in RFC 9406 §4.3.
const CSS_ROUNDS: u32 = 5;

/// Returns the threshold for the increase of the minimum RTT `rtt`: an eighth of `rtt`, at least
/// `DELAY_MIN` and at most `longest` (RFC 9406 §4.2).
fn rtt_threshold(rtt: Duration, longest: Duration) -> Duration {
    Duration::from_nanos(rtt.as_nanos() / MIN_RTT_DIVISOR).clamp(DELAY_MIN, longest)
}

/// Advice to slow start on an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Continue slow start.
    Grow,
    /// Grow by a fraction (conservative slow start).
    GrowLess,
    /// End slow start: ssthresh = cwnd.
    Leave,
}

/// State of HyStart for one connection.
#[derive(Clone, Debug)]
pub(crate) struct Hystart {
    kind: HystartKind,
    /// Bytes acknowledged in slow start. The end of a round is a value of this counter.
    acked: u64,
    /// Value of `acked` at which the round ends.
    round_end: u64,
    round_start: Time,
    /// Minimum of the `samples` RTT samples in this round.
    round_rtt: Option<Duration>,
    samples: u32,
    /// Time of the last ACK of the train.
    last_ack: Time,
    /// Reference RTT: the minimum of all samples (HyStart), or of the previous round (HyStart++).
    reference_rtt: Option<Duration>,
    conservative: Option<Conservative>,
}

/// Conservative slow start (RFC 9406 §4.2).
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// cssBaselineMinRtt of RFC 9406.
    baseline: Duration,
    /// Number of completed rounds, including the round in which conservative slow start began.
    rounds: u32,
}

impl Hystart {
    /// Creates the state for the variant `kind`; `None` for `Off`.
    pub(crate) fn new(kind: HystartKind) -> Option<Box<Hystart>> {
        (kind != HystartKind::Off).then(|| {
            Box::new(Hystart {
                kind,
                acked: 0,
                round_end: 0,
                round_start: Time::ZERO,
                round_rtt: None,
                samples: 0,
                last_ack: Time::ZERO,
                reference_rtt: None,
                conservative: None,
            })
        })
    }

    /// Handles an ACK of `acked` bytes in slow start with a window of `cwnd` full segments.
    pub(crate) fn on_ack(&mut self, acked: u64, event: &AckEvent, cwnd: u64) -> Advice {
        self.acked += acked;
        if self.acked > self.round_end {
            self.begin_round(event);
        }
        match self.kind {
            HystartKind::Off => Advice::Grow,
            HystartKind::Classic => self.classic(event, cwnd),
            HystartKind::PlusPlus => self.plus_plus(event),
        }
    }

    /// Handles the end of slow start, which is caused by HyStart, a loss or a mark. Returns true if
    /// HyStart remains active in later slow starts, beginning with a new round (Linux). Returns
    /// false for HyStart++, which RFC 9406 §4.3 restricts to the first slow start.
    pub(crate) fn continues_after_slow_start(&mut self) -> bool {
        (self.round_end, self.round_rtt, self.samples) = (0, None, 0);
        self.kind == HystartKind::Classic
    }

    /// Handles an expiry of the retransmission timer. Resets the reference RTT, because the path
    /// may have changed. Returns true if HyStart remains active.
    pub(crate) fn continues_after_timeout(&mut self) -> bool {
        self.reference_rtt = None;
        self.continues_after_slow_start()
    }

    fn begin_round(&mut self, event: &AckEvent) {
        if self.kind == HystartKind::PlusPlus {
            self.reference_rtt = self.round_rtt;
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds += 1;
            }
        }
        self.round_end = self.acked + event.in_flight;
        self.round_start = event.now;
        self.last_ack = event.now;
        self.round_rtt = None;
        self.samples = 0;
    }

    /// Applies HyStart: ends slow start if the ACK train of a round is longer than half of the
    /// minimum RTT, or if the delay has increased (hystart-2011 §4).
    fn classic(&mut self, event: &AckEvent, cwnd: u64) -> Advice {
        let Some(rtt) = event.rtt else { return Advice::Grow };
        let smallest = self.reference_rtt.map_or(rtt, |least| least.min(rtt));
        self.reference_rtt = Some(smallest);
        if cwnd < LOW_WINDOW {
            return Advice::Grow;
        }
        if event.now.saturating_since(self.last_ack) <= ACK_DELTA {
            self.last_ack = event.now;
            let train = event.now.saturating_since(self.round_start);
            if train.as_nanos() > smallest.as_nanos() / 2 {
                return Advice::Leave;
            }
        }
        let risen = smallest + rtt_threshold(smallest, DELAY_MAX);
        if self.samples < MIN_SAMPLES {
            self.note(rtt);
        } else if self.round_rtt.is_some_and(|least| least > risen) {
            return Advice::Leave;
        }
        Advice::Grow
    }

    /// Applies HyStart++ (RFC 9406 §4.2).
    fn plus_plus(&mut self, event: &AckEvent) -> Advice {
        if let Some(rtt) = event.rtt {
            self.note(rtt);
        }
        let current = self.round_rtt.filter(|_| self.samples >= MIN_SAMPLES);
        match (self.conservative, current, self.reference_rtt) {
            (Some(conservative), _, _) if conservative.rounds >= CSS_ROUNDS => Advice::Leave,
            (Some(conservative), Some(current), _) if current < conservative.baseline => {
                self.conservative = None;
                Advice::Grow
            }
            (Some(_), _, _) => Advice::GrowLess,
            (None, Some(current), Some(last))
                if current >= last + rtt_threshold(last, MAX_RTT_THRESH) =>
            {
                self.conservative = Some(Conservative { baseline: current, rounds: 0 });
                Advice::GrowLess
            }
            _ => Advice::Grow,
        }
    }

    fn note(&mut self, rtt: Duration) {
        self.round_rtt = Some(self.round_rtt.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const THRESHOLD: Law = Law {
        area: "HyStart",
        source: "RFC 9406 §4.3: the rise of the RTT, an eighth, 4 ms at least and 16 at most",
        allows: "nothing",
    };
    const EXIT: Law = Law {
        area: "HyStart",
        source: "Ha & Rhee 2011 §4; RFC 9406 §4.2: the ACK that ends slow start or slows it down",
        allows: "nothing",
    };

    /// Returns the advice for each of `number` ACKs. Each ACK covers one segment; the time between
    /// ACKs is `gap_us`, and the RTT is constant.
    fn acks(
        hystart: &mut Hystart,
        start_ms: u64,
        gap_us: u64,
        number: u64,
        rtt_ms: u64,
    ) -> Vec<Advice> {
        (0..number)
            .map(|i| {
                let now = Time::from_millis(start_ms) + Duration::from_nanos(gap_us * i * 1000);
                let rtt = Some(Duration::from_millis(rtt_ms));
                let event = AckEvent::of_new_data(now, 1000);
                hystart.on_ack(1000, &AckEvent { in_flight: 20_000, rtt, ..event }, 20)
            })
            .collect()
    }

    fn search(kind: HystartKind) -> Box<Hystart> {
        Hystart::new(kind).expect("it is not off")
    }

    /// Returns the index of the first ACK with this advice, counted from 1.
    fn first(advices: &[Advice], advice: Advice) -> Option<usize> {
        advices.iter().position(|a| *a == advice).map(|at| at + 1)
    }

    #[test]
    fn hystart_2011_s4_train_longer_than_half_of_the_minimum_rtt_ends_slow_start() {
        let mut hystart = search(HystartKind::Classic);
        // ACKs every 2 ms: the 12th ACK arrives 22 ms after the first one, which exceeds 40/2 ms.
        let advices = acks(&mut hystart, 100, 2000, 20, 40);
        let left = first(&advices, Advice::Leave).expect("it leaves");
        EXIT.equal("train of ACKs 2 ms apart, RTT 40 ms", "ACKs", left as f64, 12.0);
    }

    #[test]
    fn hystart_2011_s4_gap_above_2_ms_ends_the_train() {
        let mut hystart = search(HystartKind::Classic);
        assert_eq!(first(&acks(&mut hystart, 100, 2001, 20, 40), Advice::Leave), None);
    }

    #[test]
    fn hystart_2011_s4_delay_increase_by_an_eighth_ends_slow_start_after_eight_samples() {
        for (rtt, risen) in [(80, 91), (16, 21)] {
            let mut hystart = search(HystartKind::Classic);
            assert_eq!(first(&acks(&mut hystart, 100, 3000, 21, rtt), Advice::Leave), None);
            let advices = acks(&mut hystart, 200, 3000, 20, risen);
            let left = first(&advices, Advice::Leave).expect("it leaves");
            EXIT.equal(format!("RTT from {rtt} to {risen} ms"), "ACKs", left as f64, 9.0);
            let mut hystart = search(HystartKind::Classic);
            acks(&mut hystart, 100, 3000, 21, rtt);
            let advices = acks(&mut hystart, 200, 3000, 20, risen - 1);
            assert_eq!(first(&advices, Advice::Leave), None, "{rtt} to {} ms", risen - 1);
        }
    }

    #[test]
    fn small_window_is_ignored() {
        let mut hystart = search(HystartKind::Classic);
        let event = |now| AckEvent {
            in_flight: 100_000,
            rtt: Some(Duration::from_millis(4)),
            ..AckEvent::of_new_data(Time::from_millis(now), 1000)
        };
        for now in 100..130 {
            assert_eq!(hystart.on_ack(1000, &event(now), 15), Advice::Grow);
        }
    }

    /// The steps of RFC 9406 §4.2. The minimum RTT of the round is 10 ms (80/8) above the minimum
    /// RTT of the previous round. Therefore the eighth sample of the round makes slow start
    /// conservative.
    #[test]
    fn rfc9406_4_2_delay_increase_makes_slow_start_conservative() {
        let mut hystart = search(HystartKind::PlusPlus);
        assert_eq!(first(&acks(&mut hystart, 100, 0, 21, 80), Advice::GrowLess), None);
        let slowed = first(&acks(&mut hystart, 200, 0, 20, 90), Advice::GrowLess);
        let what = "HyStart++, RTT from 80 to 90 ms: conservative";
        EXIT.equal(what, "ACKs", slowed.expect("it slows down") as f64, 8.0);
        let mut hystart = search(HystartKind::PlusPlus);
        acks(&mut hystart, 100, 0, 21, 80);
        assert_eq!(first(&acks(&mut hystart, 200, 0, 20, 89), Advice::GrowLess), None);
    }

    #[test]
    fn rfc9406_4_3_threshold_is_between_4_and_16_ms() {
        for (rtt, rise) in [(8, 4), (32, 4), (64, 8), (128, 16), (400, 16)] {
            let threshold = rtt_threshold(Duration::from_millis(rtt), MAX_RTT_THRESH);
            let found = threshold.as_nanos() as f64 * 1e-6;
            THRESHOLD.equal(format!("at an RTT of {rtt} ms"), "ms", found, f64::from(rise as u32));
        }
    }

    #[test]
    fn rfc9406_4_2_slow_start_ends_after_five_rounds() {
        let mut hystart = search(HystartKind::PlusPlus);
        acks(&mut hystart, 100, 0, 21, 80);
        // In this test a round has 21 ACKs: one for each segment in flight at its start, and one
        // more.
        let advices: Vec<Advice> =
            (0..6).flat_map(|round| acks(&mut hystart, 200 + round, 0, 21, 90)).collect();
        // The partial round in which conservative slow start began is the first of the five rounds.
        assert_eq!(first(&advices, Advice::GrowLess), Some(8));
        let left = first(&advices, Advice::Leave).expect("it leaves");
        EXIT.equal("HyStart++, five rounds: the end", "ACKs", left as f64, 5.0 * 21.0 + 1.0);
    }

    #[test]
    fn rfc9406_4_2_lower_delay_resumes_slow_start() {
        let mut hystart = search(HystartKind::PlusPlus);
        acks(&mut hystart, 100, 0, 21, 80);
        acks(&mut hystart, 200, 0, 21, 90);
        let advices = acks(&mut hystart, 300, 0, 21, 89);
        assert_eq!(first(&advices, Advice::Grow), Some(8));
        assert_eq!(advices[20], Advice::Grow);
    }

    #[test]
    fn only_classic_hystart_continues_after_a_timeout() {
        assert!(search(HystartKind::Classic).continues_after_timeout());
        assert!(!search(HystartKind::PlusPlus).continues_after_timeout());
    }
}
