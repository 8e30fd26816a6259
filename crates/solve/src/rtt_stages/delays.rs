//! Computes mean delays on a link with frames.
//!
//! All events on this link happen at fixed instants of a frame. The waiting time until such an
//! instant therefore depends on the phase at which the wait begins, and is not half a frame on
//! average. Times are in ns.

/// Probabilities below this value are neglected.
const LEAST: f64 = 1e-12;

/// Discrete distribution of a delay: pairs of a value, ns, and its probability. The probabilities
/// add up to 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Steps(Vec<(f64, f64)>);

/// A uniformly distributed delay, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Steps {
    /// Computes the delay by retransmissions at intervals of `gap`. Attempt n (from 1) fails with
    /// probability `fails(n)`. A packet that fails `attempts` times arrives `rescue` later, or is
    /// lost if `rescue` is `None`. Returns the delay of the packets that arrive, and the loss
    /// probability.
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

    /// Returns the delay by failed attempts if their number is unlimited. Each attempt fails with
    /// probability `fails`; each failure causes a delay of `timer`.
    pub(super) fn of_failures(fails: f64, timer: f64) -> Steps {
        Steps::until_received(|_| fails, u32::MAX, timer, None).0
    }

    pub(super) fn mean(&self) -> f64 {
        self.0.iter().map(|(value, weight)| value * weight).sum()
    }

    /// Returns the mean of a function of the delay.
    pub(super) fn mean_of(&self, value: impl Fn(f64) -> f64) -> f64 {
        self.0.iter().map(|(at, weight)| weight * value(*at)).sum()
    }

    /// Returns the sum of this delay and another, independent delay.
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

    /// Returns the mean waiting time from the end of this delay, which starts at `at`, until the
    /// next start of a frame.
    pub(super) fn wait(self, at: f64, frame: f64) -> f64 {
        let low = (at + self.low).rem_euclid(frame);
        let width = self.high - self.low;
        if width < 1.0 {
            return wait(low, frame);
        }
        // Integral of the waiting time from 0 to `until`: that of all complete frames, and that of
        // the last, incomplete frame.
        let waits = |until: f64| {
            let (whole, part) = ((until / frame).floor(), until.rem_euclid(frame));
            whole * frame * frame / 2.0 + part * (frame - part / 2.0)
        };
        (waits(low + width) - waits(low)) / width
    }
}

/// Returns the time from `at` until the next start of a frame; 0 if `at` is the start of a frame.
pub(super) fn wait(at: f64, frame: f64) -> f64 {
    (-at.round()).rem_euclid(frame)
}

/// Returns the time from `at` until the next instant at the phase `of` of a frame. If `at` has this
/// phase, the result is a complete frame, because an arrival at this instant is too late.
pub(super) fn wait_for(of: f64, at: f64, frame: f64) -> f64 {
    let wait = (of - at).round().rem_euclid(frame);
    if wait == 0.0 { frame } else { wait }
}

/// Moments of a random number of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frames {
    pub(super) mean: f64,
    pub(super) mean_square: f64,
}

impl Frames {
    /// Computes the moments of the number of frames from the start of frame 0 to the first frame
    /// that starts at or after `from` plus the delay. The number is at least `least`; then `more`
    /// is added.
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

    /// Returns the mean number of complete frames from a random frame until the next burst, in a
    /// sequence of intervals of this random length. Each interval ends with a burst, so the number
    /// is 0 in its last frame. If one burst cannot carry all ACKs of an interval, the interval ends
    /// with `bursts` bursts in consecutive frames.
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
    fn mean_delay_of_attempts_equals_the_closed_form() {
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
    fn wait_is_the_remaining_part_of_a_frame() {
        close(wait(0.0, 5.0), 0.0);
        close(wait(12.0, 5.0), 3.0);
        close(wait_for(3.0, 3.0, 5.0), 5.0);
        close(wait_for(3.0, 14.0, 5.0), 4.0);
        let span = |low, high| Span { low, high };
        close(span(7.0, 7.0).wait(1.0, 5.0), 2.0);
        close(span(25.0, 50.0).wait(3.0, 5.0), 2.5);
        // Frame of 5. For a delay from 1 to 3, the mean wait is 3. For a delay from 4 to 6, the
        // mean wait is 0.5 in the first half and 4.5 in the second half.
        close(span(1.0, 3.0).wait(0.0, 5.0), 3.0);
        close(span(4.0, 6.0).wait(0.0, 5.0), 2.5);
    }

    #[test]
    fn frames_have_mean_interval_and_mean_distance_to_a_burst() {
        let span = |low, high| Span { low, high };
        // Frames of 5, received at 5: the next frame starts immediately, and the burst is one frame
        // later.
        let two = Frames::until(5.0, span(0.0, 0.0), 5.0, 1.0, 1.0);
        assert_eq!(two, Frames { mean: 2.0, mean_square: 4.0 });
        close(two.left(1.0), 0.5);
        // The last three of seven frames have a burst.
        let seven = Frames { mean: 7.0, mean_square: 49.0 };
        close(seven.left(1.0), 3.0);
        close(seven.left(3.0), 10.0 / 7.0);
        close(seven.left(9.0), 0.0);
        // A request at the start of a frame is served in the next frame at the earliest.
        let one = Frames::until(0.0, span(0.0, 0.0), 5.0, 1.0, 0.0);
        close(one.mean, 1.0);
        let either = Frames::until(5.0, span(0.0, 10.0), 5.0, 1.0, 1.0);
        close(either.mean, 3.5);
        close(either.mean_square, 12.5);
    }
}
