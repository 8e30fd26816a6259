//! Python functions that solve scenarios with analytic models.

use crate::adaptation::{self, TableTexts};
use crate::errors;
use crate::trace::doubles;
use airpath_aqm::GredConfig;
use airpath_link::Files;
use airpath_model::{Regime, Tcp};
use airpath_path::Scenario;
use airpath_solve::clamp_fluid;
use airpath_solve::fixed_point::batch::{Batch, Progress, in_order};
use airpath_solve::fixed_point::{self, optimum};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::thread::ScopedJoinHandle;

/// A link: thresholds, packets, and (rate in bit/s, packet error rate) of each regime.
type Link = (Vec<f64>, Vec<(f64, f64)>);

/// Solves a resolved scenario with `model` or, if `model` is not given, with the model that covers
/// the scenario. Returns the steady state as JSON.
///
/// If `trajectory_s` is given, CLAMP's fluid model is integrated up to this time. If
/// `max_window_packets` is given, the fixed-point model uses this value as W_max. Raises
/// `ValueError` if no model covers the scenario, with one line per reason.
#[pyfunction]
#[pyo3(signature = (scenario_json, tables=None, model=None, trajectory_s=None, max_window_packets=None))]
pub(crate) fn solve(
    scenario_json: &str,
    tables: Option<TableTexts>,
    model: Option<&str>,
    trajectory_s: Option<f64>,
    max_window_packets: Option<f64>,
) -> PyResult<String> {
    let scenario = Scenario::from_json(scenario_json).map_err(errors::config)?;
    let files = files(tables)?;
    let solution = match (trajectory_s, max_window_packets) {
        (Some(until_s), _) => clamp_fluid::solve_with_trajectory(&scenario, &files, until_s),
        (None, Some(packets)) => fixed_point::solve_with_window(&scenario, &files, packets),
        (None, None) => airpath_solve::solve(&scenario, &files, model),
    };
    solution.map(|found| found.to_string()).map_err(errors::unsolved)
}

/// Finds the MCS pair of the dual-regime link for which the fixed-point model predicts the largest
/// throughput. The bottleneck of the resolved scenario must have the policy `{"kind": "optimum",
/// "threshold": …}`. Returns the names of both MCSs and the throughput in bit/s. Raises
/// `ValueError` if the model does not cover the scenario.
#[pyfunction]
#[pyo3(signature = (scenario_json, tables=None))]
pub(crate) fn optimum_pair(
    scenario_json: &str,
    tables: Option<TableTexts>,
) -> PyResult<(String, String, f64)> {
    let scenario = Scenario::from_json(scenario_json).map_err(errors::config)?;
    let pair = optimum::optimum_pair(&scenario, &files(tables)?).map_err(errors::unsolved)?;
    Ok((pair.below, pair.above, pair.throughput_bps))
}

fn files(tables: Option<TableTexts>) -> PyResult<Files> {
    Ok(Files { tables: adaptation::tables(tables)?, ..Files::default() })
}

/// Computes the throughput T of the fixed-point model with gentle RED, for each combination of an
/// entry of `links` and an entry of `base_rtts_s`. Returns T in bit/s as little-endian doubles,
/// ordered by link, then by set of flows.
///
/// A link contains its thresholds and the (rate, packet error rate) of each regime. `gred` contains
/// min_th, max_th and max_p; `tcp` contains the maximum window in packets, the timeout in s and the
/// packets per ACK. Runs without the interpreter lock; signals are checked ten times per second.
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
    let regime = |(rate_bps, per)| Regime { rate_bps, per };
    let links = links.into_iter().map(|(thresholds, regimes)| {
        (thresholds, regimes.into_iter().map(regime).collect::<Vec<_>>())
    });
    let batch = Batch {
        links: links.collect(),
        base_rtts_s,
        gred: GredConfig { min_th: gred.0, max_th: gred.1, max_p: gred.2, ecn: false },
        tcp: Tcp { max_window_packets: tcp.0, timeout_s: tcp.1, packets_per_ack: tcp.2 },
        packet_bytes,
    };
    let progress = Progress::default();
    let solved = std::thread::scope(|scope| {
        let work = || batch.work(&progress);
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let looked = workers.iter().try_for_each(|worker| look_until_done(py, worker));
        if looked.is_err() {
            progress.stop();
        }
        let parts = workers.into_iter().map(|w| w.join().expect("workers return their failures"));
        let parts: Vec<_> = py.detach(|| parts.collect());
        looked.map(|()| parts)
    })?;
    let throughputs = in_order(solved).map_err(|failure| errors::unsolved_one(&failure))?;
    doubles(py, throughputs.into_iter())
}

/// Waits for a worker. If a signal handler raises an exception, returns this exception.
fn look_until_done<T: Send>(py: Python<'_>, worker: &ScopedJoinHandle<'_, T>) -> PyResult<()> {
    while !worker.is_finished() {
        py.detach(|| crate::simulate::wait(worker));
        py.check_signals()?;
    }
    Ok(())
}
