//! Control events of a scenario for its stages, under any driver: the beginning, the start of
//! measurement, and its events.

use crate::network::Network;
use crate::phases::{Totals, phases};
use crate::report::ReplicationReport;
use crate::running::{Failure, Observer, RunningNetwork};
use airpath_core::{Bus, Control, Time};

/// How far the timetable of a running network has come.
#[derive(Debug, Default)]
pub struct Timetable {
    next_control: usize,
    /// The totals at each event after the warm-up.
    events_seen: Vec<Totals>,
    has_begun: bool,
    is_measuring: bool,
}

impl Timetable {
    /// When the next event is; [`Time::NEVER`] when there is none.
    #[inline]
    pub fn next(&self, network: &Network) -> Time {
        network.controls.get(self.next_control).map_or(Time::NEVER, |(at, _, _)| *at)
    }

    /// Whether measurement has started.
    pub fn is_measuring(&self) -> bool {
        self.is_measuring
    }

    /// Sends [`Control::Begin`] to all stages, unless it was sent before.
    ///
    /// # Errors
    /// When a component fails.
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

    /// Begins to count, unless that was done before; true when it was not.
    ///
    /// # Errors
    /// When a component fails.
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

    /// Sends the next event, which is due at `now`.
    ///
    /// # Errors
    /// When a component fails.
    ///
    /// # Panics
    /// When there is none.
    pub fn apply<O: Observer>(
        &mut self,
        running: &mut RunningNetwork<O>,
        now: Time,
    ) -> Result<(), Failure> {
        let network = running.network();
        if self.is_measuring && now > network.warmup {
            self.events_seen.push(Totals::of(network, now, running.bus()));
        }
        let (_, stage, control) = network.controls[self.next_control].clone();
        self.next_control += 1;
        running.send_control(stage, &control, now)
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
