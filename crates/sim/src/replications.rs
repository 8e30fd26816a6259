//! Runs independent replications on several threads.

use crate::capture::{Capture, CapturePlan};
use crate::driver::{Driver, RunError, RunMonitor};
use crate::flow_monitor::{FlowMonitor, FlowStats};
use crate::observers::Observers;
use crate::ss::Sampler;
use crate::stage_map::StageMap;
use airpath_core::{ConfigError, Duration, MemoryBudget, Recorder, Time};
use airpath_link::Files;
use airpath_path::{Components, Network, ReplicationReport, Scenario, build};
use airpath_tcp::SsSample;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Replications to run.
pub struct Plan<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Registries of plug-ins.
    pub components: &'a Components,
    /// Traces and tables that the scenario refers to.
    pub files: &'a Arc<Files>,
    /// Master seed of all replications.
    pub seed: u64,
    /// Index of the first replication.
    pub first: u64,
    /// Number of replications.
    pub count: usize,
    /// Number of threads, at least 1.
    pub threads: usize,
}

/// Results of one finished replication.
pub struct Replication {
    /// Measurements of the replication.
    pub report: ReplicationReport,
    /// Recorded series.
    pub recorder: Recorder,
    /// Samples of the senders' state, if requested, ordered by time and flow.
    pub ss: Vec<SsSample>,
    /// The flow monitor's statistics by flow, if requested.
    pub flow_monitor: Option<Vec<FlowStats>>,
    /// CPU time of the replication, s. It has no effect on the simulation.
    pub cpu_s: f64,
}

/// Results of the replications of a plan.
#[derive(Default)]
pub struct Outcome {
    /// The finished replications, in order of their indices.
    pub finished: Vec<Replication>,
    /// First failure, with the index of its replication.
    pub failed: Option<(u64, RunError)>,
    /// True if the monitor stopped the run.
    pub interrupted: bool,
}

/// Callback of a [`Monitor`].
pub type Look = Box<dyn Fn(&Monitor) + Send + Sync>;

/// Progress and stop flag of running replications. Another thread can read and set them.
#[derive(Default)]
pub struct Monitor {
    stop: AtomicBool,
    finished: AtomicUsize,
    simulated_nanos: AtomicU64,
    done: AtomicBool,
    room: Option<Arc<MemoryBudget>>,
    look: Option<Look>,
}

impl Monitor {
    /// Creates a monitor with a memory budget of `bytes` for the recordings of all replications.
    pub fn with_memory(bytes: u64) -> Monitor {
        Monitor { room: Some(Arc::new(MemoryBudget::new(bytes))), ..Monitor::default() }
    }

    /// Returns the monitor with a callback, which each thread of the run calls every few
    /// milliseconds.
    #[must_use]
    pub fn with_look(self, look: Look) -> Monitor {
        Monitor { look: Some(look), ..self }
    }

    /// Requests all replications to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the number of finished replications.
    pub fn finished(&self) -> usize {
        self.finished.load(Ordering::Relaxed)
    }

    /// Returns the sum of the simulated times of all replications, s.
    pub fn simulated_s(&self) -> f64 {
        self.simulated_nanos.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Returns true if [`replicate`] has returned or is about to return.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Reports the progress of one replication to a [`Monitor`].
struct Follower<'a> {
    monitor: &'a Monitor,
    last: AtomicU64,
}

impl RunMonitor for Follower<'_> {
    fn reached(&self, now: Time) -> bool {
        let before = self.last.swap(now.as_nanos(), Ordering::Relaxed);
        self.monitor.simulated_nanos.fetch_add(now.as_nanos() - before, Ordering::Relaxed);
        if let Some(look) = &self.monitor.look {
            look(self.monitor);
        }
        !self.monitor.is_stopped()
    }

    #[inline(always)]
    fn must_pause(&self) -> bool {
        false
    }
}

/// Runs the replications of `plan`. The result does not depend on the number of threads.
///
/// # Errors
/// Fails if the network cannot be built. A failure during a run is reported in the [`Outcome`].
pub fn replicate(plan: &Plan<'_>, monitor: &Monitor) -> Result<Outcome, ConfigError> {
    replicate_and_capture(plan, None, monitor)
}

/// Runs the replications of `plan` as [`replicate`] does, and captures packets of one replication.
///
/// # Errors
/// Fails in the same cases as [`replicate`]. A capture that cannot be written is a failure during
/// the run.
pub fn replicate_and_capture(
    plan: &Plan<'_>,
    captures: Option<CapturePlan>,
    monitor: &Monitor,
) -> Result<Outcome, ConfigError> {
    let captured = captures.as_ref().map(|captures| captures.replication);
    let captures = Mutex::new(captures);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= plan.count || monitor.is_stopped() {
                break;
            }
            let number = plan.first + index as u64;
            let captures = (captured == Some(number))
                .then(|| captures.lock().expect("no thread panics with the lock").take());
            let result = run_one(plan, number, captures.flatten(), monitor);
            if !matches!(result, Ok(Ok(_)) | Ok(Err(RunError::Interrupted))) {
                monitor.stop();
            }
            results.lock().expect("no thread panics with the lock").push((number, result));
        }
    };
    match plan.threads.clamp(1, plan.count.max(1)) {
        1 => work(),
        threads => std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work)))),
    }
    monitor.done.store(true, Ordering::Release);
    let mut results = results.into_inner().expect("no thread panics with the lock");
    results.sort_by_key(|(number, _)| *number);
    let mut outcome = Outcome::default();
    for (number, result) in results {
        match result? {
            Ok(replication) => outcome.finished.push(replication),
            Err(RunError::Interrupted) => {}
            Err(error) => {
                outcome.failed.get_or_insert((number, error));
            }
        }
    }
    outcome.interrupted = outcome.failed.is_none() && outcome.finished.len() < plan.count;
    Ok(outcome)
}

fn run_one(
    plan: &Plan<'_>,
    number: u64,
    captures: Option<CapturePlan>,
    monitor: &Monitor,
) -> Result<Result<Replication, RunError>, ConfigError> {
    let before = thread_cpu_s();
    let network = build(plan.scenario, plan.components, plan.files, plan.seed, number)?;
    let result = run_network(plan, network, number, captures, monitor);
    let cpu_s = thread_cpu_s() - before;
    Ok(result.map(|replication| Replication { cpu_s, ..replication }))
}

/// Returns the CPU time of this thread, s.
fn thread_cpu_s() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn run_network(
    plan: &Plan<'_>,
    mut network: Network,
    number: u64,
    captures: Option<CapturePlan>,
    monitor: &Monitor,
) -> Result<Replication, RunError> {
    let observers = observers(plan, &mut network, captures)?;
    let (end, flows) = (network.end, network.flows.len());
    network.recorder.keep_within(monitor.room.clone());
    let mut driver = Driver::new(network);
    if let Some(observers) = observers {
        driver.observe(observers);
    }
    let follower = Follower { monitor, last: AtomicU64::new(0) };
    let record = &plan.scenario.record;
    let mut ss = Vec::new();
    if record.ss {
        let mut sampler =
            Sampler::new(Duration::from_nanos(record.ss_interval_ns), flows, monitor.room.clone());
        sampler.run(&mut driver, &follower)?;
        ss = sampler.samples;
    } else {
        driver.run(&follower)?;
    }
    driver.finish_recording()?;
    follower.reached(end);
    let mut flow_monitor = None;
    if let Some(mut observers) = driver.take_observers() {
        let recorder = &driver.bus().recorder;
        flow_monitor = observers.take_flow_monitor().map(|monitor| monitor.finish(recorder));
        observers.finish()?;
    }
    monitor.finished.fetch_add(1, Ordering::Relaxed);
    let (report, recorder) = driver.into_report(number);
    Ok(Replication { report, recorder, ss, flow_monitor, cpu_s: 0.0 })
}

/// Creates the observers, if any are requested.
fn observers(
    plan: &Plan<'_>,
    network: &mut Network,
    captures: Option<CapturePlan>,
) -> std::io::Result<Option<Observers>> {
    let has_monitor = plan.scenario.record.flow_monitor;
    if captures.is_none() && !has_monitor {
        return Ok(None);
    }
    if has_monitor {
        network.recorder.count_drops_by_flow();
    }
    let requests = captures.map(|captures| captures.requests).unwrap_or_default();
    let stage_map = StageMap::new(network, plan.scenario);
    let captures = requests.into_iter().map(|request| Capture::new(request, &stage_map));
    let captures: Vec<Capture> = captures.collect::<std::io::Result<_>>()?;
    let flow_monitor = has_monitor.then(|| FlowMonitor::new(network.flows.len()));
    Ok(Some(Observers::new(stage_map, captures, flow_monitor)))
}
