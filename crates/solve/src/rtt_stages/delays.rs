//! Mean delays in frames.
//!
//! Everything on this link happens at instants of frames, so that a wait is not half a frame on the mean but
//! what is left of a frame at a known phase. Times are ns; what is known to the nanosecond stays so.

/// Probabilities below this are forgotten.
const LEAST: f64 = 1e-12;

/// A delay that takes one of several values, ns, each with its probability; these add up to 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Steps(Vec<(f64, f64)>);

/// A delay that is drawn uniformly, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Steps {
    /// Attempts that are `gap` apart until one does not fail, decided by `fails` for attempt n,
    /// from 1; after `attempts` of them it arrives `rescue` later, or never. Returns the delay of
    /// what arrives and the probability that it does not.
    pub(super) fn until_received(
        fails: impl Fn(u32) -> f64,
        attempts: u32,
        gap: f64,
        rescue: Option<f64>,
    ) -> (Steps, f64) {
        let (mut found, mut open) = (Vec::new(), 1.0);
        for made in 1..=attempts {
            let at = f64::from(made - 1) * gap;
            let failing = fails(made);
            found.push((at, open * (1.0 - failing)));
            open *= failing;
            if made == attempts
                && let Some(rescue) = rescue
            {
                found.push((at + rescue, open));
                open = 0.0;
            }
            if open < LEAST {
                break;
            }
        }
        let received: f64 = found.iter().map(|(_, weight)| weight).sum();
        found.iter_mut().for_each(|(_, weight)| *weight /= received);
        (Steps(found), open)
    }

    /// A timer for each failure of probability `fails`, however many.
    pub(super) fn of_failures(fails: f64, timer: f64) -> Steps {
        Steps::until_received(|_| fails, u32::MAX, timer, None).0
    }

    pub(super) fn mean(&self) -> f64 {
        self.0.iter().map(|(value, weight)| value * weight).sum()
    }

    /// The mean of a function of it.
    pub(super) fn mean_of(&self, value: impl Fn(f64) -> f64) -> f64 {
        self.0.iter().map(|(at, weight)| weight * value(*at)).sum()
    }

    /// This one and another, independent one.
    pub(super) fn and(&self, other: &Steps) -> Steps {
        let pairs = self
            .0
            .iter()
            .flat_map(|(one, p)| other.0.iter().map(move |(two, q)| (one + two, p * q)));
        Steps(pairs.filter(|(_, weight)| *weight >= LEAST).collect())
    }
}

impl Span {
    pub(super) fn of(low_ns: u64, high_ns: u64) -> Span {
        Span { low: low_ns as f64, high: high_ns as f64 }
    }

    pub(super) fn mean(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    /// The mean wait for the next start of a frame, when it ends so long after `at`.
    pub(super) fn wait(self, at: f64, frame: f64) -> f64 {
        let low = (at + self.low).rem_euclid(frame);
        let width = self.high - self.low;
        if width < 1.0 {
            return wait(low, frame);
        }
        // The integral of the waits from 0 on: whole frames, and a part of one.
        let waits = |until: f64| {
            let (whole, part) = ((until / frame).floor(), until.rem_euclid(frame));
            whole * frame * frame / 2.0 + part * (frame - part / 2.0)
        };
        (waits(low + width) - waits(low)) / width
    }
}

/// From `at` until the next start of a frame; at one, nothing.
pub(super) fn wait(at: f64, frame: f64) -> f64 {
    (-at.round()).rem_euclid(frame)
}

/// From `at` until the instant `of` a frame; at it, a whole frame: what comes then has missed it.
pub(super) fn wait_for(of: f64, at: f64, frame: f64) -> f64 {
    let wait = (of - at).round().rem_euclid(frame);
    if wait == 0.0 { frame } else { wait }
}

/// A number of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frames {
    pub(super) mean: f64,
    pub(super) mean_square: f64,
}

impl Frames {
    /// The frames from one to the first whose start is not before `from` plus the delay, at least
    /// `least`, and `more` later.
    pub(super) fn until(from: f64, delay: Span, frame: f64, least: f64, more: f64) -> Frames {
        let (low, high) = (from + delay.low, from + delay.high);
        let width = high - low;
        let (first, last) = ((low / frame).ceil(), (high / frame).ceil());
        let (mut mean, mut mean_square) = (0.0, 0.0);
        let mut number = first;
        while number <= last {
            let weight = if width < 1.0 {
                1.0
            } else {
                ((number * frame).min(high) - ((number - 1.0) * frame).max(low)) / width
            };
            let frames = number.max(least) + more;
            mean += weight * frames;
            mean_square += weight * frames * frames;
            number += 1.0;
            if width < 1.0 {
                break;
            }
        }
        Frames { mean, mean_square }
    }

    /// Whole frames, on the mean, from one of a row of such numbers to the next burst: 0 in the last before it.
    /// A burst is in the last frame of each number; where one does not hold what comes in a row, `bursts` are,
    /// in frames that follow one another.
    pub(super) fn left(self, bursts: f64) -> f64 {
        let bursts = bursts.min(self.mean);
        if bursts > 1.0 {
            let gap = self.mean - bursts + 1.0;
            return gap * (gap - 1.0) / (2.0 * self.mean);
        }
        (self.mean_square - self.mean) / (2.0 * self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} {expected}");
    }

    /// wimax-mac §4: 30 (p + p² + p³) + 100 p⁴ ms.
    #[test]
    fn the_mean_of_attempts_is_the_closed_form() {
        let p: f64 = 0.316;
        let (delay, lost) = Steps::until_received(|_| p, 4, 30.0, Some(100.0));
        close(delay.mean(), 30.0 * (p + p * p + p.powi(3)) + 100.0 * p.powi(4));
        close(lost, 0.0);
        let (_, lost) = Steps::until_received(|_| p, 4, 30.0, None);
        close(lost, p.powi(4));
        close(Steps::of_failures(0.01, 100.0).mean(), 100.0 * 0.01 / 0.99);
        let two = [3.0, 4.0].map(|value| Steps(vec![(value, 1.0)]));
        close(two[0].and(&two[1]).mean(), 7.0);
    }

    #[test]
    fn waits_are_what_is_left_of_a_frame() {
        close(wait(0.0, 5.0), 0.0);
        close(wait(12.0, 5.0), 3.0);
        close(wait_for(3.0, 3.0, 5.0), 5.0);
        close(wait_for(3.0, 14.0, 5.0), 4.0);
        let span = |low, high| Span { low, high };
        close(span(7.0, 7.0).wait(1.0, 5.0), 2.0);
        close(span(25.0, 50.0).wait(3.0, 5.0), 2.5);
        // From 1 to 3 of 5: 3 on the mean. From 4 to 6: half of it 0.5, half of it 4.5.
        close(span(1.0, 3.0).wait(0.0, 5.0), 3.0);
        close(span(4.0, 6.0).wait(0.0, 5.0), 2.5);
    }

    #[test]
    fn rows_of_frames() {
        let span = |low, high| Span { low, high };
        // Received at 5 of frames of 5: the next one, and the burst a frame later.
        let two = Frames::until(5.0, span(0.0, 0.0), 5.0, 1.0, 1.0);
        assert_eq!(two, Frames { mean: 2.0, mean_square: 4.0 });
        close(two.left(1.0), 0.5);
        // Of seven frames the last three have a burst.
        let seven = Frames { mean: 7.0, mean_square: 49.0 };
        close(seven.left(1.0), 3.0);
        close(seven.left(3.0), 10.0 / 7.0);
        close(seven.left(9.0), 0.0);
        // At once in the same instant: not before the next frame.
        let one = Frames::until(0.0, span(0.0, 0.0), 5.0, 1.0, 0.0);
        close(one.mean, 1.0);
        let either = Frames::until(5.0, span(0.0, 10.0), 5.0, 1.0, 1.0);
        close(either.mean, 3.5);
        close(either.mean_square, 12.5);
    }
}
