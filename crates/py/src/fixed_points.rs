//! Many fixed points in one call: every link with every set of flows, on several threads.

use crate::trace::doubles;
use airpath_aqm::{GredConfig, gred_drop_probability};
use airpath_model::{DropCurve, ModelError, MultiRegimeLink, Problem, Regime, Tcp};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

/// Thresholds, packets, and (rate, bit/s; packet error rate) of each regime.
type Link = (Vec<f64>, Vec<(f64, f64)>);

/// What all problems have in common.
struct Shared {
    links: Vec<Link>,
    base_rtts_s: Vec<Vec<f64>>,
    gred: GredConfig,
    tcp: Tcp,
    packet_bytes: f64,
}

/// (link, T of each set of flows) of the links that a worker took.
type Solved = Vec<(usize, Vec<f64>)>;

/// Which problem could not be solved, and why: number of the link, of the flows.
type Failure = ((usize, usize), ModelError);

/// T of each of `links` with each of `base_rtts_s` behind gentle RED, bit/s as little-endian
/// doubles: first the first link with all sets of flows.
///
/// A link is its thresholds and the (rate, packet error rate) of each regime; `gred` is min_th,
/// max_th and max_p, `tcp` the largest window in packets, the timeout in s and the packets
/// acknowledged by one ACK. Without the interpreter lock; signals are looked at ten times a second.
#[pyfunction]
pub(crate) fn fixed_points<'py>(
    py: Python<'py>,
    links: Vec<Link>,
    base_rtts_s: Vec<Vec<f64>>,
    gred: (f64, f64, f64),
    tcp: (f64, f64, f64),
    packet_bytes: f64,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let shared = Shared {
        links,
        base_rtts_s,
        gred: GredConfig { min_th: gred.0, max_th: gred.1, max_p: gred.2, ecn: false },
        tcp: Tcp { max_window_packets: tcp.0, timeout_s: tcp.1, packets_per_ack: tcp.2 },
        packet_bytes,
    };
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let solved = std::thread::scope(|scope| {
        let work = || shared.solve_until_stopped(&next, &stop);
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let looked = workers.iter().try_for_each(|worker| look_until_done(py, worker));
        stop.store(looked.is_err(), Ordering::Relaxed);
        let parts = workers.into_iter().map(|w| w.join().expect("workers return their failures"));
        let parts: Vec<_> = py.detach(|| parts.collect());
        looked.map(|()| parts)
    })?;
    shared.in_order(solved).and_then(|throughputs| doubles(py, throughputs.into_iter()))
}

/// Waits for a worker, and passes on what a signal raises.
fn look_until_done<T: Send>(py: Python<'_>, worker: &ScopedJoinHandle<'_, T>) -> PyResult<()> {
    while !worker.is_finished() {
        py.detach(|| crate::simulate::wait(worker));
        py.check_signals()?;
    }
    Ok(())
}

impl Shared {
    /// Takes link after link until there is none, or until `stop`: (link, T of each set of flows).
    fn solve_until_stopped(
        &self,
        next: &AtomicUsize,
        stop: &AtomicBool,
    ) -> Result<Solved, Failure> {
        let mut solved = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(link) = self.links.get(number) else { break };
            solved.push((number, self.of_link(number, link, stop)?));
        }
        Ok(solved)
    }

    /// T of each set of flows, or of the first ones when it is told to stop.
    fn of_link(
        &self,
        number: usize,
        (thresholds, regimes): &Link,
        stop: &AtomicBool,
    ) -> Result<Vec<f64>, Failure> {
        let regimes: Vec<_> =
            regimes.iter().map(|&(rate_bps, per)| Regime { rate_bps, per }).collect();
        let of = |(flows, base_rtts_s): (usize, &Vec<f64>)| {
            let solve = || {
                let problem = Problem {
                    link: MultiRegimeLink::new(thresholds, &regimes)?,
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
            solve().map_err(|error| ((number, flows), error))
        };
        let wanted = |_: &(usize, _)| !stop.load(Ordering::Relaxed);
        self.base_rtts_s.iter().enumerate().take_while(wanted).map(of).collect()
    }

    /// All throughputs in the order of links and flows; the first failure if there is one.
    fn in_order(&self, parts: Vec<Result<Solved, Failure>>) -> PyResult<Vec<f64>> {
        let failures = parts.iter().filter_map(|part| part.as_ref().err());
        if let Some(&((link, flows), error)) = failures.min_by_key(|(place, _)| *place) {
            return Err(PyValueError::new_err(format!("link {link}, flows {flows}: {error}")));
        }
        let mut all = parts.into_iter().flatten().flatten().collect::<Vec<_>>();
        all.sort_unstable_by_key(|(number, _)| *number);
        Ok(all.into_iter().flat_map(|(_, throughputs)| throughputs).collect())
    }
}
