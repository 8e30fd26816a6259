//! One replication in virtual time.

use crate::observers::Observers;
use crate::routing::{Input, Routing};
use airpath_core::{
    Bus, Control, Ctx, Emission, Packet, Recorder, Stage, StageError, StageId, Time, Wakeups,
};
use airpath_path::{AnyStage, FlowStages, Network, ReplicationReport, Totals, phases};

/// Events between two looks at the watch.
const EVENTS_PER_LOOK: u64 = 4096;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A part failed.
    #[error("{source} (at {at_s} s)")]
    Stage {
        /// Simulated time, s.
        at_s: f64,
        /// What the part said.
        source: StageError,
    },
    /// A capture could not be written.
    #[error("the capture cannot be written: {0}")]
    Capture(#[from] std::io::Error),
    /// What is recorded does not fit into memory.
    #[error(
        "what is recorded fills the memory (at {at_s} s). Record fewer series or at a longer \
         interval, or run fewer replications."
    )]
    Memory {
        /// Simulated time, s.
        at_s: f64,
    },
    /// Somebody asked it to stop.
    #[error("interrupted")]
    Interrupted,
    /// A stage wanted to be woken in the past.
    #[error("stage {stage} wants to be woken at {wanted_s} s when it is {now_s} s")]
    Backwards {
        /// The stage.
        stage: u32,
        /// What it asked for, s.
        wanted_s: f64,
        /// The present, s.
        now_s: f64,
    },
}

/// Somebody who follows a run and may stop it.
pub trait Watch {
    /// The run has reached `now`; false ends it.
    fn reached(&self, now: Time) -> bool;
}

/// Nobody watches.
impl Watch for () {
    fn reached(&self, _now: Time) -> bool {
        true
    }
}

/// Runs a network in virtual time.
pub struct Driver {
    network: Network,
    routing: Routing,
    wakeups: Wakeups,
    bus: Bus,
    /// What is being delivered.
    emissions: Vec<Emission>,
    now: Time,
    events: u64,
    next_control: usize,
    /// The totals at each event after the warm-up.
    events_seen: Vec<Totals>,
    has_begun: bool,
    is_measuring: bool,
    observers: Option<Box<Observers>>,
    /// What the observers are being shown.
    arrivals: Vec<(StageId, Packet)>,
}

impl Driver {
    /// A driver at time zero.
    pub fn new(mut network: Network) -> Driver {
        let stages = network.stages.len();
        let bus = Bus::new(stages, std::mem::take(&mut network.recorder));
        Driver {
            routing: Routing::new(network.stages.len(), &std::mem::take(&mut network.routes)),
            network,
            wakeups: Wakeups::new(stages),
            bus,
            emissions: Vec::with_capacity(64),
            now: Time::ZERO,
            events: 0,
            next_control: 0,
            events_seen: Vec::new(),
            has_begun: false,
            is_measuring: false,
            observers: None,
            arrivals: Vec::new(),
        }
    }

    /// Lets `observers` see every packet from now on. They change nothing.
    pub fn observe(&mut self, observers: Observers) {
        self.bus.note_arrivals();
        self.observers = Some(Box::new(observers));
    }

    /// Those who saw the packets, if there were any.
    pub fn take_observers(&mut self) -> Option<Box<Observers>> {
        self.observers.take()
    }

    /// Runs to the end of the scenario.
    ///
    /// # Errors
    /// When a part fails or `watch` stops the run.
    pub fn run(&mut self, watch: &impl Watch) -> Result<(), RunError> {
        self.run_until(self.network.warmup, watch)?;
        self.start_measurement()?;
        self.run_until(self.network.end, watch)?;
        self.check_memory()
    }

    /// Ends a run whose recordings have no more room.
    pub(crate) fn check_memory(&self) -> Result<(), RunError> {
        if self.bus.recorder.is_full() { Err(self.no_memory()) } else { Ok(()) }
    }

    pub(crate) fn no_memory(&self) -> RunError {
        RunError::Memory { at_s: self.now.as_secs_lossy() }
    }

    /// Begins to count, unless that was done before; the driver stands at the end of the warm-up.
    ///
    /// # Errors
    /// When a part fails.
    pub fn start_measurement(&mut self) -> Result<(), RunError> {
        if self.is_measuring {
            return Ok(());
        }
        self.is_measuring = true;
        self.bus.reset_counts();
        self.bus.recorder.restart_drop_counts(self.now);
        if let Some(observers) = &mut self.observers {
            observers.start_measurement(self.now);
        }
        self.tell_all(&Control::StartMeasurement)
    }

    /// Runs every event before `until` and stops there.
    ///
    /// # Errors
    /// When a part fails or `watch` stops the run.
    pub fn run_until(&mut self, until: Time, watch: &impl Watch) -> Result<(), RunError> {
        if !self.has_begun {
            self.has_begun = true;
            self.tell_all(&Control::Begin)?;
        }
        loop {
            let pause = self.next_control_time().min(until);
            self.run_stages(pause, watch)?;
            self.now = pause;
            if self.next_control_time() > pause || pause >= until {
                return Ok(());
            }
            self.apply_control()?;
        }
    }

    /// Runs the stages' own events before `until`.
    fn run_stages(&mut self, until: Time, watch: &impl Watch) -> Result<(), RunError> {
        let mut next_look = self.events + EVENTS_PER_LOOK;
        while let Some((due, stage)) = self.wakeups.first()
            && due < until
        {
            if due < self.now {
                return Err(self.backwards(stage, due));
            }
            self.now = due;
            self.wake(stage)?;
            if self.events >= next_look {
                next_look = self.events + EVENTS_PER_LOOK;
                self.check_memory()?;
                if !watch.reached(self.now) {
                    return Err(RunError::Interrupted);
                }
            }
        }
        Ok(())
    }

    /// Wakes the stage whose entry is the earliest. An entry may be early: a deadline that moved
    /// later did not touch the event queue; the stage then only takes its true place.
    #[inline]
    fn wake(&mut self, stage: StageId) -> Result<(), RunError> {
        self.events += 1;
        let part = &mut self.network.stages[stage.0 as usize];
        let next = part.wake_if_due(&mut Ctx::new(self.now, stage, &mut self.bus));
        self.wakeups.set_first(next);
        self.deliver_all()
    }

    /// Delivers everything in the outbox, and what the deliveries send.
    #[inline]
    fn deliver_all(&mut self) -> Result<(), RunError> {
        if self.observers.is_some() {
            self.show_arrivals();
        }
        while self.bus.take_emissions(&mut self.emissions) {
            for emission in &self.emissions {
                let input = self.routing.of(emission);
                let Input { stage, port } = input;
                if let Some(observers) = &mut self.observers {
                    let from = self.routing.origin(emission);
                    observers.see_departure(self.now, from, &emission.packet, input);
                }
                let Some(part) = self.network.stages.get_mut(stage.0 as usize) else { continue };
                let mut ctx = Ctx::new(self.now, stage, &mut self.bus);
                let next = part.receive_then_next(port, &emission.packet, &mut ctx);
                self.wakeups.set_if_earlier(stage, next);
            }
            if self.observers.is_some() {
                self.show_arrivals();
            }
        }
        if let Some(observers) = &mut self.observers
            && let Some(error) = observers.take_failure()
        {
            return Err(RunError::Capture(error));
        }
        if self.bus.has_failed() { Err(self.failure()) } else { Ok(()) }
    }

    #[cold]
    fn show_arrivals(&mut self) {
        let Some(observers) = &mut self.observers else { return };
        self.bus.take_arrivals(&mut self.arrivals);
        for (stage, packet) in &self.arrivals {
            observers.see_arrival(self.now, *stage, packet);
        }
    }

    #[cold]
    fn failure(&mut self) -> RunError {
        let source = self.bus.take_error().expect("asked for only when there is one");
        RunError::Stage { at_s: self.now.as_secs_lossy(), source }
    }

    #[cold]
    fn backwards(&self, stage: StageId, wanted: Time) -> RunError {
        RunError::Backwards {
            stage: stage.0,
            wanted_s: wanted.as_secs_lossy(),
            now_s: self.now.as_secs_lossy(),
        }
    }

    fn next_control_time(&self) -> Time {
        self.network.controls.get(self.next_control).map_or(Time::NEVER, |(at, _, _)| *at)
    }

    fn apply_control(&mut self) -> Result<(), RunError> {
        if self.is_measuring && self.now > self.network.warmup {
            self.events_seen.push(Totals::of(&self.network, self.now, &self.bus));
        }
        let (_, stage, control) = self.network.controls[self.next_control].clone();
        self.next_control += 1;
        self.tell(stage, &control)
    }

    fn tell_all(&mut self, control: &Control) -> Result<(), RunError> {
        (0..self.network.stages.len() as u32)
            .try_for_each(|stage| self.tell(StageId(stage), control))
    }

    fn tell(&mut self, stage: StageId, control: &Control) -> Result<(), RunError> {
        let part = &mut self.network.stages[stage.0 as usize];
        part.control(control, &mut Ctx::new(self.now, stage, &mut self.bus));
        self.wakeups.set(stage, part.next_wakeup());
        self.deliver_all()
    }

    /// End of the warm-up.
    pub fn warmup(&self) -> Time {
        self.network.warmup
    }

    /// End of the scenario.
    pub fn end(&self) -> Time {
        self.network.end
    }

    /// Endpoints by flow.
    pub fn flows(&self) -> &[FlowStages] {
        &self.network.flows
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The network, to look at.
    pub fn stages(&self) -> &[AnyStage] {
        &self.network.stages
    }

    /// The bus, to look at.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// What was measured so far.
    pub fn report(&self, replication: u64) -> ReplicationReport {
        let report = self.network.report(replication, self.now, &self.bus);
        let phases = if self.events_seen.is_empty() {
            Vec::new()
        } else {
            let end = Totals::of(&self.network, self.now, &self.bus);
            phases(self.network.warmup, &self.events_seen, end)
        };
        ReplicationReport { events: self.events, phases, ..report }
    }

    /// Completes the recorded series: nothing is recorded after it.
    ///
    /// # Errors
    /// When there is no more room for them.
    pub fn finish_recording(&mut self) -> Result<(), RunError> {
        self.bus.recorder.finish();
        self.check_memory()
    }

    /// The recorded series.
    pub fn into_recorder(mut self) -> Recorder {
        self.bus.recorder.finish();
        self.bus.recorder
    }
}
