//! A small vocabulary for driving stages by hand in tests.

use crate::packet::Packet;
use crate::probe::Recorder;
use crate::stage::{Bus, Ctx, DropCount, Emission, Port, Stage, StageId};
use crate::units::Time;

/// The surroundings of one hand-driven stage.
#[derive(Debug)]
pub struct TestHarness {
    bus: Bus,
    outbox: Vec<Emission>,
}

impl Default for TestHarness {
    fn default() -> TestHarness {
        TestHarness::recording(Recorder::default())
    }
}

impl TestHarness {
    /// Surroundings with these probes.
    pub fn recording(recorder: Recorder) -> TestHarness {
        TestHarness { bus: Bus::new(1, recorder), outbox: Vec::new() }
    }

    /// The stage's view at `now`.
    pub fn at(&mut self, now: Time) -> Ctx<'_> {
        Ctx::new(now, StageId(0), &mut self.bus, &mut self.outbox)
    }

    /// Everything sent since the last call, in order.
    pub fn sent(&mut self) -> Vec<(Port, Packet)> {
        self.outbox.drain(..).map(|sent| (sent.output.place(1).1, sent.packet)).collect()
    }

    /// Drops and marks so far.
    pub fn counts(&self) -> DropCount {
        self.bus.counts(StageId(0))
    }

    /// The probes.
    pub fn recorder(&self) -> &Recorder {
        &self.bus.recorder
    }

    /// The bus itself.
    pub fn bus(&mut self) -> &mut Bus {
        &mut self.bus
    }

    /// Wakes `stage` at each of its wake-ups up to `until`; returns the packets that it sent, with
    /// their times.
    pub fn run<S: Stage>(&mut self, stage: &mut S, until: Time) -> Vec<(Time, Port, Packet)> {
        let mut sent = Vec::new();
        while stage.next_wakeup() <= until {
            let now = stage.next_wakeup();
            stage.wake(&mut self.at(now));
            sent.extend(self.sent().into_iter().map(|(port, packet)| (now, port, packet)));
        }
        sent
    }
}
