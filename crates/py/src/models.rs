//! Python functions that evaluate analytic models for given model parameters.

use airpath_model::rtt_stages::{Outcome, Problem, Queue, Ssthresh};
use airpath_model::square_root_bps;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Solves a download in round-trip stages. Returns throughput, ratio of sums and goodput (each in
/// bit/s), number of stages, share of stages with contention, and the error in bit/s.
///
/// `given` contains size and MSS in bytes, rate in bit/s, base RTT, T_ct and T_pb in s, loss, b,
/// initial W_th and W_max in packets. If `samples` is given, the Monte Carlo method with `seed` is
/// used; otherwise the grid method with `step`.
#[pyfunction]
pub(crate) fn rtt_stages(
    py: Python<'_>,
    given: [f64; 10],
    is_updated: bool,
    is_draining: bool,
    step: f64,
    samples: Option<u64>,
    seed: u64,
) -> PyResult<(f64, f64, f64, f64, f64, f64)> {
    let [
        size_bytes,
        mss_bytes,
        rate_bps,
        base_rtt_s,
        contention_s,
        piggyback_s,
        loss,
        packets_per_ack,
        initial_ssthresh_packets,
        max_window_packets,
    ] = given;
    let problem = Problem {
        size_bytes,
        mss_bytes,
        rate_bps,
        base_rtt_s,
        contention_s,
        piggyback_s,
        loss,
        packets_per_ack,
        initial_ssthresh_packets,
        max_window_packets,
        ssthresh: if is_updated { Ssthresh::Updated } else { Ssthresh::Constant },
        queue: if is_draining { Queue::Draining } else { Queue::Literal },
    };
    let solved = py.detach(|| match samples {
        Some(samples) => problem.monte_carlo(samples, seed),
        None => problem.grid(step),
    });
    let found: Outcome = solved.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((
        found.throughput_bps,
        found.ratio_of_sums_bps,
        found.goodput_bps,
        found.stages,
        found.contention_share,
        found.error_bps,
    ))
}

/// Returns the throughput according to the square-root formula with a window limit, bit/s.
#[pyfunction]
pub(crate) fn square_root(
    mss_bytes: f64,
    rtt_s: f64,
    loss: f64,
    max_window_packets: f64,
    packets_per_ack: f64,
) -> PyResult<f64> {
    square_root_bps(mss_bytes, rtt_s, loss, max_window_packets, packets_per_ack)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
