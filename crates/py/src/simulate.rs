//! Python functions for simulation. Replications run in background threads, or with parts in Python
//! on the calling thread. The calling thread handles progress and Ctrl-C.

use crate::adaptation::{self, TableTexts};
use crate::errors::{self, ProblemParts};
use crate::parts::{self, PartEntry, Parts};
use crate::tables;
use crate::trace::{Trace, column, doubles};
use airpath_core::{ConfigError, Recorder, Series};
use airpath_link::Files;
use airpath_path::{
    AggregateReport, ApplicationReports, DelayPartsReport, LinkSummary, MacDelays,
    PacketDistribution, PhaseReport, QueueSummary, ReplicationReport, Scenario, StationSummary,
    UserSummary, build, check_component, check_table,
};
use airpath_sim::{
    CapturePlan, CaptureRequest, Connection, FlowStats, Monitor, Outcome, Plan, Point, connections,
    replicate_and_capture,
};
use airpath_tcp::SsSample;
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time between two checks for signals and progress.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Number of looks of a run with parts between two checks for signals and progress. A look takes
/// one to five milliseconds.
const LOOKS_PER_REPORT: u64 = 25;

/// Finished replications of a simulation.
#[derive(Default)]
#[pyclass(frozen, module = "airpath._airpath")]
pub(crate) struct SimulationOutput {
    reports: Vec<ReplicationReport>,
    recorders: Vec<Recorder>,
    ss: Vec<Vec<SsSample>>,
    flow_monitors: Vec<Option<Vec<FlowStats>>>,
    /// CPU time of each finished replication, s.
    #[pyo3(get)]
    cpu_s: Vec<f64>,
    connections: Vec<Connection>,
    /// True if Ctrl-C ended the simulation early.
    #[pyo3(get)]
    interrupted: bool,
}

/// Columns of a series: times, flow or component IDs, queue IDs, values.
type Columns<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl SimulationOutput {
    /// The finished replications as a JSON list, without the reports of flows.
    #[getter]
    fn replications(&self) -> String {
        let shared: Vec<_> = self.reports.iter().map(Shared::of).collect();
        serde_json::to_string(&shared).expect("reports hold only numbers and texts")
    }

    /// Returns the measurements of the flows of one finished replication.
    fn flows<'py>(&self, py: Python<'py>, index: usize) -> PyResult<tables::Flows<'py>> {
        let report = self.reports.get(index).ok_or_else(|| no_replication(index))?;
        tables::flows(py, &report.flows)
    }

    /// Returns a recorded series of one finished replication: (time_s, id, queue, value) as bytes.
    /// The largest queue ID means that the value does not belong to a queue.
    fn series<'py>(&self, py: Python<'py>, index: usize, name: &str) -> PyResult<Columns<'py>> {
        let recorder = self.recorders.get(index).ok_or_else(|| no_replication(index))?;
        let series = Series::from_name(name).filter(|series| recorder.is_recorded(*series));
        let missing = || PyValueError::new_err(format!("{name}: not recorded"));
        columns(py, recorder, series.ok_or_else(missing)?)
    }

    /// Returns the samples of the senders' state in one finished replication: name -> column as
    /// bytes.
    fn ss<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let samples = self.ss.get(index).ok_or_else(|| no_replication(index))?;
        tables::ss(py, samples)
    }

    /// Returns the flow monitor's statistics of one finished replication as a JSON list, one entry
    /// per flow and direction; `null` if they were not recorded.
    fn flow_monitor(&self, index: usize) -> PyResult<String> {
        let stats = self.flow_monitors.get(index).ok_or_else(|| no_replication(index))?;
        Ok(tables::flow_monitor(stats.as_deref(), &self.connections).to_string())
    }
}

/// Contents of a report without the reports of flows.
#[derive(Serialize)]
struct Shared<'a> {
    replication: u64,
    events: u64,
    packets: u64,
    measured_s: f64,
    simulated_s: f64,
    together: &'a AggregateReport,
    queues: &'a [QueueSummary],
    links: &'a [LinkSummary],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    users: &'a [UserSummary],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stations: &'a [StationSummary],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    mac_delays: &'a [MacDelays],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    distributions: &'a [PacketDistribution],
    #[serde(flatten)]
    applications: &'a ApplicationReports,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    delay_parts: &'a [DelayPartsReport],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    phases: &'a [PhaseReport],
}

impl Shared<'_> {
    fn of(report: &ReplicationReport) -> Shared<'_> {
        let ReplicationReport { replication, events, packets, measured_s, simulated_s, .. } =
            *report;
        Shared {
            replication,
            events,
            packets,
            measured_s,
            simulated_s,
            together: &report.together,
            queues: &report.queues,
            links: &report.links,
            users: &report.users,
            stations: &report.stations,
            mac_delays: &report.mac_delays,
            distributions: &report.distributions,
            applications: &report.applications,
            delay_parts: &report.delay_parts,
            phases: &report.phases,
        }
    }
}

fn no_replication(index: usize) -> PyErr {
    PyIndexError::new_err(format!("no finished replication {index}"))
}

fn columns<'py>(py: Python<'py>, recorder: &Recorder, series: Series) -> PyResult<Columns<'py>> {
    let samples = recorder.samples(series);
    Ok((
        doubles(py, samples.iter().map(|sample| sample.time.as_secs_lossy()))?,
        column(py, samples.iter().map(|sample| sample.id.to_le_bytes()))?,
        column(py, samples.iter().map(|sample| sample.queue.0.to_le_bytes()))?,
        doubles(py, samples.iter().map(|sample| sample.value))?,
    ))
}

/// Runs replications of a resolved scenario on several threads, without the interpreter lock.
///
/// `captures` contains the index of the captured replication, the comments for the section and the
/// interfaces, and a file for each capture point. `progress(finished, total, fraction)` is called
/// about ten times per second. Ctrl-C ends the run; the output then contains the finished
/// replications. Recordings allocate at most `memory_bytes` bytes. With `parts`
/// that are not compiled, all replications run on the calling thread.
#[pyfunction]
#[pyo3(signature = (
    scenario_json, traces, seed, first_replication, replications, threads, captures=None,
    progress=None, tables=None, memory_bytes=None, snr=None, parts=None
))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario_json: &str,
    traces: BTreeMap<String, Py<Trace>>,
    seed: u64,
    first_replication: u64,
    replications: usize,
    threads: usize,
    captures: Option<Captures>,
    progress: Option<Py<PyAny>>,
    tables: Option<TableTexts>,
    memory_bytes: Option<u64>,
    snr: Option<BTreeMap<String, String>>,
    parts: Option<Vec<PartEntry>>,
) -> PyResult<SimulationOutput> {
    parts::reject_call_from_part("simulate")?;
    let scenario = Scenario::from_json(scenario_json).map_err(errors::config)?;
    let parts = Parts::new(parts.unwrap_or_default())?;
    let runs_here = parts.needs_interpreter;
    let plan = Plan {
        scenario: &scenario,
        components: &parts.components,
        files: &Arc::new(files(&traces, tables, snr)?),
        seed,
        first: first_replication,
        count: replications,
        threads: if runs_here { 1 } else { threads },
    };
    let captures = captures.map(|captures| capture_plan(captures, &scenario)).transpose()?;
    let monitor = memory_bytes.map_or_else(Monitor::default, Monitor::with_memory);
    let total_s = scenario.duration_ns as f64 / 1e9 * replications as f64;
    let watcher = Watcher { progress, replications, total_s };
    let (outcome, raised) = if runs_here {
        run_here(&plan, captures, monitor, watcher)
    } else {
        run_in_background(py, &plan, captures, &monitor, &watcher)
    };
    if let Some(failure) = parts.take_failure() {
        return Err(errors::part(py, &failure, failure.to_string()));
    }
    finish(py, outcome.map_err(errors::config)?, connections(&scenario), raised)
}

/// Reports the progress, and checks for Ctrl-C.
struct Watcher {
    progress: Option<Py<PyAny>>,
    replications: usize,
    total_s: f64,
}

impl Watcher {
    /// Calls the callback for the progress. Fails with its exception, or after Ctrl-C.
    fn look(&self, py: Python<'_>, monitor: &Monitor) -> PyResult<()> {
        py.check_signals()?;
        let Some(progress) = &self.progress else { return Ok(()) };
        let fraction = (monitor.simulated_s() / self.total_s).min(1.0);
        progress.call1(py, (monitor.finished(), self.replications, fraction)).map(drop)
    }
}

/// Result of the replications, and the exception that ended them early.
type Ended = (Result<Outcome, ConfigError>, Option<PyErr>);

/// Runs the replications on other threads. This thread releases the interpreter lock and looks at
/// the progress.
fn run_in_background(
    py: Python<'_>,
    plan: &Plan<'_>,
    captures: Option<CapturePlan>,
    monitor: &Monitor,
    watcher: &Watcher,
) -> Ended {
    let mut raised: Option<PyErr> = None;
    let caller = std::thread::current();
    let outcome = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let outcome = replicate_and_capture(plan, captures, monitor);
            caller.unpark();
            outcome
        });
        let is_done = || monitor.is_done() || worker.is_finished();
        while !is_done() {
            py.detach(|| wait_until(is_done));
            if let Err(error) = watcher.look(py, monitor) {
                monitor.stop();
                raised.get_or_insert(error);
            }
        }
        py.detach(|| worker.join()).expect("replications report failures instead of panicking")
    });
    (outcome, raised)
}

/// Runs the replications on this thread, which keeps the interpreter lock.
fn run_here(
    plan: &Plan<'_>,
    captures: Option<CapturePlan>,
    monitor: Monitor,
    watcher: Watcher,
) -> Ended {
    let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
    let looks = AtomicU64::new(0);
    let look = {
        let raised = Arc::clone(&raised);
        move |monitor: &Monitor| {
            if !looks.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOKS_PER_REPORT) {
                return;
            }
            if let Err(error) = Python::attach(|py| watcher.look(py, monitor)) {
                monitor.stop();
                raised.lock().expect("no thread panics with the lock").get_or_insert(error);
            }
        }
    };
    let monitor = monitor.with_look(Box::new(look));
    let outcome = replicate_and_capture(plan, captures, &monitor);
    let raised = raised.lock().expect("no thread panics with the lock").take();
    (outcome, raised)
}

/// Index of the replication, (section comment, interface comment), and (capture point, file) pairs.
type Captures = (u64, (String, String), Vec<(String, PathBuf)>);

/// Returns name and description of each point of a path at which packets can be captured.
#[pyfunction]
pub(crate) fn capture_points(scenario_json: &str) -> PyResult<Vec<(String, String)>> {
    let scenario = Scenario::from_json(scenario_json).map_err(errors::config)?;
    let of = |point: &Point| (point.name().to_owned(), point.description().to_owned());
    Ok(Point::all(&scenario).iter().map(of).collect())
}

fn capture_plan(
    (replication, comments, files): Captures,
    scenario: &Scenario,
) -> PyResult<CapturePlan> {
    let application = format!("airpath {} ({})", crate::version(), crate::commit());
    let requests = files
        .into_iter()
        .map(|(point, path)| {
            let file = File::create(&path).map_err(|error| {
                PyOSError::new_err((error.raw_os_error(), error.to_string(), path))
            })?;
            Ok(CaptureRequest {
                point: Point::named(&point, scenario).map_err(errors::config)?,
                application: application.clone(),
                comments: comments.clone(),
                sink: Box::new(BufWriter::new(file)),
            })
        })
        .collect::<PyResult<_>>()?;
    Ok(CapturePlan { replication, requests })
}

/// Sleeps until the worker has finished, but at most for [`LOOK_INTERVAL`].
pub(crate) fn wait<T>(worker: &std::thread::ScopedJoinHandle<'_, T>) {
    wait_until(|| worker.is_finished());
}

/// Sleeps until `is_done` returns true, but at most for [`LOOK_INTERVAL`]. If this thread is
/// unparked, it calls `is_done` immediately.
fn wait_until(is_done: impl Fn() -> bool) {
    let step = LOOK_INTERVAL / 50;
    for _ in 0..50 {
        if is_done() {
            return;
        }
        std::thread::park_timeout(step);
    }
}

fn finish(
    py: Python<'_>,
    outcome: Outcome,
    connections: Vec<Connection>,
    raised: Option<PyErr>,
) -> PyResult<SimulationOutput> {
    let mut interrupted = outcome.interrupted;
    if let Some((replication, error)) = &outcome.failed {
        let error = errors::run(py, *replication, error);
        if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return Err(error);
        }
        interrupted = true;
    }
    if let Some(error) = raised {
        if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return Err(error);
        }
        interrupted = true;
    }
    let mut output = SimulationOutput { interrupted, connections, ..Default::default() };
    for done in outcome.finished {
        output.cpu_s.push(done.cpu_s);
        output.reports.push(done.report);
        output.recorders.push(done.recorder);
        output.ss.push(done.ss);
        output.flow_monitors.push(done.flow_monitor);
    }
    Ok(output)
}

/// Returns the files of a scenario.
pub(crate) fn files(
    traces: &BTreeMap<String, Py<Trace>>,
    tables: Option<TableTexts>,
    snr: Option<BTreeMap<String, String>>,
) -> PyResult<Files> {
    let shared =
        |(key, trace): (&String, &Py<Trace>)| (key.clone(), Arc::clone(&trace.get().inner));
    let traces = traces.iter().map(shared).collect();
    let tables = adaptation::tables(tables)?;
    Ok(Files { traces, tables, snr: adaptation::snr_traces(snr)?, ..Files::default() })
}

/// Returns all problems of a scenario; an empty list if the network can be built. In field paths, a
/// flow is identified by the index of its entry. Raises `ValueError` if the text is not a scenario
/// or a file cannot be read.
#[pyfunction]
#[pyo3(signature = (scenario_json, traces, tables=None, snr=None, parts=None))]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn check(
    py: Python<'_>,
    scenario_json: &str,
    traces: BTreeMap<String, Py<Trace>>,
    tables: Option<TableTexts>,
    snr: Option<BTreeMap<String, String>>,
    parts: Option<Vec<PartEntry>>,
) -> PyResult<Vec<ProblemParts>> {
    parts::reject_call_from_part("check")?;
    let parts = Parts::new(parts.unwrap_or_default())?;
    let mut scenario: Scenario = serde_json::from_str(scenario_json).map_err(errors::json)?;
    let files = Arc::new(files(&traces, tables, snr)?);
    let built = scenario.check().and_then(|()| {
        scenario.flows = scenario.flows.one_of_each();
        build(&scenario, &parts.components, &files, 0, 0).map(drop)
    });
    if let Some(failure) = parts.take_failure() {
        return Err(errors::part(py, &failure, failure.to_string()));
    }
    Ok(built.err().map_or_else(Vec::new, |error| errors::parts_of(&error)))
}

/// Returns all problems of a scenario's own values. Problems of its components and files are not
/// included.
#[pyfunction]
pub(crate) fn scenario_problems(scenario_json: &str) -> PyResult<Vec<ProblemParts>> {
    let scenario: Scenario = serde_json::from_str(scenario_json).map_err(errors::json)?;
    Ok(scenario.check_values().err().map_or_else(Vec::new, |error| errors::parts_of(&error)))
}

/// Returns all problems of a component, or of a table of a scenario, that can be detected without
/// files and without the rest of the scenario. Raises `ValueError` if `family` is unknown or
/// `description` is not JSON.
#[pyfunction]
pub(crate) fn component_problems(family: &str, description: &str) -> PyResult<Vec<ProblemParts>> {
    let description = serde_json::from_str(description).map_err(errors::json)?;
    let checked = check_component(family, &description)
        .or_else(|| check_table(family, &description))
        .ok_or_else(|| errors::value("family", family, "unknown"))?;
    Ok(checked.err().map_or_else(Vec::new, |error| errors::parts_of(&error)))
}
