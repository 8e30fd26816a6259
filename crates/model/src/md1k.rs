//! M/D/1/K: Poisson arrivals of equal packets at a link with a finite queue.
//!
//! Source: Gross & Harris, Fundamentals of Queueing Theory, §5.1.8 (M/G/1/K), for a constant
//! service time. The number of packets in the system just after a departure is a Markov chain. Let
//! q be its unnormalised distribution, a₀ the probability of no arrival in a service time, and Ā(j)
//! the probability of more than j arrivals. Then
//!
//! ```text
//! a₀ q(j + 1) = q(0) Ā(j) + Σ q(i) Ā(j − i + 1), i = 1 … j
//! ```
//!
//! because the chain moves down from j + 1 to j as often as it moves up from j or below to above j.
//! All terms are positive, so there is no cancellation. The unit of time is the service time, and
//! the number of waiting packets excludes the packet in service.

use crate::error::{ModelError, require};

/// Maximum load. For larger loads, e^−load is too small as a divisor.
pub const LARGEST_LOAD: f64 = 100.0;
/// Maximum queue capacity, packets.
pub const LARGEST_QUEUE: u64 = 1_000_000;
/// Number of arrivals in a service time up to which probabilities are computed. At a load of 100, a
/// larger number has a probability below 10⁻¹⁸⁰.
const MOST_ARRIVALS: usize = 512;
/// Probabilities below this value are neglected.
const NEGLIGIBLE: f64 = 1e-40;
/// Value above which the unnormalised distribution is scaled down.
const LARGE: f64 = 1e100;

/// The M/D/1/K queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Md1k {
    /// ρ: mean number of arrivals in a service time, above 0, at most [`LARGEST_LOAD`].
    pub load: f64,
    /// K − 1: maximum number of waiting packets, at most [`LARGEST_QUEUE`].
    pub capacity: u64,
}

/// Steady state of the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Probability that an arrival finds the queue full, in [0, 1]; 0 if it is below 10⁻³⁰.
    pub loss: f64,
    /// Time average of the number of waiting packets.
    pub waiting: f64,
    /// Mean waiting time of an admitted packet, service times.
    pub wait: f64,
    /// Share of time in which the link is busy, in [0, 1].
    pub busy: f64,
}

impl Md1k {
    /// Computes the steady state.
    ///
    /// # Errors
    /// Fails if the load or the capacity is outside its range.
    pub fn steady(&self) -> Result<Steady, ModelError> {
        let Md1k { load, capacity } = *self;
        require(load > 0.0 && load <= LARGEST_LOAD, "load", load, "above 0 and at most 100")?;
        require(capacity <= LARGEST_QUEUE, "capacity", capacity as f64, "at most 1000000 packets")?;
        let arrivals = Arrivals::new(load);
        let (states, mut left) = (capacity as usize + 1, DepartureStates::new());
        while left.states < states && !left.is_negligible(load) {
            left.push(&arrivals);
        }
        let lost = if left.states < states { 0.0 } else { left.lost_per_service(&arrivals) };
        let loss = lost / (1.0 + lost);
        // Probabilities at a random time: K packets with the loss probability; j < K packets with
        // the probability of j packets after a departure, times 1 − loss.
        let waiting = (1.0 - loss) * left.waiting / left.total + capacity as f64 * loss;
        Ok(Steady {
            loss,
            waiting,
            wait: waiting / (load * (1.0 - loss)),
            busy: load * (1.0 - loss),
        })
    }
}

/// Distribution of the number of arrivals in a service time.
struct Arrivals {
    /// a₀: probability of no arrival.
    none: f64,
    /// Ā(j): probability of more than j arrivals.
    above: [f64; MOST_ARRIVALS],
    /// Index from which Ā is negligible.
    end: usize,
}

impl Arrivals {
    fn new(load: f64) -> Arrivals {
        let mut above = [0.0; MOST_ARRIVALS];
        let mut exactly = (-load).exp();
        let none = exactly;
        for (j, place) in above.iter_mut().enumerate() {
            exactly *= load / (j + 1) as f64;
            *place = exactly;
        }
        // Small terms are added first.
        for j in (0..MOST_ARRIVALS - 1).rev() {
            above[j] += above[j + 1];
        }
        let end = above.iter().position(|p| *p < NEGLIGIBLE).unwrap_or(MOST_ARRIVALS);
        Arrivals { none, above, end }
    }

    /// Returns the mean number of arrivals above `capacity`.
    fn beyond(&self, capacity: usize) -> f64 {
        self.above.iter().skip(capacity).rev().sum()
    }
}

/// The distribution q of the number of packets in the system just after a departure: sums over the
/// states so far, and q of the most recent states.
struct DepartureStates {
    /// q(0).
    first: f64,
    /// q(j) at index j mod [`MOST_ARRIVALS`].
    recent: [f64; MOST_ARRIVALS],
    /// Number of states so far.
    states: usize,
    /// Σ q(j).
    total: f64,
    /// Σ (j − 1) q(j) over j above 0.
    waiting: f64,
}

impl DepartureStates {
    fn new() -> DepartureStates {
        let mut recent = [0.0; MOST_ARRIVALS];
        recent[0] = 1.0;
        DepartureStates { first: 1.0, recent, states: 1, total: 1.0, waiting: 0.0 }
    }

    fn q(&self, state: usize) -> f64 {
        self.recent[state % MOST_ARRIVALS]
    }

    /// Returns true if the sum of all further states is negligible.
    fn is_negligible(&self, load: f64) -> bool {
        load < 1.0 && self.q(self.states - 1) < NEGLIGIBLE * self.total * (1.0 - load)
    }

    fn push(&mut self, arrivals: &Arrivals) {
        let last = self.states - 1;
        // A transition from state i above `last` needs more than last − i + 1 arrivals; smaller i
        // are negligible.
        let from = (last + 2).saturating_sub(arrivals.end).max(1);
        let from_empty = if last < arrivals.end { self.first * arrivals.above[last] } else { 0.0 };
        let crossing = (from..=last).map(|i| self.q(i) * arrivals.above[last - i + 1]).sum::<f64>();
        let next = (from_empty + crossing) / arrivals.none;
        self.recent[self.states % MOST_ARRIVALS] = next;
        self.total += next;
        self.waiting += (self.states - 1) as f64 * next;
        self.states += 1;
        if next > LARGE {
            self.scale(1.0 / next);
        }
    }

    fn scale(&mut self, by: f64) {
        self.recent.iter_mut().for_each(|q| *q *= by);
        self.first *= by;
        self.total *= by;
        self.waiting *= by;
    }

    /// Returns the mean number of packets that are lost in a service time.
    fn lost_per_service(&self, arrivals: &Arrivals) -> f64 {
        let capacity = self.states - 1;
        let from = (self.states + 1).saturating_sub(arrivals.end).max(1);
        let from_empty =
            if capacity < arrivals.end { self.first * arrivals.beyond(capacity) } else { 0.0 };
        let lost =
            (from..self.states).map(|i| self.q(i) * arrivals.beyond(self.states - i)).sum::<f64>();
        (from_empty + lost) / self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(load: f64, capacity: u64) -> Steady {
        Md1k { load, capacity }.steady().expect("load and capacity are in range")
    }

    fn close(found: f64, expected: f64, relative: f64) {
        let within = (found - expected).abs() <= relative * expected.abs();
        assert!(within, "{found} for {expected}");
    }

    #[test]
    fn without_a_queue_loss_equals_erlangs_formula() {
        for load in [1e-6, 0.3, 1.0, 7.0, 100.0] {
            let found = steady(load, 0);
            close(found.loss, load / (1.0 + load), 1e-12);
            assert_eq!((found.waiting, found.wait), (0.0, 0.0));
        }
    }

    #[test]
    fn with_capacity_one_loss_equals_that_of_a_two_state_chain() {
        for load in [0.01, 0.5, 1.0, 3.0, 30.0] {
            // The system is empty after a departure with the probability of no arrival in a service
            // time.
            close(steady(load, 1).loss, 1.0 - 1.0 / ((-load).exp() + load), 1e-10);
        }
    }

    #[test]
    fn with_large_capacity_wait_equals_pollaczek_khinchine() {
        for load in [1e-9, 0.1, 0.5, 0.8, 0.95, 0.99] {
            let found = steady(load, LARGEST_QUEUE);
            close(found.waiting, load * load / (2.0 * (1.0 - load)), 1e-9);
            close(found.wait, load / (2.0 * (1.0 - load)), 1e-9);
            assert_eq!((found.loss, found.busy), (0.0, load));
        }
    }

    #[test]
    fn under_overload_the_link_is_busy_and_the_queue_is_full() {
        for load in [1.5, 10.0, 100.0] {
            let found = steady(load, 1000);
            close(found.busy, 1.0, 1e-12);
            close(found.loss, 1.0 - 1.0 / load, 1e-12);
            assert!(found.waiting > 997.0 && found.waiting < 1000.0, "{found:?}");
        }
        // At a load of 1 all queue lengths are about equally likely.
        close(steady(1.0, LARGEST_QUEUE).waiting, 5e5, 1e-3);
    }

    /// Iterates the transition matrix of the chain. Returns the loss and the number of waiting
    /// packets.
    fn iterated(load: f64, capacity: usize) -> (f64, f64) {
        let states = capacity + 1;
        let exactly =
            |j: usize| (1..=j).fold((-load).exp(), |product, i| product * load / i as f64);
        let mut pi = vec![1.0 / states as f64; states];
        for _ in 0..20_000 {
            let mut next = vec![0.0; states];
            for (i, p) in pi.iter().enumerate() {
                let least = i.saturating_sub(1);
                let mut rest = 1.0;
                for (j, place) in next.iter_mut().enumerate().take(capacity).skip(least) {
                    *place += p * exactly(j - least);
                    rest -= exactly(j - least);
                }
                next[capacity] += p * rest;
            }
            pi = next;
        }
        let loss = 1.0 - 1.0 / (pi[0] + load);
        let waiting: f64 = (1..states).map(|j| (j - 1) as f64 * pi[j]).sum();
        (loss, waiting * (1.0 - loss) + capacity as f64 * loss)
    }

    #[test]
    fn recursion_equals_the_stationary_distribution_of_the_transition_matrix() {
        for (load, capacity) in [(0.2, 2), (0.7, 5), (0.9, 12), (1.0, 8), (1.3, 6), (4.0, 3)] {
            let ((loss, waiting), found) =
                (iterated(load, capacity as usize), steady(load, capacity));
            close(found.loss, loss, 1e-7);
            close(found.waiting, waiting, 1e-9);
        }
    }

    #[test]
    fn values_outside_the_range_are_rejected() {
        for load in [0.0, -1.0, 100.5, f64::NAN] {
            assert!(Md1k { load, capacity: 1 }.steady().is_err(), "{load}");
        }
        assert!(Md1k { load: 0.5, capacity: LARGEST_QUEUE + 1 }.steady().is_err());
    }
}
