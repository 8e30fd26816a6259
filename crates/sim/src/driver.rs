//! Runs one replication in virtual time.

use crate::lookahead::lateness;
use crate::observers::{CaptureError, Observers};
use airpath_core::{Bus, Duration, Packet, Recorder, StageError, StageId, Time};
use airpath_path::{
    AnyStage, Exit, Failure, FlowStages, Livelock, Network, ReplicationReport, RunningNetwork,
    Timetable, WakeupInPast,
};

/// Number of events between two calls of the run monitor.
const EVENTS_PER_LOOK: u64 = 4096;

/// Reason for which a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A component failed.
    #[error("{source} (at {at_s} s)")]
    Stage {
        /// Simulated time, s.
        at_s: f64,
        /// Error of the component.
        source: StageError,
    },
    /// A capture could not be written.
    #[error("the capture cannot be written: {0}")]
    Capture(#[from] std::io::Error),
    /// The recordings do not fit into memory.
    #[error(
        "recorded series exceed the memory limit at t = {at_s} s. Record fewer series, set a \
         longer record.interval, or lower --reps."
    )]
    Memory {
        /// Simulated time, s.
        at_s: f64,
    },
    /// The monitor stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// A stage requested a wake-up in the past.
    #[error(transparent)]
    WakeupInPast(WakeupInPast),
    /// A stage requested wake-ups at one instant without end.
    #[error(transparent)]
    Livelock(Livelock),
}

#[cold]
fn failure(Failure { at, source }: Failure) -> RunError {
    let source = match source.downcast::<CaptureError>() {
        Ok(error) => return RunError::Capture(error.0),
        Err(source) => source,
    };
    let source = match source.downcast::<WakeupInPast>() {
        Ok(error) => return RunError::WakeupInPast(*error),
        Err(source) => source,
    };
    match source.downcast::<Livelock>() {
        Ok(error) => RunError::Livelock(*error),
        Err(source) => RunError::Stage { at_s: at.as_secs_lossy(), source },
    }
}

/// Progress callback of a run, which may stop or pause it.
pub trait RunMonitor {
    /// Called when the run has reached `now`. Returning false ends the run.
    fn reached(&self, now: Time) -> bool;

    /// Returns true if the run must pause after the current event. Called after every event that
    /// the driver takes from the event queue.
    fn must_pause(&self) -> bool;
}

/// Monitor that never stops or pauses a run.
impl RunMonitor for () {
    fn reached(&self, _now: Time) -> bool {
        true
    }

    #[inline(always)]
    fn must_pause(&self) -> bool {
        false
    }
}

/// Runs a network in virtual time.
pub struct Driver {
    running: RunningNetwork<Observers>,
    now: Time,
    timetable: Timetable,
    wakeups: u64,
}

impl Driver {
    /// Creates a driver at time zero.
    pub fn new(network: Network) -> Driver {
        let lateness = lateness(&network);
        let mut running = RunningNetwork::new(network);
        running.set_lateness(&lateness);
        Driver { running, now: Time::ZERO, timetable: Timetable::default(), wakeups: 0 }
    }

    /// Disables lookahead: from now on all events are processed in order of time. Results do not
    /// change.
    pub fn keep_order(&mut self) {
        let stages = self.stages().len();
        self.running.set_lateness(&vec![Duration::ZERO; stages]);
    }

    /// Adds observers, which are notified of every packet from now on. They do not change results.
    pub fn observe(&mut self, observers: Observers) {
        self.running.observe(observers);
    }

    /// Removes and returns the observers, if any.
    pub fn take_observers(&mut self) -> Option<Box<Observers>> {
        self.running.take_observer()
    }

    /// Runs to the end of the scenario.
    ///
    /// # Errors
    /// Fails if a component fails or `watch` stops the run.
    pub fn run(&mut self, watch: &impl RunMonitor) -> Result<(), RunError> {
        self.run_until(self.warmup(), watch)?;
        self.start_measurement()?;
        self.run_until(self.end(), watch)?;
        self.check_memory()
    }

    /// Fails if the recordings exceed the memory budget.
    pub(crate) fn check_memory(&self) -> Result<(), RunError> {
        if self.bus().recorder.is_full() { Err(self.no_memory()) } else { Ok(()) }
    }

    pub(crate) fn no_memory(&self) -> RunError {
        RunError::Memory { at_s: self.now.as_secs_lossy() }
    }

    /// Starts the measurement, unless it has already started. The driver must be at the end of the
    /// warm-up.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn start_measurement(&mut self) -> Result<(), RunError> {
        if self.timetable.is_measuring() {
            return Ok(());
        }
        if let Some(observers) = self.running.observer() {
            observers.start_measurement(self.now);
        }
        self.timetable.start_measurement(&mut self.running, self.now).map_err(failure)?;
        Ok(())
    }

    /// Processes all events before `until`, and stops at `until`. If `watch` pauses the run, stops
    /// at the time of the last event instead. A stage that causes the pause must be called in order
    /// of time: its component must not be declared independent.
    ///
    /// # Errors
    /// Fails if a component fails or `watch` stops the run.
    pub fn run_until(&mut self, until: Time, watch: &impl RunMonitor) -> Result<(), RunError> {
        self.timetable.begin(&mut self.running, self.now).map_err(failure)?;
        loop {
            let pause = self.next_control_time().min(until);
            if self.run_stages(pause, watch)? {
                return Ok(());
            }
            self.now = pause;
            if self.next_control_time() > pause || pause >= until {
                return Ok(());
            }
            self.timetable.apply(&mut self.running, self.now).map_err(failure)?;
        }
    }

    /// Injects `packet` into the path at the open end `end` and at the current time.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn put_in(&mut self, end: StageId, packet: Packet) -> Result<(), RunError> {
        self.running.put_in(end, packet, self.now).map_err(failure)
    }

    /// Moves the packets that have left at open ends since the last call to `exits`. Replaces the
    /// contents of `exits`.
    pub fn take_exits(&mut self, exits: &mut Vec<Exit>) {
        self.running.take_exits(exits);
    }

    /// Processes the events of the stages before `until`. Returns true if `watch` paused the run.
    fn run_stages(&mut self, until: Time, watch: &impl RunMonitor) -> Result<bool, RunError> {
        self.running.set_horizon(until);
        let mut next_look = self.running.events() + EVENTS_PER_LOOK;
        while let Some((due, stage)) = self.running.first()
            && due < until
        {
            self.now = due;
            self.wakeups += 1;
            self.running.wake(stage, due).map_err(failure)?;
            if self.running.events() >= next_look {
                next_look = self.running.events() + EVENTS_PER_LOOK;
                self.check_memory()?;
                if !watch.reached(self.now) {
                    return Err(RunError::Interrupted);
                }
            }
            if watch.must_pause() {
                self.running.catch_up(due).map_err(failure)?;
                return Ok(true);
            }
        }
        self.running.catch_up(until).map_err(failure)?;
        Ok(false)
    }

    fn next_control_time(&self) -> Time {
        self.timetable.next(self.network())
    }

    fn network(&self) -> &Network {
        self.running.network()
    }

    /// Returns the end of the warm-up.
    pub fn warmup(&self) -> Time {
        self.network().warmup
    }

    /// Returns the end of the scenario.
    pub fn end(&self) -> Time {
        self.network().end
    }

    /// Returns the endpoint stages of each flow.
    pub fn flows(&self) -> &[FlowStages] {
        &self.network().flows
    }

    /// Returns the current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the stages of the network.
    pub fn stages(&self) -> &[AnyStage] {
        self.running.stages()
    }

    /// Returns the bus.
    pub fn bus(&self) -> &Bus {
        self.running.bus()
    }

    /// Returns the number of wake-ups taken from the event queue so far. With lookahead it is below
    /// the number of events in the report, which does not depend on lookahead.
    pub fn wakeups(&self) -> u64 {
        self.wakeups
    }

    /// Returns the measurements so far.
    pub fn report(&self, replication: u64) -> ReplicationReport {
        let (network, bus) = (self.network(), self.bus());
        let report = self.timetable.report(network, bus, replication, self.now);
        ReplicationReport { events: self.running.events(), ..report }
    }

    /// Returns the report and the recorded series. To reduce the peak memory, the event queue and
    /// the wires are freed before the report is computed. With very many flows this saves a sixth
    /// of it.
    pub fn into_report(mut self, replication: u64) -> (ReplicationReport, Recorder) {
        self.running.recorder().finish();
        let events = self.running.events();
        let (network, bus) = self.running.into_parts();
        let report = self.timetable.report(&network, &bus, replication, self.now);
        (ReplicationReport { events, ..report }, bus.recorder)
    }

    /// Completes the recorded series. Nothing is recorded after this call.
    ///
    /// # Errors
    /// Fails if the recordings exceed the memory budget.
    pub fn finish_recording(&mut self) -> Result<(), RunError> {
        self.running.recorder().finish();
        self.check_memory()
    }

    /// Completes and returns the recorded series.
    pub fn into_recorder(mut self) -> Recorder {
        self.running.recorder().finish();
        self.running.into_recorder()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_path::{Components, Scenario, build};
    use serde_json::json;
    use std::sync::Arc;

    /// Runs one flow that fills a link of 12 Mbit/s for two seconds. Returns the number of packets
    /// that arrived, and the number of wake-ups taken from the event queue.
    fn packets_and_wakeups(keep_order: bool) -> (u64, u64) {
        let options = airpath_tcp::profile("rfc", json!({"delayed_ack_segments": 1}));
        let flow = json!({
            "source": {"kind": "tcp", "congestion": {"kind": "reno"},
                       "options": options.expect("a profile")},
            "start": {"kind": "at", "time_ns": 0}, "access": {"delay_ns": 0},
            "egress": {"delay_ns": 10_000_000}, "return_wire": {"delay_ns": 10_000_000}});
        let queue = json!({"kind": "droptail", "limit": {"packets": 100}});
        let link = json!({"kind": "fixed", "rate_bps": 12_000_000});
        let document = json!({
            "duration_ns": 2_000_000_000, "flows": [flow], "ack_path": {"kind": "ideal"},
            "bottleneck": {"link": link, "queue": queue}});
        let scenario = Scenario::from_json(&document.to_string()).expect("a scenario");
        let network = build(&scenario, &Components::default(), &Arc::default(), 1, 0);
        let mut driver = Driver::new(network.expect("a network"));
        if keep_order {
            driver.keep_order();
        }
        driver.run_until(Time::ZERO, &()).expect("a run");
        driver.running.set_horizon(driver.end());
        let mut wakeups = 0;
        while let Some((due, stage)) = driver.running.first()
            && due < driver.end()
        {
            driver.running.wake(stage, due).expect("no component fails");
            wakeups += 1;
        }
        (driver.report(0).packets, wakeups)
    }

    #[test]
    fn a_packet_takes_one_wakeup_with_lookahead_and_three_without() {
        let (packets, wakeups) = packets_and_wakeups(false);
        let (in_order, all) = packets_and_wakeups(true);
        assert!(packets > 1500 && packets.abs_diff(in_order) <= 40, "{packets}, {in_order}");
        let (few, many) = (wakeups as f64 / packets as f64, all as f64 / in_order as f64);
        assert!((0.9..1.2).contains(&few), "{few} wake-ups for each packet");
        assert!((2.9..3.2).contains(&many), "{many} wake-ups for each packet, in order");
    }
}
