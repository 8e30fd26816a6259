//! Many fixed points behind gentle RED: every link with every set of flows, by several workers.

use airpath_aqm::{GredConfig, gred_drop_probability};
use airpath_model::{DropCurve, ModelError, MultiRegimeLink, Problem, Regime, Tcp};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A link: its thresholds, packets, and its regimes.
pub type Link = (Vec<f64>, Vec<Regime>);

/// The problems: each of `links` with each of `base_rtts_s`.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The links.
    pub links: Vec<Link>,
    /// Sets of flows: their base round-trip times, s.
    pub base_rtts_s: Vec<Vec<f64>>,
    /// The queue.
    pub gred: GredConfig,
    /// The flows' options.
    pub tcp: Tcp,
    /// L, bytes.
    pub packet_bytes: f64,
}

/// Shared state of workers: the next link, and whether to stop.
#[derive(Debug, Default)]
pub struct Progress {
    next: AtomicUsize,
    stop: AtomicBool,
}

impl Progress {
    /// Ends the work after the problems that are being solved.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Which problem could not be solved, and why.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("link {link}, flows {flows}: {error}")]
pub struct Failure {
    /// Number of the link.
    pub link: usize,
    /// Number of the set of flows.
    pub flows: usize,
    /// The error of the model.
    pub error: ModelError,
}

/// Solutions of a worker: (link, T of each set of flows, bit/s).
pub type Solved = Vec<(usize, Vec<f64>)>;

impl Batch {
    /// The work of one worker: takes link after link until there is none, or until it is stopped.
    ///
    /// # Errors
    /// At the first problem that cannot be solved.
    pub fn work(&self, progress: &Progress) -> Result<Solved, Failure> {
        let mut solved = Vec::new();
        while !progress.stop.load(Ordering::Relaxed) {
            let number = progress.next.fetch_add(1, Ordering::Relaxed);
            let Some(link) = self.links.get(number) else { break };
            solved.push((number, self.of_link(number, link, &progress.stop)?));
        }
        Ok(solved)
    }

    /// T of each set of flows, or of the first ones when it is stopped.
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

/// T of all problems from what the workers solved, first the first link with all sets of flows.
///
/// # Errors
/// The first failure if there is one.
pub fn in_order(parts: Vec<Result<Solved, Failure>>) -> Result<Vec<f64>, Failure> {
    let failures = parts.iter().filter_map(|part| part.as_ref().err());
    if let Some(first) = failures.min_by_key(|failure| (failure.link, failure.flows)) {
        return Err(*first);
    }
    let mut all = parts.into_iter().flatten().flatten().collect::<Vec<_>>();
    all.sort_unstable_by_key(|(number, _)| *number);
    Ok(all.into_iter().flat_map(|(_, throughputs)| throughputs).collect())
}
