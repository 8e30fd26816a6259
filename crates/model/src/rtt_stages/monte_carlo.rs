//! Simulates many random downloads.

use super::{Outcome, Problem};
use crate::error::{ModelError, require};
use airpath_core::Stream;

/// Windows with a cached power of 1 − p_e are multiples of 1/`FINE` packets.
const FINE: f64 = 64.0;

impl Problem {
    /// Simulates `samples` downloads (1 to 10⁹). The same `seed` gives the same result.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if a value is outside its range.
    pub fn monte_carlo(&self, samples: u64, seed: u64) -> Result<Outcome, ModelError> {
        self.validate()?;
        let accepted = "from 1 to 1000000000";
        require((1..=1_000_000_000).contains(&samples), "samples", samples as f64, accepted)?;
        let mut draws = Stream::new(seed, 0, "rtt-stages");
        let powers: Vec<f64> = (0..=(self.max_window_packets * FINE).min(1e6) as usize)
            .map(|place| self.arrives(place as f64 / FINE))
            .collect();
        let mut sums = Sums::default();
        for _ in 0..samples {
            sums.add(self, &self.draw(&powers, &mut draws));
        }
        Ok(sums.outcome(samples))
    }

    /// Simulates one download.
    fn draw(&self, powers: &[f64], draws: &mut Stream) -> Download {
        let (target, mut state) = (self.target(), self.first());
        let mut done = Download::default();
        loop {
            let passed = self.pass(&state);
            done.stages += 1;
            done.contentions += u64::from(state.contends);
            done.packets += state.window;
            done.time_s += passed.rtt_s;
            if done.packets > target {
                return done;
            }
            let place = state.window * FINE;
            let arrives = match powers.get(place as usize) {
                Some(power) if place.fract() == 0.0 => *power,
                _ => self.arrives(state.window),
            };
            if self.loss == 0.0 || draws.uniform() < arrives {
                state.window = self.grow(state.window, state.ssthresh);
            } else {
                state.ssthresh = self.ssthresh_after(state.window);
                state.window = self.halve(state.window);
            }
            (state.queue_s, state.contends) = (passed.queue_s, passed.was_idle());
        }
    }
}

/// Result of a download.
#[derive(Clone, Copy, Debug, Default)]
struct Download {
    stages: u64,
    contentions: u64,
    packets: f64,
    time_s: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    bits: f64,
    time_s: f64,
    ratios: f64,
    squares: f64,
    goodputs: f64,
    stages: u64,
    contentions: u64,
}

impl Sums {
    fn add(&mut self, problem: &Problem, done: &Download) {
        let bits = 8.0 * problem.mss_bytes * done.packets;
        let ratio = bits / done.time_s;
        self.bits += bits;
        self.time_s += done.time_s;
        self.ratios += ratio;
        self.squares += ratio * ratio;
        self.goodputs += 8.0 * problem.size_bytes / done.time_s;
        self.stages += done.stages;
        self.contentions += done.contentions;
    }

    fn outcome(&self, samples: u64) -> Outcome {
        let count = samples as f64;
        let mean = self.ratios / count;
        let variance = (self.squares / count - mean * mean).max(0.0);
        Outcome {
            throughput_bps: mean,
            ratio_of_sums_bps: self.bits / self.time_s,
            goodput_bps: self.goodputs / count,
            stages: self.stages as f64 / count,
            contention_share: self.contentions as f64 / self.stages as f64,
            error_bps: (variance / count).sqrt(),
        }
    }
}
