//! Sends control events to the stages: the start of the run, the start of measurement, and the
//! events of the scenario. All drivers use this module.

use crate::network::Network;
use crate::phases::{Totals, phases};
use crate::report::ReplicationReport;
use crate::running::{Failure, Observer, RunningNetwork};
use airpath_core::{Bus, Control, Time};

/// Progress of a running network through its control events.
#[derive(Debug, Default)]
pub struct Timetable {
    next_event: usize,
    /// Totals at each event after the warm-up.
    events_seen: Vec<Totals>,
    has_begun: bool,
    is_measuring: bool,
}

impl Timetable {
    /// Returns the time of the next event; [`Time::NEVER`] if no event is left.
    #[inline]
    pub fn next(&self, network: &Network) -> Time {
        network.events.get(self.next_event).map_or(Time::NEVER, |event| event.at)
    }

    /// Returns true if measurement has started.
    pub fn is_measuring(&self) -> bool {
        self.is_measuring
    }

    /// Sends [`Control::Begin`] to all stages, unless it was sent before.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn begin<O: Observer>(
        &mut self,
        running: &mut RunningNetwork<O>,
        now: Time,
    ) -> Result<(), Failure> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        running.broadcast_control(&Control::Begin, now)
    }

    /// Starts measurement, unless it has already started. Returns true if this call started it.
    ///
    /// # Errors
    /// Fails if a component fails.
    pub fn start_measurement<O: Observer>(
        &mut self,
        running: &mut RunningNetwork<O>,
        now: Time,
    ) -> Result<bool, Failure> {
        if std::mem::replace(&mut self.is_measuring, true) {
            return Ok(false);
        }
        running.broadcast_control(&Control::StartMeasurement, now)?;
        Ok(true)
    }

    /// Sends the next event of the scenario, which is due at `now`.
    ///
    /// # Errors
    /// Fails if a component fails.
    ///
    /// # Panics
    /// Panics if no event is left.
    pub fn apply<O: Observer>(
        &mut self,
        running: &mut RunningNetwork<O>,
        now: Time,
    ) -> Result<(), Failure> {
        let network = running.network();
        let event = network.events[self.next_event].clone();
        if event.starts_phase && self.is_measuring && now > network.warmup {
            self.events_seen.push(Totals::of(network, now, running.bus()));
        }
        self.next_event += 1;
        running.apply(&event.change, now)
    }

    /// Returns the measurements until `now`, with the phases between the events.
    pub fn report(
        &self,
        network: &Network,
        bus: &Bus,
        replication: u64,
        now: Time,
    ) -> ReplicationReport {
        let report = network.report(replication, now, bus);
        if self.events_seen.is_empty() {
            return report;
        }
        let phases = phases(network.warmup, &self.events_seen, Totals::of(network, now, bus));
        ReplicationReport { phases, ..report }
    }
}
