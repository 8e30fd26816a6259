//! Solves the fixed point with gentle RED for every combination of a link and a set of flows, in
//! several worker threads.

use airpath_aqm::{GredConfig, gred_drop_probability};
use airpath_model::{DropCurve, ModelError, MultiRegimeLink, Problem, Regime, Tcp};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A link: its thresholds, packets, and its regimes.
pub type Link = (Vec<f64>, Vec<Regime>);

/// A batch of problems: each link in `links` with each set of flows in `base_rtts_s`.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The links.
    pub links: Vec<Link>,
    /// Sets of flows, given by the base round-trip times of the flows, s.
    pub base_rtts_s: Vec<Vec<f64>>,
    /// Parameters of gentle RED.
    pub gred: GredConfig,
    /// TCP parameters of all flows.
    pub tcp: Tcp,
    /// L: size of a packet, bytes.
    pub packet_bytes: f64,
}

/// Shared state of the workers: index of the next link, and stop flag.
#[derive(Debug, Default)]
pub struct Progress {
    next: AtomicUsize,
    stop: AtomicBool,
}

impl Progress {
    /// Requests the workers to stop after their current problems.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Failure of a problem: its indices and the error.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("link {link}, flows {flows}: {error}")]
pub struct Failure {
    /// Index of the link, from 0.
    pub link: usize,
    /// Index of the set of flows, from 0.
    pub flows: usize,
    /// The error of the model.
    pub error: ModelError,
}

/// Solutions of a worker: pairs of the index of a link and T of each set of flows, bit/s.
pub type Solved = Vec<(usize, Vec<f64>)>;

impl Batch {
    /// Runs one worker: solves one link after another until no link is left or the worker is
    /// stopped.
    ///
    /// # Errors
    /// Fails at the first problem that cannot be solved.
    pub fn work(&self, progress: &Progress) -> Result<Solved, Failure> {
        let mut solved = Vec::new();
        while !progress.stop.load(Ordering::Relaxed) {
            let number = progress.next.fetch_add(1, Ordering::Relaxed);
            let Some(link) = self.links.get(number) else { break };
            solved.push((number, self.of_link(number, link, &progress.stop)?));
        }
        Ok(solved)
    }

    /// Computes T for each set of flows. Returns fewer values if the worker is stopped.
    fn of_link(
        &self,
        number: usize,
        (thresholds, regimes): &Link,
        stop: &AtomicBool,
    ) -> Result<Vec<f64>, Failure> {
        let of = |(flows, base_rtts_s): (usize, &Vec<f64>)| {
            let solve = || {
                let problem = Problem {
                    link: MultiRegimeLink::new(thresholds, regimes)?,
                    base_rtts_s,
                    drop: DropCurve {
                        probability: |x| gred_drop_probability(x, &self.gred),
                        x_max: 2.0 * self.gred.max_th,
                    },
                    tcp: self.tcp,
                    packet_bytes: self.packet_bytes,
                };
                problem.solve().map(|solution| solution.throughput_bps())
            };
            solve().map_err(|error| Failure { link: number, flows, error })
        };
        let wanted = |_: &(usize, _)| !stop.load(Ordering::Relaxed);
        self.base_rtts_s.iter().enumerate().take_while(wanted).map(of).collect()
    }
}

/// Merges the solutions of the workers: T of all problems, ordered by link, then by set of flows.
///
/// # Errors
/// Returns the first failure, if any.
pub fn in_order(parts: Vec<Result<Solved, Failure>>) -> Result<Vec<f64>, Failure> {
    let failures = parts.iter().filter_map(|part| part.as_ref().err());
    if let Some(first) = failures.min_by_key(|failure| (failure.link, failure.flows)) {
        return Err(*first);
    }
    let mut all = parts.into_iter().flatten().flatten().collect::<Vec<_>>();
    all.sort_unstable_by_key(|(number, _)| *number);
    Ok(all.into_iter().flat_map(|(_, throughputs)| throughputs).collect())
}
