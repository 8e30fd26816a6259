//! Velocity parameter v of Copa.

/// RTTs of equal direction before v doubles.
const EQUAL_ROUNDS: u32 = 3;

/// Velocity and direction of the window. A round ends with the ACK for data sent after its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Velocity {
    /// v, at least 1.
    value: f64,
    /// True if the window grew in the last round.
    is_up: bool,
    /// Number of rounds with the direction of the last round.
    rounds: u32,
    /// Window at the start of the round, segments.
    before: f64,
    /// End of the data sent before the round, a stream offset.
    pub(super) end: u64,
}

impl Default for Velocity {
    fn default() -> Velocity {
        Velocity { value: 1.0, is_up: true, rounds: 0, before: 0.0, end: 0 }
    }
}

impl Velocity {
    /// Resets v and starts a round with the window `cwnd`, at the end of the sent data, `sent`.
    pub(super) fn start(&mut self, cwnd: f64, sent: u64) {
        *self = Velocity { before: cwnd, end: sent, ..Velocity::default() };
    }

    /// Ends a round with the window `cwnd`: v doubles after three rounds of equal direction, and is
    /// 1 after a change of the direction.
    pub(super) fn finish_round(&mut self, cwnd: f64, sent: u64) {
        let is_up = cwnd > self.before;
        if is_up == self.is_up {
            self.rounds = self.rounds.saturating_add(1);
            if self.rounds >= EQUAL_ROUNDS {
                self.value *= 2.0;
            }
        } else {
            (self.value, self.is_up, self.rounds) = (1.0, is_up, 1);
        }
        (self.before, self.end) = (cwnd, sent);
    }

    /// Resets v if the window is to move against the direction of the last rounds, so that a large v
    /// does not apply to the other direction.
    pub(super) fn turn(&mut self, is_up: bool) {
        if is_up != self.is_up && self.value > 1.0 {
            (self.value, self.is_up, self.rounds) = (1.0, is_up, 0);
        }
    }

    /// Returns v after it is limited to W δ, at which the window doubles in an RTT.
    pub(super) fn limited(&mut self, cwnd: f64, delta: f64) -> f64 {
        if self.value > cwnd * delta {
            self.value /= 2.0;
        }
        self.value = self.value.max(1.0);
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// v = 1 for two rounds of equal direction, then 2, 4, 8; 1 after the direction has changed.
    #[test]
    fn copa_2018_velocity_doubles_after_three_rounds_of_equal_direction() {
        let mut velocity = Velocity::default();
        velocity.start(100.0, 0);
        let windows = [101.0, 102.0, 103.0, 105.0, 109.0, 108.0, 107.0, 106.0];
        let values = windows.map(|window| {
            velocity.finish_round(window, 0);
            velocity.limited(1e9, 0.5)
        });
        assert_eq!(values, [1.0, 1.0, 2.0, 4.0, 8.0, 1.0, 1.0, 2.0]);
    }

    /// W = 10, δ = 1/2: v is at most 5.
    #[test]
    fn velocity_doubles_the_window_per_rtt_at_most() {
        let mut velocity = Velocity { value: 8.0, ..Velocity::default() };
        assert_eq!([velocity.limited(10.0, 0.5), velocity.limited(10.0, 0.5)], [4.0, 4.0]);
        assert_eq!(velocity.limited(1.0, 0.5), 2.0);
    }
}
